"""Conversion of an array to another dtype: cast of the values, or reinterpretation of the memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends.base import LeftToNumPy
from ..common import events
from ..common.process_state import process
from ..common.sentinels import DECLINED
from ..common.user_warnings import warn_of_cast
from ..dispatch import fp_errors, host_fallback, host_results, repeating_views, wrapping
from ..memory import ghosts, views
from ..memory.views import ghost, native
from ..runtime import conversion, dtypes
from . import exports

__all__ = ["as_subclass", "astype", "read_only", "reread"]


def astype(a: Any, wanted: np.dtype[Any], order: Any, casting: Any, copy: bool) -> Any:
    """Implement ``ndarray.astype``; return an ndarray for a dtype that only the host has."""
    backend, have = a._kind.backend, a._kind.dtype
    dtypes.check_cast(have, wanted, casting)
    wanted = conversion.precise(wanted)
    if not copy and wanted == have and (order == "K" or a.flags["FORC" if order == "A" else order]):
        return a
    if dtypes.category(wanted) == "other" or not backend.holds(wanted):
        if dtypes.category(wanted) != "other":
            host_results.allow("ndarray.astype", backend, f"{backend.name} has no arrays of dtype {wanted}")
        conversion.left_on_host(wanted)
        return a._host("astype").astype(wanted, order)
    warn_of_cast(have, wanted)
    if a._root is not None and not backend.mutable:
        made = repeating_views.computed(np.ndarray.astype, (a, wanted, order), {}, backend)
        if made is not DECLINED:
            return made
    kind, value = views.held(a)
    backend = kind.backend
    with backend.within():
        if backend.native_is_ndarray:  # the result for a NaN depends on the order in which NumPy traverses the array
            parts = value.real if have.kind == "c" and wanted.kind in "fiu" else value  # the warning has been issued
            made = wrapping.beside_writers(np.ndarray.astype, parts, wanted, order)
        else:
            make = backend.prim.copy if wanted == have else backend.prim.astype
            made = wrapping.beside_writers(make, *((value,) if wanted == have else (value, wanted)))
    if have.kind in "fc" and (wanted.kind in "iu" or (wanted.kind in "fc" and wanted.itemsize < have.itemsize)):
        fp_errors.look_at_cast(value, wanted, backend)
    cast = process.wrapper(made, kind.of(wanted), True)
    plain = order == "K" and (a._ghost is None or a._ghost.flags.c_contiguous)
    return cast if plain and not backend.mutable else views.lay_out(cast, ghosts.stand_in_like(ghost(a), wanted, order))


def as_subclass(a: Any, dtype: Any, wanted: type) -> Any:
    """Return an array as an object of a subclass of ndarray, on the host; read-only if it does not share the array's memory."""
    seen = a._host("viewed as a subclass of ndarray").view(*() if dtype is None else (dtype,), type=wanted)
    if not (views.writeable(a, True) and a._kind.backend.shares_with_host(native(views.owner(a)))):
        seen.flags.writeable = False
    return seen


def reread(a: Any, how: Any, wanted: np.dtype[Any], *args: Any) -> Any:
    """Return ``how(a, wanted, *args)``, where ``how`` is a method of ndarray: as the view that the ghost shows if the library can alias,
    else on the host, read-only.

    A result that stays an ndarray because of its dtype is writable if the array's memory is on the host.
    """
    backend = a._kind.backend
    reason = ""
    if dtypes.category(wanted) == "other":
        reason = dtypes.only_on_host(wanted)
        if backend.is_concrete(native(a)) and exports.shares_with_host(a):
            return _reread_on_host(a, how(a._host(reason), wanted, *args), reason)
    else:
        seen = how(ghost(a), wanted, *args)
        if backend.native_is_ndarray:
            return views.derive(a, seen)
        if backend.holds(wanted) and views.can_reread(a, seen):
            if wanted.kind == "b" and a.dtype.kind != "b" and not backend.mutable:
                seen.flags.writeable = False  # all bits but 0 are read as 1: writing them back would change elements
            try:
                return views.derive(a, seen)
            except LeftToNumPy as unsupported:
                reason = unsupported.args[0]
    made = host_fallback.call(how, (a, wanted, *args), {}, backend, reason or f"{a.dtype} is reread as {wanted}")
    return read_only(made) if isinstance(made, Handle) else made


def _reread_on_host(a: Any, seen: np.ndarray[Any, Any], reason: str) -> np.ndarray[Any, Any]:
    events.left(f"a view of dtype {seen.dtype}", reason)
    if not views.writeable(a):
        seen.flags.writeable = False
    return seen


def read_only(a: Any) -> Any:
    """Make an array read-only and return it."""
    ghost(a).flags.writeable = False
    return a
