"""Large new arrays of a mesh that the host makes part by part: each process makes the parts that its devices hold, none makes the whole.

Values come from a source in which each part can be read by itself (a file), or from a stream of all values in order (draws of random
numbers); of these a process keeps only its own parts.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from ..backends.base import Backend, Box
from ..common import events
from ..common.process_state import process
from ..common.sentinels import DECLINED
from ..memory import views
from ..runtime import conversion, dtypes, settings

__all__ = ["PIECE", "is_possible", "mapped", "read", "streamed", "target"]

PIECE = 1 << 18
"""Number of elements made at a time; smaller arrays are made whole and then split."""
_Parts = list[tuple[Box, np.ndarray[Any, Any]]]


def is_possible() -> bool:
    """Whether new arrays may be split, because a device in force is a mesh."""
    devices = settings.default.devices
    return bool(devices) and any(device.mesh for device in devices.values() if device is not None)


def read(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    values: Callable[[Box], Any],
    what: str,
    together: int = 1,
    by_columns: bool = False,
) -> Any:
    """Make a split array by reading each part with ``values(place)``; return DECLINED if an array of this shape and dtype is not split.

    ``what``: name of the call, for the report. ``together``: number of slices along the first axis that share chunks of a file.
    ``by_columns``: whether the source is in Fortran order.
    """

    def fill(parts: _Parts) -> None:
        for box, out in parts:
            for piece in _pieces(box[::-1] if by_columns else box, together):
                place = piece[::-1] if by_columns else piece
                out[_within(place, box)] = values(place)

    return _made(shape, dtype, fill, what)


def mapped(held: np.memmap[Any, Any], what: str) -> Any:
    """Return an array with the values of the mapped file ``held``; DECLINED if an array of this shape and dtype is not split.

    ``what``: function that reports name.
    """
    whole: Any = held.view(np.ndarray)
    memory: Any = held
    while isinstance(memory, np.ndarray):
        memory = memory.base
    is_dropped = held.mode == "r" and isinstance(memory, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED")

    def values(box: Box) -> Any:
        found = whole[box].copy()
        if is_dropped:
            memory.madvise(mmap.MADV_DONTNEED)  # frees the pages that have been read
        return found

    by_columns = whole.flags.f_contiguous and not whole.flags.c_contiguous
    made = read(whole.shape, whole.dtype, values, what, by_columns=by_columns)
    return made if made is DECLINED else views.keep_order(made, whole)


def streamed(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    draw: Callable[[int], Any],
    skip: Callable[[int], object],
    what: str,
    around: Callable[[Callable[[], None]], None] = lambda work: work(),
) -> Any:
    """Return an array of values that come in order; DECLINED if an array of this shape and dtype is not split.

    ``draw(n)`` returns the next values, ``skip(n)`` skips them, and ``around`` runs the function that reads the stream. ``what``: name
    of the call, for the report.
    """

    def fill(parts: _Parts) -> None:
        around(lambda: _keep(parts, shape, draw, skip))

    return _made(shape, dtype, fill, what)


def _keep(parts: _Parts, shape: tuple[int, ...], draw: Callable[[int], Any], skip: Callable[[int], object]) -> None:
    """Read a stream of values in order, and write those that belong to ``parts``; skip all others.

    ``draw`` returns the next values, ``skip`` drops them, each given their number.
    """
    for piece in _pieces(tuple([slice(0, n) for n in shape])):
        lengths = [each.stop - each.start for each in piece]
        met = [(both, box, out) for box, out in parts if (both := _common(piece, box)) is not None]
        if not met:
            skip(prod(lengths))
            continue
        values = draw(prod(lengths)).reshape(lengths)
        for both, box, out in met:
            out[_within(both, box)] = values[_within(both, piece)]


def _made(shape: tuple[int, ...], dtype: np.dtype[Any], fill: Callable[[_Parts], None], what: str) -> Any:
    found = target(shape, dtype)
    if found is None:
        return DECLINED
    backend, device = found
    held = 0

    def filled(parts: _Parts) -> None:
        nonlocal held
        held = sum(out.nbytes for _, out in parts)
        fill(parts)

    wanted = conversion.precise(dtype)
    with backend.within():
        value = backend.from_parts(shape, wanted, filled, device)
    if events.tap is not None:
        events.tap.transfer("to_device", held, what)
    return process.wrapper(value, backend.kind(wanted), True)


def target(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Backend, Any] | None:
    """Return the backend and the mesh of a new array; None if it is not split, or the host holds it."""
    if prod(shape) < PIECE or not dtype.isnative or dtype.char in "qQ" or dtypes.category(dtype) == "other":
        return None
    wanted = dtypes.apply_precision(dtype, settings.current_precision())
    backend = conversion.beginning(shape, wanted)
    meshes = backend.home.meshes
    if backend.hosted or meshes is None or not backend.holds(wanted) or backend.is_staging():
        return None
    device = conversion.default_device(backend)
    return (backend, device) if meshes.splits(device, shape) else None


# -- places ------------------------------------------------------------------------------------------------------------


def _pieces(box: Box, together: int = 1) -> Iterator[Box]:
    """Yield the small boxes into which a box (a slice per axis) is divided, in C order. ``together``: number of adjacent indices of the
    first axis to keep in one box.
    """
    lengths = [each.stop - each.start for each in box]
    size, axis = 1, len(box)  # of the last axes that fit into a piece
    while axis and (size * lengths[axis - 1] <= PIECE or (together > 1 < axis)):
        axis -= 1
        size *= lengths[axis]
    if not axis:
        yield box
        return
    axis -= 1
    step = together if not axis else 1
    rows = max(1, PIECE // size // step) * step
    split = box[axis]
    for index in np.ndindex(*lengths[:axis]):
        before = [slice(each.start + i, each.start + i + 1) for each, i in zip(box, index)]
        start = split.start
        while start < split.stop:
            stop = min(start - start % step + rows, split.stop)
            yield (*before, slice(start, stop), *box[axis + 1 :])
            start = stop


def _common(a: Box, b: Box) -> Box | None:
    both = tuple([slice(max(x.start, y.start), min(x.stop, y.stop)) for x, y in zip(a, b)])
    return both if all(each.start < each.stop for each in both) else None


def _within(a: Box, b: Box) -> Box:
    """Return the place ``a`` relative to the beginning of the place ``b``."""
    return tuple([slice(x.start - y.start, x.stop - y.start) for x, y in zip(a, b)])
