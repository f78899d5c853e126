"""Ufuncs that a library computes directly into NumPy's memory, in the host state: ``x += y``, ``out=``, and very large results.

PyTorch reads and writes NumPy's memory, with several threads, and takes a seventh of NumPy's time for columns of a large matrix.
:attr:`arraydispatch.backends.base.Backend.INPLACE` lists these ufuncs; every other write in the host state is done by NumPy.
"""

from __future__ import annotations

from math import prod
from time import perf_counter
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends import loader
from ..backends.base import Backend
from ..common import events
from ..common.process_state import process
from ..common.sentinels import DECLINED
from ..engine.recording.call_nodes import fits
from ..memory import views, writing
from ..runtime import settings
from ..ufuncs.plans import Plan, plan_for
from . import host_results
from .fp_errors import UNTOUCHED, divides_without_error, in_force, look
from .memory_order import is_walked_otherwise

ndarray = np.ndarray

_NUMBERS = (float, int, np.float64)
FRESH = 1 << 24
"""Size in bytes from which a result gets memory of NumPy: in PyTorch's memory, zeroing new pages takes half of the call's time."""


def computed(ufunc: np.ufunc, inputs: tuple[Any, ...], out: Any, backend: Backend) -> bool:
    """Let a library write a ufunc's result into ``out``, an array of the result's shape and dtype; return whether it did. If not, nothing
    was written. ``inputs``: arrays in the host state, and numbers.
    """
    if ufunc not in backend.INPLACE or not isinstance(out, Handle) or type(out._v) is not ndarray:
        return False
    place, kind = out._v, out._kind
    if views.waiting or kind.standard or process.admit is not None or in_force() is not UNTOUCHED:
        return False
    if not settings.on_cpu(backend.name):
        return False
    if not (_is_shared(place) and views.writeable(out, True)) or writing.repeats(out) or place.dtype.char == "e":
        return False  # NumPy warns about half precision more often than the library's results are checked
    operands = _operands(inputs, place, backend)
    if operands is None:
        return False
    plan = plan_for(ufunc, backend, tuple([backend.kind(x.dtype) for x in operands]), None)
    if plan.kernel is None or plan.out is not backend.kind(place.dtype):
        return False
    if plan.reported and not divides_without_error(ufunc, inputs[-1], place.dtype):
        return False
    if _run(ufunc, inputs, plan, operands, place, backend) is None:
        return False
    views.owner(out)._writes += 1
    return True


def made(ufunc: np.ufunc, inputs: tuple[Any, ...], backend: Backend) -> Any:
    """Let a library compute a very large result of arrays in the host state into new memory of NumPy.

    Return the result, in the host state and in C order; :data:`DECLINED` if the result is smaller or in another order, or the library
    cannot write it.
    """
    if ufunc not in backend.INPLACE or process.admit is not None or not settings.on_cpu(backend.name):
        return DECLINED
    if settings.current_precision() is not None or not any(
        isinstance(x, Handle) and _is_very_large(x._v) for x in inputs
    ):
        return DECLINED
    operands = _operands(inputs, None, backend)
    if operands is None or any(not _is_shared(x) or is_walked_otherwise(x) for x in operands):
        return DECLINED
    plan = plan_for(ufunc, backend, tuple([backend.kind(x.dtype) for x in operands]), None)
    dtype, shape = plan.out.dtype, np.broadcast_shapes(*[x.shape for x in operands])
    if plan.kernel is None or plan.cast is not None or dtype.char == "e" or prod(shape) * dtype.itemsize < FRESH:
        return DECLINED
    place = np.empty(shape, dtype)
    ran = _run(ufunc, inputs, plan, operands, place, backend)
    if ran is None:
        return DECLINED
    if plan.reported or in_force() is not UNTOUCHED:
        look(ufunc, plan, *ran)
    return host_results.placed(place, loader.hosted(backend.name))


def _is_very_large(value: Any) -> bool:
    return type(value) is ndarray and value.size * 16 >= FRESH


def _run(
    ufunc: np.ufunc, inputs: tuple[Any, ...], plan: Plan, operands: list[Any], place: Any, backend: Backend
) -> tuple[tuple[Any, ...], Any] | None:
    """Run a plan's kernel into the ndarray ``place``; return its native operands and result, or None while a program is being traced."""
    start = perf_counter()
    with views.exchange, backend.within():
        natives = tuple([backend.from_numpy(x, backend.CPU, False) for x in operands])
        target = natives[0] if operands[0] is place else backend.from_numpy(place, backend.CPU, False)
        if not backend.is_concrete(target):
            return None
        if plan.run is plan.kernel:
            plan.run(*natives, out=target)
        else:  # the first run, which finds out whether the plan is just the kernel
            place[...] = backend.to_numpy(plan.run(*natives))
    if events.tap is not None:
        events.tap.call(ufunc, backend.name, plan.kind, "", perf_counter() - start, target, 1, inputs)
    return natives, target


def _is_shared(x: Any) -> bool:
    """Whether a library can read and write this memory: aligned, in native byte order, with positive strides."""
    size = x.dtype.itemsize
    return bool(x.flags.behaved and x.dtype.isnative and all(step > 0 and not step % size for step in x.strides))


def _operands(inputs: tuple[Any, ...], place: Any, backend: Backend) -> list[Any] | None:
    """Return the operands as ndarrays; None if the general path is needed, for example if an operand overlaps ``place``."""
    found: list[Any] = []
    for x in inputs:
        if type(x) in _NUMBERS:
            found.append(x)
            continue
        if (
            not isinstance(x, Handle)
            or x._kind.standard
            or not x._kind.backend.hosted
            or x._kind.backend.home is not backend
        ):
            return None
        value = x._v
        if type(value) is not ndarray:
            return None
        if place is not None and value is not place and np.may_share_memory(value, place):
            if value.dtype != place.dtype or value.__array_interface__ != place.__array_interface__:
                return None
            value = place
        found.append(value)
    dtypes = [x.dtype for x in found if type(x) is ndarray]
    try:
        if not dtypes:
            return None
        shape = np.broadcast_shapes(*[np.shape(x) for x in found])
        if place is not None and shape != place.shape:
            return None
        found = [x if type(x) is ndarray else _of_number(x, dtypes[0]) for x in found]
    except (ValueError, OverflowError):  # NumPy raises its own error
        return None
    return None if any(x is None for x in found) else found


def _of_number(x: Any, dtype: np.dtype[Any]) -> Any:
    """Return a number as a 0-d array of another operand's dtype, if NumPy computes in that dtype; else None."""
    if type(x) is np.float64:
        takes_part = dtype == x.dtype
    else:
        takes_part = dtype.kind in ("f" if type(x) is float else "iuf") and fits(x, dtype)
    return np.array(x, dtype) if takes_part else None
