"""Namespace objects: the standard's functions, accepting and returning arrays of one backend."""

from __future__ import annotations

import importlib
import inspect
import math
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from types import ModuleType
from typing import Any

import numpy as np
import numpy.fft
import numpy.linalg

from ..array import Array
from ..array.scalar import Scalar
from ..backends import loader
from ..backends.base import Backend
from ..backends.devices import Device
from ..common.arguments import PLAIN
from ..common.pytrees import mapped
from ..functions import registry
from ..runtime import conversion, dtypes, placement, settings
from . import creation, data_types, elementwise, fft, functions, linalg
from .data_types import DTYPES, isdtype

VERSION = "2025.12"
"""Version of the standard that is implemented."""

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", VERSION)
"""Versions that code may request; each contains the ones before it."""

_NEVER_ARRAYS = PLAIN - {np.bool_, np.float64, np.float32, np.int64, np.int32}

# -- capabilities ---------------------------------------------------------------------------------------------------------


_DEFAULTS = {"real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64"}


class Info:
    """Capabilities of a namespace.

    Parameters
    ----------
    backend : Backend
        Backend of the namespace.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def capabilities(self) -> dict[str, Any]:
        """Return the optional capabilities, which are all supported, and NumPy's maximum number of dimensions."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Return the device of new arrays."""
        own = conversion.default_device(self._backend)
        return self._backend.devices()[0] if own is None else placement.find(self._backend, own)

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the dtypes of arrays created without a dtype, under the precision in force."""
        precision = settings.current_precision()
        return {kind: dtypes.apply_precision(np.dtype(name), precision) for kind, name in _DEFAULTS.items()}

    def devices(self) -> tuple[Device, ...]:
        """Return the devices of the backend."""
        return tuple(self._backend.devices())

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the dtypes of a kind, or of several: all, if none is given."""
        return {name: np.dtype(name) for name in DTYPES if kind is None or isdtype(np.dtype(name), kind)}


class Functions(ModuleType):
    """Functions for the arrays of one backend. Names that the standard lacks come from the module ``numpys``; other libraries also offer
    more than the standard.
    """

    def __init__(self, name: str, backend: Backend, numpys: ModuleType) -> None:
        super().__init__(name, f"The array-API standard {VERSION} on {backend.name}.")
        self._backend = backend
        self._numpys = numpys

    def __getattr__(self, name: str) -> Any:
        found = None if name.startswith("_") else getattr(self._numpys, name, None)
        if (callable(found) and not isinstance(found, type)) and (
            isinstance(found, np.ufunc) or registry.spec_of(found) is not None
        ):
            value = vars(self)[name] = _bound(found, self._backend)
            return value
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<array-API namespace {self.__name__!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self.__name__,)

    def _add(self, members: Iterable[Any]) -> None:
        vars(self).update({member.__name__: member for member in members})


class Namespace(Functions):
    """The standard's functions for one backend.

    Parameters
    ----------
    name : str
        Name of the module, the last part being the backend's.
    """

    __array_api_version__ = VERSION

    def __init__(self, name: str) -> None:
        backend = loader.load(name.rpartition(".")[2])
        super().__init__(name, backend, np)
        vars(self).update(data_types.DTYPES, e=math.e, inf=math.inf, nan=math.nan, newaxis=None, pi=math.pi)
        self._add(data_types.FUNCTIONS)
        self._add(_creating(f, backend) for f in creation.FUNCTIONS)
        self._add(_bound(f, backend) for f in (*elementwise.FUNCTIONS, *functions.FUNCTIONS))
        self.linalg = Functions(f"{name}.linalg", backend, np.linalg)
        self.linalg._add(_bound(f, backend) for f in linalg.FUNCTIONS)
        self._add(getattr(self.linalg, name) for name in linalg.MAIN)
        self.fft = Functions(f"{name}.fft", backend, np.fft)
        self.fft._add(_bound(f, backend) for f in fft.FUNCTIONS)
        self.fft._add(_creating(f, backend) for f in fft.CREATION)
        sys.modules.update({part.__name__: part for part in (self.linalg, self.fft)})

    def __array_namespace_info__(self) -> Info:
        """Return an object that describes the capabilities, dtypes and devices of this namespace."""
        return Info(self._backend)

    def of_version(self, version: str | None) -> Namespace:
        """Return the namespace itself; raise ValueError if it does not implement that version of the standard."""
        if version is not None and version not in VERSIONS:
            raise ValueError(
                f"version {version!r} of the standard is not supported; choose one of: {', '.join(VERSIONS)}."
            )
        return self


def _creating(function: Callable[..., Any], backend: Backend) -> Callable[..., Any]:
    """Return a creation function with its first argument, the backend, filled in; its results are arrays of the namespace."""

    @wraps(function)
    def creating(*args: Any, **kwargs: Any) -> Any:
        return given(function(backend, *args, **kwargs), backend)

    signature = inspect.signature(function)
    creating.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=list(signature.parameters.values())[1:]
    )
    return creating


def _bound(function: Any, backend: Backend) -> Callable[..., Any]:
    """Wrap a function to convert arrays among its arguments and results to arrays of the backend's namespace."""

    @wraps(function)
    def bound(*args: Any, **kwargs: Any) -> Any:
        args = tuple([taken(x, backend) for x in args])
        if kwargs:
            kwargs = {key: taken(x, backend) for key, x in kwargs.items()}
        return given(function(*args, **kwargs), backend)

    return bound


def taken(x: Any, backend: Backend) -> Any:
    """Convert an array, or the arrays in a list or tuple, to arrays of a namespace; return any other argument itself."""
    if isinstance(x, Array):
        if x._kind.backend.native_is_ndarray and not backend.native_is_ndarray:
            return creation.asarray(backend, x)
        return x if x._kind.standard else creation.standard(x)
    cls = type(x)
    if cls in _NEVER_ARRAYS:
        return x
    if cls is list or cls is tuple:
        return mapped(lambda y: taken(y, backend), x)
    if isinstance(x, np.ndarray | np.generic) or loader.backend_of(x) is not None:
        return creation.asarray(backend, x)
    return x


def given(x: Any, backend: Backend) -> Any:
    """Convert the arrays of a result, also 0-d ones and those in lists and tuples, to arrays of a namespace; a list becomes a tuple."""
    if isinstance(x, Array):
        if not x._kind.standard:
            if isinstance(x, Scalar):
                return creation.standard(x)
            x._kind = x._kind.backend.standard_kind(x.dtype)  # no other reference exists
        return x
    if isinstance(x, np.generic | np.ndarray) and dtypes.category(x.dtype) != "other":
        return creation.asarray(backend, x)
    if isinstance(x, list | tuple):
        made = mapped(lambda y: given(y, backend), x)
        return tuple(made) if isinstance(made, list) else made
    return x
