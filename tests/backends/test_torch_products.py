"""PyTorch on a CPU: products of a large matrix and a vector, which its threads share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(torch.get_num_threads() < 2, reason="inapplicable: torch has one thread")

MATRICES: dict[str, Any] = {
    "whole": lambda a: a,
    "one row more than the threads share": lambda a: a[:-1],
    "columns of a wider one": lambda a: a[:, 3:],
    "transposed": lambda a: a.T,
    "every second row": lambda a: a[::2],
    "every second column": lambda a: a[:, ::2],
    "backwards": lambda a: a[::-1],
    "a stack": lambda a: a[None],
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("name", MATRICES)
def test_products_with_vectors(name: str, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    host = (rng.random((1600, 1400)) - 0.5).astype(dtype)
    right, left = (rng.random(1600) - 0.5).astype(dtype), (rng.random(1600) - 0.5).astype(dtype)
    expected = MATRICES[name](host)
    with ad.backend("torch"):
        ours = MATRICES[name](ad.asarray(host))
        for x, y, numpys in (
            (ours, ad.asarray(right[: expected.shape[-1]]), expected @ right[: expected.shape[-1]]),
            (ad.asarray(left[: expected.shape[-2]]), ours, left[: expected.shape[-2]] @ expected),
        ):
            made = np.asarray(np.matmul(x, y))
            assert made.dtype == numpys.dtype and made.shape == numpys.shape
            np.testing.assert_allclose(made, numpys, rtol=0, atol=1e-3 if dtype is np.float32 else 1e-11)
        with pytest.raises(ValueError, match="mismatch in its core dimension"):
            ours @ ad.asarray(right[:7])


def test_threads_share_what_is_large_and_whole() -> None:
    from arraydispatch.backends.torch import linalg

    a, v = torch.ones((1000, 900), dtype=torch.float64), torch.ones(900, dtype=torch.float64)
    assert linalg._in_threads(a, v) is not None and linalg._in_threads(v, a.T) is not None
    assert linalg._in_threads(a[:100], v) is None and linalg._in_threads(a.requires_grad_(), v) is None
    assert linalg._in_threads(a.detach().to_sparse(), v) is None


def test_gradients_and_batches_of_products() -> None:
    rng = np.random.default_rng(4)
    host, vector = rng.random((1000, 900)), rng.random(900)
    with ad.backend("torch"):
        a, v = ad.asarray(host), ad.asarray(vector)
        np.testing.assert_allclose(np.asarray(ad.grad(lambda x: ((a @ x) ** 2).sum())(v)), 2 * host.T @ (host @ vector))
        batch = ad.vmap(lambda x: a @ x)(ad.asarray(np.stack([vector, 2 * vector])))
        np.testing.assert_allclose(np.asarray(batch), np.stack([host @ vector, 2 * (host @ vector)]))


def test_what_is_not_finite() -> None:
    host, vector = np.ones((1000, 900)), np.ones(900)
    host[3, 4], host[999, 0], host[500, 1] = np.nan, np.inf, -np.inf
    with ad.backend("torch"), np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.asarray(ad.asarray(host) @ ad.asarray(vector)), host @ vector)
