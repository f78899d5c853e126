"""Powers of one number, and to one number: products and roots where a library would compute each element by itself."""

from __future__ import annotations

import numpy as np
import pytest

import arraydispatch as ad

EXPONENTS = (0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, -0.5, -1, -1.5, -2, -2.5, -3, -3.5, -4, 0.7, 5, 4.5, np.inf, np.nan)
BASES = (0.75, 2, 10, 0, -2, 1, np.inf, np.nan, 1e-10)


def _is_close(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether results agree to four units in the last place, specials to the bit; subnormal numbers may be zero."""
    tiny = np.finfo(theirs.dtype).tiny
    usual = np.isfinite(theirs) & (np.abs(theirs) > 1.01 * tiny)
    special = ~usual & ~(np.abs(theirs) <= 1.01 * tiny) | (theirs == 0)
    far = np.abs(ours[usual] - theirs[usual]) > 4 * np.spacing(np.abs(theirs[usual]))
    return (
        ours.dtype == theirs.dtype and not far.any() and np.array_equal(ours[special], theirs[special], equal_nan=True)
    )


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_arrays_to_one_power(backend: str, dtype: str) -> None:
    some = np.random.default_rng(0).random(300) * 5
    specials = [0.0, -0.0, 1, -1, 2, -8, np.inf, np.nan, 1e-37, 1e37, 0.3]
    x = np.concatenate([specials, some, -some[:9]]).astype(dtype)
    with np.errstate(all="ignore"):
        for p in EXPONENTS:
            ours = np.asarray(np.power(ad.asarray(x, backend=backend), p))
            assert _is_close(ours, np.power(x, np.array(p, dtype))), p


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_one_number_to_powers(backend: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        for powers in (np.arange(-20, 120), np.arange(-2, 3, 0.5), np.array([0, np.nan, 3, 4])):
            e = powers.astype(dtype)
            for b in BASES:
                ours = np.asarray(np.power(b, ad.asarray(e, backend=backend)))
                assert _is_close(ours, np.power(np.array(b, dtype), e)), (b, powers)


def test_derivatives_of_powers_by_one(backend: str) -> None:
    if backend == "numpy":
        return
    x = ad.asarray(np.array([0.0, 0.5, 2.0]), backend=backend)
    for p in (0, 1, 2, 3):
        slope = np.asarray(ad.grad(lambda a, p=p: np.sum(np.power(a, float(p))))(x))
        np.testing.assert_allclose(slope, p * np.array([0.0, 0.5, 2.0]) ** max(p - 1, 0), rtol=1e-12)
    slope = np.asarray(ad.grad(lambda a: np.sum(np.power(a[1:], 1.5)))(x))
    np.testing.assert_allclose(slope, [0, *(1.5 * np.sqrt([0.5, 2.0]))], rtol=1e-12)
    slope = np.asarray(ad.grad(lambda e: np.sum(np.power(0.75, e)))(x))
    np.testing.assert_allclose(slope, 0.75 ** np.array([0.0, 0.5, 2.0]) * np.log(0.75), rtol=1e-12)
