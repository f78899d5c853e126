"""What ran where: counts for each function and each source line, taken at the dispatch door.

A :class:`Profile` is a listener on :mod:`arraydispatch.events`. A call is filed under the first frame outside this
package, NumPy and the installed packages, as (code object, instruction): finding out the line number is left to the
end, because it costs as much as the rest. Each thread has its own tables, so nothing is lost and nothing locks.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
import weakref
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import Any, Self

import numpy as np

from . import events

__all__ = ["Call", "Left", "Profile", "Transfer", "profile"]

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_STDLIB = sysconfig.get_path("stdlib") + os.sep
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_BACKEND_KINDS = frozenset({"override", "native", "composed", "view"})
_UPLOAD_MIN = 1024
"""Repeated uploads of arrays below this many bytes are not worth a line in a report."""


@dataclass(frozen=True)
class Call:
    """Calls of one function from one line that ended in one way."""

    function: str
    backend: str
    kind: str
    reason: str
    file: str
    line: int
    count: int
    seconds: float

    @property
    def on_backend(self) -> bool:
        """Whether the backend's library did the work."""
        return self.kind in _BACKEND_KINDS


@dataclass(frozen=True)
class Transfer:
    """Bytes that one line moved in one direction, for one reason."""

    direction: str
    why: str
    file: str
    line: int
    count: int
    nbytes: int


@dataclass(frozen=True)
class Left:
    """Arrays that stayed NumPy arrays at one line (also: syncs and repeated uploads)."""

    what: str
    why: str
    file: str
    line: int
    count: int


class _Tables:
    """One thread's tables: key -> [count, amount, code]."""

    __slots__ = ("calls", "left", "syncs", "transfers", "uploads")

    def __init__(self) -> None:
        self.calls: dict[tuple[Any, ...], list[Any]] = {}
        self.transfers: dict[tuple[Any, ...], list[Any]] = {}
        self.left: dict[tuple[Any, ...], list[Any]] = {}
        self.syncs: dict[tuple[Any, ...], list[Any]] = {}
        self.uploads: dict[tuple[Any, ...], list[Any]] = {}


_internal: dict[str, bool] = {}


def _is_internal(file: str) -> bool:
    known = file.startswith((_PACKAGE, "<frozen ", "<__array_function__")) or any(part in file for part in _INSTALLED)
    known = known or file.startswith(_STDLIB)
    _internal[file] = known
    return known


def _origin(frame: FrameType | None) -> FrameType:
    """The first frame, going out, that is neither ours nor a library's; the outermost one if all are."""
    assert frame is not None
    internal = _internal
    while True:
        file = frame.f_code.co_filename
        known = internal.get(file)
        if known is None:
            known = _is_internal(file)
        if not known:
            return frame
        outer = frame.f_back
        if outer is None:
            return frame
        frame = outer


def _line_of(code: CodeType, instruction: int) -> int:
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return line
    return code.co_firstlineno


def function_name(func: Any) -> str:
    """The name under which a function is reported: ``np.mean``, ``np.linalg.inv``, ``np.add``, ``__getitem__``."""
    if isinstance(func, str):
        return func
    name = getattr(func, "__name__", None) or repr(func)
    if isinstance(func, np.ufunc):
        return f"np.{name}" if getattr(np, name, None) is func else name
    module = getattr(func, "__module__", None)
    if not module:
        return name
    return f"np{module[5:]}.{name}" if module == "numpy" or module.startswith("numpy.") else f"{module}.{name}"


class Profile(events.Listener):
    """Counts what runs while it is installed; ``with ad.profile() as p:``.

    Profiles nest: an inner one passes on what it hears.

    Examples
    --------
    >>> import numpy as np
    >>> import arraydispatch as ad
    >>> x = ad.asarray([1.0, 2.0])
    >>> with ad.profile() as p:
    ...     y = np.sin(x)
    >>> p.calls_on_backend
    1
    """

    def __init__(self) -> None:
        self._local = threading.local()
        self._threads: list[_Tables] = []
        self._outer: events.Listener | None = None
        self._seen: dict[int, weakref.ref[Any]] = {}

    # -- listening ---------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self._outer = events.install(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        events.install(self._outer)
        self._outer = None

    def _tables(self) -> _Tables:
        try:
            tables: _Tables = self._local.tables
        except AttributeError:
            tables = self._local.tables = _Tables()
            self._threads.append(tables)
        return tables

    def call(self, func: Any, backend: str, kind: str, reason: str, seconds: float) -> None:
        """Count one call."""
        frame = _origin(sys._getframe(1))
        code = frame.f_code
        try:
            rows = self._local.tables.calls
        except AttributeError:
            rows = self._tables().calls
        # id(), because hashing a code object hashes its bytecode; the row keeps the code object alive.
        key = (func, kind, id(code), frame.f_lasti, backend, reason)
        row = rows.get(key)
        if row is None:
            rows[key] = [1, seconds, code]
            self.first_call(func, kind, reason, frame)
        else:
            row[0] += 1
            row[1] += seconds
        if self._outer is not None:
            self._outer.call(func, backend, kind, reason, seconds)

    def first_call(self, func: Any, kind: str, reason: str, frame: FrameType) -> None:
        """Told when a place runs a function in a new way: the launcher says host fallbacks at once."""

    def _count(self, rows: dict[tuple[Any, ...], list[Any]], what: tuple[Any, ...], amount: int) -> None:
        frame = _origin(sys._getframe(2))
        code = frame.f_code
        row = rows.setdefault((*what, id(code), frame.f_lasti), [0, 0, code])
        row[0] += 1
        row[1] += amount

    def transfer(self, direction: str, nbytes: int, why: str) -> None:
        """Count bytes moved."""
        self._count(self._tables().transfers, (direction, why), nbytes)
        if self._outer is not None:
            self._outer.transfer(direction, nbytes, why)

    def sync(self, why: str) -> None:
        """Count a look at a value on an accelerator."""
        self._count(self._tables().syncs, ("sync", why), 0)
        if self._outer is not None:
            self._outer.sync(why)

    def left(self, what: str, why: str) -> None:
        """Count an array that stayed a NumPy array."""
        self._count(self._tables().left, (what, why), 0)
        if self._outer is not None:
            self._outer.left(what, why)

    def adopted(self, x: np.ndarray[Any, Any]) -> None:
        """Note an ndarray that the launcher moves to the backend, and count it when it was moved before."""
        if x.nbytes < _UPLOAD_MIN:
            return
        before = self._seen.get(id(x))
        if before is not None and before() is x:
            self._count(self._tables().uploads, ("ndarray", f"{x.dtype}{list(x.shape)}"), x.nbytes)
            return
        seen, key = self._seen, id(x)
        seen[key] = weakref.ref(x, lambda _: seen.pop(key, None))

    # -- reading -----------------------------------------------------------------------------------------------------

    def calls(self) -> list[Call]:
        """Every (function, line, way), most time first."""
        merged: dict[tuple[Any, ...], list[Any]] = {}
        for tables in list(self._threads):
            for (func, kind, _, instruction, backend, reason), (count, seconds, code) in list(tables.calls.items()):
                place = code.co_filename, _line_of(code, instruction)
                row = merged.setdefault((function_name(func), backend, kind, reason, *place), [0, 0.0])
                row[0] += count
                row[1] += seconds
        found = [Call(*key, *row) for key, row in merged.items()]
        return sorted(found, key=lambda call: -call.seconds)

    def _rows(self, table: str) -> dict[tuple[Any, ...], list[int]]:
        merged: dict[tuple[Any, ...], list[int]] = {}
        for tables in list(self._threads):
            for (what, why, _, instruction), (count, amount, code) in list(getattr(tables, table).items()):
                row = merged.setdefault((what, why, code.co_filename, _line_of(code, instruction)), [0, 0])
                row[0] += count
                row[1] += amount
        return merged

    def transfers(self) -> list[Transfer]:
        """Bytes moved by each line, most first."""
        found = [Transfer(*key, *row) for key, row in self._rows("transfers").items()]
        return sorted(found, key=lambda row: -row.nbytes)

    def _left_rows(self, table: str) -> list[Left]:
        found = [Left(what, why, file, line, row[0]) for (what, why, file, line), row in self._rows(table).items()]
        return sorted(found, key=lambda row: -row.count)

    def left_numpy(self) -> list[Left]:
        """Arrays that stayed NumPy arrays, most frequent first."""
        return self._left_rows("left")

    def syncs(self) -> list[Left]:
        """Looks at values on an accelerator."""
        return self._left_rows("syncs")

    def repeated_uploads(self) -> list[Left]:
        """Lines that moved an ndarray to the backend which had been moved before."""
        return self._left_rows("uploads")

    @property
    def calls_on_backend(self) -> int:
        """Calls that the backend's library ran."""
        return sum(call.count for call in self.calls() if call.on_backend)

    def calls_by_class(self) -> dict[str, int]:
        """Number of calls of each class of entry."""
        counts: dict[str, int] = {}
        for call in self.calls():
            counts[call.kind] = counts.get(call.kind, 0) + call.count
        return counts

    def host_fallbacks(self) -> list[Call]:
        """Calls that ran on the host, most frequent first."""
        return sorted((call for call in self.calls() if call.kind == "host"), key=lambda call: -call.count)

    def moved(self, direction: str) -> int:
        """Bytes moved in one direction."""
        return sum(row.nbytes for row in self.transfers() if row.direction == direction)

    @property
    def seconds(self) -> float:
        """Wall time inside dispatched calls."""
        return sum(call.seconds for call in self.calls())


def profile() -> Profile:
    """Count what runs inside a ``with`` block: ``with ad.profile() as p: …``."""
    return Profile()
