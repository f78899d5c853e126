"""``numpy.lib.scimath``: functions that leave the real line where it ends. Whether they do depends on the values."""

from __future__ import annotations

from typing import Any

from numpy.lib import scimath

from .. import dtypes
from ..backends.base import Unsupported
from ..registry import XP, implements
from .operands import arrays, is_concrete, to_host

Native = Any

_TO_COMPLEX64 = frozenset("fbhBHF")


def _leaves(xp: XP, x: Native, outside: Native) -> bool:
    """Whether any element with no imaginary part is outside."""
    if not is_concrete(xp, x):
        raise Unsupported("whether its result is complex depends on values")
    return bool(to_host(xp, xp.any(xp.logical_and(xp.isreal(x), outside))))


def _complex(xp: XP, x: Native) -> Native:
    small = xp.dtype_of(x).char in _TO_COMPLEX64
    return xp.prim.astype(x, dtypes.COMPLEX64 if small else dtypes.COMPLEX128)


def _root_domain(xp: XP, x: Any) -> Native:
    x = xp.asarray(x)
    return _complex(xp, x) if _leaves(xp, x, xp.less(x, 0)) else x


def _unit_domain(xp: XP, x: Any) -> Native:
    x = xp.asarray(x)
    return _complex(xp, x) if _leaves(xp, x, xp.greater(xp.absolute(x), 1)) else x


@implements(scimath.sqrt, pure=False)
def sqrt(xp: XP, x: Any) -> Native:
    return xp.sqrt(_root_domain(xp, x))


@implements(scimath.log, pure=False)
def log(xp: XP, x: Any) -> Native:
    return xp.log(_root_domain(xp, x))


@implements(scimath.log10, pure=False)
def log10(xp: XP, x: Any) -> Native:
    return xp.log10(_root_domain(xp, x))


@implements(scimath.log2, pure=False)
def log2(xp: XP, x: Any) -> Native:
    return xp.log2(_root_domain(xp, x))


@implements(scimath.logn, pure=False)
def logn(xp: XP, n: Any, x: Any) -> Native:
    n, x = (_root_domain(xp, v) for v in arrays(xp, n, x))
    return xp.true_divide(xp.log(x), xp.log(n))


@implements(scimath.power, pure=False)
def power(xp: XP, x: Any, p: Any) -> Native:
    x, p = arrays(xp, x, p)
    x = _root_domain(xp, x)
    if _leaves(xp, p, xp.less(p, 0)):
        p = xp.multiply(p, 1.0)
    return xp.power(x, p)


@implements(scimath.arccos, pure=False)
def arccos(xp: XP, x: Any) -> Native:
    return xp.arccos(_unit_domain(xp, x))


@implements(scimath.arcsin, pure=False)
def arcsin(xp: XP, x: Any) -> Native:
    return xp.arcsin(_unit_domain(xp, x))


@implements(scimath.arctanh, pure=False)
def arctanh(xp: XP, x: Any) -> Native:
    return xp.arctanh(_unit_domain(xp, x))
