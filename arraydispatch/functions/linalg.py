"""``np.linalg``: equations, inverses, determinants, norms and ranks; NumPy's conventions over the factorizations."""

from __future__ import annotations

import math
import operator
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple
from numpy.linalg import LinAlgError

from ..common import tracing
from ..runtime import dtypes
from ..ufuncs.composed import is_followed
from . import derivative_forms, layouts
from .averages import report, squared
from .contractions import conjugate
from .factorizations import (
    adjoint,
    check_2d,
    check_square,
    computable,
    identity,
    is_true,
    real_of,
    result_dtype,
    square,
    svd,
)
from .operands import (
    arrays,
    common_shape,
    element,
    filled,
    is_concrete,
    is_recorded,
    itself,
    raise_for_shapes,
    to_host,
    unshared,
    valued,
)
from .reductions import known_any
from .registry import XP, family

SlogdetResult: Any = type(np.linalg.slogdet(np.eye(1)))
NoValue: Any = np._NoValue

Shape = tuple[int, ...]

matrices = family(min_bits=32, layout=layouts.c)
scalars = family(min_bits=32, returns="scalar")


# -- equations and inverses ----------------------------------------------------------------------------------------------


@matrices(np.linalg.solve, defined="conditioned")
def solve(xp: XP, a: Any, b: Any) -> Any:
    """`numpy.linalg.solve`."""
    a, b = arrays(xp, a, b)
    left, right = xp.shape_of(a), xp.shape_of(b)
    check_square(left)
    to = result_dtype(xp.dtype_of(a), xp.dtype_of(b))
    vector = len(right) == 1
    n = right[0] if vector else right[-2] if right else 0
    if not right or n != left[-1]:
        raise_for_shapes(np.linalg.solve, left, right)
    batch = left[:-2] if vector else common_shape(np.linalg.solve, left, right, (2, 2))
    core = (n, 1) if vector else right[-2:]
    final = (*batch, n) if vector else (*batch, *core)
    if 0 in batch or 0 in core:
        return filled(xp, final, 0, to, a)
    compute = dtypes.widen_half(to)
    a, b = xp.prim.astype(a, compute), xp.prim.astype(b, compute)
    if left[:-2] != batch:
        a = xp.prim.broadcast_to(a, (*batch, n, n))
    if vector:
        b = xp.prim.reshape(b, core)
    if xp.shape_of(b) != (*batch, *core):
        b = xp.prim.broadcast_to(b, (*batch, *core))
    x = xp.prim.astype(xp.prim.solve(a, b), to)
    return xp.prim.reshape(x, final) if vector else x


@matrices(np.linalg.inv, defined="conditioned")
def inv(xp: XP, a: Any) -> Any:
    """`numpy.linalg.inv`."""
    a, to, shape = square(xp, a)
    return xp.prim.astype(xp.prim.inv(a), to) if 0 not in shape else filled(xp, shape, 0, to, a)


@matrices(np.linalg.tensorsolve, defined="conditioned")
def tensorsolve(xp: XP, a: Any, b: Any, axes: Any = None) -> Any:
    """`numpy.linalg.tensorsolve`."""
    a, b = arrays(xp, a, b)
    ndim = xp.ndim_of(a)
    if axes is not None:
        order = list(range(ndim))
        for k in axes:
            order.remove(k)
            order.insert(ndim, k)
        a = xp.prim.transpose(a, tuple(order))
    shape = xp.shape_of(a)
    wanted = shape[-(ndim - xp.ndim_of(b)) :]
    n = math.prod(wanted)
    if math.prod(shape) != n**2:
        raise_for_shapes(np.linalg.tensorsolve, shape, xp.shape_of(b))
    x = solve(xp, xp.prim.reshape(a, (n, n)), xp.prim.reshape(b, (math.prod(xp.shape_of(b)),)))
    return xp.prim.reshape(x, wanted)


@matrices(np.linalg.tensorinv, defined="conditioned")
def tensorinv(xp: XP, a: Any, ind: int = 2) -> Any:
    """`numpy.linalg.tensorinv`."""
    a = xp.asarray(a)
    shape, ind = xp.shape_of(a), operator.index(ind)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    n = math.prod(shape[ind:])
    size = math.prod(shape)
    if not n or size % n:
        raise ValueError(f"cannot reshape array of size {size} into shape ({n},-1)")
    return xp.prim.reshape(inv(xp, xp.prim.reshape(a, (n, size // n))), shape[ind:] + shape[:ind])


@matrices(np.linalg.pinv, defined="conditioned")
def pinv(xp: XP, a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NoValue) -> Any:
    """`numpy.linalg.pinv`."""
    a = xp.asarray(a)
    shape, dtype = xp.shape_of(a), xp.dtype_of(a)
    if rcond is None:
        if rtol is NoValue:
            rcond = 1e-15
        else:
            rcond = max(shape[-2:]) * np.finfo(dtypes.widen_half(dtype)).eps if rtol is None else rtol
    elif rtol is not NoValue:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if 0 in shape and math.prod(shape[-2:]) == 0:
        m, n = shape[-2:]
        return filled(xp, (*shape[:-2], n, m), 0, dtype, a)
    if not (is_followed(xp, a) and derivative_forms.leaves_nothing_out(rcond)):
        return _by_singular_values(xp, a, rcond, hermitian)
    inverse = _by_singular_values(xp, xp.backend.transforms.stop_gradient(a), rcond, hermitian)
    return valued(
        xp,
        inverse,
        derivative_forms.pseudo_inverse(xp, derivative_forms.from_triangle(xp, a) if hermitian else a, inverse),
    )


def _by_singular_values(xp: XP, a: Any, rcond: Any, hermitian: bool) -> Any:
    u, s, vh = svd(xp, a, full_matrices=False, hermitian=hermitian)
    largest = xp.maximum.reduce(s, axis=-1, keepdims=True, initial=0)
    large = xp.greater(s, xp.multiply(_per_matrix(xp, rcond, s), largest))
    if xp.shape_of(large) != xp.shape_of(s):
        raise ValueError(f"rcond of one element for each matrix is needed, of shape {xp.shape_of(s)[:-1]}")
    one, zero = (filled(xp, (), x, xp.dtype_of(s), s) for x in (1, 0))
    s = xp.prim.where(large, xp.divide(one, xp.prim.where(large, s, one)), zero)
    scaled = xp.multiply(adjoint(xp, u), xp.prim.reshape(s, (*xp.shape_of(s), 1)))
    return xp.prim.matmul(adjoint(xp, vh), scaled)


def _per_matrix(xp: XP, tolerance: Any, like: Any) -> Any:
    """Return tolerances, one for each matrix, as a column that broadcasts against singular values ``like``; one number as a NumPy scalar."""
    if isinstance(tolerance, int | float | np.generic):
        return np.asarray(tolerance)[()]
    tolerance = xp.asarray(tolerance, like=like)
    return xp.prim.reshape(tolerance, (*xp.shape_of(tolerance), 1))


@matrices(np.linalg.lstsq, pure=False, defined="conditioned", returns="scalar")
def lstsq(xp: XP, a: Any, b: Any, rcond: Any = None) -> Any:
    """`numpy.linalg.lstsq`."""
    prim = xp.prim
    a, b = arrays(xp, a, b)
    vector = xp.ndim_of(b) == 1
    if vector:
        b = prim.reshape(b, (*xp.shape_of(b), 1))
    check_2d(xp.shape_of(a), xp.shape_of(b))
    (m, n), (rows, columns) = xp.shape_of(a), xp.shape_of(b)
    if m != rows:
        raise LinAlgError("Incompatible dimensions")
    to = result_dtype(xp.dtype_of(a), xp.dtype_of(b))
    compute, real = dtypes.widen_half(to), real_of(to)
    a, b = prim.astype(a, compute), prim.astype(b, compute)
    if rcond is None:
        rcond = np.finfo(compute).eps * max(n, m)
    elif rcond < 0:
        rcond = np.finfo(compute).eps / 2  # LAPACK's epsilon is the rounding unit, half of NumPy's
    if 0 in (m, n):
        rank, s = 0, filled(xp, (0,), 0, real, a)
        x = filled(xp, (n, columns), 0, to, a)
    else:
        by_twin = is_followed(xp, a) and derivative_forms.leaves_nothing_out(rcond)
        factors = None
        with suppress(LinAlgError):
            factors = prim.svd(xp.backend.transforms.stop_gradient(a) if by_twin else a, False)
        if factors is None:  # outside `except`, so that the error has no context of ours
            raise LinAlgError("SVD did not converge in Linear Least Squares")
        u, s, vh = factors
        if not is_recorded(xp, s):
            raise tracing.refusal(tracing.RANK)
        host = to_host(xp, s if is_concrete(xp, s) else xp.backend.transforms.stop_gradient(s))
        rank = int(np.count_nonzero(host > rcond * host[0]))
        used = (slice(0, rank, 1),)
        every = (slice(0, m, 1), slice(0, n, 1))
        projected = prim.matmul(adjoint(xp, prim.slice(u, (every[0], *used))), b)
        projected = xp.divide(projected, prim.reshape(prim.slice(s, used), (rank, 1)))
        x = prim.matmul(adjoint(xp, prim.slice(vh, (*used, every[1]))), projected)
        if by_twin:
            back = xp.multiply(
                prim.slice(vh, (*used, every[1])), prim.reshape(xp.divide(1.0, prim.slice(s, used)), (rank, 1))
            )
            inverse = prim.matmul(adjoint(xp, back), adjoint(xp, prim.slice(u, (every[0], *used))))
            x = valued(
                xp,
                xp.backend.transforms.stop_gradient(x),
                prim.matmul(derivative_forms.pseudo_inverse(xp, a, inverse), b),
            )
            s = prim.svdvals(a)
    if rank == n and m > n:
        rest = xp.absolute(xp.subtract(b, prim.matmul(a, prim.astype(x, compute))) if n else b)
        residuals = prim.astype(xp.add.reduce(xp.multiply(rest, rest), axis=0), real)
    else:
        residuals = filled(xp, (0,), 0, real, a)
    x = prim.reshape(x, (n,)) if vector else x
    return prim.astype(x, to), residuals, np.int32(rank), prim.astype(s, real)


# -- determinants, norms and ranks ---------------------------------------------------------------------------------------


@scalars(np.linalg.det, defined="conditioned")
def det(xp: XP, a: Any) -> Any:
    """`numpy.linalg.det`."""
    a, to, shape = square(xp, a)
    if 0 in shape:
        return filled(xp, shape[:-2], 1, to, a)
    if (
        xp.backend.derives_determinants
        or not is_followed(xp, a)
        or (twin := derivative_forms.determinant(xp, a)) is None
    ):
        return xp.prim.astype(xp.prim.det(a), to)
    return xp.prim.astype(valued(xp, xp.prim.det(xp.backend.transforms.stop_gradient(a)), twin), to)


@scalars(np.linalg.slogdet, defined="logarithm of a determinant")
def slogdet(xp: XP, a: Any) -> Any:
    """`numpy.linalg.slogdet`."""
    a, to, shape = square(xp, a)
    real = real_of(to)
    if 0 in shape:
        return SlogdetResult(filled(xp, shape[:-2], 1, to, a), filled(xp, shape[:-2], 0, real, a))
    sign, logabsdet = xp.prim.slogdet(a)
    return SlogdetResult(xp.prim.astype(sign, to), xp.prim.astype(logabsdet, real))


@scalars(np.linalg.norm, layout=layouts.normed)
def norm(xp: XP, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """`numpy.linalg.norm`."""
    x = xp.asarray(x)
    if not dtypes.is_floating(xp.dtype_of(x)):
        x = xp.prim.astype(x, dtypes.FLOAT64)
    shape = xp.shape_of(x)
    ndim = len(shape)
    if axis is None:
        if ord is None or (ndim == 2 and isinstance(ord, str) and ord in ("f", "fro")) or (ndim == 1 and ord == 2):
            flat = x if ndim == 1 else xp.prim.reshape(x, (math.prod(shape),))
            square = xp.prim.matmul(conjugate(xp, flat), flat)
            result = xp.sqrt(xp.prim.real(square) if xp.dtype_of(square).kind == "c" else square)
            return xp.prim.reshape(result, (1,) * ndim) if keepdims else result
        axis = tuple(range(ndim))
    elif not isinstance(axis, tuple):
        try:
            axis = (int(axis),)
        except (TypeError, ValueError) as error:
            raise TypeError("'axis' must be None, an integer or a tuple of integers") from error
    if len(axis) == 1:
        return _vector_norm(xp, x, ord, axis[0], keepdims)
    if len(axis) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    row, column = (normalize_axis_index(i, ndim) for i in axis)
    if row == column:
        raise ValueError("Duplicate axes given.")
    result = _matrix_norm(xp, x, ord, row, column)
    if not keepdims:
        return result
    return xp.prim.reshape(result, tuple(1 if i in (row, column) else n for i, n in enumerate(shape)))


def _vector_norm(xp: XP, x: Any, ord: Any, axis: int, keepdims: bool) -> Any:
    where: dict[str, Any] = {"axis": (axis,), "keepdims": keepdims}
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord is None or ord == 2:
        return xp.sqrt(xp.add.reduce(squared(xp, x), **where))
    if ord == 0:
        real = real_of(xp.dtype_of(x))
        return xp.add.reduce(xp.prim.astype(xp.not_equal(x, 0), real), **where)
    size = xp.absolute(x)
    if ord == math.inf:
        return xp.maximum.reduce(size, initial=0, **where)
    if ord == -math.inf:
        return xp.minimum.reduce(size, **where)
    if ord == 1:
        return xp.add.reduce(size, **where)
    if ord < 0 and known_any(xp, xp.equal(size, 0), wait=False):
        steps = (np.reciprocal, "reciprocal", size) if ord == -1 else (np.power, "power", size, ord)
        report(xp, *steps)
    dtype = xp.dtype_of(size)
    total = xp.add.reduce(xp.prim.astype(xp.power(size, ord), dtype), **where)
    root = 1 / ord if dtypes.is_bfloat16(dtype) else np.reciprocal(ord, dtype=dtype).item()
    return xp.power(total, root)


def _matrix_norm(xp: XP, x: Any, ord: Any, row: int, column: int) -> Any:
    if isinstance(ord, str) and ord not in ("fro", "f", "nuc"):
        raise ValueError("Invalid norm order for matrices.")
    if ord is None or ord in ("fro", "f"):
        return xp.sqrt(xp.add.reduce(squared(xp, x), axis=(row, column)))
    if ord in (2, -2, "nuc"):
        ndim = xp.ndim_of(x)
        rest = (i for i in range(ndim) if i not in (row, column))
        s = svd(xp, xp.prim.transpose(x, (*rest, row, column)), compute_uv=False)
        if ord == 2:
            return xp.maximum.reduce(s, axis=-1, initial=0)
        return xp.minimum.reduce(s, axis=-1) if ord == -2 else xp.add.reduce(s, axis=-1)
    if ord not in (1, -1, math.inf, -math.inf):
        raise ValueError("Invalid norm order for matrices.")
    summed, kept = (row, column) if abs(ord) == 1 else (column, row)
    sums = xp.add.reduce(xp.absolute(x), axis=summed)
    kept -= kept > summed
    return xp.maximum.reduce(sums, axis=kept, initial=0) if ord > 0 else xp.minimum.reduce(sums, axis=kept)


@scalars(np.linalg.matrix_norm)
def matrix_norm(xp: XP, x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """`numpy.linalg.matrix_norm`."""
    return norm(xp, x, ord, (-2, -1), keepdims)


@scalars(np.linalg.vector_norm, layout=layouts.normed)
def vector_norm(xp: XP, x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """`numpy.linalg.vector_norm`."""
    x = xp.asarray(x)
    shape = xp.shape_of(x)
    ndim = len(shape)
    over = axis
    if axis is None:
        x, over = xp.prim.reshape(x, (math.prod(shape),)), 0
    elif isinstance(axis, tuple):
        normal = normalize_axis_tuple(axis, ndim)
        rest = tuple(i for i in range(ndim) if i not in normal)
        x = xp.prim.transpose(x, normal + rest)
        x, over = xp.prim.reshape(x, (math.prod(shape[i] for i in normal), *(shape[i] for i in rest))), 0
    result = norm(xp, x, ord, over)
    if keepdims:
        gone = range(ndim) if axis is None else normalize_axis_tuple(axis, ndim)
        result = xp.prim.reshape(result, tuple(1 if i in gone else n for i, n in enumerate(shape)))
    return result


@scalars(np.linalg.cond, defined="conditioned")
def cond(xp: XP, x: Any, p: Any = None) -> Any:
    """`numpy.linalg.cond`."""
    x = xp.asarray(x)
    shape = xp.shape_of(x)
    if 0 in shape and 0 in shape[-2:]:
        raise LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        s = svd(xp, x, compute_uv=False)
        largest, smallest = element(xp, s, 0), element(xp, s, xp.shape_of(s)[-1] - 1)
        with np.errstate(all="ignore"):
            r = xp.divide(smallest, largest) if p == -2 else xp.divide(largest, smallest)
    else:
        check_square(shape)
        x, to = computable(xp, x)
        with np.errstate(all="ignore"):
            r = xp.multiply(norm(xp, x, p, (-2, -1)), norm(xp, _inverse_or_nan(xp, x), p, (-2, -1)))
        r = xp.prim.astype(r, real_of(to))
    # The condition number is infinite after 0/0 and for a singular matrix, and NaN only if the matrix contains NaN.
    mended = xp.logical_and(xp.isnan(r), xp.logical_not(xp.logical_or.reduce(xp.isnan(x), axis=(-2, -1))))
    return xp.prim.where(mended, filled(xp, (), math.inf, xp.dtype_of(r), r), r)


def _inverse_or_nan(xp: XP, a: Any) -> Any:
    """Invert the matrices of a stack; singular ones give NaN."""
    prim = xp.prim
    try:
        return prim.inv(a)
    except LinAlgError:
        shape = xp.shape_of(a)
        n = shape[-1]
        if math.prod(shape[:-2]) == 1:
            return filled(xp, shape, math.nan, xp.dtype_of(a), a)
        flat = prim.reshape(a, (math.prod(shape[:-2]), n, n))
        every = (slice(0, n, 1), slice(0, n, 1))
        each = [
            _inverse_or_nan(xp, prim.slice(flat, (slice(i, i + 1, 1), *every))) for i in range(xp.shape_of(flat)[0])
        ]
        return prim.reshape(prim.concatenate(each, 0), shape)


@scalars(np.linalg.matrix_rank, pure=False)
def matrix_rank(xp: XP, A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """`numpy.linalg.matrix_rank`."""
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    A = xp.asarray(A)
    shape = xp.shape_of(A)
    if len(shape) < 2:  # NumPy returns a Python int here
        return int(is_true(xp, xp.logical_or.reduce(xp.not_equal(A, 0), axis=None)))
    s = svd(xp, A, compute_uv=False, hermitian=hermitian)
    if tol is None:
        dtype = dtypes.widen_half(xp.dtype_of(s))
        rtol = max(shape[-2:]) * np.finfo(dtype).eps if rtol is None else _per_matrix(xp, rtol, s)
        tol = xp.multiply(xp.maximum.reduce(s, axis=-1, keepdims=True, initial=0), rtol)
    else:
        tol = _per_matrix(xp, tol, s)
    return xp.add.reduce(xp.prim.astype(xp.greater(s, tol), dtypes.INTP), axis=-1)


# -- products of matrices ------------------------------------------------------------------------------------------------


@matrices(
    np.linalg.matrix_power,
    layout=layouts.power,
    keeps=lambda made, a, n: itself(n == 1, made, a),
    error="sum",
    defined="conditioned",
)
def matrix_power(xp: XP, a: Any, n: Any) -> Any:
    """`numpy.linalg.matrix_power`."""
    a = xp.asarray(a)
    shape, dtype = xp.shape_of(a), xp.dtype_of(a)
    check_square(shape)
    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    if n == 0:
        return unshared(xp, identity(xp, shape, dtype, a))
    if n < 0:
        a, n = inv(xp, a), -n
    elif n == 1:
        return a
    power = result = None
    while n > 0:
        power = a if power is None else xp.prim.matmul(power, power)
        n, bit = divmod(n, 2)
        if bit:
            result = power if result is None else xp.prim.matmul(result, power)
    return result


@scalars(np.linalg.multi_dot, error="sum", sequence=True)
def multi_dot(xp: XP, arrays: Any) -> Any:
    """`numpy.linalg.multi_dot`."""
    n = len(arrays)
    if n < 2:
        raise ValueError("Expecting at least two arrays.")
    if n == 2:
        return xp.dot(arrays[0], arrays[1])
    like = next((x for x in arrays if xp.is_array(x)), None)
    factors = [xp.asarray(x, like=like) for x in arrays]
    first, last = xp.ndim_of(factors[0]) == 1, xp.ndim_of(factors[-1]) == 1
    if first:
        factors[0] = xp.prim.reshape(factors[0], (1, *xp.shape_of(factors[0])))
    if last:
        factors[-1] = xp.prim.reshape(factors[-1], (*xp.shape_of(factors[-1]), 1))
    check_2d(*(xp.shape_of(x) for x in factors))
    split = _chain_order([xp.shape_of(x)[0] for x in factors] + [xp.shape_of(factors[-1])[1]])

    result = _chain_product(xp, factors, split, 0, n - 1)
    rows, columns = xp.shape_of(result)
    if first and last:
        return xp.prim.reshape(result, ())
    return xp.prim.reshape(result, (rows * columns,)) if first or last else result


def _chain_product(xp: XP, factors: list[Any], split: dict[tuple[int, int], int], i: int, j: int) -> Any:
    """Multiply matrices i to j in the order of the splits."""
    if i == j:
        return factors[i]
    k = split[i, j]
    return xp.dot(_chain_product(xp, factors, split, i, k), _chain_product(xp, factors, split, k + 1, j))


def _chain_order(p: list[int]) -> dict[tuple[int, int], int]:
    """Find the cheapest order of a matrix chain (Cormen et al., 15.2): map (i, j) to the index after which to split.

    Matrix k has the shape (p[k], p[k + 1]).
    """
    n = len(p) - 1
    cost = {(i, i): 0 for i in range(n)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            costs = [cost[i, k] + cost[k + 1, j] + p[i] * p[k + 1] * p[j + 1] for k in range(i, j)]
            cost[i, j] = min(costs)
            split[i, j] = i + costs.index(cost[i, j])
    return split
