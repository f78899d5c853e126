"""Ufuncs that a library computes straight into an array's memory in the host state: ``x += y`` and ``out=``.

PyTorch reads and writes NumPy's memory, with several threads, and needs a seventh of NumPy's time for columns of a large matrix. The rows of
its own that do so are :attr:`arraydispatch.backends.base.Backend.INPLACE`; every other call that writes is NumPy's, in the host state.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends.base import Backend
from ..common import events
from ..common.process_state import process
from ..engine.recording.call_nodes import fits
from ..memory import views, writing
from ..runtime import settings
from ..ufuncs.plans import plan_for
from .fp_errors import UNTOUCHED, divides_without_error, in_force

ndarray = np.ndarray

_NUMBERS = (float, int, np.float64)


def computed(ufunc: np.ufunc, inputs: tuple[Any, ...], out: Any, backend: Backend) -> bool:
    """Have a library write a ufunc's result into ``out``, and say whether it did; if not, nothing was written.

    Parameters
    ----------
    ufunc : ufunc
    inputs : tuple
        Operands in the host state, and numbers.
    out : Array
        Where to write; its shape and dtype must be the result's.
    backend : Backend
        The library.
    """
    if ufunc not in backend.INPLACE or not isinstance(out, Handle) or type(out._v) is not ndarray:
        return False
    place, kind = out._v, out._kind
    if views.waiting or kind.standard or process.admit is not None or in_force() is not UNTOUCHED:
        return False
    if not settings.on_cpu(backend.name):
        return False
    if not (_is_shared(place) and views.writeable(out, True)) or writing.repeats(out) or place.dtype.char == "e":
        return False  # of half precision NumPy warns more often than the library's results are looked at
    operands = _operands(inputs, place, backend)
    if operands is None:
        return False
    plan = plan_for(ufunc, backend, tuple([backend.kind(x.dtype) for x in operands]), None)
    if plan.kernel is None or plan.out is not backend.kind(place.dtype):
        return False
    if plan.reported and not divides_without_error(ufunc, inputs[-1], place.dtype):
        return False
    start = perf_counter()
    with views.exchange, backend.within():
        natives = [backend.from_numpy(x, backend.CPU, False) for x in operands]
        target = natives[0] if operands[0] is place else backend.from_numpy(place, backend.CPU, False)
        if not backend.is_concrete(target):  # a program is being traced
            return False
        if plan.run is plan.kernel:
            plan.run(*natives, out=target)
        else:  # the first run, which finds out whether the kernel is all of it
            place[...] = backend.to_numpy(plan.run(*natives))
    views.owner(out)._writes += 1
    if events.tap is not None:
        events.tap.call(ufunc, backend.name, plan.kind, "", perf_counter() - start, target, 1, inputs)
    return True


def _is_shared(x: Any) -> bool:
    """Whether a library takes this memory as it is, to write there: aligned, of the machine's byte order, and no axis backwards."""
    size = x.dtype.itemsize
    return bool(x.flags.behaved and x.dtype.isnative and all(step > 0 and not step % size for step in x.strides))


def _operands(inputs: tuple[Any, ...], place: Any, backend: Backend) -> list[Any] | None:
    """Return values to compute with; None where the general way is needed, as for memory that is read here and written there."""
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
        if value is not place and np.may_share_memory(value, place):
            if value.dtype != place.dtype or value.__array_interface__ != place.__array_interface__:
                return None
            value = place
        found.append(value)
    dtypes = [x.dtype for x in found if type(x) is ndarray]
    try:
        if not dtypes or np.broadcast_shapes(*[np.shape(x) for x in found]) != place.shape:
            return None
        found = [x if type(x) is ndarray else _of_number(x, dtypes[0]) for x in found]
    except (ValueError, OverflowError):  # NumPy raises its error
        return None
    return None if any(x is None for x in found) else found


def _of_number(x: Any, dtype: np.dtype[Any]) -> Any:
    """Return a number as an array of no axes, if it takes part in another operand's dtype as NumPy has it; else None."""
    if type(x) is np.float64:
        takes_part = dtype == x.dtype
    else:
        takes_part = dtype.kind in ("f" if type(x) is float else "iuf") and fits(x, dtype)
    return np.array(x, dtype) if takes_part else None
