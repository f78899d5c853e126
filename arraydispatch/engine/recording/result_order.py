"""Memory order of a recorded call's result, as NumPy chooses it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..nodes import Node, like, strides_of

__all__ = ["order_of"]

_ndarray = np.ndarray


def order_of(values: list[Any], shape: tuple[int, ...], copies: bool) -> tuple[bool, bool] | None:
    """Return whether pieces are rows, and whether the result is in Fortran order; None if NumPy chooses another order.

    ``copies``: choose the order of a copy, in which an axis of stride 0 comes last; otherwise that axis stays in place.
    """
    c = f = True
    for v in values:
        if type(v) is _ndarray and min(v.strides, default=0) < 0:
            return None  # even for one element, because NumPy's exp then runs another loop
    for v in values:
        if type(v) is Node:
            if v.shape != shape:
                c = f = False
            elif v.form.fortran:
                c = False
            elif v.ndim > 1:
                f = False
        elif type(v) is _ndarray:
            if v.shape == shape:
                flags = v.flags
                c, f = c and flags.c_contiguous, f and flags.f_contiguous
            elif v.size != 1:
                c = f = False
    if 1 in shape and len(shape) > 1 and not _lie_as_new(values, shape, c or not f, copies):
        return None
    if c or f:
        return False, not c
    for v in values:
        if type(v) is Node:
            if v.form.fortran:
                return None
        elif type(v) is _ndarray and not _lies_in_c_order(v, copies):
            return None
    return True, False


def _lie_as_new(values: list[Any], shape: tuple[int, ...], in_c_order: bool, copies: bool) -> bool:
    """Whether NumPy gives the result of a call on ``values`` the strides of a new array, in C order or, unless ``in_c_order``, Fortran
    order.

    An array's flags do not tell this if an axis has length 1. ``copies``: whether the call copies one array (``astype``).
    """
    operands = [like(v.form) if type(v) is Node else v for v in values if type(v) is Node or type(v) is _ndarray]
    given = [x.dtype for x in operands]
    if copies:
        made = np.empty_like(operands[0], np.uint8)
    else:
        flags: Any = [*(["readonly"] for _ in operands), ["writeonly", "allocate"]]
        made = np.nditer([*operands, None], ["zerosize_ok"], flags, [*given, np.uint8], order="K").operands[-1]
    return bool(made.strides == strides_of(shape, 1, not in_c_order))


def _lies_in_c_order(x: np.ndarray[Any, Any], copies: bool) -> bool:
    before = None
    for n, stride in zip(x.shape, x.strides):
        if n != 1 and (stride or copies):
            if stride < 0 or (before is not None and stride > before):
                return False
            before = stride
    return True
