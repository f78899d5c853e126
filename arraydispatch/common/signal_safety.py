"""Work that no signal handler may interrupt. Python runs handlers in the main thread, so another thread does the work while that one waits.

A handler may call this package. During an import of this package it would find a half-made module; if its thread held a lock of this
package, it could wait for itself. An exception that a handler raises propagates at once; the work is finished all the same.

While a program runs, all handlers are usually the launcher's, which can wait. Then work of a few milliseconds
is done in the main thread itself, and signals that arrive meanwhile are sent again after it.
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
from typing import Any, TypeVar

from . import callers
from .process_state import process

T = TypeVar("T")

APART = 0.002
"""Seconds after which a postponed signal is sent again."""

waiting: set[int] = set()
"""Postponed signals: their handlers wait for the end of a call."""
changing = threading.RLock()
"""Lock of ``waiting``."""


def postpone(number: int) -> None:
    """Send a signal to the main thread again, :data:`APART` seconds later; do nothing if it is postponed already."""
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
    """Reset the state in a fork: postponed signals belong to the parent."""
    global changing
    changing = threading.RLock()
    waiting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def call_waiting() -> None:
    """Make Python call the handlers of postponed signals when the main thread next runs Python code; do nothing in another thread."""
    if _thread.get_ident() == threading.main_thread().ident:
        for number in tuple(waiting):
            _thread.interrupt_main(number)  # type: ignore[arg-type]  # any number will do


_MARK = "_of_a_handler"


def of_handler(error: BaseException) -> bool:
    """Whether a signal handler raised this exception, not the call that it interrupted. Code that catches errors must let this one pass."""
    return getattr(error, _MARK, False) is True


def mark(error: BaseException) -> None:
    """Mark an exception as raised by a signal handler."""
    with suppress(Exception):  # the class may take no attributes
        setattr(error, _MARK, True)


_workers: set[int] = set()
"""Threads that do the work of :func:`aside` or :func:`briefly`."""


def is_aside() -> bool:
    """Whether this thread does the work of :func:`aside` or :func:`briefly`. A thread that waits for the work may hold locks."""
    return _thread.get_ident() in _workers


def is_waiting(handler: Any) -> bool:
    """Whether a signal's handler is no function (the default action, or none), or one that can wait: called during the work of
    :func:`briefly`, it only sends its signal again.
    """
    return not callable(handler) or getattr(handler, "waits", False) is True


def undisturbed() -> Callable[[Callable[[], None]], None] | None:
    """Return a function that runs a callable in this thread uninterrupted: because handlers do not run in this thread, or because all of
    them can wait. Return None if a handler might interrupt.
    """
    own = _thread.get_ident()
    if own in _workers or own != threading.main_thread().ident:
        return _call
    if not is_waiting(_signal.getsignal(_signal.SIGINT)):
        return None
    return _call_first if all(map(is_waiting, map(_signal.getsignal, _signal.valid_signals()))) else None


def _call(f: Callable[[], None]) -> None:
    f()


def _call_first(f: Callable[[], None]) -> None:
    """Run a function in the main thread, then the handlers of the signals that arrived meanwhile."""
    own = _thread.get_ident()
    _workers.add(own)
    try:
        f()
    finally:
        _workers.discard(own)
        if waiting:  # now, before more work of the kind begins
            call_waiting()


def briefly(f: Callable[[], None]) -> None:
    """Run a function of a few milliseconds as :func:`aside` does, but in this thread if every handler can wait for the function's end.

    Another thread may begin late: on shared machines, as in the cloud, a sleeping processor takes up to 5 ms to wake.
    """
    (undisturbed() or aside)(f)


def aside(f: Callable[[], None]) -> None:
    """Run a function in a thread that no signal handler interrupts: another thread if this is the main one.

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
    """Import modules, uninterrupted by signal handlers and finalizers, and return the last.

    ``alone``: whether these modules import only our modules and modules that are already imported.
    """
    if any(_is_missing(name) for name in names):
        if alone and not _imp.lock_held():
            without_finalizers(aside, lambda: _import(names))
        else:
            importing(lambda: _import(names), all(name.startswith("arraydispatch.") for name in names))
    return sys.modules[names[-1]]


def importing(f: Callable[[], None], brief: bool = True) -> None:
    """Run a function that imports our modules: uninterrupted by signal handlers if :func:`may_import` is true, else in this thread, where a
    handler may interrupt it.

    ``brief``: the function imports no other library, which may take seconds.
    """
    if may_import():
        without_finalizers(briefly if brief else aside, f)
    else:
        without_finalizers(f)


_collector: Any = None
"""Control of the garbage collector, with methods ``hold`` and ``let``."""


def hold_by(collector: Any) -> None:
    """Set the object (``collector``) by which imports of our modules hold the garbage collector, because a finalizer that computes must find
    these modules whole.
    """
    global _collector
    _collector = collector


def without_finalizers(run: Callable[..., T], *args: Any) -> T:
    """Call a function while the garbage collector is held, so that it calls no finalizer, and return the result."""
    collector = _collector
    if collector is None:
        return run(*args)
    collector.hold()
    try:
        return run(*args)
    finally:
        collector.let()


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
    """Whether another thread may import a library while this one waits. If not, that thread would wait for an import which this thread,
    or code that it interrupted, has begun.

    A library that is imported in this thread nevertheless may find half-made modules.
    """
    global _met
    if _imp.lock_held() or _is_library_begun(_met):  # while a module is looked for, or run
        return False
    if _interrupting and _thread.get_ident() == threading.main_thread().ident:
        return False
    _met = None
    modules: list[Any] = list(sys.modules.values())
    for module in modules:  # hundreds, of which few or none are begun: no call for each
        names = _names.__get__(module) if isinstance(module, ModuleType) else {}
        if getattr(names.get("__spec__"), "_initializing", False) and _is_library_begun(module):
            _met = module
            break
    return _met is None


_interrupting = 0
_met: Any = None
"""Module that was being imported at the last check of all modules. That module is checked first, because there are many checks during a
long import.
"""


def interrupting(more: int) -> None:
    """Add ``more`` to the number of running signal handlers that interrupted this package or a library. The interrupted code may hold
    locks that an import needs.
    """
    global _interrupting
    _interrupting += more


def is_interrupted() -> bool:
    """Whether a running signal handler has interrupted this package or a library, whose locks are not released until the handler ends."""
    return _interrupting > 0


def _is_library_begun(module: Any) -> bool:
    """Whether a module is being imported and does not belong to the program. In a run of the launcher, only the user's files belong to
    it.
    """
    file = _file_begun(module)
    if file is None:
        return False
    return callers.is_library(file) or (process.users is not None and not process.users.has_file(file))


_names: Any = vars(ModuleType)["__dict__"]


def _file_begun(module: Any) -> str | None:
    """Return the file of a module that some thread is importing; None for any other."""
    # Not by getattr: some modules import or make an attribute when it is read.
    spec: Any = _names.__get__(module).get("__spec__") if isinstance(module, ModuleType) else None
    return spec.origin or "" if getattr(spec, "_initializing", False) else None
