"""Signal handlers of a program, run after calls of a backend's library, not in the middle of them.

NumPy's functions are C code, in which Python runs no handlers. JAX and TensorFlow run much of a call in Python. A handler that
interrupts their tracing would have its own calls traced, and a handler that needs the same program, or a lock that is held,
would wait for itself. The tapes of compiled execution are also inconsistent in the middle of a call. So while a program
runs, handlers that its files set wait for the end of such a call: a tape runs them after an operation, and the signal is sent again
every few milliseconds until the handler can run. If the program itself calls a library, its handlers run as usual.

Handlers also wait while the main thread itself imports a module of this package, and, inside another handler, during any call of
this package. Otherwise an alarm that comes more often than a first call takes (it imports, it compiles) would nest handlers that all
wait for the same call, until Python's stack is full.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from ..backends import loader
from ..backends.base import Backend
from ..common import callers, error_modes, signal_safety
from ..common.patching import Exchange, Exchanges
from ..common.signal_safety import waiting
from . import import_hook

__all__ = ["after_calls"]

_IMPORTLIB = "<frozen importlib"


class _Handler:
    """Handler that Python calls in place of a program's handler."""

    __slots__ = ("exchange", "handler")

    waits = True
    running = 0
    """Number of nested handlers in which the main thread is."""

    def __init__(self, exchange: Exchange, handler: Callable[..., Any]) -> None:
        self.exchange, self.handler = exchange, handler

    def __call__(self, number: int, frame: FrameType | None) -> Any:
        if signal_safety.is_aside() or (
            self.exchange.on and (_is_halfway(frame, _Handler.running) or _within_a_call(frame))
        ):
            signal_safety.postpone(number)
            return None
        waiting.discard(number)
        within = _is_within_a_library(frame)
        _Handler.running += 1
        signal_safety.interrupting(within)
        try:
            return error_modes.as_users(self.handler, number, frame)
        except Exception as error:
            signal_safety.mark(error)
            raise
        finally:
            signal_safety.interrupting(-within)
            _Handler.running -= 1


class _Interrupt:
    """Python's own handler of Ctrl-C. It waits only for brief operations of this package."""

    __slots__ = ()

    waits = True
    handler = staticmethod(signal.default_int_handler)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if signal_safety.is_aside():
            signal_safety.postpone(number)
            return
        waiting.discard(number)
        signal.default_int_handler(number, frame)


def after_calls(exchanges: Exchanges) -> None:
    """Make handlers that user files set run after calls of a backend's library."""
    if not hasattr(signal, "pthread_kill"):  # Windows has no alarms
        return
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is _Interrupt.handler:
        signal.signal(signal.SIGINT, _Interrupt())
    exchanges.put("signal:signal", _setting)
    exchanges.put("signal:getsignal", _showing)
    exchanges.until(_give_back)


def _setting(exchange: Exchange) -> Any:
    def set_handler(signalnum: Any, handler: Any) -> Any:
        if exchange.on and callable(handler) and callers.is_users(sys._getframe(1)):
            handler = _Handler(exchange, handler)
        if signalnum in waiting and threading.current_thread() is threading.main_thread():
            due = signal._signal.getsignal(signalnum)  # type: ignore[attr-defined]
            if isinstance(due, _Handler):  # plain Python would have run it before
                due(signalnum, sys._getframe(1))
        with signal_safety.changing:
            waiting.discard(signalnum)
            return _programs(exchange.real(signalnum, handler))

    return set_handler


def _showing(exchange: Exchange) -> Any:
    def show_handler(signalnum: Any) -> Any:
        return _programs(exchange.real(signalnum))

    return show_handler


def _programs(handler: Any) -> Any:
    return handler.handler if isinstance(handler, _Handler | _Interrupt) else handler


def _give_back() -> None:
    """Restore the program's own handlers at the end of a run; do nothing in another thread than the main one, which cannot set handlers."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        if isinstance(handler, _Handler | _Interrupt):
            signal.signal(number, handler.handler)


def _is_halfway(frame: FrameType | None, within_handler: int) -> bool:
    """Whether a handler interrupts Python's import code, an import of this package, or, inside another handler, a call of this package.

    If a handler imports while Python 3.11 takes a module's lock, Python loses its record of the lock for which the thread waits.
    """
    imports = frame is not None and frame.f_code.co_filename.startswith(_IMPORTLIB)
    if imports:
        return True
    while frame is not None:
        file = frame.f_code.co_filename
        if callers.is_ours(file):
            if within_handler or frame.f_code.co_name == "<module>" or (imports and file != import_hook.__file__):
                return True
        elif callers.is_users(frame):
            return False
        imports = imports or file.startswith(_IMPORTLIB)
        frame = frame.f_back
    return False


def _is_within_a_library(frame: FrameType | None) -> bool:
    """Whether a handler interrupts library code that a program has called, not only the program's own code."""
    while frame is not None:
        if not callers.is_users(frame):
            return True
        if frame.f_code.co_name == "<module>":
            return False
        frame = frame.f_back
    return False


def _within_a_call(frame: FrameType | None) -> bool:
    """Whether a handler interrupts a library that this package has called or that traces, or an operation on a tape.

    Our own code may trace without a frame of the library: PyTorch computes shapes by running code on tensors without values.
    """
    tapes = sys.modules.get("arraydispatch.engine.compiled_blocks.tapes")  # imported once a block has been recorded
    if getattr(tapes, "is_in_between", bool)():
        return True
    libraries = [backend for backend in loader.loaded() if backend.name != "numpy"]
    folders = tuple(folder for backend in libraries for folder in _folders(backend))
    seen = within = False
    while frame is not None and libraries:
        file = frame.f_code.co_filename
        if file.startswith(folders):
            seen = True
        elif callers.is_ours(file):
            if seen:
                return True
            within = True
        elif callers.is_users(frame):  # compiled code of ours has no frame
            return (seen or within) and any(backend.is_staging() for backend in libraries)
        frame = frame.f_back
    return False


def _folders(backend: Backend) -> Iterator[str]:
    for root in loader.KNOWN[backend.name].roots:
        file = getattr(sys.modules.get(root), "__file__", None)
        if file:
            yield os.path.dirname(file) + os.sep
