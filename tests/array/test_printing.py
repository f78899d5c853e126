"""The representation of an array in library use names its library and device; under a launcher it is NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.array import printing


def shown(x: Any, backend: str) -> str:
    """NumPy's own text with the mark of the backend."""
    text = repr(x)
    return text if backend == "numpy" else f"Array{text.removeprefix('array').removesuffix(')')}, backend={backend!r})"


@pytest.mark.parametrize("value", [[1.0, 2.0], [[1, 2], [3, 4]], 2.5, [], [True], [1 + 2j]])
def test_repr_names_the_library(value: Any, backend: str) -> None:
    x = np.array(value)
    assert repr(ad.asarray(x, backend=backend)) == shown(x, backend)
    assert str(ad.asarray(x, backend=backend)) == str(x)


def test_repr_keeps_dtype_and_view(backend: str) -> None:
    x = np.arange(6, dtype=np.float32)[::-2]
    y = ad.asarray(np.arange(6, dtype=np.float32), backend=backend)[::-2]
    assert repr(y) == shown(x, backend)


def test_the_mark_goes_to_a_line_of_its_own_where_the_line_is_full() -> None:
    x = ad.asarray(np.linspace(0, 1, 6), backend="numpy")
    with np.printoptions(linewidth=40):
        text = repr(np.linspace(0, 1, 6))
        lines = printing.marked(_Elsewhere(x), text).splitlines()
    assert lines[-1] == "      backend='elsewhere', device='gpu:1')"
    assert max(map(len, lines)) <= 42
    assert lines[0].startswith("Array([")


class _Elsewhere:
    """An array on a device that the tests' machine lacks."""

    class backend:
        name = "elsewhere"

    class device:
        name = "gpu:1"

    def __init__(self, x: Any) -> None:
        self._x = x


@pytest.fixture(autouse=True)
def _held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer for an array that is elsewhere."""
    real = printing.views.held

    class Kind:
        class backend:
            on_cpu = staticmethod(lambda _: False)

    monkeypatch.setattr(printing.views, "held", lambda a: (Kind, None) if isinstance(a, _Elsewhere) else real(a))
