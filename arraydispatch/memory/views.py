"""Views on every backend: a root owns a native value; a view is (root, offset, shape, strides), as NumPy describes it.

NumPy decides what is a view. Every array can have a *ghost*: an ndarray of its shape, dtype and strides whose memory is
never touched (:mod:`arraydispatch.memory.ghosts`; 64 GiB use addresses but no memory). Slicing, transposing or
reshaping the ghost shows whether NumPy would alias or copy, and with which strides, and raises NumPy's own errors.

If native arrays can alias (numpy, torch), a view holds a native view. Otherwise, and for negative strides on torch, a
view is read by *compiling* its description into slices, flips, transposes and reshapes of the root (a gather if no
simpler steps exist). The value is cached until the root is written, and a write to the view goes through to the root. A view
of a view has the same root, so views of views cost no more.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

import numpy as np

from .._core.handles import Handle, compiled, maker
from .._core.machine import address_of
from ..backends import loader
from ..backends.base import Backend, Native
from ..backends.kinds import Kind
from ..common.buffers import WRITEABLE, axes_by_stride
from ..common.process_state import process
from ..common.pytrees import first, leaves, mapped
from ..runtime import conversion
from .ghosts import Ghost, stand_in, stand_in_like
from .reinterpretation import Placement, items, reread
from .roots import memory_of
from .view_programs import compile_view

frames = 0 if compiled else 1
"""Number of Python frames that a call of a function in a compiled module adds."""

waiting: dict[int, tuple[Any, ...]] = {}
"""``id`` of memory that pending values are computed from -> the tapes of these values. Code that writes the memory, or
exposes it, runs the tapes first.
"""
run_readers: Callable[[Handle], None] = lambda a: None
"""Runs the pending computations that read an array's memory; set by the engine."""

watch: Callable[[Handle, Native], None] | None = None
"""Hook while a transform runs: called with a root and the value about to be written; raises if the write is not allowed."""


@process.follows("watch")
def _follow() -> None:
    global watch
    watch = process.watch


process.wrapper = maker(Handle)  # the array layer sets its own


# -- reading ---------------------------------------------------------------------------------------------------------


def native(a: Handle) -> Native:
    """Return the current native value."""
    root = a._root
    if root is None:
        return a._v
    writes = root._writes  # read before the value: if a write comes meanwhile, the next access reads again
    if a._seen != writes:
        value = root._v
        try:
            read = _read(a, value)
        except Exception as error:
            with exchange:
                moved = a._root is not root
            if not (moved or replaced(root, value) or loader.mended(error)):
                raise
            return native(a)
        with exchange:
            if a._root is root:  # otherwise another thread has moved it to the host meanwhile
                a._v = read
                # On a mutable backend the root may change without notice, so the next access reads again.
                a._seen = NEVER if a._kind.backend.mutable else writes
    return a._v


def held(a: Handle) -> tuple[Kind, Native]:
    """Return kind and native value, read at one moment: between two reads another thread may move the value to the host."""
    while True:
        kind, value = a._kind, a._v if a._root is None else native(a)
        if a._kind is kind:
            return kind, value


NEVER = -1
INSIDE = -2
"""Value of ``_seen`` of a root that was wrapped while its library traced a user function: it belongs to that trace."""

exchange = threading.RLock()
"""Lock held while a root's buffer is donated and replaced, and while a buffer is exposed."""


settled: tuple[int, float] = (0, -1.0)
"""The thread that last moved a value to the host, and the time of the move."""
_A_CALL = 0.5  # seconds after which a call has certainly ended


def has_settled() -> None:
    """Note that this thread has just moved a value to the host."""
    global settled
    settled = threading.get_ident(), monotonic()


def moved_by_another_thread() -> bool:
    """Whether another thread has just moved a value to the host. A call may then have read the kind before the move and the
    memory after it.
    """
    thread, when = settled
    return thread != threading.get_ident() and monotonic() - when < _A_CALL


def exchange_is_mine() -> bool:
    """Whether this thread holds :data:`exchange`."""
    return exchange._is_owned()  # type: ignore[attr-defined]


def expose(a: Handle) -> Native:
    """Return the native value for other code to keep. Pending calls that read its memory, and a deferred value, are computed first; the
    root's ``_owned`` is cleared, because other code can see the buffer now.
    """
    if waiting:
        run_readers(a)
    with exchange:
        root = a if a._base is None else a._base
        root._owned = False
        kind, value = held(a)
        return kind.backend.settled(value) if kind.backend.defers else value


def lifted(a: Handle, device: Any = None) -> Native:
    """Return a value in the host state as a native array of the library, which callers neither write nor keep.

    For an immutable library it is a copy. A large copy is kept until the array is written, unless other code has seen the array's memory,
    which it might write unnoticed.
    """
    backend = a._kind.backend.home
    value = a._v
    if backend.mutable or value.nbytes <= conversion.REMEMBERED:
        return conversion.lift(backend, value, device)
    root = owner(a)
    writes = root._writes
    known = getattr(a, "_twin", None)
    if known is not None:
        twin, seen, asked, place = known
        # A result of the library has a known device; an array created without another one beside it has none.
        if seen == writes and root._owned and (device is asked or (device is not None and device == place)):
            return twin
    made = conversion.lift(backend, value, device)
    if root._owned and backend.is_concrete(made):  # otherwise the array belongs to the program being traced
        a._twin = made, writes, device, backend.device_of(made)
    return made


def replaced(a: Handle, value: Native) -> bool:
    """Whether another thread has written the array since ``value`` was read from it. Then the buffer of ``value`` may be gone."""
    if a._kind.backend.mutable:
        return False
    with exchange:
        return native(a) is not value


def keep_apart(arrays: Iterable[Any], results: Any, but: Handle | None = None) -> None:
    """Clear the ownership bit of arrays whose buffer a function's native results share; ``but``: except this root."""
    for a in leaves(arrays):
        if isinstance(a, Handle):
            root = owner(a)
            if root._owned and root is not but and not root._kind.backend.mutable:
                with exchange:
                    if _shares(root._kind.backend, root._v, results):
                        root._owned = False


def _shares(backend: Backend, value: Native, results: Any) -> bool:
    return first(lambda r: backend.is_native(r) and backend.may_share(r, value), (results,)) is not None


def ghost(a: Handle) -> Ghost:
    """Return NumPy's stand-in for the array: same shape, dtype, strides, flags and base relation; no data."""
    found = a._ghost
    if found is None:
        with exchange:  # if several threads create one, the first is kept, on which views of it lie
            found = a._ghost
            if found is None:
                found = a._ghost = _new_ghost(a)
    return found


def _new_ghost(a: Handle) -> Ghost:
    backend, dtype = a._kind.backend, a._kind.dtype
    if backend.native_is_ndarray:
        memory: Ghost = a._v
        return memory
    strides = backend.strides_of(a._v)
    if a._base is not None and strides is not None:
        return _ghost_in(a._base, a, strides)
    shape = backend.shape_of(a._v)
    if strides is not None and 0 not in shape:
        return _ghost_of_strides(shape, strides, dtype)
    try:
        return np.empty(shape, dtype)
    except MemoryError:
        return stand_in(shape, dtype)


def _ghost_in(root: Handle, a: Handle, strides: tuple[int, ...]) -> Ghost:
    """Return the ghost of a native view: a view of the root's ghost, at the same place."""
    backend, whole = a._kind.backend, ghost(root)
    dtype = a._kind.dtype
    size = dtype.itemsize
    offset = backend.offset_of(a._v) * size - backend.offset_of(root._v) * whole.itemsize
    if 0 in backend.shape_of(a._v):
        offset = 0
    flat = whole.base if isinstance(whole.base, np.ndarray) else whole
    locked = not flat.flags.writeable
    if locked:
        # Set after the view was made from a writeable array: views of read-only arrays are made only through ghosts.
        flat.flags.writeable = True
    made: Ghost = np.ndarray(
        backend.shape_of(a._v),
        dtype,
        flat if flat.flags.c_contiguous else flat.transpose(axes_by_stride(flat.strides)),
        offset,
        tuple(s * size for s in strides),
    )
    if locked:
        flat.flags.writeable = False
    return made


def _ghost_of_strides(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]) -> Ghost:
    plain = stand_in(shape, dtype)
    in_bytes = tuple(s * dtype.itemsize for s in strides)
    if all(n == 1 or s == t for n, s, t in zip(shape, in_bytes, plain.strides)):
        return plain
    span = 1 + sum((n - 1) * s for n, s in zip(shape, strides))
    made: Ghost = np.ndarray(shape, dtype, stand_in((span,), dtype), 0, in_bytes)
    return stand_in_like(made) if span == made.size else made  # `made` has these strides and owns its memory


def _alike(one: Ghost, other: Ghost) -> bool:
    """Whether two ndarrays of one shape have equal strides, in bytes or in elements, along all axes that are longer than 1."""
    return (
        one.strides == other.strides
        or not one.size
        or all(
            n == 1 or s * other.itemsize == t * one.itemsize for n, s, t in zip(one.shape, one.strides, other.strides)
        )
    )


def layout_of(g: Ghost) -> tuple[int, ...] | None:
    """Return the strides of a root's memory in elements; None if the memory is in C order."""
    return None if g.flags.c_contiguous else tuple(s // g.itemsize for s in g.strides)


def lay_out(a: Any, like: Ghost) -> Any:
    """Give ``a``, a new array that is not yet shared, the memory order of ``like``, an ndarray of its shape. Return ``a``, also if it is
    another object.
    """
    if not isinstance(a, Handle) or like.ndim < 2 or _alike(ghost(a), like):
        return a
    backend = a._kind.backend
    if backend.native_is_ndarray:
        value, a._v = a._v, np.empty_like(like, a._kind.dtype)
        a._v[...] = value
        a._ghost = None
    elif backend.mutable:
        order = axes_by_stride(like.strides)
        with backend.within():
            lines = backend.prim.copy(backend.prim.transpose(a._v, order))
            a._v = backend.prim.transpose(lines, tuple(int(i) for i in np.argsort(order)))
        a._ghost = None
    else:  # the value keeps its logical shape; only the description of its memory changes
        a._ghost = stand_in_like(like, a._kind.dtype)
    return a


def keep_order(a: Any, host: Ghost) -> Any:
    """Give a new array the memory order of the ndarray that its values came from, and return it."""
    if a._kind.backend.mutable or host.flags.c_contiguous:  # libraries with a memory order keep it themselves
        return a
    return lay_out(a, stand_in_like(host))


def writeable(a: Handle, to_write: bool = False) -> bool:
    """Whether the array has not been locked (``flags.writeable``).

    ``np.broadcast_arrays`` returns arrays that warn when ``flags.writeable`` is read; this function causes the warning only with
    ``to_write``.
    """
    seen = a._v if a._kind.backend.native_is_ndarray else a._ghost
    if seen is None:
        return True
    return bool(seen.flags.writeable if to_write else seen.flags.num & WRITEABLE)


def owner(a: Handle) -> Handle:
    """Return the root that an array belongs to: the array itself if it is a root."""
    return a if a._base is None else a._base


def placement_of(a_ghost: Ghost, root_ghost: Ghost) -> Placement:
    """Return offset, shape and strides of a view in units of its own elements, from the root's first byte."""
    size = a_ghost.itemsize
    offset = address_of(a_ghost) - address_of(root_ghost)
    return offset // size, a_ghost.shape, tuple([s // size for s in a_ghost.strides])


def _read(a: Handle, value: Native) -> Native:
    """Read a view's value from that of its root."""
    root, backend = owner(a), a._kind.backend
    try:
        if backend.scope is None:
            return _read_in_scope(a, root, value, backend)
        with backend.within():
            return _read_in_scope(a, root, value, backend)
    except Exception as error:
        loader.check_memory(error)
        raise


def _read_in_scope(a: Handle, root: Handle, value: Native, backend: Backend) -> Native:
    whole = ghost(root)
    placement, shape, layout = placement_of(ghost(a), whole), whole.shape, layout_of(whole)
    if backend.mutable:
        value, offset, shape, strides = items(root._v, root._kind, a._kind, placement)
        once = tuple(1 if s == 0 else n for s, n in zip(strides, shape))
        alias, flips = alias_of(backend, value, offset, once, strides)
        alias = backend.prim.flip(alias, flips)
        return alias if once == shape else backend.prim.broadcast_to(alias, shape)
    if a._kind is not root._kind:
        if layout is not None:
            value, layout = backend.prim.transpose(value, axes_by_stride(whole.strides)), None
        value = reread(backend, value, root._kind.dtype, a._kind.dtype)
        shape = backend.shape_of(value)
    return compile_view(shape, *placement, layout).read(backend, value)


def alias_of(
    backend: Backend, value: Native, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[Native, tuple[int, ...]]:
    """Return a native alias of a view with all strides made positive, and the axes along which it must be flipped."""
    flips = tuple(i for i, s in enumerate(strides) if s < 0 and shape[i] > 1)
    for i in flips:
        offset += strides[i] * (shape[i] - 1)
    return backend.strided(value, shape, tuple(abs(s) for s in strides), offset), flips


def on_host(a: Handle, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return ``values``, the elements of ``a`` as an ndarray, in the memory order that the strides of ``a`` describe.

    Callers may pass the strides on to ``as_strided``, which would read past the end of any other layout.
    """
    g = a._ghost
    if g is None:
        if values.flags.c_contiguous:
            return values
        g = ghost(a)  # results of a PyTorch program may have other strides: zeros are one broadcast number
    if _alike(values, g):
        return values
    seen = of_root_on_host(a)
    return _laid(values, g) if seen is None else seen


def of_root_on_host(a: Handle) -> np.ndarray[Any, Any] | None:
    """Return a view as an ndarray on its root's host memory, without computing its values; None for a root or a device
    array.
    """
    root = owner(a)
    if root is a or a._ghost is None:
        return None
    held = root._kind.backend.peek(expose(root))
    if held is None:
        return None
    whole = ghost(root)
    return located(a, held if _alike(held, whole) else _laid(held, whole))


def located(a: Handle, held: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Return a view as an ndarray in ``held``, the root's values on the host; ``held`` itself for a root; None if ``held`` does not have
    the root's strides.
    """
    root = owner(a)
    if root is a:
        return held
    with exchange:  # another thread may move the root and its views to the host
        g, whole = ghost(a), ghost(root)
    buffer = held.transpose(axes_by_stride(held.strides))
    if not (buffer.flags.c_contiguous and _alike(held, whole)):
        return None
    return np.ndarray(g.shape, g.dtype, buffer, address_of(g) - address_of(whole), g.strides)


def outgrows(a: Handle) -> bool:
    """Whether an array is a view that is read from its root and has more bytes than the root: a window or a broadcast."""
    return a._root is not None and ghost(a).nbytes > ghost(owner(a)).nbytes


def _laid(values: np.ndarray[Any, Any], like: Ghost) -> np.ndarray[Any, Any]:
    made = np.empty_like(like)
    made[...] = values
    return made


def can_reread(a: Handle, view_ghost: Ghost) -> bool:
    """Whether each element of a view is one item of the root's memory, if that is reinterpreted as items of the view's dtype."""
    size, whole = view_ghost.itemsize, ghost(owner(a))
    if not view_ghost.size:
        return whole.nbytes % size == 0
    offset = address_of(view_ghost) - address_of(whole)
    places = (offset, whole.nbytes, *(s for n, s in zip(view_ghost.shape, view_ghost.strides) if n > 1))
    return all(place % size == 0 for place in places)


# -- making views ----------------------------------------------------------------------------------------------------


def derive(a: Handle, view_ghost: Ghost) -> Any:
    """Return the view of ``a``'s root that ``view_ghost`` (made from ``a``'s ghost by NumPy) describes."""
    if a._kind.backend.native_is_ndarray:
        return _derived_on_host(a, view_ghost)
    with exchange:  # no thread moves the root and its views to the host before this one is registered
        backend = a._kind.backend  # read again: another thread may have been quicker
        return _derived_on_host(a, view_ghost) if backend.native_is_ndarray else _derived(a, view_ghost)


def _derived(a: Handle, view_ghost: Ghost) -> Any:
    root = owner(a)
    backend = a._kind.backend
    kind = a._kind if view_ghost.dtype == a._kind.dtype else a._kind.of(view_ghost.dtype)
    if backend.mutable:
        alias, flips = alias_of(backend, *items(root._v, root._kind, kind, placement_of(view_ghost, ghost(root))))
        if not flips:
            made = process.wrapper(alias, kind)
            made._base = root
            made._ghost = view_ghost
            _remember(root, made)
            return made
    made = process.wrapper(None, kind)
    made._root = made._base = root
    made._seen = NEVER
    made._ghost = view_ghost
    _remember(root, made)
    return made


def _derived_on_host(a: Handle, view_ghost: Ghost) -> Any:
    kind = a._kind if view_ghost.dtype == a._kind.dtype else a._kind.of(view_ghost.dtype)
    if moved_by_another_thread():
        view_ghost = _on_memory(view_ghost, a)
    made = process.wrapper(view_ghost, kind)
    made._base = owner(a)
    made._ghost = view_ghost
    return made


def _on_memory(seen: Ghost, a: Handle) -> Ghost:
    """Return a view ``a`` of memory that another thread has just moved to the host, as an ndarray; ``seen``: the ghost it had before."""
    before = memory_of(seen)
    if before is memory_of(a._v) or not seen.size:
        return seen
    memory = memory_of(owner(a)._v)
    offset = address_of(seen) - address_of(before)
    made: Ghost = np.ndarray(
        seen.shape, seen.dtype, memory.transpose(axes_by_stride(memory.strides)), offset, seen.strides
    )
    made.flags.writeable = seen.flags.writeable
    return made


_FEW = 32


def _remember(root: Handle, view: Handle) -> None:
    known = getattr(root, "_views", None)
    if known is None:
        known = root._views = []
    known.append(weakref.ref(view))
    if len(known) > _FEW and len(known) & (len(known) - 1) == 0:  # dead references are dropped at each doubling
        root._views = [each for each in known if each() is not None]


def readers(root: Handle) -> list[Handle]:
    """Return the live views of a root. These views must be derived again if the root's value moves to the host."""
    found = [each() for each in getattr(root, "_views", None) or ()]
    return [view for view in found if view is not None]


def _turned(g: Any, arrays: list[Handle], roots: dict[int, Handle]) -> Any:
    """Return the results of a NumPy function with each ghost replaced by the view that it stands for; raise _Copied if one is no view."""
    if isinstance(g, np.ndarray):
        for a in arrays:
            if g is a._ghost:  # NumPy returned its argument
                return a
        viewed = roots.get(id(memory_of(g)))
        if viewed is None:
            raise _Copied
        return derive(viewed, g)
    if isinstance(g, list | tuple):
        return mapped(lambda x: _turned(x, arrays, roots), g)
    if isinstance(g, np.generic):  # an element: the ghost's memory holds no values
        raise _Copied
    return g


def through_ghost(arrays: list[Handle], result: Any, copied: Callable[[], Any]) -> Any:
    """Turn the ghosts that a NumPy function returned into views; ``copied()`` computes the results that NumPy would copy."""
    roots = {id(memory_of(ghost(a))): a for a in arrays}
    try:
        return _turned(result, arrays, roots)
    except _Copied:
        made = copied()
    for copy in made if isinstance(made, list | tuple) else (made,):
        if isinstance(copy, Handle) and copy._kind.backend.mutable:  # a library may alias where NumPy copies
            backend = copy._kind.backend
            if any(a._kind.backend is backend and backend.may_share(copy._v, owner(a)._v) for a in arrays):
                copy._v, copy._ghost = backend.prim.copy(copy._v), None
    if not isinstance(result, np.ndarray):
        return made
    made = lay_out(made, result)
    if isinstance(made, Handle) and result.base is not None and not made._kind.backend.native_is_ndarray:
        # NumPy returns a view here too, of a private copy: locking it does not lock its base, so views of it can be
        # unlocked.
        made._ghost = ghost(made)[...]
    return made


class _Copied(Exception):
    pass


def derive_native(a: Handle, value: Native) -> Any:
    """Return the view of ``a`` that ``value`` is, on a backend with native views; its ghost is created on demand."""
    made = process.wrapper(value, a._kind)
    made._base = root = owner(a)
    _remember(root, made)
    return made
