"""Work in which no handler of a signal runs: the main thread, where Python calls handlers, waits while another thread does it.

A handler may compute. If it came in the middle of an import of this package's, it would meet a module half made; in the middle of
something that holds a lock, it could wait for itself. What a handler raises is raised at once; the work comes to its end all the same.
"""

from __future__ import annotations

import _imp
import _thread
import importlib
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from types import ModuleType
from typing import Any

from . import callers

waiting: set[int] = set()
"""Signals whose handlers wait for the end of a call."""


def call_waiting() -> None:
    """Have Python call the handlers that wait when it next runs code of the main thread."""
    if _thread.get_ident() == threading.main_thread().ident:
        for number in tuple(waiting):
            _thread.interrupt_main(number)  # type: ignore[arg-type]  # any number will do


_MARK = "_of_a_handler"


def of_handler(error: BaseException) -> bool:
    """Whether the handler of a signal raised this, and not the call that it interrupted: whoever tries something lets it through."""
    return getattr(error, _MARK, False) is True


def mark(error: BaseException) -> None:
    """Note that the handler of a signal raised this."""
    with suppress(Exception):  # of a class that takes no attributes
        setattr(error, _MARK, True)


_workers: set[int] = set()
"""Threads that do the work of :func:`aside`."""


def is_aside() -> bool:
    """Whether this thread does the work of :func:`aside`, for which another one waits that may hold locks."""
    return _thread.get_ident() in _workers


def aside(f: Callable[[], None]) -> None:
    """Run a function in a thread in which no handler of a signal is called: another one, if this is the main thread.

    The function may take no lock that the caller holds. An exception that a handler raises meanwhile propagates at once.
    """
    if _thread.get_ident() != threading.main_thread().ident:
        f()
        return
    ended, failed, context = _thread.allocate_lock(), [], copy_context()
    ended.acquire()

    def work() -> None:
        own = _thread.get_ident()
        _workers.add(own)
        try:
            context.run(f)
        except BaseException as error:  # noqa: BLE001 -- raised below
            failed.append(error)
        finally:
            _workers.discard(own)
            ended.release()

    try:
        _thread.start_new_thread(work, ())
    except RuntimeError:  # no threads can be had, as at the end of the process
        f()
        return
    ended.acquire()
    if failed:
        raise failed[0]


def imported(*names: str, alone: bool = False) -> ModuleType:
    """Import modules as a whole, and return the last; ``alone``: all that they import, but modules of ours, is there."""
    if any(_is_missing(name) for name in names):
        if alone and not _imp.lock_held():
            aside(lambda: _import(names))
        else:
            importing(lambda: _import(names))
    return sys.modules[names[-1]]


def importing(f: Callable[[], None]) -> None:
    """Run what imports modules of ours :func:`aside`, or here where another thread could wait for what this one is importing itself."""
    if may_import():
        aside(f)
    else:
        f()


def _import(names: tuple[str, ...]) -> None:
    """Import modules, each after its packages: Python does not wait for a package that another thread is importing."""
    for name in names:
        parts = name.split(".")
        for i in range(len(parts)):
            importlib.import_module(".".join(parts[: i + 1]))


def _is_missing(name: str) -> bool:
    module = sys.modules.get(name)
    return module is None or _file_begun(module) is not None


def may_import() -> bool:
    """Whether another thread may import a library while this one waits: it would wait for what this one is importing itself.

    If not, a library that is imported nevertheless may meet modules half made.
    """
    global _met
    if _imp.lock_held() or _is_library_begun(_met):  # while a module is looked for, or run
        return False
    if _interrupting and _thread.get_ident() == threading.main_thread().ident:
        return False
    _met = next(filter(_is_library_begun, list(sys.modules.values())), None)
    return _met is None


_interrupting = 0
_met: Any = None
"""Module whose import had begun, but not ended, when all were last looked at: a long import is asked for often."""


def interrupting(more: int) -> None:
    """Count the running handlers that interrupt code of this package or of another library, which may hold locks that an import needs."""
    global _interrupting
    _interrupting += more


def is_interrupted() -> bool:
    """Whether a handler runs in the midst of code of this package or of another library, whose locks nobody gives back until it ends."""
    return _interrupting > 0


def _is_library_begun(module: Any) -> bool:
    file = _file_begun(module)
    return file is not None and callers.is_library(file)


_names: Any = vars(ModuleType)["__dict__"]


def _file_begun(module: Any) -> str | None:
    """Return the file of a module that some thread is importing; None of any other."""
    # Past modules that import, or make, what they are asked for.
    spec: Any = _names.__get__(module).get("__spec__") if isinstance(module, ModuleType) else None
    return spec.origin or "" if getattr(spec, "_initializing", False) else None
