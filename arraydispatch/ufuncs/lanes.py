"""Reductions along a short last axis, or along all axes except a short last one, column by column, with NumPy's bits.

NumPy starts a loop for each lane (the elements along the last axis), which takes 15 ns for a sum and 35 for an extreme even if a
lane has few elements, as points in space, colours and small vectors have. Column by column the loops are long: a sum of 300,000
points of three coordinates takes 0.4 ms instead of 4.6, their maximum 0.5 instead of 10.7.

The order of the additions is that of NumPy's pairwise sum: fewer than eight elements one after the other, more in eight partial sums. If
there may be a floating-point error, NumPy reduces, because it reports the error by the name of the reduction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from .._core import machine
from ..common.error_modes import raising
from ..common.signal_safety import of_handler
from . import integer_sums, rows

__all__ = ["ADDED", "LEAST", "MANY", "SMALL", "WIDEST", "called", "columns", "name_of", "reduced"]

ndarray = np.ndarray

LEAST = 1 << 10
"""Number of elements of an array from which :func:`reduced` may take less time than NumPy."""
SMALL = integer_sums.DTYPES
"""Integer dtypes whose sums over all elements take less time too."""
ADDED = frozenset({"sum", "mean", "count_nonzero"})
"""Names of the reductions that add :data:`SMALL` integers."""
MANY = 1 << 13
"""Number of :data:`SMALL` integers from which their sum takes less time than NumPy's."""
_LANES = 1 << 9
"""Number of lanes from which a reduction takes less time than NumPy's."""
WIDEST = 32
"""Number of columns up to which :func:`reduced` may take less time than NumPy, and :func:`arraydispatch._core.machine.add_rows` adds rows:
NumPy calls its loop for each row.
"""
_FEW_ROWS = 4
"""Number of rows from which ``add_rows`` takes less time."""
_EIGHT = 8
"""Number of elements from which NumPy sums in eight partial sums."""


def add(x: ndarray[Any, Any], out: ndarray[Any, Any]) -> None:
    """Compute ``np.add.reduce(x, axis=-1, out=out)``; for integers ``out`` may have a wider dtype."""
    if x.dtype.kind in "biu":
        out[...] = x[..., 0]
        for i in range(1, x.shape[-1]):
            np.add(out, x[..., i], out=out)
        return
    _added([x[..., i] for i in range(x.shape[-1])], out)


def _added(parts: list[Any], out: ndarray[Any, Any]) -> None:
    """Add the columns ``parts`` into ``out`` in the order in which NumPy adds the elements of a lane."""
    if len(parts) < _EIGHT:
        np.add(parts[0], 0, out=out)  # NumPy's sum of negative zeros is 0, not -0
        rest = parts[1:]
    else:
        whole = len(parts) - len(parts) % _EIGHT
        eight, rest = parts[:_EIGHT], parts[whole:]
        for begin in range(_EIGHT, whole, _EIGHT):
            eight = [np.add(part, parts[begin + i]) for i, part in enumerate(eight)]
        while len(eight) > 1:
            eight = [np.add(eight[i], eight[i + 1]) for i in range(0, len(eight), 2)]
        np.add(eight[0], 0, out=out)
    for part in rest:
        np.add(out, part, out=out)


def _squares(x: ndarray[Any, Any], out: ndarray[Any, Any]) -> None:
    _added([x[..., i] * x[..., i] for i in range(x.shape[-1])], out)


def _squares_apart(x: ndarray[Any, Any], out: ndarray[Any, Any]) -> None:
    """Compute for each lane of ``x`` (its last axis) the sum of the squared differences from the lane's mean, into ``out``."""
    add(x, out)
    np.true_divide(out, np.intp(x.shape[-1]), out=out, casting="unsafe")
    apart = [x[..., i] - out for i in range(x.shape[-1])]
    _added([np.square(each, out=each) for each in apart], out)


def _of(ufunc: np.ufunc) -> Callable[[Any, Any], None]:
    def reduce(x: ndarray[Any, Any], out: ndarray[Any, Any]) -> None:
        ufunc(x[..., 0], x[..., 1], out=out)
        for i in range(2, x.shape[-1]):
            ufunc(out, x[..., i], out=out)

    return reduce


def extreme(ufunc: np.ufunc) -> Callable[[Any, Any], None]:
    """Return a function for ``ufunc.reduce(x, axis=-1, out=out)`` of maximum or minimum. NumPy
    recomputes results that are zero or NaN, to choose one of two that differ in sign or in bits.
    """
    reduce = _of(ufunc)

    def reduced_columns(x: ndarray[Any, Any], out: ndarray[Any, Any]) -> None:
        reduce(x, out)
        if out.dtype.kind == "f":
            open_lanes = ~(np.abs(out) > 0)
            if open_lanes.any():
                out[open_lanes] = ufunc.reduce(x[open_lanes], axis=-1)

    return reduced_columns


class _Way(NamedTuple):
    """Reduction by columns: largest lane for which it pays, dtypes, and whether it ends with a division and a square root."""

    reduce: Callable[[Any, Any], None]
    most: int
    dtypes: str
    divides: bool = False
    roots: bool = False

    @property
    def adds(self) -> bool:
        """Whether the reduction is a sum or a mean."""
        return self.reduce is add


_WAYS: dict[str, _Way] = {
    "sum": _Way(add, 12, "fdbhilBHIL?"),
    "mean": _Way(add, 12, "fdbhiBHI?", divides=True),
    "var": _Way(_squares_apart, 12, "fd", divides=True),
    "std": _Way(_squares_apart, 12, "fd", divides=True, roots=True),
    "norm": _Way(_squares, 12, "fd", roots=True),
    "prod": _Way(_of(np.multiply), 12, "fdl"),
    "max": _Way(extreme(np.maximum), 16, "fdbhilBHIL"),
    "min": _Way(extreme(np.minimum), 16, "fdbhilBHIL"),
    "any": _Way(_of(np.logical_or), 12, "?"),
    "all": _Way(_of(np.logical_and), 12, "?"),
}


def columns(ufunc: np.ufunc, dtype: np.dtype[Any], n: int) -> Callable[[Any, Any], None] | None:
    """Return ``reduce(x, out)`` for a last axis of ``n`` real numbers, or of ``n / 2`` complex ones; None if NumPy takes less time."""
    if dtype.kind == "c":
        return add if ufunc is np.add and n < _EIGHT else None
    way = _WAYS.get(name_of(ufunc.reduce))
    return way.reduce if way is not None and 2 <= n <= way.most and dtype.char in way.dtypes else None


def reduced(name: str, x: ndarray[Any, Any], axis: Any, keepdims: Any = False, ddof: Any = 0) -> Any:
    """Compute an array's method (``"sum"``, ``"max"``, …); return None if NumPy takes less time, or if there may be an error.

    The array has two or more dimensions, or :data:`SMALL` integers. The other arguments are passed as the user gave them.
    """
    if name == "count_nonzero" and axis is not None and x.dtype == np.bool_:
        name = "sum"
    way = _WAYS.get(name)
    if way is None or x.dtype.char not in way.dtypes or not x.dtype.isnative or type(keepdims) is not bool:
        return None
    if name in ("sum", "mean") and x.dtype in SMALL and x.size >= MANY:
        made = integer_sums.of_axes(name, x, axis, keepdims)
        if made is not None:
            return made
    if x.ndim < 2:
        return None
    n, ndim = x.shape[-1], x.ndim
    if (
        way.adds
        and x.dtype.char in "fd"
        and 2 <= n <= WIDEST
        and x.size >= LEAST
        and ddof == 0
        and x.flags.c_contiguous
    ):
        added = _rows_added(x, axis, keepdims)
        made = added if name == "sum" or added is None else _unless_error(_shared_out, added, x.size // added.size)
        if made is not None:
            return made
    if n < 2 or x.size < _LANES * n or not x.flags.c_contiguous:
        return None
    along = type(axis) is int and axis in (-1, ndim - 1)
    if not along and not (n <= _EIGHT and _are_others(axis, ndim)):
        return None
    count = n if along else x.size // n
    if n > way.most or (ddof != 0 and (name not in ("var", "std") or type(ddof) is not int or ddof >= count)):
        return None
    dtype = x.dtype if way.divides is False and name != "sum" else _dtype_of_sum(name, x.dtype)
    shape: tuple[int, ...] = x.shape[:-1] if along else (n,)
    if keepdims:
        shape = (*shape, 1) if along else (1,) * (ndim - 1) + shape
    out: ndarray[Any, Any] = np.empty(shape, dtype)
    lanes, count_of = x.reshape(-1, n), np.intp(count) - ddof
    done = _unless_error(_compute, name, way, lanes, out.reshape(-1), along, count_of)
    return out if done else None


def _unless_error(compute: Callable[..., Any], *args: Any) -> Any:
    """Return ``compute(*args)``; None if it causes a floating-point error, which NumPy must report by the name of the reduction."""
    try:
        return raising(compute, *args)
    except FloatingPointError as error:
        if of_handler(error):
            raise
        return None


def _compute(
    name: str, way: _Way, lanes: ndarray[Any, Any], results: ndarray[Any, Any], along: bool, divisor: Any
) -> bool:
    """Reduce ``lanes`` into ``results``, along the lanes (``along``) or across them, and divide and take roots if ``way`` does; return False
    if NumPy has to compute the call.
    """
    if along:
        _by_pieces(way.reduce, lanes, results)
    elif not _by_rows(name, lanes, results):
        return False
    if way.divides:
        np.true_divide(results, divisor, out=results, casting="unsafe")
    if way.roots:
        np.sqrt(results, out=results)
    return True


def _are_others(axis: Any, ndim: int) -> bool:
    """Whether the axis argument is all axes but the last. Only integers count: NumPy raises an error for ``1.0``."""
    if type(axis) is int:
        return axis == 0 and ndim == 2
    return type(axis) is tuple and all(type(each) is int for each in axis) and axis == tuple(range(ndim - 1))


@cache
def _dtype_of_sum(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a method's result."""
    made: np.dtype[Any] = getattr(np.ones((1, 1), dtype), name)(axis=0).dtype
    return made


def _by_pieces(reduce: Callable[[Any, Any], None], lanes: ndarray[Any, Any], results: ndarray[Any, Any]) -> None:
    step = rows.PIECE // lanes.shape[1]
    for begin in range(0, len(lanes), step):
        reduce(lanes[begin : begin + step], results[begin : begin + step])


# -- along all other axes ----------------------------------------------------------------------------------------------


def _by_rows(name: str, x: ndarray[Any, Any], out: ndarray[Any, Any]) -> bool:
    """Reduce a matrix of few columns along its first axis; return whether ``out`` is right. (NumPy calls its loop for each row.)

    Return False if a result is zero, NaN or infinite where its bits may differ from NumPy's or it may come from an error.
    """
    if name in ("max", "min"):
        _folded(np.maximum if name == "max" else np.minimum, x, out)
        return out.dtype.kind != "f" or bool((np.abs(out) > 0).all())
    if name not in ("sum", "mean", "var", "std"):
        return False
    if x.dtype.kind != "f":  # sums of integers are not rounded
        _folded(np.add, x, out)
        return True
    if not machine.add_rows(x[None], out[None]):
        return False
    if name in ("sum", "mean"):
        return True
    mean = out.copy()
    np.true_divide(mean, np.intp(len(x)), out=mean, casting="unsafe")
    apart = rows.call(np.subtract, x, mean)
    return machine.add_rows(np.square(apart, out=apart)[None], out[None])


def _rows_added(x: ndarray[Any, Any], axis: Any, keepdims: bool) -> ndarray[Any, Any] | None:
    """Sum along all axes but the last, or but the last and the first few; return None for other axes, or if there may be an error."""
    run = integer_sums.run_of(axis, x.ndim)
    if run is None or run[1] != x.ndim - 1:
        return None
    first, end = run
    kept, n = x.shape[:first], x.shape[-1]
    count = math.prod(x.shape[first:end])
    if count < _FEW_ROWS:
        return None
    out: ndarray[Any, Any] = np.empty((*kept, *(1,) * (end - first if keepdims else 0), n), x.dtype)
    sums = out.reshape(-1, n)
    if not machine.add_rows(x.reshape(-1, count, n), sums):
        return None
    return out


def _shared_out(sums: ndarray[Any, Any], count: int) -> ndarray[Any, Any]:
    return np.true_divide(sums, np.intp(count), out=sums, casting="unsafe")


def _folded(ufunc: np.ufunc, x: ndarray[Any, Any], out: ndarray[Any, Any]) -> None:
    """Reduce a matrix along its first axis: join many rows to a long one, reduce the long rows, then the pieces of the result."""
    count, n = x.shape
    times = _FOLD // n
    whole = count - count % times
    made = ufunc.reduce(x[:whole].reshape(-1, times * n), axis=0, dtype=out.dtype).reshape(times, n)
    ufunc.reduce(np.concatenate([made, x[whole:]], dtype=out.dtype), axis=0, out=out)


_FOLD = 512
"""Length of a row made of many."""


def called(
    name: str, x: ndarray[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], otherwise: int | None = None
) -> Any:
    """Compute a method with these arguments; return None if :func:`reduced` returns None or does not take the arguments.

    ``otherwise``: default of ``axis``.
    """
    if len(args) > 1 or kwargs.keys() - _TAKEN or (args and ("axis" in kwargs or name == "norm")):
        return None
    if "ddof" in kwargs and name not in ("var", "std"):
        return None
    axis = args[0] if args else kwargs.get("axis", otherwise)
    return reduced(name, x, axis, kwargs.get("keepdims", False), kwargs.get("ddof", 0))


_TAKEN = frozenset({"axis", "keepdims", "ddof"})


def name_of(func: Any) -> str:
    """Return the name of the reduction that ``func`` is: a NumPy function, or a method of a ufunc or of ndarray; "" for others."""
    return _NAMES.get(func, "")


_NAMES: dict[Any, str] = {
    np.linalg.norm: "norm",
    np.count_nonzero: "count_nonzero",
    **{getattr(home, name): name for home in (np, np.ndarray) for name in _WAYS if name != "norm"},
    **{
        ufunc.reduce: name
        for name, ufunc in (("sum", np.add), ("prod", np.multiply), ("max", np.maximum), ("min", np.minimum))
    },
}
