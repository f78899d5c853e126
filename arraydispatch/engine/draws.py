"""Large draws of random numbers in several threads, with NumPy's own numbers and the generator left in NumPy's own state.

A NumPy generator (PCG64, which ``default_rng`` makes, or PCG64DXSM) can be set to any place in its outputs, but the number of
outputs per value varies: a normal number mostly takes one, sometimes two or more. So a thread begins at a place where some
value *may* begin, and continues beyond the place where the next part began. From that place it draws a second time, as the next part
did, until both draws have reached the same place: from there on they agree, and the next part's values are NumPy's. The number of
values before the next part is then known, and the parts are joined in order. If two draws do not meet, and at the end, the missing
values are drawn in one thread.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from math import prod, sqrt
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from ..common.sentinels import DECLINED
from ..common.signal_safety import briefly
from .along_axis import Parts
from .host_blocks import blocks
from .recording import call_nodes

__all__ = ["LEAST", "METHODS", "MULTIPLIERS", "call", "numbers", "shape_of"]

MULTIPLIERS: dict[type, int] = {
    np.random.PCG64: 0x2360ED051FC65DA44385DF649FCCF645,
    np.random.PCG64DXSM: 0xDA942042E4DD58B5,
}
"""Class of bit generators whose next state is a multiple of the last one plus a constant -> the multiplier."""
METHODS: dict[str, int] = {
    **dict.fromkeys(("random", "standard_cauchy", "standard_exponential", "standard_normal"), 0),
    **dict.fromkeys(("chisquare", "exponential", "geometric", "pareto", "poisson", "power", "rayleigh"), 1),
    **dict.fromkeys(("standard_gamma", "standard_t", "weibull"), 1),
    **dict.fromkeys(("beta", "binomial", "f", "gamma", "gumbel", "integers", "laplace", "logistic", "lognormal"), 2),
    **dict.fromkeys(("negative_binomial", "noncentral_chisquare", "normal", "uniform", "vonmises", "wald"), 2),
    "triangular": 3,
}
"""Methods that draw independent values one after another -> position of the argument ``size``."""
LEAST = 1 << 18
"""Number of values from which a draw is large."""
PART = 1 << 18
"""Number of values in a part, if there are more parts than threads: a part stays in the cache until it is copied."""
_SAMPLE = 4096
_STEPS = 500
"""Number of draws after which the search for the place where two parts meet is given up."""
_MOST = 1000
"""Maximum number of half outputs that a value takes."""
_LOW = (1 << 60) - 1
"""Mask of the bits of a state that identify a place. (The lowest n bits of a state repeat after 2**n outputs.)"""
_NO_HALF = {"has_uint32": 0, "uinteger": 0}
_FLOATS: dict[Any, bool] = {float: False, np.float64: False, np.float32: True}
"""Dtype -> whether its values take half outputs."""
numbers = (int, float, np.integer, np.floating)


def call(plain: Any, generator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run ``plain(generator, *args, **kwargs)``, a method in :data:`METHODS`, in all threads; return DECLINED unless the draw is large."""
    bits = generator._bit_generator
    if not call_nodes.are_of_any_size() or type(bits) not in MULTIPLIERS or (threads := blocks.thread_count()) < 2:
        return DECLINED
    at = METHODS[plain.__name__]
    if len(args) > at + ("size" not in kwargs):
        return DECLINED
    given = {**kwargs, "size": args[at]} if len(args) > at else kwargs
    shape, total = shape_of(given.get("size"))
    if total < LEAST or not all(isinstance(x, numbers) for x in args[:at]):
        return DECLINED
    halves = _halves(plain.__name__, args[:at], given)
    if halves is None:
        return DECLINED

    def draw(drawing: Any, count: int) -> Any:
        return plain(drawing, *args[:at], **{**given, "size": count})

    result, is_wanted = DECLINED, True

    def drawn() -> None:
        nonlocal result
        with bits.lock:
            before = bits.state
            kept = {} if halves else {key: before[key] for key in _NO_HALF}  # state that these values do not change
            work = _Draw(before if halves else {**before, **_NO_HALF}, type(bits), draw, total, threads)
            if plain.__name__ == "random" and not halves:
                work.one_each = plain
            try:
                made = work.run(shape, threads)
            except (TypeError, ValueError, OverflowError, MemoryError):  # NumPy raises the error
                return
            if made is not DECLINED and is_wanted:
                bits.state = {**work.end, **kept}
                result = made

    if getattr(bits.lock, "_is_owned", bool)():  # locked by the program, for which another thread would wait
        drawn()
        return result
    try:
        briefly(drawn)  # a handler that draws from this generator would wait for its lock
    except BaseException:  # raised by a signal handler: nothing has been drawn
        is_wanted = False
        raise
    return result


def shape_of(size: Any) -> tuple[Any, int]:
    """Return the shape and the number of values for an argument ``size``; None and 0 if it does not ask for an array."""
    try:
        shape = tuple(map(operator.index, size)) if isinstance(size, tuple | list) else (operator.index(size),)
    except TypeError:
        return None, 0
    return shape, prod(shape) if min(shape, default=0) > 0 else 0


def _halves(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | None:
    """Whether each value takes half an output of the generator, which keeps the other half; None if NumPy must run the call."""
    for key, value in kwargs.items():
        if key not in ("dtype", "method", "size") and not isinstance(value, numbers):
            return None
    dtype: Any = kwargs.get("dtype", float)
    if not isinstance(dtype, type):
        return None
    if name != "integers":
        return _FLOATS.get(dtype)
    low, high = (*args, *(kwargs[key] for key in ("low", "high") if key in kwargs), None)[:2]
    if dtype not in (float, int, np.int64) or not isinstance(low, int | np.integer):
        return None
    low, high = (0, low) if high is None else (low, high)
    if not isinstance(high, int | np.integer):
        return None
    return int(high) - int(low) - (not kwargs.get("endpoint", False)) < 1 << 32


class _NoSeed(ISeedSequence):
    """Seed for a bit generator whose state is set right away: with this seed, creating one takes half a microsecond, not twenty."""

    _words = np.zeros(8, np.uint64)

    def generate_state(self, n_words: int, dtype: Any = np.uint64) -> Any:
        """Return zeros."""
        return self._words[:n_words]


class _Stream:
    """Outputs of a generator from its current state, with places counted in half outputs."""

    def __init__(self, begin: dict[str, Any], kind: Any) -> None:
        self.begin = begin
        self._kind = kind
        self._jumps = []
        multiplier, increment = MULTIPLIERS[kind], begin["state"]["inc"]
        for _ in range(_LOW.bit_length()):  # steps of 1, 2, 4 … outputs
            self._jumps.append((multiplier & _LOW, increment & _LOW))
            multiplier, increment = multiplier * multiplier & _LOW, increment * (multiplier + 1) & _LOW

    def generator(self, state: dict[str, Any] | None = None, outputs: int = 0) -> Any:
        """Return a new generator in a given state, or advanced by a number of whole outputs."""
        bits = self._kind(_NoSeed())
        bits.state = self.begin if state is None else state
        if state is None and outputs:
            bits.advance(outputs)
            bits.state = {**bits.state, **_NO_HALF}
        return np.random.Generator(bits)

    def place(self, generator: Any) -> int:
        """Return the place of a generator in the stream, in half outputs."""
        state = generator.bit_generator.state
        here, there = self.begin["state"]["state"] & _LOW, state["state"]["state"] & _LOW
        found, bit = 0, 1
        for multiplier, increment in self._jumps:
            if here == there:
                break
            if (here ^ there) & bit:
                here = here * multiplier + increment & _LOW
                found |= bit
            bit <<= 1
        return 2 * found - state["has_uint32"]


class _Draw(Parts):
    """Draw of ``total`` values in parts that begin at equal distances in the outputs of a generator in the given state. ``draw``: draws a
    number of values from a generator.
    """

    one_each: Any = None
    """Method that takes one output for each value, so that the positions of a part's values are known; None for other methods."""

    def __init__(
        self, state: dict[str, Any], kind: Any, draw: Callable[[Any, int], Any], total: int, threads: int
    ) -> None:
        many = threads * max(1, round(total / PART / threads))
        super().__init__(list(range(many)))
        self._stream = _Stream(state, kind)
        self._draw, self._total, self._many = draw, total, many
        self._lock = threading.Lock()
        self._drawn: dict[int, Any] = {}
        self._turn = self._skipped = self._filled = 0

    def run(self, shape: Any, threads: int) -> Any:
        """Return the array, or DECLINED if NumPy must draw. Afterwards ``end`` is the state of the generator."""
        first = self._stream.generator()
        before = self._stream.place(first)
        sample = self._draw(first, max(_SAMPLE, self._total >> 7))
        self._each = (self._stream.place(first) - before) / len(sample)
        if not 0 < self._each < _MOST:
            return DECLINED
        result = np.empty(shape, sample.dtype)
        self._flat = result.reshape(-1)
        self._flat[: len(sample)] = sample
        self._filled = len(sample)
        self.end = first.bit_generator.state
        self._first, self._origin = len(sample), (self._stream.place(first) + 1) // 2
        # Error of the sample's mean: none, or about four times the usual one for normal numbers.
        self._error = 0.0 if self._each.is_integer() else 1 / sqrt(len(sample))
        self._length = int((self._total - len(sample)) * self._each / 2 / self._many)
        blocks.run_in_threads(self, threads)
        self.done.wait()
        if self.failed:
            return DECLINED
        last = self._stream.generator(self.end)
        if self._filled < self._total:
            self._flat[self._filled :] = self._draw(last, self._total - self._filled)
            self.end = last.bit_generator.state
        return result

    def _count(self, halves: int, of: int = 0) -> int:
        """Estimate how many values, at least one, take at most ``halves`` half outputs. ``of``: size of the draw, if these end it."""
        count = halves / self._each
        return max(1, int(count - (sqrt(count) + max(count, of) * self._error if self._error else 0)))

    def _do(self, i: int) -> None:
        if self.one_each is None:
            self._put(i, *self._meeting(i))
            return
        at, to = (self._first + (self._total - self._first) * k // self._many for k in (i, i + 1))
        mine = self._stream.generator(outputs=at)
        self.one_each(mine, out=self._flat[at:to])
        if to == self._total:
            self._filled, self.end = to, mine.bit_generator.state

    def _meeting(self, i: int) -> tuple[list[Any], int | None, dict[str, Any]]:
        """Draw part ``i``, and go on into part ``i + 1`` until both draws are at one place of the generator's outputs (see the module).

        Return the values drawn, in pieces; the number of values of part ``i + 1`` to skip (None if the two draws do not meet); and the
        generator's state after these values.
        """
        stream, draw, begins = self._stream, self._draw, self._origin + i * self._length
        mine = stream.generator(outputs=begins) if i else stream.generator(self.end)
        ahead = stream.generator(outputs=begins + self._length)
        here, there = stream.place(mine), 2 * (begins + self._length)
        pieces: list[Any] = []
        skipped = steps = 0
        if i == self._many - 1:
            pieces.append(draw(mine, self._count(there - here, self._total)))
            here = there
        while here != there and steps < _STEPS:
            steps += 1
            if here < there:
                pieces.append(draw(mine, self._count(there - here)))
                here = stream.place(mine)
            else:
                skipped += len(draw(ahead, self._count(here - there)))
                there = stream.place(ahead)
        return pieces, skipped if here == there else None, mine.bit_generator.state

    def _put(self, i: int, pieces: list[Any], skipped: int | None, state: dict[str, Any]) -> None:
        """Store part ``i``, as :meth:`_meeting` returns it, and write all stored parts that are next in order to the result."""
        ready = []
        with self._lock:
            self._drawn[i] = pieces, skipped, state
            while True:  # no condition: see tests/common/test_signal_safety.py
                if self._turn not in self._drawn:
                    break
                pieces, skipped, state = self._drawn.pop(self._turn)
                count = sum(map(len, pieces)) - self._skipped
                if count < 0 or self._filled + count > self._total:
                    self._turn = -1  # missing values are drawn at the end
                    break
                ready.append((pieces, self._skipped, self._filled))
                self._filled += count
                self.end = state
                if skipped is None:
                    self._turn = -1
                    break
                self._skipped = skipped
                self._turn += 1
        for pieces, skip, at in ready:
            for piece in pieces:
                if skip < len(piece):
                    self._flat[at : at + len(piece) - skip] = piece[skip:] if skip else piece
                    at += len(piece) - skip
                skip = max(0, skip - len(piece))
