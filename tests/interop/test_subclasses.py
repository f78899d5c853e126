"""Subclasses of ndarray beside our arrays: they have rules of their own, so NumPy computes with them, on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from tests import oracle

pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass is not:PendingDeprecationWarning")


class Tagged(np.ndarray[Any, Any]):
    """A subclass that only keeps its class."""


def _guests() -> dict[str, Any]:
    return {
        "masked": np.ma.array([[1.0, 2, 3], [4, 5, 6]], mask=[[0, 1, 0], [0, 0, 1]]),
        "matrix": np.matrix([[1.0, 2.0], [3.0, 5.0]]),
        "tagged": np.array([[1.0, 4.0, 2.0], [0.5, 1.0, 8.0]]).view(Tagged),
    }


@pytest.mark.parametrize(
    "expression",
    [
        "a + masked",
        "masked + a",
        "a == masked",
        "np.add(a, masked)",
        "np.concatenate([a, masked])",
        "np.trapezoid(masked, a)",
        "a.__iadd__(masked)",
        "np.copyto(a, masked)",
        "matrix * a",
        "a.T * matrix",
        "matrix @ a",
        "np.dot(matrix, a)",
        "np.linalg.solve(matrix, a)",
        "np.kron(matrix, a)",
        "a - tagged",
        "tagged < a",
        "np.hypot(tagged, a)",
        "np.stack([a, tagged])",
        "np.where(a > 2, a, tagged)",
        "np.linalg.lstsq(a.T, tagged.T)[0]",
    ],
)
def test_as_numpy(backend: str, expression: str) -> None:
    a = np.arange(6.0).reshape(2, 3)
    ours, theirs = oracle.wrapped(backend, a), a.copy()
    with ad.fallback("silent"):
        got = eval(expression, {"np": np, "a": ours, **_guests()})
    want = eval(expression, {"np": np, "a": theirs, **_guests()})
    if type(want) in (np.ndarray, type(None)):
        assert not isinstance(got, np.ndarray)
    else:
        assert type(got) is type(want)
        assert np.array_equal(np.ma.getmaskarray(got), np.ma.getmaskarray(want))
    np.testing.assert_array_equal(ad.to_numpy(ours), theirs)
    if want is not None:
        np.testing.assert_allclose(ad.to_numpy(got), np.asarray(want), rtol=1e-13)


def test_a_memory_map_is_an_array_like_any_other(backend: str, tmp_path: Any) -> None:
    mapped = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=(3,))
    mapped[:] = [1.0, 2.0, 3.0]
    a = oracle.wrapped(backend, np.ones(3))
    with ad.fallback("error"):
        assert isinstance(a + mapped, ad.Array)
        assert isinstance(np.concatenate([a, mapped]), ad.Array)


def test_a_subclass_on_the_host_is_a_fallback(backend: str) -> None:
    if backend == "numpy":
        pytest.skip("inapplicable: its arrays are on the host")
    a = oracle.wrapped(backend, np.arange(6.0).reshape(2, 3))
    with ad.fallback("error"), pytest.raises(ad.HostFallbackError, match="subclass of ndarray"):
        np.concatenate([a, _guests()["tagged"]])
