"""Processes that a script starts are accelerated too; those that it forks keep working.

*A new interpreter* (``subprocess`` with ``sys.executable``, ``multiprocessing``'s spawn and forkserver) inherits the
environment: ``PYTHONPATH`` begins with a folder of ours, whose ``sitecustomize`` puts the import hook in place. The
backend is loaded when user code imports NumPy, so other programs start as fast as before.

*A fork* inherits everything but threads. A library with threads of its own would wait for them in the child for ever.
So there arrays come to the host, and the child computes with NumPy; the parent says so once.

This module is imported by every Python process that a script starts: what it needs for more than looking, it imports
when it is needed.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from types import ModuleType
from typing import Any

__all__ = ["continue_run", "inherit", "survive_forks"]

_RUN = "ARRAYDISPATCH_RUN"
"""Environment variable: how the parent runs, and what it takes for user code."""

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child")
"""The folder of the ``sitecustomize`` of child processes."""


# -- new interpreters ------------------------------------------------------------------------------------------------


def inherit(choices: Any, roots: list[str], counts: str, each: bool) -> None:
    """From now on every Python process that this one starts runs as it does.

    Parameters
    ----------
    choices : Choices
        How.
    roots : list of str
        What is user code.
    counts : str
        The folder where processes leave what they counted.
    each : bool
        Whether they count each call by its line.
    """
    os.environ[_RUN] = json.dumps({"choices": choices.to_json(), "roots": roots, "counts": counts, "each": each})
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", _FOLDER)]
    os.environ["PYTHONPATH"] = os.pathsep.join([_FOLDER, *paths])


def continue_run() -> None:
    """Called as a child process starts: hand its user code the facade, as its parent does."""
    told = os.environ.get(_RUN)
    if not told:
        return
    from ..exchanges import Exchanges
    from . import array_method, doors
    from .hook import ImportHook
    from .userfiles import UserFiles

    run = json.loads(told)
    users = UserFiles(run["roots"])
    for root in _own_roots(users):
        users.add_root(root)
    users.add_namespace(vars(sys.modules["__main__"]))  # of `-c` and standard input, which have no file to tell by
    waiting = [run["choices"]]
    exchanges = Exchanges()  # which nobody takes out: the process ends with its program
    opened = doors.Doors(exchanges, users)
    array_method.for_c_code(users, exchanges)

    def substitute(module: ModuleType) -> ModuleType:
        from . import counts, facade, runner, tracebacks
        from .choices import Choices

        if waiting:
            Choices(**json.loads(waiting.pop())).apply()
            runner.begin(users, opened)
            tracebacks.hide_ours_for_good()
            survive_forks()
            counts.count_here(run["counts"], users.has_file, run["each"])
        return facade.substitute(module)

    ImportHook(users, substitute, opened.open_all, doors.LIBRARIES).install()


def _own_roots(users: Any) -> list[str]:
    """What the command line of this interpreter adds: the folder of its script, or the current one of ``-m``."""
    try:
        here = [os.getcwd()]
    except OSError:  # the folder has been deleted, and its modules with it
        here = []
    words = iter(sys.orig_argv[1:])
    for word in words:
        if word in ("-c", "-m") or word.startswith(("-c", "-m")):
            return here
        if word in ("-W", "-X"):
            next(words, None)
        elif not word.startswith("-"):
            folder = os.path.dirname(os.path.realpath(word))
            return [] if users.is_installed(folder) else [folder]
    return here


# -- forks -----------------------------------------------------------------------------------------------------------


class _Forks:
    """What ``os.register_at_fork`` calls: host copies are made before, where the library still has its threads."""

    def __init__(self) -> None:
        self._said = False
        self._hosts: list[tuple[Any, Any]] = []

    def before(self) -> None:
        import gc

        from .. import registry
        from ..backends import loader
        from ..views import Handle, ghost, native

        registry.load_topics()  # which each fork would do for itself
        unsafe = [backend for backend in loader.loaded() if not backend.survives_fork]
        if not unsafe:
            return
        if not self._said:
            self._said = True
            names = " and ".join(backend.name for backend in unsafe)
            print(
                f"arraydispatch: a forked process computes with NumPy, because {names} has threads, or an accelerator, that a "
                "fork does not take along. Start processes by 'spawn' to use it in them.", file=sys.stderr,
            )  # fmt: skip
        for x in gc.get_objects():
            if issubclass(type(x), Handle) and x._kind.backend in unsafe:
                value = x._v if x._base is None else native(x)
                if x._kind.backend.is_concrete(value):
                    ghost(x)
                    self._hosts.append((x, x._kind.backend.to_numpy(x._v) if x._base is None else None))

    def in_parent(self) -> None:
        self._hosts.clear()

    def in_child(self) -> None:
        global homeless
        from ..backends import loader
        from ..state import process

        for backend in loader.loaded():
            backend.after_fork()
            if not backend.survives_fork:
                homeless = True
                loader.stand_in(backend, loader.load("numpy"))
        if not homeless:
            return
        process.change(backend="numpy", min_size=sys.maxsize, draws_on_device=False)
        _bring_home(self._hosts)
        self._hosts = []

    def leave(self) -> None:
        """The last exit handler: a library that misses its threads may wait for them when it is torn down."""
        if homeless and exit_code is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(exit_code)


homeless = False
"""Whether this process is a fork that computes with NumPy."""

INTERRUPTED = 130
"""The exit code of what Ctrl-C ends, as shells show it."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended the program and has been shown. What is left is to die of it, so that a loop in a shell ends too."""


exit_code: int | None = None
"""Of the program, once its last line has run."""


def ended_with(code: int) -> None:
    """The last line of the program has run."""
    global exit_code
    exit_code = code


def _bring_home(hosts: list[tuple[Any, Any]]) -> None:
    """Arrays become host-held in place: roots by a copy of their values, views as views of it."""
    from ..reshaping import hold_on_host

    derived: dict[int, list[Any]] = {}
    for x, _ in hosts:
        if x._base is not None:
            derived.setdefault(id(x._base), []).append(x)
    for x, values in hosts:
        if x._base is None:
            hold_on_host(x, derived.get(id(x), []), values)


def survive_forks() -> None:
    """Make forks of this process work, whatever its libraries say to that; called before there is a program to run."""
    import atexit
    import warnings

    forks = _Forks()
    atexit.register(forks.leave)
    os.register_at_fork(before=forks.before, after_in_parent=forks.in_parent, after_in_child=forks.in_child)
    # The library's own warning of what is taken care of here.
    warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called", category=RuntimeWarning)
