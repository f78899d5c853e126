"""``out=`` and ``where=`` of a ufunc: conversion, checks and writing."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends.base import Backend, Unsupported
from ..common.errors import listed
from ..runtime import settings
from ..ufuncs import ufunc_methods
from . import wrapping


def given(ufunc: np.ufunc, out: Any, method: str) -> tuple[Any, ...]:
    """Return ``out=`` as a tuple; empty without one, or for ``out=...``, which requests an array, not a scalar. Raise NumPy's errors."""
    if out is None or out is Ellipsis:
        return ()
    nout = ufunc.nout if method == "__call__" else 1
    if not isinstance(out, tuple):
        if nout > 1:
            raise TypeError("'out' must be a tuple of arrays")
        out = (out,)
    if len(out) != nout:
        raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
    if any(x is Ellipsis for x in out):
        raise TypeError("must use `...` as `out=...` and not per-operand/in a tuple")
    if not all(x is None or isinstance(x, Handle | np.ndarray) or hasattr(type(x), "__array_ufunc__") for x in out):
        raise TypeError("return arrays must be of ArrayType")
    return out


def into(
    ufunc: np.ufunc, outs: tuple[Any, ...], result: Any, backend: Backend, casting: str, precision: settings.Precision
) -> Any:
    """Write each result into its array in ``outs``; wrap a result whose item in ``outs`` is None. Return the array, or a
    tuple of several.
    """
    results = result if isinstance(result, tuple) else (result,)
    made = [
        wrapping.wrap_result(r, backend, "scalar", precision)
        if out is None
        else wrapping.write_out(out, r, backend, casting, fresh=True, by=ufunc)
        for out, r in zip(outs, results)
    ]
    return made[0] if len(made) == 1 else tuple(made)


def check_core(
    ufunc: np.ufunc, inputs: tuple[Any, ...], out: Any, shape: tuple[int, ...], options: dict[str, Any]
) -> None:
    """Raise NumPy's error if the core dimensions of a gufunc's ``out=`` differ from the result's; with ``axes=``, raise Unsupported."""
    if options.get("axes") is not None:
        raise Unsupported("out= does not fit the result of a call with axes=")
    signature = str(ufunc.signature)
    core = signature.partition("->")[2].count(",") + 1 if not signature.endswith("()") else 0
    core -= signature.endswith("?)") and sum(np.ndim(x) == 1 for x in inputs)
    have, want = out.shape[len(out.shape) - core :] if core else (), shape[len(shape) - core :] if core else ()
    for i, (n, m) in enumerate(zip(have, want)):
        if n != m:
            raise ValueError(
                f"{ufunc.__name__}: Output operand 0 has a mismatch in its core dimension {i}, with gufunc signature "
                f"{signature} (size {n} is different from {m})"
            )
    if len(have) != core:
        raise ValueError(
            f"{ufunc.__name__}: Output operand 0 does not have enough dimensions "
            f"(has {len(out.shape)}, gufunc core with signature {signature} requires {core})"
        )


def mask_of(where: Any, backend: Backend, like: Any) -> Any:
    """Return ``where=`` as a native mask on the device of ``like``, a native array, or True if there is no mask."""
    if where is True:
        return True
    if isinstance(where, Handle | np.ndarray):
        where = wrapping.to_native(where, backend, backend.device_of(like))
    return ufunc_methods.mask_of(where, backend, like)


def masked(result: Any, mask: Any, outs: tuple[Any, ...], backend: Backend) -> Any:
    """Return the results, broadcast to the shape of each ``out`` that is given, with the old values of ``out`` (or 0) where the mask is
    False.
    """
    results = list(result) if isinstance(result, tuple) else [result]
    prim = backend.prim
    asked = [backend.shape_of(results[0]), *([] if mask is True else [backend.shape_of(mask)])]
    full = np.broadcast_shapes(*asked, *(out.shape for out in outs if out is not None))
    for out in outs:
        if out is not None and out.shape != full:
            raise ValueError(
                f"non-broadcastable output operand with shape {listed(out.shape)} doesn't match the broadcast shape {listed(full)}"
            )
    for i, r in enumerate(results):
        out = outs[i] if i < len(outs) else None
        if backend.shape_of(r) != full:
            r = prim.broadcast_to(r, full)
            if out is None and mask is True:
                r = prim.copy(r)
        if mask is not True:
            dtype = backend.dtype_of(r)
            if out is None:
                before = prim.full((), 0, dtype, backend.device_of(r))
            else:
                before = wrapping.to_native(out, backend, backend.device_of(r))
                r = prim.astype(r, backend.dtype_of(before))
            r = prim.where(mask, r, before)
        results[i] = r
    return tuple(results) if isinstance(result, tuple) else results[0]
