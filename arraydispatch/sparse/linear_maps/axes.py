"""Rules of ``matrix_from_function`` for functions that act as a constant matrix along an axis, and for NumPy's loops
over an axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from .affine import METHODS, Affine, affine, follows
from .functions import _along, _constant, _moving
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


# -- edges -------------------------------------------------------------------------------------------------------------------


@follows(np.pad)
def _pad(array: Affine, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    mode = "constant" if mode == "empty" else mode
    odd = kwargs.get("reflect_type") == "odd"
    if mode == "constant" and np.any(value := kwargs.pop("constant_values", 0)):
        return np.pad(array, pad_width) + np.pad(np.zeros(array.shape), pad_width, constant_values=value)
    if mode in ("constant", "edge", "wrap") or (mode in ("reflect", "symmetric") and not odd):
        return _moving(np.pad)(array, pad_width, mode, **kwargs)
    if mode not in ("mean", "linear_ramp") and not odd:
        raise array.store.run.refuse(f"np.pad with mode={mode!r}")
    widths = _pairs(pad_width, array.ndim)
    options = {
        key: _pairs(x, array.ndim)
        for key, x in kwargs.items()
        if key in ("end_values", "stat_length") and x is not None
    }
    made: Any = array
    for axis, (before, after) in enumerate(widths):  # one axis after the other, as NumPy does
        n = made.shape[axis]
        own = {key: ((*x[axis],), (0, 0)) for key, x in options.items()}
        if odd:
            own["reflect_type"] = "odd"  # type: ignore[assignment]
        if "stat_length" in own:
            own["stat_length"] = (own["stat_length"][0], (1, 1))
        edges = ((before, after), (0, 0))
        whole = np.pad(np.eye(n), edges, mode, **own)
        bias = np.pad(np.zeros((n, 1)), edges, mode, **own)
        made = _along(made, axis, whole - bias)
        if np.any(bias):
            made = made + bias.reshape([-1 if i == axis else 1 for i in range(made.ndim)])
    return made


def _pairs(widths: Any, ndim: int) -> list[tuple[Any, Any]]:
    """Normalize a parameter of ``np.pad`` to a pair for each axis."""
    if isinstance(widths, dict):
        found = {axis % ndim: x for axis, x in widths.items()}
        return [tuple(np.broadcast_to(found.get(i, 0), 2).tolist()) for i in range(ndim)]
    return [tuple(pair) for pair in np.broadcast_to(np.asarray(widths), (ndim, 2)).tolist()]


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


@follows(np.linspace)
def _linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0,
    *, device: Any = None,
) -> Any:  # fmt: skip
    like = _first(start, stop)
    start, stop = affine(start, like), affine(stop, like)
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts else (stop - start) * np.nan
    share = np.arange(num) / max(parts, 1)
    made = np.stack([start + (stop - start) * s for s in share]) if num else np.zeros_like(start)[None][:0]
    made = np.moveaxis(made if dtype is None else made.astype(dtype), 0, axis)
    return (made, step) if retstep else made


# -- polynomials ----------------------------------------------------------------------------------------------------------------


@follows(np.polyder)
def _polyder(p: Any, m: int = 1) -> Any:
    for _ in range(m):
        p = p[:-1] * np.arange(p.size - 1, 0, -1)
    return p


@follows(np.polyint)
def _polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    like = _first(p, k)
    constants = [0] * m if k is None else [*np.broadcast_to(_constant(k, like), (m,))]
    for c in constants:
        p = np.append(p / np.arange(p.size, 0, -1), c)
    return p


def _fill(a: Affine, value: Any) -> None:
    a[...] = value


METHODS["fill"] = _fill
