"""Positions of quantiles between the sorted elements: the thirteen methods of NumPy, as formulas over a namespace.

For a sample of ``n`` elements and a quantile ``q`` a method gives a *virtual index*: its whole part is the index of the element
to the left, and its fraction is the weight of the element to the right. The first argument of a formula is NumPy if ``n``
and ``q`` are concrete, so that the device only has to pick elements; otherwise it is ``xp``. ``n`` is a Python int,
which is weak beside ``q``, or an array of the dtype of ``q`` (one count for each lane).

The names are those of Hyndman and Fan, *Sample quantiles in statistical packages*, The American Statistician 50 (1996).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Method(NamedTuple):
    """Quantile method. ``place(m, n, q)``: the virtual index; for a discrete method the index of the element. ``weight(m, fraction, index)``:
    the weight, by default the fraction; None for a discrete method.
    """

    place: Callable[[Any, Any, Any], Any]
    weight: Callable[[Any, Any, Any], Any] | None


def _continuous(alpha: float, beta: float) -> Method:
    def index(m: Any, n: Any, q: Any) -> Any:
        return m.subtract(m.add(m.multiply(n, q), m.add(m.multiply(q, 1 - alpha - beta), alpha)), 1)

    return Method(index, _fraction)


def _fraction(_m: Any, fraction: Any, _index: Any) -> Any:
    return fraction


def _linear(m: Any, n: Any, q: Any) -> Any:
    # As in NumPy, not the general formula with (1, 1), which gives the same up to rounding.
    return m.multiply(n - 1 if isinstance(n, int) else m.subtract(n, 1), q)


def _position(m: Any, n: Any, q: Any) -> Any:
    return m.subtract(m.multiply(n, q), 1)


def _step(m: Any, index: Any, stays: Any) -> Any:
    """Return the whole part of an index where ``stays`` is true, elsewhere the whole part plus one."""
    return m.add(m.floor(index), m.logical_not(stays))


def _inverted_cdf(m: Any, n: Any, q: Any) -> Any:
    index = _position(m, n, q)
    return _step(m, index, m.equal(m.subtract(index, m.floor(index)), 0))


def _closest_observation(m: Any, n: Any, q: Any) -> Any:
    index = m.subtract(_position(m, n, q), 0.5)
    left = m.floor(index)
    return _step(m, index, m.logical_and(m.equal(m.subtract(index, left), 0), m.equal(m.remainder(left, 2), 1)))


def _midpoint(m: Any, n: Any, q: Any) -> Any:
    index = _linear(m, n, q)
    return m.multiply(m.add(m.floor(index), m.ceil(index)), 0.5)


METHODS: dict[str, Method] = {
    "inverted_cdf": Method(_inverted_cdf, None),
    "averaged_inverted_cdf": Method(
        _position, lambda m, fraction, _index: m.subtract(1.0, m.multiply(m.equal(fraction, 0), 0.5))
    ),
    "closest_observation": Method(_closest_observation, None),
    "interpolated_inverted_cdf": _continuous(0, 1),
    "hazen": _continuous(0.5, 0.5),
    "weibull": _continuous(0, 0),
    "linear": Method(_linear, _fraction),
    "median_unbiased": _continuous(1 / 3.0, 1 / 3.0),
    "normal_unbiased": _continuous(3 / 8.0, 3 / 8.0),
    "lower": Method(lambda m, n, q: m.floor(_linear(m, n, q)), None),
    "higher": Method(lambda m, n, q: m.ceil(_linear(m, n, q)), None),
    "midpoint": Method(
        _midpoint,
        lambda m, _fraction, index: m.subtract(0.5, m.multiply(m.equal(m.remainder(index, 1), 0), 0.5)),
    ),
    "nearest": Method(lambda m, n, q: m.rint(_linear(m, n, q)), None),
}


def method_named(name: Any) -> Method:
    """Return the method, or raise NumPy's ValueError with the valid names."""
    found = METHODS.get(name) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f"{name!r} is not a valid method. Use one of: {METHODS.keys()}")
    return found
