"""Runner of a script, a module or standard input as ``__main__``, as ``python`` does, with the facade in place."""

from __future__ import annotations

import contextlib
import gc
import importlib.machinery
import importlib.util
import io
import os
import sys
from collections.abc import Callable, Sequence
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from . import exits, tracebacks
from .user_files import UserFiles


class NotFound(Exception):
    """Error for a missing script, module or package; the message is one sentence with the remedy."""


class Program(NamedTuple):
    """Program to run, located and read before anything else happens.

    Attributes
    ----------
    source : str or bytes or CodeType
        Source of the program; compiled when it runs, so that a syntax error is the script's own.
    file : str
        ``__file__``.
    argv0 : str
        ``sys.argv[0]``.
    path0 : str
        ``sys.path[0]``.
    roots : sequence of str
        Folders whose modules are the user's, and the script itself.
    spec, loader, package
        Attributes of the module, as ``python`` sets them.
    """

    source: str | bytes | CodeType
    file: str
    argv0: str
    path0: str
    roots: Sequence[str] = ()
    spec: Any = None
    loader: Any = None
    package: str | None = None
    cached: str | None = None
    has_file: bool = True


# -- finding ---------------------------------------------------------------------------------------------------------


def locate_script(path: str) -> Program:
    """Return the program in a file, a folder or zip archive with a ``__main__.py``, or standard input (``-``); raise :class:`NotFound` if
    there is none.
    """
    if path == "-":
        return Program(
            sys.stdin.buffer.read(), "<stdin>", "-", "", roots=[os.getcwd()], loader=importlib.machinery.BuiltinImporter,
            has_file=False,
        )  # fmt: skip
    if not os.path.exists(path):
        raise NotFound(f"there is no script {path!r} in {os.getcwd()}; check the path.")
    importer = _importer(path)
    if importer is not None and (os.path.isdir(path) or not isinstance(importer, importlib.machinery.FileFinder)):
        return _locate_main(path, importer)
    try:
        with io.open_code(os.path.abspath(path)) as stream:
            source = stream.read()
    except OSError as error:
        raise NotFound(f"the script {path!r} cannot be read ({error.strerror}); check its permissions.") from None
    if path.endswith(".pyc"):
        return _compiled(path)
    file = path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
    folder = os.path.dirname(os.path.realpath(path))
    loader = importlib.machinery.SourceFileLoader("__main__", file)
    return Program(source, file, path, folder, roots=[folder, file], loader=loader)


def _importer(path: str) -> Any:
    """Return the finder for modules in a folder or an archive, as :func:`pkgutil.get_importer` does; None for a file."""
    for hook in sys.path_hooks:
        with contextlib.suppress(ImportError):
            return hook(path)
    return None


def _compiled(path: str) -> Program:
    file = os.path.abspath(path)
    loader = importlib.machinery.SourcelessFileLoader("__main__", file)
    try:
        code = loader.get_code("__main__")
    except (ImportError, EOFError, ValueError):
        code = None
    if code is None:
        raise NotFound(f"{path!r} is not a compiled file of this Python; give the source file.")
    folder = os.path.dirname(os.path.realpath(path))
    return Program(code, file, path, folder, roots=[folder, file], loader=loader)


def _locate_main(path: str, importer: Any) -> Program:
    spec = importer.find_spec("__main__")
    code = spec.loader.get_code("__main__") if spec is not None and spec.loader is not None else None
    if code is None:
        raise NotFound(f"{path!r} has no __main__.py; name a script in it, or add one.")
    return Program(
        code, spec.origin, path, path, roots=[path], spec=spec, loader=spec.loader, package="", cached=spec.cached
    )


def locate_module(name: str) -> Program:
    """Return the program that ``python -m name`` would run; raise :class:`NotFound` if there is none.

    Parent packages of the module are imported for it, so this runs with the facade in place.
    """
    if name.startswith("."):
        raise NotFound(f"{name!r} is a relative name; give the module's full name.")
    parent = name.rpartition(".")[0]
    try:
        if parent:
            importlib.import_module(parent)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            importlib.import_module(name)
            found, name = spec, f"{name}.__main__"
            spec = importlib.util.find_spec(name)
            if spec is None:
                raise NotFound(f"the package {found.name!r} has no __main__ module; name the module in it to run.")
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise NotFound(f"there is no module named {error.name!r}; check the name and the folder.") from None
        raise
    if spec is None:
        raise NotFound(f"there is no module named {name!r}; check the name and the folder.")
    loader: Any = spec.loader
    code = loader.get_code(name) if hasattr(loader, "get_code") else None
    if code is None:
        raise NotFound(f"there is no Python code for the module {name!r}; give a module with a source file.")
    file = spec.origin or f"<module {name}>"
    return Program(code, file, file, os.getcwd(), spec=spec, loader=loader, package=spec.parent, cached=spec.cached)


def module_root(name: str) -> str | None:
    """Return the folder or file of the top-level module of ``name``, without importing anything; None if there is none."""
    top = name.partition(".")[0]
    spec = importlib.util.find_spec(top) if top else None
    if spec is None:
        return None
    return next(iter(spec.submodule_search_locations), None) if spec.submodule_search_locations else spec.origin


def include_roots(name: str) -> list[str]:
    """Return the files and folders that ``--include name`` stands for: a path, a glob, or an importable package or module. Raise
    :class:`NotFound` if there are none.
    """
    import glob

    if not os.path.exists(name) and glob.has_magic(name):
        found = glob.glob(name, recursive=True)
        if not found:
            raise NotFound(f"--include {name!r} matches no file and no folder; check the pattern.")
        return [os.path.abspath(path) for path in found]
    return [include_root(name)]


def include_root(name: str) -> str:
    """Return the file or folder that ``--include name`` stands for: a path, or an importable package or module; raise :class:`NotFound` if
    there is none.
    """
    if os.path.exists(name):
        return os.path.abspath(name)
    top, *rest = name.split(".")
    # Look up only the top-level spec: finding a submodule would import its parents before the hook is in place.
    spec = importlib.util.find_spec(top) if top.isidentifier() else None
    if spec is None or (spec.origin is None and not spec.submodule_search_locations):
        raise NotFound(f"--include {name!r} is neither a path nor an installed package; check the spelling.")
    if not spec.submodule_search_locations:
        return str(spec.origin)
    folder = os.path.join(next(iter(spec.submodule_search_locations)), *rest)
    for candidate in (folder, f"{folder}.py"):
        if os.path.exists(candidate):
            return candidate
    raise NotFound(f"--include {name!r}: the package {top!r} has no such module; check the spelling.")


# -- running ---------------------------------------------------------------------------------------------------------


def _main_module(program: Program) -> ModuleType:
    module = ModuleType("__main__")
    namespace = vars(module)
    namespace.update(
        __annotations__={}, __builtins__=sys.modules["builtins"], __cached__=program.cached, __file__=program.file,
        __loader__=program.loader, __package__=program.package, __spec__=program.spec,
    )  # fmt: skip
    return module


def run(program: Program, arguments: list[str], users: UserFiles, unfit: Callable[[], None]) -> int:
    """Run a program as ``__main__`` and return its exit code; an exception is shown as ``python`` shows it.

    The program's module stays in ``sys.modules``: its threads and exit handlers may still need it. ``unfit`` is called
    if the program does not compile, and then none of it runs.
    """
    gc.freeze()  # so that garbage collections skip the objects that existed before the program
    gc.enable()
    module = _main_module(program)
    if not program.has_file:
        users.add_namespace(vars(module))
    sys.argv[:] = [program.argv0, *arguments]
    # It must be a real module, so that what the script defines pickles by reference and a spawned child finds its file.
    sys.modules["__main__"] = module
    # Pickles of spawned children use this name. On its import, multiprocessing set it to this package's main module.
    if "__mp_main__" in sys.modules:
        sys.modules["__mp_main__"] = module
    tracebacks.hide_callers()
    return exit_code(lambda: _execute(program, vars(module), unfit))


def _execute(program: Program, namespace: dict[str, Any], unfit: Callable[[], None]) -> None:
    code: Any = program.source
    if not isinstance(code, CodeType):
        try:
            code = compile(code, program.file, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):  # ValueError: it has null bytes
            unfit()
            raise
    exec(code, namespace)


def exit_code(action: Callable[[], Any], passing: type[BaseException] | tuple[()] = ()) -> int:
    """Run an action; return the exit code, and print the messages, of a program that ends the same way.

    Exceptions of the class ``passing`` are not the program's, and propagate. :class:`exits.Interrupted` ends a program
    that Ctrl-C has ended.
    """
    code = _exit_code(action, passing)
    exits.ended_with(exits.INTERRUPTED if code is None else code)
    if code is None:
        raise exits.Interrupted
    return code


def _exit_code(action: Callable[[], Any], passing: type[BaseException] | tuple[()]) -> int | None:
    try:
        action()
    except passing:
        raise
    except SystemExit as error:
        if error.code is None:
            return 0
        if isinstance(error.code, int):
            return error.code
        sys.stdout.flush()
        print(error.code, file=sys.stderr)
        return 1
    except BaseException as error:
        _show(error)
        return None if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _show(error: BaseException) -> None:
    sys.stdout.flush()
    tracebacks.strip(error)
    sys.excepthook(type(error), error, error.__traceback__)
