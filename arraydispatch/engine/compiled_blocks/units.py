"""Units of recording: functions of native arrays and static arguments. The arguments' shapes and dtypes determine the results'.

A unit is an entry of the registry, a kernel of a ufunc or a primitive. The library's abstract evaluation determines its results:
it runs the function on arrays without values, once for each :class:`Form` of a call. A call is not recorded if the function
asks for a value or fails, or, on a CPU, if NumPy computes it many times as fast.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import count
from math import prod
from typing import Any

import numpy as np

from ...backends.base import Backend, LeftToNumPy
from ...common import tracing
from ...common.pytrees import mapped
from ...common.signal_safety import of_handler, without_finalizers
from ...functions.registry import spec_of
from ...runtime import settings
from ...runtime.dtypes import OnlyOnHost
from ...runtime.execution_policy import CHANGING, shapes
from ...ufuncs.facts import ORDINARY, ufunc_facts
from .values import Aval, Deferred, aval_of

__all__ = ["Form", "Unit", "Unkeyable"]

_numbers = count(1)
_MOST_FORMS = 1 << 12


class Unkeyable(Exception):
    """Signal that an argument cannot be part of the key of a call."""


class _Slot:
    """Stand-in for an operand in the arguments, or for an array in the results; ``at`` is its number."""

    __slots__ = ("at",)

    def __init__(self, at: int) -> None:
        self.at = at


class Form:
    """A unit with its static arguments and the abstract values of its operands.

    Attributes
    ----------
    number : int
        Number that stands for the form in the keys of blocks.
    unit : Unit
        The function.
    run : callable
        Takes a native array for each operand, returns a list of native arrays.
    outs : tuple of Aval
        Abstract values of the results.
    structure : object
        The result with a slot for each array; None if it is one array.
    work : int
        Number of elements read and made.
    """

    __slots__ = ("nbytes", "number", "outs", "run", "structure", "unit", "work")

    nbytes: int
    number: int
    outs: tuple[Aval, ...]
    run: Callable[..., list[Any]]
    structure: Any
    unit: Any
    work: int

    def __init__(
        self, unit: Unit, run: Callable[..., list[Any]], outs: tuple[Aval, ...], structure: Any, ins: tuple[Aval, ...]
    ) -> None:
        self.number, self.unit, self.run, self.outs, self.structure = next(_numbers), unit, run, outs, structure
        self.work = sum([x.size for x in (*ins, *outs)])
        self.nbytes = sum([x.nbytes for x in outs])


class Unit:
    """A function that is recorded.

    Parameters
    ----------
    func : callable
        Takes and returns native arrays of the backend and plain values.
    backend : Backend
        Backend of these arrays.
    name : object
        The NumPy function, ufunc or name of the primitive, for reports.
    primitive : bool
        Whether the unit is only a part of a call, such as reading a view. NumPy could not run it instead.

    Attributes
    ----------
    weight : int
        NumPy's time for an element, in additions.
    """

    __slots__ = ("backend", "forms", "func", "name", "primitive", "weight")

    def __init__(self, func: Callable[..., Any], backend: Backend, name: Any, primitive: bool = False) -> None:
        self.func, self.backend, self.name, self.primitive = func, backend, name, primitive
        self.forms: dict[Any, Form | None] = {}
        self.weight = 0 if primitive else _weight(name)

    def form(self, args: Any, kwargs: Any, operands: list[Deferred]) -> Form | None:
        """Return the form of a call, or None if it is not recorded; append the deferred operands to ``operands``."""
        key: Any
        if kwargs:
            key = (
                *[_key(x, operands) for x in args],
                *[(name, _key(kwargs[name], operands)) for name in sorted(kwargs)],
            )
        else:
            parts = []
            for x in args:
                if type(x) is Deferred:
                    operand: Deferred = x
                    operands.append(operand)
                    parts.append(operand.aval)
                else:
                    parts.append(_key(x, operands))
            key = tuple(parts)
        found = self.forms.get(key)
        if found is None and key not in self.forms:
            if not self.primitive and settings.on_cpu(self.backend.name):
                self._check_shapes([x.shape for x in operands])
            if len(self.forms) >= _MOST_FORMS:
                self.forms.clear()
            found = self.forms[key] = self._evaluated(args, kwargs, tuple([x.aval for x in operands]))
        elif found is not None and shapes.given_back and not self.primitive:
            met = [*[x.shape for x in operands], *[x.shape for x in found.outs]]
            self._check_shapes([shape for shape in met if shape in shapes.given_back])
        return found

    def _check_shapes(self, found: Iterable[tuple[int, ...]]) -> None:
        """Raise :class:`LeftToNumPy`, so that NumPy runs the call, if one of the shapes ``found`` is large and does not recur."""
        least = settings.default.min_size
        if least and not all(prod(shape) < least or shapes.recurs(shape) for shape in found):
            raise LeftToNumPy(OnlyOnHost(CHANGING))

    def _evaluated(self, args: tuple[Any, ...], kwargs: dict[str, Any], ins: tuple[Aval, ...]) -> Form | None:
        if not ins:
            return None
        device = ins[0].device
        if any(x.device != device for x in ins):
            return None  # the library's own error says what is wrong
        if any(x.ndim > self.backend.most_axes for x in ins):
            return None
        slots: list[Any] = []
        given = [_with_slots(x, slots) for x in args]
        named = {name: _with_slots(kwargs[name], slots) for name in sorted(kwargs)}
        plain = not named and all(type(x) is _Slot for x in given)
        func, backend = self.func, self.backend
        structure: Any = None

        def call(natives: Any) -> Any:
            # A block may be traced several times; overflow of numbers is reported once, from the result.
            with np.errstate(all="ignore"):
                if plain:
                    return func(*natives)
                return func(
                    *[_filled(x, natives) for x in given], **{name: _filled(x, natives) for name, x in named.items()}
                )

        def run(*natives: Any) -> list[Any]:
            found: list[Any] = []
            _with_places(call(natives), backend, found)
            return found

        def traced(natives: list[Any]) -> list[Any]:
            nonlocal structure
            found: list[Any] = []
            structure = _with_places(call(natives), backend, found)
            return found

        try:
            with backend.within(), tracing.watched(settings.on_cpu(backend.name)) as looks:
                # A finalizer that computes would be traced, too.
                made = without_finalizers(
                    backend.transforms.abstract, traced, [(x.shape, x.dtype) for x in ins], device
                )
        except Exception as error:  # the call itself will raise it, at its own line
            if of_handler(error):
                raise
            return None
        if looks.count or not made or not _is_fixed(structure):
            return None
        if not self.primitive and settings.on_cpu(backend.name):
            self._check_shapes([tuple(shape) for shape, _ in made])
        if any(len(shape) > backend.most_axes for shape, _ in made):
            return None
        outs = tuple([aval_of(tuple(shape), np.dtype(dtype), device) for shape, dtype in made])
        return Form(self, run, outs, None if type(structure) is _Slot else structure, ins)


def _weight(name: Any) -> int:
    """Estimate NumPy's time for an element of a call, in additions."""
    if not isinstance(name, np.ufunc):
        spec = spec_of(name) if isinstance(name, Hashable) else None
        return 1 if spec is not None and spec.moves else 4
    if name.signature is not None:
        return 16
    facts = ufunc_facts(name)
    return 8 if facts.heavy or facts is ORDINARY else 1


class Window(tuple[tuple[int, int, int], ...]):
    """Start, stop and step of a slice along each axis: a static argument that is its own key."""

    __slots__ = ()

    @property
    def key(self) -> tuple[slice, ...]:
        return tuple([slice(*part) for part in self])


_SAME = (int, bool, str, bytes, type(None), type(Ellipsis))


def _key(x: Any, operands: list[Deferred]) -> Any:
    """Return the key of an argument, and append the operands in it to ``operands``. Operands count by abstract value, others by type and
    value. Raise :class:`Unkeyable` if an argument has no key.
    """
    cls = type(x)
    if cls is Deferred:
        operands.append(x)
        return x.aval
    if cls is Window:
        return x
    if cls in _SAME:
        return cls, x
    if cls is float:
        return cls, x.hex()
    if cls is complex:
        return cls, x.real.hex(), x.imag.hex()
    if cls is tuple or cls is list:
        return cls, *[_key(y, operands) for y in x]
    if cls is slice:
        return cls, _key(x.start, operands), _key(x.stop, operands), _key(x.step, operands)
    if isinstance(x, np.dtype):
        return np.dtype, x
    if isinstance(x, np.generic) and x.dtype.kind in "?biufc":
        return cls, x.tobytes()
    if isinstance(x, type | np.ufunc):
        return type, x
    raise Unkeyable


def _with_slots(x: Any, slots: list[Any]) -> Any:
    if type(x) is Deferred:
        slots.append(x)
        return _Slot(len(slots) - 1)
    return mapped(lambda y: _with_slots(y, slots), x) if isinstance(x, list | tuple) else x


def _filled(x: Any, natives: Any) -> Any:
    if type(x) is _Slot:
        return natives[x.at]
    return mapped(lambda y: _filled(y, natives), x) if isinstance(x, list | tuple) else x


def _with_places(x: Any, backend: Backend, found: list[Any]) -> Any:
    """Return a result with a slot in place of each array; append the arrays to ``found``."""
    if backend.is_native(x):
        found.append(x)
        return _Slot(len(found) - 1)
    return mapped(lambda y: _with_places(y, backend, found), x) if isinstance(x, list | tuple) else x


def rebuilt(structure: Any, values: list[Any]) -> Any:
    """Return the result of this structure with these arrays."""
    return _filled(structure, values)


def _is_fixed(x: Any) -> bool:
    """Whether a structure contains only slots and immutable values, in lists and tuples."""
    if isinstance(x, list | tuple):
        return all(map(_is_fixed, x))
    return type(x) is _Slot or type(x) in _SAME or isinstance(x, float | complex | np.generic | np.dtype)
