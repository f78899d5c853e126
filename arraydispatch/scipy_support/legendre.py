"""``scipy.special``: Legendre functions and spherical harmonics with derivatives, which SciPy implements as multi-ufunc
objects.

SciPy's objects decide options, shapes and dtypes; :mod:`arraydispatch.ufuncs.special.legendre_polynomials` computes the
values.
"""

from __future__ import annotations

import operator
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.special

from ..functions import registry
from ..functions.registry import XP
from ..runtime import dtypes
from ..ufuncs.special.formula import Real, Truth, any_of, cos, is_known, sin, where
from ..ufuncs.special.legendre_polynomials import (
    Associated,
    Plain,
    Spherical,
    Whole,
    at_degrees,
    is_complex,
    plain,
    up_to,
)
from .operand_checks import array, only

_MOST = 1000
"""Largest degree, and largest number of steps; SciPy's own factors overflow slightly beyond it."""
_ALL = "_all"
_PARTS = ("_default_kwargs", "_ufunc_default_args", "_resolve_ufunc", "_resolve_out_shapes")


def _known(xp: XP, value: Any) -> np.ndarray[Any, Any]:
    """Return degrees, orders and branch cuts as host values."""
    if xp.is_array(value):
        only(xp.backend.is_concrete(value), "a degree or an order that is not known yet")
        return np.asarray(xp.backend.to_numpy(value))
    return np.asarray(value)


@lru_cache(maxsize=1)
def _normalizes_ends() -> bool:
    """Whether this SciPy normalizes the associated functions at 1 and -1 too; 1.17 does not."""
    return bool(scipy.special.assoc_legendre_p(0, 0, 1.0, norm=True)[0] != 1.0)


def _double(xp: XP, x: Any, like: Any) -> Real:
    x = array(xp, x, like)
    return Real(xp, xp.prim.astype(x, dtypes.COMPLEX128 if xp.dtype_of(x).kind == "c" else dtypes.FLOAT64))


def _stacked(xp: XP, terms: list[Any], axis: int, to: np.dtype[Any]) -> Any:
    terms = [xp.prim.astype(x, to) for x in terms]
    return xp.stack(terms, axis=axis) if len(terms) > 1 else xp.expand_dims(terms[0], axis)


def _harmonics(xp: XP, p: list[Real], phi: Real, m: Whole, shape: tuple[int, ...], to: np.dtype[Any]) -> Any:
    """Compute spherical harmonics, their gradients and their Hessians by both angles."""
    orders = Real(xp, xp.backend.from_numpy(m.astype(float), xp.backend.device_of(phi.v)))
    turned = phi * orders
    c, s = cos(turned), sin(turned)
    waves = [(c, s), (-(s * orders), c * orders), (-(c * orders * orders), -(s * orders * orders))]

    def of(i: int, j: int) -> Any:
        re, im = (xp.prim.broadcast_to((p[i] * part).v, shape) for part in waves[j])
        return xp.prim.complex(re, im)

    found = [xp.prim.astype(of(0, 0), to)]
    if len(p) > 1:
        found.append(_stacked(xp, [of(1, 0), of(0, 1)], -1, to))
    if len(p) > 2:
        mixed = of(1, 1)
        rows = [_stacked(xp, [of(2, 0), mixed], -1, to), _stacked(xp, [mixed, of(0, 2)], -1, to)]
        found.append(xp.stack(rows, axis=-2))
    return found[0] if len(found) == 1 else tuple(found)


def _compute(xp: XP, name: str, args: list[Any], like: Any, options: dict[str, Any], to: np.dtype[Any]) -> Any:
    """Compute the result of the SciPy object of this name for its operands, in a dtype."""
    kind, count = name.removesuffix(_ALL), options["diff_n"] + 1
    n, m, z, *rest = args if kind != "legendre_p" else (args[0], 0, args[1])
    n, m = (_known(xp, x).astype(np.int64) for x in (n, m))
    only(n.size == 0 or n.max() <= _MOST, f"degrees beyond {_MOST}")
    z = _double(xp, z, like)
    shape = xp.shape_of(z.v)
    full = shape
    of: Plain | Associated | Spherical = plain(z, count)
    if kind == "assoc_legendre_p":
        cuts = _known(xp, rest[0]).astype(np.int64)
        shape = full = np.broadcast_shapes(shape, cuts.shape)
        ends = is_complex(z) and count > 1 and is_known(z) and any_of((z == 1.0) | (z == -1.0))
        only(not ends, "derivatives at 1 and -1 as complex numbers")
        norm = bool(options["norm"])
        of = Associated.of(z, cuts, norm, norm and _normalizes_ends(), count)
    elif kind != "legendre_p":
        of = Spherical.of(z, count)
    if kind == "sph_harm_y":
        phi = _double(xp, rest[0], like)
        full = np.broadcast_shapes(shape, xp.shape_of(phi.v))
    if name != kind:  # the axes of degrees and orders precede those of the argument
        shape = (1,) * (len(full) - len(shape)) + shape
        if kind != "legendre_p":
            most = abs(operator.index(args[1]))
            m = np.concatenate([np.arange(most + 1), np.arange(-most, 0)]).reshape(-1, *[1] * len(full))
            shape, full = (m.size, *shape), (int(n) + 1, m.size, *full)
        p = up_to(of, z, int(n), m, shape)
    else:
        shape, full = (np.broadcast_shapes(x, n.shape, m.shape) for x in (shape, full))
        p = at_degrees(of, z, n, m, shape)
    if kind == "sph_harm_y":
        if (n < 0).any():  # for negative degrees the value is zero, whatever the angle
            phi = where(Truth(xp, xp.backend.from_numpy(n < 0, xp.backend.device_of(phi.v))), 0.0, phi)
        return _harmonics(xp, p, phi, m, full, to)
    return _stacked(xp, [x.v for x in p], 0, to)


def _operand(xp: XP, x: Any, like: Any) -> Any:
    """Convert to an array of the library if it contains one, otherwise to a host array."""
    return array(xp, x, like) if isinstance(x, list | tuple) else x if xp.is_array(x) else np.asarray(x)


_OBJECTS = {
    getattr(scipy.special, name): count
    for name, count in {
        "legendre_p": 2, "legendre_p_all": 2, "assoc_legendre_p": 4, "assoc_legendre_p_all": 4, "sph_legendre_p": 3,
        "sph_legendre_p_all": 3, "sph_harm_y": 4, "sph_harm_y_all": 4,
    }.items()
    if hasattr(scipy.special, name)
}  # fmt: skip
"""SciPy object -> number of arguments of its ufuncs, including leading arguments that are options."""


def _enter() -> None:
    """Register the call of these objects, which is a method of their class."""
    if not _OBJECTS:
        return
    func: Any = vars(type(next(iter(_OBJECTS)))).get("__call__")
    if func not in registry.METHODS:
        return

    @registry.implements(func, orders=True)
    def body(xp: XP, owner: Any, /, *args: Any, **options: Any) -> Any:
        only(owner in _OBJECTS and all(hasattr(owner, part) for part in _PARTS), "an object that is not known")
        options = owner._default_kwargs | options
        args += owner._ufunc_default_args(**options)
        ufunc = owner._resolve_ufunc(**options)
        only(len(args) == _OBJECTS[owner], "arguments of another number")
        like = next((x for x in args if xp.is_array(x)), None)
        before, operands = args[: -ufunc.nin], [_operand(xp, x, like) for x in args[-ufunc.nin :]]
        have = [(xp.shape_of(x), xp.dtype_of(x)) if xp.is_array(x) else (x.shape, x.dtype) for x in operands]
        if owner._resolve_out_shapes is not None:
            owner._resolve_out_shapes(*before, *(shape for shape, _ in have), ufunc.nout, **options)
        to = ufunc.resolve_dtypes((*(dtype for _, dtype in have), None))[-1]
        return _compute(xp, owner.__name__, [*before, *operands], like, options, to)


_enter()
