"""Set operations on sorted elements. The shapes of all results but those of ``isin`` and ``ediff1d`` depend on values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..runtime import dtypes
from . import layouts
from .joining import concatenate
from .operands import BOOL, INTP, along, arrays, counting, filled, flat, is_concrete, moved, to_host, unshared
from .registry import family, implements

Native = Any

_UNIQUE_ALL = type(np.unique_all(np.zeros(1)))
_UNIQUE_COUNTS = type(np.unique_counts(np.zeros(1)))
_UNIQUE_INVERSE = type(np.unique_inverse(np.zeros(1)))

_FEW = 8
"""Number of test elements up to which they are compared one by one."""

set_routine = family(pure=False)


# -- unique ----------------------------------------------------------------------------------------------------------


def _first_of_equals(xp: Any, ordered: Native, equal_nan: bool) -> Native:
    """Mark the first of each run of equal values in a sorted line; NaNs (which come last) may count as equal."""
    n = xp.shape_of(ordered)[0]
    if n < 2:
        return filled(xp, (n,), True, BOOL, ordered)
    before, after = along(xp, ordered, 0, 0, n - 1), along(xp, ordered, 0, 1, n)
    new = xp.not_equal(after, before)
    if equal_nan and dtypes.is_floating(xp.dtype_of(ordered)):
        new = xp.logical_and(new, xp.logical_not(xp.logical_and(xp.isnan(after), xp.isnan(before))))
    return xp.prim.concatenate([filled(xp, (1,), True, BOOL, ordered), new], 0)


def _described(
    xp: Any, mask: Native, order: Native | None, index: bool, inverse: bool, counts: bool
) -> tuple[Native | None, Native | None, Native | None]:
    """Return index, inverse and counts as ``np.unique`` does, None for those not asked for.

    ``order`` sorts the elements; ``mask`` marks the first of each run of equal elements in this order.
    """
    n = xp.shape_of(mask)[0]
    firsts = xp.prim.nonzero(mask)[0]
    first = xp.prim.take(order, firsts, 0) if index else None
    back = count = None
    if inverse:
        rank = xp.subtract(xp.add.accumulate(xp.prim.astype(mask, INTP), axis=0), 1)
        back = xp.prim.scatter(filled(xp, (n,), 0, INTP, mask), (order,), rank, "set") if n else rank
    if counts:
        ends = xp.prim.concatenate(
            [along(xp, firsts, 0, 1, xp.shape_of(firsts)[0]), filled(xp, (1,), n, INTP, mask)], 0
        )
        count = xp.subtract(ends, firsts) if n else firsts
    return first, back, count


@set_routine(np.unique)
def unique(
    xp: Any, ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: Any = None, *, equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    ar = xp.asarray(ar)
    shape = xp.shape_of(ar)
    optional = return_index or return_inverse
    if axis is not None:
        axis = normalize_axis_index(axis, len(shape))
    if axis is None or len(shape) == 1:
        line = flat(xp, ar)
        order = xp.prim.argsort(line, 0) if optional else None
        if not xp.shape_of(line)[0]:
            values, ordered = unshared(xp, line), line
            mask = filled(xp, (0,), True, BOOL, line)
        else:
            ordered = xp.prim.take(line, order, 0) if optional else xp.prim.sort(line, 0)
            mask = _first_of_equals(xp, ordered, equal_nan)
            values = xp.prim.mask(ordered, mask)
        inverse_shape: tuple[int, ...] = shape
    else:
        front = moved(xp, ar, axis, 0)
        rest = xp.shape_of(front)[1:]
        rows = xp.prim.reshape(front, (shape[axis], int(np.prod(rest))))
        order, mask = _sorted_rows(xp, rows)
        values = xp.prim.take(front, xp.prim.take(order, xp.prim.nonzero(mask)[0], 0), 0) if shape[axis] else front
        values = unshared(xp, moved(xp, values, 0, axis))
        inverse_shape = (shape[axis],)
    if not (optional or return_counts):
        return values
    first, back, count = _described(xp, mask, order, return_index, return_inverse, return_counts)
    if back is not None and len(inverse_shape) != 1:
        back = xp.prim.reshape(back, inverse_shape)
    return (values, *(x for x in (first, back, count) if x is not None))


def _sorted_rows(xp: Any, rows: Native) -> tuple[Native, Native]:
    """Return the order that sorts rows lexicographically, and the mask of rows that differ from the one before."""
    n, width = xp.shape_of(rows)
    order = counting(xp, n, rows)
    if not n:
        return order, filled(xp, (0,), True, BOOL, rows)
    for j in range(width - 1, -1, -1):
        column = xp.prim.take(xp.prim.reshape(along(xp, rows, 1, j, j + 1), (n,)), order, 0)
        order = xp.prim.take(order, xp.prim.argsort(column, 0), 0)
    ordered = xp.prim.take(rows, order, 0) if width else rows
    changed = filled(xp, (1,), True, BOOL, rows)
    if n > 1:
        differ = xp.not_equal(along(xp, ordered, 0, 1, n), along(xp, ordered, 0, 0, n - 1))
        changed = xp.prim.concatenate([changed, xp.logical_or.reduce(differ, axis=1)], 0)
    return order, changed


@set_routine(np.unique_all)
def unique_all(xp: Any, x: Any) -> Any:
    return _UNIQUE_ALL(*unique(xp, x, True, True, True, equal_nan=False))


@set_routine(np.unique_counts)
def unique_counts(xp: Any, x: Any) -> Any:
    return _UNIQUE_COUNTS(*unique(xp, x, return_counts=True, equal_nan=False))


@set_routine(np.unique_inverse)
def unique_inverse(xp: Any, x: Any) -> Any:
    return _UNIQUE_INVERSE(*unique(xp, x, return_inverse=True, equal_nan=False))


@set_routine(np.unique_values)
def unique_values(xp: Any, x: Any) -> Native:
    return unique(xp, x, equal_nan=False)


# -- two sets --------------------------------------------------------------------------------------------------------


@implements(np.isin, layout=layouts.c)
def isin(
    xp: Any, element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Native:
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    element, tests = arrays(xp, element, test_elements)
    have = xp.dtype_of(element), xp.dtype_of(tests)
    if kind == "table" and any(t.kind not in "iub" for t in have):
        raise ValueError(
            "The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or None for kind."
        )
    shape = xp.shape_of(element)
    tests = flat(xp, tests)
    n = xp.shape_of(tests)[0]
    if not n or 0 in shape:
        return filled(xp, shape, bool(invert), BOOL, element)
    if kind == "table":
        _check_table(xp, tests, have[1])
    to = dtypes.promote(*have)
    if n <= _FEW or dtypes.category(to) == "complex":
        wide = xp.prim.reshape(element, (*shape, 1))
        found = xp.logical_or.reduce(xp.equal(wide, tests), axis=-1)
    else:
        if to == BOOL:
            to = np.dtype(np.uint8)
        ordered = xp.prim.sort(xp.prim.astype(tests, to), 0)
        line = xp.prim.astype(flat(xp, element), to)
        at = xp.minimum(xp.prim.searchsorted(ordered, line, "left"), n - 1)
        found = xp.prim.reshape(xp.equal(xp.prim.take(ordered, at, 0), line), shape)
    return xp.logical_not(found) if invert else found


def _check_table(xp: Any, tests: Native, dtype: np.dtype[Any]) -> None:
    """Raise NumPy's error if NumPy's table would be too large, although this implementation has no table."""
    if is_concrete(xp, tests) and dtype != BOOL:
        host = to_host(xp, tests)
        if int(host.max()) - int(host.min()) > np.iinfo(dtype).max:
            raise RuntimeError(
                "You have specified kind='table', but the range of values in `ar2` or `ar1` exceed the maximum integer "
                "of the datatype. Please set `kind` to None or 'sort'."
            )


@set_routine(np.intersect1d)
def intersect1d(xp: Any, ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    one, two = arrays(xp, ar1, ar2)
    first = second = None
    if assume_unique:
        one, two = flat(xp, one), flat(xp, two)
    elif return_indices:
        one, first = unique(xp, one, return_index=True)
        two, second = unique(xp, two, return_index=True)
    else:
        one, two = unique(xp, one), unique(xp, two)
    both = concatenate(xp, (one, two))
    n, size = xp.shape_of(both)[0], xp.shape_of(one)[0]
    if n < 2:
        none = filled(xp, (0,), 0, INTP, both)
        empty = filled(xp, (0,), 0, xp.dtype_of(both), both)
        return (empty, none, unshared(xp, none)) if return_indices else empty
    order = xp.prim.argsort(both, 0)
    ordered = xp.prim.take(both, order, 0)
    same = xp.equal(along(xp, ordered, 0, 1, n), along(xp, ordered, 0, 0, n - 1))
    common = xp.prim.mask(along(xp, ordered, 0, 0, n - 1), same)
    if not return_indices:
        return common
    in_one = xp.prim.mask(along(xp, order, 0, 0, n - 1), same)
    in_two = xp.subtract(xp.prim.mask(along(xp, order, 0, 1, n), same), size)
    if not assume_unique and xp.shape_of(common)[0]:
        in_one, in_two = xp.prim.take(first, in_one, 0), xp.prim.take(second, in_two, 0)
    return common, in_one, in_two


@set_routine(np.setxor1d)
def setxor1d(xp: Any, ar1: Any, ar2: Any, assume_unique: bool = False) -> Native:
    both = concatenate(xp, (ar1, ar2) if assume_unique else [unique(xp, x) for x in arrays(xp, ar1, ar2)], None)
    n = xp.shape_of(both)[0]
    if not n:
        return both
    ordered = xp.prim.sort(both, 0)
    edge = filled(xp, (1,), True, BOOL, both)
    new = [edge, edge]
    if n > 1:
        new = [edge, xp.not_equal(along(xp, ordered, 0, 1, n), along(xp, ordered, 0, 0, n - 1)), edge]
    flag = xp.prim.concatenate(new, 0)
    return xp.prim.mask(ordered, xp.logical_and(along(xp, flag, 0, 1, n + 1), along(xp, flag, 0, 0, n)))


@set_routine(np.union1d)
def union1d(xp: Any, ar1: Any, ar2: Any) -> Native:
    return unique(xp, concatenate(xp, (ar1, ar2), None))


@set_routine(np.setdiff1d)
def setdiff1d(xp: Any, ar1: Any, ar2: Any, assume_unique: bool = False) -> Native:
    one, two = arrays(xp, ar1, ar2)
    one = flat(xp, one) if assume_unique else unique(xp, one)
    return xp.prim.mask(one, isin(xp, one, two, invert=True))


@implements(np.ediff1d, error="sum")
def ediff1d(xp: Any, ary: Any, to_end: Any = None, to_begin: Any = None) -> Native:
    ary = arrays(xp, ary, *(x for x in (to_end, to_begin) if xp.is_array(x)))[0]
    ary = flat(xp, ary)
    n = xp.shape_of(ary)[0]
    to = xp.dtype_of(ary)
    parts = [xp.subtract(along(xp, ary, 0, 1, n), along(xp, ary, 0, 0, n - 1))] if n > 1 else []
    if n <= 1:
        if to == BOOL:
            xp.subtract(ary, ary)  # raises NumPy's error for bools
        parts.append(filled(xp, (0,), 0, to, ary))
    for name, extra, at in (("to_begin", to_begin, 0), ("to_end", to_end, len(parts) + 1)):
        if extra is not None:
            extra = xp.asarray(extra, like=ary)
            if not np.can_cast(xp.dtype_of(extra), to, "same_kind"):
                raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
            parts.insert(at, xp.prim.astype(flat(xp, extra), to))
    return xp.prim.concatenate(parts, 0) if len(parts) > 1 else parts[0]
