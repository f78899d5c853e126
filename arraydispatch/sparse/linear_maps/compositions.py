"""Rules of ``matrix_from_function`` that run the body of ``arraydispatch.functions`` over ``xp`` on affine arrays."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..._core.handles import Handle
from ...common.pytrees import mapped
from ...functions.registry import spec_of
from .affine import Affine, Run, affine, follows, holds_affine
from .functions import _along, _moving
from .numerics import _first


def _is_array(x: Any) -> bool:
    return isinstance(x, Affine | np.ndarray)


def _padded(a: Any, widths: Any, value: Any) -> Any:
    made = (_moving(np.pad) if isinstance(a, Affine) else np.pad)(a, widths)
    return made if value == 0 else made + np.pad(np.zeros(a.shape), widths, constant_values=value)


def _spectrum(func: Any) -> Callable[..., Any]:
    """Make a Fourier transform along axes: its matrix is the transform of the unit vectors."""

    def run(a: Any, axes: tuple[int, ...]) -> Any:
        for axis in axes:
            a = _along(a, axis, func(np.eye(a.shape[axis]), axis=0))
        return a

    return run


def _real_spectrum(a: Any, n: int, axis: int) -> Any:
    unit = np.eye(a.shape[axis])
    real, imag = (np.fft.irfft(x, n, axis=0) for x in (unit, 1j * unit))
    return _along(np.real(a), axis, real) + _along(np.imag(a), axis, imag)


_PRIMITIVES = SimpleNamespace(
    reshape=np.reshape, transpose=np.transpose, broadcast_to=np.broadcast_to, concatenate=np.concatenate, matmul=np.matmul, copy=np.copy,
    slice=lambda a, key: a[key],
    astype=lambda a, dtype: a.astype(dtype),
    flip=np.flip,
    pad=_padded,
    full=lambda shape, value, dtype, _device: np.full(shape, value, dtype),
    fftn=_spectrum(np.fft.fft),
    ifftn=_spectrum(np.fft.ifft),
    rfft=lambda a, axis: _spectrum(np.fft.rfft)(a, (axis,)),
    irfft=_real_spectrum,
    iota=lambda n, dtype, _device: np.arange(n, dtype=dtype),
)  # fmt: skip
_BACKEND = SimpleNamespace(
    mutable=True, native_is_ndarray=True, is_native=_is_array,
    is_concrete=lambda a: not isinstance(a, Affine),
    on_cpu=lambda _: True,
    to_numpy=lambda a: a,
    device_of=lambda _: None,
    dtype_of=lambda a: a.dtype,
    shape_of=np.shape,
    MEAN=np.mean,
)  # fmt: skip


class _Namespace:
    """``xp`` for a body: NumPy's own functions, which pass affine arrays to their rules."""

    prim, backend, is_array = _PRIMITIVES, _BACKEND, staticmethod(_is_array)
    shape_of, ndim_of, dtype_of = (
        staticmethod(_BACKEND.shape_of),
        staticmethod(np.ndim),
        staticmethod(_BACKEND.dtype_of),
    )

    def __init__(self, run: Run) -> None:
        self._run = run

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def asarray(self, x: Any, dtype: Any = None, like: Any = None) -> Any:
        if isinstance(x, list | tuple) and holds_affine(x):
            x = affine(x, _first(x))
        elif not isinstance(x, Affine):
            x = self._run.constant(x)
        return x if dtype is None else x.astype(dtype)


def _composed(func: Any) -> Callable[..., Any]:
    def run(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        of = _first(args, kwargs).store.run
        if out is not None:
            raise of.refuse(f"np.{func.__name__} with out=")
        args, kwargs = mapped(lambda x: of.constant(x) if isinstance(x, Handle) else x, (args, kwargs))
        spec = spec_of(func)
        assert spec is not None
        return spec.body(_Namespace(of), *args, **kwargs)

    return run


for _func in (
    np.dot, np.tensordot, np.inner, np.outer, np.vdot, np.kron, np.cross, np.linalg.cross, np.linalg.vecdot, np.linalg.multi_dot, np.trace,
    np.linalg.trace, np.convolve, np.correlate, np.diff, np.ediff1d, np.gradient, np.trapezoid, np.cumulative_sum, np.average, np.polyval,
    np.polyder, np.polyint, np.linspace, np.pad, np.full_like, np.ones_like, np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft,
    np.fft.ihfft, np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn, np.fft.rfft2, np.fft.rfftn, np.fft.irfft2, np.fft.irfftn,
    np.fft.fftshift, np.fft.ifftshift,
):  # fmt: skip
    follows(_func)(_composed(_func))
