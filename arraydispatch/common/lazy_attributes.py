"""Attributes that are computed on first use."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    lazy = functools.cached_property
else:

    class lazy:
        """Decorator of a method whose result becomes an attribute of the object on first use.

        If several threads compute the attribute at once, all get the same value: the one that is stored first. `functools.cached_property`
        guarantees that only on Python 3.11, with a lock. `lazy` takes no lock, because a signal handler could wait for the lock forever.
        """

        def __init__(self, make: Callable[[Any], Any]) -> None:
            self._make = make
            self.__doc__ = make.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            return instance.__dict__.setdefault(self._name, self._make(instance))
