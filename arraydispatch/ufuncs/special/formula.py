"""Language of the formulas: :class:`Real`, an array on which NumPy's operators and ufuncs are those of ``xp``.

A formula takes Reals in double precision and returns one. :func:`formula` registers it under SciPy's name
and handles the rest: SciPy's loops for float32 compute in float64 and round once, and so do the formulas. SciPy's separate
loops for complex numbers are refused.

Formulas differ from interval to interval. :func:`pieces` computes each where it holds: for concrete values it selects the
elements, so that nothing is computed twice; under a trace it computes all of them and chooses.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...backends.base import Unsupported
from ...runtime import dtypes
from .expansions import Series

Native = Any
Body = Callable[..., Any]

BODIES: dict[str, Body] = {}
"""SciPy's name -> body over ``xp`` and native arrays."""

OF_COMPLEX = "of complex numbers, SciPy alone has it"

INF, NAN = math.inf, math.nan


copysign: Any = np.copysign
maximum: Any = np.maximum
minimum: Any = np.minimum
power: Any = np.power
"""NumPy's ufuncs of two operands, untyped: their annotations do not admit a :class:`Real`."""


class Real(np.lib.mixins.NDArrayOperatorsMixin):
    """Native array of real numbers or bools (``v``) within a formula: NumPy's operators and ufuncs run on it as functions of ``xp``."""

    __slots__ = ("v", "xp")

    def __init__(self, xp: Any, v: Native) -> None:
        self.xp = xp
        self.v = v

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any) -> Real:
        return Real(self.xp, self.xp.call(ufunc, *(x.v if isinstance(x, Real) else x for x in operands)))


def constant(like: Real, value: float) -> Real:
    """Return a number as a 0-d :class:`Real` on the device of ``like``."""
    xp = like.xp
    return Real(xp, xp.prim.full((), value, dtypes.FLOAT64, xp.backend.device_of(like.v)))


def where(condition: Real, x: Any, y: Any) -> Real:
    """Choose ``x`` where the condition holds, else ``y``, elementwise; both may be numbers."""
    a, b = (z if isinstance(z, Real) else constant(condition, z) for z in (x, y))
    xp = condition.xp
    return Real(xp, xp.prim.where(condition.v, a.v, b.v))


def choose(otherwise: Any, *cases: tuple[Real, Any]) -> Real:
    """Return, elementwise, the value of the first case (condition, value) whose condition holds, else ``otherwise``."""
    for condition, value in reversed(cases):
        otherwise = where(condition, value, otherwise)
    made: Real = otherwise
    return made


# -- polynomials ---------------------------------------------------------------------------------------------------------


def polynomial(x: Real, terms: Sequence[float]) -> Real:
    """Evaluate a polynomial with terms from the constant up (Horner's rule)."""
    made = constant(x, terms[-1]) if len(terms) == 1 else x * terms[-1]
    for c in reversed(terms[1:-1]):
        made = (made + c) * x
    return made + terms[0] if len(terms) > 1 else made


def series(table: Series, x: Real) -> Real:
    """Evaluate a table's function at points of its interval."""
    half = (table.high - table.low) / 2
    t = (x - (table.low + table.high) / 2) * (1 / half)
    if table.basis == "power":
        return polynomial(t, table.terms)
    twice = t * 2.0
    later, now = constant(t, 0.0), constant(t, table.terms[-1])
    for c in reversed(table.terms[1:-1]):
        later, now = now, twice * now - later + c  # Clenshaw
    return t * now - later + table.terms[0]


# -- where a formula holds -----------------------------------------------------------------------------------------------


def is_known(x: Real) -> bool:
    """Whether the values can be read now: they are not traced."""
    return bool(x.xp.backend.is_concrete(x.v))


def any_of(x: Real) -> bool:
    """Whether any element is true. This reads the values."""
    return bool(np.any(x.xp.backend.to_numpy(x.v)))


def broadcast(*operands: Real) -> tuple[Real, ...]:
    """Broadcast the operands to one shape."""
    xp = operands[0].xp
    shapes = [xp.shape_of(x.v) for x in operands]
    if len(set(shapes)) == 1:
        return operands
    shape = np.broadcast_shapes(*shapes)
    return tuple(Real(xp, xp.prim.broadcast_to(x.v, shape)) for x in operands)


Case = tuple[Real, Callable[..., Any], tuple[float, ...]]


def pieces(operands: tuple[Real, ...], cases: Sequence[Case], otherwise: float = NAN) -> Real:
    """Evaluate for each element the formula of the first case whose condition holds; ``otherwise`` elsewhere.

    A case is (condition, formula, operands for which the formula has a value). If elements cannot be selected, these
    operands replace those of elements that belong to other cases, so that no gradient is NaN.
    """
    xp = operands[0].xp
    operands = broadcast(*operands)
    if not all(is_known(condition) for condition, _, _ in cases) or not is_known(operands[0]):
        result: Any = otherwise
        for condition, formula, safe in reversed(cases):
            result = where(condition, formula(*(where(condition, x, s) for x, s in zip(operands, safe))), result)
        return result
    shape = xp.shape_of(operands[0].v)
    size = math.prod(shape)
    if size == 0:
        return operands[0]
    flat = [xp.prim.reshape(x.v, (size,)) for x in operands]
    made: Native = None
    left: Real | None = None
    for condition, formula, _ in cases:
        mine = Real(xp, xp.prim.reshape(xp.prim.broadcast_to(condition.v, shape), (size,)))
        if left is not None:
            mine = mine & left
        (picked,) = xp.prim.nonzero(mine.v)
        count = xp.shape_of(picked)[0]
        left = ~mine if left is None else left & ~mine
        if count == 0:
            continue
        if count == size:
            made = formula(*(Real(xp, x) for x in flat)).v
            break
        value = formula(*(Real(xp, xp.prim.gather(x, (picked,))) for x in flat))
        if made is None:
            made = _filled(flat[0], xp, otherwise)
        made = xp.prim.scatter(made, (picked,), value.v, "set")
    if made is None:
        made = _filled(flat[0], xp, otherwise)
    return Real(xp, xp.prim.reshape(made, shape))


def _filled(like: Native, xp: Any, value: float) -> Native:
    """Return an array with the shape, dtype and device of ``like``, filled with one number."""
    return xp.prim.full(xp.shape_of(like), value, xp.dtype_of(like), xp.backend.device_of(like))


_LOOK_EVERY = 8


def repeat(
    step: Callable[..., tuple[Real, ...]], going: Callable[..., Real], state: tuple[Real, ...], most: int
) -> tuple[Real, ...]:
    """Repeat ``step`` at most ``most`` times, until ``going`` holds nowhere (concrete values are checked after every eighth step).

    The shapes of the state do not change.
    """
    xp = state[0].xp
    state = broadcast(*state)
    if all(is_known(x) for x in state):
        for i in range(most):
            state = step(*state)
            if i % _LOOK_EVERY == _LOOK_EVERY - 1 and not any_of(going(*state)):
                break
        return state

    def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *natives: function(*(Real(xp, x) for x in natives))

    def go(*natives: Native) -> Native:
        return wrapped(going)(*natives).v

    def one(*natives: Native) -> tuple[Native, ...]:
        return tuple(x.v for x in wrapped(step)(*natives))

    found = xp.backend.loop(go, one, tuple(x.v for x in state), most)
    return tuple(Real(xp, x) for x in found)


# -- registration ----------------------------------------------------------------------------------------------------------


def formula(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a formula to register it under SciPy's name; the formula itself stays unchanged, for other formulas to call."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def body(xp: Any, *operands: Native) -> Any:
            have = [xp.dtype_of(x) for x in operands]
            if any(t.kind == "c" for t in have):
                raise Unsupported(OF_COMPLEX)
            floats = [t for t in have if dtypes.category(t) == "float"]
            to = floats[0] if floats else dtypes.FLOAT64
            made = function(*(Real(xp, xp.prim.astype(x, dtypes.FLOAT64)) for x in operands))
            return xp.prim.astype(made.v, to)

        BODIES[name] = body
        return function

    return register


UFUNCS: dict[str, np.ufunc] = {}
"""SciPy's name -> its ufunc, filled when the first one is called."""


def special(name: str, *operands: Real) -> Real:
    """Compute another special function: by the backend's own kernel if it has one."""
    xp = operands[0].xp
    return Real(xp, xp.call(UFUNCS[name], *(x.v for x in operands)))
