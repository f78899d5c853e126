"""How near a result must be to NumPy's: limits that hold whichever kernels a processor makes the libraries choose.

NumPy rounds otherwise with OpenBLAS's kernels for another processor, torch with MKL's, XLA with other vector instructions;
none of them is more right than the others. So nothing here was measured on one of them (what was is in
``functions/accuracy.json``, and is an observation). A floating result is held to one of two promises.

*Bits*: arithmetic that IEEE 754 determines, and what only compares, chooses, moves or converts. No difference at all.

*Rounding*: whatever :data:`ROUNDED` names. The result lies within

    UNITS · n + MOVES · movement

units in the last place of NumPy's, where ``movement`` is how far NumPy's own result moves when the last bits of the operands
change: what no algorithm on numbers of that length could know. ``n`` is the longest axis of the operands for what factorizes
matrices, so that these are held to their backward error (of what their factors give when multiplied together) in multiples of
n · eps · norm, and 1 for everything else. The unit is that of the largest element of the result, or for ufuncs of the element.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

UNITS = 4
"""What two good implementations of one function are apart at most: either may err by two units."""
MOVES = 4
"""What an order of operations may cost, beside what the last bits of the operands do: of 40,000 calls on three libraries, with
and without AVX2 and AVX-512, one needed more than 2."""

_MATRICES = frozenset(
    """cholesky qr svd svdvals eig eigh eigvals eigvalsh inv det slogdet solve lstsq pinv cond norm matrix_norm matrix_power
    tensorsolve tensorinv poly polyfit roots""".split()
)
_POINTWISE = frozenset(
    """exp exp2 expm1 log log2 log10 log1p logn logaddexp logaddexp2 sin cos tan sinh cosh tanh arcsin asin arccos acos arctan atan
    arctan2 atan2 arcsinh asinh arccosh acosh arctanh atanh hypot cbrt power pow float_power sinc i0 angle""".split()
)
ROUNDED = (
    _MATRICES
    | _POINTWISE
    | frozenset(
        """kaiser hanning hamming blackman bartlett
    sum nansum mean nanmean average var std nanvar nanstd cumsum nancumsum cumulative_sum prod nanprod cumprod nancumprod
    cumulative_prod trace trapezoid gradient cov corrcoef quantile percentile nanquantile nanpercentile interp
    dot vdot inner vecdot matvec vecmat matmul tensordot einsum convolve correlate cross multi_dot vector_norm
    linspace geomspace logspace histogram histogram2d histogramdd histogram_bin_edges linear_ramp
    fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft
    polymul polydiv polyval vander polyvalfromroots polyval2d polyval3d polygrid2d polygrid3d""".split()
    )
)
"""Functions and methods, without their modules, whose results are rounded in more than one way; so is all that is computed of
complex numbers, and what reduces by, or repeats, arithmetic (``np.add.reduce``, ``np.multiply.at``)."""

_SERIES = re.compile(r"(cheb|leg|herm|herme|lag|poly)(val|grid|vander)\w*")
_REPEATED = frozenset({"reduce", "reduceat", "accumulate", "at"})
_UNROUNDED = frozenset(
    """maximum minimum fmax fmin logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor equal not_equal less
    less_equal greater greater_equal gcd lcm left_shift right_shift""".split()
)
_COMPLEX = frozenset(
    """multiply divide true_divide square reciprocal sqrt sign abs absolute outer kron nan_to_num unwrap median nanmedian
    apply_along_axis piecewise round around""".split()
)
WIDER: dict[str, tuple[float, str]] = {
    "logaddexp": (16, "the larger operand's last bit counts, whose unit is larger than that of a result near zero"),
    "logaddexp2": (16, "the larger operand's last bit counts, whose unit is larger than that of a result near zero"),
    "tanh": (8, "XLA's and Eigen's are rational functions in float32 and float64, good to 5 units"),
}
"""Function -> units, why."""

ON_LIBRARY: dict[str, dict[str, str]] = {
    "torch": {"sqrt": 'MKL\'s root errs by one unit now and then, which is left to it under `execution="eager"`'},
}
"""Backend -> name or operator -> why bits that IEEE 754 determines are other ones there."""


def _names(call: str) -> set[str]:
    return set(
        re.findall(r"[A-Za-z_]\w*", re.sub(r"\bnp\.(?:(?:linalg|fft|lib|polynomial|scimath|emath)\.)+", "", call))
    )


def of_matrices(call: str) -> bool:
    """Whether a call factorizes matrices, by what it names."""
    return bool(_names(call) & _MATRICES)


def moves(call: str, operands: Sequence[Array]) -> bool:
    """Whether the last bits of the operands count: not for real functions of one element, which are to be right for just that."""
    names = _names(call)
    of_elements = names & ROUNDED and names & ROUNDED <= _POINTWISE and not names & _REPEATED
    return not of_elements or any(x.dtype.kind == "c" for x in operands)


def units(call: str, operands: Sequence[Array], backend: str = "") -> float:
    """The units of a call's result that rounding may cost before the operands count; 0 where the bits are promised.

    Parameters
    ----------
    call : str
        An expression.
    operands : sequence of ndarray
        The arrays in it.
    backend : str
        The library.
    """
    names = _names(call)
    found = names & ROUNDED
    widest = max((WIDER[name][0] for name in found & WIDER.keys()), default=float(UNITS))
    if found & _MATRICES:
        return widest * max((max(x.shape, default=1) for x in operands), default=1)
    if found or re.search(r"\*\*|@", call) or any(map(_SERIES.fullmatch, names)):
        return widest
    if names & _REPEATED and not names & _UNROUNDED:
        return widest
    if any(x.dtype.kind == "c" for x in operands) and (names & _COMPLEX or re.search(r"[*/]", call)):
        return widest
    if any(name in names or (not name.isidentifier() and name in call) for name in ON_LIBRARY.get(backend, ())):
        return widest
    return 0.0


# -- distances -----------------------------------------------------------------------------------------------------------


def apart(got: Array, want: Array, elementwise: bool) -> Array:
    """The distance of each element in units in the last place of NumPy's value; infinite where one is NaN or infinite.

    The unit of a complex number is that of its larger part. Subnormal numbers are as good as zeros: XLA and TensorFlow
    flush them on the CPU (the page on accuracy says where).
    """
    if want.dtype.kind == "c":
        neither = ~(np.isnan(got) & np.isnan(want))  # a complex number is NaN if either part is
        if not elementwise:  # and infinite if either part is, whatever the order of its products made of the other
            neither &= ~(np.isinf(got) & np.isinf(want))
        got, want = (np.where(neither, x, 0).astype(x.dtype) for x in (got, want))
        got, want = (x.view(x.real.dtype).reshape(*x.shape, 2) for x in map(np.ascontiguousarray, (got, want)))
        sizes = np.max(np.abs(want), axis=-1, keepdims=True, initial=0.0)
        return _apart(got, want, sizes if elementwise else None).max(axis=-1, initial=0.0)
    return _apart(got, want, np.abs(want) if elementwise else None)


def _apart(got: Array, want: Array, sizes: Array | None) -> Array:
    limits = np.finfo(want.dtype)
    with np.errstate(all="ignore"):
        finite = np.isfinite(want)
        if sizes is None:
            sizes = np.max(np.abs(want), initial=0.0, where=finite)
        unit = np.spacing(np.where(np.isfinite(sizes), sizes, np.abs(want))).astype(np.float64)
        low, high = (np.where(np.abs(x) < limits.tiny, 0, x).astype(np.float64) for x in (got, want))
        far = np.abs(low - high) / np.maximum(unit, float(limits.smallest_subnormal))
    same = (low == high) | (np.isnan(low) & np.isnan(high))
    return np.where(same, 0.0, np.where(np.isfinite(got) & finite, far, np.inf))


def leaves(result: Any) -> list[Array]:
    """The floating arrays and scalars of a result of NumPy's, in their order."""
    if isinstance(result, tuple | list):
        return [leaf for part in result for leaf in leaves(part)]
    if isinstance(result, np.ndarray | np.generic) and result.dtype.kind in "fc":
        return [np.asarray(result)]
    return []


# -- movement ------------------------------------------------------------------------------------------------------------

_DRAWS = 3


def _nudged(x: Array, dtype: np.dtype[Any], rng: np.random.Generator, normwise: bool) -> Array:
    """An operand with the last bits changed of what a computation in ``dtype`` knows of it, or of its largest element."""
    real = np.finfo(dtype).dtype
    if x.dtype.kind in "biu":
        kind: np.dtype[Any] = real
    elif np.finfo(x.dtype).eps > np.finfo(real).eps:
        kind = real if x.dtype.kind == "f" else np.result_type(real, np.complex64)
    else:
        kind = x.dtype
    steps = rng.choice([-1.0, 1.0], x.shape) * float(np.finfo(real).eps)
    with np.errstate(all="ignore"):
        wide = x.astype(np.complex128 if kind.kind == "c" else np.float64)
        lines = tuple(range(x.ndim))[-2:]
        size = np.max(np.abs(wide), axis=lines, keepdims=True, initial=0.0) if normwise else wide
        return np.asarray(wide + size * steps).astype(kind)


def movements(
    evaluate: Callable[[dict[str, Array]], Any],
    operands: Mapping[str, Array],
    theirs: Any,
    *,
    elementwise: bool,
    normwise: bool,
) -> list[Array]:
    """How far NumPy's result moves with the last bits of the operands: an array of units for each of its :func:`leaves`.

    The operands are changed one at a time, each element up or down by chance, and what each of them does is added up. By its
    own last bit, or for factorizations (``normwise``) by that of the largest element of the matrix, zeros too.
    """
    wanted = leaves(theirs)
    total = [np.zeros(leaf.shape) for leaf in wanted]
    for dtype in {leaf.dtype for leaf in wanted}:
        for name in (name for name, x in operands.items() if x.dtype.kind in "biufc" and name != "out"):
            most = [np.zeros(leaf.shape) for leaf in wanted]
            for draw in range(_DRAWS):
                changed = {other: x.copy(order="K") for other, x in operands.items()}
                changed[name] = _nudged(changed[name], dtype, np.random.default_rng(draw), normwise)
                found = leaves(evaluate(changed))
                if [(x.dtype, x.shape) for x in found] != [(x.dtype, x.shape) for x in wanted]:
                    continue  # another call: a mask that became numbers, an index that became a float
                for i, (x, y) in enumerate(zip(found, wanted)):
                    if y.dtype == dtype:
                        most[i] = np.maximum(most[i], apart(x, y, elementwise))
            total = [p + q for p, q in zip(total, most)]
    return total


def excess(distance: Array, movement: Array, dtype: np.dtype[Any], elementwise: bool) -> float:
    """What is left of the largest distance when the operands' last bits are accounted for.

    A value of which they change half of the digits may be infinite too: what is singular to working precision.
    """
    if not elementwise:
        distance, movement = (np.asarray(np.max(x, initial=0.0)) for x in (distance, movement))
    meaningless = np.isinf(distance) & (movement > float(np.finfo(dtype).eps) ** -0.5)
    left = np.where(
        np.isinf(movement) | meaningless, 0.0, distance - MOVES * np.where(np.isinf(movement), 0.0, movement)
    )
    return float(np.max(left, initial=0.0))
