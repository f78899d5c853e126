"""``scipy.linalg``: structured matrices built from vectors, and equations with triangular matrices and stored factors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from ..common.signal_safety import imported
from ..common.user_warnings import warn
from ..functions.contractions import conjugate
from ..functions.factorizations import adjoint, identity, real_of
from ..functions.operands import swapped
from ..functions.registry import XP, family
from . import implements
from .linalg import cholesky, diagonal, matrix
from .operand_checks import array, checked, lapack, only

linear_algebra = family(implements, min_bits=32, in_place=True)


@linear_algebra("scipy.linalg.solve_triangular")
def solve_triangular(
    xp: XP, a: Any, b: Any, trans: Any = 0, lower: Any = False, unit_diagonal: Any = False, overwrite_b: Any = False,
    check_finite: Any = True,
) -> Any:  # fmt: skip
    a = checked(xp, a, check_finite)
    shape = xp.shape_of(a)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ValueError("expected square matrix")
    a, b = lapack(xp, a, checked(xp, b, check_finite, a))
    right = xp.shape_of(b)
    only(0 not in shape and 0 not in right and bool(right), "an empty system")
    if (right[0] if len(right) == 1 else right[-2]) != shape[-1]:
        raise ValueError(f"shapes of a {shape} and b {right} are incompatible")
    return _triangular(xp, a, b, bool(lower), {"N": 0, "T": 1, "C": 2}.get(trans, trans), bool(unit_diagonal))


def _triangular(xp: XP, a: Any, b: Any, lower: bool, trans: int, unit: bool = False) -> Any:
    n = xp.shape_of(a)[-1]
    a = xp.tril(a, -1 if unit else 0) if lower else xp.triu(a, 1 if unit else 0)
    if unit:
        a = xp.add(a, identity(xp, xp.shape_of(a), xp.dtype_of(a), a))
    elif xp.backend.is_concrete(a):
        zeros = np.argwhere(xp.backend.to_numpy(xp.equal(diagonal(xp, a), 0)))
        if zeros.size:
            raise LinAlgError(f"singular matrix: resolution failed at diagonal {int(zeros[0][-1])}")
    if trans:
        a, lower = (swapped(xp, a) if trans == 1 else adjoint(xp, a)), not lower
    vector = xp.ndim_of(b) == 1
    if vector:
        b = xp.prim.reshape(b, (n, 1))
    x = xp.prim.solve_triangular(a, b, lower)
    return xp.prim.reshape(x, xp.shape_of(x)[:-1]) if vector else x


@linear_algebra("scipy.linalg.cho_factor")
def cho_factor(xp: XP, a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    factor = cholesky(xp, a, lower, False, check_finite)
    (a,) = lapack(xp, xp.asarray(a))  # the other triangle stays, as LAPACK leaves it
    rest = xp.triu(a, 1) if lower else xp.tril(a, -1)
    batch = xp.shape_of(a)[:-2]
    if batch and xp.backend.is_concrete(factor):  # while a function is traced, the triangle stays known
        lower = xp.backend.from_numpy(np.full(batch, lower), xp.backend.device_of(factor))
    made = xp.add(factor, rest), lower
    return list(made) if batch else made  # as SciPy's loop over batches gives them


@linear_algebra("scipy.linalg.cho_solve")
def cho_solve(xp: XP, c_and_lower: Any, b: Any, overwrite_b: Any = False, check_finite: Any = True) -> Any:
    c, lower = c_and_lower
    if xp.is_array(lower):
        only(xp.backend.is_concrete(lower), "a triangle that is not known yet")
        lower = xp.backend.to_numpy(lower)
    lower = bool(np.asarray(lower).flat[0])  # the same for all of a batch
    c, b = lapack(xp, checked(xp, c, check_finite, b), checked(xp, b, check_finite, c))
    shape = xp.shape_of(c)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ValueError("The factored matrix c is not square.")
    column = xp.ndim_of(b) == 1
    rows = xp.shape_of(b)[0 if column else -2]
    if shape[-1] != rows:
        raise ValueError(f"incompatible dimensions ({shape} and {xp.shape_of(b)})")
    only(0 not in shape and 0 not in xp.shape_of(b), "an empty system")
    if column:
        b = xp.prim.reshape(b, (rows, 1))
    first, second = (0, 2) if lower else (2, 0)
    x = _triangular(xp, c, _triangular(xp, c, b, lower, first), lower, second)
    return xp.prim.reshape(x, xp.shape_of(x)[:-1]) if column else x


def _factored(xp: XP, a: Any, check_finite: Any) -> tuple[Any, Any]:
    a = matrix(xp, a, check_finite)
    only(xp.shape_of(a)[-1] == xp.shape_of(a)[-2], "the matrix is not square")
    return xp.prim.lu(a)


def _pivots(order: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the successive row exchanges, along the last axis, that produce an order."""
    made = np.empty(order.shape, np.int32)
    for at in np.ndindex(order.shape[:-1]):
        rows = list(range(order.shape[-1]))
        for k, row in enumerate(order[at].tolist()):
            j = rows.index(row, k)
            rows[k], rows[j] = rows[j], rows[k]
            made[(*at, k)] = j
    return made


def _order(pivots: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the order, along the last axis, that row exchanges produce."""
    made = np.empty(pivots.shape, np.int64)
    for at in np.ndindex(pivots.shape[:-1]):
        rows = list(range(pivots.shape[-1]))
        for k, j in enumerate(pivots[at].tolist()):
            rows[k], rows[j] = rows[j], rows[k]
        made[at] = rows
    return made


def _rows(xp: XP, x: Any, order: Any) -> Any:
    """Permute the rows of each matrix by its own order."""
    return xp.take_along_axis(x, xp.prim.reshape(order, (*xp.shape_of(order), 1)), -2)


@linear_algebra("scipy.linalg.lu_factor")
def lu_factor(xp: XP, a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    imported("scipy.linalg")
    from scipy.linalg import LinAlgWarning

    factors, order = _factored(xp, a, check_finite)
    only(xp.backend.is_concrete(order), "exchanges of rows that are not known yet")
    zeros = xp.backend.to_numpy(xp.equal(diagonal(xp, factors), 0))
    for at in np.argwhere(zeros.any(axis=-1)):
        first = zeros[tuple(at)].argmax()
        warn(f"Diagonal number {first + 1} is exactly zero. Singular matrix.", LinAlgWarning)
    return factors, xp.backend.from_numpy(_pivots(xp.backend.to_numpy(order)), xp.backend.device_of(factors))


@linear_algebra("scipy.linalg.lu_solve")
def lu_solve(
    xp: XP, lu_and_piv: Any, b: Any, trans: Any = 0, overwrite_b: Any = False, check_finite: Any = True
) -> Any:
    factors, pivots = lu_and_piv
    factors, b = lapack(xp, checked(xp, factors, check_finite, b), checked(xp, b, check_finite, factors))
    shape, right = xp.shape_of(factors), xp.shape_of(b)
    only(
        shape[-2:] == shape[-1:] * 2 and 0 not in shape and 0 not in right,
        "an empty system, or factors that are not square",
    )
    only(len(right) > 0 and trans in (0, 1, 2), "no right-hand side")
    column = len(right) == 1
    if shape[-1] != (right[0] if column else right[-2]):
        raise ValueError(f"Shapes of lu {shape} and b {right} are incompatible")
    if xp.is_array(pivots):
        only(xp.backend.is_concrete(pivots), "exchanges of rows that are not known yet")
        pivots = xp.backend.to_numpy(pivots)
    order = _order(np.asarray(pivots))
    lead = np.broadcast_shapes(shape[:-2], order.shape[:-1], () if column else right[:-2])
    order = np.broadcast_to(order, (*lead, shape[-1]))
    factors = xp.prim.broadcast_to(factors, (*lead, *shape[-2:]))
    x = xp.prim.reshape(b, (*right, 1)) if column else b
    x = xp.prim.broadcast_to(x, (*lead, *xp.shape_of(x)[-2:]))
    device = xp.backend.device_of(x)
    lower = xp.add(xp.tril(factors, -1), identity(xp, shape[-2:], xp.dtype_of(factors), factors))
    upper = xp.triu(factors)
    if trans:
        turned = swapped if trans == 1 else adjoint
        x = xp.prim.solve_triangular(turned(xp, upper), x, True)
        x = xp.prim.solve_triangular(turned(xp, lower), x, False)
        x = _rows(xp, x, xp.backend.from_numpy(np.argsort(order, axis=-1), device))
    else:
        x = _rows(xp, x, xp.backend.from_numpy(np.ascontiguousarray(order), device))
        x = xp.prim.solve_triangular(upper, xp.prim.solve_triangular(lower, x, True), False)
    return xp.prim.reshape(x, xp.shape_of(x)[:-1]) if column else x


@linear_algebra("scipy.linalg.lu")
def lu(
    xp: XP, a: Any, permute_l: Any = False, overwrite_a: Any = False, check_finite: Any = True, p_indices: Any = False
) -> Any:
    factors, order = _factored(xp, a, check_finite)
    shape = xp.shape_of(factors)[-2:]
    eye = identity(xp, shape, xp.dtype_of(factors), factors)
    lower, upper = xp.add(xp.tril(factors, -1), eye), xp.triu(factors)
    place = xp.prim.argsort(order, xp.ndim_of(order) - 1)
    if permute_l:
        return _rows(xp, lower, place), upper
    if p_indices:
        return xp.prim.astype(place, np.dtype(np.int32 if shape[0] > 1 else np.int64)), lower, upper
    # For a single number SciPy keeps the dtype.
    kept = xp.dtype_of(factors) if shape[0] == 1 else real_of(xp.dtype_of(factors))
    real = identity(xp, shape, kept, factors)
    return xp.prim.take(real, place, 0), lower, upper


# -- matrices built from vectors ---------------------------------------------------------------------------------------


def _vector(xp: XP, a: Any) -> Any:
    a = array(xp, a)
    if not xp.shape_of(a):
        a = xp.prim.reshape(a, (1,))
    only(xp.ndim_of(a) == 1 and 0 not in xp.shape_of(a), "a batch of this function, or nothing")
    return a


@implements("scipy.linalg.toeplitz")
def toeplitz(xp: XP, c: Any, r: Any = None) -> Any:
    c = array(xp, c, r)
    c = _vector(xp, c)
    r = conjugate(xp, c) if r is None else _vector(xp, array(xp, r, c))
    rows, columns = xp.shape_of(c)[0], xp.shape_of(r)[0]
    values = xp.concatenate([xp.prim.flip(c, (0,)), xp.prim.slice(r, (slice(1, columns, 1),))])
    places = (rows - 1) - np.arange(rows)[:, None] + np.arange(columns)[None, :]
    return xp.prim.take(values, xp.backend.from_numpy(places, xp.backend.device_of(values)), 0)


@implements("scipy.linalg.block_diag")
def block_diag(xp: XP, *arrs: Any) -> Any:
    like = next((x for x in arrs if xp.is_array(x)), None)
    blocks = [xp.atleast_2d(array(xp, x, like)) for x in arrs]
    only(all(xp.ndim_of(b) == 2 for b in blocks), "a batch of this function")
    to = np.result_type(*[xp.dtype_of(b) for b in blocks])
    width = sum(xp.shape_of(b)[1] for b in blocks)
    rows, at = [], 0
    for b in blocks:
        columns = xp.shape_of(b)[1]
        zero = to.type(0).item()
        rows.append(xp.prim.pad(xp.prim.astype(b, to), [(0, 0), (at, width - at - columns)], zero))
        at += columns
    return xp.prim.concatenate(rows, 0)
