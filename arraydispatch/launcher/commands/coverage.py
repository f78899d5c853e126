"""Coverage table: every function, ufunc, ufunc method, ndarray member and creation function of NumPy, and SciPy's functions.

Each has exactly one class on a backend:

native       one kernel of the library, behind NumPy's argument rules
composed     several kernels of the library give NumPy's behaviour
host kernel  native or composed, but if the library's memory is host memory, NumPy computes there because it is faster
host         NumPy runs it on the host, for the reason given
refused      raises an error, for the reason given
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import interop, scipy_support
from ...api import creation
from ...array import Array
from ...backends import loader
from ...backends.base import Backend
from ...common import names as known_names
from ...common.members import MEMBERS
from ...functions import registry
from ...ufuncs import special
from ...ufuncs.plans import describe, describe_method
from .. import facade, numpy_classes

CLASSES = ("native", "composed", "host kernel", "host", "refused")
KINDS = {
    "function": "Functions", "ufunc": "Ufuncs", "ufunc method": "Methods of ufuncs",
    "member": "Methods and attributes of ndarray", "creation": "Creation, under the launcher and with like=",
    "scipy": "Functions of SciPy's", "scipy ufunc": "Ufuncs of scipy.special",
}  # fmt: skip

Answer = tuple[str, str]
"""A class and, for host kernel, host and refused, the reason."""


@dataclass(frozen=True)
class Row:
    """Row of the table: a function or member of NumPy or SciPy (``kind``: one of :data:`KINDS`), the name that users write, and the
    class and the reason on each backend.
    """

    kind: str
    name: str
    answers: dict[str, Answer]


# -- NumPy's own lists ---------------------------------------------------------------------------------------------------


def dispatched() -> list[Any]:
    """Return every function that NumPy dispatches (NEP 18), by name; all of NumPy is imported, because the list depends on it."""
    from numpy.testing.overrides import get_overridable_numpy_array_functions

    for name in ("char", "fft", "linalg", "polynomial", "rec", "strings"):
        importlib.import_module(f"numpy.{name}")
    for module in pkgutil.iter_modules(np.lib.__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"numpy.lib.{module.name}")
    found: set[Any] = get_overridable_numpy_array_functions()
    return sorted((f for f in found if not _inner_half(f, found)), key=full_name)


def _inner_half(func: Any, found: set[Any]) -> bool:
    """Whether a function is the private helper (`_eye_with_like`) of a function in ``found`` with ``like=``; NumPy never dispatches
    helpers.
    """
    public = getattr(np, func.__name__, None) if func.__module__ == "numpy" else func
    return public is not func and public in found


def ufuncs() -> list[np.ufunc]:
    """Return every ufunc of NumPy."""
    from numpy.testing.overrides import get_overridable_numpy_ufuncs

    return sorted(get_overridable_numpy_ufuncs(), key=lambda u: u.__name__)


def scientific() -> list[Any]:
    """Return by name all public functions of SciPy modules with functions that take arrays, and the methods that have entries."""
    found = set()
    with interop.installed():  # methods have entries once they are exchanged
        for name, topic in scipy_support.MODULES.items():
            module = importlib.import_module(name)
            scipy_support.load(topic)
            found |= {scipy_support.stand_in(f"{name}.{function}") for function in scipy_support.public(module)}
    special.name_of(np.add)  # registers SciPy's ufuncs
    methods = {func for func in registry.METHODS if func in registry.SPECS}
    return sorted((found | methods) - {None}, key=lambda func: known_names.FULL[func])


def full_name(func: Any) -> str:
    """Return a function's name with its module, separated by a dot."""
    return f"{func.__module__}.{func.__name__}"


# -- answers -------------------------------------------------------------------------------------------------------------


def _function(func: Any, backend: Backend) -> Answer | None:
    if func in registry.CREATORS:
        return _creation(func.__name__)
    entry = registry.resolve(func, backend)
    if func in registry.SCIENTIFIC and backend.native_is_ndarray:
        return "native", ""  # SciPy itself
    known = func in registry.SCIENTIFIC
    if entry.run is None and not known and func not in registry.HOST and func not in registry.REFUSED:
        return None
    for left in (backend.HOST_KERNELS, backend.LEFT_TO_NUMPY):
        if reason := left.get(func) or left.get(known_names.FULL.get(func)):
            return "host kernel", reason
    return "native" if entry.kind == "override" else entry.kind, entry.reason


_METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")


def members() -> list[str]:
    """Return the names of all methods and attributes of ndarray that ``object`` lacks or defines otherwise."""
    return sorted(n for n in dir(np.ndarray) if getattr(np.ndarray, n) is not getattr(object, n, None))


def _member(name: str, backend: Backend) -> Answer | None:
    row = MEMBERS.get(name)
    if row is None:
        return None
    if row.form == "absent" and not hasattr(Array, name):
        return "refused", row.reason
    if not hasattr(Array, name):
        return None
    if row.form in ("host", "value"):
        return "host", "it hands values to Python, to a file or to C code"
    if row.word:
        return describe(row.func, backend)
    func = getattr(np, name, None)
    if func in registry.SPECS:
        return _function(func, backend)
    return "composed", ""


_OF_THE_HOST = {
    "from_dlpack": "it is a window on another library's array",
    "fromregex": "it reads a file, which the host does",
    "load": "it reads a file, which the host does",
    "as_strided": "it strides over host memory",
}
_FILLED = frozenset(
    "array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray empty full ones require zeros".split()
)


def created() -> list[str]:
    """Return the names of all functions of NumPy that make arrays from scalars, sequences or files."""
    made = {name for name in dir(np) if callable(getattr(np, name)) and registry.facts_of(getattr(np, name)).makes}
    listed = made | numpy_classes.FUNCTIONS.keys() | facade.INDEX_OBJECTS
    makes_none = {"isscalar", "ndim", "nested_iters", "shape", "size"}
    return sorted((listed | set(creation.__all__)) - makes_none)


def _creation(name: str) -> Answer | None:
    if name in _OF_THE_HOST:
        return "host", _OF_THE_HOST[name]
    if getattr(np, name, None) in registry.HOST:
        return "host", registry.HOST[getattr(np, name)].reason
    if name in creation.__all__ or name in facade.INDEX_OBJECTS or name in _FILLED:
        return "native" if name in _FILLED else "composed", ""
    return None


# -- the matrix ----------------------------------------------------------------------------------------------------------


def _all_rows(backends: Iterable[Backend]) -> Iterator[tuple[str, str, dict[str, Answer | None]]]:
    held = list(backends)
    for func in dispatched():
        yield "function", _short(full_name(func)), {b.name: _function(func, b) for b in held}
    for ufunc in ufuncs():
        name = _place_of(ufunc)
        yield "ufunc", name, {b.name: describe(ufunc, b) for b in held}
        for method in _METHODS:
            found = {b.name: describe_method(ufunc, method, b) for b in held}
            if None not in found.values():
                yield "ufunc method", f"{name}.{method}", found
    for name in members():
        yield "member", f"ndarray.{name}", {b.name: _member(name, b) for b in held}
    for name in created():
        yield "creation", f"np.{name}", {b.name: _creation(name) for b in held}
    for func in scientific():
        yield "scipy", known_names.FULL[func], {b.name: _function(func, b) for b in held}
    for name, ufunc in sorted(special.UFUNCS.items()):
        if not name.startswith("_"):
            yield "scipy ufunc", f"scipy.special.{name}", {b.name: describe(ufunc, b) for b in held}


def _place_of(ufunc: np.ufunc) -> str:
    for module in (np, np.strings):
        if getattr(module, ufunc.__name__, None) is ufunc:
            return _short(f"{module.__name__}.{ufunc.__name__}")
    return f"np._core.umath.{ufunc.__name__}"


def _short(name: str) -> str:
    return name.replace("numpy.", "np.", 1)


def rows(names: Iterable[str] | None = None) -> list[Row]:
    """Return the table for these backends; the installed ones by default."""
    backends = [loader.load(name) for name in (loader.available() if names is None else names)]
    return [
        Row(kind, name, {b: answer or ("unclassified", "") for b, answer in answers.items()})
        for kind, name, answers in _all_rows(backends)
    ]


def counts(table: list[Row]) -> dict[str, dict[str, dict[str, int]]]:
    """Count the rows of the table: return a dict kind -> backend -> class -> number of rows."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for row in table:
        for backend, (cls, _) in row.answers.items():
            by_class = found.setdefault(row.kind, {}).setdefault(backend, {})
            by_class[cls] = by_class.get(cls, 0) + 1
    return found


def as_dict(table: list[Row]) -> dict[str, Any]:
    """Return the table as JSON data."""
    backends = list(table[0].answers)
    return {
        "numpy": np.__version__,
        "backends": {name: loader.load(name).version for name in backends},
        "unclassified": sorted({row.name for row in table for cls, _ in row.answers.values() if cls not in CLASSES}),
        "counts": counts(table),
        "rows": [
            {
                "kind": row.kind,
                "name": row.name,
                "backends": {b: {"class": c, **({"reason": r} if r else {})} for b, (c, r) in row.answers.items()},
            }
            for row in table
        ],
    }
