"""Reinterpretation of memory as another dtype, for reading and writing ``x.view(dtype)``, ``x.real`` and ``x.imag``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backends.base import Backend, Native, Unsupported
from ..backends.kinds import Kind
from ..common.buffers import axes_by_stride

Placement = tuple[int, tuple[int, ...], tuple[int, ...]]
"""Offset, shape and strides of a view, in units of its own elements."""
_BYTE = np.dtype(np.uint8)


def component(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the real and imaginary parts of a complex dtype."""
    return np.dtype(f"f{dtype.itemsize // 2}")


def reread(backend: Backend, value: Native, have: np.dtype[Any], want: np.dtype[Any]) -> Native:
    """Return a native array with the memory of ``value`` reinterpreted as items of the dtype ``want``.

    Smaller items form a new last axis; larger items form a flat array, unless the last axis is as long as one of them.
    On a mutable backend the result aliases, or Unsupported is raised, and callers use only its memory, not its shape.
    """
    prim = backend.prim
    if have == want:
        return value
    if backend.mutable:
        if have.kind == "c" and want == component(have):
            alias = prim.real(value)
        else:
            strides = backend.strides_of(value) or ()
            if have.itemsize != want.itemsize:  # flatten the memory, from the slowest axis to the fastest
                value = prim.reshape(prim.transpose(value, axes_by_stride(strides)), (-1,))
            alias = prim.view_dtype(value, want)
        if 0 not in backend.shape_of(value) and not backend.may_share(alias, value):
            raise Unsupported("its memory cannot be read as another dtype in place")
        return alias
    if have.kind == "c":
        shape = (*backend.shape_of(value), 1)
        parts = [prim.reshape(part(value), shape) for part in (prim.real, prim.imag)]
        return reread(backend, prim.concatenate(parts, len(shape) - 1), component(have), want)
    if want.kind == "c":
        part = component(want)
        pairs = reread(backend, value, have, part)
        shape = backend.shape_of(pairs)
        if shape[-1:] != (2,):
            pairs = prim.reshape(pairs, (-1, 2))
        shape = backend.shape_of(pairs)[:-1]
        whole = tuple(slice(0, n, 1) for n in shape)
        re, im = (prim.reshape(prim.slice(pairs, (*whole, slice(i, i + 1, 1))), shape) for i in (0, 1))
        return prim.complex(re, im)
    if have.itemsize == want.itemsize:
        return prim.view_dtype(value, want)
    if "b" in (have.kind, want.kind):
        return (
            reread(backend, reread(backend, value, have, _BYTE), _BYTE, want)
            if have.kind == "b"
            else (prim.view_dtype(reread(backend, value, have, _BYTE), want))
        )
    ratio = want.itemsize // have.itemsize
    if ratio > 1 and backend.shape_of(value)[-1:] != (ratio,):
        value = prim.reshape(value, (-1, ratio))
    return prim.view_dtype(value, want)


def items(value: Native, of: Kind, kind: Kind, placement: Placement) -> tuple[Any, ...]:
    """Return the value of a root of kind ``of`` as items of the dtype of ``kind``, the kind of a view, on a mutable backend, and the view's
    offset, shape and strides in units of these items; raise Unsupported if the memory cannot be read so.
    """
    backend, have, want = of.backend, of.dtype, kind.dtype
    if kind is of or have == want:
        return value, *placement
    if not backend.is_lazy(value):
        return reread(backend, value, have, want), *placement
    offset, shape, strides = placement
    if want != component(have) or have.kind != "c" or any(s % 2 for n, s in zip(shape, strides) if n > 1):
        raise Unsupported("its memory holds other values, which the library has not conjugated or negated yet")
    part = backend.prim.imag if offset % 2 else backend.prim.real  # the library's own function, which keeps the sign
    return part(value), offset - offset % 2, shape, strides
