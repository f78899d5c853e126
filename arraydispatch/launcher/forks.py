"""Support for forks of a process that runs a script, or has imported ``arraydispatch.numpy``.

A fork inherits everything but threads, so a library with its own threads would wait for them forever in the child. Therefore
the child's arrays are moved to the host, where NumPy computes; the parent prints that once.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from . import exits


class _Forks:
    """Handlers for ``os.register_at_fork``: host copies are made before the fork, while the library still has its threads."""

    def __init__(self) -> None:
        self._said = False
        self._hosts: list[tuple[Any, Any]] = []

    def before(self) -> None:
        import gc

        from .._core.handles import Handle
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
        for x in gc.get_objects():
            if issubclass(type(x), Handle) and not x._kind.backend.survives_fork:  # a variant of theirs, too
                value = x._v if x._base is None else native(x)
                if x._kind.backend.is_concrete(value):
                    ghost(x)
                    self._hosts.append((x, x._kind.backend.to_numpy(x._v) if x._base is None else None))

    def in_parent(self) -> None:
        self._hosts.clear()

    def in_child(self) -> None:
        global homeless
        from ..backends import loader
        from ..common.process_state import process

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
        """End a forked process that computes with NumPy by ``os._exit``: the teardown of libraries would wait for threads that it lacks."""
        if homeless and exits.exit_code is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(exits.exit_code)


homeless = False
"""Whether this process is a fork that computes with NumPy."""


def _bring_home(hosts: list[tuple[Any, Any]]) -> None:
    """Move arrays to the host in place: roots by a copy of their values, views as views of it."""
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
    """Make forks of this process work with every library that it loads; called before the program runs."""
    import atexit
    import warnings

    if not _begun:
        _begun.append(forks := _Forks())
        atexit.register(forks.leave)
        os.register_at_fork(before=forks.before, after_in_parent=forks.in_parent, after_in_child=forks.in_child)
    # The library's own warning about forks, which are supported here.
    warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called", category=RuntimeWarning)


@contextlib.contextmanager
def survived() -> Iterator[None]:
    """Make forks of this process work, and remove its warnings filter at the end of the block."""
    import warnings

    filters: Any = warnings.filters
    before = list(filters)
    survive_forks()
    added = [each for each in filters if each not in before]
    try:
        yield
    finally:
        for each in added:
            with contextlib.suppress(ValueError):  # another thread has removed it meanwhile
                filters.remove(each)
