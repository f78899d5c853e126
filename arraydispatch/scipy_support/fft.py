"""``scipy.fft``: NumPy's transforms with SciPy's arguments, and the cosine and sine transforms over them."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..functions import fft as numpys
from ..functions.contractions import conjugate
from ..functions.operands import along
from ..functions.registry import XP, family
from ..runtime import dtypes
from . import implements
from .operand_checks import array, only

Body = Callable[..., Any]

_OPPOSITE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}

fourier = family(implements, min_bits=32, error="sum")


def _check_workers(workers: Any) -> None:
    """Raise SciPy's errors for ``workers=``; the library has threads of its own."""
    if workers is not None:
        count = operator.index(workers)
        if count == 0:
            raise ValueError("workers must not be zero")
        if count < -(os.cpu_count() or 1):
            raise ValueError(f"workers value out of range; got {count}, must not be less than {-(os.cpu_count() or 1)}")


def _taken(xp: XP, x: Any, plan: Any, workers: Any, real: bool = False) -> Any:
    _check_workers(workers)
    if plan is not None:
        raise NotImplementedError("Passing a precomputed plan is not yet supported by scipy.fft functions")
    x = array(xp, x)
    if xp.dtype_of(x) == dtypes.FLOAT16:
        x = xp.prim.astype(x, dtypes.FLOAT32)
    only(not dtypes.is_bfloat16(xp.dtype_of(x)), "SciPy has no bfloat16")
    if real and xp.dtype_of(x).kind == "c":
        raise TypeError("x must be a real sequence")
    return x


def _norm(norm: Any) -> Any:
    if norm not in _OPPOSITE:
        raise ValueError(f'Invalid norm value {norm!r}, should be "backward", "ortho" or "forward"')
    return norm


def _of_one_axis(body: Body, name: str, real: bool = False) -> None:
    @fourier(f"scipy.fft.{name}")
    def transform(
        xp: XP, x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None,
        *, plan: Any = None,
    ) -> Any:  # fmt: skip
        return body(xp, _taken(xp, x, plan, workers, real), n, axis, _norm(norm))


for _name in ("fft", "ifft", "irfft", "hfft"):
    _of_one_axis(getattr(numpys, _name), _name)
for _name in ("rfft", "ihfft"):
    _of_one_axis(getattr(numpys, _name), _name, real=True)


def _axes_and_lengths(xp: XP, x: Any, s: Any, axes: Any) -> tuple[list[int], list[int]]:
    """Check axes and lengths as SciPy's ``_init_nd_shape_and_axes``."""
    shape = xp.shape_of(x)
    ndim = len(shape)
    if axes is not None:
        axes = [operator.index(a) for a in (axes if np.iterable(axes) else (axes,))]
        axes = [a + ndim if a < 0 else a for a in axes]
        if any(a >= ndim or a < 0 for a in axes):
            raise ValueError("axes exceeds dimensionality of input")
        if len(set(axes)) != len(axes):
            raise ValueError("all axes must be unique")
    if s is None:
        axes = list(range(ndim)) if axes is None else axes
        lengths = [shape[a] for a in axes]
    else:
        s = [operator.index(n) for n in (s if np.iterable(s) else (s,))]
        if axes and len(axes) != len(s):
            raise ValueError("when given, axes and shape arguments have to be of the same length")
        if axes is None:
            if len(s) > ndim:
                raise ValueError("shape requires more axes than are present")
            axes = list(range(ndim - len(s), ndim))
        lengths = [shape[a] if n == -1 else n for n, a in zip(s, axes)]
    if any(n < 1 for n in lengths):
        raise ValueError(f"invalid number of data points ({lengths}) specified")
    return axes, lengths


def _of_several(body: Body, name: str, plane: bool, real: bool = False, back: bool = False) -> None:
    def transform(xp: XP, x: Any, s: Any, axes: Any, norm: Any, plan: Any, workers: Any) -> Any:
        x = _taken(xp, x, plan, workers, real)
        if back:
            only(s is not None or 1 not in xp.shape_of(x), "an axis of one element")
            given = None if s is None else [operator.index(n) for n in (s if np.iterable(s) else (s,))]
            only(given is None or (axes is not None and -1 not in given), "lengths without axes, or -1")
            return body(xp, x, given, axes, _norm(norm))
        axes, lengths = _axes_and_lengths(xp, x, s, axes)
        if not axes:
            only(real, "nothing to transform")
            raise ValueError("at least 1 axis must be transformed")
        return body(xp, x, lengths, axes, _norm(norm))

    if plane:

        @fourier(f"scipy.fft.{name}")
        def of_plane(
            xp: XP, x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: Any = False,
            workers: Any = None, *, plan: Any = None,
        ) -> Any:  # fmt: skip
            return transform(xp, x, s, axes, norm, plan, workers)
    else:

        @fourier(f"scipy.fft.{name}")
        def of_all(
            xp: XP, x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False,
            workers: Any = None, *, plan: Any = None,
        ) -> Any:  # fmt: skip
            return transform(xp, x, s, axes, norm, plan, workers)


def _hfftn(xp: XP, x: Any, s: Any, axes: Any, norm: Any) -> Any:
    return numpys.irfftn(xp, conjugate(xp, x), s, axes, _OPPOSITE[norm])


def _ihfftn(xp: XP, x: Any, s: Any, axes: Any, norm: Any) -> Any:
    return conjugate(xp, numpys.rfftn(xp, x, s, axes, _OPPOSITE[norm]))


for _plane in ("n", "2"):
    _of_several(numpys.fftn, f"fft{_plane}", _plane == "2")
    _of_several(numpys.ifftn, f"ifft{_plane}", _plane == "2")
    _of_several(numpys.rfftn, f"rfft{_plane}", _plane == "2", real=True)
    _of_several(numpys.irfftn, f"irfft{_plane}", _plane == "2", back=True)
    _of_several(_hfftn, f"hfft{_plane}", _plane == "2", back=True)
    _of_several(_ihfftn, f"ihfft{_plane}", _plane == "2", real=True)


@implements("scipy.fft.fftshift")
def fftshift(xp: XP, x: Any, axes: Any = None) -> Any:
    return numpys.fftshift(xp, x, axes)


@implements("scipy.fft.ifftshift")
def ifftshift(xp: XP, x: Any, axes: Any = None) -> Any:
    return numpys.ifftshift(xp, x, axes)


# -- cosine and sine transforms: along the last axis, of real numbers, unscaled --------------------------------------


def _turned(xp: XP, like: Any, angles: np.ndarray[Any, Any]) -> Any:
    """Return ``exp(i angles)`` in the precision, and on the device, of ``like``."""
    to = dtypes.COMPLEX64 if xp.dtype_of(like) in (dtypes.FLOAT32, dtypes.COMPLEX64) else dtypes.COMPLEX128
    return xp.backend.from_numpy(np.exp(1j * angles).astype(to), xp.backend.device_of(like))


def _cosines(xp: XP, x: Any, kind: int) -> Any:
    last = xp.ndim_of(x) - 1
    n = xp.shape_of(x)[last]
    k = np.arange(n)
    if kind == 1:
        if n < 2:
            raise RuntimeError("zero-length FFT requested")
        middle = along(xp, x, last, 1, n - 1)
        return xp.prim.real(xp.prim.rfft(xp.prim.concatenate([x, xp.prim.flip(middle, (last,))], last), last))
    if kind == 2:
        spectrum = xp.prim.rfft(xp.prim.concatenate([x, xp.prim.flip(x, (last,))], last), last)
        return xp.prim.real(xp.multiply(along(xp, spectrum, last, 0, n), _turned(xp, x, -np.pi * k / (2 * n))))
    if kind == 3:
        spectrum = xp.multiply(x, _turned(xp, x, np.pi * k / (2 * n)))
        padded = xp.prim.pad(spectrum, [(0, 0)] * last + [(0, 1)], 0j)
        return xp.multiply(along(xp, xp.prim.irfft(padded, 2 * n, last), last, 0, n), 2 * n)
    turned = xp.multiply(x, _turned(xp, x, -np.pi * k / (2 * n)))
    spectrum = xp.prim.fftn(xp.prim.pad(turned, [(0, 0)] * last + [(0, n)], 0j), (last,))
    made = xp.multiply(along(xp, spectrum, last, 0, n), _turned(xp, x, -np.pi * (2 * k + 1) / (4 * n)))
    return xp.multiply(xp.prim.real(made), 2)


def _sines(xp: XP, x: Any, kind: int) -> Any:
    last = xp.ndim_of(x) - 1
    n = xp.shape_of(x)[last]
    if kind == 1:
        zero = xp.multiply(along(xp, x, last, 0, 1), 0)
        odd = xp.prim.concatenate([zero, x, zero, xp.negative(xp.prim.flip(x, (last,)))], last)
        return xp.negative(along(xp, xp.prim.imag(xp.prim.rfft(odd, last)), last, 1, n + 1))
    host = np.where(np.arange(n) % 2, -1, 1).astype(xp.dtype_of(x))
    signs = xp.backend.from_numpy(host, xp.backend.device_of(x))
    if kind == 2:
        return xp.prim.flip(_cosines(xp, xp.multiply(x, signs), 2), (last,))
    return xp.multiply(_cosines(xp, xp.prim.flip(x, (last,)), kind), signs)


def _scaled_at(xp: XP, x: Any, places: Sequence[int], factor: float) -> Any:
    host = np.ones(xp.shape_of(x)[-1], xp.dtype_of(x))
    for i in places:
        host[i] *= factor
    return xp.multiply(x, xp.backend.from_numpy(host, xp.backend.device_of(x)))


def _transform(xp: XP, x: Any, sine: bool, kind: int, forward: bool, axis: int, norm: Any, orthogonal: Any) -> Any:
    if xp.dtype_of(x).kind == "c":
        parts = [_transform(xp, p, sine, kind, forward, axis, norm, None) for p in (xp.prim.real(x), xp.prim.imag(x))]
        return xp.prim.complex(*parts)
    order = [i for i in range(xp.ndim_of(x)) if i != axis] + [axis]
    x = xp.prim.transpose(x, tuple(order))
    n = xp.shape_of(x)[-1]
    kind = kind if forward else {2: 3, 3: 2}.get(kind, kind)
    orthogonal = norm == "ortho" if orthogonal is None else orthogonal
    ends = {(False, 1): (0, n - 1), (False, 2): (0,), (False, 3): (0,), (True, 2): (n - 1,), (True, 3): (n - 1,)}
    places = ends.get((sine, kind), ()) if orthogonal else ()
    if kind in (1, 3):
        x = _scaled_at(xp, x, places, math.sqrt(2))
    made = (_sines if sine else _cosines)(xp, x, kind)
    if kind in (1, 2):
        made = _scaled_at(xp, made, places, 1 / math.sqrt(2))
    length = 2 * (n - 1 if (sine, kind) == (False, 1) else n + 1 if (sine, kind) == (True, 1) else n)
    scaled = (norm or "backward") == ("forward" if forward else "backward")
    factor = 1 / math.sqrt(length) if norm == "ortho" else 1 / length if scaled else 1.0
    if factor != 1:
        made = xp.multiply(made, factor)
    return xp.prim.transpose(made, tuple(int(i) for i in np.argsort(order)))


def _ready(xp: XP, x: Any, kind: Any, workers: Any) -> Any:
    x = _taken(xp, x, None, workers)
    if kind not in (1, 2, 3, 4):
        raise ValueError("invalid DCT/DST type" if isinstance(kind, int) else "type must be an integer")
    return xp.prim.astype(x, dtypes.inexact(xp.dtype_of(x)))


def _real_transforms(name: str, sine: bool, forward: bool) -> None:
    @fourier(f"scipy.fft.{name}")
    def of_one(
        xp: XP, x: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False,
        workers: Any = None, orthogonalize: Any = None,
    ) -> Any:  # fmt: skip
        x = _ready(xp, x, type, workers)
        only(xp.ndim_of(x) > 0, "no axis")
        axis = normalize_axis_index(axis, xp.ndim_of(x))
        length = xp.shape_of(x)[axis] if n is None else operator.index(n)
        if length < 1:
            raise ValueError(f"invalid number of data points ({length}) specified")
        x = numpys._sized(xp, x, {axis: length})
        only(0 not in xp.shape_of(x), "an empty array")
        return _transform(xp, x, sine, type, forward, axis, _norm(norm), orthogonalize)

    @fourier(f"scipy.fft.{name}n")
    def of_several(
        xp: XP, x: Any, type: Any = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False,
        workers: Any = None, *, orthogonalize: Any = None,
    ) -> Any:  # fmt: skip
        x = _ready(xp, x, type, workers)
        axes, lengths = _axes_and_lengths(xp, x, s, axes)
        only(bool(axes) and 0 not in xp.shape_of(x), "nothing to transform")
        x = numpys._sized(xp, x, dict(zip(axes, lengths)))
        for axis in axes:
            x = _transform(xp, x, sine, type, forward, axis, _norm(norm), orthogonalize)
        return x


_real_transforms("dct", False, True)
_real_transforms("idct", False, False)
_real_transforms("dst", True, True)
_real_transforms("idst", True, False)
