"""Inputs of a call for NumPy: the same values, in memory that NumPy may write. Also the test for calls that a library computes.

Views of one array become views of one copy, so that NumPy's write through one view is seen through the others, and
a view that has lost its array is detected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..._core.handles import Handle
from ...backends import loader
from ...backends.base import Backend
from ...backends.devices import Device
from ...common.arguments import PLAIN
from ...common.process_state import process
from ...common.pytrees import first
from ...dispatch import host_values
from ...dispatch.handover import handed
from ...memory import views
from ...runtime import dtypes, settings

_AS_THEY_ARE: tuple[Any, ...] = (*PLAIN, np.generic, np.ufunc, np.random.Generator, range, Backend, Device)
"""Types of arguments that are passed to NumPy unchanged."""
_WIDE = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}


class Unfit(Exception):
    """Call that cannot be run twice; the message says why."""


def to_host(a: Handle) -> np.ndarray[Any, Any]:
    """Return an ndarray of an array's values; it may share the array's memory, so use it only during the call."""
    kind, value = views.held(a)
    if kind.backend.hosted:  # neither kept nor written: the library's copy stays valid
        return kind.backend.to_numpy(value)
    return kind.backend.to_numpy(views.expose(a))


def _widened(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return _WIDE["f"] if dtypes.is_bfloat16(dtype) else _WIDE.get(dtype.kind, dtype)


class Hosts:
    """Arguments of one call as ndarrays.

    ``written``: whether the call may write into them, so that NumPy gets copies. ``widen``: convert floating values to float64 and
    complex128, because NumPy should compute as without a precision policy.
    """

    def __init__(self, written: bool, widen: bool) -> None:
        self.written = written
        self.widen = widen
        self._roots: dict[int, tuple[Any, _Copy]] = {}

    def of(self, x: Any) -> Any:
        """Convert an argument for NumPy; raise :class:`Unfit` if that is not possible."""
        return handed(x, self._array, self._other)

    def _other(self, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return self._ndarray(x)
        if isinstance(x, _AS_THEY_ARE):
            return self._wide_type(x) if self.widen else x
        backend = loader.backend_of(x)
        if backend is not None and not self.written:
            return self._widest(backend.to_numpy(x))
        if callable(x):
            raise Unfit("takes a function")
        raise Unfit(f"takes a {type(x).__name__}")

    def _wide_type(self, x: Any) -> Any:
        """Widen a dtype argument as values are widened: ``dtype=np.float32`` becomes float64. Return other arguments unchanged."""
        if isinstance(x, np.dtype) or (isinstance(x, type) and issubclass(x, np.inexact)):
            return _widened(np.dtype(x))
        return x

    def _widest(self, host: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if self.widen:
            return host.astype(_widened(host.dtype), copy=False)
        return host.astype(np.float32) if dtypes.is_bfloat16(host.dtype) else host

    def _ndarray(self, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if x.dtype.hasobject:
            raise Unfit("takes an array of Python objects")
        if not self.written:
            return self._widest(x)
        root = x
        while isinstance(root.base, np.ndarray):
            root = root.base
        return self._copy(root, root, root).view_at(x)

    def _array(self, a: Handle) -> np.ndarray[Any, Any]:
        root = views.owner(a)
        if not root._kind.backend.is_concrete(root._v):
            raise Unfit("is traced by a library")
        if a is root and not self.written:
            made = self._widest(to_host(a)).view()
        else:
            made = self._copy(root, views.ghost(root), to_host(root)).view_at(views.ghost(a))
        made.flags.writeable = self.written
        return made

    def _copy(self, root: Any, whole: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> _Copy:
        known = self._roots.get(id(root))
        if known is None:
            known = self._roots[id(root)] = root, _Copy(whole, self._widest(values), self.written)
        return known[1]

    def mutated(self) -> Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
        """Yield, for each array that the call may have written, its values now and those in NumPy's copy."""
        for root, copy in self._roots.values():
            yield (to_host(root) if isinstance(root, Handle) else root), copy.host


class _Copy:
    """Copy of a whole array's values, perhaps in a wider dtype, with the strides of ``whole`` (the array or its ghost), from which views can
    be taken. ``apart``: whether the memory must differ from that of ``values``.
    """

    def __init__(self, whole: np.ndarray[Any, Any], values: np.ndarray[Any, Any], apart: bool) -> None:
        self._whole = whole.dtype
        self._ratio = ratio = values.itemsize // whole.itemsize
        strides = tuple(s * ratio for s in whole.strides)
        self._low, high = np.lib.array_utils.byte_bounds(whole) if whole.size else (0, 0)
        self.host = values
        if not whole.size:
            self._memory = np.zeros(0, np.uint8)
        elif not apart and values.flags.c_contiguous and values.strides == strides:
            self._memory = values.reshape(-1).view(np.uint8)
        else:
            self._memory = np.zeros((high - self._low) * ratio, np.uint8)
            start = (_address(whole) - self._low) * ratio
            self.host = np.ndarray(whole.shape, values.dtype, self._memory, start, strides)
            self.host[...] = values

    def view_at(self, seen: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the view of the copy that corresponds to ``seen``, a view of the whole; raise :class:`Unfit` if widening forbids it."""
        dtype, ratio = self.host.dtype, self._ratio
        if seen.dtype != self._whole:
            if ratio != 1 and (seen.dtype.kind, self._whole.kind) != ("f", "c"):
                raise Unfit("reads memory as another dtype")
            dtype = seen.dtype if ratio == 1 else _WIDE["f"]
        if not seen.size:
            return np.zeros(seen.shape, dtype)
        offset = (_address(seen) - self._low) * ratio
        return np.ndarray(seen.shape, dtype, self._memory, offset, tuple(s * ratio for s in seen.strides))


def _address(x: np.ndarray[Any, Any]) -> int:
    found: int = x.__array_interface__["data"][0]
    return found


# -- which calls ------------------------------------------------------------------------------------------------------


def library_computes(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], writes: bool, made: bool) -> bool:
    """Whether a library computes a call of a function, or of a method given by name, as far as that is known before it runs.

    Only such calls need a comparison: other results are NumPy's own. If values are on the host, NumPy computes on small arrays, and
    moves, views and writes values of any size. ``writes``: whether the call writes to an argument; ``made``: whether it creates an array.
    """
    if not process.min_size:
        return True
    values = (*args, *kwargs.values())
    held = []

    def is_held_elsewhere(x: Any) -> bool:
        if not isinstance(x, Handle):
            return False
        kind, value = views.held(x)
        held.append(value)
        return not kind.backend.hosted and kind.backend.name != "numpy"

    if first(is_held_elsewhere, values) is not None:
        return True
    if not held:
        return not (made and settings.begins_on_host(settings.current_name()))
    if writes or process.backend == "numpy" or not host_values.large(values):
        return False
    if type(func) is str:
        func = getattr(np, func, None)
    return func is not None and host_values.computes(func, args, dict(kwargs))
