"""Signal handlers of a program, called after a call of a backend's library and not in the middle of it.

NumPy's functions are C code, in which Python calls no handler. JAX and TensorFlow do much of a call in Python: a handler that
came while they trace a program would have its own calls traced, and one that needs the same program, or a lock that is held,
would wait for itself. The tapes of compiled execution, too, are in between two states in the middle of a call. So while a program
runs, handlers that its files set wait for the end of such a call: a tape asks for them at the end of a turn, and the signal is sent again
every few milliseconds until the handler can run. A program that calls a library by itself has its handlers called as ever.

Two more moments are the end of nothing: while the main thread itself imports a module of this package, and, within a handler, any call of
ours. An alarm that comes more often than a first call takes (it imports, it compiles) would start handler within handler, each of which
waits for the same, until Python's stack is full.
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
    """A program's handler, and what Python calls in its place."""

    __slots__ = ("exchange", "handler")

    waits = True
    running = 0
    """Number of handlers that the main thread is in, one within the other."""

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
    """Python's own handler of Ctrl-C, which waits for nothing but the end of a moment of ours."""

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
    """Have the handlers that user files set called after calls of a backend's library."""
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
            if isinstance(due, _Handler):  # plain Python would have called it before
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
    """Set the program's own handlers at the end of a run."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        if isinstance(handler, _Handler | _Interrupt):
            signal.signal(number, handler.handler)


def _is_halfway(frame: FrameType | None, within_handler: int) -> bool:
    """Whether a handler interrupts Python's own code of an import, an import of ours, or, within a handler, a call of ours.

    Python 3.11 loses its note of what the thread waits for if a handler imports where it takes a module's lock.
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
    """Whether a handler interrupts code that a program has called, and not only the program's own."""
    while frame is not None:
        if not callers.is_users(frame):
            return True
        if frame.f_code.co_name == "<module>":
            return False
        frame = frame.f_back
    return False


def _within_a_call(frame: FrameType | None) -> bool:
    """Whether a handler interrupts Python code of a library that this package has called, or that traces, or a turn at a tape.

    Code of ours traces too, without a frame of the library's: PyTorch gives shapes to code that runs on tensors without values.
    """
    tapes = sys.modules.get("arraydispatch.engine.compiled_blocks.tapes")  # there once a block has been recorded
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
        elif callers.is_users(frame):  # code of ours that is compiled has no frame
            return (seen or within) and any(backend.is_staging() for backend in libraries)
        frame = frame.f_back
    return False


def _folders(backend: Backend) -> Iterator[str]:
    for root in loader.KNOWN[backend.name].roots:
        file = getattr(sys.modules.get(root), "__file__", None)
        if file:
            yield os.path.dirname(file) + os.sep
