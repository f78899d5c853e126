"""``Scalar``: NumPy's scalars on a device and under a trace.

A scalar behaves like ``np.float64``: it never changes, and its methods and attributes are those of a 0-d
array of its value; 0-d results are scalars again.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .._core.handles import general
from ..dispatch import subscripts, wrapping
from ..functions.registry import spec_of
from ..memory.views import native
from ..runtime import settings
from .array import Array
from .exports import rebuilt

__all__ = ["Scalar"]


def _of_zero_d(name: str) -> Callable[..., Any]:
    """Make a method that calls the array's method of this name on a 0-d copy of the scalar; 0-d results are scalars."""
    inner = getattr(Array, name)

    def made(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _scalar(inner(wrapping.zero_d(self), *args, **kwargs))

    made.__name__, made.__doc__ = name, inner.__doc__
    return made


def _property_of_zero_d(name: str) -> Any:
    """Make a read-only property that reads the array's attribute of this name on a 0-d copy of the scalar; 0-d results are scalars."""
    inner = getattr(Array, name)
    return property(lambda self: _scalar(inner.__get__(wrapping.zero_d(self))), doc=inner.__doc__)


def _scalar(made: Any) -> Any:
    return Scalar._holding(native(made), made._kind) if type(made) is Array and not made.shape else made


class Scalar(Array):
    """A scalar on the device: immutable like ``np.float64``, hashable, formattable; its value is read only when needed.

    Results that are scalars in NumPy are ``Scalar`` on an accelerator and under a trace. On a CPU device they are NumPy's
    own scalars.
    """

    __slots__ = ()
    __class__ = property(type)  # never shown as an ndarray

    __numpy_dtype__ = property(general["dtype"].fget)

    # -- what NumPy's scalars are and arrays are not -------------------------------------------------------------------

    def __repr__(self) -> str:
        return repr(self._shown())  # NumPy's alone: programs print numbers within lists

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.item())

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TypeError(f"'{self.dtype.type.__name__}' object does not support item assignment")

    def __getitem__(self, key: Any) -> Any:
        for item in key if isinstance(key, tuple) else (key,):
            if item is not None and item is not Ellipsis:
                raise IndexError("invalid index to scalar variable.")
        return subscripts.getitem(wrapping.zero_d(self), key)

    def __iter__(self) -> NoReturn:
        raise TypeError(f"'{self.dtype.type.__name__}' object is not iterable")

    def __len__(self) -> NoReturn:
        raise TypeError(f"object of type '{self.dtype.type.__name__}' has no len()")

    def __getattr__(self, name: str) -> Any:
        """Return an attribute that only some of NumPy's scalar types have, such as ``is_integer``, ``bit_count`` and ``hex``. Raise
        AttributeError if NumPy's scalar of this value lacks the attribute, and for names that begin with an underscore.
        """
        if name.startswith("_"):
            raise AttributeError(f"'Scalar' object has no attribute {name!r}")
        return getattr(self._value(name), name)

    def _value(self, why: str) -> Any:
        """Return NumPy's own scalar of this value. ``why``: reason that a profile or an error gives for reading the value."""
        return self._one(why)[()]

    def _shown(self) -> Any:
        found = super()._shown()
        return found[()] if isinstance(found, np.ndarray) else found

    def __reduce__(self) -> Any:
        return _rebuild_scalar, super().__reduce__()[1]

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        spec = spec_of(func)
        here = settings.current_scalars() == "numpy" and settings.on_cpu(self._kind.backend.name)
        if spec is not None and spec.of_elements and here:  # as if all elements were NumPy's scalars; most are
            return func._implementation(*args, **kwargs)
        return super().__array_function__(func, types, args, kwargs)

    # -- numbers -------------------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> Any:
        return False if other is None else super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        return True if other is None else super().__ne__(other)

    def __mul__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, _SEQUENCES) else super().__mul__(other)

    def __rmul__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, _SEQUENCES) else super().__rmul__(other)

    def __float__(self) -> float:
        return float(self._value("float()"))

    def __int__(self) -> int:
        return int(self._value("int()"))

    def __index__(self) -> int:
        return operator.index(self._value("an index"))

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(self._value("round()")) if ndigits is None else self.round(ndigits)

    def __trunc__(self) -> int:
        return math.trunc(self._value("trunc()"))

    def __floor__(self) -> int:
        return math.floor(self._value("floor()"))

    def __ceil__(self) -> int:
        return math.ceil(self._value("ceil()"))

    # In-place operators make a new scalar: ``t = s; s += 1`` leaves t. Python does that if __iadd__ returns NotImplemented.
    def _new(self, other: Any) -> Any:
        return NotImplemented

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = _new
    __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = __imatmul__ = _new
    __matmul__ = __rmatmul__ = _new

    # -- what 0-d arrays have ------------------------------------------------------------------------------------------

    astype, byteswap, conj, copy = map(_of_zero_d, ("astype", "byteswap", "conj", "copy"))
    diagonal, fill, flatten, getfield = map(_of_zero_d, ("diagonal", "fill", "flatten", "getfield"))
    partition, put, ravel, reshape = map(_of_zero_d, ("partition", "put", "ravel", "reshape"))
    resize, setfield, setflags, sort = map(_of_zero_d, ("resize", "setfield", "setflags", "sort"))
    squeeze, swapaxes, transpose, view = map(_of_zero_d, ("squeeze", "swapaxes", "transpose", "view"))
    conjugate = conj
    T, flat, imag, real = map(_property_of_zero_d, ("T", "flat", "imag", "real"))
    dtype = property(general["dtype"].fget, doc=general["dtype"].__doc__)
    shape = property(general["shape"].fget, doc=general["shape"].__doc__)

    @property
    def flags(self) -> Any:
        """NumPy's flags object: not writeable."""
        found = np.empty((), self.dtype)
        found.flags.writeable = False
        return found.flags


_SEQUENCES = (list, tuple, str, bytes, bytearray)
"""Types of sequences that multiplication by an integer repeats, as in ``[0] * n``."""


def _rebuild_scalar(*state: Any) -> Any:
    made = rebuilt(*state)
    return wrapping.scalar(native(made), made._kind)


wrapping.scalar_class = Scalar
numbers.Number.register(Scalar)  # for np.isscalar
