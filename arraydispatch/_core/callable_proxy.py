"""Proxies for functions and modules of other packages, written in C where the core is compiled, so that a call costs little."""

from __future__ import annotations

import functools
import importlib
import operator
from types import MethodType
from typing import Any

from .handles import _compiled

__all__ = ["Called", "MethodStandIn", "StandIn", "by_name"]


class _Forwarding(property):
    """Descriptor for ``__call__`` of :class:`_Called`. Read on an instance, it returns the target; read on the class, it returns itself,
    which calls the target of its first argument with the other arguments.
    """

    def __call__(self, instance: Any, /, *args: Any, **kwargs: Any) -> Any:
        return instance.target(*args, **kwargs)


class _Called:
    """Proxy that forwards calls to its ``target`` without a Python frame in between.

    Attributes
    ----------
    target : callable
        May be replaced at any time.
    """

    __slots__ = ("target",)
    __call__ = _Forwarding(operator.attrgetter("target"))


Called: Any = _Called if _compiled is None else _compiled.Called


class _Module:
    """Object that pickle writes in place of a module; unpickling imports the module."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self._name,)


def by_name(module: str, name: str) -> tuple[Any, ...]:
    """Return the ``__reduce__`` value of a module's attribute; ``name`` may be dotted, as ``add.reduce``.

    For a name of NumPy, unpickling in a user file under a launcher returns the facade's object, elsewhere NumPy's own. The pickle can
    be loaded without this package.
    """
    return operator.attrgetter(name), (_Module(module),)


class MethodStandIn:
    """Stand-in for a method of one of NumPy's classes, such as ``np.ufunc.reduce``; subclasses define the call.

    Comparison, hashing, pickling and ``functools.wraps`` treat the stand-in as the method itself.
    """

    __name__: str
    __wrapped__: Any

    def __init__(self, owner: type, name: str) -> None:
        subclass: Any = self
        functools.update_wrapper(subclass, getattr(owner, name), ("__name__", "__qualname__", "__doc__"), ())
        self._owner = owner

    def __eq__(self, other: object) -> bool:
        return other is self.__wrapped__ or (type(other) is type(self) and other.__wrapped__ is self.__wrapped__)

    def __hash__(self) -> int:
        return hash(self.__wrapped__)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __reduce__(self) -> tuple[Any, ...]:
        return by_name("numpy", f"{self._owner.__name__}.{self.__name__}")


class StandIn(Called):  # type: ignore[misc]
    """Stand-in for a function. Comparison, hashing, pickling (by a public module and name), ``functools.wraps`` and ``inspect`` treat
    the stand-in as the function itself.

    Calls go to ``target``, by default the function. This class and its subclasses must not annotate names: their
    ``__annotations__`` would hide the function's.
    """

    def __init__(self, real: Any, module: str, name: str, target: Any = None) -> None:
        self.real, self.target = real, real if target is None else target
        for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):  # on this class too: no __getattr__
            if hasattr(real, attribute):
                setattr(self, attribute, getattr(real, attribute))
        self._where = module, name

    def __getattr__(self, name: str) -> Any:
        if name in ("real", "target"):  # missing in a half-made copy
            raise AttributeError(name)
        return getattr(self.real, name)

    # isinstance() reads __class__, so checks of the function's type, by users, libraries and inspect, succeed.
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self.real)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        """The function's ``__dict__``, which functools.wraps copies."""
        return self.real.__dict__

    def __dir__(self) -> list[str]:
        return dir(self.real)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        # As a class attribute, a Python function binds as a method; C functions and ufuncs do not.
        return MethodType(self, instance) if instance is not None and hasattr(type(self.real), "__get__") else self

    def __eq__(self, other: object) -> bool:
        return self is other or self.real is other or (isinstance(other, StandIn) and self.real is other.real)

    def __hash__(self) -> int:
        return hash(self.real)

    def __repr__(self) -> str:
        return repr(self.real)

    def __reduce__(self) -> tuple[Any, ...]:
        return by_name(*self._where)

    def __copy__(self) -> StandIn:
        return self

    def __deepcopy__(self, memo: Any) -> StandIn:
        return self
