"""Writes under fused execution: ``a += b``, ``out=``, ``a[key] = b``, computed directly into their memory."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from sys import getrefcount
from typing import Any

import numpy as np

from ..._core.handles import Handle
from ...memory import views
from ...memory.roots import memory_of
from ..loops import cast
from ..nodes import Form, Node, PendingView, elsewhere
from . import block_reports, call_nodes, tape, updates
from .call_nodes import record
from .tape import Tape, mine

__all__ = ["inplace", "is_itself", "onto", "store"]

_ndarray = np.ndarray


def _references() -> int:
    """Return the number of references that :func:`inplace` counts to a value that only its array holds."""
    a = Handle()
    a._v = np.empty(0)
    v: Any = a._v
    return getrefcount(v)


_ALONE = _references()


def inplace(func: np.ufunc, a: Handle, other: Any) -> Any:
    """Compute ``a += other``; return None if the general path has to do it.

    If no other code can see the array's memory, the call is recorded and gets new memory. Otherwise the result is computed into the array's
    memory immediately.
    """
    v: Any = a._v
    if type(v) is _ndarray:
        if not v.flags.writeable:
            return None
        if a._base is not None:
            size = v.size
            del v
            # better computed directly into the array's memory
            pending = isinstance(other, Handle) and type(other._v) is Node
            if not pending and updates.updated(func, a, other):
                return a
            return a if size >= call_nodes.least and onto(func, (a, other), a) else None
        if v.size < call_nodes.least:
            return None
        if not _is_ours_alone(a):
            return a if onto(func, (a, other), a) else None
        a._ghost = None
        if getrefcount(v) != _ALONE:
            return a if onto(func, (a, other), a) else None
    elif type(v) is Node:
        if (ends := _ends(v, other)) is not None:  # after that the array has memory, shared by its views
            ends.run()
            return inplace(func, a, other)
    else:
        del v
        return a if type(a._v) is PendingView and updates.updated(func, a, other) else None
    like = v.dtype, v.shape
    del v
    return record(func, (a, other), None, a, like)


def _ends(node: Node, other: Any) -> Any:
    """Return the pending value whose tape must run before a call on a node and the operand ``other`` is recorded; else None."""
    if node.tape is not mine():
        return node
    return other._v if isinstance(other, Handle) and type(other._v) is PendingView else None


def _is_ours_alone(a: Handle) -> bool:
    v = a._v
    return a._base is None and a._owned and v.base is None and (a._ghost is None or a._ghost is v)


def onto(func: np.ufunc, inputs: tuple[Any, ...], a: Handle) -> bool:
    """Compute a ufunc into the memory of an array immediately, in pieces and threads; return whether that was possible."""
    v, tape_here = a._v, mine()
    if not _is_place(a, v) or v.size + tape_here.work < tape.IN_THREADS:
        return False
    if v.flags.c_contiguous:
        row = fortran = False
    elif v.flags.f_contiguous:
        row, fortran = False, True
    elif is_without_repeats(v):
        row, fortran = True, False
    else:
        return False
    with tape_here.lock:
        made = record(func, inputs, None, None, (v.dtype, v.shape), False)
        if made is None:
            return False
        node = made._v
        if type(node) is Node and node.tape is tape_here and _may_take(tape_here, node, v, row, fortran):
            _to_the_end(_compute, tape_here, node, v, row)
            if node.target is None:
                return False
        else:  # another part of this memory is read: compute the whole result before writing
            result = made._v if type(made._v) is _ndarray else _value_of(made)
            for other in views.waiting.get(id(memory_of(v)), ()):
                other.run(block_reports.MEMORY)
            v[...] = result
    views.owner(a)._writes += 1
    return True


def _value_of(a: Handle) -> Any:
    a._v.run(block_reports.PLACE)
    return a._v


def _is_place(a: Handle, v: Any) -> bool:
    """Whether the value of an array is an ndarray that may be written now."""
    if type(v) is not _ndarray or not call_nodes.least <= v.size < call_nodes.most:
        return False
    if not v.flags.writeable or views.watch is not None:
        return False
    kind = a._kind
    return kind.backend.hosted and not kind.standard and a._root is None


def _may_take(own: Tape, node: Node, v: np.ndarray[Any, Any], row: bool, fortran: bool) -> bool:
    """Whether pieces of a node of the tape ``own`` may be written over pieces of an ndarray, before the next pieces are computed."""
    if node.form.fortran != fortran or (row and node.form.pinned):
        return False
    memory = memory_of(v)
    if any(other is not own for other in views.waiting.get(id(memory), ())):
        return False
    same = v.__array_interface__["data"], v.strides, v.shape, v.dtype
    looked = 0
    while looked < len(own.buffers):  # a signal handler may record meanwhile, and add some
        looked = len(own.buffers)
        shifted = {id(x) for each in own.nodes for x in each.args[elsewhere(each.form.func) :]}
        for buffer in list(own.buffers.values()):
            x = buffer.array
            if memory_of(x) is not memory or not np.may_share_memory(x, v):
                continue
            if id(buffer) in shifted or (x.__array_interface__["data"], x.strides, x.shape, x.dtype) != same:
                return False
    return True


def is_itself(a: Handle, key: Any, given: Handle) -> bool:
    """Whether ``a[key] = given`` writes an array over itself, as ``a[key] += b`` does at the end."""
    v, x = a._v, given._v
    if type(v) is not _ndarray or type(x) is not _ndarray or given._base is None or given._base is not views.owner(a):
        return False
    if (
        x.size < tape.IN_THREADS
        or a._root is not None
        or given._root is not None
        or not v.flags.writeable
        or not _is_basic(key)
    ):
        return False
    place = v[key]
    return (
        place.__array_interface__["data"] == x.__array_interface__["data"]
        and (place.shape, place.strides, place.dtype) == (x.shape, x.strides, x.dtype)
        and views.watch is None
    )


def _is_basic(key: Any) -> bool:
    return all(type(k) in _BASIC for k in (key if type(key) is tuple else (key,)))


_BASIC = (int, slice, type(Ellipsis))


_SIGNALS = 10
"""Number of times that an interruption of a write is postponed before it is raised."""


def _to_the_end(call: Any, *args: Any) -> None:
    """Complete a write to memory of the program before an exception of a signal handler is raised.

    NumPy calls no handler in the middle of a write. ``call`` can begin again after any interruption.
    """
    interrupts: list[BaseException] = []
    while len(interrupts) < _SIGNALS:
        try:
            call(*args)
            break
        except MemoryError:
            raise
        except BaseException as signalled:  # noqa: BLE001 -- raised below
            interrupts.append(signalled)
    if interrupts:
        raise interrupts[0]


def _compute(own: Tape, node: Node, place: Any, row: bool, again: Any = None, given: Any = None) -> None:
    """Compute a node directly into the ndarray ``place``, by the tape ``own``. ``row``: whether it is computed row by row. ``again``: a node
    that reads the place, and becomes the value of the array ``given``.

    Do nothing if a signal handler has run the node before.
    """
    own._buffer(place)  # so that a signal handler that writes there runs the node first
    form = node.form.by_rows() if row else node.form
    if node.target is None:
        if node.tape is not own:
            return
        node.form, node.target, node.handle = form, place, None
    if again is None:
        own.run(block_reports.PLACE)
        return
    given._v = given._kind = given._root = again
    try:
        own.run(block_reports.PLACE)
    finally:
        if again.tape is None:
            own.add(again, [place])


def store(a: Handle, key: Any, given: Handle) -> bool:
    """Compute a pending ``given`` of ``a[key] = given`` into its place immediately; return whether that was possible."""
    v, own = a._v, mine()
    node: Any = given._v
    if type(v) is not _ndarray or type(node) is not Node or node.tape is not own or v.dtype != node.dtype:
        return False
    if not a._kind.backend.hosted or views.watch is not None:
        return False
    if not _is_basic(key):
        return False
    if tape.WRITING * own.work < tape.IN_THREADS or node.form.fortran or node.form.reduces() or not v.flags.writeable:
        return False
    try:
        place = v[key]
    except IndexError:
        return False
    if type(place) is not _ndarray or place.shape != node.shape or not is_without_repeats(place):
        return False
    row, memory = not place.flags.c_contiguous, id(memory_of(v))
    with own.lock:
        if memory in views.waiting:
            own.forget()
        if node.tape is not own or (row and node.form.pinned) or memory in views.waiting:
            return False
        # The holder of the assigned value gets a copy of the place, which is made before the place is written again.
        again = call_nodes.node_of(_form_of_copy(node.form.held, node.shape, row))
        again.handle = node.handle
        _to_the_end(_compute, own, node, place, row, again, given)
        if node.target is None:
            return False
    views.owner(a)._writes += 1
    return True


@lru_cache(1024)
def _form_of_copy(kind: Any, shape: tuple[int, ...], row: bool) -> Form:
    return Form(cast, kind, shape, prod(shape), row=row, ins=(kind.dtype,))


def is_without_repeats(x: np.ndarray[Any, Any]) -> bool:
    """Whether each element has its own memory, in C order."""
    reach = x.itemsize
    for n, stride in zip(reversed(x.shape), reversed(x.strides)):
        if n != 1:
            if stride < reach:
                return False
            reach = stride * n
    return True
