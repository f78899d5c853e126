"""Work in which no handler of a signal runs: the main thread, where Python calls handlers, waits while another thread does it.

A handler may compute. If it came in the middle of an import of this package's, it would meet a module half made; in the middle of
something that holds a lock, it could wait for itself. What a handler raises is raised at once; the work comes to its end all the same.

While a program runs, all handlers that may come are usually the launcher's, which can wait: work of a few milliseconds
is then done in the main thread itself, and signals that come meanwhile are sent again after it.
"""

from __future__ import annotations

import _imp
import _signal  # type: ignore[import-not-found]  # past the exchanges of a run
import _thread
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from types import ModuleType
from typing import Any

from . import callers
from .process_state import process

APART = 0.002
"""Seconds until a signal whose handler waits is sent again."""

waiting: set[int] = set()
"""Signals whose handlers wait for the end of a call."""
changing = threading.RLock()
"""Lock of ``waiting``."""


def postpone(number: int) -> None:
    """Send a signal again later, once, however often it has come."""
    with changing:
        if number in waiting:
            return
        waiting.add(number)

    def send() -> None:
        time.sleep(APART)
        with changing:
            if number in waiting:
                waiting.discard(number)
                _signal.pthread_kill(threading.main_thread().ident or 0, number)

    _thread.start_new_thread(send, ())


def _forget() -> None:
    """Reset the state in a fork: a signal that waits is the parent's."""
    global changing
    changing = threading.RLock()
    waiting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


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
"""Threads that do the work of :func:`aside` or :func:`briefly`."""


def is_aside() -> bool:
    """Whether this thread does the work of :func:`aside` or :func:`briefly`: who waits for it may hold locks."""
    return _thread.get_ident() in _workers


def is_waiting(handler: Any) -> bool:
    """Whether a handler, when it is called during the work of :func:`briefly`, only sends its signal again."""
    return not callable(handler) or getattr(handler, "waits", False) is True


def undisturbed() -> Callable[[Callable[[], None]], None] | None:
    """Return what runs a function in this thread while no handler runs: each waits for the end of it, or runs in another thread; else None."""
    own = _thread.get_ident()
    if own in _workers or own != threading.main_thread().ident:
        return _call
    if not is_waiting(_signal.getsignal(_signal.SIGINT)):
        return None
    return _call_first if all(map(is_waiting, map(_signal.getsignal, _signal.valid_signals()))) else None


def _call(f: Callable[[], None]) -> None:
    f()


def _call_first(f: Callable[[], None]) -> None:
    """Run a function in the main thread, and then the handlers of the signals that have come."""
    own = _thread.get_ident()
    _workers.add(own)
    try:
        f()
    finally:
        _workers.discard(own)
        if waiting:  # now, before more work of the kind begins
            call_waiting()


def briefly(f: Callable[[], None]) -> None:
    """Run a function of a few milliseconds as :func:`aside`, but in this thread if every handler waits for the end of it.

    Another thread begins late: a processor that sleeps takes up to 5 ms to wake where it is shared, as in the cloud.
    """
    (undisturbed() or aside)(f)


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
            importing(lambda: _import(names), all(name.startswith("arraydispatch.") for name in names))
    return sys.modules[names[-1]]


def importing(f: Callable[[], None], brief: bool = True) -> None:
    """Run what imports modules of ours where no handler runs, or here where another thread could wait for what this one is importing itself.

    ``brief``: it imports no other library, which may take seconds.
    """
    if may_import():
        (briefly if brief else aside)(f)
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
    _met = None
    for module in list(sys.modules.values()):  # hundreds, of which few or none are begun: no call for each
        names = _names.__get__(module) if isinstance(module, ModuleType) else {}
        if getattr(names.get("__spec__"), "_initializing", False) and _is_library_begun(module):
            _met = module
            break
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
    """Whether a module is being imported that is not the program's: in a run all but the user's files."""
    file = _file_begun(module)
    if file is None:
        return False
    return callers.is_library(file) or (process.users is not None and not process.users.has_file(file))


_names: Any = vars(ModuleType)["__dict__"]


def _file_begun(module: Any) -> str | None:
    """Return the file of a module that some thread is importing; None of any other."""
    # Past modules that import, or make, what they are asked for.
    spec: Any = _names.__get__(module).get("__spec__") if isinstance(module, ModuleType) else None
    return spec.origin or "" if getattr(spec, "_initializing", False) else None
