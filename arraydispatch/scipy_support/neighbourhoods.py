"""``scipy.ndimage``: rank filters and generic filters over the window around each element."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ..common.user_warnings import warn
from ..functions.operands import along
from ..functions.registry import SCIENTIFIC, XP, bind, family, spec_of
from ..runtime import dtypes
from . import implements
from .images import MOST_TAPS, axes_of, beyond, each, padding, stored, taken
from .operand_checks import array, only, plain

_MOST = 1 << 27
"""Largest number of elements of all windows together."""

filtering = family(implements, mode="output")


def windows(
    xp: XP, x: Any, sizes: Sequence[int], origins: Sequence[int], modes: Sequence[str], cval: Any
) -> Callable[..., Any]:
    """Return a function of a place in the window (an index for each axis) that returns the elements at this place, for all windows.

    ``sizes``, ``origins``, ``modes``: size and origin of the window, and mode of the edges, along each axis.
    """
    shape = xp.shape_of(x)
    for axis, (size, origin, mode) in enumerate(zip(sizes, origins, modes)):
        x = beyond(xp, x, axis, size // 2 + origin, size - size // 2 - 1 - origin, mode, cval)

    def at(place: Sequence[int]) -> Any:
        return xp.prim.slice(x, tuple(slice(p, p + n, 1) for p, n in zip(place, shape)))

    return at


def _footprint(xp: XP, ndim: int, size: Any, footprint: Any, origin: Any, axes: Any) -> tuple[Any, list[int]]:
    """Return the mask of a window's elements, over all axes, and the window's origin along each axis."""
    if size is not None and footprint is not None:
        warn("ignoring size because footprint is set", UserWarning)
    axes = axes_of(axes, ndim)
    if footprint is None:
        if size is None:
            raise RuntimeError("no footprint or filter size provided")
        wanted = np.ones([operator.index(n) for n in each(xp, size, len(axes))], dtype=bool)
    else:
        wanted = np.asarray(plain(xp, footprint), dtype=bool)
    if len(axes) < ndim:
        if wanted.ndim != len(axes):
            raise RuntimeError(f"footprint.ndim ({wanted.ndim}) must match len(axes) ({len(axes)})")
        wanted = np.expand_dims(wanted, tuple(i for i in range(ndim) if i not in axes))
    given = [operator.index(o) for o in each(xp, origin, len(axes))]
    origins = [0] * ndim
    for axis, o in zip(axes, given):
        origins[axis] = o
    if wanted.ndim != ndim or 0 in wanted.shape:
        raise RuntimeError(f"footprint.ndim ({wanted.ndim}) must match len(axes) ({len(axes)})")
    for o, n in zip(origins, wanted.shape):
        if not 0 <= n // 2 + o < n:
            raise ValueError("invalid origin")
    return wanted, origins


def _parts(xp: XP, x: Any, wanted: Any, origins: Any, mode: Any, cval: Any) -> list[Any]:
    """Return the array shifted to each selected place of a window."""
    only(wanted.any(), "an empty footprint")
    only(int(wanted.sum()) <= MOST_TAPS, "so large a window")
    at = windows(xp, x, wanted.shape, origins, [padding(mode)] * xp.ndim_of(x), cval)
    return [at(place) for place in itertools.product(*map(range, wanted.shape)) if wanted[place]]


def _stacked(xp: XP, parts: list[Any]) -> Any:
    shape = xp.shape_of(parts[0])
    only(len(parts) * math.prod(shape) <= _MOST, "so large a window")
    return xp.prim.concatenate([xp.prim.reshape(part, (1, *shape)) for part in parts], 0)


# -- rank filters ----------------------------------------------------------------------------------------------------


def extremes(
    xp: XP, input: Any, size: Any, footprint: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any, most: bool
) -> Any:
    """Compute the maximum (``most``) or minimum over windows that are not boxes."""
    x, to = taken(xp, input, output)
    wanted, origins = _footprint(xp, xp.ndim_of(x), size, footprint, origin, axes)
    if not wanted.any():
        raise ValueError("All-zero footprint is not supported.")
    parts = _parts(xp, x, wanted, origins, mode, cval)
    return stored(xp, functools.reduce(xp.maximum if most else xp.minimum, parts), to, input)


def _ranked(
    xp: XP, input: Any, size: Any, footprint: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any,
    rank: Callable[[int], int],
) -> Any:  # fmt: skip
    x, to = taken(xp, input, output)
    wanted, origins = _footprint(xp, xp.ndim_of(x), size, footprint, origin, axes)
    count = int(wanted.sum())
    k = rank(count)
    if k < 0:
        k += count
    if not 0 <= k < count:
        raise RuntimeError("rank not within filter footprint size")
    parts = _parts(xp, x, wanted, origins, mode, cval)
    if k in (0, count - 1):
        return stored(xp, functools.reduce(xp.maximum if k else xp.minimum, parts), to, input)
    ordered = xp.prim.sort(_stacked(xp, parts), 0)
    return stored(xp, xp.prim.reshape(along(xp, ordered, 0, k, k + 1), xp.shape_of(x)), to)


@filtering("scipy.ndimage.median_filter")
def median_filter(
    xp: XP, input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    return _ranked(xp, input, size, footprint, output, mode, cval, origin, axes, lambda n: n // 2)


@filtering("scipy.ndimage.rank_filter")
def rank_filter(
    xp: XP, input: Any, rank: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    rank = operator.index(rank)
    return _ranked(xp, input, size, footprint, output, mode, cval, origin, axes, lambda n: rank)


@filtering("scipy.ndimage.percentile_filter")
def percentile_filter(
    xp: XP, input: Any, percentile: Any, size: Any = None, footprint: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    percentile = plain(xp, percentile)

    def rank(n: int) -> int:
        share = percentile + 100.0 if percentile < 0.0 else percentile
        if not 0 <= share <= 100:
            raise RuntimeError("invalid percentile")
        return n - 1 if share == 100.0 else int(float(n) * share / 100.0)

    return _ranked(xp, input, size, footprint, output, mode, cval, origin, axes, rank)


# -- generic filters -------------------------------------------------------------------------------------------------


def _of_lines(function: Any) -> Any:
    """Return the NumPy reduction that can stand for a function of a window, to run on many windows with ``axis=``; None
    if there is none.
    """
    spec = spec_of(function) if callable(function) and isinstance(function, Hashable) else None
    if spec is None or spec.mode != "function" or spec.func in SCIENTIFIC:
        return None
    return spec.func if "axis" in inspect.signature(spec.func).parameters else None


@filtering("scipy.ndimage.generic_filter")
def generic_filter(
    xp: XP, input: Any, function: Any, size: Any = None, footprint: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, extra_arguments: Any = (), extra_keywords: Any = None, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    known = _of_lines(function)
    only(known is not None and not extra_arguments and not extra_keywords, "it calls a function for each element")
    x = array(xp, input)
    if xp.dtype_of(x).kind == "c":
        raise TypeError("Complex type not supported")
    x, to = taken(xp, x, output)
    wanted, origins = _footprint(xp, xp.ndim_of(x), size, footprint, origin, axes)
    made = bind(known, xp.backend)(_stacked(xp, _parts(xp, x, wanted, origins, mode, cval)), axis=0)
    only(xp.shape_of(made) == xp.shape_of(x), "the function does not make a number of a window")
    return stored(xp, xp.prim.astype(made, dtypes.FLOAT64), to)
