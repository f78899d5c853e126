"""A registered body takes what NumPy's function takes: names, order, kinds and defaults."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from arraydispatch.functions import registry
from tests.rows import each

registry.load_topics()

# Handled once, by the dispatch (`out`) or by NumPy before it calls us (`like`).
DISPATCHED = {"out", "like"}

# C functions that carry no text signature before NumPy 2.4: there is nothing to compare with there.
WITHOUT_SIGNATURE = {
    np.bincount, np.can_cast, np.concatenate, np.copyto, np.dot, np.empty_like, np.inner, np.lexsort,
    np.may_share_memory, np.min_scalar_type, np.packbits, np.putmask, np.ravel_multi_index, np.result_type,
    np.shares_memory, np.unpackbits, np.unravel_index, np.vdot, np.where,
}  # fmt: skip


def parameters(signature: inspect.Signature) -> list[tuple[str, Any, Any]]:
    return [(p.name, p.kind, p.default) for p in signature.parameters.values() if p.name not in DISPATCHED]


def differences(func: Any, body: Any) -> list[str]:
    """What a body's parameters have otherwise than NumPy's."""
    theirs = parameters(inspect.signature(func))
    ours = parameters(inspect.signature(body))[1:]
    found = []
    if [p[0] for p in ours] != [p[0] for p in theirs]:
        found.append(f"names {[p[0] for p in ours]}, NumPy's are {[p[0] for p in theirs]}")
    for (name, kind, default), (_, their_kind, their_default) in zip(ours, theirs):
        if kind != their_kind:
            found.append(f"{name} is {kind.description}, NumPy's is {their_kind.description}")
        if default is not their_default and (type(default), default) != (type(their_default), their_default):
            found.append(f"{name} is {default!r} by default, NumPy's is {their_default!r}")
    return found


@each("func", list(registry.SPECS))
def test_parameters_are_numpys(func: Any) -> None:
    body = registry.SPECS[func].body
    if getattr(body, "__wrapped__", None) is func:  # it calls NumPy's function itself
        return
    try:
        theirs = inspect.signature(func).parameters
    except ValueError:
        assert func in WITHOUT_SIGNATURE
        pytest.skip("inapplicable: no text signature in this NumPy")
    assert next(iter(inspect.signature(body).parameters)) == "xp" or "xp" in theirs  # `np.interp` has one of its own
    found = differences(func, body)
    if func is np.where:  # its text says None for what is not given; None that is given makes an array of objects
        assert found == [f"{name} is {np._NoValue!r} by default, NumPy's is None" for name in "xy"]
    else:
        assert found == []


@pytest.mark.parametrize(
    ("signature", "same"),
    [
        ("xp, a, axis=None, keepdims=np._NoValue", True),
        ("xp, a, axes=None, keepdims=np._NoValue", False),
        ("xp, a, keepdims=np._NoValue, axis=None", False),
        ("xp, a, axis=0, keepdims=np._NoValue", False),
        ("xp, a, axis=False, keepdims=np._NoValue", False),
        ("xp, a, axis=None, *, keepdims=np._NoValue", False),
        ("xp, a, axis=None", False),
    ],
)
def test_a_difference_is_found(signature: str, same: bool) -> None:
    body = eval(f"lambda {signature}: a", {"np": np})
    assert (differences(np.ptp, body) == []) is same
