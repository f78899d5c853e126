"""``np.fft``: padding, cropping, norms and several axes, written once over the four transforms a library has."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..common.user_warnings import warn
from ..runtime import dtypes
from . import layouts
from .contractions import conjugate
from .operands import along, itself
from .registry import XP, family, implements

_SWAPPED = {"backward": "forward", None: "forward", "ortho": "ortho", "forward": "backward"}

fourier = family(min_bits=32, layout=layouts.spectrum, error="sum", apart=True)


# -- shared ------------------------------------------------------------------------------------------------------------


def _real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return NumPy's dtype of real results: float64 for integers, that of the real part for complex numbers; float16 stays."""
    if dtype.kind == "c":
        return dtypes.FLOAT32 if dtype.itemsize == 8 else dtypes.FLOAT64
    return dtypes.inexact(dtype)


def _computed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the real dtype in which a library transforms arrays of this dtype."""
    return dtypes.widen_half(_real_dtype(dtype))


def _complex_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtypes.COMPLEX64 if _computed(dtype) == dtypes.FLOAT32 else dtypes.COMPLEX128


def _swap(norm: Any) -> str:
    if norm not in _SWAPPED:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return _SWAPPED[norm]


def _factor(norm: Any, n: int, forward: bool) -> float:
    """Return the factor for a norm, given that the library scales by 1 forward and by 1/n backward."""
    if norm not in _SWAPPED:  # NumPy's message lacks the space for forward transforms
        raise ValueError(
            f'Invalid norm value {norm}; should be "backward",{"" if forward else " "}"ortho" or "forward".'
        )
    if norm == "ortho":
        return 1 / math.sqrt(n) if forward else math.sqrt(n)
    if norm == "forward":
        return 1 / n if forward else float(n)
    return 1.0


def _points(n: Any) -> int:
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return operator.index(n)


def _sized(xp: XP, a: Any, sizes: dict[int, int]) -> Any:
    """Crop the array, or pad it with zeros, to these lengths of axes."""
    shape = xp.shape_of(a)
    if any(sizes[i] < shape[i] for i in sizes):
        a = xp.prim.slice(a, tuple(slice(0, min(n, sizes.get(i, n)), 1) for i, n in enumerate(shape)))
    if any(sizes[i] > shape[i] for i in sizes):
        a = xp.prim.pad(a, [(0, max(sizes.get(i, n) - n, 0)) for i, n in enumerate(shape)], _zero(xp, a))
    return a


def _zero(xp: XP, a: Any) -> Any:
    kind = xp.dtype_of(a).kind
    return 0j if kind == "c" else (0 if kind in "iu" else (False if kind == "b" else 0.0))


def _empty(xp: XP, a: Any, sizes: dict[int, int], dtype: np.dtype[Any]) -> Any:
    shape = tuple(sizes.get(i, n) for i, n in enumerate(xp.shape_of(a)))
    return xp.prim.full(shape, 0, dtype, xp.backend.device_of(a))


def _scaled(xp: XP, a: Any, factor: float) -> Any:
    return a if factor == 1 else xp.multiply(a, factor)


def _transform(xp: XP, a: Any, sizes: dict[int, int], norm: Any, forward: bool) -> Any:
    """Run complex transforms along distinct axes, forward or inverse. ``sizes``: axis -> number of points."""
    to = _complex_dtype(xp.dtype_of(a))
    factor = math.prod(_factor(norm, n, forward) for n in sizes.values())
    a = _sized(xp, a, sizes)
    if 0 in xp.shape_of(a):
        return _empty(xp, a, sizes, to)
    transform = xp.prim.fftn if forward else xp.prim.ifftn
    return _scaled(xp, transform(xp.prim.astype(a, to), tuple(sizes)), factor)


def _one(xp: XP, a: Any, n: Any, axis: Any, norm: Any, forward: bool) -> Any:
    a = xp.asarray(a)
    shape = xp.shape_of(a)
    n = _points(shape[axis] if n is None else n)
    _factor(norm, n, forward)
    return _transform(xp, a, {normalize_axis_index(axis, len(shape)): n}, norm, forward)


# -- one axis ----------------------------------------------------------------------------------------------------------


@fourier(np.fft.fft, apart="same")
def fft(xp: XP, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`numpy.fft.fft`."""
    return _one(xp, a, n, axis, norm, True)


@fourier(np.fft.ifft, apart="same")
def ifft(xp: XP, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`numpy.fft.ifft`."""
    return _one(xp, a, n, axis, norm, False)


@fourier(np.fft.rfft, apart="half")
def rfft(xp: XP, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`numpy.fft.rfft`."""
    a = xp.asarray(a)
    shape, dtype = xp.shape_of(a), xp.dtype_of(a)
    n = _points(shape[axis] if n is None else n)
    factor = _factor(norm, n, True)
    axis = normalize_axis_index(axis, len(shape))
    if dtype.kind == "c":
        np.fft.rfft(np.zeros(1, dtype), n)  # raises NumPy's error
    a = _sized(xp, a, {axis: n})
    if 0 in xp.shape_of(a):
        return _empty(xp, a, {axis: n // 2 + 1}, _complex_dtype(dtype))
    return _scaled(xp, xp.prim.rfft(xp.prim.astype(a, _computed(dtype)), axis), factor)


@fourier(np.fft.irfft, apart="twice")
def irfft(xp: XP, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`numpy.fft.irfft`."""
    a = xp.asarray(a)
    shape, dtype = xp.shape_of(a), xp.dtype_of(a)
    n = _points((shape[axis] - 1) * 2 if n is None else n)
    factor = _factor(norm, n, False)
    axis = normalize_axis_index(axis, len(shape))
    a = _sized(xp, a, {axis: n // 2 + 1})
    if 0 in xp.shape_of(a):
        return _empty(xp, a, {axis: n}, _real_dtype(dtype))
    result = _scaled(xp, xp.prim.irfft(xp.prim.astype(a, _complex_dtype(dtype)), n, axis), factor)
    return xp.prim.astype(result, _real_dtype(dtype))


@fourier(np.fft.hfft)
def hfft(xp: XP, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`numpy.fft.hfft`."""
    a = xp.asarray(a)
    n = (xp.shape_of(a)[axis] - 1) * 2 if n is None else n
    return irfft(xp, conjugate(xp, a), n, axis, _swap(norm))


@fourier(np.fft.ihfft)
def ihfft(xp: XP, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`numpy.fft.ihfft`."""
    return conjugate(xp, rfft(xp, a, n, axis, _swap(norm)))


# -- several axes --------------------------------------------------------------------------------------------------------


def _lengths(xp: XP, a: Any, s: Any, axes: Any, real_inverse: bool = False) -> tuple[list[Any], list[Any]]:
    """Return the numbers of points (None: the default of a 1-D transform) and the axes of the transforms, by NumPy's rules."""
    shape = xp.shape_of(a)
    shapeless = s is None
    if shapeless:
        s = shape if axes is None else np.take(shape, axes).tolist()
        if axes is not None and not isinstance(s, list):
            raise TypeError(f"{type(axes).__name__!r} object is not iterable")
    s = list(s)
    if axes is None:
        if not shapeless:
            warn(
                "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0). In a future version of NumPy, "
                "this will raise an error and `s[i]` will correspond to the size along the transformed axis specified by "
                "`axes[i]`. To retain current behaviour, pass a sequence [0, ..., k-1] to `axes` for an array of dimension "
                "k.",
                DeprecationWarning,
            )
        axes = range(-len(s), 0)
    axes = list(axes)
    if len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    if real_inverse and shapeless:
        s[-1] = (shape[axes[-1]] - 1) * 2
    if None in s:
        warn(
            "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0 and will raise an error in a "
            "future version of NumPy. To use the default behaviour of the corresponding 1-D transform, pass the value "
            "matching the default for its `n` parameter. To use the default behaviour for every axis, the `s` argument "
            "can be omitted.",
            DeprecationWarning,
        )
    return [shape[axis] if n == -1 else n for n, axis in zip(s, axes)], axes


def _several(xp: XP, a: Any, s: list[Any], axes: list[Any], norm: Any, forward: bool) -> Any:
    """Run transforms along several axes: all at once if the axes are distinct, otherwise one after the other from the last axis."""
    shape = xp.shape_of(a)
    for n, axis in zip(reversed(s), reversed(axes)):  # errors in NumPy's order
        points = _points(shape[axis] if n is None else n)
        _factor(norm, points, forward)
        normalize_axis_index(axis, len(shape))
    normal = [normalize_axis_index(axis, len(shape)) for axis in axes]
    if not normal:
        return a
    if len(set(normal)) == len(normal):
        sizes = {axis: shape[axis] if n is None else operator.index(n) for n, axis in zip(s, normal)}
        return _transform(xp, a, sizes, norm, forward)
    for n, axis in zip(reversed(s), reversed(normal)):
        a = _one(xp, a, n, axis, norm, forward)
    return a


def _untransformed(made: Any, a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """Return the argument ``a`` itself if there is no axis to transform, as NumPy does, else the result ``made``."""
    return itself(not (np.ndim(a) if axes is None and s is None else np.size(s if axes is None else axes)), made, a)


@fourier(np.fft.fftn, keeps=_untransformed)
def fftn(xp: XP, a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`numpy.fft.fftn`."""
    a = xp.asarray(a)
    return _several(xp, a, *_lengths(xp, a, s, axes), norm, True)


@fourier(np.fft.ifftn, keeps=_untransformed)
def ifftn(xp: XP, a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`numpy.fft.ifftn`."""
    a = xp.asarray(a)
    return _several(xp, a, *_lengths(xp, a, s, axes), norm, False)


def _untransformed_plane(made: Any, a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return _untransformed(made, a, s, axes)


@fourier(np.fft.fft2, keeps=_untransformed_plane)
def fft2(xp: XP, a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`numpy.fft.fft2`."""
    a = xp.asarray(a)
    return _several(xp, a, *_lengths(xp, a, s, axes), norm, True)


@fourier(np.fft.ifft2, keeps=_untransformed_plane)
def ifft2(xp: XP, a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`numpy.fft.ifft2`."""
    a = xp.asarray(a)
    return _several(xp, a, *_lengths(xp, a, s, axes), norm, False)


@fourier(np.fft.rfftn)
def rfftn(xp: XP, a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`numpy.fft.rfftn`."""
    a = xp.asarray(a)
    s, axes = _lengths(xp, a, s, axes)
    a = rfft(xp, a, s[-1], axes[-1], norm)
    return _several(xp, a, s[:-1], axes[:-1], norm, True)


@fourier(np.fft.rfft2)
def rfft2(xp: XP, a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`numpy.fft.rfft2`."""
    return rfftn(xp, a, s, axes, norm)


@fourier(np.fft.irfftn)
def irfftn(xp: XP, a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`numpy.fft.irfftn`."""
    a = xp.asarray(a)
    s, axes = _lengths(xp, a, s, axes, real_inverse=True)
    n, axis = s.pop(), axes.pop()
    a = _several(xp, a, s[::-1], axes[::-1], norm, False)  # NumPy transforms these axes from first to last
    return irfft(xp, a, n, axis, norm)


@fourier(np.fft.irfft2)
def irfft2(xp: XP, a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`numpy.fft.irfft2`."""
    return irfftn(xp, a, s, axes, norm)


# -- shifts --------------------------------------------------------------------------------------------------------------


@implements(np.fft.fftshift, layout=layouts.spectrum)
def fftshift(xp: XP, x: Any, axes: Any = None) -> Any:
    """`numpy.fft.fftshift`."""
    return _rolled(xp, x, axes, 1)


@implements(np.fft.ifftshift, layout=layouts.spectrum)
def ifftshift(xp: XP, x: Any, axes: Any = None) -> Any:
    """`numpy.fft.ifftshift`."""
    return _rolled(xp, x, axes, -1)


def _rolled(xp: XP, x: Any, axes: Any, sign: int) -> Any:
    """Roll each of the axes by half its length, forward or (``sign`` -1) back, as two slices and a concatenation."""
    x = given = xp.asarray(x)
    shape = xp.shape_of(x)
    if axes is None:
        if not shape:
            raise ValueError("not enough values to unpack (expected 2, got 0)")
        axes = range(len(shape))
    elif isinstance(axes, int | np.integer):
        axes = (axes,)
    shifts: dict[int, int] = {}
    for axis in axes:
        shift = sign * (shape[axis] // 2)
        axis = normalize_axis_index(axis, len(shape))
        shifts[axis] = shifts.get(axis, 0) + shift
    for axis, shift in shifts.items():
        n = shape[axis]
        cut = -shift % n if n else 0
        if cut:
            x = xp.prim.concatenate([along(xp, x, axis, cut, n), along(xp, x, axis, 0, cut)], axis)
    return xp.prim.copy(x) if x is given else x
