"""Functions that NumPy computes on the tensor's own memory, because torch rounds differently (square roots and running
sums), or because it is several times as fast: sorts and absolute values of complex numbers.

MKL's vector mathematics, which torch calls on x86, rounds one root in a hundred to the second nearest number
(https://www.intel.com/content/www/us/en/docs/onemkl/developer-reference-c/current/vm-mathematical-functions.html),
while IEEE 754 requires correctly rounded square roots, as for addition. Torch keeps running sums and products in a
wider type (a float16 sum of ones continues beyond 2048, where NumPy's stops). torch itself runs these functions while a
gradient is recorded, under a transform, in the compiler, on an accelerator, and if the user wants the library to run everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...common import events, tracing
from ...common.process_state import process
from ..host_kernels import LEFT_FROM, LEFT_ON_CPUS, places
from .dtype_tables import AS_IT_IS, BFLOAT16, concrete, out_of_transforms

_ROUNDED = torch.backends.mkl.is_available()
HOST_KERNELS: dict[Any, str] = {
    **({np.sqrt: "MKL's square root, which torch calls, is not correctly rounded; NumPy's is"} if _ROUNDED else {}),
    **dict.fromkeys((np.sort, np.argsort), "in host memory NumPy sorts ten times as fast as torch"),
    **dict.fromkeys(
        (np.isnan, np.isinf, np.isfinite), "in host memory NumPy finds NaN and infinity five times as fast as torch"
    ),
    **dict.fromkeys(
        (np.nonzero, np.flatnonzero, np.argwhere), "in host memory NumPy finds positions ten times as fast as torch"
    ),
    **dict.fromkeys(
        (np.cbrt, np.arcsinh, np.arccosh),
        "in host memory NumPy computes several numbers at once, where torch calls or composes",
    ),
    **dict.fromkeys(
        (np.frexp, np.ldexp),
        "in host memory NumPy has an instruction for several exponents, where torch calls or composes",
    ),
}
"""NumPy function -> reason why NumPy runs it in host memory. Not listed: divisions of integers by one number, where NumPy multiplies by the
inverse.
"""

LEFT_TO_NUMPY: dict[Any, str] = {
    **LEFT_ON_CPUS,
    np.isin: "in host memory NumPy looks values up in a table, or by a faster sort",
    np.histogram: "in host memory NumPy counts twice as fast as torch",
    np.allclose: "in host memory NumPy compares five times as fast as torch",
    **dict.fromkeys((np.clip, np.cross), "in host memory NumPy needs a third of torch's time"),
    **dict.fromkeys(
        (np.fft.rfft, np.fft.irfft, "scipy.fft.rfft", "scipy.fft.irfft"),
        "in host memory NumPy transforms long rows of real numbers in half of torch's time",
    ),
    **dict.fromkeys(
        [
            f"scipy.special.{name}"
            for name in (
                "fdtr fdtrc gamma gammainc gammaincc gdtrc j0 j1 kl_div log_ndtr rel_entr rgamma y0 y1"
            ).split()
        ],
        "in host memory SciPy needs less time than torch's operations one by one",
    ),
}
"""NumPy function -> reason why NumPy runs the whole function on large arrays in host memory."""

REAL = frozenset({torch.float32, torch.float64})
_WITH_MASKS = REAL | {torch.bool}
_MASKED_FASTER = range(1 << 17, 1 << 19)
"""Numbers of elements for which NumPy compares faster: in a quarter of the time, if the elements are in the cache. With more elements,
memory limits both libraries, and torch has threads; but see :data:`_WITH_ONE_NUMBER`.
"""
_WITH_ONE_NUMBER = {torch.float32: 4, torch.int16: 4, torch.int32: 3}
_WITH_AN_ARRAY = {torch.float32: 2, torch.int16: 2}
"""Dtype -> number of torch's threads up to which NumPy compares more elements than :data:`_MASKED_FASTER` at least as fast. torch 2.13 computes
truth by vectors, as numbers of the dtype, but converts it to booleans one by one.
"""
_FOUND_FASTER = 1 << 10
_FEW = 32
"""Number of rows or columns up to which NumPy's BLAS multiplies matrices in less time than torch's (measured on AMD: a quarter to once)."""
_COMPLEX = frozenset({torch.complex64, torch.complex128})
_SORTED = REAL | {torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64}
_WITH_PLACES = _SORTED | {torch.bool}
_KEPT_WIDER = frozenset({torch.float16, torch.bfloat16, torch.float32, torch.complex64})


@np.errstate(all="ignore")
def _quietly(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


def _on_host(function: Callable[..., Any], a: Tensor, *args: Any) -> Tensor | None:
    """Run NumPy's function on a tensor that NumPy can and may read; return None for any other."""
    if not (a.is_cpu and process.execution != "eager" and concrete(a)) or a.requires_grad:
        return None
    if events.tap is not None:
        events.tap.host_kernel()
    # The dispatch reports errors by the result.
    outside = out_of_transforms()
    if outside is AS_IT_IS and a.dtype in REAL and not a.is_neg():  # nearly all calls: only the necessary steps
        return torch.from_numpy(np.asarray(_quietly(function, a.numpy(), *args)))
    with outside, np.errstate(all="ignore"):
        a = a.resolve_conj().resolve_neg()
        if a.dtype is torch.bfloat16:
            bits = function(a.view(torch.int16).numpy().view(BFLOAT16), *args).view(np.int16)
            return torch.from_numpy(bits).view(torch.bfloat16)
        return torch.from_numpy(np.asarray(function(a.numpy(), *args)))


def sqrt(a: Tensor) -> Tensor:
    """Compute the square root, correctly rounded in host memory."""
    out = _on_host(np.sqrt, a) if _ROUNDED and a.dtype in REAL else None
    return torch.sqrt(a) if out is None else out


def accumulated(ufunc: np.ufunc, a: Tensor, axis: int) -> Tensor | None:
    """Compute the running sum or product, rounded at each step; return None if torch must compute it, or has the same result."""
    if a.dtype not in _KEPT_WIDER and not _begins_with_zero(ufunc, a, axis):
        return None
    return _on_host(ufunc.accumulate, a, axis)


def running_extremum(ufunc: np.ufunc, a: Tensor, axis: int) -> Tensor | None:
    """Compute the running maximum or minimum of real numbers in half of torch's time (torch also finds the positions); None if torch must."""
    return _on_host(ufunc.accumulate, a, axis) if a.dtype in REAL and a.numel() >= _FOUND_FASTER else None


def sort(a: Tensor, axis: int) -> Tensor | None:
    """Sort by NumPy's vectorized sort; None if torch must do it."""
    return _sorted(np.sort, a, axis)


def argsort(a: Tensor, axis: int) -> Tensor | None:
    """Sort indices by NumPy's vectorized sort, which is not stable; None if torch must do it."""
    return _sorted(np.argsort, a, axis)


def _sorted(function: Callable[..., Any], a: Tensor, axis: int) -> Tensor | None:
    if a.dtype not in _SORTED:
        return None
    made = _on_host(function, a, axis)
    if made is None:
        tracing.is_quicker_on_host()
    return made


def by_one_number(ufunc: np.ufunc, a: Tensor, b: Any) -> Tensor | None:
    """Compute floor_divide or remainder of many integers by a single number, with NumPy's rule for zero; None if torch must do it.

    NumPy multiplies by the number's inverse, torch divides: 194 µs against 577 for 300,000 integers of 64 bits.
    """
    if a.numel() < LEFT_FROM or (isinstance(b, Tensor) and b.ndim):
        return None
    if not isinstance(b, Tensor):
        made = _on_host(lambda x: ufunc(x, x.dtype.type(b)), a)
    elif b.is_cpu and concrete(b):
        made = _on_host(lambda x: ufunc(x, b.numpy()[()]), a)
    else:
        made = None
    if made is None:
        tracing.is_quicker_on_host()
    return made


def of_exponents(ufunc: np.ufunc, a: Tensor, *ns: Tensor) -> Any:
    """Compute frexp or ldexp of many numbers; None if torch must do it."""
    if a.dtype not in REAL or a.numel() < LEFT_FROM:
        return None
    made = None
    if all(n.is_cpu and concrete(n) for n in ns) and a.is_cpu and concrete(a) and _is_free(a):
        given = [n.numpy() if n.ndim else n.numpy()[()] for n in ns]
        if events.tap is not None:
            events.tap.host_kernel()
        with np.errstate(all="ignore"):
            made = ufunc(a.numpy(), *given)
        made = tuple(map(torch.from_numpy, made)) if isinstance(made, tuple) else torch.from_numpy(made)
    if made is None:
        tracing.is_quicker_on_host()
    return made


def _is_free(a: Tensor) -> bool:
    """Whether NumPy may compute directly with a tensor: no gradient, no transform, no pending sign, and execution is not eager."""
    return not (a.requires_grad or a.is_neg() or process.execution == "eager" or out_of_transforms() is not AS_IT_IS)


def product(a: Tensor, b: Tensor) -> Tensor | None:
    """Multiply matrices if one of them has few rows or columns; return None if torch must multiply them."""
    if a.dtype not in REAL or not a.ndim == 2 == b.ndim or max(a.numel(), b.numel()) < LEFT_FROM:
        return None
    if min(*a.shape, b.shape[1]) > _FEW or not (b.is_cpu and concrete(b) and _is_free(b)):
        return None
    return _on_host(np.matmul, a, b.numpy())


def absolute(a: Tensor) -> Tensor:
    """Return absolute values; those of complex numbers by NumPy, in a third of torch's time."""
    out = _on_host(np.absolute, a) if a.dtype in _COMPLEX else None
    return torch.abs(a) if out is None else out


def by_vectors(ufunc: np.ufunc, a: Tensor, out: Tensor | None = None) -> Tensor | None:
    """Compute a function of many real numbers by NumPy's vector code, into ``out`` if given; None if torch must do it."""
    if a.dtype not in REAL or a.numel() < _FOUND_FASTER:
        return None
    if out is None:
        return _on_host(ufunc, a)
    if not (out.is_cpu and concrete(out) and _is_free(out)) or out.dtype is not a.dtype:
        return None
    return None if _on_host(ufunc, a, out.numpy()) is None else out


def vectorized(ufunc: np.ufunc, plain: Callable[..., Tensor], *dtypes: torch.dtype) -> Callable[..., Tensor]:
    """Make a kernel for a function that torch computes without vectors for some dtypes: for these by NumPy in host memory, else by ``plain``.

    Measured with two million numbers and two threads of torch: NumPy takes a fifteenth (arcsinh of float32) to a half (expm1 of float32) of
    torch's time.
    """

    def kernel(a: Tensor, out: Tensor | None = None) -> Tensor:
        made = by_vectors(ufunc, a, out) if a.dtype in dtypes else None
        return plain(a, out=out) if made is None else made

    return kernel


def finding(ufunc: np.ufunc, plain: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Make a kernel that tests for NaN or infinity: by NumPy's ufunc for many real numbers in host memory, else by ``plain``."""

    def kernel(a: Tensor) -> Tensor:
        out = _on_host(ufunc, a) if a.dtype in REAL and a.numel() >= _FOUND_FASTER else None
        return plain(a) if out is None else out

    return kernel


def comparing(ufunc: np.ufunc, plain: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Make a kernel that compares numbers, or combines truth values. The results are exact, so NumPy and torch agree."""

    def kernel(a: Any, b: Any, out: Tensor | None = None) -> Tensor:
        made = None
        if out is None:
            made = _compared(ufunc, a, b) if isinstance(a, Tensor) else _compared(ufunc, b, a, mirrored=True)
        return plain(a, b, out=out) if made is None else made

    return kernel


def _compared(ufunc: np.ufunc, a: Tensor, b: Any, mirrored: bool = False) -> Tensor | None:
    size = a.numel()
    if size < _MASKED_FASTER.start:
        return None
    if size not in _MASKED_FASTER or a.dtype not in _WITH_MASKS:
        with_array = isinstance(b, Tensor) and b.ndim > 0
        faster = _WITH_AN_ARRAY if with_array else _WITH_ONE_NUMBER
        if torch.get_num_threads() > faster.get(a.dtype, 0) or (with_array and not _are_in_c_order(a, b)):
            return None
    if isinstance(b, Tensor):
        if b.dtype is not a.dtype or not (b.is_cpu and concrete(b)) or b.requires_grad or b.is_neg():
            return None
        b = b.numpy()
    elif type(b) is not (float if a.dtype.is_floating_point else int):
        return None
    return _on_host((lambda x: ufunc(b, x)) if mirrored else lambda x: ufunc(x, b), a)


def _are_in_c_order(*tensors: Tensor) -> bool:
    return all(x.is_contiguous() for x in tensors)


def positions(a: Tensor) -> Tensor | None:
    """Return the indices of the nonzero elements as one tensor, with a row for each axis; None if torch must find them."""
    return _on_host(places, a) if a.dtype in _WITH_PLACES and a.numel() >= _FOUND_FASTER else None


def flat_positions(mask: Tensor) -> Tensor | None:
    """Return the positions, in C order, at which a mask is true; None if torch must find them."""
    if mask.dtype is not torch.bool or mask.numel() < LEFT_FROM:
        return None
    return _on_host(lambda x: np.flatnonzero(x).astype(np.int64, copy=False), mask)


def _begins_with_zero(ufunc: np.ufunc, a: Tensor, axis: int) -> bool:
    """Whether a running sum begins with a zero, whose sign torch may lose: its sums start with 0.0 + the first element."""
    if ufunc is not np.add or not (a.is_floating_point() or a.is_complex()) or not a.is_cpu or not concrete(a):
        return False
    with out_of_transforms():
        return bool((a.narrow(axis, 0, min(1, a.shape[axis])) == 0).any())
