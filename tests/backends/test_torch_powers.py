"""Complex tensors to the power of a number: NumPy multiplies for small whole exponents, and so does this backend."""

from __future__ import annotations

import numpy as np
import pytest

import arraydispatch as ad


@pytest.mark.parametrize("exponent", [*range(-5, 8), 13, 64, 99, 100, 3.0, -2.0, 3 + 0j, np.float64(5), 1.5, 2j])
def test_complex_powers_of_numbers(exponent: object) -> None:
    pytest.importorskip("torch", reason="inapplicable: torch is not installed")
    rng = np.random.default_rng(3)
    x = rng.normal(size=50) + 1j * rng.normal(size=50)
    x[:3] = 0, complex(-0.0, 0.0), complex(0.0, -0.0)
    with np.errstate(all="ignore"):
        expected = np.power(x, exponent)
        with ad.backend("torch"):
            found = np.asarray(np.power(ad.asarray(x), exponent))
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert np.signbit(found.real[:3]).tolist() == np.signbit(expected.real[:3]).tolist() or np.isnan(expected[0])


@pytest.mark.parametrize("exponent", [1, 3, 4, 5, 8, 64, -1, -2, -4])
def test_complex_powers_that_overflow(exponent: int) -> None:
    pytest.importorskip("torch", reason="inapplicable: torch is not installed")
    parts = [0.0, 1.0, -2.0, 1e200, -1e160, np.inf, np.nan]
    x = np.array([complex(a, b) for a in parts for b in parts])
    with np.errstate(all="ignore"):
        expected = np.power(x, exponent)
        with ad.backend("torch"):
            found = np.asarray(np.power(ad.asarray(x), exponent))
    np.testing.assert_allclose(found.real, expected.real, rtol=1e-13)
    np.testing.assert_allclose(found.imag, expected.imag, rtol=1e-13)
