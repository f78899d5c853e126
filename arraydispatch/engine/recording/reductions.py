"""Sums, means, extremes and variances under fused execution: in blocks, pieces and threads, with NumPy's own bits.

A reduction along axes other than the first is recorded, and computed piece by piece together with its operands. A reduction of all
elements reads a value: the block runs, and the results of the pieces are combined as in NumPy's pairwise sum.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import cache, lru_cache, partial
from math import prod
from typing import Any

import numpy as np

from ..._core.handles import Handle
from ...common.sentinels import DECLINED
from ...ufuncs import integer_sums, lanes
from ...ufuncs.facts import ufunc_facts
from ..host_blocks import column_sums
from ..nodes import Form, Node, Whole
from . import block_reports, call_nodes, tape
from .result_order import order_of

__all__ = ["reduced"]

_EXACT = {"b": 0, "i1": 7, "i2": 15, "i4": 31, "u1": 8, "u2": 16, "u4": 32}
"""Dtype -> bits of a value, for dtypes whose sums in float64 are exact in any order."""


class _Look:
    """Stand-in for an array: the handle of the node of a reduction to one element, until the node is computed."""

    __slots__ = ("__weakref__", "_kind", "_root", "_v")
    _kind: Any
    _root: Any
    _v: Any


@lru_cache(4096)
def _result(func: np.ufunc, dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """Return the result dtype of a reduction, if the result's bits do not depend on how it is divided into parts; else None."""
    if func is np.add:
        if dtype.char in "fdFD":
            return dtype
        return np.add.reduce(np.zeros(1, dtype)).dtype if dtype.kind in "biu" else None
    return dtype if dtype.char in "bhilqBHILQ?fd" else None


def _axes(axis: Any, ndim: int) -> tuple[int, ...] | None:
    """Return the axes as a tuple without repetitions; None if NumPy would raise an error for them."""
    found = axis if type(axis) is tuple else (axis,)
    if any(type(i) is not int or not -ndim <= i < ndim for i in found):
        return None
    found = tuple(sorted(i % ndim for i in found))
    return found if found and len(set(found)) == len(found) else None


def _work(func: np.ufunc, dtype: np.dtype[Any], span: tuple[int, ...]) -> int:
    """Return NumPy's time for a reduction, in sums of eight-byte numbers. An extreme takes as long as its operand takes to be read."""
    return prod(span) if func is np.add else prod(span) * dtype.itemsize >> 3


@lru_cache(4096)
def _form_of_all(func: np.ufunc, kind: Any, span: tuple[int, ...], fortran: bool) -> Form:
    """Return the form of a reduction of an array (``span``: its shape) to one element."""
    dtype = kind.dtype
    whole = Whole((2 if dtype.kind == "c" else 1) if func is np.add and dtype.kind in "fc" else 0, func)
    call: Any = partial(func.reduce, axis=None, dtype=dtype)
    if func is np.add and dtype.kind in "iu":
        call = partial(integer_sums.add, dtype=dtype)
    return Form(call, kind, (), _work(func, dtype, span), fortran=fortran, span=span, halved=whole)


@lru_cache(4096)
def _form_along(func: np.ufunc, kind: Any, span: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> Form:
    """Return the form of a reduction along axes."""
    shape = tuple(1 if i in axes else n for i, n in enumerate(span) if keepdims or i not in axes)
    n = span[-1] * (2 if kind.dtype.kind == "c" else 1)
    by_columns = lanes.columns(func, kind.dtype, n) if axes == (len(span) - 1,) else None
    call: Any = _into_lanes(by_columns) if by_columns else partial(func.reduce, axis=axes, keepdims=keepdims)
    if (
        func is np.add
        and axes == (1,)
        and len(span) == 3
        and kind.dtype.char in "fd"
        and span[2] in column_sums.LENGTHS
    ):
        call = column_sums.of(kind.dtype, span[2], keepdims)
    return Form(call, kind, shape, _work(func, kind.dtype, span), row=True, span=span)


def _of_all(func: np.ufunc, a: Handle, dies: bool) -> Any:
    """Compute ``func.reduce(a, axis=None)`` immediately; return None if that is not possible, or if NumPy alone is as fast.

    ``dies``: whether only the caller refers to the array.
    """
    mine = tape.mine()
    v, kind, _ = call_nodes.operand(a, mine)
    if kind is None or not v.shape:
        return None
    size = prod(v.shape)
    pending = type(v) is Node
    if not call_nodes.least <= size < call_nodes.most or not (pending or v.nbytes >> 3 >= 2 * tape.IN_THREADS):
        return None  # for no elements, NumPy raises an error for an extreme
    dtype = _result(func, kind.dtype)
    if dtype is None:
        return None
    if pending:
        fortran = v.form.fortran
    else:
        if not (v.flags.c_contiguous or v.flags.f_contiguous):
            return None
        fortran = not v.flags.c_contiguous
    place = call_nodes.now() if dtype.kind in "fc" else None
    if place is DECLINED:
        return None
    extreme = func is not np.add and dtype.kind == "f" and not (pending and ufunc_facts(v.form.func).no_minus_zero)
    held = kind if kind.dtype is dtype else kind.backend.kind(dtype)
    node = call_nodes.node_of(_form_of_all(func, held, v.shape, fortran), place)
    look = _Look()
    look._v = look._kind = look._root = node
    node.handle = weakref.ref(look)
    if pending and dies and not extreme:
        v.handle = None
    mine.add(node, [v])
    node.run()
    result = look._v[()]
    if extreme and result == 0:  # the sign of a zero depends on the order
        value = a._v
        return None if type(value) is not np.ndarray else func.reduce(value, axis=None)
    return result


@cache
def _into_lanes(by_columns: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """Return a function for a block that reduces along the last axis."""

    def reduce(x: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> None:  # the name in warnings
        by_columns(x, out[..., 0] if out.ndim == x.ndim else out)

    return reduce


def _along(func: np.ufunc, a: Handle, axes: tuple[int, ...], keepdims: bool, dies: bool) -> Any:
    """Record ``func.reduce(a, axes)``; return None if that is not possible."""
    mine = tape.mine()
    v, kind, shared = call_nodes.operand(a, mine)
    if kind is None or axes[0] == 0 or not call_nodes.least <= prod(v.shape) < call_nodes.most or v.shape[0] < 2:
        return None
    dtype = _result(func, kind.dtype)
    if dtype is None or dtype != kind.dtype:
        return None
    order = order_of([v], v.shape, True)
    if order is None or order[1]:
        return None
    place = call_nodes.now() if dtype.kind in "fc" else None
    if place is DECLINED:
        return None
    node = call_nodes.node_of(_form_along(func, kind, v.shape, axes, keepdims), place)
    made = call_nodes.array_of(node)
    if type(v) is Node and dies:
        v.handle = None
    mine.add(node, [v])
    if why := block_reports.SHARED if shared else mine.full():
        mine.run(why)
    return made


# -- what NumPy makes of them, step for step as numpy/_core/_methods.py does ---------------------------------------------


def _reduce(func: np.ufunc, a: Handle, axis: Any, keepdims: bool, dies: bool) -> Any:
    if axis is not None:
        ndim = len(a.shape)  # type: ignore[attr-defined]
        axes = _axes(axis, ndim)
        if axes is None:
            return None
        if len(axes) < ndim:
            return _along(func, a, axes, keepdims, dies)
    return None if keepdims else _of_all(func, a, dies)


def _count(a: Any, axis: Any) -> Any:
    found = _axes(axis, len(a.shape))
    return np.intp(a.size if found is None else prod(a.shape[i] for i in found))


def _shared_out(total: Any, count: Any) -> Any:
    """Return a sum, or an array of sums, divided by ``count``, in the dtype of the sum."""
    if isinstance(total, np.generic):
        return total.dtype.type(total / count)
    made = total / count
    return made if made.dtype == total.dtype else made.astype(total.dtype)


def _mean(a: Any, axis: Any, keepdims: bool, dies: bool) -> Any:
    if a.dtype.char not in "fdFD":
        bits = _EXACT.get(a.dtype.str[1:].replace("b1", "b"))
        if bits is None or axis is not None or keepdims or bits + a.size.bit_length() > 52:
            return None
        total = _of_all(np.add, a, dies)
        return None if total is None else np.float64(total) / np.intp(a.size)
    total = _reduce(np.add, a, axis, keepdims, dies)
    return None if total is None else _shared_out(total, _count(a, axis))


def _var(a: Any, axis: Any, keepdims: bool, ddof: Any = 0) -> Any:
    if a.dtype.char not in "fd" or type(ddof) not in (int, float) or ddof >= (count := _count(a, axis)):
        return None
    axes = None if axis is None else _axes(axis, a.ndim)
    if axes is None or len(axes) == a.ndim:
        mean = _mean(a, None, False, False) if axis is None or axes else None
    else:
        mean = _mean(a, axis, True, False)
    if mean is None:
        return None
    # Steps that cannot be recorded run immediately, because errors of the mean have been reported already.
    apart = a - mean
    squares = np.square(apart)
    del apart  # so that its memory may be reused
    total = _reduce(np.add, squares, axis, keepdims, True)
    if total is None:
        total = np.sum(squares, axis=axis, keepdims=keepdims)
    return _shared_out(total, np.maximum(count - ddof, 0))


def _std(a: Any, axis: Any, keepdims: bool, ddof: Any = 0) -> Any:
    found = _var(a, axis, keepdims, ddof)
    if found is None or not isinstance(found, np.generic):
        return None if found is None else np.sqrt(found)
    return found.dtype.type(np.sqrt(found))


_BY_UFUNC = {"sum": np.add, "max": np.maximum, "min": np.minimum}
_ORDER = {"sum": ("axis", "dtype", "out", "keepdims"), "mean": ("axis", "dtype", "out", "keepdims")}
_EXTREME = ("axis", "out", "keepdims")
_SPREAD = ("axis", "dtype", "out", "ddof", "keepdims")


def reduced(name: str, a: Handle, args: tuple[Any, ...], kwargs: dict[str, Any], dies: bool) -> Any:
    """Record an array's method that reduces, or compute it in pieces; return None if the general path has to run it.

    ``dies``: whether only the caller refers to the array.
    """
    spread = name in ("var", "std")
    names = _ORDER.get(name, _SPREAD if spread else _EXTREME)
    if len(args) > len(names):
        return None
    said = dict(zip(names, args)) | kwargs
    axis, keepdims, ddof = said.pop("axis", None), said.pop("keepdims", False), said.pop("ddof", 0)
    for x in said.values():
        if x is not None:
            return None
    if type(keepdims) is not bool or (ddof and not spread):
        return None
    if len(args) + len(kwargs) != len(dict(zip(names, args)) | kwargs):
        return None
    if spread:
        return (_var if name == "var" else _std)(a, axis, keepdims, ddof)
    if name == "mean":
        return _mean(a, axis, keepdims, dies)
    return _reduce(_BY_UFUNC[name], a, axis, keepdims, dies)
