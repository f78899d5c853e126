"""Modules of SciPy that a program runs from their files, as pytest does (``--import-mode=importlib``): their functions take its arrays."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import scipy


def loaded(name):
    """Import a package as pytest does: no finder is asked that could notice it."""
    if f"scipy.{name}" in sys.modules:
        return
    place = Path(scipy.__file__).parent / name / "__init__.py"
    spec = importlib.util.spec_from_file_location(f"scipy.{name}", place)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    setattr(scipy, name, module)


for name in ("linalg", "fft", "special", "ndimage", "signal"):
    loaded(name)

import scipy.ndimage  # noqa: E402
from scipy import fft, linalg, signal, special  # noqa: E402
from scipy.linalg import blas, get_blas_funcs, get_lapack_funcs  # noqa: E402
from scipy.ndimage import correlate  # noqa: E402

x = np.arange(12.0).reshape(3, 4) % 5
for made in (
    correlate(x, np.ones((2, 2))), scipy.ndimage.gaussian_filter(x, 0.0), fft.fft(x).real.round(9), linalg.inv(x[:, :3] + np.eye(3)).round(6),
    signal.convolve(x, x[:1]), special.expit(x * 0), linalg.expm(x[:, :3] * 0).round(9),
):  # fmt: skip
    print(type(made) is np.ndarray, isinstance(made, np.ndarray), made.dtype, made.tolist())
out = np.zeros_like(x)
print(correlate(x, np.ones((1, 2)), output=out) is out, out.sum())

# One function for each routine, and the array that a routine overwrites is what it returns.
print(get_blas_funcs("gemm", (x,)) is get_blas_funcs("gemm", (x,)), get_blas_funcs("gemm", (x,)) == blas.dgemm, blas.dscal is blas.dscal)
print(get_lapack_funcs(("gesv", "potrf"), (x,))[1].typecode, get_lapack_funcs("gesv", (x,)) is get_lapack_funcs(("gesv",), (x,))[0])
y, z = np.arange(4.0), np.ones(4)
print(blas.daxpy(y, z) is z, z.tolist(), blas.dscal(2.0, y) is y, y.tolist(), blas.dcopy(y, z) is z, z.tolist())
a, b = np.array([[2.0, 1.0], [1.0, 3.0]], order="F"), np.array([[1.0], [2.0]], order="F")
lu, pivots, solved, info = linalg.lapack.dgesv(a, b, overwrite_a=True, overwrite_b=True)
print(lu is a, solved is b, solved.tolist(), a.tolist(), info)
swapped = blas.dswap(y, z)
print(swapped[0] is y, swapped[1] is z, y.tolist(), z.tolist())

import scipy.linalg.interpolative as interpolative  # noqa: E402

low = np.outer(np.arange(1.0, 6.0), np.arange(1.0, 5.0))
k, columns, _ = interpolative.interp_decomp(low, 1e-9, rand=False)
print(k, columns[:k].tolist(), interpolative.svd(low, 1, rand=False)[1].round(6).tolist())
