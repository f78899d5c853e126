"""Functions of views that have many more elements than their root: none of these are made where NumPy makes none."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import arraydispatch as ad

OF_WINDOWS = [
    "w.mean(axis=-1)", "w.sum(axis=1)", "np.sum(w)", "np.max(w, axis=0)", "np.add.reduce(w, axis=-1)", "np.take(w, [3, 5], axis=0)",
    "np.median(w[:20], axis=-1)", "w.argmin(axis=1)", "np.any(w > w.max())", "np.ptp(w, axis=1)", "np.minimum.reduce(w, initial=1.5)",
    "w.mean(axis=-1, keepdims=True)", "w.sum(axis=1, where=m)", "np.average(w, axis=1, weights=v)", "w.std()", "np.count_nonzero(w)",
    "w.astype('f4')", "w[::-1].T.astype(int, order='F')",
]  # fmt: skip


@pytest.mark.parametrize("call", OF_WINDOWS)
def test_of_windows(call: str, backend: str) -> None:
    x = np.arange(300_000.0) % 1000
    v, m = np.arange(9.0) + 1, np.arange(9) % 2 == 0
    theirs = eval(call, {"np": np, "w": sliding_window_view(x, 9), "v": v, "m": m})
    given = {name: ad.asarray(value, backend=backend) for name, value in (("x", x), ("v", v), ("m", m))}
    w = sliding_window_view(given["x"], 9)
    ours = eval(call, {"np": np, "w": w, "v": given["v"], "m": given["m"]})
    assert type(ours) is type(theirs) or isinstance(ours, ad.Array)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    assert [flag for flag in ("C", "F") if ours.flags[flag]] == [flag for flag in ("C", "F") if theirs.flags[flag]]
    np.testing.assert_allclose(ad.to_numpy(ours) if isinstance(ours, ad.Array) else ours, theirs, rtol=1e-13)


@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
@pytest.mark.parametrize("call", [
    "b.max()", "np.sum(b, axis=0)[:2]", "np.minimum.reduce(b, axis=1)[0]", "np.any(b)", "b.astype('f4')[0]",
])  # fmt: skip
def test_what_is_broadcast_is_not_made(call: str, backend: str) -> None:
    pytest.importorskip(backend)
    b = np.broadcast_to(ad.asarray([2.0], backend=backend), (5000, 500))
    theirs = eval(call, {"np": np, "b": np.broadcast_to(np.array([2.0]), (5000, 500))})
    assert np.array_equal(eval(call, {"np": np, "b": b}), theirs)
    assert b._v is None


def test_the_library_alone_makes_them() -> None:
    """It is a host kernel, which ``execution="eager"`` does without."""
    pytest.importorskip("jax")
    b = np.broadcast_to(ad.asarray([2.0], backend="jax"), (5000, 500))
    with ad.execution("eager"):
        assert b.max() == 2


def test_it_is_told_as_a_host_kernel() -> None:
    pytest.importorskip("jax")
    b = np.broadcast_to(ad.asarray([2.0], backend="jax"), (5000, 500))
    with ad.profile() as found:
        b.max()
    assert found.calls_by_class().get("host kernel") == 1
