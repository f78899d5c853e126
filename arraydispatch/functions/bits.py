"""Bits of elements: packing them into bytes and back, and the order of bytes."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..runtime import dtypes
from .operands import INTP, along, axis_of, filled, flat, moved, upload
from .registry import XP, implements

Native = Any

UINT8 = np.dtype(np.uint8)
_WEIGHTS = np.array([128, 64, 32, 16, 8, 4, 2, 1], np.uint8)


def _line(xp: XP, a: Native, axis: Any) -> tuple[Native, int]:
    if axis is None or not xp.ndim_of(a):
        return flat(xp, a), 0
    return a, axis_of(axis, xp.ndim_of(a))


@implements(np.packbits)
def packbits(xp: XP, a: Any, /, axis: Any = None, bitorder: str = "big") -> Native:
    a = xp.asarray(a)
    if xp.dtype_of(a).kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    a, axis = _line(xp, a, axis)
    last = xp.ndim_of(a) - 1
    bits = moved(xp, xp.prim.astype(xp.prim.astype(a, dtypes.BOOL), UINT8), axis, last)
    *rest, n = xp.shape_of(bits)
    count = (n + 7) // 8
    bits = xp.prim.pad(bits, [(0, 0)] * last + [(0, 8 * count - n)], 0)
    weights = upload(xp, _WEIGHTS if bitorder == "big" else _WEIGHTS[::-1].copy(), a)
    bytes_ = xp.sum(xp.multiply(xp.prim.reshape(bits, (*rest, count, 8)), weights), axis=-1, dtype=UINT8)
    return moved(xp, bytes_, last, axis)


@implements(np.unpackbits)
def unpackbits(xp: XP, a: Any, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> Native:
    a = xp.asarray(a)
    if xp.dtype_of(a) != UINT8:
        raise TypeError("Expected an input array of unsigned byte data type")
    if bitorder[:1] not in ("b", "l"):
        raise ValueError("'order' must begin with 'l' or 'b'")
    a, axis = _line(xp, a, axis)
    last = xp.ndim_of(a) - 1
    a = moved(xp, a, axis, last)
    *rest, n = xp.shape_of(a)
    weights = upload(xp, _WEIGHTS if bitorder[0] == "b" else _WEIGHTS[::-1].copy(), a)
    set_ = xp.not_equal(xp.bitwise_and(xp.prim.reshape(a, (*rest, n, 1)), weights), 0)
    bits = xp.prim.reshape(xp.prim.astype(set_, UINT8), (*rest, 8 * n))
    if count is not None:
        if isinstance(count, bool):
            raise TypeError("an integer is required")
        count = operator.index(count)
        wanted = count if count >= 0 else 8 * n + count
        if wanted < 0:
            raise ValueError("-count larger than number of elements")
        bits = along(xp, bits, last, 0, min(wanted, 8 * n))
        bits = xp.prim.pad(bits, [(0, 0)] * last + [(0, max(wanted - 8 * n, 0))], 0)
    return moved(xp, bits, last, axis)


def byteswapped(xp: XP, a: Native) -> Native:
    """Implement ``ndarray.byteswap``: reverse each element's bytes; for a complex element, those of its real and of its imaginary part."""
    if isinstance(a, np.ndarray):
        return a.byteswap()
    dtype = xp.dtype_of(a)
    if dtype.kind == "c":
        return xp.prim.complex(byteswapped(xp, xp.prim.real(a)), byteswapped(xp, xp.prim.imag(a)))
    size = dtype.itemsize
    if size == 1:
        return xp.prim.copy(a)
    signed = np.dtype(f"i{size}")
    bits = xp.prim.astype(xp.prim.view_dtype(a, signed), INTP)
    swapped = filled(xp, xp.shape_of(a), 0, INTP, a)
    for at in range(size):
        byte = xp.bitwise_and(xp.right_shift(bits, 8 * at), 0xFF)
        swapped = xp.bitwise_or(swapped, xp.left_shift(byte, 8 * (size - 1 - at)))
    return xp.prim.view_dtype(xp.prim.astype(swapped, signed), dtype)
