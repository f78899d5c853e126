"""``scipy.linalg``: SciPy's checks, dtypes and results over the factorizations of ``np.linalg``."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from ..common.signal_safety import imported
from ..common.user_warnings import warn
from ..functions import factorizations, linalg as numpys
from ..functions.factorizations import adjoint, identity, real_of
from ..functions.operands import along, filled, swapped
from ..functions.registry import XP, family
from ..runtime import dtypes
from . import implements
from .operand_checks import array, checked, floats, lapack, number, only

_SINGULAR = "A singular matrix detected: slice(s) [0] are singular."

linear_algebra = family(implements, min_bits=32, in_place=True)


def _square(xp: XP, a: Any, check_finite: bool = True) -> Any:
    a = checked(xp, a, check_finite)
    shape = xp.shape_of(a)
    if len(shape) < 2:
        raise ValueError(f"Expected at least ndim=2, got a1.ndim={len(shape)}")
    if shape[-1] != shape[-2]:
        raise ValueError(f"Expected square matrix, got a1.shape={shape}")
    return a


def matrix(xp: XP, a: Any, check_finite: bool = True, batches: bool = True) -> Any:
    (a,) = lapack(xp, checked(xp, a, check_finite))
    only(xp.ndim_of(a) == 2 or (batches and xp.ndim_of(a) > 2), "a batch of this function, or no matrix")
    only(0 not in xp.shape_of(a), "an empty matrix")
    return a


def _norm1(xp: XP, a: Any) -> Any:
    return xp.maximum.reduce(xp.add.reduce(xp.absolute(a), axis=-2), axis=-1, initial=0)


def _warn_of_condition(xp: XP, a: Any, inverse: Any) -> None:
    """Issue SciPy's warning if ``inverse``, the inverse of ``a``, is concrete and has few correct digits."""
    imported("scipy.linalg")
    from scipy.linalg import LinAlgWarning

    if not xp.backend.is_concrete(inverse):
        return
    eps = np.finfo(xp.dtype_of(a)).eps
    condition = xp.backend.to_numpy(xp.multiply(_norm1(xp, a), _norm1(xp, inverse)))
    if not np.all(condition * eps < 1):
        worst = 1 / np.max(condition)
        warn(f"An ill-conditioned matrix detected: rcond = {worst:.6g}.", LinAlgWarning)


# -- equations -----------------------------------------------------------------------------------------------------------


@linear_algebra("scipy.linalg.inv", defined="conditioned")
def inv(
    xp: XP, a: Any, overwrite_a: Any = False, check_finite: Any = True, *, assume_a: Any = None, lower: Any = False
) -> Any:
    only(assume_a in (None, "general", "gen"), "the structure of the matrix is given")
    (a,) = lapack(xp, _square(xp, a, check_finite))
    if 0 in xp.shape_of(a):
        return a
    made = None
    with suppress(LinAlgError):
        made = xp.prim.inv(a)
    if made is None:  # outside `except`, so that SciPy's error has no context of ours
        raise LinAlgError(_SINGULAR)
    _warn_of_condition(xp, a, made)
    return made


@linear_algebra("scipy.linalg.solve", defined="conditioned")
def solve(
    xp: XP, a: Any, b: Any, lower: Any = False, overwrite_a: Any = False, overwrite_b: Any = False,
    check_finite: Any = True, assume_a: Any = None, transposed: Any = False,
) -> Any:  # fmt: skip
    only(assume_a in (None, "general", "gen"), "the structure of the matrix is given")
    a = array(xp, a, b)
    only(xp.ndim_of(a) > 0, "a matrix of no axes")
    a = _square(xp, a, check_finite)
    a, b = floats(xp, a, checked(xp, b, check_finite, a))
    left, right = xp.shape_of(a), xp.shape_of(b)
    only(0 not in left and 0 not in right and bool(right), "an empty system")
    if (right[0] if len(right) == 1 else right[-2]) != left[-1]:
        only(left != (1, 1), "a matrix of one element, for an equation in each row")
        raise ValueError(
            f"incompatible shapes: a1.shape={left} and b1.shape={right if len(right) > 1 else (*right, 1)}"
        )
    if transposed:
        only(xp.dtype_of(a).kind != "c", "the transposed system is complex")
        a = swapped(xp, a)
    x = None
    with suppress(LinAlgError):
        x = numpys.solve(xp, a, b)
    if x is None:
        raise LinAlgError(_SINGULAR)
    # |A^-1| is at least |x| / |b|: the inverse is computed only if this bound indicates a loss of digits.
    if xp.backend.is_concrete(x):
        eps, n = np.finfo(xp.dtype_of(a)).eps, left[-1]
        size = [xp.backend.to_numpy(xp.maximum.reduce(xp.absolute(v), axis=None)) for v in (a, x, b)]
        if not size[0] * size[1] * eps * n * n * 1e3 < size[2]:
            _warn_of_condition(xp, a, xp.prim.inv(a))
    return x


def diagonal(xp: XP, a: Any) -> Any:
    return xp.diagonal(a, axis1=-2, axis2=-1)


@linear_algebra("scipy.linalg.det", defined="conditioned", returns="scalar")
def det(xp: XP, a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    a = checked(xp, a, check_finite)
    shape = xp.shape_of(a)
    if len(shape) < 2:
        raise ValueError("The input array must be at least two-dimensional.")
    if shape[-1] != shape[-2]:
        raise ValueError(f"Last 2 dimensions of the array must be square but received shape {shape}.")
    (a,) = lapack(xp, a)
    to = dtypes.COMPLEX128 if xp.dtype_of(a).kind == "c" else dtypes.FLOAT64
    if 0 in shape:
        return filled(xp, shape[:-2], 1, to, a)
    return xp.prim.astype(xp.prim.det(xp.prim.astype(a, to)), to)


@linear_algebra("scipy.linalg.lstsq", pure=False, defined="conditioned", returns="scalar")
def lstsq(
    xp: XP, a: Any, b: Any, cond: Any = None, overwrite_a: Any = False, overwrite_b: Any = False,
    check_finite: Any = True, lapack_driver: Any = None,
) -> Any:  # fmt: skip
    only(lapack_driver in (None, "gelsd", "gelss"), "another driver of LAPACK's")
    a, b = lapack(xp, checked(xp, a, check_finite), checked(xp, b, check_finite, a))
    only(xp.ndim_of(a) == 2 and xp.ndim_of(b) in (1, 2), "a batch of this function")
    m, n = xp.shape_of(a)
    if m != xp.shape_of(b)[0]:
        raise ValueError(f"Shape mismatch: a and b should have the same number of rows ({m} != {xp.shape_of(b)[0]}).")
    only(m > 0 and n > 0 and 0 not in xp.shape_of(b), "an empty system")
    rcond = np.finfo(xp.dtype_of(a)).eps if cond is None else cond
    x, residuals, rank, s = numpys.lstsq(xp, a, b, rcond)
    if 0 in xp.shape_of(residuals):
        residuals = xp.prim.astype(residuals, xp.dtype_of(x))
    elif xp.ndim_of(b) == 1 and xp.shape_of(residuals) == (1,):
        residuals = xp.prim.reshape(residuals, ())
    return x, residuals, int(rank), s


@linear_algebra("scipy.linalg.pinv", pure=False, defined="conditioned", returns="scalar")
def pinv(
    xp: XP, a: Any, *, atol: Any = None, rtol: Any = None, return_rank: Any = False, check_finite: Any = True
) -> Any:
    a = matrix(xp, a, check_finite, batches=False)
    u, s, vh = xp.prim.svd(a, False)
    return _pseudo_inverse(xp, a, u, s, vh, atol, rtol, return_rank)


@linear_algebra("scipy.linalg.pinvh", pure=False, returns="scalar")
def pinvh(
    xp: XP, a: Any, atol: Any = None, rtol: Any = None, lower: Any = True, return_rank: Any = False,
    check_finite: Any = True,
) -> Any:  # fmt: skip
    a = matrix(xp, _square(xp, a, check_finite), False, batches=False)
    w, v = xp.prim.eigh(a, bool(lower))
    signs = xp.prim.astype(xp.sign(w), xp.dtype_of(v))
    return _pseudo_inverse(xp, a, xp.multiply(v, signs), xp.absolute(w), adjoint(xp, v), atol, rtol, return_rank)


def _pseudo_inverse(xp: XP, a: Any, u: Any, s: Any, vh: Any, atol: Any, rtol: Any, return_rank: Any) -> Any:
    atol = 0.0 if atol is None else atol
    rtol = max(xp.shape_of(a)) * np.finfo(xp.dtype_of(a)).eps if rtol is None else rtol
    if atol < 0 or rtol < 0:
        raise ValueError("atol and rtol values must be positive.")
    large = xp.greater(s, xp.add(xp.multiply(xp.maximum.reduce(s, axis=-1, initial=0), rtol), atol))
    one = filled(xp, (), 1, xp.dtype_of(s), s)
    scale = xp.divide(xp.prim.astype(large, xp.dtype_of(s)), xp.prim.where(large, s, one))
    made = xp.prim.matmul(
        adjoint(xp, vh), xp.multiply(adjoint(xp, u), xp.prim.reshape(scale, (*xp.shape_of(scale), 1)))
    )
    made = xp.prim.astype(made, xp.dtype_of(a))
    return (made, np.int64(xp.backend.to_numpy(xp.add.reduce(large, axis=None)))) if return_rank else made


# -- factorizations ------------------------------------------------------------------------------------------------------


@linear_algebra("scipy.linalg.cholesky")
def cholesky(xp: XP, a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    a = matrix(xp, a, check_finite)
    shape = xp.shape_of(a)
    if shape[-1] != shape[-2]:
        raise ValueError(f"Input array is expected to be square but has the shape: {shape}.")
    try:
        factor = xp.prim.cholesky(a if lower else adjoint(xp, a))
    except LinAlgError:
        factor = None
    if factor is None:  # SciPy's error names the minor that is not positive definite
        imported("scipy.linalg")
        from scipy import linalg

        return xp.backend.from_numpy(linalg.cholesky(xp.backend.to_numpy(a), lower), xp.backend.device_of(a))
    return factor if lower else adjoint(xp, factor)


@linear_algebra("scipy.linalg.qr", defined="SciPy's qr")
def qr(
    xp: XP, a: Any, overwrite_a: Any = False, lwork: Any = None, mode: Any = "full", pivoting: Any = False,
    check_finite: Any = True,
) -> Any:  # fmt: skip
    if mode not in ("full", "qr", "r", "economic", "raw"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic', 'raw']")
    only(mode != "raw" and not pivoting, "reflectors or pivots are asked for")
    a = matrix(xp, a, check_finite)
    q, r = xp.prim.qr(a, mode != "economic")
    return (r,) if mode == "r" else (q, r)


_LAPACK_INDICES = (1 << 31) - 1
"""Maximum number of elements for which SciPy computes singular vectors; for more a library would need 16 GiB."""


@linear_algebra("scipy.linalg.svd", defined="svd")
def svd(
    xp: XP, a: Any, full_matrices: Any = True, compute_uv: Any = True, overwrite_a: Any = False,
    check_finite: Any = True, lapack_driver: Any = "gesdd",
) -> Any:  # fmt: skip
    if not isinstance(lapack_driver, str):
        raise TypeError("lapack_driver must be a string")
    if lapack_driver not in ("gesdd", "gesvd"):
        raise ValueError(f'lapack_driver must be "gesdd" or "gesvd", not "{lapack_driver}"')
    a = matrix(xp, a, check_finite)
    if not compute_uv:
        return xp.prim.svdvals(a)
    short, long = sorted(xp.shape_of(a)[-2:])
    size = long, long if full_matrices else short
    if size[0] * size[1] > _LAPACK_INDICES:
        raise ValueError(
            f"Indexing a matrix size {size[0]} x {size[1]} would incur integer overflow in LAPACK. Try using numpy.linalg.svd instead."
        )
    return xp.prim.svd(a, bool(full_matrices))


@linear_algebra("scipy.linalg.svdvals")
def svdvals(xp: XP, a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    return xp.prim.svdvals(matrix(xp, a, check_finite))


def _symmetric(xp: XP, a: Any, b: Any, check_finite: Any, kind: int, *subsets: Any) -> Any:
    only(b is None and kind == 1 and all(x is None for x in subsets), "a general problem, a part of it or a driver")
    a = matrix(xp, a, check_finite)
    if xp.shape_of(a)[-1] != xp.shape_of(a)[-2]:
        raise ValueError('expected square "a" matrix')
    return a


@linear_algebra("scipy.linalg.eigh", defined="SciPy's eigh")
def eigh(
    xp: XP, a: Any, b: Any = None, *, lower: Any = True, eigvals_only: Any = False, overwrite_a: Any = False,
    overwrite_b: Any = False, type: Any = 1, check_finite: Any = True, subset_by_index: Any = None,
    subset_by_value: Any = None, driver: Any = None,
) -> Any:  # fmt: skip
    a = _symmetric(xp, a, b, check_finite, type, subset_by_index, subset_by_value, driver)
    return xp.prim.eigvalsh(a, bool(lower)) if eigvals_only else xp.prim.eigh(a, bool(lower))


@linear_algebra("scipy.linalg.eigvalsh")
def eigvalsh(
    xp: XP, a: Any, b: Any = None, *, lower: Any = True, overwrite_a: Any = False, overwrite_b: Any = False,
    type: Any = 1, check_finite: Any = True, subset_by_index: Any = None, subset_by_value: Any = None, driver: Any = None,
) -> Any:  # fmt: skip
    return xp.prim.eigvalsh(
        _symmetric(xp, a, b, check_finite, type, subset_by_index, subset_by_value, driver), bool(lower)
    )


@linear_algebra("scipy.linalg.eig", pure=False, defined="SciPy's eig")
def eig(
    xp: XP, a: Any, b: Any = None, left: Any = False, right: Any = True, overwrite_a: Any = False,
    overwrite_b: Any = False, check_finite: Any = True, homogeneous_eigvals: Any = False,
) -> Any:  # fmt: skip
    only(b is None and not left and not homogeneous_eigvals, "a general problem, or left vectors")
    if not right:
        return eigvals(xp, a, check_finite=check_finite)
    a = matrix(xp, a, check_finite, batches=False)
    if xp.shape_of(a)[0] != xp.shape_of(a)[1]:
        raise ValueError("expected square matrix")
    w, v = factorizations.eig(xp, a)
    return xp.prim.astype(w, factorizations.complex_of(xp.dtype_of(w))), v


@linear_algebra("scipy.linalg.eigvals")
def eigvals(
    xp: XP, a: Any, b: Any = None, overwrite_a: Any = False, check_finite: Any = True, homogeneous_eigvals: Any = False
) -> Any:
    only(b is None and not homogeneous_eigvals, "a general problem")
    a = matrix(xp, a, check_finite)
    if xp.shape_of(a)[-1] != xp.shape_of(a)[-2]:
        raise ValueError("expected square matrix")
    return xp.prim.eigvals(a)


@linear_algebra("scipy.linalg.polar", defined="conditioned")
def polar(xp: XP, a: Any, side: Any = "right") -> Any:
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    a = matrix(xp, a, False)
    w, s, vh = xp.prim.svd(a, False)
    s = xp.prim.astype(s, xp.dtype_of(a))
    row = xp.prim.reshape(s, (*xp.shape_of(s)[:-1], 1, xp.shape_of(s)[-1]))
    side_of = adjoint(xp, vh) if side == "right" else w
    return xp.prim.matmul(w, vh), xp.prim.matmul(xp.multiply(side_of, row), adjoint(xp, side_of))


@linear_algebra("scipy.linalg.orthogonal_procrustes", defined="conditioned", returns="scalar")
def orthogonal_procrustes(xp: XP, A: Any, B: Any, check_finite: Any = True) -> Any:
    a, b = lapack(xp, checked(xp, A, check_finite, B), checked(xp, B, check_finite, A))
    only(max(xp.ndim_of(a), xp.ndim_of(b)) < 3, "a batch of this function")
    if xp.ndim_of(a) != 2:
        raise ValueError(f"expected ndim to be 2, but observed {xp.ndim_of(a)}")
    if xp.shape_of(a) != xp.shape_of(b):
        raise ValueError(f"the shapes of A and B differ ({xp.shape_of(a)} vs {xp.shape_of(b)})")
    only(0 not in xp.shape_of(a) and xp.dtype_of(a).kind == "f", "complex or empty matrices")
    u, s, vh = xp.prim.svd(xp.prim.matmul(swapped(xp, a), b), False)
    return xp.prim.matmul(u, vh), xp.add.reduce(s, axis=None)


def _rank(xp: XP, a: Any, s: Any, rcond: Any) -> int:
    rcond = np.finfo(xp.dtype_of(s)).eps * max(xp.shape_of(a)) if rcond is None else rcond
    host = xp.backend.to_numpy(s)
    return int(np.sum(host > np.max(host, initial=0.0) * rcond, dtype=int))


@linear_algebra("scipy.linalg.orth", pure=False, defined="basis")
def orth(xp: XP, A: Any, rcond: Any = None) -> Any:
    a = matrix(xp, A, batches=False)
    u, s, _ = xp.prim.svd(a, False)
    return along(xp, u, 1, 0, _rank(xp, a, s, rcond))


@linear_algebra("scipy.linalg.null_space", pure=False, defined="basis")
def null_space(
    xp: XP, A: Any, rcond: Any = None, *, overwrite_a: Any = False, check_finite: Any = True,
    lapack_driver: Any = "gesdd",
) -> Any:  # fmt: skip
    a = matrix(xp, A, check_finite, batches=False)
    _, s, vh = xp.prim.svd(a, True)
    return adjoint(xp, along(xp, vh, 0, _rank(xp, a, s, rcond), xp.shape_of(vh)[0]))


@linear_algebra("scipy.linalg.norm", returns="scalar")
def norm(xp: XP, a: Any, ord: Any = None, axis: Any = None, keepdims: Any = False, check_finite: Any = True) -> Any:
    a = checked(xp, a, check_finite)
    only(0 not in xp.shape_of(a), "an empty array")
    halves = xp.dtype_of(a) == dtypes.FLOAT16
    if halves:
        matrices = (axis is None and xp.ndim_of(a) == 2) or (np.iterable(axis) and len(axis) == 2)  # type: ignore[arg-type]
        if matrices and ord in (2, -2, "nuc"):
            raise TypeError("array type float16 is unsupported in linalg")
        a = xp.prim.astype(a, dtypes.FLOAT32)
    made, ndim = numpys.norm(xp, a, ord, axis, keepdims), xp.ndim_of(a)
    if halves:
        return xp.prim.astype(made, dtypes.FLOAT16)
    known = (ndim == 1 and ord in (None, 2)) or (ndim == 2 and ord in (1, np.inf))  # these use BLAS or LAPACK
    given = axis is not None or keepdims or not dtypes.is_floating(xp.dtype_of(a))
    return number(xp, made) if known and not given else made


# -- functions of matrices -------------------------------------------------------------------------------------------------

_PADE = [
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
    670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
]  # fmt: skip
"""Coefficients of the Padé approximant of order 13, for matrices of a norm up to :data:`_LARGEST`."""
_LARGEST = 4.25
_UNKNOWN = 24
"""Number of squarings if the norm is not known yet."""


@linear_algebra("scipy.linalg.expm")
def expm(xp: XP, A: Any) -> Any:
    a = xp.asarray(A)
    shape = xp.shape_of(a)
    if len(shape) < 2:
        raise LinAlgError("The input array must be at least two-dimensional")
    if shape[-1] != shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    (a,) = floats(xp, a)
    if 0 in shape:
        return a
    dtype, real = xp.dtype_of(a), real_of(xp.dtype_of(a))
    size = _norm1(xp, a)
    steps = xp.maximum(xp.ceil(xp.log2(xp.divide(xp.maximum(size, np.finfo(real).tiny), _LARGEST))), 0)
    known = xp.backend.is_concrete(a)
    most = xp.backend.to_numpy(xp.maximum.reduce(steps, axis=None)) if known else _UNKNOWN
    most = int(most) if np.isfinite(most) else 0
    steps = xp.prim.reshape(xp.prim.astype(steps, real), (*xp.shape_of(steps), 1, 1))
    a = xp.multiply(a, xp.prim.astype(xp.exp2(xp.negative(steps)), dtype))
    eye = identity(xp, shape, dtype, a)
    a2 = xp.prim.matmul(a, a)
    a4 = xp.prim.matmul(a2, a2)
    a6 = xp.prim.matmul(a4, a2)

    def even(*b: float) -> Any:
        terms = [xp.multiply(m, c) for m, c in zip((a6, a4, a2, eye), b, strict=False)]
        return xp.add(xp.add(terms[0], terms[1]), xp.add(terms[2], terms[3]) if len(terms) == 4 else terms[2])

    b = _PADE
    u = xp.prim.matmul(a, xp.add(xp.prim.matmul(a6, even(b[13], b[11], b[9])), even(b[7], b[5], b[3], b[1])))
    v = xp.add(xp.prim.matmul(a6, even(b[12], b[10], b[8])), even(b[6], b[4], b[2], b[0]))
    r = xp.prim.solve(xp.subtract(v, u), xp.add(v, u))
    for k in range(most):
        squared = xp.prim.matmul(r, r)
        one = math.prod(shape[:-2]) == 1 and known
        r = squared if one else xp.where(xp.greater(steps, k), squared, r)
    return xp.prim.astype(r, dtype)
