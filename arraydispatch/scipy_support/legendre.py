"""``scipy.special``: values of Legendre polynomials and spherical harmonics, which SciPy implements as multi-ufunc objects.

SciPy's objects decide options, shapes and dtypes. Values follow by SciPy's recurrence from the degree that equals the order up to the
degree asked for, which is stable. SciPy itself computes the rest: derivatives, all degrees and orders at once, and
associated functions of a number, with their branch cuts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

from ..functions import registry
from ..functions.registry import XP
from ..runtime import dtypes
from ..ufuncs.special.formula import Real, Truth, constant, cos, power, sin, where
from .operand_checks import array, only

_MOST = 1000
"""Largest degree, and largest number of steps; SciPy's own factors overflow slightly beyond it."""
_PARTS = ("_default_kwargs", "_ufunc_default_args", "_resolve_ufunc", "_resolve_out_shapes")
_OBJECTS = {
    getattr(scipy.special, name): count
    for name, count in {"legendre_p": 2, "sph_legendre_p": 3, "sph_harm_y": 4}.items()
    if hasattr(scipy.special, name)
}
"""SciPy object -> number of arguments of its ufuncs."""

Host = np.ndarray[Any, Any]


def _whole(xp: XP, value: Any) -> Host:
    """Return degrees or orders as host values."""
    if xp.is_array(value):
        only(xp.backend.is_concrete(value), "a degree or an order that is not known yet")
        value = xp.backend.to_numpy(value)
    return np.asarray(value).astype(np.int64)


def _beside(like: Real, values: Any) -> Any:
    """Convert host numbers to operands for an array: a single one stays, several go to its device."""
    values = np.asarray(values)
    if values.size == 1:
        return values.item()
    return Real(like.xp, like.xp.backend.from_numpy(values, like.xp.backend.device_of(like.v)))


def _chosen(like: Real, condition: Host, x: Real, y: Real) -> Real:
    """Choose by host values."""
    if condition.all() or not condition.any():
        return x if condition.all() else y
    return where(Truth(like.xp, like.xp.backend.from_numpy(condition, like.xp.backend.device_of(like.v))), x, y)


def _unnormalized(degree: int, _: Host) -> tuple[float, float]:
    return -(degree - 1) / degree, (2 * degree - 1) / degree


def _normalized(degree: int, order: Host) -> tuple[Host, Host]:
    squares = np.where(abs(order) < degree, degree**2 - order**2, 1)
    below = ((2 * degree - 3) * squares).astype(float)
    before = np.maximum((degree - 1) ** 2 - order**2, 0)
    back, on = (2 * degree + 1) * before / below, (2 * degree + 1) * (4 * (degree - 1) ** 2 - 1) / below
    return -np.sqrt(np.abs(back)), np.sqrt(on)


def _at_degrees(x: Real, n: Host, m: Host, first: Real, below: Real, factors: Any) -> Real:
    """Compute the function of each degree and order, 0 where the order is the larger one, and ``below`` for negative degrees.

    ``first``: where the order equals the degree; ``factors(degree, m)``: those of the values two degrees and one degree below.
    """
    sizes, zero = abs(m), constant(x, 0.0)
    before, now, found = zero, zero, _chosen(x, n < 0, below, zero)
    for degree in range(int(n.max(initial=-1)) + 1):
        following = zero
        if (sizes < degree).any():
            back, on = factors(degree, m)
            following = x * _beside(x, on) * now + before * _beside(x, back)
        before, now = now, _chosen(x, sizes == degree, first, _chosen(x, sizes < degree, following, zero))
        found = _chosen(x, n == degree, now, found)
    return found


def _polynomial(z: Real, n: Host) -> Real:
    """Compute Legendre polynomials; for negative degrees SciPy has the argument."""
    return _at_degrees(z, n, np.zeros_like(n), constant(z, 1.0), z, _unnormalized)


def _spherical(theta: Real, n: Host, m: Host) -> Real:
    """Compute the factor of spherical harmonics that depends on the polar angle."""
    s, sizes = sin(theta), abs(m)
    steps = np.arange(1, int(sizes.max(initial=0)) + 1)
    scales = np.cumprod([0.5 / math.sqrt(math.pi), *np.sqrt((2 * steps + 1) / (2 * steps))])
    signed = np.where((m > 0) & (m % 2 == 1), -1.0, 1.0) * scales[sizes]
    first = constant(s, 1.0)
    if sizes.any():
        first = power(where(s < 0.0, -s, s), _beside(s, sizes.astype(float)))
    zero = constant(s, 0.0)
    return _at_degrees(cos(theta), n, m, first * _beside(s, signed), zero, _normalized)


def _harmonic(xp: XP, p: Real, phi: Real, n: Host, m: Host) -> Any:
    turned = phi * _beside(phi, m.astype(float))
    turned = _chosen(turned, n < 0, constant(turned, 0.0), turned)  # zero, whatever the angle
    parts = [(p * part(turned)).v for part in (cos, sin)]
    shape = np.broadcast_shapes(*map(xp.shape_of, parts))
    return xp.prim.complex(*[xp.prim.broadcast_to(part, shape) for part in parts])


def _compute(xp: XP, name: str, args: list[Any], like: Any, shape: tuple[int, ...], to: np.dtype[Any]) -> Any:
    """Compute the result of the SciPy object of this name for its operands, in a shape and a dtype."""
    n, m = _whole(xp, args[0]), np.zeros((), np.int64) if name == "legendre_p" else _whole(xp, args[1])
    only(n.size == 0 or n.max() <= _MOST, f"degrees beyond {_MOST}")
    x, *rest = (
        Real(xp, xp.prim.astype(array(xp, a, like), dtypes.FLOAT64)) for a in args[1 if name == "legendre_p" else 2 :]
    )
    made = (_polynomial(x, n) if name == "legendre_p" else _spherical(x, n, m)).v
    if rest:
        made = _harmonic(xp, Real(xp, made), rest[0], n, m)
    made = xp.prim.astype(xp.prim.broadcast_to(made, shape), to)
    return made if rest else xp.expand_dims(made, 0)  # SciPy's axis of value and derivatives


def _enter() -> None:
    """Register the call of these objects, which is a method of their class."""
    if not _OBJECTS:
        return
    func: Any = vars(type(next(iter(_OBJECTS)))).get("__call__")
    if func not in registry.METHODS:
        return

    @registry.implements(func, orders=True)
    def body(xp: XP, owner: Any, /, *args: Any, **options: Any) -> Any:
        only(owner in _OBJECTS and all(hasattr(owner, part) for part in _PARTS), f"{owner.__name__} is SciPy's alone")
        options = owner._default_kwargs | options
        owner._ufunc_default_args(**options)  # refuses options that have no meaning
        ufunc = owner._resolve_ufunc(**options)
        only(options["diff_n"] == 0, "derivatives")
        only(len(args) == _OBJECTS[owner], "arguments of another number")
        like = next((x for x in args if xp.is_array(x)), None)
        operands = [
            array(xp, x, like) if isinstance(x, list | tuple) else x if xp.is_array(x) else np.asarray(x) for x in args
        ]
        have = [(xp.shape_of(x), xp.dtype_of(x)) if xp.is_array(x) else (x.shape, x.dtype) for x in operands]
        shape = np.broadcast_shapes(*(shape for shape, _ in have))
        to = ufunc.resolve_dtypes((*(dtype for _, dtype in have), None))[-1]
        return _compute(xp, owner.__name__, operands, like, shape, to)


_enter()
