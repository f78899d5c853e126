"""The thin path: what is called on values in the host state reaches NumPy after one test, and comes back by one constructor.

Its methods (:mod:`arraydispatch.fastpath.methods`) are made from the general ones, which they call wherever their test fails: for values of the library,
large ones, operands of other types, results that NumPy alone has. They are in force only while nothing but the values decides: no
precision or other rule, nobody who wants to be told of each call by its line. Then each call is counted, and no more. Functions
(:mod:`arraydispatch.fastpath.functions`) and what makes arrays (:mod:`arraydispatch.fastpath.creation`) go the same way; :mod:`arraydispatch.fastpath.results` is what all three end in.

Here it is put in force, or out of it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .._core.handles import general, install
from ..array.members import named
from ..backends import loader
from ..common.process_state import process
from ..engine.recording import tape
from ..memory import views
from ..ufuncs.facts import OPERATORS
from . import functions, methods, recorded as recording, results
from .creation import (
    at_once,
    filled_at_once,
    fresh,
    is_told,
    meets_foreign,
    new,
    of_data_at_once,
    takes,
    unless_foreign,
)
from .functions import callers, handed, of_function, of_ufunc
from .results import FOLLOWED, calls

__all__ = [
    "at_once",
    "callers",
    "calls",
    "filled_at_once",
    "fresh",
    "handed",
    "is_told",
    "meets_foreign",
    "least",
    "new",
    "of_data_at_once",
    "of_function",
    "of_ufunc",
    "takes",
    "unless_foreign",
]

_ndarray = np.ndarray
least = 0
"""Elements from which on a computation is the library's; 0 while the thin path is not in force."""

_COMPUTE = "all any argmax argmin argsort astype clip cumprod cumsum dot max mean min nonzero prod round searchsorted std sum trace var"
_MOVE = "copy diagonal flatten ravel repeat reshape squeeze swapaxes take tolist transpose item"
_OPERANDS = frozenset({"clip", "dot", "repeat", "searchsorted", "take"})
_OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift"


def _made() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the forms of members that record, made from the general ones, and the thin ones, made from those that record."""
    recorded = {name: recording.over(name, general[name]) for name in recording.NAMES}
    thin = dict(recorded)

    def add(name: str, make: Callable[..., Any], *what: Any) -> None:
        thin[name] = named(make(*what, recorded.get(name, general[name])), name)

    for word in _OPERATORS.split():
        # The ufunc is what NumPy's operator calls, but for powers that it has shorter ways for; it says the same, sooner.
        op = operator.pow if word == "pow" else OPERATORS[word]
        add(f"__{word}__", methods.binary, op)
        add(f"__r{word}__", methods.reflected, op)
        if word not in ("matmul", "pow"):
            add(f"__i{word}__", methods.inplace, op)
    for word in ("lt", "le", "gt", "ge"):
        add(f"__{word}__", methods.binary, OPERATORS[word])
    for word in ("eq", "ne"):  # which know what nothing is equal to
        add(f"__{word}__", methods.binary, getattr(operator, word))
    for word in ("neg", "pos", "abs", "invert"):
        add(f"__{word}__", methods.unary, OPERATORS[word])
    for value_of in (float, int, bool, complex, operator.index, len):
        add(f"__{value_of.__name__}__", methods.of_value, value_of)
    add("__getitem__", methods.getitem)
    add("__setitem__", methods.setitem)
    add("__iter__", methods.iterating)
    add("__array_ufunc__", functions.array_ufunc)
    add("__array_function__", functions.array_function)
    for name in _COMPUTE.split():
        add(name, partial(methods.method_of, operand=name in _OPERANDS), getattr(_ndarray, name))
    for name in _MOVE.split():
        add(name, partial(methods.method_of, computes=False, operand=name in _OPERANDS), getattr(_ndarray, name))
    add("fill", methods.writer, _ndarray.fill)
    for name in ("sort", "partition"):
        add(name, partial(methods.writer, computes=True), getattr(_ndarray, name))
    for name in ("T", "mT"):
        add(name, methods.view_property, operator.attrgetter(name))
    for name in ("shape", "ndim", "size"):
        add(name, methods.property_of_value, operator.attrgetter(name))
    return recorded, thin


_FORMS: tuple[dict[str, Any], ...] = ({}, *_made())
_layer = 0
"""The index of those in force: general, recording, thin."""


@process.follows("wrapper", *FOLLOWED)
def _follow() -> None:
    """Put the thin path in force, or out of it, as the process is now."""
    global _layer, least
    if not (results.least or least or _layer or tape.least):
        return  # it is not in force, and nothing else would change that
    layer = 2 if results.least else int(tape.least > 0)
    if layer != _layer:
        install(_FORMS[layer])
    least, _layer = results.least, layer
    if tape.least:
        recording.calibrate(layer, _ask)


def _ask() -> None:
    kind = loader.hosted(process.backend).kind(np.dtype(float))

    def make() -> Any:
        return views.wrapper(np.zeros(least + 1), kind, True)

    make().sum()
    np.sum(make())
    held = make()
    held.sum()
    np.sum(held)


_follow()
