"""ad.random: shapes, dtypes, ranges and moments; the same numbers for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

DRAWS: dict[str, Any] = {
    "normal": lambda: ad.random.normal(2.0, 0.5, (40, 50)),
    "uniform": lambda: ad.random.uniform(-1.0, 3.0, (40, 50)),
    "integers": lambda: ad.random.integers(-2, 5, (40, 50)),
    "permutation": lambda: ad.random.permutation(200),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_gives_the_same_again(name: str, backend: str) -> None:
    with ad.backend(backend):
        ad.random.seed(7)
        first, second = DRAWS[name](), DRAWS[name]()
        ad.seed(7)
        again = DRAWS[name]()
        assert isinstance(first, ad.Array) and first.backend.name == backend
        assert ad.to_numpy(first).tolist() == ad.to_numpy(again).tolist() != ad.to_numpy(second).tolist()


def test_what_is_drawn(backend: str) -> None:
    with ad.backend(backend):
        ad.random.seed(1)
        x, u, n, p = (ad.to_numpy(draw()) for draw in DRAWS.values())
        assert x.dtype == u.dtype == np.float64 and n.dtype == p.dtype == np.int64
        assert abs(x.mean() - 2) < 0.1 and abs(x.std() - 0.5) < 0.05
        assert u.min() >= -1 and u.max() < 3 and abs(u.mean() - 1) < 0.15
        assert sorted(set(n.ravel().tolist())) == list(range(-2, 5))
        assert sorted(p.tolist()) == list(range(200))
        assert np.shape(ad.random.normal()) == np.shape(ad.random.integers(3)) == ()
        assert ad.random.normal(np.zeros(3), np.ones((2, 1))).shape == (2, 3)
        assert ad.random.uniform(0, 1, 4, dtype="float32").dtype == np.float32
        with ad.precision(32):
            assert ad.random.normal(size=2).dtype == np.float32
        assert ad.to_numpy(ad.random.integers(1, 3, 50, endpoint=True, dtype="uint8")).max() == 3
        assert ad.to_numpy(ad.random.integers(2**63, 2**63 + 2, 9, dtype="uint64")).min() >= 2**63
        table = ad.asarray(np.arange(12).reshape(4, 3))
        moved = ad.to_numpy(ad.random.permutation(table))
        assert (
            sorted(moved.tolist()) == table.tolist()
            and ad.to_numpy(table).tolist() == np.arange(12).reshape(4, 3).tolist()
        )
        assert sorted(ad.to_numpy(ad.random.permutation(table, axis=1))[0].tolist()) == [0, 1, 2]


def test_bad_input(backend: str) -> None:
    with ad.backend(backend):
        for wrong in (
            lambda: ad.random.integers(3, 3), lambda: ad.random.integers(0, 300, dtype="uint8"), lambda: ad.random.normal(0, -1),
            lambda: ad.random.integers(0, 2**60), lambda: ad.random.uniform(size=(2, -1)),
        ):  # fmt: skip
            with pytest.raises(ValueError):
                wrong()
        for none in (
            lambda: ad.random.normal(dtype=int),
            lambda: ad.random.integers(3, dtype=float),
            lambda: ad.random.permutation(2.5),
        ):
            with pytest.raises(TypeError):
                none()


def test_a_seed_is_a_whole_number(backend: str) -> None:
    """The libraries say RuntimeError, UnimplementedError and others."""
    with ad.backend(backend):
        for none in ("1", 1.5, None):
            with pytest.raises(TypeError, match="interpreted as an integer"):
                ad.seed(none)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="expected non-negative integer"):
            ad.seed(-1)


def test_names_of_the_active_backend(backend: str) -> None:
    with ad.backend(backend):
        ab = ad.active_backend
        ad.seed(3)
        for made in (ab.normal(0.0, 1.0, 2, 3), ab.uniform(0.0, 1.0, (2, 3)), ab.tensor([[1.0, 2, 3], [4, 5, 6]])):
            assert not isinstance(made, ad.Array) and tuple(made.shape) == (2, 3)
            assert ad.wrap(made).backend.name == backend and ab.to_numpy(made).shape == (2, 3)
        assert tuple(ab.eye(3).shape) == (3, 3)
