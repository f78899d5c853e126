"""Products of vectors, matrices and tensors (``np.matmul`` and its relatives, ``einsum``, ``convolve``)."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ..common.user_warnings import warn
from ..runtime import dtypes
from . import (
    convolutions,  # noqa: F401 - registers its functions
    layouts,
)
from .contractions import common_operands, conjugate
from .ghost_views import viewed
from .operands import along, arrays, common_shape, raise_for_shapes
from .registry import GUFUNCS, XP, family, implements

Shape = tuple[int, ...]

product = family(error="sum", returns="scalar")


# -- shared ------------------------------------------------------------------------------------------------------------


def _reshape(xp: XP, a: Any, shape: Shape) -> Any:
    return a if xp.shape_of(a) == shape else xp.prim.reshape(a, shape)


def _transpose(xp: XP, a: Any, perm: Shape) -> Any:
    return a if perm == tuple(range(len(perm))) else xp.prim.transpose(a, perm)


# -- dot and its relatives -------------------------------------------------------------------------------------------


@product(np.dot, into=("exact",), layout=layouts.multiplied)
def dot(xp: XP, a: Any, b: Any) -> Any:
    """`numpy.dot`."""
    a, b = common_operands(xp, a, b)
    left, right = xp.shape_of(a), xp.shape_of(b)
    if not left or not right:
        return xp.multiply(a, b)
    axis = max(len(right) - 2, 0)
    if left[-1] != right[axis]:
        raise_for_shapes(np.dot, left, right)
    if len(right) <= 2:
        return xp.prim.matmul(a, b)
    k = left[-1]
    first = xp.prim.reshape(a, (math.prod(left[:-1]), k))
    second = xp.prim.transpose(b, (axis, *range(axis), axis + 1))
    rest = right[:-2] + right[-1:]
    return xp.prim.reshape(xp.prim.matmul(first, xp.prim.reshape(second, (k, math.prod(rest)))), left[:-1] + rest)


@product(np.vdot)
def vdot(xp: XP, a: Any, b: Any, /) -> Any:
    """`numpy.vdot`."""
    a, b = common_operands(xp, a, b)
    left, right = xp.shape_of(a), xp.shape_of(b)
    n, m = math.prod(left), math.prod(right)
    if n != m:
        raise_for_shapes(np.vdot, left, right)
    return xp.prim.matmul(conjugate(xp, _reshape(xp, a, (n,))), _reshape(xp, b, (n,)))


@product(np.inner, layout=layouts.multiplied)
def inner(xp: XP, a: Any, b: Any, /) -> Any:
    """`numpy.inner`."""
    a, b = common_operands(xp, a, b)
    left, right = xp.shape_of(a), xp.shape_of(b)
    if not left or not right:
        return xp.multiply(a, b)
    if left[-1] != right[-1]:
        raise_for_shapes(np.inner, left, right)
    if len(right) == 1:
        return xp.prim.matmul(a, b)
    k = right[-1]
    second = xp.prim.transpose(_reshape(xp, b, (math.prod(right[:-1]), k)), (1, 0))
    return _reshape(xp, xp.prim.matmul(a, second), left[:-1] + right[:-1])


@implements(np.outer, into=("fills",), writer=np.multiply, returns="scalar", outer=True)
def outer(xp: XP, a: Any, b: Any) -> Any:
    """`numpy.outer`."""
    a, b = common_operands(xp, a, b)
    n, m = math.prod(xp.shape_of(a)), math.prod(xp.shape_of(b))
    return xp.multiply(xp.prim.reshape(a, (n, 1)), xp.prim.reshape(b, (1, m)))


@implements(np.linalg.outer, returns="scalar", outer=True)
def linalg_outer(xp: XP, x1: Any, x2: Any, /) -> Any:
    """`numpy.linalg.outer`."""
    x1, x2 = common_operands(xp, x1, x2)
    if xp.ndim_of(x1) != 1 or xp.ndim_of(x2) != 1:
        raise_for_shapes(np.linalg.outer, xp.shape_of(x1), xp.shape_of(x2))
    return outer(xp, x1, x2)


@implements(np.kron, returns="scalar", outer=True)
def kron(xp: XP, a: Any, b: Any) -> Any:
    """`numpy.kron`."""
    a, b = common_operands(xp, a, b)
    left, right = xp.shape_of(a), xp.shape_of(b)
    if not left or not right:
        return xp.multiply(a, b)
    nd = max(len(left), len(right))
    left, right = (1,) * (nd - len(left)) + left, (1,) * (nd - len(right)) + right
    # Compute a matrix of all products first: libraries can transpose more axes than they can broadcast.
    products = xp.prim.reshape(xp.outer(a, b), left + right)
    paired = xp.prim.transpose(products, tuple(i for k in range(nd) for i in (k, nd + k)))
    return xp.prim.reshape(paired, tuple(n * m for n, m in zip(left, right)))


@implements(np.tensordot, error="sum")
def tensordot(xp: XP, a: Any, b: Any, axes: Any = 2) -> Any:
    """`numpy.tensordot`."""
    axes_a: Any
    axes_b: Any
    try:
        iter(axes)
    except TypeError:
        count = operator.index(axes)
        axes_a, axes_b = list(range(-count, 0)), list(range(count))
    else:
        axes_a, axes_b = axes
    axes_a, axes_b = _axes_list(axes_a), _axes_list(axes_b)
    if len(set(axes_a)) != len(axes_a) or len(set(axes_b)) != len(axes_b):
        raise ValueError("duplicate axes are not allowed in tensordot")
    a, b = common_operands(xp, a, b)
    left, right = xp.shape_of(a), xp.shape_of(b)
    if len(axes_a) != len(axes_b) or any(left[i] != right[j] for i, j in zip(axes_a, axes_b)):
        raise ValueError("shape-mismatch for sum")
    if len({i % len(left) for i in axes_a}) < len(axes_a) or len({j % len(right) for j in axes_b}) < len(axes_b):
        raise ValueError("axes don't match array")
    axes_a = tuple(i % len(left) for i in axes_a)
    axes_b = tuple(j % len(right) for j in axes_b)
    keep_a = tuple(i for i in range(len(left)) if i not in axes_a)
    keep_b = tuple(j for j in range(len(right)) if j not in axes_b)
    rows, columns = tuple(left[i] for i in keep_a), tuple(right[j] for j in keep_b)
    k = math.prod(left[i] for i in axes_a)
    first = _reshape(xp, _transpose(xp, a, keep_a + axes_a), (math.prod(rows), k))
    second = _reshape(xp, _transpose(xp, b, axes_b + keep_b), (k, math.prod(columns)))
    return _reshape(xp, xp.prim.matmul(first, second), rows + columns)


def _axes_list(axes: Any) -> list[Any]:
    try:
        return [operator.index(i) for i in axes]
    except TypeError:
        return [operator.index(axes)]


@implements(np.linalg.tensordot, error="sum")
def linalg_tensordot(xp: XP, x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """`numpy.linalg.tensordot`."""
    return tensordot(xp, x1, x2, axes)


@product(np.trace, into=("accumulates",))
def trace(xp: XP, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None) -> Any:
    """`numpy.trace`."""
    return xp.add.reduce(_diagonal(xp, xp.asarray(a), offset, axis1, axis2), axis=-1, dtype=dtype)


def _diagonal(xp: XP, a: Any, offset: Any, axis1: Any, axis2: Any) -> Any:
    """Return ``xp.diagonal`` by merging and slicing the two axes, without a ghost, which costs more than a sum."""
    shape = xp.shape_of(a)
    ndim = len(shape)
    offset, axis1, axis2 = map(operator.index, (offset, axis1, axis2))
    if ndim < 2:
        raise_for_shapes(np.diagonal, shape)
    first, second = normalize_axis_index(axis1, ndim, "axis1"), normalize_axis_index(axis2, ndim, "axis2")
    if first == second:
        raise_for_shapes(np.diagonal, shape, axis1=first, axis2=second)
    rest = tuple(i for i in range(ndim) if i not in (first, second))
    outer = tuple(shape[i] for i in rest)
    rows, columns = shape[first], shape[second]
    length = max(0, min(rows - max(-offset, 0), columns - max(offset, 0)))
    flat = xp.prim.reshape(_transpose(xp, a, (*rest, first, second)), (*outer, rows * columns))
    begin = max(-offset, 0) * columns + max(offset, 0) if length else 0
    end = begin + (length - 1) * (columns + 1) + 1 if length else 0
    return xp.prim.slice(flat, (*(slice(0, n, 1) for n in outer), slice(begin, end, columns + 1)))


@product(np.linalg.trace)
def linalg_trace(xp: XP, x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Any:
    """`numpy.linalg.trace`."""
    return trace(xp, x, offset, -2, -1, dtype)


for _func in (np.linalg.diagonal, np.linalg.matrix_transpose):
    implements(_func, mode="view")(viewed(_func))


@implements(np.cross, error="sum", layout=layouts.crossed)
def cross(xp: XP, a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """`numpy.cross`."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = common_operands(xp, a, b)
    if not xp.ndim_of(a) or not xp.ndim_of(b):
        raise_for_shapes(np.cross, xp.shape_of(a), xp.shape_of(b))
    a = _axis_to_end(xp, a, normalize_axis_index(axisa, xp.ndim_of(a), "axisa"))
    b = _axis_to_end(xp, b, normalize_axis_index(axisb, xp.ndim_of(b), "axisb"))
    n, m = xp.shape_of(a)[-1], xp.shape_of(b)[-1]
    if n not in (2, 3) or m not in (2, 3):
        raise_for_shapes(np.cross, (n,), (m,))
    if n == 2 or m == 2:
        warn(
            "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors instead. "
            "(deprecated in NumPy 2.0)",
            DeprecationWarning,
        )
    if n == m == 2:
        a0, a1, b0, b1 = (along(xp, x, -1, i, i + 1) for x in (a, b) for i in (0, 1))
        cp = xp.subtract(xp.multiply(a0, b1), xp.multiply(a1, b0))
        return xp.prim.reshape(cp, xp.shape_of(cp)[:-1])
    # A 2-vector gets a third component of zero. (x1 y2 - x2 y1, x2 y0 - x0 y2, …): each factor has the components in cyclic order.
    a, b = (_zero_third(xp, x) for x in (a, b))
    ndim = max(xp.ndim_of(a), xp.ndim_of(b))
    axisc = normalize_axis_index(axisc, ndim, "axisc")
    aa = xp.prim.concatenate([a, a], xp.ndim_of(a) - 1)
    bb = xp.prim.concatenate([b, b], xp.ndim_of(b) - 1)
    plus = xp.multiply(along(xp, aa, -1, 1, 4), along(xp, bb, -1, 2, 5))
    cp = xp.subtract(plus, xp.multiply(along(xp, aa, -1, 2, 5), along(xp, bb, -1, 1, 4)))
    perm = list(range(ndim - 1))
    perm.insert(axisc, ndim - 1)
    return _transpose(xp, cp, tuple(perm))


def _axis_to_end(xp: XP, a: Any, axis: int) -> Any:
    ndim = xp.ndim_of(a)
    return _transpose(xp, a, (*(i for i in range(ndim) if i != axis), axis))


def _zero_third(xp: XP, a: Any) -> Any:
    shape = xp.shape_of(a)
    return a if shape[-1] == 3 else xp.prim.pad(a, [(0, 0)] * (len(shape) - 1) + [(0, 1)], 0)


@implements(np.linalg.cross, error="sum", layout=layouts.crossed)
def linalg_cross(xp: XP, x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """`numpy.linalg.cross`."""
    x1, x2 = common_operands(xp, x1, x2)
    left, right = xp.shape_of(x1), xp.shape_of(x2)
    if left[axis] != 3 or right[axis] != 3:
        raise_for_shapes(np.linalg.cross, left, right, axis=axis)
    return cross(xp, x1, x2, axis=axis)


# -- generalized ufuncs --------------------------------------------------------------------------------------------------


def _loop_operands(xp: XP, ufunc: np.ufunc, a: Any, b: Any, dtype: Any) -> tuple[Any, Any]:
    """Return both operands in the dtype of NumPy's loop."""
    a, b = arrays(xp, a, b)
    left, right = xp.dtype_of(a), xp.dtype_of(b)
    if left is not right or dtype is not None:
        signature = None if dtype is None else (None, None, np.dtype(dtype))
        to_left, to_right, _ = dtypes.loop_dtypes(ufunc, (left, right), signature)
        a, b = xp.prim.astype(a, to_left), xp.prim.astype(b, to_right)
    return a, b


def _arranged(
    xp: XP, ufunc: np.ufunc, a: Any, b: Any, cores: tuple[int, int, int], **options: Any
) -> tuple[Any, Any, Shape | None]:
    """Move the operands' core axes (by ``axes=``, ``axis=``) to the end; return both, and the result's core axes or None."""
    given = {name: x for name, x in options.items() if x is not None and x is not False}
    if not given:
        return a, b, None
    raise_for_shapes(ufunc, (1,) * xp.ndim_of(a), (1,) * xp.ndim_of(b), **given)
    axes, axis = options["axes"], options["axis"]
    if axis is not None:
        axes = [axis] * 3
    elif axes is None:
        return a, b, None
    entries = [entry if isinstance(entry, tuple) else (entry,) for entry in axes][: 3 if cores[2] else 2]
    a = _core_last(xp, a, normalize_axis_tuple(entries[0], xp.ndim_of(a)))
    b = _core_last(xp, b, normalize_axis_tuple(entries[1], xp.ndim_of(b)))
    batch = max(xp.ndim_of(a) - cores[0], xp.ndim_of(b) - cores[1])
    placed = cores[2] and len(entries) > 2  # one axis that keepdims= has kept may have no entry
    return a, b, normalize_axis_tuple(entries[2], batch + cores[2]) if placed else None


def _core_last(xp: XP, a: Any, core: Shape) -> Any:
    return _transpose(xp, a, (*(i for i in range(xp.ndim_of(a)) if i not in core), *core))


def _core_back(xp: XP, a: Any, core: Shape | None) -> Any:
    if core is None:
        return a
    ndim = xp.ndim_of(a)
    perm = [-1] * ndim
    for k, axis in enumerate(core):
        perm[axis] = ndim - len(core) + k
    batch = iter(range(ndim))
    return _transpose(xp, a, tuple(p if p >= 0 else next(batch) for p in perm))


def matmul(
    xp: XP, a: Any, b: Any, *, axes: Any = None, axis: Any = None, keepdims: bool = False, dtype: Any = None
) -> Any:
    """``np.matmul``."""
    a, b = _loop_operands(xp, np.matmul, a, b, dtype)
    out = None
    if axes is not None or axis is not None or keepdims:
        cores = (min(xp.ndim_of(a), 2), min(xp.ndim_of(b), 2))
        core = cores[0] + cores[1] - 2
        a, b, out = _arranged(xp, np.matmul, a, b, (*cores, core), axes=axes, axis=axis, keepdims=keepdims)
    left, right = xp.shape_of(a), xp.shape_of(b)
    if not left or not right or left[-1] != right[max(len(right) - 2, 0)]:
        raise_for_shapes(np.matmul, left, right)
    if len(left) > 2 and len(right) > 2 and left[:-2] != right[:-2]:
        common_shape(np.matmul, left, right, (2, 2))
    return _core_back(xp, xp.prim.matmul(a, b), out)


def vecdot(
    xp: XP, a: Any, b: Any, *, axes: Any = None, axis: Any = None, keepdims: bool = False, dtype: Any = None
) -> Any:
    """``np.vecdot``."""
    a, b = _loop_operands(xp, np.vecdot, a, b, dtype)
    cores = (1, 1, int(keepdims))
    a, b, out = _arranged(xp, np.vecdot, a, b, cores, axes=axes, axis=axis, keepdims=keepdims)
    left, right = xp.shape_of(a), xp.shape_of(b)
    if not left or not right or left[-1] != right[-1]:
        raise_for_shapes(np.vecdot, left, right)
    a = conjugate(xp, a)
    if len(left) == len(right) == 1:
        result = xp.prim.matmul(a, b)
        batch: Shape = ()
    else:
        batch = common_shape(np.vecdot, left, right, (1, 1))
        first = xp.prim.reshape(a, (*left[:-1], 1, left[-1]))
        second = xp.prim.reshape(b, (*right, 1))
        result = xp.prim.reshape(xp.prim.matmul(first, second), batch)
    if keepdims:
        return _core_back(xp, xp.prim.reshape(result, (*batch, 1)), out)
    return result


def _with_vectors(ufunc: np.ufunc, vectors_first: bool) -> Any:
    """Return the body of ``np.matvec`` or, with ``vectors_first``, of ``np.vecmat``."""
    cores = (1, 2, 1) if vectors_first else (2, 1, 1)

    def product_of(
        xp: XP, a: Any, b: Any, *, axes: Any = None, axis: Any = None, keepdims: bool = False, dtype: Any = None
    ) -> Any:
        a, b = _loop_operands(xp, ufunc, a, b, dtype)
        a, b, out = _arranged(xp, ufunc, a, b, cores, axes=axes, axis=axis, keepdims=keepdims)
        left, right = xp.shape_of(a), xp.shape_of(b)
        if len(left) < cores[0] or len(right) < cores[1] or left[-1] != right[-cores[1]]:
            raise_for_shapes(ufunc, left, right)
        if vectors_first:
            a = conjugate(xp, a)
        if len(left if vectors_first else right) == 1:
            return _core_back(xp, xp.prim.matmul(a, b), out)
        batch = common_shape(ufunc, left, right, cores[:2])
        if vectors_first:
            a, kept = xp.prim.reshape(a, (*left[:-1], 1, left[-1])), right[-1]
        else:
            b, kept = xp.prim.reshape(b, (*right, 1)), left[-2]
        return _core_back(xp, xp.prim.reshape(xp.prim.matmul(a, b), (*batch, kept)), out)

    return product_of


GUFUNCS.update({np.matmul: matmul, np.vecdot: vecdot})
if hasattr(np, "matvec"):  # NumPy 2.2
    GUFUNCS[np.matvec] = _with_vectors(np.matvec, False)
    GUFUNCS[np.vecmat] = _with_vectors(np.vecmat, True)


@product(np.linalg.matmul)
def linalg_matmul(xp: XP, x1: Any, x2: Any, /) -> Any:
    """`numpy.linalg.matmul`."""
    return matmul(xp, x1, x2)


@product(np.linalg.vecdot)
def linalg_vecdot(xp: XP, x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """`numpy.linalg.vecdot`."""
    return vecdot(xp, x1, x2, axis=axis)
