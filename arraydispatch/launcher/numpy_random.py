"""Stand-in for ``np.random`` in user files: NumPy draws the numbers, and results are moved to the backend.

Every number comes from NumPy's own generators, so a seeded script prints what it prints with plain NumPy. Numbers drawn for a user
file are moved to the backend; if a library draws from the user's generator, it gets an ndarray. Functions that shuffle
or permute an ``Array`` draw the order on the host and reorder the elements on the backend.

With ``--rng device`` normal and uniform numbers come from the library's own generator instead: faster where arrays are
large, but other numbers.
"""

from __future__ import annotations

import copyreg
import functools
import operator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

import arraydispatch as ad

from .. import fastpath
from .._core import handles
from ..common.process_state import process
from ..common.sentinels import DECLINED
from ..dispatch import split_arrays
from ..engine import draws
from ..memory import views
from . import ranks, split_draws
from .adoption import Stand, asked_by_user, by_name, move, to_host
from .array_methods import StandInType

__all__ = ["attributes"]

_KEPT = frozenset({"bytes", "get_bit_generator", "get_state", "seed", "set_bit_generator", "set_state", "test"})
"""Module functions that deal with state or bytes, not arrays."""


# -- in place and permuting, the same for generators of both kinds ------------------------------------------------------


def _lines(x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[np.ndarray[Any, Any], int]:
    """Return indices along the shuffled axis of an array, with as many axes as the array; and that axis.

    If NumPy shuffles these instead of the array, it draws the same numbers and raises the same errors.
    """
    shape = x.shape
    if 0 in shape:
        return np.empty(shape, int), 0
    axis: Any = kwargs.get("axis", args[0] if args else 0)
    axis = operator.index(axis) if hasattr(axis, "__index__") else len(shape)
    if not -len(shape) <= axis < len(shape):
        return np.zeros((1,) * len(shape), int), 0
    axis %= len(shape)
    lengths = [n if i == axis else 1 for i, n in enumerate(shape)]
    return np.arange(shape[axis]).reshape(lengths), axis


def _shuffle(real: Any, x: Any, *args: Any, **kwargs: Any) -> None:
    """Shuffle an ``Array``. NumPy would swap ``x[i], x[j]``, as for any object that is not an ndarray, and so duplicate rows."""
    if type(x._v) is np.ndarray and x._kind.backend.hosted:  # the array is on the host: NumPy shuffles its memory
        views.run_readers(x)
        real.shuffle(x._v, *args, **kwargs)
        views.owner(x)._writes += 1
        return
    order, axis = _lines(x, args, kwargs)
    order.flags.writeable = views.writeable(x)
    real.shuffle(order, *args, **kwargs)
    if order.size:
        x[...] = np.take(x, order.reshape(-1), axis=axis)


def _permuted(real: Any, x: Any, axis: Any = None, out: Any = None) -> Any:
    if out is None:
        return move(real.permuted(to_host(x), axis=axis), "numpy.random.permuted")
    if not isinstance(out, ad.Array):
        return real.permuted(to_host(x), axis=axis, out=out)
    buffer = np.empty(out.shape, out.dtype)
    buffer.flags.writeable = views.writeable(out)
    real.permuted(to_host(x), axis=axis, out=buffer)
    out[...] = buffer
    return out


def _permutation(real: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    lines, axis = _lines(x, args, kwargs)
    order = real.permutation(lines, *args, **kwargs).reshape(-1)
    return np.take(x, order, axis=axis) if lines.size else np.copy(x)


_OUT_AT = {"random": 2, "standard_exponential": 3, "standard_gamma": 3, "standard_normal": 2}
"""Method of a generator -> position of its ``out``."""

_BY_LINES = {"shuffle": _shuffle, "permuted": _permuted, "permutation": _permutation}


def _draw(real: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a drawing method of a NumPy generator, with any ``Array`` among the arguments brought to the host."""
    if name in _BY_LINES and not args and "x" in kwargs:
        kwargs = dict(kwargs)
        args = (kwargs.pop("x"),)
    if args and isinstance(args[0], ad.Array) and (name != "permutation" or args[0].ndim):
        if name in _BY_LINES:
            return _BY_LINES[name](real, *args, **kwargs)
    elif name == "shuffle" and args:  # the argument is a list, perhaps of arrays; these are not converted
        return real.shuffle(args[0], *map(to_host, args[1:]), **{key: to_host(value) for key, value in kwargs.items()})
    out = kwargs.get("out")
    if isinstance(out, ad.Array):
        lies = views.ghost(out)
        # Keep the memory order; NumPy refuses an `out` with gaps.
        buffer = np.empty_like(lies) if lies.flags.forc else lies
        buffer.flags.writeable = views.writeable(out)
        getattr(real, name)(*map(to_host, args), **{**kwargs, "out": buffer})
        out[...] = buffer
        return out
    return getattr(real, name)(*map(to_host, args), **{key: to_host(value) for key, value in kwargs.items()})


# -- module functions ----------------------------------------------------------------------------------------------------


class _ModuleFunction(Stand):
    """Stand-in for ``np.random.normal`` and similar functions: methods of NumPy's global generator."""

    def __init__(self, source: ModuleType, name: str) -> None:
        super().__init__(getattr(source, name), source.__name__, name)
        self._source = source
        self._called = name
        self.target = fastpath.drawn_at_once(self.real, self._call, partial(move, what=self._what), draws.LEAST, False)

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        if split_arrays.is_possible() and not process.draws_on_device and asked_by_user(1):
            generator = getattr(self.real, "__self__", None)
            result = split_draws.call(generator, type(generator), self._called, args, kwargs, self._what)
            if result is not DECLINED:
                return result
        if fastpath.takes(args, kwargs) and not process.draws_on_device:
            result = self.real(*args, **kwargs)
            return move(result, self._what) if type(result) is np.ndarray and asked_by_user(1) else result
        if process.draws_on_device:
            drawn = _device_draw(self._called, args, kwargs)
            if drawn is not None:
                return drawn
        result = _draw(self._source, self._called, args, kwargs)
        if kwargs.get("out") is not None or not asked_by_user(1):
            return result
        return move(result, self._what)


class _Seed(Stand):
    """Stand-in for ``np.random.seed``; under ``--rng device`` it seeds the library too."""

    def __call__(self, seed: Any = None) -> None:
        ranks.seeded(seed)
        fresh = ranks.fresh_seed() if seed is None else None
        self.real(to_host(seed) if fresh is None else fresh.generate_state(8))
        if process.draws_on_device and isinstance(seed, (int, np.integer)):
            ad.default_backend().seed(int(seed))


# -- generator classes ---------------------------------------------------------------------------------------------------


class _GeneratorType(StandInType, type):
    """Metaclass of the stand-ins for generator classes. Generators that a library has created count as instances of the stand-ins."""

    _counterpart: type

    def numpys(cls) -> type | None:
        """Return NumPy's class; None for a user's subclass of the stand-in."""
        return vars(cls).get("_counterpart")

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if ranks.mine is not None and not kwargs and args in ((), (None,)) and issubclass(cls, np.random.RandomState):
            args = (np.random.MT19937(ranks.fresh_seed()),)
        ranks.seeded(*args, *kwargs.values())
        return super().__call__(*args, **kwargs)

    def __instancecheck__(cls, instance: object) -> bool:
        return cls.__subclasscheck__(type(instance))

    def __subclasscheck__(cls, subclass: type) -> bool:
        # A user's subclass of a stand-in is not itself a stand-in.
        stands = "_counterpart" in vars(cls)
        return issubclass(subclass, cls._counterpart) if stands else super().__subclasscheck__(subclass)


def _method(counterpart: Any, name: str) -> Any:
    plain, what = getattr(counterpart, name), f"numpy.random.{name}"
    at = draws.METHODS.get(name, -1) if counterpart is np.random.Generator else -1
    out_at = _OUT_AT.get(name) if counterpart is np.random.Generator else None

    # Pickle finds the function in this module by these.
    @functools.wraps(plain, assigned=("__name__", "__qualname__", "__doc__"))
    def draw(self: Any, *args: Any, **kwargs: Any) -> Any:
        if split_arrays.is_possible() and not process.draws_on_device and asked_by_user(1):
            result = split_draws.call(self, counterpart, name, args, kwargs, what)
            if result is not DECLINED:
                return result
        if fastpath.takes(args, kwargs) and not process.draws_on_device:
            result = DECLINED
            if at >= 0:
                size = args[at] if len(args) > at else kwargs.get("size") if kwargs else None
                if size is not None and (type(size) is not int or size >= draws.LEAST):
                    result = draws.call(plain, self, args, kwargs)
            if result is DECLINED:
                result = plain(self, *args, **kwargs)
            return move(result, what) if type(result) is np.ndarray and asked_by_user(1) else result
        if len(args) - 1 == out_at and "out" not in kwargs:
            args, kwargs = args[:out_at], {**kwargs, "out": args[-1]}
        user = asked_by_user(1)
        if process.draws_on_device and user:
            drawn = _device_draw(name, args, kwargs)
            if drawn is not None:
                return drawn
        result = _draw(_Plain(self, counterpart), name, args, kwargs)
        return move(result, what) if user and kwargs.get("out") is None else result

    made = fastpath.drawn_at_once(plain, draw, partial(move, what=what), draws.LEAST, True)
    return handles.method_with(draw, made)


class _Plain:
    """NumPy's own methods of a generator, whatever its class overrides."""

    __slots__ = ("_counterpart", "_generator")

    def __init__(self, generator: Any, counterpart: Any) -> None:
        self._generator = generator
        self._counterpart = counterpart

    def __getattr__(self, name: str) -> Any:
        return getattr(self._counterpart, name).__get__(self._generator)


_NOT_DRAWING = {"get_state", "seed", "set_state", "spawn", "bytes"}


def _subclass(counterpart: Any) -> type:
    names = [
        name
        for name in dir(counterpart)
        if not name.startswith("_") and name not in _NOT_DRAWING and callable(getattr(counterpart, name))
    ]
    body: dict[str, Any] = {name: _method(counterpart, name) for name in names}
    body["__module__"] = counterpart.__module__
    body["__doc__"] = counterpart.__doc__

    # Pickle the class by name, which is NumPy's own class outside a launcher: a reader of the pickle may not have this package.
    def __reduce__(self: Any) -> Any:
        return made, (self._bit_generator,), _state_of(self)

    __reduce__.__qualname__ = f"{counterpart.__name__}.__reduce__"
    body["__reduce__"] = __reduce__
    made: Any = _GeneratorType(counterpart.__name__, (counterpart,), body)
    made._counterpart = counterpart
    return made


def _state_of(generator: Any) -> Any:
    """Return the state outside the bit generator: for the legacy class, the second half of a pair of normal numbers."""
    return None if isinstance(generator, np.random.Generator) else generator.get_state(legacy=False)


Generator: Any = _subclass(np.random.Generator)
RandomState: Any = _subclass(np.random.RandomState)


class _DefaultRng(Stand):
    """Stand-in for ``np.random.default_rng``."""

    def __call__(self, seed: Any = None) -> Any:
        ranks.seeded(seed)
        made = self.real(ranks.fresh_seed() if seed is None else to_host(seed))
        if process.draws_on_device and isinstance(seed, (int, np.integer)):
            ad.default_backend().seed(int(seed))
        return Generator(made.bit_generator) if type(made) is np.random.Generator else made


class _SeededType(_GeneratorType):
    """Type of stand-ins for bit generators and seed sequences. They also accept an ``Array`` and create NumPy's own objects."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        stands = "_counterpart" in vars(cls)
        make: Any = cls._counterpart if stands else super().__call__
        if stands and ranks.mine is not None and not kwargs and args in ((), (None,)):  # the same numbers in each rank
            fresh = ranks.fresh_seed()
            return fresh if make is np.random.SeedSequence else make(fresh)
        ranks.seeded(*args, *kwargs.values())
        return make(*map(to_host, args), **{key: to_host(value) for key, value in kwargs.items()})


def _seeded(counterpart: Any) -> type:
    body = {"__module__": counterpart.__module__, "__doc__": counterpart.__doc__, "_counterpart": counterpart}
    return _SeededType(counterpart.__name__, (counterpart,), body)


def _reduce_class(cls: Any) -> Any:
    return by_name("numpy.random", cls.__name__) if "_counterpart" in vars(cls) else cls.__qualname__


copyreg.pickle(_GeneratorType, _reduce_class)
copyreg.pickle(_SeededType, _reduce_class)


def attributes(module: ModuleType) -> dict[str, Any]:
    """Return the attributes that replace NumPy's own in the facade of ``numpy.random``."""
    found: dict[str, Any] = {"Generator": Generator, "RandomState": RandomState}
    for name in module.__all__:
        value = getattr(module, name)
        if name == "SeedSequence" or (isinstance(value, type) and issubclass(value, np.random.BitGenerator)):
            found[name] = _seeded(value)
        elif name not in _KEPT and name not in found and not isinstance(value, (type, ModuleType)):
            found[name] = _ModuleFunction(module, name)
    found["default_rng"] = _DefaultRng(module.default_rng, module.__name__, "default_rng")
    found["seed"] = _Seed(module.seed, module.__name__, "seed")
    return found


# -- the library's own generator (--rng device) -------------------------------------------------------------------------


def _device_draw(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Draw numbers from the library's generator; return None if NumPy has to draw them (scalars, other distributions)."""
    if kwargs.get("out") is not None:
        return None
    if name in ("rand", "randn"):
        shape: Any = args
        low, high = 0.0, 1.0
    elif name in ("random", "random_sample", "sample", "ranf", "standard_normal"):
        if set(kwargs) - {"size"} or len(args) > 1:
            return None
        shape = kwargs.get("size", args[0] if args else None)
        low, high = 0.0, 1.0
    elif name in ("normal", "uniform"):
        first, second = ("loc", "scale") if name == "normal" else ("low", "high")
        given = {**dict(zip((first, second, "size"), args)), **kwargs}
        low, high, shape = given.get(first, 0.0), given.get(second, 1.0), given.get("size")
    else:
        return None
    if shape is None or shape == ():
        return None
    draw = ad.random.normal if name in ("randn", "normal", "standard_normal") else ad.random.uniform
    return draw(low, high, shape)
