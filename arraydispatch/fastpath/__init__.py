"""Short forms of ``Array``'s members, for small host values (the thin path) and for recording.

A call on small values in the host state reaches NumPy after one test, and its result is wrapped by one constructor. Operands may also be
small ndarrays, and large arrays whose shape was given back to the host (:data:`arraydispatch.runtime.execution_policy.shapes`). Each thin
form wraps the general form, and falls back to it for values held by the library, large values, operands of other types, and results with
a dtype that exists only on the host. The thin path is in force only while no precision or other rule is set and no listener wants a report
of each call. It counts its calls.

:mod:`arraydispatch.fastpath.methods` has the members of ``Array``, :mod:`arraydispatch.fastpath.functions` NumPy's functions,
:mod:`arraydispatch.fastpath.creation` those that make arrays, and :mod:`arraydispatch.fastpath.results` the common ends of all three.
This module makes the forms from :data:`arraydispatch.common.members.MEMBERS` and puts them in force.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.handles import general, install
from ..array.general_forms import named
from ..backends import loader
from ..common.members import MEMBERS, Form, Member
from ..common.process_state import process
from ..engine.recording import call_nodes
from ..functions.registry import spec_of
from ..functions.specs import Parallel
from . import creation, functions, methods, recorded as recording, results
from .creation import (
    at_once,
    drawn_at_once,
    filled_at_once,
    fresh,
    is_told,
    meets_foreign,
    new,
    of_data_at_once,
    of_values,
    takes,
    unless_foreign,
)
from .functions import callers, of_answer, of_at, of_function, of_ufunc, with_twins
from .results import calls

__all__ = [
    "at_once",
    "callers",
    "calls",
    "drawn_at_once",
    "filled_at_once",
    "fresh",
    "with_twins",
    "is_told",
    "meets_foreign",
    "least",
    "new",
    "of_data_at_once",
    "of_values",
    "of_answer",
    "of_at",
    "of_function",
    "of_ufunc",
    "takes",
    "unless_foreign",
]

least = 0
"""Number of elements from which the library computes; 0 while the thin path is not in force."""


def _numpys(row: Member) -> Any:
    """Return what corresponds to a member of ``Array`` in NumPy: a function that takes an ndarray, or the name of an attribute."""
    if row.form in ("view", "shape") and row.func is None:
        return row.name
    return row.operator or row.func or getattr(np.ndarray, row.name)


def _method(numpys: Any, form: Any, row: Member) -> Any:
    return methods.method_of(numpys, form, row.computes, row.operand, row.form == "reduction")


_BY_FORM: dict[Form, Callable[[Any, Any, Member], Any]] = {
    "binary": lambda numpys, form, row: methods.binary(numpys, form, row.recorded),
    "comparison": lambda numpys, form, row: methods.binary(numpys, form, row.recorded),
    # The ufunc, because an operator would ask the first operand again.
    "reflected": lambda _, form, row: methods.reflected(row.func, form),
    "inplace": lambda numpys, form, _: methods.inplace(numpys, form),
    "unary": lambda numpys, form, _: methods.unary(numpys, form),
    "value": lambda numpys, form, _: methods.of_value(numpys, form),
    "shape": lambda numpys, form, row: (methods.of_value if row.func else methods.property_of_value)(numpys, form),
    "view": lambda numpys, form, _: methods.view_property(numpys, form),
    "writer": lambda numpys, form, row: methods.writer(numpys, form, row.computes),
    "method": _method,
    "reduction": _method,
    "host": _method,
}
_BY_NAME: dict[str, Callable[[Any], Any]] = {
    "__getitem__": methods.getitem,
    "__setitem__": methods.setitem,
    "__iter__": methods.iterating,
    "__len__": methods.length,
    "view": methods.view,
    "dtype": methods.dtype,
    "__array_ufunc__": methods.array_ufunc,
    "__array_function__": functions.array_function,
}


def _is_light(row: Member) -> bool:
    """Whether a member is a method that is never recorded, and that threads share only for very large arrays or not at all."""
    if not row.computes or row.recorded or row.operand or row.form not in ("method", "reduction"):
        return False
    spec = spec_of(getattr(np, row.name))
    return spec is not None and (spec.parallel.light or spec.parallel == Parallel())


def _made() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the recording forms of members, made from the general ones, and the thin forms, made from the recording ones."""
    recorded = {name: recording.over(row, general[name]) for name, row in MEMBERS.items() if row.recorded}
    thin = dict(recorded)
    for name, row in MEMBERS.items():
        if row.thin:
            form = recording.at_once(name, general[name]) if _is_light(row) else recorded.get(name, general[name])
            made = _BY_NAME[name](form) if name in _BY_NAME else _BY_FORM[row.form](_numpys(row), form, row)
            thin[name] = named(made, name)
    return recorded, thin


_FORMS: tuple[dict[str, Any], ...] = ({}, *_made())
_layer = 0
"""Index of the forms in force: general, recording, thin."""
_is_used = False
"""Whether there is or was a host state. Before, no form of this package is in force and no setting is followed."""


@process.follows("min_size")
def _begin() -> None:
    """Follow the settings of the process from the first host state on."""
    global _is_used
    if process.min_size and not _is_used:
        process.follows(
            "backend", "blocks_entered", "devices", "execution", "min_size", "overrides", "rules", "suspended", "tap", "wrapper"
        )(_follow)  # fmt: skip
        _follow()
        _is_used = True


def _follow() -> None:
    """Install the forms of methods (general, recorded or thin) that the settings of the process call for."""
    global _layer, least
    call_nodes.follow()
    results.follow()
    creation.follow()
    layer = 2 if results.path.least else int(call_nodes.least > 0)
    if layer != _layer:
        install(_FORMS[layer])
    least, _layer = results.path.least, layer


def _ask(value: np.ndarray) -> None:
    kind = loader.hosted(process.backend).kind(np.dtype(float))

    def make() -> Any:
        return process.wrapper(value, kind, True)

    make().sum()
    np.sum(make())
    held = make()
    held.sum()
    np.sum(held)


recording.calibrate_by(_ask)
_begin()
