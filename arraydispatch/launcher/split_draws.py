"""Large draws of random numbers on a mesh: NumPy's stream is drawn in pieces, and each process keeps the pieces for its devices.

Every process draws all numbers, because each value may take several outputs of the generator. Only if each value takes one output, and
the generator can be advanced, the other processes' numbers are skipped.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..common.sentinels import DECLINED
from ..common.signal_safety import briefly
from ..dispatch import split_arrays
from ..engine import draws
from ..runtime import dtypes

__all__ = ["SIZES", "call"]

SIZES: dict[str, int] = {
    **draws.METHODS,
    **dict.fromkeys(("ranf", "random_sample", "sample"), 0),
    **dict.fromkeys(("logseries", "zipf"), 1),
    **dict.fromkeys(("randint", "random_integers"), 2),
    **dict.fromkeys(("hypergeometric", "noncentral_f"), 3),
}
"""Methods that draw independent values one after the other, so that they can be drawn in pieces -> position of the argument ``size``."""
_OF_SHAPE = {"rand": "random_sample", "randn": "standard_normal"}
"""Methods that take the lengths of the axes as arguments -> the method that takes them as ``size``."""
_ONE_EACH = frozenset({"random", "uniform"})
"""Methods of a generator that take one output for each value."""
_OPTIONS = frozenset({"dtype", "method", "size"})
_INTEGERS = frozenset({"integers", "randint"})


def call(generator: Any, owner: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], what: str) -> Any:
    """Run the method ``name`` of a NumPy generator of the class ``owner`` for an array that is split over a mesh; return DECLINED for other
    draws. ``what``: name of the call, for the report.
    """
    if name in _OF_SHAPE and not kwargs:
        name, args, kwargs = _OF_SHAPE[name], (), {"size": args}
    at = SIZES.get(name)
    if at is None or len(args) > at + ("size" not in kwargs):
        return DECLINED
    given = {**kwargs, "size": args[at]} if len(args) > at else kwargs
    shape, total = draws.shape_of(given.get("size"))
    numbers = [*args[:at], *[value for key, value in given.items() if key not in _OPTIONS]]
    if total < split_arrays.PIECE or not all(isinstance(x, draws.numbers) for x in numbers):
        return DECLINED
    draw = functools.partial(getattr(owner, name), generator, *args[:at])
    try:
        dtype = draw(**{**given, "size": 0}).dtype
    except Exception:  # NumPy raises its error when it draws
        return DECLINED
    if (
        name in _INTEGERS and dtype.itemsize < 4
    ):  # such a call does not keep the rest of an output shared by several values
        return DECLINED
    stream = _Stream(generator, lambda count: draw(**{**given, "size": count}))
    skip = stream.advance if name in _ONE_EACH and dtype == dtypes.FLOAT64 and stream.can_advance else stream.draw
    return split_arrays.streamed(shape, dtype, stream.draw, skip, what, stream.around)


class _Stream:
    """Values that a generator draws in pieces. After an interruption the generator has its state from before the first piece."""

    def __init__(self, generator: Any, draw: Callable[[int], Any]) -> None:
        self._generator, self._draw = generator, draw
        self._bits = generator._bit_generator
        self._is_wanted = True
        self.can_advance = isinstance(generator, np.random.Generator) and type(self._bits) in draws.MULTIPLIERS

    def draw(self, count: int) -> Any:
        """Return the next values; raise InterruptedError if an interruption has ended the draw."""
        if not self._is_wanted:
            raise InterruptedError
        return self._draw(count)

    def advance(self, count: int) -> None:
        """Skip values that take one output each. The half of an output that the generator may hold is kept."""
        before = self._bits.state
        self._bits.advance(count)
        self._bits.state = {**self._bits.state, **{key: before[key] for key in ("has_uint32", "uinteger")}}

    def around(self, work: Callable[[], None]) -> None:
        """Run ``work`` under the generator's lock, where no signal handler runs: one that draws from this generator would hang."""

        def locked() -> None:
            with self._bits.lock:
                before = self._state()
                try:
                    work()
                except BaseException:
                    self._restore(before)
                    raise
                if not self._is_wanted:
                    self._restore(before)

        if getattr(self._bits.lock, "_is_owned", bool)():  # locked by the program, for which another thread would wait
            locked()
            return
        try:
            briefly(locked)
        except BaseException:
            self._is_wanted = False
            raise

    def _state(self) -> Any:
        legacy = isinstance(self._generator, np.random.RandomState)
        return self._generator.get_state(legacy=False) if legacy else self._bits.state

    def _restore(self, state: Any) -> None:
        if isinstance(self._generator, np.random.RandomState):
            self._generator.set_state(state)
        else:
            self._bits.state = state
