"""nonzero, masked and unique of a fixed length: NumPy's values first, in programs too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

X = np.array([[0.0, 2.0, 0.0], [2.0, np.nan, -1.0]])


def host(x: Any) -> Any:
    return np.asarray(x)


@pytest.mark.parametrize("size", [0, 2, 4, 9])
def test_as_numpy_and_then_the_filling(size: int, backend: str) -> None:
    rows, columns = np.nonzero(X)
    with ad.backend(backend):
        x = ad.asarray(X)
        for run in (lambda f: f, ad.jit):
            found = run(lambda x: ad.nonzero(x, size=size, fill_value=-7))(x)
            for ours, theirs in zip(found, (rows, columns)):
                assert host(ours).tolist() == [*theirs, *[-7] * 9][:size]
                assert ours.dtype == np.int64
            chosen = run(lambda x: ad.masked(x, x > 0, size=size, fill_value=5))(x)
            assert host(chosen).tolist() == [2.0, 2.0, *[5.0] * 9][:size]
            lines = run(lambda x: ad.masked(x, x[:, 0] > 0, size=size))(x)
            np.testing.assert_array_equal(host(lines), np.concatenate([X[1:], np.zeros((9, 3))])[:size])
            values = run(lambda x: ad.unique(x, size=size))(x)
            np.testing.assert_array_equal(host(values), [*np.unique(X), *[-1.0] * 9][:size])
            assert values.backend.name == backend


def test_other_dtypes(backend: str) -> None:
    with ad.backend(backend):
        assert host(ad.unique(ad.asarray(np.array([3, 1, 3], np.int8)), size=3, fill_value=9)).tolist() == [1, 3, 9]
        assert host(ad.nonzero(ad.asarray([True, False, True]), size=2)[0]).tolist() == [0, 2]
        assert host(ad.masked(ad.asarray([1, 2]), ad.asarray([False, True]), size=2, fill_value=8)).tolist() == [2, 8]
        assert (
            host(ad.masked(ad.asarray(np.zeros((0, 2))), ad.asarray(np.zeros(0, bool)), size=2)).tolist()
            == [[0, 0]] * 2
        )
        assert host(ad.nonzero(ad.asarray(np.zeros((0, 2))), size=1)[1]).tolist() == [0]


def test_the_message_names_what_there_is(library: str) -> None:
    with pytest.raises(ad.TraceError, match=r"ad\.nonzero, ad\.masked and ad\.unique"):
        ad.jit(lambda x: x[x > 0])(ad.asarray(X))


def test_bad_sizes(backend: str) -> None:
    with ad.backend(backend):
        x = ad.asarray(X)
        with pytest.raises(ValueError, match="negative"):
            ad.nonzero(x, size=-1)
        with pytest.raises(ValueError, match="dimension"):
            ad.nonzero(x[0, 0], size=1)
        with pytest.raises(IndexError, match="does not fit"):
            ad.masked(x, ad.asarray([True]), size=1)
        with pytest.raises(ValueError, match="at least one element"):
            ad.unique(x[:0], size=1)
        with pytest.raises(TypeError):
            ad.unique(x, size=1.5)
