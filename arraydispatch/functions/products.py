"""Products of vectors, matrices and tensors (``np.matmul`` and its relatives, ``einsum``, ``convolve``)."""

from __future__ import annotations

import math
import operator
import warnings
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.exceptions import AxisError
from numpy.lib.array_utils import normalize_axis_index

from .. import dtypes
from ..registry import Body, implements

Shape = tuple[int, ...]


# -- shared ------------------------------------------------------------------------------------------------------------


def _operands(xp: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Both as arrays of their common dtype; a Python scalar is not weak here (``np.dot(float32, 2.0)`` is float64)."""
    if not xp.is_array(a):
        a = xp.asarray(a, like=b if xp.is_array(b) else None)
    if not xp.is_array(b):
        b = xp.asarray(b, like=a)
    left, right = xp.dtype_of(a), xp.dtype_of(b)
    if left != right:
        to = dtypes.promote(left, right)
        a, b = xp.prim.astype(a, to), xp.prim.astype(b, to)
    return a, b


def _conjugate(xp: Any, a: Any) -> Any:
    return xp.conjugate(a) if xp.dtype_of(a).kind == "c" else a


def _reshape(xp: Any, a: Any, shape: Shape) -> Any:
    return a if xp.shape_of(a) == shape else xp.prim.reshape(a, shape)


def _transpose(xp: Any, a: Any, perm: Shape) -> Any:
    return a if perm == tuple(range(len(perm))) else xp.prim.transpose(a, perm)


def _sum(xp: Any, a: Any, axes: int | Shape) -> Any:
    """The sum in the array's own dtype, as products have it: small integers wrap, booleans are or-ed."""
    dtype = xp.dtype_of(a)
    if dtype == dtypes.BOOL:
        return xp.logical_or.reduce(a, axis=axes)
    return xp.add.reduce(a, axis=axes, dtype=dtype)


def _swap_last(xp: Any, a: Any) -> Any:
    n = xp.ndim_of(a)
    return xp.prim.transpose(a, (*range(n - 2), n - 1, n - 2))


def diagonal_of(xp: Any, a: Any, offset: Any, axis1: Any, axis2: Any) -> Any:
    """``np.diagonal``: one strided slice of the two axes laid flat."""
    shape = xp.shape_of(a)
    ndim = len(shape)
    if ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first = _axis(axis1, ndim, "axis1")
    second = _axis(axis2, ndim, "axis2")
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    offset = operator.index(offset)
    rest = tuple(i for i in range(ndim) if i not in (first, second))
    outer = tuple(shape[i] for i in rest)
    rows, columns = shape[first], shape[second]
    length = max(0, min(rows - max(-offset, 0), columns - max(offset, 0)))
    flat = xp.prim.reshape(_transpose(xp, a, (*rest, first, second)), (*outer, rows * columns))
    begin = max(-offset, 0) * columns + max(offset, 0) if length else 0
    end = begin + (length - 1) * (columns + 1) + 1 if length else 0
    return xp.prim.slice(flat, (*(slice(0, n, 1) for n in outer), slice(begin, end, columns + 1)))


def _axis(axis: Any, ndim: int, name: str) -> int:
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim, name)
    return int(axis % ndim)


# -- dot and its relatives -------------------------------------------------------------------------------------------


@implements(np.dot)
def dot(xp: Any, a: Any, b: Any) -> Any:
    a, b = _operands(xp, a, b)
    left, right = xp.shape_of(a), xp.shape_of(b)
    if not left or not right:
        return xp.multiply(a, b)
    axis = max(len(right) - 2, 0)
    if left[-1] != right[axis]:
        raise ValueError(
            f"shapes {_shown(left)} and {_shown(right)} not aligned: "
            f"{left[-1]} (dim {len(left) - 1}) != {right[axis]} (dim {axis})"
        )
    if len(right) <= 2:
        return xp.prim.matmul(a, b)
    k = left[-1]
    first = xp.prim.reshape(a, (math.prod(left[:-1]), k))
    second = xp.prim.transpose(b, (axis, *range(axis), axis + 1))
    rest = right[:-2] + right[-1:]
    return xp.prim.reshape(xp.prim.matmul(first, xp.prim.reshape(second, (k, math.prod(rest)))), left[:-1] + rest)


def _shown(shape: Shape) -> str:
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


@implements(np.vdot)
def vdot(xp: Any, a: Any, b: Any, /) -> Any:
    a, b = _operands(xp, a, b)
    left, right = xp.shape_of(a), xp.shape_of(b)
    n, m = math.prod(left), math.prod(right)
    if n != m:
        raise ValueError(f"cannot reshape array of size {m} into shape {_shown((n,))}")
    return xp.prim.matmul(_conjugate(xp, _reshape(xp, a, (n,))), _reshape(xp, b, (n,)))


@implements(np.inner)
def inner(xp: Any, a: Any, b: Any, /) -> Any:
    a, b = _operands(xp, a, b)
    left, right = xp.shape_of(a), xp.shape_of(b)
    if not left or not right:
        return xp.multiply(a, b)
    if left[-1] != right[-1]:
        raise ValueError(
            f"shapes {_shown(left)} and {_shown(right)} not aligned: "
            f"{left[-1]} (dim {len(left) - 1}) != {right[-1]} (dim {len(right) - 1})"
        )
    if len(right) == 1:
        return xp.prim.matmul(a, b)
    k = right[-1]
    second = xp.prim.transpose(_reshape(xp, b, (math.prod(right[:-1]), k)), (1, 0))
    return _reshape(xp, xp.prim.matmul(a, second), left[:-1] + right[:-1])


@implements(np.outer)
def outer(xp: Any, a: Any, b: Any) -> Any:
    a, b = _operands(xp, a, b)
    n, m = math.prod(xp.shape_of(a)), math.prod(xp.shape_of(b))
    return xp.multiply(xp.prim.reshape(a, (n, 1)), xp.prim.reshape(b, (1, m)))


@implements(np.linalg.outer)
def linalg_outer(xp: Any, x1: Any, x2: Any, /) -> Any:
    x1, x2 = _operands(xp, x1, x2)
    if xp.ndim_of(x1) != 1 or xp.ndim_of(x2) != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={xp.ndim_of(x1)} and x2.ndim={xp.ndim_of(x2)}."
        )
    return outer(xp, x1, x2)


@implements(np.kron)
def kron(xp: Any, a: Any, b: Any) -> Any:
    a, b = _operands(xp, a, b)
    left, right = xp.shape_of(a), xp.shape_of(b)
    if not left or not right:
        return xp.multiply(a, b)
    nd = max(len(left), len(right))
    left, right = (1,) * (nd - len(left)) + left, (1,) * (nd - len(right)) + right
    first = xp.prim.reshape(a, tuple(n for k in left for n in (k, 1)))
    second = xp.prim.reshape(b, tuple(n for k in right for n in (1, k)))
    return xp.prim.reshape(xp.multiply(first, second), tuple(n * m for n, m in zip(left, right)))


@implements(np.tensordot, returns="array")
def tensordot(xp: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    axes_a: Any
    axes_b: Any
    try:
        iter(axes)
    except TypeError:
        axes_a, axes_b = list(range(-axes, 0)), list(range(axes))
    else:
        axes_a, axes_b = axes
    axes_a, axes_b = _axes_list(axes_a), _axes_list(axes_b)
    if len(set(axes_a)) != len(axes_a) or len(set(axes_b)) != len(axes_b):
        raise ValueError("duplicate axes are not allowed in tensordot")
    a, b = _operands(xp, a, b)
    left, right = xp.shape_of(a), xp.shape_of(b)
    if len(axes_a) != len(axes_b) or any(left[i] != right[j] for i, j in zip(axes_a, axes_b)):
        raise ValueError("shape-mismatch for sum")
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


@implements(np.linalg.tensordot, returns="array")
def linalg_tensordot(xp: Any, x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    return tensordot(xp, x1, x2, axes)


@implements(np.trace)
def trace(xp: Any, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None) -> Any:
    diagonal = diagonal_of(xp, xp.asarray(a), offset, axis1, axis2)
    return xp.add.reduce(diagonal, axis=-1, dtype=dtype)


@implements(np.linalg.trace)
def linalg_trace(xp: Any, x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Any:
    return trace(xp, x, offset, -2, -1, dtype)


@implements(np.linalg.diagonal, mode="view", returns="array")
def linalg_diagonal(xp: Any, x: Any, /, *, offset: Any = 0) -> Any:
    return diagonal_of(xp, xp.asarray(x), offset, -2, -1)


@implements(np.linalg.matrix_transpose, mode="view", returns="array")
def linalg_matrix_transpose(xp: Any, x: Any, /) -> Any:
    x = xp.asarray(x)
    if xp.ndim_of(x) < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {xp.ndim_of(x)}")
    return _swap_last(xp, x)


@implements(np.cross, returns="array")
def cross(xp: Any, a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _operands(xp, a, b)
    if not xp.ndim_of(a) or not xp.ndim_of(b):
        raise ValueError("At least one array has zero dimension")
    a = _axis_to_end(xp, a, normalize_axis_index(axisa, xp.ndim_of(a), "axisa"))
    b = _axis_to_end(xp, b, normalize_axis_index(axisb, xp.ndim_of(b), "axisb"))
    n, m = xp.shape_of(a)[-1], xp.shape_of(b)[-1]
    if n not in (2, 3) or m not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if n == 2 or m == 2:
        warnings.warn(
            "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors instead. "
            "(deprecated in NumPy 2.0)",
            DeprecationWarning,
        )
    if n == m == 2:
        a0, a1, b0, b1 = (_part(xp, x, i, i + 1) for x in (a, b) for i in (0, 1))
        cp = xp.subtract(xp.multiply(a0, b1), xp.multiply(a1, b0))
        return xp.prim.reshape(cp, xp.shape_of(cp)[:-1])
    # The third component that a 2-vector lacks is zero. (x1 y2 - x2 y1, x2 y0 - x0 y2, …): each factor is a rotation.
    a, b = (_zero_third(xp, x) for x in (a, b))
    ndim = max(xp.ndim_of(a), xp.ndim_of(b))
    axisc = normalize_axis_index(axisc, ndim, "axisc")
    aa = xp.prim.concatenate([a, a], xp.ndim_of(a) - 1)
    bb = xp.prim.concatenate([b, b], xp.ndim_of(b) - 1)
    plus = xp.multiply(_part(xp, aa, 1, 4), _part(xp, bb, 2, 5))
    cp = xp.subtract(plus, xp.multiply(_part(xp, aa, 2, 5), _part(xp, bb, 1, 4)))
    perm = list(range(ndim - 1))
    perm.insert(axisc, ndim - 1)
    return _transpose(xp, cp, tuple(perm))


def _axis_to_end(xp: Any, a: Any, axis: int) -> Any:
    ndim = xp.ndim_of(a)
    return _transpose(xp, a, (*(i for i in range(ndim) if i != axis), axis))


def _part(xp: Any, a: Any, begin: int, end: int) -> Any:
    return xp.prim.slice(a, (*(slice(0, n, 1) for n in xp.shape_of(a)[:-1]), slice(begin, end, 1)))


def _zero_third(xp: Any, a: Any) -> Any:
    shape = xp.shape_of(a)
    return a if shape[-1] == 3 else xp.prim.pad(a, [(0, 0)] * (len(shape) - 1) + [(0, 1)], 0)


@implements(np.linalg.cross, returns="array")
def linalg_cross(xp: Any, x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    x1, x2 = _operands(xp, x1, x2)
    n, m = xp.shape_of(x1)[axis], xp.shape_of(x2)[axis]
    if n != 3 or m != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, "
            f"but they are {n} and {m} dimensional instead."
        )
    return cross(xp, x1, x2, axis=axis)


# -- generalised ufuncs --------------------------------------------------------------------------------------------------


def _loop_operands(xp: Any, ufunc: np.ufunc, a: Any, b: Any, dtype: Any) -> tuple[Any, Any]:
    """Both operands in the dtype of NumPy's loop."""
    if not xp.is_array(a):
        a = xp.asarray(a, like=b if xp.is_array(b) else None)
    if not xp.is_array(b):
        b = xp.asarray(b, like=a)
    left, right = xp.dtype_of(a), xp.dtype_of(b)
    if left is not right or dtype is not None:
        signature = None if dtype is None else (None, None, np.dtype(dtype))
        to_left, to_right, _ = dtypes.loop_dtypes(ufunc, (left, right), signature)
        a, b = xp.prim.astype(a, to_left), xp.prim.astype(b, to_right)
    return a, b


def _check_ndim(ufunc: np.ufunc, i: int, shape: Shape, needs: int) -> None:
    if len(shape) < needs:
        raise ValueError(
            f"{ufunc.__name__}: Input operand {i} does not have enough dimensions "
            f"(has {len(shape)}, gufunc core with signature {ufunc.signature} requires {needs})"
        )


def _check_core(ufunc: np.ufunc, n: int, m: int, dimension: int = 0) -> None:
    if n != m:
        raise ValueError(
            f"{ufunc.__name__}: Input operand 1 has a mismatch in its core dimension {dimension}, "
            f"with gufunc signature {ufunc.signature} (size {m} is different from {n})"
        )


def _arranged(
    xp: Any, ufunc: np.ufunc, a: Any, b: Any, cores: tuple[int, int, int], axes: Any
) -> tuple[Any, Any, Shape | None]:
    """The operands with their core axes last, and where NumPy's ``axes=`` wants those of the result."""
    if not isinstance(axes, list):
        raise TypeError("axes should be a list.")
    # An output without core axes may be left out only if the signature itself gives it none.
    entries = [*axes, ()] if len(axes) == 2 and ufunc is np.vecdot else axes
    if len(entries) != 3:
        raise ValueError(
            "axes should be a list with an entry for all 3 inputs and outputs; "
            "entries for outputs can only be omitted if none of them has core axes."
        )
    tuples = []
    for i, (entry, core) in enumerate(zip(entries, cores)):
        if not isinstance(entry, tuple):
            if core != 1:
                raise AxisError(
                    f"{ufunc.__name__}: operand {i} has {core} core dimensions, but the axes item is a single integer."
                )
            entry = (operator.index(entry),)
        if len(entry) != core:
            raise AxisError(
                f"{ufunc.__name__}: operand {i} has {core} core dimensions, "
                f"but {len(entry)} dimensions are specified by axes tuple."
            )
        tuples.append(entry)
    a = _core_last(xp, a, _distinct(tuples[0], xp.ndim_of(a), 0))
    b = _core_last(xp, b, _distinct(tuples[1], xp.ndim_of(b), 1))
    batch = max(xp.ndim_of(a) - cores[0], xp.ndim_of(b) - cores[1])
    return a, b, _distinct(tuples[2], batch + cores[2], 2)


def _distinct(entry: tuple[Any, ...], ndim: int, i: int) -> Shape:
    normal = tuple(normalize_axis_index(operator.index(axis), ndim) for axis in entry)
    if len(set(normal)) != len(normal):
        raise ValueError(f"axes item {i} has value {normal[0]} repeated")
    return normal


def _core_last(xp: Any, a: Any, core: Shape) -> Any:
    return _transpose(xp, a, (*(i for i in range(xp.ndim_of(a)) if i not in core), *core))


def _core_back(xp: Any, a: Any, core: Shape | None) -> Any:
    if core is None:
        return a
    ndim = xp.ndim_of(a)
    perm = [-1] * ndim
    for k, axis in enumerate(core):
        perm[axis] = ndim - len(core) + k
    batch = iter(range(ndim))
    return _transpose(xp, a, tuple(p if p >= 0 else next(batch) for p in perm))


def _no_axis_no_keepdims(ufunc: np.ufunc, axis: Any, keepdims: bool) -> None:
    if axis is not None:
        raise TypeError(
            f"{ufunc.__name__}: axis can only be used with a single shared core dimension, "
            f"not with the several distinct ones implied by signature {ufunc.signature}."
        )
    if keepdims:
        raise TypeError(f"{ufunc.__name__} does not support keepdims: its signature is {ufunc.signature}.")


def matmul(
    xp: Any, a: Any, b: Any, *, axes: Any = None, axis: Any = None, keepdims: bool = False, dtype: Any = None
) -> Any:
    """``np.matmul``."""
    a, b = _loop_operands(xp, np.matmul, a, b, dtype)
    if axis is not None or keepdims:
        _no_axis_no_keepdims(np.matmul, axis, keepdims)
    out = None
    if axes is not None:
        cores = (min(xp.ndim_of(a), 2), min(xp.ndim_of(b), 2))
        a, b, out = _arranged(xp, np.matmul, a, b, (*cores, cores[0] + cores[1] - 2), axes)
    left, right = xp.shape_of(a), xp.shape_of(b)
    if not left or not right:
        _check_ndim(np.matmul, int(bool(left)), (), 1)
    _check_core(np.matmul, left[-1], right[-2] if len(right) > 1 else right[0])
    if len(left) > 2 and len(right) > 2 and left[:-2] != right[:-2]:
        np.broadcast_shapes(left[:-2], right[:-2])
    return _core_back(xp, xp.prim.matmul(a, b), out)


def vecdot(
    xp: Any, a: Any, b: Any, *, axes: Any = None, axis: Any = None, keepdims: bool = False, dtype: Any = None
) -> Any:
    """``np.vecdot``."""
    a, b = _loop_operands(xp, np.vecdot, a, b, dtype)
    _check_ndim(np.vecdot, 0, xp.shape_of(a), 1)
    _check_ndim(np.vecdot, 1, xp.shape_of(b), 1)
    if axis is not None:
        if axes is not None:
            raise TypeError("cannot specify both 'axis' and 'axes'")
        axes = [(axis,), (axis,), (axis,) if keepdims else ()]
    out = None
    if axes is not None:
        a, b, out = _arranged(xp, np.vecdot, a, b, (1, 1, int(keepdims)), axes)
    left, right = xp.shape_of(a), xp.shape_of(b)
    _check_core(np.vecdot, left[-1], right[-1])
    a = _conjugate(xp, a)
    if len(left) == len(right) == 1:
        result = xp.prim.matmul(a, b)
        batch: Shape = ()
    else:
        batch = np.broadcast_shapes(left[:-1], right[:-1])
        first = xp.prim.reshape(a, (*left[:-1], 1, left[-1]))
        second = xp.prim.reshape(b, (*right, 1))
        result = xp.prim.reshape(xp.prim.matmul(first, second), batch)
    if keepdims:
        return _core_back(xp, xp.prim.reshape(result, (*batch, 1)), out)
    return result


def matvec(
    xp: Any, a: Any, b: Any, *, axes: Any = None, axis: Any = None, keepdims: bool = False, dtype: Any = None
) -> Any:
    """``np.matvec``."""
    a, b = _loop_operands(xp, np.matvec, a, b, dtype)
    _no_axis_no_keepdims(np.matvec, axis, keepdims)
    _check_ndim(np.matvec, 0, xp.shape_of(a), 2)
    _check_ndim(np.matvec, 1, xp.shape_of(b), 1)
    out = None
    if axes is not None:
        a, b, out = _arranged(xp, np.matvec, a, b, (2, 1, 1), axes)
    left, right = xp.shape_of(a), xp.shape_of(b)
    _check_core(np.matvec, left[-1], right[-1])
    if len(right) == 1:
        return _core_back(xp, xp.prim.matmul(a, b), out)
    batch = np.broadcast_shapes(left[:-2], right[:-1])
    result = xp.prim.matmul(a, xp.prim.reshape(b, (*right, 1)))
    return _core_back(xp, xp.prim.reshape(result, (*batch, left[-2])), out)


def vecmat(
    xp: Any, a: Any, b: Any, *, axes: Any = None, axis: Any = None, keepdims: bool = False, dtype: Any = None
) -> Any:
    """``np.vecmat``."""
    a, b = _loop_operands(xp, np.vecmat, a, b, dtype)
    _no_axis_no_keepdims(np.vecmat, axis, keepdims)
    _check_ndim(np.vecmat, 0, xp.shape_of(a), 1)
    _check_ndim(np.vecmat, 1, xp.shape_of(b), 2)
    out = None
    if axes is not None:
        a, b, out = _arranged(xp, np.vecmat, a, b, (1, 2, 1), axes)
    left, right = xp.shape_of(a), xp.shape_of(b)
    _check_core(np.vecmat, left[-1], right[-2])
    a = _conjugate(xp, a)
    if len(left) == 1:
        return _core_back(xp, xp.prim.matmul(a, b), out)
    batch = np.broadcast_shapes(left[:-1], right[:-2])
    result = xp.prim.matmul(xp.prim.reshape(a, (*left[:-1], 1, left[-1])), b)
    return _core_back(xp, xp.prim.reshape(result, (*batch, right[-1])), out)


GUFUNCS: dict[np.ufunc, Body] = {np.matmul: matmul, np.vecdot: vecdot}
"""Generalised ufunc -> body with NumPy's ``axes= axis= keepdims= dtype=``; for the ufunc layer."""
if hasattr(np, "matvec"):  # NumPy 2.2
    GUFUNCS[np.matvec] = matvec
    GUFUNCS[np.vecmat] = vecmat


@implements(np.linalg.matmul)
def linalg_matmul(xp: Any, x1: Any, x2: Any, /) -> Any:
    return matmul(xp, x1, x2)


@implements(np.linalg.vecdot)
def linalg_vecdot(xp: Any, x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return vecdot(xp, x1, x2, axis=axis)


# -- convolution ---------------------------------------------------------------------------------------------------------


@implements(np.convolve, returns="array")
def convolve(xp: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    a, v = _operands(xp, a, v)
    a, v = (xp.prim.reshape(x, (1,)) if not xp.shape_of(x) else x for x in (a, v))
    for name, x in (("a", a), ("v", v)):
        if not xp.shape_of(x)[0]:
            raise ValueError(f"{name} cannot be empty")
    _check_depth(xp, a, v)
    if xp.shape_of(v)[0] > xp.shape_of(a)[0]:
        a, v = v, a
    begin, end = _wanted(xp.shape_of(a)[0], xp.shape_of(v)[0], mode)
    return _full_convolution(xp, a, v, begin, end)


@implements(np.correlate, returns="array")
def correlate(xp: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    a, v = _operands(xp, a, v)
    _check_depth(xp, a, v)
    n, m = xp.shape_of(a)[0], xp.shape_of(v)[0]
    if not n or not m:
        raise ValueError(f"{'second' if n else 'first'} array argument cannot be empty")
    begin, end = _wanted(max(n, m), min(n, m), mode)
    v = xp.prim.flip(_conjugate(xp, v), (0,))
    if m > n:  # NumPy correlates the other way round and reverses the result
        total = n + m - 1
        return _full_convolution(xp, v, a, total - end, total - begin)
    return _full_convolution(xp, a, v, begin, end)


def _check_depth(xp: Any, *arrays: Any) -> None:
    for x in arrays:
        if xp.ndim_of(x) != 1:
            raise ValueError(f"object {'too deep' if xp.ndim_of(x) else 'of too small depth'} for desired array")


def _wanted(n: int, m: int, mode: Any) -> tuple[int, int]:
    """Which part of the full convolution of n >= m elements the mode asks for."""
    number = mode if isinstance(mode, int) else {"valid": 0, "same": 1, "full": 2}.get(mode)
    if number not in (0, 1, 2):
        np.correlate([0], [0], mode)  # raises NumPy's own error
        raise ValueError(f"mode {mode!r} is not understood")
    if number == 0:
        return m - 1, n
    if number == 1:
        begin = m - 1 - m // 2
        return begin, begin + n
    return 0, n + m - 1


_FEW = 1 << 14
"""Up to this many products, fewer calls win over fewer operations."""

_AT_ONCE = 1 << 22
"""Products held in memory at a time."""


def _full_convolution(xp: Any, a: Any, v: Any, begin: int, end: int) -> Any:
    """Elements ``begin`` to ``end`` of the full convolution; ``v`` is the shorter one."""
    n, m = xp.shape_of(a)[0], xp.shape_of(v)[0]
    if n * m > _FEW and _all_finite(xp, a, v):
        return _by_blocks(xp, a, v, begin, end)
    full = None
    step = max(1, _AT_ONCE // (n + m))
    for first in range(0, m, step):
        taps = xp.prim.slice(v, (slice(first, min(first + step, m), 1),)) if step < m else v
        part = _skewed_sum(xp, a, taps)
        if step < m:
            k = xp.shape_of(taps)[0]
            part = xp.prim.pad(part, [(first, m - first - k)], xp.dtype_of(part).type(0).item())
        full = part if full is None else xp.add(full, part)
    return full if (begin, end) == (0, n + m - 1) else xp.prim.slice(full, (slice(begin, end, 1),))


def _skewed_sum(xp: Any, a: Any, v: Any) -> Any:
    """All products, each row moved one place to the right of the one above (by a reshape), summed by columns."""
    n, m = xp.shape_of(a)[0], xp.shape_of(v)[0]
    products = xp.multiply(xp.prim.reshape(v, (m, 1)), xp.prim.reshape(a, (1, n)))
    zero = xp.dtype_of(products).type(0).item()
    flat = xp.prim.reshape(xp.prim.pad(products, [(0, 0), (0, m)], zero), (m * (n + m),))
    skewed = xp.prim.reshape(xp.prim.slice(flat, (slice(0, m * (n + m - 1), 1),)), (m, n + m - 1))
    return _sum(xp, skewed, 0)


def _all_finite(xp: Any, *arrays: Any) -> bool:
    """Whether zeros may multiply the elements; not looked at under a trace, where the answer is no."""
    for x in arrays:
        if xp.dtype_of(x).kind in "biu":
            continue
        if not xp.backend.is_concrete(x) or not bool(xp.backend.to_numpy(xp.isfinite(xp.add.reduce(x)))):
            return False
    return True


def _by_blocks(xp: Any, a: Any, v: Any, begin: int, end: int) -> Any:
    """One matrix product: overlapping blocks of ``a`` times the Toeplitz matrix of ``v`` (which has zeros in it)."""
    prim, n, m, length = xp.prim, xp.shape_of(a)[0], xp.shape_of(v)[0], end - begin
    zero = xp.dtype_of(a).type(0).item()
    width = min(length, 1024, max(m, 32))
    blocks, extra = -(-length // width), -(-(m - 1) // width)
    size = (blocks + extra) * width
    # The inputs of output `begin` start at begin - m + 1.
    before = m - 1 - begin
    if before < 0:
        a, n, before = prim.slice(a, (slice(-before, n, 1),)), n + before, 0
    if before + n > size:
        a, n = prim.slice(a, (slice(0, size - before, 1),)), size - before
    a = prim.pad(a, [(before, size - before - n)], zero)
    rows = prim.reshape(a, (blocks + extra, width))
    parts = [prim.slice(rows, (slice(s, s + blocks, 1), slice(0, width, 1))) for s in range(extra + 1)]
    inputs = prim.concatenate(parts, 1) if extra else parts[0]
    # Row i of the transposed Toeplitz matrix is v reversed, moved i places to the right: a skew, as above.
    columns = (extra + 1) * width
    taps = prim.pad(prim.flip(v, (0,)), [(0, columns + 1 - m)], zero)
    tiled = prim.reshape(prim.broadcast_to(taps, (width, columns + 1)), (width * (columns + 1),))
    toeplitz = prim.reshape(prim.slice(tiled, (slice(0, width * columns, 1),)), (width, columns))
    result = prim.matmul(inputs, prim.transpose(toeplitz, (1, 0)))
    return prim.slice(prim.reshape(result, (blocks * width,)), (slice(0, length, 1),))
