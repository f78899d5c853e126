"""Fourier transforms against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import oracle
from ..rows import each

_ONE = [
    "{f}(f34)",
    "{f}(f34, axis=0)",
    "{f}(f234, axis=-2)",
    "{f}(f34, 3)",
    "{f}(f34, n=7)",
    "{f}(f34, 2, 0)",
    "{f}(f34, 8, 0, 'ortho')",
    "{f}(f34, norm='ortho')",
    "{f}(f34, norm='forward')",
    "{f}(f34, norm='backward')",
    "{f}(f5)",
    "{f}(f6)",
    "{f}(neg5)",
    "{f}(ft34)",
    "{f}(st34, axis=0)",
    "{f}(g34)",
    "{f}(g34, norm='ortho')",
    "{f}(h34)",
    "{f}(i34)",
    "{f}(u34)",
    "{f}(b34)",
    "{f}(c34)",
    "{f}(d34, 5)",
    "{f}(c5)",
    "{f}(f5, 1)",
    "{f}(e03)",
    "{f}([1.0, 2.0, 3.0] + f0)",
    "{f}(nan6)",
    "{f}(f34, np.int64(4))",
    "{f}(f34, 0)",
    "{f}(f34, -3)",
    "{f}(e0)",
    "{f}(f0)",
    "{f}(f34, axis=2)",
    "{f}(f34, 3, 2)",
    "{f}(f34, norm='x')",
    "{f}(f34, 2.5)",
    "{f}(f34, [2])",
]
_SEVERAL = [
    "{f}(f34)",
    "{f}(f234)",
    "{f}(c34)",
    "{f}(g34)",
    "{f}(h34)",
    "{f}(d34)",
    "{f}(i34)",
    "{f}(b34)",
    "{f}(f2345, axes=(1, 2))",
    "{f}(f2345, axes=(-1, 0))",
    "{f}(f234, axes=[0, 2])",
    "{f}(f234, (4, 3), (0, 1))",
    "{f}(f234, s=(2, 6), axes=(2, 0))",
    "{f}(f234, s=(-1, 5), axes=(0, 1))",
    "{f}(f34, axes=(0,))",
    "{f}(f34, axes=(0, 0))",
    "{f}(f34, s=(2, 5), axes=(1, 1))",
    "{f}(c34, s=(4, 3), axes=(0, 0))",
    "{f}(f34, norm='ortho')",
    "{f}(f34, norm='forward')",
    "{f}(f34, norm='x')",
    "{f}(ft34)",
    "{f}(f34, (2,), (0, 1))",
    "{f}(f34, axes=(0, 5))",
    "{f}(f34, (0, 2), (0, 1))",
    "{f}(f34, axes=0)",
    "{f}(f34, axes=())",
    "{f}(f0)",
    "{f}(f5)",
    "{f}(e03)",
]
_SHIFTS = [
    "{f}(f5)",
    "{f}(f6)",
    "{f}(f34)",
    "{f}(f34, 0)",
    "{f}(f34, axes=-1)",
    "{f}(f2345, axes=(1, 3))",
    "{f}(f34, axes=(0, 0))",
    "{f}(i34, axes=[1])",
    "{f}(b34)",
    "{f}(c34)",
    "{f}(e03)",
    "{f}(f34, axes=2)",
]

CASES: dict[Any, list[str]] = {}
for _f in (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft):
    CASES[_f] = [case.format(f=f"np.fft.{_f.__name__}") for case in _ONE]
for _name in ("fftn", "ifftn", "fft2", "ifft2", "rfftn", "rfft2", "irfftn", "irfft2"):
    CASES[getattr(np.fft, _name)] = [case.format(f=f"np.fft.{_name}") for case in _SEVERAL]
for _f in (np.fft.fftshift, np.fft.ifftshift):
    CASES[_f] = [case.format(f=f"np.fft.{_f.__name__}") for case in _SHIFTS]
CASES[np.fft.fft].append("np.fft.fft(f33, out=cs33)")
CASES[np.fft.fft].append("np.fft.fft(f33, out=f33.ravel())")
CASES[np.fft.fft].append("np.fft.fft(f33, out=f33)")
CASES[np.fft.irfft].append("np.fft.irfft(np.fft.rfft(f34), 4)")
CASES[np.fft.ifftn].append("np.fft.ifftn(np.fft.fftn(f234))")


@each("expression", CASES)
def test_as_numpy(expression: str, backend: str) -> None:
    # float16: NumPy rounds the factor 1/n to float16.
    oracle.check(expression, backend, rtol=1e-3 if "h34" in expression else None)
