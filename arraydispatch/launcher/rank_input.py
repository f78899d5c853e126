"""Standard input of the ranks: rank 0 reads it, and the others read the same data from a file.

Each read of rank 0 is appended as a record to a file in the folder that the ranks share. The n-th read of another rank waits for the n-th
record and returns it. So reads through ``sys.stdin``, :func:`input` and ``open(0)`` return the same in each rank. Only rank 0 can read
descriptor 0 by other means.
"""

from __future__ import annotations

import io
import os
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

from ..common.patching import Exchange, Exchanges

__all__ = ["keep"]

_HEAD = struct.Struct("<I")
_PAUSE = 0.005
_PLACES = (0, "/dev/stdin")
"""Arguments that :func:`open` takes for standard input."""


def keep(folder: str, *, first: bool, terminal: bool, reads: Callable[[str], None]) -> None:
    """Share standard input with the other ranks, through a common folder, for the rest of the process. ``reads`` is called before
    each read.

    ``first``: whether this is rank 0. ``terminal``: whether rank 0's standard input is a terminal.
    """
    stdin: Any = sys.stdin
    if stdin is None:
        return
    path = os.path.join(folder, "input")
    raw = _Reading(path, stdin, terminal, reads) if first else _Repeating(path, terminal, reads)
    buffer = io.BufferedReader(raw)
    stream: Any = io.TextIOWrapper(buffer, stdin.encoding, stdin.errors)
    stream.mode = "r"
    sys.stdin = sys.__stdin__ = stream  # type: ignore[misc]
    exchanges = Exchanges()
    for place in ("builtins:open", "io:open"):
        exchanges.put(place, lambda exchange: _opening(exchange, raw))


def _opening(exchange: Exchange, raw: io.RawIOBase) -> Any:
    real = exchange.real

    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if (type(file) is not int and type(file) is not str) or file not in _PLACES or mode not in ("r", "rt", "rb"):
            return real(file, mode, *args, **kwargs)
        buffer = io.BufferedReader(_Opened(raw))
        if mode == "rb":
            return buffer
        named = dict(zip(("buffering", "encoding", "errors", "newline"), args)) | kwargs
        return io.TextIOWrapper(buffer, named.get("encoding"), named.get("errors"), named.get("newline"))

    return opened


class _Input(io.RawIOBase):
    name = "<stdin>"
    mode = "rb"

    def __init__(self, terminal: bool) -> None:
        self._terminal = terminal

    def readable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._terminal

    def fileno(self) -> int:
        if self._terminal:
            raise io.UnsupportedOperation("fileno")  # else `input` would read from the terminal itself
        return 0


class _Reading(_Input):
    """Standard input as rank 0 reads it: each read is recorded for the other ranks."""

    def __init__(self, path: str, stdin: io.TextIOWrapper, terminal: bool, reads: Callable[[str], None]) -> None:
        super().__init__(terminal)
        self._reads = reads
        self._stdin = stdin  # it would be closed if nothing referred to it
        self._real: Any = stdin.buffer
        self._process = os.getpid()
        self._log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        import atexit

        atexit.register(self._tell, b"")

    def readinto(self, into: Any) -> int:
        if os.getpid() == self._process:
            self._reads("standard input")
        count: int = self._real.raw.readinto(into)
        self._tell(bytes(memoryview(into)[:count]))
        return count

    def _tell(self, data: bytes) -> None:
        if os.getpid() == self._process:
            os.write(self._log, _HEAD.pack(len(data)) + data)


class _Repeating(_Input):
    """Standard input as another rank reads it: each read returns what rank 0 has read and recorded."""

    def __init__(self, path: str, terminal: bool, reads: Callable[[str], None]) -> None:
        super().__init__(terminal)
        self._reads = reads
        self._log = os.open(path, os.O_RDONLY | os.O_CREAT, 0o600)
        self._left = b""

    def readinto(self, into: Any) -> int:
        if not self._left:
            self._reads("standard input")
            self._left = self._exactly(_HEAD.unpack(self._exactly(_HEAD.size))[0])
        data = self._left[: len(into)]
        self._left = self._left[len(data) :]
        memoryview(into)[: len(data)] = data
        return len(data)

    def _exactly(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            if more := os.read(self._log, count - len(found)):
                found += more
            else:
                time.sleep(_PAUSE)
        return found


class _Opened(_Input):
    """Standard input as :func:`open` returns it. Closing it does not close standard input."""

    def __init__(self, raw: Any) -> None:
        super().__init__(raw.isatty())
        self._raw = raw

    def readinto(self, into: Any) -> Any:
        return self._raw.readinto(into)
