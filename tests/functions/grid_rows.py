"""All rows of the grid, and where we do not do as NumPy does."""

from __future__ import annotations

from dataclasses import dataclass

from .grid_arrays import CREATION, METHODS, ORDER, SHAPE
from .grid_numerics import ELEMENTS, LINALG, POLYNOMIALS
from .grid_row import Row
from .grid_ufuncs import REDUCTIONS, UFUNCS

__all__ = ["DEPARTURES", "ROWS", "Departure", "Row"]

ROWS: list[Row] = [
    *UFUNCS, *REDUCTIONS, *SHAPE, *ORDER, *ELEMENTS, *LINALG, *POLYNOMIALS, *CREATION, *METHODS,
]  # fmt: skip


# -- departures ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Departure:
    """Calls that differ from NumPy's for a reason.

    Parameters
    ----------
    functions : str
        Names, or * for all.
    reason : str
        Why.
    calls : str
        Part of the expression.
    dtypes : str
        Characters of the dtypes.
    layouts : str
        Layouts.
    ndim : tuple of int or None
        Ranks.
    backends : str
        Backends.
    """

    functions: str
    reason: str
    calls: str = ""
    dtypes: str = "?bhilBHILefdFD"
    layouts: str = "contiguous strided transposed reversed special"
    ndim: tuple[int, ...] | None = None
    backends: str = "numpy jax torch tensorflow"


DEPARTURES: list[Departure] = [
    Departure("*", "a cast of a number outside the integer's range is undefined in C", ".at(x, k), x)", "bhilBHIL"),
    Departure("np.round np.around ndarray.round", "a cast of a number outside the integer's range is undefined in C", "-1", "ilIL", "special"),
    Departure("np.power np.pow", "of a scalar exponent of 0.5 NumPy takes the square root, C's pow differs at -inf and -0", "0.5", layouts="special", backends="jax tensorflow"),
    Departure("np.power np.pow", "of a scalar exponent of 0.5 NumPy takes the square root, C's pow differs at -inf and -0", "np.float32(0.5)", layouts="special", backends="torch"),
    Departure(
        "np.fft.fft np.fft.ifft np.fft.rfft np.fft.irfft np.fft.hfft np.fft.ihfft np.fft.fftn np.fft.ifftn np.fft.rfftn np.fft.irfftn"
        " np.fft.fft2 np.fft.ifft2 np.fft.rfft2 np.fft.irfft2",
        "NumPy rounds the factor 1/n to float16, we do not",
        dtypes="e",
    ),
    Departure("np.polyval", "without coefficients NumPy returns the zeros it began with, which are an array", "polyval(a, 2)", ndim=(1, 2)),
    Departure("np.median np.nanmedian", "of a 0-d array with keepdims NumPy returns a 0-d array, elsewhere a scalar", "keepdims", ndim=(0,)),
    Departure("np.unique", "NumPy's order of columns with NaN is that of their bytes in float16", "axis=", "e", "special"),
    Departure(
        "np.mean np.nanmean np.average np.sum np.nansum np.var np.std np.nanvar np.nanstd ndarray.mean ndarray.sum ndarray.var ndarray.std"
        " np.cov np.linalg.norm",
        "floating sums of the ends of an integer's range cancel, and what is left is the rounding of their order",
        dtypes="ilILq", layouts="special",
    ),
    Departure("np.arctan2 np.atan2 np.power np.pow np.float_power", "NumPy's AVX-512 loops read the accumulator of a reduction before it is written", ".reduce"),
    Departure("np.lib.scimath.logn", "NumPy too computes in float32 and returns float64", dtypes="hHeF"),
    Departure("np.einsum", "with optimize=True NumPy returns a 0-d array, elsewhere a scalar", "optimize", ndim=(1,)),
    Departure("np.invert np.bitwise_not np.bitwise_invert np.bitwise_count", "of two mistakes in one call NumPy names the dtype, we the index", ".at(", "efd", ndim=(0,)),
    Departure("np.unique_inverse np.unique_all np.unique", "the order of NaNs among themselves is open", dtypes="efdFD", layouts="special"),
]  # fmt: skip
