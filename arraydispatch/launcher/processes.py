"""Processes that a script starts: acceleration of new interpreters, and support for forks.

A new interpreter (``subprocess`` with ``sys.executable``, ``multiprocessing``'s spawn and forkserver) inherits the
environment: ``PYTHONPATH`` begins with a folder of ours with a ``sitecustomize`` that installs the import hook. The
backend is loaded when user code imports NumPy, so other programs start as fast as before.

A fork inherits everything but threads, so a library with its own threads would wait for them forever in the child. Therefore
the child's arrays are moved to the host, where NumPy computes. The parent prints that once.

This module is imported by every Python process that a script starts, so it imports most modules only when they are
needed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

_RUN = "ARRAYDISPATCH_RUN"
"""Environment variable with the options of the parent's run and its user files."""

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child")
"""The folder of the ``sitecustomize`` of child processes."""


# -- new interpreters ------------------------------------------------------------------------------------------------


def inherit(choices: Any, roots: list[str], counts: str | None = None, each: bool = False) -> None:
    """Make every Python process that this one starts run as this one does, with these options of the run and roots of user code.

    ``counts``: folder for the processes' counts, if they are wanted; ``each``: whether each call is counted by its line.
    """
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", _FOLDER)]
    os.environ["PYTHONPATH"] = os.pathsep.join([_FOLDER, *paths])
    os.environ[_RUN] = json.dumps({"choices": choices.to_json(), "roots": roots, "counts": counts, "each": each})


@contextmanager
def inherited(choices: Any, roots: list[str]) -> Iterator[None]:
    """Make Python processes that are started in the block run as this one does; :func:`inherit` does that permanently."""
    before = {name: os.environ.get(name) for name in (_RUN, "PYTHONPATH")}
    inherit(choices, roots)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def continue_run() -> None:
    """Give the facade to the user code of a child process that starts, as in its parent."""
    told = os.environ.get(_RUN)
    if not told:
        return
    from ..common.patching import Exchanges
    from . import array_methods, facade, package_patches
    from .import_hook import ImportHook
    from .user_files import UserFiles, of_command_line

    run = json.loads(told)
    users = UserFiles(run["roots"])
    for root in of_command_line(users):
        users.add_root(root)
    users.add_namespace(vars(sys.modules["__main__"]))  # code from `-c` and standard input has no file
    waiting = [run["choices"]]
    exchanges = Exchanges()  # never removed: the process ends with its program
    opened = package_patches.Doors(exchanges)
    array_methods.for_c_code(users, exchanges, facade.twins)

    def substitute(module: ModuleType) -> ModuleType:
        from . import activation, facade, process_counts as counts, tracebacks
        from .options import Choices

        if waiting:
            Choices(**json.loads(waiting.pop())).apply()
            activation.begin(users, opened)
            tracebacks.hide_ours(exchanges)
            tracebacks.hide_ours_at_the_end(exchanges)
            survive_forks()
            if run["counts"] is not None:
                counts.count_here(run["counts"], users.has_file, run["each"])
        return facade.substitute(module)

    ImportHook(users, substitute, opened.open_all, package_patches.LIBRARIES, loading=opened.loading).install()


# -- forks -------------------------------------------------------------------------------------------------------------


class _Forks:
    """Handlers for ``os.register_at_fork``: host copies are made before the fork, while the library still has its threads."""

    def __init__(self) -> None:
        self._said = False
        self._hosts: list[tuple[Any, Any]] = []

    def before(self) -> None:
        from .._core import handles
        from ..backends import loader
        from ..functions import registry
        from ..memory.views import ghost, native

        registry.load_topics()  # otherwise each fork would do it
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
        for x in handles.live():
            if not x._kind.backend.survives_fork:
                value = x._v if x._base is None else native(x)
                if x._kind.backend.is_concrete(value):
                    ghost(x)
                    self._hosts.append((x, x._kind.backend.to_numpy(x._v) if x._base is None else None))

    def in_parent(self) -> None:
        self._hosts.clear()

    def in_child(self) -> None:
        from ..backends import loader
        from ..common.process_state import process

        for backend in loader.loaded():
            backend.after_fork()
            if not backend.survives_fork:
                loader.stand_in(backend, loader.load("numpy"))
        if not loader.homeless:
            return
        process.change(backend="numpy", min_size=sys.maxsize, draws_on_device=False)
        _bring_home(self._hosts)
        self._hosts = []

    def leave(self) -> None:
        """End a forked process that computes with NumPy by ``os._exit``: the teardown of libraries would wait for threads that it lacks."""
        from ..backends import loader
        from . import exits

        if loader.homeless and exits.exit_code is not None:
            with suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(exits.exit_code)


def _bring_home(hosts: list[tuple[Any, Any]]) -> None:
    """Move arrays to the host in place: roots as copies, views as views of these."""
    from ..memory.reshaping import hold_on_host

    derived: dict[int, list[Any]] = {}
    for x, _ in hosts:
        if x._base is not None:
            derived.setdefault(id(x._base), []).append(x)
    for x, values in hosts:
        if x._base is None:
            hold_on_host(x, derived.get(id(x), []), values)


_begun: list[_Forks] = []
"""Handlers that have been registered; Python cannot remove such hooks."""


def survive_forks() -> None:
    """Make forks of this process work with every library that it loads. Called before the program runs."""
    import atexit
    import warnings

    if not _begun:
        _begun.append(forks := _Forks())
        atexit.register(forks.leave)
        os.register_at_fork(before=forks.before, after_in_parent=forks.in_parent, after_in_child=forks.in_child)
    # The library's own warning about forks, which are supported here.
    warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called", category=RuntimeWarning)


@contextmanager
def survived() -> Iterator[None]:
    """Make forks of this process work; at the end of the block, remove the warnings filters that this added."""
    import warnings

    filters: Any = warnings.filters
    before = list(filters)
    survive_forks()
    added = [each for each in filters if each not in before]
    try:
        yield
    finally:
        for each in added:
            with suppress(ValueError):  # another thread has removed it meanwhile
                filters.remove(each)
