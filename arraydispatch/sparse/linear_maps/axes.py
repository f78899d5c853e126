"""Rules of ``matrix_from_function`` for functions that act as a constant matrix along an axis, and for NumPy's loops
over an axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from .affine import METHODS, Affine, affine, follows
from .functions import _along, _moving
from .numerics import _first, _known

# -- Fourier transforms ----------------------------------------------------------------------------------------------------

_OF_REAL = (np.fft.rfft, np.fft.ihfft)
_TO_REAL = (np.fft.irfft, np.fft.hfft)


def _spectrum(func: Callable[..., Any]) -> Callable[..., Any]:
    """Make the rule of a transform along one axis: its matrix is the transform of the unit vectors."""

    def run(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        if out is not None:
            raise a.store.run.refuse(f"np.fft.{func.__name__} with out=")
        if a.dtype.kind == "c" and func in _OF_REAL:
            raise a.store.run.refuse(f"np.fft.{func.__name__} of complex numbers")
        axis = normalize_axis_index(axis, a.ndim)
        if a.dtype.kind == "c" and func in _TO_REAL:
            unit = np.eye(a.shape[axis])
            return _along(np.real(a), axis, func(unit, n, 0, norm)) + _along(
                np.imag(a), axis, func(1j * unit, n, 0, norm)
            )
        return _along(a, axis, func(np.eye(a.shape[axis]), n, 0, norm))

    return run


for _func in (np.fft.fft, np.fft.ifft, *_OF_REAL, *_TO_REAL):
    follows(_func)(_spectrum(_func))


def _spectra(one: Callable[..., Any], last: Callable[..., Any], axes_by_default: Any) -> Callable[..., Any]:
    """Make the rule of a transform along several axes, the last of them first."""

    def run(a: Any, s: Any = None, axes: Any = axes_by_default, norm: Any = None, out: Any = None) -> Any:
        if out is not None:
            raise a.store.run.refuse("a Fourier transform with out=")
        if axes is None:
            axes = range(a.ndim) if s is None else range(a.ndim - len(s), a.ndim)
        axes = [normalize_axis_index(axis, a.ndim) for axis in axes]
        lengths = [None] * len(axes) if s is None else [n if n != -1 else a.shape[i] for n, i in zip(s, axes)]
        made = last(a, lengths[-1], axes[-1], norm)
        for axis, n in zip(axes[-2::-1], lengths[-2::-1]):
            made = one(made, n, axis, norm)
        return made

    return run


for _several, _one, _last, _axes in (
    (np.fft.fft2, np.fft.fft, np.fft.fft, (-2, -1)),
    (np.fft.ifft2, np.fft.ifft, np.fft.ifft, (-2, -1)),
    (np.fft.fftn, np.fft.fft, np.fft.fft, None),
    (np.fft.ifftn, np.fft.ifft, np.fft.ifft, None),
    (np.fft.rfft2, np.fft.fft, np.fft.rfft, (-2, -1)),
    (np.fft.rfftn, np.fft.fft, np.fft.rfft, None),
):
    follows(_several)(_spectra(_one, _last, _axes))
follows(np.fft.fftshift)(_moving(np.fft.fftshift))
follows(np.fft.ifftshift)(_moving(np.fft.ifftshift))


# -- systems of equations ----------------------------------------------------------------------------------------------------


@follows(np.linalg.solve)
def _solve(a: Any, b: Any) -> Any:
    like = _first(a, b)
    if isinstance(a, Affine):
        raise like.store.run.refuse("np.linalg.solve of a matrix that depends on them")
    return np.matmul(np.linalg.inv(_known(a, like)), b)


# -- loops over an axis --------------------------------------------------------------------------------------------------------


@follows(np.apply_along_axis)
def _apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    axis = normalize_axis_index(axis, arr.ndim)
    lines = np.moveaxis(arr, axis, -1)
    lead = lines.shape[:-1]
    made = [func1d(lines[i], *args, **kwargs) for i in np.ndindex(lead)]
    if not made:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    whole = np.stack([affine(x, arr) for x in made])
    shape = whole.shape[1:]
    whole = whole.reshape(lead + shape)
    return np.moveaxis(whole, tuple(range(len(lead), whole.ndim)), tuple(range(axis, axis + len(shape))))


@follows(np.apply_over_axes)
def _apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    made = a
    for axis in normalize_axis_tuple(axes, a.ndim):
        found = func(made, axis)
        made = found if found.ndim == made.ndim else np.expand_dims(found, axis)
    return made


def _fill(a: Affine, value: Any) -> None:
    a[...] = value


METHODS["fill"] = _fill
