"""NumPy's warnings: the same ones, once for each call, at the line of the file that called NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from tests.rows import each

ARRAYS: dict[str, np.ndarray[Any, Any]] = {
    "x": np.arange(6.0).reshape(2, 3),
    "a": np.arange(5.0),
    "i": np.arange(5),
    "b": np.zeros(5, bool),
    "z": np.array([1 + 1j, 2, 3j]),
    "m": np.zeros((2, 2)),
    "s": np.zeros(()),
}

STATISTICS = """
    np.mean(x[:0])
    np.mean(x[:0], axis=0)
    np.mean(x[:0], keepdims=True)
    np.mean(x[:0].astype('i4'))
    np.mean(x, where=x > 9)
    np.mean(x, axis=0, where=x > 2)
    np.average(x[:0], axis=0)
    np.var(x[:0])
    np.std(x[0, :1], ddof=1)
    np.std(x[0], ddof=3)
    x[:0].mean()
    x[:0].std()
    np.nanmean(x[:0])
    np.nanvar(x[:0])
    np.nanmax(x * np.nan)
    np.polyfit(a, a, 7)
    np.linalg.qr(x, 'full')
    np.linalg.qr(x, 'economic')
    np.fft.fft2(x, s=(2, 2), axes=None)
    np.fft.fftn(x, s=(2, 2))
    np.fft.fftn(x, s=(2, None), axes=(0, 1))
    np.cross(x[:, :2], x[:, :2])
    np.histogram(x > 1)
    np.mean(x)
    np.var(x, ddof=1)
    np.cov(a[:1])
    np.cov(x[:, :1])
    np.cov(x, ddof=5)
    np.corrcoef(x * 0 + 1)
    np.corrcoef(a * 0)
"""

CASTS = """
    a[:3] = z
    a[0:1] = z[:1]
    a[:0] = z[:0]
    a[[0, 2, 4]] = z
    a[a > 1] = z
    a[a > 2] = z[:1]
    a[0] = z[0]
    a[:3] = np.array([1j, 2, 3])
    a[0] = np.complex64(1j)
    a[...] = [1j, 2j, 3j, 4j, 5j]
    i[:3] = z
    b[:3] = z
    a.flat = z
    a.flat[[0, 1]] = z[:2]
    a.fill(z[0])
    a.put([0], z)
    z.astype(float)
    z.astype('i4')
    z.astype(bool)
    z.astype('c8')
    z.real.astype('f4')
    z > 1
    z == 2
    np.put(a, [0, 1], z)
    np.put_along_axis(m, np.array([[0], [1]]), z[:2, None], 1)
    np.fill_diagonal(m, z[:2])
    np.copyto(a[:3], z, casting='unsafe')
    np.copyto(a[:3], 1j, casting='unsafe')
    np.copyto(b[:3], z, casting='unsafe')
    np.full_like(a, z[0])
    np.add.at(a, [0], 1j)
    np.add.at(a, [0, 1, 2], z)
    np.cumsum(z, out=a[:3])
    np.sum(z, dtype=float)
    np.add(z, z, out=a[:3], casting='unsafe')
    np.add(z, 1, dtype=float, casting='unsafe')
    np.concatenate([a, z], dtype=float, casting='unsafe')
    np.concatenate([a, z], out=np.zeros_like(a, shape=(8,)), casting='unsafe')
    np.stack([z, z], dtype='f4', casting='unsafe')
    np.insert(a, 1, z[:1])
    np.insert(a, 1, 1j)
    np.insert(a, 1, [1j, 2])
    np.histogram(z)
    np.einsum('i->', z, dtype=float, casting='unsafe')
    np.linspace(z[:1], 2, 3, dtype=float)
"""


ERRORS = """
    i[:3] = a[:3] + np.inf
    i[[0, 1]] = a[:2] / 1e-300
    i[:3] = [np.nan, 1, 2]
    i[:3] = a[:3]
    np.full(2, a[1] * np.nan, int, like=a)
    np.full(2, 1e300, 'f4', like=a)
    np.full(2, 1j, 'f4', like=a)
    np.unwrap(a * [0, 1, 2, 3, np.inf])
    np.unwrap(a)
    np.linalg.norm(a, -1)
    np.linalg.norm(a, -2)
    np.linalg.norm(x, -1, axis=1)
    np.linalg.norm(a[1:], -1)
    np.lib.scimath.log(a - 1)
    np.lib.scimath.log2(a)
    np.lib.scimath.log2(a.astype('f4') - 1)
    np.lib.scimath.log10(a)
    np.lib.scimath.logn(2, a)
    np.lib.scimath.log(a + 1)
    np.divide.at(a, [0], 0)
    np.interp(a, [1, 1, 1], [1, 2, 3])
    np.interp(a, [0, np.inf], [1, 2])
    np.interp(a, [0, 1], [1, np.inf])
    np.interp(a + np.inf, [0, 1], [1, 3])
    np.isclose(a + np.inf, np.inf)
    np.isclose(a - np.inf, a - np.inf)
    np.isclose(a, np.inf, rtol=0)
    np.isclose(-np.inf, a - np.inf)
"""


def cases(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def heard(statement: str, make: Any) -> tuple[str, list[tuple[str, str]], set[str]]:
    """The exception, the warnings, and the files they name."""
    scope: dict[str, Any] = {"np": np, **{name: make(x.copy()) for name, x in ARRAYS.items()}}
    error = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(statement, "program.py", "exec"), scope)
        except Exception as raised:
            error = type(raised).__name__
    return error, [(w.category.__name__, str(w.message)) for w in caught], {w.filename for w in caught}


@each("statement", cases(STATISTICS + CASTS + ERRORS))
def test_warnings_are_numpys(backend: str, statement: str) -> None:
    error, said, _ = heard(statement, np.asarray)
    with ad.backend(backend), ad.fallback("error"):
        ours, told, files = heard(statement, ad.asarray)
    assert (ours, told) == (error, said)
    if backend != "numpy":  # where NumPy itself runs, it names some files of its own
        assert files <= {"program.py"}


def test_there_are_warnings_to_compare() -> None:
    found = [len(heard(statement, np.asarray)[1]) for statement in cases(STATISTICS + CASTS)]
    assert found.count(0) < 14
    assert max(found) == 3


@pytest.mark.parametrize("method", ["mean", "std"])
def test_a_count_of_zero_is_reported_as_errstate_wants_it(backend: str, method: str) -> None:
    with ad.backend(backend):
        empty = ad.asarray(np.zeros(0))
    slices = pytest.warns(RuntimeWarning, match="slice")
    with slices, np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        getattr(np, method)(empty)
    with warnings.catch_warnings(record=True) as caught, np.errstate(invalid="ignore"):
        warnings.simplefilter("always")
        getattr(np, method)(empty)
    assert len(caught) == 1
