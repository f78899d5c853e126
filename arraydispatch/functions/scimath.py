"""``numpy.lib.scimath``: functions with complex results if a value is outside the real domain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib import scimath

from ..backends.base import Unsupported
from ..runtime import dtypes
from .averages import report
from .operands import arrays, is_concrete, to_host
from .reductions import known_any
from .registry import XP, family

Native = Any

_TO_COMPLEX64 = frozenset("fbhBHF")

complex_domain = family(returns="scalar", pure=False)


def _leaves(xp: XP, x: Native, outside: Native) -> bool:
    """Whether any real element is outside the domain; raise :class:`Unsupported` under a trace."""
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


@complex_domain(scimath.sqrt)
def sqrt(xp: XP, x: Any) -> Native:
    return xp.sqrt(_root_domain(xp, x))


def _log(xp: XP, ufunc: np.ufunc, x: Any) -> Native:
    x = _root_domain(xp, x)
    if known_any(xp, xp.equal(x, 0), wait=False):
        report(xp, ufunc, ufunc.__name__, x)
    return xp.call(ufunc, x)


@complex_domain(scimath.log)
def log(xp: XP, x: Any) -> Native:
    return _log(xp, np.log, x)


@complex_domain(scimath.log10)
def log10(xp: XP, x: Any) -> Native:
    return _log(xp, np.log10, x)


@complex_domain(scimath.log2)
def log2(xp: XP, x: Any) -> Native:
    return _log(xp, np.log2, x)


@complex_domain(scimath.logn)
def logn(xp: XP, n: Any, x: Any) -> Native:
    n, x = arrays(xp, n, x)
    return xp.true_divide(_log(xp, np.log, x), _log(xp, np.log, n))


@complex_domain(scimath.power)
def power(xp: XP, x: Any, p: Any) -> Native:
    x, p = arrays(xp, x, p)
    x = _root_domain(xp, x)
    if _leaves(xp, p, xp.less(p, 0)):
        p = xp.multiply(p, 1.0)
    return xp.power(x, p)


@complex_domain(scimath.arccos)
def arccos(xp: XP, x: Any) -> Native:
    return xp.arccos(_unit_domain(xp, x))


@complex_domain(scimath.arcsin)
def arcsin(xp: XP, x: Any) -> Native:
    return xp.arcsin(_unit_domain(xp, x))


@complex_domain(scimath.arctanh)
def arctanh(xp: XP, x: Any) -> Native:
    return xp.arctanh(_unit_domain(xp, x))
