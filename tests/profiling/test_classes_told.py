"""The class that a call is reported under: a view is one only where nothing was computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.common import events


class Classes(events.Listener):
    """Collects the classes of calls."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def call(self, func: Any, backend: str, kind: str, *rest: Any) -> None:
        self.found.append(kind)


def classes(expression: str, backend: str) -> list[str]:
    with ad.backend(backend):
        scope = {
            "np": np,
            "x": ad.asarray(np.arange(6.0).reshape(2, 3)),
            "v": ad.asarray(np.array([0, 1.0, 0])),
            "c": ad.asarray(np.array([1 + 0j, 2])),
        }
        listener = Classes()
        events.begin(listener)
        try:
            eval(expression, scope)
        finally:
            events.end(listener)
    return listener.found


@pytest.mark.parametrize(
    "expression",
    [
        "np.einsum('ij->j', x)",
        "np.einsum('ij,j', x, v)",
        "np.meshgrid(v, v)",
        "np.trim_zeros(v)",
        "np.ravel(x.T)",
        "np.real_if_close(c)",
    ],
)
def test_a_computed_result_is_not_told_as_a_view(backend: str, expression: str) -> None:
    found = classes(expression, backend)
    assert found and set(found) <= {"native", "composed", "override"}


@pytest.mark.parametrize(
    "expression",
    [
        "np.einsum('ij->ji', x)",
        "np.meshgrid(v, v, copy=False)",
        "np.reshape(x, 6)",
        "np.atleast_2d(x, v)",
        "np.split(x, 3, 1)",
        "np.flip(x)",
        "np.broadcast_to(v, (2, 3))",
    ],
)
def test_a_view_is_told_as_one(backend: str, expression: str) -> None:
    assert classes(expression, backend) == ["view"]
