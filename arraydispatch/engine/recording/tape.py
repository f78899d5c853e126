"""Tape of the calls that a thread has recorded and not yet run.

A call whose operands are in the host state, or pending on this thread's own tape, is recorded: its result is an array whose value is
a :class:`~arraydispatch.engine.nodes.Node`. The tape runs as a whole when a value is read, when memory that it reads is about to be
written or exposed to other code, when it is long or holds much memory, before a fork, and at exit.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from contextvars import copy_context
from math import prod
from time import perf_counter
from typing import Any, NoReturn

import numpy as np
from numpy import ndarray

from ..._core import handles
from ..._core.handles import Handle
from ..._core.machine import layout_of, owns_memory
from ...common import events
from ...common.arguments import SCALARS
from ...common.process_state import process
from ...common.sentinels import DECLINED
from ...memory import views
from ...memory.roots import memory_of
from ...memory.views import NEVER
from ...runtime import settings
from ..host_blocks import thread_pool
from ..host_blocks.blocks import Block, Short, needed, planned, whole_rounds
from ..loops import PYTHON, cast, fits, loop_of, select
from ..nodes import Buffer, Form, Node, PendingView, Shift, buffer_of, laid, node_of
from . import block_reports, fp_reports
from .fp_reports import now
from .result_order import order_of

__all__ = [
    "IN_THREADS", "LONGEST", "Tape", "array_of", "astype", "blank", "least", "mine", "operand", "record", "run_all", "where",
]  # fmt: skip

least = 0
"""Number of elements from which a call is recorded; 0 while no call is recorded."""
LONGEST = 200
"""Largest number of nodes on a tape."""
ROUNDS = 128
"""Number of nodes after which the tape looks for a loop, of which it then runs whole rounds."""
MOST_BYTES = 1 << 30
"""Largest number of bytes that a tape keeps alive: the memory that its nodes read, and their values."""
DEAD_BYTES = 1 << 24
"""Number of bytes that only the tape keeps alive at which it runs, unless a few arrays are larger."""
IN_THREADS = 1 << 19
"""Number of computed elements of eight bytes from which threads compute a block; waking them takes 40 µs."""

_MUCH = "it held much memory"

_ndarray = np.ndarray
_live: set[Tape] = set()


_cls: Any = None
"""Class of every new array."""
_every: Any = None
_waiting = views.waiting
_ref, _NOTHING, _DECLINED = weakref.ref, fp_reports.NOTHING, DECLINED


@process.follows("tap")
def _listen() -> None:
    global _every
    _every = events.every


@process.follows("backend", "devices", "execution", "min_size", "overrides", "rules", "suspended", "wrapper")
def _follow() -> None:
    """Switch recording on or off, as the state of the process says."""
    global _cls, least
    _cls = getattr(process.wrapper, "__self__", _cls)
    fused = process.execution == "fused" and settings.only_values_decide() and settings.on_cpu(process.backend)
    elements = process.min_size if fused else 0
    if elements and not least:
        fp_reports.begin()
    least = elements


def run_all() -> None:
    """Run the tapes of all threads."""
    for tape in list(_live):
        tape.run(block_reports.END)


def _forget_locks() -> None:
    """Replace locks after a fork, in which nothing is pending and no other thread holds a lock."""
    _live.clear()
    views.waiting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=run_all, after_in_child=_forget_locks)


# -- one thread's tape -------------------------------------------------------------------------------------------------


class _Failed:
    """Tape of the nodes of a block that has failed, which will have no value."""

    def __init__(self, failure: BaseException) -> None:
        self.failure = failure

    def run(self, *why: str) -> NoReturn:
        raise self.failure


def _value(node: Node) -> Any:
    """Return the value of an earlier node of the same block, or raise the error that prevented it."""
    if type(node.tape) is _Failed:
        node.tape.run()
    return node.value


class Tape:
    """Nodes in the order in which they were recorded.

    Attributes
    ----------
    running : list of Node or None
        Those that a run has begun with.
    block : Block or None
        While threads compute it.
    views : list of weakref
        To pending views of the nodes' arrays, which they keep alive as long as somebody has them.
    little : int
        Bytes read and made up to which nothing of this is asked.
    most : int
        Nodes with which it is run, or is asked for how many it is.
    bytes, made, seen : int
        Of what they read; of what they make; of what has been asked whether anybody else still has it.
    work : int
        Of all nodes.
    lines : dict
        Number of a node -> the line that recorded it, where a listener wants to know.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.nodes: list[Node] = []
        self.running: list[Node] | None = None
        self.block: Block | None = None
        self.buffers: dict[int, Buffer] = {}
        self.views: list[Any] = []
        self.lines: dict[int, Any] = {}
        self.alone = (self,)
        self._begin()

    def _begin(self) -> None:
        self.bytes = self.made = self.seen = self.work = self.count = 0
        self.most = ROUNDS
        self.little = min(DEAD_BYTES // 4, MOST_BYTES)

    def add(self, node: Node, values: list[Any]) -> None:
        """Record a node that computes with these values, which must not be written from now on.

        An exception that a signal handler raises meanwhile leaves everything as it was.
        """
        with self.lock:
            self._add(node, values)

    def _add(self, node: Node, values: list[Any]) -> None:
        place = None if _every is None else _every.place()
        while True:
            nodes = self.nodes
            args: list[Any] = []
            refs: list[int | None] = []
            for x in values:
                if type(x) is Node and x.tape is not self:  # a handler has run it
                    x.run()
                    x = x.value
                if type(x) is _ndarray:
                    buffer: Buffer = self._buffer(x)
                    refs.append(-1 - buffer.number)
                    args.append(buffer)
                elif type(x) is Node:
                    earlier: Node = x
                    refs.append(earlier.number)
                    args.append(earlier)
                else:
                    refs.append(None)
                    args.append(x)
            read, numbers = tuple(args), tuple(refs)
            if not nodes:
                _live.add(self)
            if nodes is self.nodes:  # No call from here on: where there is none, no handler runs.
                node.args, node.refs, node.number, node.tape = read, numbers, self.count, self
                self.count += 1
                if place is not None:
                    self.lines[node.number] = place
                nodes += [node]
                self.work += node.form.work
                self.made += node.form.nbytes
                return

    def become(self, a: Handle, node: Node, values: list[Any]) -> None:
        """Record a node that computes with an array's value and others, and make it the array's value; do all of that or nothing."""
        node.handle = _ref(a)
        with self.lock:
            self._add(node, values)
            a._v = a._kind = a._root = node  # type: ignore[assignment]
            a._seen = NEVER
            if type(values[0]) is Node:
                replaced: Node = values[0]
                replaced.handle = None
            if node.tape is not self:  # a handler has run it
                self._hand_over(node)

    def _buffer(self, x: np.ndarray[Any, Any]) -> Buffer:
        at = id(x)
        found = self.buffers.get(at)
        if found is None:
            key = at if x.base is None else id(memory_of(x))
            found = self.buffers[at] = buffer_of(x, len(self.buffers), key)
            self.bytes += x.nbytes
            others = _waiting.get(key)
            if others is None:
                _waiting[key] = self.alone
            elif self not in others:
                _waiting[key] = (*others, self)
        return found

    def full(self) -> str:
        """Why it has to be run, because of its length or of what it keeps; empty where it has not."""
        count = len(self.nodes)
        if count < self.most and self.bytes + self.made <= self.little:
            return ""
        if count >= self.most:
            self.most = whole_rounds([node.form for node in self.nodes], LONGEST)
        if count >= self.most:
            return f"it had {count} calls"
        if self.bytes > MOST_BYTES:
            return _MUCH
        if self.bytes - self.seen > DEAD_BYTES // 4 and self._keeps_dead():
            return _MUCH
        if self.bytes + self.made > MOST_BYTES and not count % 16 and self._holds_much():
            return _MUCH
        return ""

    def _keeps_dead(self) -> bool:
        """Whether it alone keeps so much that would be used again by now: new memory costs as much as a sum."""
        self.seen = self.bytes
        sizes = [x.array.nbytes for x in self.buffers.values()]
        dead = sum(x.array.nbytes for x in self.buffers.values() if x.is_dead())
        return bool(dead > max(DEAD_BYTES, 4 * max(sizes)))

    def _holds_much(self) -> bool:
        return self.bytes + sum(node.form.nbytes for node in self.nodes if node.is_held) > MOST_BYTES

    def run(self, why: str = block_reports.LOOKED) -> None:
        """Have all values there; ``why`` is for whoever listens.

        Whatever a signal interrupts can be begun again, here or by the handler itself: a run of this thread's own writes
        nothing but new memory, and of one that other threads do, the end is waited for. It is in a context of its own, with which
        the error state ends that it sets for NumPy, wherever it is interrupted.
        """
        interrupt: BaseException | None = None
        with self.lock:
            nodes, block = self.running, self.block
            if nodes is None or block is None or block.group is not nodes:
                # Of an interrupted run that had no plan, with what has been recorded since.
                nodes, block = list(self.nodes), None
            if not nodes:
                return  # another thread has been here
            self.running = nodes
            tap, listens = events.tap, events.every is not None
            start, aside = perf_counter() if tap is not None or listens else 0.0, 0.0
            if block is None:
                try:
                    block = self._plan(nodes)
                except MemoryError:
                    copy_context().run(self._one_by_one, nodes)
                    return
            if listens:
                aside = block_reports.measured(block)
            if block.helpers and not self._hand_out(block):
                block = self._plan(nodes, threads=False)
            if not block.helpers:  # whoever interrupts it can begin it again
                self.block = block
                if block.numpys:
                    copy_context().run(block.help)
                else:
                    block.help()
            else:
                while not block.done.is_set():
                    try:
                        block.done.wait()
                    except BaseException as signalled:  # noqa: BLE001 -- raised below
                        interrupt = signalled
            failure = block.failure
            if self._is_due(nodes) and not block.helpers and isinstance(failure, MemoryError):
                copy_context().run(self._one_by_one, nodes)
                return
            lines = self.lines
            if not self._is_due(nodes):
                failure = None
            elif failure is None or block.helpers:
                self._end(nodes, block)
            if listens:
                block_reports.tell(block, why, perf_counter() - start - aside, lines)
            elif tap is not None:
                size = 0
                for each in nodes:
                    node: Node = each
                    size += node.form.size
                node = nodes[0]
                tap.block_counted(node.form.held.backend.name, len(nodes), perf_counter() - start, size)
        if interrupt is not None:
            raise interrupt
        if failure is not None:
            raise failure
        if block.errors:
            fp_reports.tell(block)

    def _is_due(self, nodes: list[Node]) -> bool:
        """Whether a run is still to end; a signal's handler may have ended it."""
        return self.running is nodes

    def _plan(self, nodes: list[Node], threads: bool = True) -> Block:
        left = needed(nodes)
        count = 0
        if threads and self.work >= IN_THREADS and sum([node.form.work for node in left]) >= IN_THREADS:
            count = thread_pool.count()
        if len(left) > 1 or count or not left:
            for each in left:
                node: Node = each
                node.form.alone = 0
        elif left[0].target is None:
            left[0].form.alone += 1
        block = planned(left, count) if left else Short(left)
        block.group, block.tape = nodes, self
        return block

    def _hand_out(self, block: Block) -> bool:
        """Have threads begin; again, where a signal came in between and its handler wants the values. False where none can be had."""
        self.block = block
        try:
            copy_context().run(thread_pool.run, block, block.helpers)
        except RuntimeError:  # as at the end of the process
            return False
        return True

    def _one_by_one(self, nodes: list[Node]) -> None:
        """Run each call by itself if memory is too small for the block, so that only calls without enough memory fail."""
        for node in nodes:
            if not self._is_due(nodes):
                return
            if node.value is None and node.tape is self:
                try:
                    values = [x.array if type(x) is Buffer else x for x in node.args]
                    values = [_value(x) if type(x) is Node else x for x in values]
                    made = node.target
                    if made is None:
                        made = np.empty(node.shape, node.dtype, "F" if node.form.fortran else "C")
                    with np.errstate(all="ignore"):
                        node.form.func(*values, out=made)
                except Exception as failure:  # noqa: BLE001 -- whoever looks at this value hears of it
                    node.tape = _Failed(failure)
                else:
                    node.value = made
        for node in nodes:
            self._hand_over(node)
        self._clear(nodes)

    def _hand_over(self, node: Node) -> None:
        there = None if node.handle is None else node.handle()
        if there is None or there._v is not node or node.value is None:
            return
        if isinstance(there, Handle):
            a: Handle = there
            a._kind = node.form.held
            a._v = node.value
            a._root = None  # the last: until then, whoever reads the array waits for this thread
        else:
            there._kind = node.form.held
            there._v = node.value
            there._root = None

    def _end(self, nodes: list[Node], block: Block) -> None:
        """Give the arrays their values. Begun twice, it comes to the same."""
        if block.failure is not None:
            for node in nodes:
                node.tape = _Failed(block.failure)
        else:
            results = block.results
            for i, each in enumerate(block.nodes):
                done: Node = each
                done.value = results.get(i)
                if done.handle is not None:
                    self._hand_over(done)
        self._clear(nodes)
        block.let_go()

    def _clear(self, nodes: list[Node]) -> None:
        for each in nodes:
            node: Node = each
            if node.tape is self:
                node.tape = None
        rest: list[Node] = []  # what a handler has recorded meanwhile
        for each in self.nodes:
            node = each
            if node.tape is self:
                rest.append(node)
        self.nodes = rest
        if self.views:
            here = [view for look in self.views if (view := look()) is not None]
            seen = [view._v for view in here if type(view._v) is PendingView]
            for part in seen:
                part.settle()
            self.views = [part.view for part in seen if type(part.root._v) is Node]
        self.running = self.block = None
        self._let_go()

    def forget(self) -> None:
        """Leave out what nobody can ask for any more."""
        if self.running is None:
            self.nodes = needed(self.nodes)
            self._let_go()

    def _let_go(self) -> None:
        if not self.nodes:
            for each in self.buffers.values():
                buffer: Buffer = each
                others = _waiting.get(buffer.memory)
                if others is self.alone:
                    _waiting.pop(buffer.memory, None)
                elif others is not None:
                    rest = tuple([tape for tape in others if tape is not self])
                    if rest:
                        _waiting[buffer.memory] = rest
                    else:
                        _waiting.pop(buffer.memory, None)
            self.buffers = {}
            if self.lines:
                self.lines = {}
            self._begin()
            _live.discard(self)


def _run_readers(a: Handle) -> None:
    """Run the tapes that read the memory of an array, or the array itself."""
    v = a._v
    if type(v) is Node or type(v) is PendingView:
        v.run(block_reports.MEMORY)
        return
    if type(v) is _ndarray:
        for tape in views.waiting.get(id(memory_of(v)), ()):
            tape.run(block_reports.MEMORY)


views.run_readers = _run_readers
atexit.register(run_all)
_local = threading.local()


def mine() -> Tape:
    """Return the tape of this thread."""
    try:
        found: Tape = _local.tape
    except AttributeError:
        found = _local.tape = Tape()
    return found


# -- recording ---------------------------------------------------------------------------------------------------------


def where(condition: Any, x: Any, y: Any) -> Any:
    """``np.where(condition, x, y)``, as :func:`record`."""
    if not isinstance(condition, Handle) or condition._kind.dtype.char != "?":
        return None
    if not all(isinstance(z, Handle) or type(z) in SCALARS for z in (x, y)):
        return None  # of what is no number, a sequence or a string, result_type would take it for a dtype
    try:
        dtype = np.result_type(*[z._kind.dtype if isinstance(z, Handle) else z for z in (x, y)])
    except (TypeError, OverflowError):
        return None
    for z in (x, y):
        if type(z) in (int, float, complex) and not fits(z, dtype):
            return None
    return record(select, (condition, x, y), dtype, func_seen=np.where)


def astype(a: Handle, dtype: np.dtype[Any]) -> Any:
    """Record ``a.astype(dtype)`` for another dtype, as :func:`record` does."""
    if (
        dtype.char not in "?bhilqBHILQefdFD"
        or not dtype.isnative
        or (a._kind.dtype.kind == "c" and dtype.kind not in "cb")
    ):
        return None
    return record(cast, (a,), dtype, func_seen="astype")


def operand(x: Handle, tape: Tape) -> tuple[Any, Any, bool]:
    """Return an array's node or ndarray, its kind, and whether others may see the memory; no kind if calls on it are not recorded."""
    v = x._v
    if type(v) is PendingView or (type(v) is Node and v.tape is not tape):
        v.run(block_reports.LOOKED if type(v) is PendingView else block_reports.ANOTHER)
        v = x._v
    if type(v) is Node:
        return v, v.form.held, False
    kind = x._kind
    if type(v) is _ndarray and kind.backend.hosted and not kind.standard:
        return v, kind, _is_shared(x, v)
    return v, None, False


def _is_shared(x: Handle, v: ndarray) -> bool:
    base = x._base
    if base is None:
        return not (x._owned and (v.base is None or owns_memory(memory_of(v))))
    root: Handle = base
    return not (root._owned and owns_memory(memory_of(v)))


def array_of(node: Node) -> Any:
    """Return an array whose value is the pending ``node``."""
    made: Handle = handles.new_array(_cls, node, node, True, None)
    made._root = node  # type: ignore[assignment]
    made._seen = NEVER
    node.handle = _ref(made)
    return made


def blank() -> Any:
    """Return a new array without a value."""
    return handles.new_array(_cls, None, None, True, None)


_forms: dict[Any, Form | None] = {}
"""Key of a call, made of the function and facts about the operands -> its form; None for calls that are not recorded."""
_MOST_FORMS = 1 << 14


def record(
    func: Any,
    inputs: tuple[Any, ...],
    dtype: np.dtype[Any] | None = None,
    into: Handle | None = None,
    like: Any = None,
    runs: bool = True,
    func_seen: Any = None,
) -> Any:
    """Record a call of a ufunc, or of a function called like one, as a new node in a new array or in ``into``; return None
    if that is not possible.

    ``dtype``: of the result, where ``func`` is no ufunc that has one; ``like``: the dtype and shape that the result has to have; ``runs``: whether others, who may write what is read, make it run;
    ``func_seen``: what the program has called, where that is not ``func``.
    """
    if not least:
        return None
    tape = mine()
    buffers = tape.buffers
    values: list[Any] = []
    keys: list[Any] = [func, dtype]
    shared = False
    before: Any = None
    for x in inputs:
        if type(x) is _cls or isinstance(x, Handle):
            a: Handle = x
            v = a._v
            if type(v) is Node:
                node: Node = v
                if node.tape is not tape:
                    node.run(block_reports.ANOTHER)
                    v = a._v
            elif type(v) is PendingView:
                v.run()
                return record(func, inputs, dtype, into, like, runs, func_seen)
            if type(v) is Node:
                node = v
                operand: Form = node.form
                keys.append(operand.laid)
            elif x is before:  # as in x * x
                keys.append(keys[-1])
            elif type(v) is _ndarray:
                buffer: Buffer | None = buffers.get(id(v))
                keys.append(laid(a._kind, layout_of(v), None) if buffer is None else buffer.laid_as(a._kind))
                shared = shared or _is_shared(a, v)
            else:
                return None
            values.append(v)
            before = x
        elif type(x) in SCALARS:
            values.append(x)
            keys.append(type(x))
            before = None
        else:
            return None
    key = tuple(keys)
    form: Form | None = _forms.get(key)
    if form is None:
        if key in _forms:
            return None
        if len(_forms) >= _MOST_FORMS:
            _forms.clear()
        form = _forms[key] = _form(func, inputs, values, dtype)
        if form is None:
            return None
    if form.least < least:
        return None
    if form.alone and form.gains_nothing():
        return None
    for i in form.weak:
        if not fits(inputs[i], form.ins[i]):  # type: ignore[index]
            return None
    if like is not None and (form.dtype, form.shape) != like:
        return None
    modes, place = now() if form.reports else _NOTHING
    if modes is _DECLINED:
        return None

    if into is not None and into._v is not values[0]:  # a signal's handler has written to it
        return None

    node = node_of(form, modes, place)
    if into is None:
        made = array_of(node)
        tape.add(node, values)
    else:
        made = into
        made._writes += 1
        tape.become(made, node, values)
    if _every is not None:
        _every.call(func_seen or func, form.held.backend.name, "fused", "", 0.0, None, 2 * views.frames)
    if runs and (why := block_reports.SHARED if shared else tape.full()):
        tape.run(why)
    return made


def _form(func: Any, inputs: tuple[Any, ...], values: list[Any], dtype: np.dtype[Any] | None) -> Form | None:
    """Return the form of a call on these arrays and scalars; None if it is not recorded."""
    home: Any = None
    keys: list[Any] = []
    for x, v in zip(inputs, values):
        if not isinstance(x, Handle):
            keys.append(type(x))
            continue
        kind = v.form.held if type(v) is Node else x._kind
        if not kind.backend.hosted or kind.standard or (home is not None and home is not kind.backend):
            return None
        home = kind.backend
        keys.append(kind.dtype)
    try:
        shape = np.broadcast_shapes(*[v.shape for v in values if type(v) is Node or type(v) is _ndarray])
    except ValueError:
        return None  # NumPy says so where it runs
    if home is None or not shape:
        return None
    size = prod(shape)
    weak: tuple[int, ...] = ()
    work: float
    if dtype is None:
        loop = loop_of(func, tuple(keys))
        if loop is None:
            return None
        dtype, reports, pinned, ins, weak = loop.out, loop.reports, loop.pinned, loop.ins, loop.weak
        work = size * loop.weight
    else:
        work = size * max(dtype.itemsize, values[-1].dtype.itemsize if func is cast else 1) >> 3
        half = dtype.char == "e" and keys[0] not in PYTHON and keys[0].kind in "iu"  # of 65,520 it makes infinity
        reports, pinned = func is cast and (keys[0].kind in "fc" or half), False
        ins = tuple([dtype if key in PYTHON else np.dtype(key) for key in keys])
    shifts = isinstance(func, Shift)
    if size * dtype.itemsize > MOST_BYTES:
        return None  # for so much there may be no memory: NumPy says so at the call
    order = order_of(values, shape, func is cast or shifts)
    if order is None or (shifts and order[1]) or (pinned and (order[0] or size == 1)):
        return None
    return Form(
        func, home.kind(dtype), shape, work, row=order[0] or shifts, fortran=order[1], pinned=pinned, ins=ins, weak=weak, reports=reports
    )  # fmt: skip
