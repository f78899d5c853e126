"""Conversion of arrays for code that takes ndarrays: a walk over the arguments of a call, and policies that convert an array.

:func:`handed` walks over lists, tuples and dicts and their subclasses (:func:`~arraydispatch.common.pytrees.mapped`)
and applies a policy, a function of an array. The policies of a call that NumPy or SciPy runs on the host are
methods of its :class:`Handover`:

``read``
    A read-only view: NumPy raises if code writes to it that was not declared to write.
``show``
    A read-only array with the strides of NumPy's own array, for code that writes to one layout and copies another.
``share``
    The array's memory if NumPy may write it, otherwise a writable copy; the same ndarray each time the array is passed.
``fill``
    A copy. :meth:`Handover.store` writes its values back to the array.
``lend``
    For code that may overwrite its arguments: an ndarray with the strides of NumPy's own array, because that code overwrites
    one layout and copies another. Its values are written back if they have changed, and results may be views of it.

:func:`peek` only reads: it reports nothing and exposes no memory. Other policies are in the modules that use them:
values in the host state (``dispatch/host_values.py``), ghosts (``memory/views.py``), memory that a compiled function writes
(``array/exports.py``), copies in which views of one array stay views of one array (``profiling/verification/host_inputs.py``).
A container in which nothing is replaced is passed itself. Objects, including dataclasses, are leaves, as for NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.handles import Handle
from .._core.machine import address_of
from ..common.arguments import PLAIN
from ..common.buffers import axes_by_stride, is_writeable
from ..common.pytrees import mapped
from ..memory import views
from ..memory.roots import memory_of
from ..runtime import conversion, dtypes, settings
from . import host_results, wrapping


def handed(x: Any, array: Callable[[Any], Any], other: Callable[[Any], Any] | None = None, dicts: bool = True) -> Any:
    """Return an argument with ``array(a)`` in place of each array ``a`` within it, and ``other(x)`` in place of every other leaf ``x``.
    With ``dicts=False``, dicts are leaves too, as for NumPy.
    """
    cls = type(x)
    if issubclass(cls, Handle):
        return array(x)
    if other is None and cls in PLAIN:
        return x

    def leaf(y: Any) -> Any:
        if issubclass(type(y), Handle):  # isinstance would ask an array for its __class__
            return array(y)
        return y if other is None else other(y)

    return mapped(leaf, x, dicts=dicts)


def peek(a: Any) -> np.ndarray[Any, Any]:
    """Return the values of an array, possibly sharing its memory; use them only at once, and do not write them."""
    kind, value = views.held(a)
    return kind.backend.to_numpy(value)


class Handover:
    """Hands the arrays of one call to NumPy or SciPy as ndarrays, and records which arrays are to be written back afterwards. ``why``:
    reason of the transfers, for reports.

    ``wide``: pass 16-bit values as 32-bit ones under a 16-bit precision policy, because NumPy has no linear algebra for them.
    """

    __slots__ = ("_filled", "_lent", "_memory", "_numpys", "_shared", "_shown", "wide", "why")

    def __init__(self, why: str, wide: bool = False) -> None:
        self.why, self.wide = why, wide
        self._filled: list[tuple[Any, np.ndarray[Any, Any]]] = []
        self._shared: dict[int, tuple[Any, np.ndarray[Any, Any]]] = {}
        self._lent: list[tuple[Any, np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []
        self._memory: dict[int, tuple[Any, np.ndarray[Any, Any], int]] = {}
        self._numpys: list[np.ndarray[Any, Any]] = []
        self._shown: list[tuple[Any, np.ndarray[Any, Any]]] = []

    def _values(self, a: Any) -> np.ndarray[Any, Any]:
        host = conversion.download(a._kind.backend, views.expose(a), self.why)
        if self.wide and a._kind.dtype.itemsize == 2 and settings.current_precision() in (16, "bf16"):
            return host.astype(dtypes.widen_half(host.dtype))
        return host

    @staticmethod
    def _copied(a: Any, host: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return a copy of values in the memory order that the array shows, for code that writes only to memory in Fortran order."""
        return host.copy("F" if host.ndim > 1 and a.flags.fnc else "K")

    def read(self, a: Any) -> np.ndarray[Any, Any]:
        """Return a read-only view of an array's values."""
        host = self._values(a).view()
        host.flags.writeable = False  # without reading the flag first, which warns for results of np.broadcast_arrays
        return host

    def show(self, a: Any) -> np.ndarray[Any, Any]:
        """Return a read-only ndarray of an array's values, with the strides of NumPy's own array unless ``wide`` changed the dtype."""
        values, g = self.read(a), views.ghost(a)
        if not g.size or values.dtype != g.dtype or values.strides == g.strides:
            self._shown.append((a, values))
            return values
        host = self._laid_out(a, g, values)
        host.flags.writeable = False
        return host

    def open(self, result: Any) -> None:
        """Make a result writable if it is NumPy's view of an array's own memory and the array is writable."""
        if type(result) is not np.ndarray or result.base is None or is_writeable(result):
            return
        for a, values in self._shown:
            root = views.owner(a)
            backend, memory = root._kind.backend, views.native(root)
            if views.writeable(a) and np.may_share_memory(result, values) and backend.shares_with_host(memory):
                result.flags.writeable = np.may_share_memory(values, backend.to_numpy(memory))

    def share(self, a: Any) -> np.ndarray[Any, Any]:
        """Return an array's memory, or a copy, as a writable ndarray; the same one if the array is passed twice."""
        if id(a) not in self._shared:
            host = self._values(a)
            self._shared[id(a)] = a, host if host.flags.owndata and host.flags.writeable else self._copied(a, host)
        return self._shared[id(a)][1]

    def fill(self, a: Any) -> np.ndarray[Any, Any]:
        """Return a copy of an array's values that will be written back."""
        host = self._values(a)
        wrapping.check_writeable(a)
        host = self._copied(a, host)
        self._filled.append((a, host))
        return host

    def lend(self, a: Any) -> np.ndarray[Any, Any]:
        """Return an ndarray that may be overwritten, with the strides of NumPy's own array; for a read-only array, a read-only ndarray.

        Views of one array overlap as NumPy's do.
        """
        if id(a) in self._shared:
            return self.share(a)
        if not views.writeable(
            a
        ):  # code that checks the flag is refused; LAPACK does not check it, and writes to a copy
            host = self.share(a).view()
            host.flags.writeable = False
            self._shared[id(a)] = a, host
            return host
        values = self._values(a)
        if views.native(a) is values:  # NumPy's own array
            host = values
        else:
            g = views.ghost(a)
            if not g.size or values.dtype != g.dtype:
                return self.share(a)
            host = self._laid_out(a, g, values)
            self._lent.append((a, host, values))
        self._shared[id(a)] = a, host
        return host

    def _laid_out(self, a: Any, g: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return an ndarray of these values with the memory layout of the array's ghost."""
        memory, start = self._memory_of(views.owner(a))
        host = np.ndarray(g.shape, g.dtype, memory, address_of(g) - start, g.strides)
        host[...] = values
        return host

    def _memory_of(self, root: Any) -> tuple[np.ndarray[Any, Any], int]:
        """Return memory for the views of a root, and the address of the first byte of the root's ghost."""
        if id(root) not in self._memory:
            start, end = np.lib.array_utils.byte_bounds(views.ghost(root))
            memory = np.zeros(end - start, np.uint8)  # no page is allocated until it is written
            self._memory[id(root)] = root, memory, start
        return self._memory[id(root)][1:]

    def other(self, x: Any) -> Any:
        """Return a value that is not an `Array` unchanged; remember ndarrays, because results may be views of them."""
        if isinstance(x, np.ndarray):
            self._numpys.append(x)
        return x

    def store(self) -> None:
        """Write back the values of filled copies, and of lent arrays that have changed."""
        for a, host in self._filled:
            host_results.store(a, host)
        self.bring_back()

    def bring_back(self) -> None:
        """Write back the values of lent arrays that have changed."""
        for a, host, values in self._lent:
            if host.tobytes() != values.tobytes():
                host_results.store(a, host)

    def target(self, result: Any) -> Any:
        """Return the array for which a result was passed as an ndarray, after its values are written back; for a view of a passed ndarray,
        the same view of the array. A result in the memory of a user's own ndarray is returned unchanged. Return None for other results.
        """
        for a, host in self._filled:
            if result is host:
                return a
        for a, host in self._shared.values():
            if result is host and host.dtype == a.dtype and self._has(a, host):
                return a
        if any(result is x for x in self._numpys):
            return result
        if type(result) is np.ndarray and result.size and result.base is not None:
            for root, memory, start in self._memory.values():
                if memory_of(result) is memory:
                    return _seen(root, result, start + address_of(result) - address_of(memory))
            for a, host in self._shared.values():
                if views.native(a) is host and memory_of(result) is memory_of(host):
                    return views.derive(a, result)
            if any(memory_of(result) is memory_of(x) for x in self._numpys):
                return result
        return None

    def _has(self, a: Any, host: np.ndarray[Any, Any]) -> bool:
        """Write the values of the ndarray that was passed for an array to the array, if they differ and the array is writable.

        Return whether the array has these values now.
        """
        if peek(a).tobytes() == host.tobytes():
            return True
        if views.writeable(a):
            host_results.store(a, host)
            return True
        return False


def _seen(root: Any, part: np.ndarray[Any, Any], address: int) -> Any:
    """Return the view of a root with the shape and strides of ``part``, at ``address`` in the ghost's memory; None if there is none."""
    memory = memory_of(views.ghost(root))
    lines = memory if memory.flags.c_contiguous else memory.transpose(axes_by_stride(memory.strides))
    view = np.ndarray(part.shape, part.dtype, lines, address - address_of(memory), part.strides)
    view.flags.writeable = part.flags.writeable
    return views.derive(root, view) if views.can_reread(root, view) else None
