"""General forms of ``Array``'s operators and methods; each is made from a NumPy function or ufunc."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..common.arguments import PLAIN
from ..common.members import row_of
from ..common.pytrees import first
from ..dispatch import functions, host_fallback, host_results, ufuncs, wrapping
from ..memory import views
from ..runtime import dtypes
from ..ufuncs.facts import CLIP

_call = functions.call


def named(made: Any, name: str) -> Any:
    """Give a member of ``Array`` the name of ndarray's: pickle asks a bound method for its name.

    Pickle finds an unbound method by module and qualified name: see ``ndarray`` in :mod:`arraydispatch.array`.
    """
    for function in (made.fget, made.fset) if isinstance(made, property) else (made,):
        if function is not None and not isinstance(function, type):  # the class of a property's values has its own name
            function.__name__, function.__qualname__ = name, f"ndarray.{name}"
    if not isinstance(made, property):
        made.__module__ = __package__
    return made


def operators(word: str) -> tuple[Any, Any, Any]:
    """Make the binary, reflected and in-place forms of a binary operator, given its word (``add`` for ``__add__``)."""
    func = row_of(word).func
    return ufuncs.binary_operator(func), ufuncs.reflected_operator(func), ufuncs.inplace_operator(func)


def comparison(word: str) -> Callable[[Any, Any], Any]:
    """Make a comparison operator, which has no reflected or in-place form."""
    return ufuncs.binary_operator(row_of(word).func)


def unary(word: str) -> Callable[[Any], Any]:
    """Make an operator of one operand."""
    return ufuncs.FAST_OF_ONE[row_of(word).func]


_REDUCES: dict[str, Any] = {
    "all": np.logical_and, "any": np.logical_or, "max": np.maximum, "min": np.minimum, "prod": np.multiply, "sum": np.add,
}  # fmt: skip
_WRITTEN_WITH_UFUNCS = frozenset({*_REDUCES, "clip", "mean", "std", "var"})
"""Methods of ndarray that NumPy implements in Python with ufuncs. The ufuncs call the protocols of other operands."""


def _by_ufuncs(name: str, a: Handle, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call ufuncs on an array as NumPy's method of this name calls them on an ndarray."""
    if name in _REDUCES:
        said: dict[str, Any] = {"axis": None, "dtype": None, "keepdims": False, "where": True}
        names = ["axis", *([] if name in ("max", "min") else ["dtype"]), "out", "keepdims", "initial", "where"]
        if name in ("all", "any"):
            said = {"axis": None, "dtype": bool, "keepdims": False}
        said |= dict(zip(names, args)) | kwargs
        return _REDUCES[name].reduce(a, **{key: x for key, x in said.items() if x is not None or key != "out"})
    return _clip(a, *args, **kwargs) if name == "clip" else getattr(np.ndarray, name)(np.asarray(a), *args, **kwargs)


def _clip(a: Any, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    if a.dtype.kind in "iu":  # no element is outside these bounds, which the dtype may not hold
        min = None if type(min) is int and min <= np.iinfo(a.dtype).min else min
        max = None if type(max) is int and max >= np.iinfo(a.dtype).max else max
    if min is None and max is None:
        return np.positive(a, out=out, **kwargs)
    if min is None or max is None:
        ufunc: Any = np.minimum if min is None else np.maximum
        return ufunc(a, max if min is None else min, out=out, **kwargs)
    return CLIP(a, min, max, out=out, **kwargs)


def meets_strangers(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a method gets objects with protocols that NumPy's function of this name would call, but the method does not."""
    if PLAIN.issuperset(map(type, args)) and PLAIN.issuperset(map(type, kwargs.values())):
        return False
    protocol = "__array_ufunc__" if func.__name__ in _WRITTEN_WITH_UFUNCS else "__array_function__"

    def is_one(x: Any) -> bool:
        return type(x) not in PLAIN and host_fallback.is_stranger(x, protocol)

    return first(is_one, (*args, *kwargs.values())) is not None


def of_stranger(x: Any, dtype: Any = None) -> Any:
    """Convert an object to an ndarray if it has a protocol that NumPy's functions would call, because ndarray's methods convert it;
    return any other object itself.
    """
    if type(x) in PLAIN or not host_fallback.is_stranger(x, "__array_function__"):
        return x
    return np.asarray(x, dtype)


def as_numpys_method(name: str, a: Handle, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a method as NumPy does: ufuncs call the protocols of other operands, C code converts them to ndarrays."""
    backend = a._kind.backend
    if name not in _WRITTEN_WITH_UFUNCS:
        given = getattr(np.ndarray, name)
        return host_fallback.call(given, (a, *args), kwargs, backend, "ndarray's methods convert other arrays")
    made = _by_ufuncs(name, a, args, kwargs)
    return host_results.to_device(made, backend, None) if type(made) is np.ndarray else made


def method(func: Any, unknown: str = "") -> Callable[..., Any]:
    """Make a method that calls a NumPy function with the function's parameters, except the one named ``unknown``."""

    def made(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not args and not kwargs:
            whole = self._kind.whole.get(func)
            if whole is not None:
                return whole(self)
        if unknown in kwargs:
            raise TypeError(f"{func.__name__}() got an unexpected keyword argument {unknown!r}")
        if meets_strangers(func, args, kwargs):
            return as_numpys_method(func.__name__, self, args, kwargs)
        return _call(func, (self, *args), kwargs)

    made.__doc__ = f"As ``ndarray.{func.__name__}``; see :func:`numpy.{func.__name__}`."
    return made


_LEFT_OUT = {"out": None, "keepdims": False, "where": True}


def logical_method(func: Any) -> Callable[..., Any]:
    """Make ``any`` or ``all``. The methods have a parameter that the functions lack: ``dtype``, the second one, which NumPy passes to
    the ufunc.
    """
    general, ufunc = method(func), _REDUCES[func.__name__]

    def made(
        self: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
    ) -> Any:
        if dtype is not None:
            return ufunc.reduce(self, axis, dtype, out, keepdims, where=where)
        args = () if axis is None else (axis,)
        if out is None and keepdims is False and where is True:
            return general(self, *args)
        options = {"out": out, "keepdims": keepdims, "where": where}
        return general(self, *args, **{name: x for name, x in options.items() if x is not _LEFT_OUT[name]})

    made.__doc__ = general.__doc__
    return made


def tuple_method(func: Any) -> Callable[..., Any]:
    """Make a method as :func:`method` does; its sequence argument may also be given as several arguments (``x.reshape(2, 3)``)."""

    def made(self: Any, *args: Any, **kwargs: Any) -> Any:
        if meets_strangers(func, args, kwargs):
            return as_numpys_method(func.__name__, self, args, kwargs)
        if len(args) > 1:
            return functions.call(func, (self, args), kwargs)
        return functions.call(func, (self, *args), kwargs)

    made.__doc__ = f"As ``ndarray.{func.__name__}``; see :func:`numpy.{func.__name__}`."
    return made


def equality(word: str, verdict: bool) -> Callable[[Any, Any], Any]:
    """Make ``==`` or ``!=`` (``word``: ``eq`` or ``ne``), which compare with any object. ``verdict``: the result for all elements if NumPy
    has no loop, because then nothing is equal.
    """
    compare, of_numpys = comparison(word), getattr(operator, word)

    def made(self: Any, other: Any) -> Any:
        shape = self.shape
        try:
            if other is not None and not isinstance(other, str | bytes):
                return compare(self, other)
        except np._core._exceptions._UFuncNoLoopError:  # type: ignore[attr-defined]
            # NumPy determines the shape of the answer, and raises for records compared with anything else.
            shape = np.shape(of_numpys(views.ghost(self), other))
        kind, held = views.held(self)
        backend = kind.backend
        value = backend.prim.full(shape, verdict, dtypes.BOOL, backend.device_of(held))
        return wrapping.wrap_result(value, backend, "scalar", None)

    return made


def powers() -> tuple[Any, Any, Any]:
    """Make the forms of ``**``, with NumPy's short cuts for scalar exponents."""
    forward, reflected, inplace = operators("pow")

    def power(self: Any, exponent: Any, modulo: None = None) -> Any:
        if modulo is not None:
            return NotImplemented
        short = short_power(self, exponent)
        return forward(self, exponent) if short is None else ufuncs.FAST_OF_ONE[short](self)

    def inplace_power(self: Any, exponent: Any) -> Any:
        short = short_power(self, exponent)
        if short is None:
            return inplace(self, exponent)
        return ufuncs.array_ufunc(short, "__call__", (self,), {"out": (self,)})

    return power, reflected, inplace_power


def short_power(base: Handle, exponent: Any, hosted: bool = False) -> np.ufunc | None:
    """Return NumPy's exact short cut for a scalar exponent, or None: x**2 is x*x, x**0.5 is sqrt(x).

    ``hosted``: whether it is certain that NumPy computes.
    """
    if type(exponent) not in (int, float):
        return None
    kind = base._kind.dtype.kind
    if kind in "fc":
        if (
            exponent in _EXACT
            and (type(exponent) is float or exponent == 1)
            and (hosted or base._kind.backend.native_is_ndarray)
        ):
            return None
        return np.sqrt if exponent == 0.5 else _EXACT.get(exponent)
    return np.square if kind in "biu" and exponent == 2 and type(exponent) is int else None


_EXACT: dict[float, np.ufunc] = {2: np.square, 1: np.positive, -1: np.reciprocal}
"""Exponent -> ufunc that computes the power. NumPy has such short cuts for 2 and -1; a library's power may round for 1, or take long."""
