"""What no variable holds any more is freed at once, and does not wait for the collector of cycles."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

CALLS: dict[str, Callable[[Any], Any]] = {
    "ravel": lambda x: x.ravel(),
    "np.ravel": np.ravel,
    "np.atleast_2d": np.atleast_2d,
    "np.split": lambda x: np.split(x, 2),
    "np.broadcast_arrays": lambda x: np.broadcast_arrays(x, x[0]),
    "np.diagonal": np.diagonal,
    "np.linalg.multi_dot": lambda x: np.linalg.multi_dot([x, x, x]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("execution", ["eager", "compiled"])
def test_an_array_dies_with_its_last_name(backend: str, execution: Any, call: Callable[[Any], Any]) -> None:
    with ad.backend(backend), ad.execution(execution):
        x = ad.asarray(np.arange(16.0).reshape(4, 4)) * 1.0
        call(x)
        gc.collect()
        gc.disable()
        try:
            x = ad.asarray(np.arange(16.0).reshape(4, 4)) * 1.0
            made = call(x)
            seen = weakref.ref(x)
            del made, x
            assert seen() is None
        finally:
            gc.enable()
