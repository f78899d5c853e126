"""Where a library looks at types before it looks at values, and so turns away what it could use.

A library that wants an ndarray asks ``np.asarray``, and an ``Array`` answers. Some ask ``isinstance`` first, and take an
``Array`` for a column's name, a function or a scalar, or leave out the copy that an ndarray would get. What users can call
of those is listed here: once the library is imported, it is handed the ndarray in place of each ``Array``.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

import arraydispatch as ad

from .. import exports
from ..backends import loader
from ..dispatch import host
from ..dispatch.wrapping import check_writeable
from ..methods import OPERATORS
from . import facade
from .adoption import holds_array, state

__all__ = ["LIBRARIES", "open_all"]

_SURFACES: dict[str, tuple[str, ...]] = {
    "pandas": (
        "pandas", "pandas.arrays", "pandas.api.extensions", "pandas.api.indexers", "pandas.api.typing",
        "pandas.core.common", "pandas.core.indexing", "pandas.core.util.hashing",
    ),
    "h5py": ("h5py",),
    "PIL": ("PIL.Image",),
    "scipy": ("scipy.sparse", "scipy.sparse.linalg"),
    "xarray": ("xarray",),
}  # fmt: skip
"""Library -> modules whose public functions and classes users call."""

_CALLED: dict[str, tuple[str, ...]] = {
    "scipy.optimize": ("root_scalar",),
    "sklearn.model_selection": ("ParameterGrid.__init__", "ParameterSampler.__init__"),
}
"""Module -> what alone of its functions and methods looks at types."""
_PARAMETERS = "sklearn.base", "BaseEstimator"
"""The class of objects that keep what they are given, and look at types later."""
_SEEDS = {"scipy": "scipy._lib._util", "sklearn": "sklearn.utils.validation"}
"""Library -> module of its function :data:`_SEED`, which its other modules have by name."""
_SEED = "check_random_state"

_BACKENDS = [row.library for row in loader.KNOWN.values()]
_IN_C = "from_numpy"
"""The function of a backend's library, written in C, that takes an ndarray and nothing else."""

LIBRARIES = frozenset([*_SURFACES, *_SEEDS, *_BACKENDS])
"""Their names: the import hook calls :func:`open_all` when one of their modules has been imported."""

_SPECIAL = frozenset("__array_ufunc__ __call__ __contains__ __getitem__ __init__ __new__ __setitem__".split())
_OPERATORS = frozenset(f"__{side}{name}__" for name in OPERATORS for side in ("", "r", "i"))

_INSIDE = frozenset(
    "apply_if_callable hash_array hash_pandas_object is_bool_indexer _clip_with_one_bound _get_setitem_indexer _set_item"
    " _set_values _set_with_engine _setitem_array _setitem_frame _setitem_with_indexer _where".split()
)
"""What does the work of functions that are left alone: pandas' that count the references to their object, to which a
frame in between would add, and what is reached by a module's ``__getattr__``."""
_COUNTS = "getrefcount"

_RUNS = frozenset("agg aggregate apply eval map pipe query transform".split())
"""What hands its arguments on to a function of the user's, or looks names up in the user's frame."""

_MARK = "_arraydispatch_door"

_FILLS = frozenset({"read_direct"})
"""What writes into the first array it is given."""


class _Kinds(dict[type, bool]):
    """Whether a value of this type can be, or hold, an ``Array``, or be its class, or a module of the facade."""

    def __missing__(self, kind: type) -> bool:
        found = self[kind] = issubclass(kind, (ad.Array, list, tuple, dict, type, ModuleType))
        return found


_looked_at = _Kinds()


def _hosted(value: Any, deep: bool = True) -> Any:
    """A value with the ndarray in place of each ``Array`` in it; unless ``deep``, lists stay as they are."""
    kind = type(value)
    if issubclass(kind, ad.Array):
        return exports.for_library(value)
    if (kind is tuple or (kind is list and deep)) and holds_array(value):
        return kind([_hosted(part) for part in value])
    if kind is dict and holds_array(value.values()):
        return {key: _hosted(part) for key, part in value.items()}
    if isinstance(value, ModuleType):
        return facade.original(value)
    return np.ndarray if isinstance(value, type) and issubclass(value, ad.Array) else value


def _given(args: tuple[Any, ...]) -> Sequence[Any]:
    for value in args:
        if _looked_at[type(value)] and state.users is not None:
            deep = _from_outside()
            return [_hosted(value, deep) for value in args]
    return args


def _named(kwargs: dict[str, Any]) -> dict[str, Any]:
    return kwargs if state.users is None else {name: _hosted(value) for name, value in kwargs.items()}


def _from_outside() -> bool:
    """Whether it is not the library that calls itself: long lists are looked through once."""
    answer: FrameType = sys._getframe(2)
    asks, asked = answer.f_back, answer.f_globals["__name__"]
    return asks is None or _root(asks.f_globals.get("__name__", "")) != _root(asked)


def _root(module: str) -> str:
    return module.partition(".")[0]


def _filling(real: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which fills ndarrays whose values go to the arrays then."""

    @functools.wraps(real)
    def answer(self: Any, dest: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(dest, ad.Array):
            return real(self, dest, *args, **kwargs)
        check_writeable(dest)
        filled = np.array(exports.for_library(dest))
        made = real(self, filled, *args, **kwargs)
        host.store(dest, filled)
        return made

    return answer


def _door(real: Any, given: Any = _given, named: Any = _named) -> Callable[..., Any]:
    """The function, handed ndarrays; to whoever looks for the first frame outside the library, this one is inside."""
    answer = lambda *args, **kwargs: real(*given(args), **(kwargs and named(kwargs)))
    names, code = real.__globals__, real.__code__
    file = code.co_filename if isinstance(real, FunctionType) else names["__file__"]
    code = answer.__code__.replace(co_filename=file, co_firstlineno=code.co_firstlineno)
    return functools.wraps(real)(FunctionType(code, names, closure=answer.__closure__))


def _door_in_c(real: Any) -> Callable[..., Any]:
    @functools.wraps(real)
    def answer(*args: Any) -> Any:
        return real(*_given(args))

    return answer


def _takes(code: CodeType, bound: bool) -> bool:
    """Whether a function, or a method but for its object, takes arguments."""
    return bool(code.co_flags & (CO_VARARGS | CO_VARKEYWORDS)) or code.co_argcount + code.co_kwonlyargcount > bound


def _exchanged(name: str, member: Any, bound: bool) -> Any:
    """What is to take the place of a member of a module or class; itself, where nothing is."""
    real = member.__func__ if isinstance(member, staticmethod | classmethod) else member
    code = getattr(real, "__code__", None)
    if code is None or _COUNTS in code.co_names or name in _RUNS or hasattr(real, _MARK) or not _takes(code, bound):
        return member
    door = (_filling if name in _FILLS else _door)(real)
    setattr(door, _MARK, True)
    return door if real is member else type(member)(door)


def _classes(module: ModuleType, library: str) -> Iterator[type]:
    """The classes that a module of a library offers, and what they inherit from."""
    for found in vars(module).values():
        if isinstance(found, type):
            yield from (cls for cls in found.__mro__ if _root(cls.__module__) == library)


def _open(module: ModuleType, library: str) -> None:
    holders: list[Any] = [module, *dict.fromkeys(_classes(module, library))]
    for holder in holders:
        public = ".core." not in holder.__name__
        for name, member in list(vars(holder).items()):
            if not (name in _INSIDE or name in _SPECIAL or name in _OPERATORS or (public and not name.startswith("_"))):
                continue
            door = _exchanged(name, member, isinstance(holder, type))
            if door is not member:
                with suppress(TypeError):  # classes written in C cannot be changed
                    setattr(holder, name, door)


def _open_some(module: ModuleType, members: tuple[str, ...]) -> None:
    for member in members:
        holder, name = module, member
        if "." in member:
            owner, name = member.split(".")
            holder = getattr(module, owner, None)  # type: ignore[assignment]
        real = getattr(holder, name, None)
        if isinstance(real, FunctionType):
            setattr(holder, name, _exchanged(name, real, holder is not module))


def _open_parameters(module: ModuleType) -> None:
    """What objects of the library's own classes keep."""
    cls: Any = getattr(module, _PARAMETERS[1])
    real = cls.__setattr__

    def keep(self: Any, name: str, value: Any) -> None:
        if (
            _looked_at[type(value)]
            and state.users is not None
            and _root(type(self).__module__) == _root(module.__name__)
        ):
            value = _hosted(value)
        real(self, name, value)

    cls.__setattr__ = keep


def _open_seeds(module: ModuleType, library: str) -> None:
    """``np.random`` given as a seed, which is compared with NumPy's own module."""
    real = getattr(module, _SEED, None)
    if real is None:
        return
    door = _exchanged(_SEED, real, False)
    for name, other in list(sys.modules.items()):
        if _root(name) == library and vars(other).get(_SEED) is real:
            setattr(other, _SEED, door)


_opened: set[str] = set()


def _news(library: str, names: tuple[str, ...]) -> Iterator[ModuleType]:
    """Those of a library's modules that have been imported since, the library itself being there."""
    for name in (library, *names):
        module = sys.modules.get(name)
        if module is None or getattr(module.__spec__, "_initializing", False):
            if name == library:
                return
        elif name in names and name not in _opened:
            _opened.add(name)
            yield module


def open_all() -> None:
    """Exchange what is there to be exchanged by now."""
    for library, names in _SURFACES.items():
        for module in _news(library, names):
            _open(module, library)
    for name, members in _CALLED.items():
        for module in _news(_root(name), (name,)):
            _open_some(module, members)
    for module in _news(_root(_PARAMETERS[0]), _PARAMETERS[:1]):
        _open_parameters(module)
    for library, name in _SEEDS.items():
        for module in _news(library, (name,)):
            _open_seeds(module, library)
    for library in _BACKENDS:
        for module in _news(library, (library,)):
            if hasattr(module, _IN_C):
                setattr(module, _IN_C, _door_in_c(getattr(module, _IN_C)))
