"""Traced Python numbers, which are weak: they take the dtype of the array that they meet (NEP 50)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..array.scalar import Scalar
from ..backends.base import Native
from ..backends.kinds import Kind
from ..common.members import row_of
from ..common.pytrees import tree_leaves, tree_map
from ..memory import views
from ..runtime import dtypes

_PYTHON: dict[str, type] = {"f": float, "c": complex, "i": int}


def _type_of(x: Any) -> Any:
    """Return the type with which NumPy resolves a loop: a dtype, or the class of a Python number."""
    if isinstance(x, Weak):
        return _PYTHON[x._kind.dtype.kind]
    if isinstance(x, Handle):
        return x._kind.dtype
    if type(x) in (int, float, complex):
        return type(x)
    return np.asarray(x).dtype


def _is_python(x: Any) -> bool:
    return isinstance(x, Weak) or type(x) in (bool, int, float, complex)


def _operator(word: str, reflected: bool = False) -> Callable[..., Any]:
    """Make a binary operator; for two Python numbers it returns a Python number."""
    ufunc = row_of(word).func

    def operator(self: Weak, other: Any, *_modulo: Any) -> Any:
        inputs = (other, self) if reflected else (self, other)
        if _is_python(other):
            return _weak(ufunc(*(x.strong() if isinstance(x, Weak) else x for x in inputs)))
        return ufunc(*inputs)

    return operator


def _unary(word: str) -> Callable[..., Any]:
    ufunc = row_of(word).func
    return lambda self: _weak(ufunc(self.strong()))


def _weak(x: Any) -> Any:
    """Return a scalar as a Python number, if Python has such a type."""
    if type(x) is Scalar and x._kind.dtype.kind in _PYTHON:
        return Weak._holding(views.native(x), x._kind)
    return x


class Weak(Scalar):
    """A Python number that is traced.

    It computes with its own kind as Python does, in 64 bits, and gives way to the dtype of arrays.
    """

    __slots__ = ()

    def strong(self, dtype: np.dtype[Any] | None = None) -> Any:
        """Return a NumPy scalar of a dtype; None: of NumPy's default dtype for such a number."""
        kind = self._kind
        if dtype is None or dtype == kind.dtype:
            return Scalar._holding(self._v, kind)
        backend = kind.backend
        with backend.within():
            return Scalar._holding(backend.prim.astype(self._v, dtype), backend.kind(dtype))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        found: list[Any] = [None] * len(inputs)
        if method == "__call__" and not all(map(_is_python, inputs)):
            found = _loop(ufunc, inputs)
        strong = [x.strong(dtype) if isinstance(x, Weak) else x for x, dtype in zip(inputs, found)]
        return getattr(ufunc, method)(*strong, **tree_map(_plain, kwargs))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        others = [x._kind.dtype for x in tree_leaves((args, kwargs)) if isinstance(x, Handle) and type(x) is not Weak]
        hosts = [x.dtype for x in tree_leaves((args, kwargs)) if isinstance(x, np.ndarray | np.generic)]

        def given(x: Any) -> Any:
            return x.strong(_among(others + hosts, x)) if isinstance(x, Weak) else x

        return func(*tree_map(given, args), **tree_map(given, kwargs))

    __add__, __radd__ = _operator("add"), _operator("add", True)
    __sub__, __rsub__ = _operator("sub"), _operator("sub", True)
    __mul__, __rmul__ = _operator("mul"), _operator("mul", True)
    __truediv__, __rtruediv__ = _operator("truediv"), _operator("truediv", True)
    __floordiv__, __rfloordiv__ = _operator("floordiv"), _operator("floordiv", True)
    __mod__, __rmod__ = _operator("mod"), _operator("mod", True)
    __pow__, __rpow__ = _operator("pow"), _operator("pow", True)
    __lt__, __le__, __gt__, __ge__ = map(_operator, ("lt", "le", "gt", "ge"))
    __neg__, __pos__, __abs__ = map(_unary, ("neg", "pos", "abs"))

    def __hash__(self) -> int:  # type: ignore[override]
        return super().__hash__()


def _plain(x: Any) -> Any:
    return x.strong() if isinstance(x, Weak) else x


def _loop(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> list[Any]:
    """Return the dtype of each operand in the loop that NumPy resolves."""
    types = [_type_of(x) for x in inputs]
    try:
        return list(ufunc.resolve_dtypes((*types, *(None,) * ufunc.nout))[: ufunc.nin])
    except TypeError:
        # NumPy lacks a dtype (bfloat16), or has no loop; then the call itself raises a better error.
        return [_among([t for t in types if isinstance(t, np.dtype)], x) for x in inputs]


def _among(found: list[np.dtype[Any]], x: Any) -> np.dtype[Any] | None:
    """Return the dtype of a Python number among arrays of these dtypes."""
    if not found or not isinstance(x, Weak):
        return None
    if any(map(dtypes.is_bfloat16, found)):
        return next(filter(dtypes.is_bfloat16, found))
    try:
        return np.result_type(*found, _PYTHON[x._kind.dtype.kind](0))
    except TypeError:
        return None


def weak(value: Native, kind: Kind) -> Any:
    """Wrap a traced Python number."""
    return Weak._holding(value, kind)
