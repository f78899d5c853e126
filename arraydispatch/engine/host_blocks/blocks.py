"""Runs of blocks on the host: NumPy's loops and kernels over pieces that stay in the cache, in several threads.

The :mod:`plan <arraydispatch.engine.host_blocks.block_plans>` decides pieces and memory; it is kept for the next block
of the same calls. The pool of threads is here too.
"""

from __future__ import annotations

import _thread
import functools
import itertools
import os
import threading
from queue import SimpleQueue
from time import perf_counter, sleep
from typing import Any

import numpy as np

from ..._core.machine import address_of, layout_of
from ...common.process_state import process
from ...common.signal_safety import undisturbed
from ...runtime import resources
from ...ufuncs import rows
from ..nodes import Bound, Buffer, Form, Node, Update
from . import block_plans, kernels
from .block_plans import Plan, Stretch, joined, viewed

__all__ = ["Block", "Done", "Short", "needed", "planned", "run_in_threads", "thread_count", "whole_rounds"]

MOST_PLANS = 512
"""Maximum number of plans that a process keeps."""
_KEPT = 1 << 23
"""Bytes of scratch memory that a thread keeps from one block to the next."""
_plans: dict[Any, Plan | None] = {}
"""Calls of a block -> their plan; None if the calls have come only once."""


class _Run:
    """Run of a stretch on the arrays of a block; each of several threads takes the next piece until all are taken."""

    def __init__(self, stretch: Stretch, arrays: list[Any]) -> None:
        self.stretch = stretch
        self.partial = partials(stretch, arrays) if stretch.parts else []
        self.next = itertools.count().__next__
        self.done = itertools.count(1).__next__
        self.ended = threading.Event()

    def go(self, block: Planned, now: list[int], kept: list[np.ndarray[Any, Any]] | None) -> None:
        """Compute pieces until all have been begun. ``now[0]`` is set to the number of the running node. ``kept``: the thread's scratch
        memory.
        """
        taken = self.next()
        pieces = self.stretch.pieces
        if taken >= pieces:
            return
        worker = _Worker(block, self.stretch, self.partial, kept)
        while taken < pieces:
            worker.compute(taken, now)
            if self.done() == pieces:
                if self.partial:
                    _put_together(block, self.stretch, self.partial, now)
                self.ended.set()
            taken = self.next()


class _Worker:
    """One thread's registers of a stretch, and the functions it calls for each piece."""

    def __init__(
        self,
        block: Planned,
        stretch: Stretch,
        partial: list[np.ndarray[Any, Any]],
        kept_memory: list[np.ndarray[Any, Any]] | None,
    ) -> None:
        values: list[Any] = [None] * stretch.registers
        arrays = block.arrays
        kept: list[tuple[int, Any]] = []
        if stretch.scratch:
            memory = _scratch(stretch.sizes, kept_memory)
            shape = stretch.largest
            kept = [
                (register, memory[place][:size].view(dtype).reshape(shape))
                for register, place, dtype, size in stretch.scratch
            ]
        for register, i, j in stretch.scalars:
            node: Node = block.nodes[i]
            values[register] = node.args[j]
        for register, slot, how in stretch.looked_same:
            values[register] = viewed(arrays[slot], how)
        self.full = [(register, viewed(arrays[slot], how)) for register, slot, how in stretch.looked_full]
        self.steps = stretch.steps
        if stretch.bound:
            addresses = {register: address_of(x) for register, x in kept}
            self.steps = [
                (step[0].worker(block, stretch, values, addresses), *step[1:]) if isinstance(step[0], Bound) else step
                for step in stretch.steps
            ]
        self.kept = kept
        self.parts = [(register, x) for (register, _, _), x in zip(stretch.parts, partial)] if partial else []
        self.values, self.bounds = values, stretch.bounds

    def compute(self, taken: int, now: list[int]) -> None:
        """Compute piece number ``taken``. ``now[0]`` is set to the number of the running node."""
        begin, end = self.bounds[taken], self.bounds[taken + 1]
        values = self.values
        for register, x in self.full:
            values[register] = x[begin:end]
        for register, x in self.kept:
            values[register] = x[: end - begin]
        for register, x in self.parts:
            values[register] = x[taken, ...]
        for func, ins, out, number in self.steps:
            now[0] = number
            if not ins:
                func(begin, end, now)
            elif len(ins) == 2:
                func(values[ins[0]], values[ins[1]], out=values[out])
            elif len(ins) == 1:
                func(values[ins[0]], out=values[out])
            else:
                func(*[values[i] for i in ins], out=values[out])


def partials(stretch: Stretch, arrays: list[Any]) -> list[np.ndarray[Any, Any]]:
    """Return memory for the pieces' results of each reduction to one element."""
    return [np.empty(stretch.pieces, arrays[slot].dtype) for _, _, slot in stretch.parts]


def _put_together(block: Planned, stretch: Stretch, partial: list[np.ndarray[Any, Any]], now: list[int]) -> None:
    """Combine the pieces' results of each reduction to one element. ``partial``: these results, an array for each reduction."""
    numbers = {out: number for _, _, out, number in stretch.steps}
    length = stretch.bounds[-1]
    for (register, i, slot), elements in zip(stretch.parts, partial):
        node: Node = block.nodes[i]
        whole = node.form.halved
        assert whole is not None
        now[0] = numbers[register]
        unit, join = whole
        block.arrays[slot][...] = (
            joined(iter(elements), length, unit, stretch.longest, join) if unit else functools.reduce(join, elements)
        )


def _scratch(sizes: list[int], kept: list[np.ndarray[Any, Any]] | None) -> list[np.ndarray[Any, Any]]:
    """Return memory of these sizes: from ``kept``, the thread's own memory of earlier blocks, if that is large enough, else new."""
    if kept is None:
        return [np.empty(size, np.uint8) for size in sizes]
    for i, size in enumerate(sizes):
        if i == len(kept):
            kept.append(np.empty(size, np.uint8))
        elif kept[i].size < size:
            kept[i] = np.empty(size, np.uint8)
    found = kept[: len(sizes)]
    while sum(x.size for x in kept) > _KEPT:
        kept.pop()
    return found


def _memory(form: Form) -> np.ndarray[Any, Any]:
    """Allocate memory for a result."""
    return np.empty(form.shape, form.dtype, "F" if form.fortran else "C")


class Block:
    """Recorded nodes that are computed together, and their results: the base class. A tape makes a block when it runs.

    Parameters
    ----------
    nodes : list of Node
        Nodes of the tape, in order.
    """

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.results: dict[int, np.ndarray[Any, Any]] = {}
        """Number of a node -> its value, if an array still holds it."""
        self.errors: set[tuple[int, str]] = set()
        """Floating-point errors: number of the node, and NumPy's name of the error."""
        self.done: Any = None
        """Event that the threads set when they have computed the block."""
        self.failure: BaseException | None = None
        self.helpers = 0
        """Number of threads that run the block; 0: the calling thread."""
        self.numpys = True
        """Whether NumPy's loops compute some of the nodes, which needs an error state."""
        self.is_known = False
        """Whether the plan was made for an earlier block."""
        self.group: Any = None
        """List of nodes of the run for which the block was made."""
        self.tape: Any = None
        """Tape of that run; the block is due while the tape is still running these nodes."""

    def is_due(self) -> bool:
        """Whether the block is still to be computed: a signal handler may have read the values before it was begun.

        Code that then writes to memory of others inlines this test, because a handler may run when a call returns.
        """
        return self.tape is None or self.tape.running is self.group

    def listening(self, now: list[int]) -> Any:
        """Return a context that records NumPy's errors, for the node with the number ``now[0]``."""
        return _listening(self, now)

    def help(self, kept: list[np.ndarray[Any, Any]] | None = None) -> None:
        """Compute the pieces that other threads have not begun; several threads call this at once.

        ``kept``: scratch memory of a thread that only runs blocks.
        """
        raise NotImplementedError

    def let_go(self) -> None:
        """Drop the arrays, because a late thread may hold the block for some time."""
        self.results = {}


def _listening(block: Block, now: list[int]) -> Any:
    under: Any = (
        "call"
        if any(node.told is not None and node.told.get("under") != "ignore" for node in block.nodes)
        else "ignore"
    )
    errors = block.errors

    # May outlive the block in an error state that is kept, so it must not refer to the block's arrays.
    def call(kind: str, _flag: int) -> None:
        errors.add((now[0], kind))

    return np.errstate(divide="call", over="call", invalid="call", under=under, call=call)


class Planned(Block):
    """Block computed by a plan, one stretch after the other, on the arrays in its slots, in up to ``threads`` threads."""

    def __init__(self, nodes: list[Node], plan: Plan, arrays: list[Any], addresses: list[int], threads: int) -> None:
        super().__init__(nodes)
        self.plan = plan
        self.numpys = plan.numpys
        self._sources, self._addresses = arrays, addresses
        if threads:
            self.helpers = plan.threads
            self.done = Done()
            self._inside, self._counting = 0, threading.Lock()
            """Number of threads that take part at the moment."""
            self._begin()
            self._runs = [_Run(stretch, self.arrays) for stretch in plan.stretches]

    def _begin(self) -> None:
        """Allocate the results, again for each run: memory of an interrupted run may be in use, if a signal handler has read its values."""
        plan = self.plan
        arrays, addresses = [*self._sources], [*self._addresses]
        for form in plan.made:
            made = _memory(form)
            arrays.append(made)
            addresses.append(address_of(made))
        self.arrays, self.addresses = arrays, addresses
        self.results = {i: arrays[slot] for i, slot in plan.results}

    def help(self, kept: list[np.ndarray[Any, Any]] | None = None) -> None:
        """Compute in this thread until all has been begun. In the calling thread no memory is both read and written, so a run can be
        repeated. ``kept``: the thread's scratch memory.
        """
        if not self.helpers:
            if self.is_due():
                self._here(kept)
            return
        if not self.is_due():
            self.done.set()
            return
        with self._counting:
            self._inside += 1
        try:
            self._help(kept)
        finally:  # done only when no thread refers to the arrays, because references to them are counted
            with self._counting:
                self._inside -= 1
                if not self._inside:
                    self.done.set()

    def _help(self, kept: list[np.ndarray[Any, Any]] | None) -> None:
        now = [0]
        try:
            if self.numpys:
                with self.listening(now):
                    self._go(now, kept)
            else:
                self._go(now, kept)
        except BaseException as failure:  # noqa: BLE001 -- whoever waits for the block hears of it
            self.failure = failure
            for run in self._runs:
                run.ended.set()

    def _go(self, now: list[int], kept: list[np.ndarray[Any, Any]] | None) -> None:
        for run in self._runs:
            run.go(self, now, kept)
            run.ended.wait()
            if self.failure is not None:
                return

    def _here(self, kept: list[np.ndarray[Any, Any]] | None) -> None:
        """Compute the whole block in this thread. ``kept``: the thread's scratch memory."""
        now = [0]
        self.failure = None
        try:
            if self.errors:
                self.errors.clear()
            self._begin()
            if self.numpys:
                with self.listening(now):
                    self._one_after_the_other(now, kept)
            else:
                self._one_after_the_other(now, kept)
        except BaseException as failure:  # noqa: BLE001 -- whoever looks at a value hears of it
            self.failure = failure

    def _one_after_the_other(self, now: list[int], kept: list[np.ndarray[Any, Any]] | None) -> None:
        for stretch in self.plan.stretches:
            partial = partials(stretch, self.arrays) if stretch.parts else []
            worker = _Worker(self, stretch, partial, kept)
            for taken in range(stretch.pieces):
                if not self.is_due():
                    return
                worker.compute(taken, now)
            if partial:
                _put_together(self, stretch, partial, now)
        for target, made in self.plan.copied:
            if self.tape is None or self.tape.running is self.group:
                self.arrays[target][...] = self.arrays[made]

    def let_go(self) -> None:
        """Drop the arrays, as :meth:`Block.let_go` does."""
        self.results, self.arrays, self._sources = {}, [], []


def planned(nodes: list[Any], threads: Any) -> Block:
    """Make a block of nodes that have no value yet: a :class:`Planned` one, or for the calling thread, if the calls come for the first
    time, a :class:`Short` one. ``threads``: number of threads that compute the block; 0 for the calling thread.
    """
    arrays: list[Any] = []
    addresses: list[Any] = []
    at: dict[Any, int] = {}
    dead: list[bool] = []
    held: list[bool] = []
    # Everything that the plan depends on, in one flat tuple: for each node one entry for each operand and four or five more, then one
    # number for each array.
    known: list[Any] = [threads, block_plans.PIECE, block_plans.LONGEST, block_plans.STEP]
    for each in nodes:
        node: Node = each
        for x in node.args:
            if type(x) is Buffer:
                buffer: Buffer = x
                known.append(buffer.number)
                if x not in at:
                    dead.append(threads > 0 and buffer.is_dead())
                    at[x] = len(arrays)
                    arrays.append(buffer.array)
            elif type(x) is Node:
                earlier: Node = x
                known.append(earlier.number)
                if earlier.value is not None and x not in at:
                    dead.append(False)
                    at[x] = len(arrays)
                    arrays.append(earlier.value)
            else:
                known.append(None)
        is_held = node.handle is not None and node.handle() is not None
        held.append(is_held)
        known += (node.number, node.form, is_held, id(node.told))
        if node.target is not None:
            at[node] = len(arrays)
            dead.append(False)
            arrays.append(node.target)
            known.append(layout_of(node.target))
    first: dict[Any, int] = {}
    same_memory: list[int] = []
    for slot, array in enumerate(arrays):
        address = address_of(array)
        addresses.append(address)
        before = first.setdefault(address, slot)
        same_memory.append(before)
        known.append(before << 5 | (address & 15) << 1 | dead[slot])
    key = tuple(known)
    plan = _plans.get(key)
    is_known = plan is not None
    if plan is _AGAIN or (plan is not None and plan.is_refused):
        plan = None
    if plan is None:
        if not threads and key not in _plans:  # a plan pays only for calls that come again
            _keep(key, None)
            return Short(nodes)
        plan = block_plans.plan(nodes, arrays, at, dead, same_memory, held, threads)
        if plan.settled:
            _keep(key, plan)
        elif is_known:
            _plans.pop(key, None)  # another thread may have cleared them
    if plan.cold and kernels.counted(plan.cold):
        _keep(key, _AGAIN)
    made = Planned(nodes, plan, arrays, addresses, threads)
    made.is_known = is_known
    return made


REPEATED = 32
"""Number of calls of a second iteration by which a loop is recognized; all of them if an iteration is shorter."""
_AGAIN: Any = object()
"""Stand-in for a plan that is to be made again, with a kernel. Its block still counts as known: the choice of calls to record must not
depend on when kernels are ready, which varies with the machine's load."""


def _keep(key: Any, plan: Plan | None) -> None:
    if len(_plans) >= MOST_PLANS:
        _plans.clear()
    _plans[key] = plan


def needed(nodes: list[Node]) -> list[Node]:
    """Return the nodes to compute: those without a value that an array or another needed node refers to, that write memory, or that report
    errors.
    """
    wanted: set[int] = set()
    found: list[Node] = []
    for each in reversed(nodes):
        node: Node = each
        if node.value is None and (
            node.told is not None or node.target is not None or id(node) in wanted or node.is_held
        ):
            found.append(node)
            for x in node.args:
                if type(x) is Node:
                    wanted.add(id(x))
    found.reverse()
    return found


def whole_rounds(forms: list[Any], longest: Any) -> int:
    """Return the number of nodes at which to end a block, given the forms of recorded nodes: ``longest``, or in a loop that of whole
    iterations, so that the next block is equal.
    """
    count = len(forms)
    known: dict[Any, Any] = {}
    of_form: dict[int, Any] = {}
    calls: list[Any] = []
    for form in forms:
        call = of_form.get(id(form))
        if call is None:  # a form also describes operands, and these differ in a block's first iteration
            key = form.func, form.span, form.dtype
            call = of_form[id(form)] = known.setdefault(key, key)
        calls.append(call)
    first, length = count, 0
    for period in range(1, min(count, longest + 1)):
        start = count - period
        while start and calls[start - 1] is calls[start - 1 + period]:
            start -= 1
        if count - start >= period + min(period, REPEATED) and start < first:
            first, length = start, period
    if not length:
        return longest
    rounds = longest - (longest - first) % length
    if rounds < count < 2 * longest:  # an iteration that has begun is completed
        rounds = count + (first - count) % length
    return max(rounds, count)


class Short(Block):
    """Block of calls that are not worth a plan, computed one after the other by the calling thread.

    It can be restarted after an interruption: it writes only its own memory until everything is computed.
    """

    def __init__(self, nodes: list[Node]) -> None:
        super().__init__(nodes)
        self._made: list[Any] | None = None

    def help(self, kept: list[np.ndarray[Any, Any]] | None = None) -> None:
        """Compute the calls. ``kept`` is not used."""
        nodes, self.failure = self.nodes, None
        try:
            if self._made is None:
                self._made = self.values()
            for node, value in zip(nodes, self._made):
                if node.target is not None and (self.tape is None or self.tape.running is self.group):
                    node.target[...] = value
            self.results = {i: value for i, value in enumerate(self._made) if nodes[i].handle is not None}
            for i, node in enumerate(nodes):
                if node.target is not None:
                    self.results[i] = node.target
        except BaseException as failure:  # noqa: BLE001 -- whoever looks at a value hears of it
            self.failure = failure

    def values(self) -> list[Any]:
        """Return the values of the calls, computed in new memory."""
        self.errors.clear()
        now = [0]
        made: list[Any] = []
        at = {id(node): i for i, node in enumerate(self.nodes)}
        last = {id(x): i for i, node in enumerate(self.nodes) for x in node.args}
        with self.listening(now):
            for i, node in enumerate(self.nodes):
                now[0] = i
                ins: list[Any] = []
                for x in node.args:
                    if type(x) is Buffer:
                        ins.append(x.array)
                    elif type(x) is Node:
                        k = at.get(id(x))
                        ins.append(made[k] if k is not None else x.value)
                    else:
                        ins.append(x)
                # Targets are written at the end.
                out = _memory(node.form) if node.target is None else np.empty(node.shape, node.dtype)
                if isinstance(node.form.func, Update) and type(x := node.args[0]) is Node:
                    k = at.get(id(x))
                    if k is not None and last[id(x)] == i and x.target is None and not x.is_held:
                        out = ins[0]
                func = node.form.func
                (rows.called(func) if node.form.row and type(func) is np.ufunc else func)(*ins, out=out)
                made.append(out)
                for x in node.args:  # drop a value that is not needed any more, so that the next one reuses its memory
                    k = at.get(id(x))
                    if k is not None and last[id(x)] == i and x.target is None and not x.is_held:
                        made[k] = None
        return made


# -- threads -------------------------------------------------------------------------------------------------------------


class Done:
    """Event whose :meth:`wait` is reentrant: a thread may wait for it again in a signal handler.

    Each wait has a lock of its own, so no wait takes the release of another, and an exception between two steps leaves no lock held.
    """

    __slots__ = ("_waits", "is_set")

    def __init__(self) -> None:
        self.is_set = False
        """Whether the event has been set."""
        self._waits: list[Any] = []

    def set(self) -> None:
        """Set the event and release all waits; repeated calls are harmless."""
        self.is_set = True
        while self._waits:
            try:
                self._waits.pop().release()
            except IndexError:  # another thread has released the last
                return

    def wait(self) -> None:
        """Wait until the event is set."""
        until = perf_counter() + AWAKE
        while not self.is_set and perf_counter() < until:
            sleep(0)  # lets other threads run, without the processor sleeping: it may take milliseconds to wake
        while not self.is_set:
            own = _thread.allocate_lock()
            own.acquire()
            self._waits.append(own)
            if not self.is_set:  # else it was set before `own` was in the list
                own.acquire()


_queue: SimpleQueue[Any] = SimpleQueue()
_started: list[int] = []
_kept: list[list[Any]] = []
"""Idle scratch memory for threads outside the pool, which call :func:`run_in_threads`."""
AWAKE = 2e-4
"""Seconds for which a wait does not sleep."""
_starting = threading.RLock()
_here: int | None = None


def thread_count() -> int:
    """Return the number of threads of a block: as many as this process may use."""
    global _here
    if process.threads is not None:
        return process.threads
    if _here is None:
        _here = resources.available()
    return _here


def run_in_threads(work: Any, threads: int) -> None:
    """Let threads run ``work.help``, of a block or other work; callers that need the results wait for ``work.done``.

    The calling thread is one of them if no signal handler can interrupt it: a block that overwrites dead values cannot be repeated.
    Repeated calls are harmless.
    """
    here = undisturbed()
    helpers = threads if here is None else threads - 1
    if len(_started) < helpers:
        _start(helpers)
    for _ in range(helpers):
        _queue.put(work)
    if here is not None:
        kept = _kept.pop() if _kept else []
        here(lambda: work.help(kept))
        _kept.append(kept)


def _start(helpers: int) -> None:
    with _starting:
        # Not a `threading.Thread`, whose start turns an exception from a signal handler into a KeyError.
        _started.extend(_thread.start_new_thread(_serve, (_queue,)) for _ in range(helpers - len(_started)))


def _serve(queue: SimpleQueue[Any]) -> None:
    kept: list[Any] = []
    while True:
        work = queue.get()
        work.help(kept)
        del work


def _forget() -> None:
    """Reset the pool in a fork: the threads belong to the parent."""
    global _queue, _starting, _here
    _queue, _starting, _here = SimpleQueue(), threading.RLock(), None
    _started.clear()
    _kept.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
