"""``--min-size``: an array is an ``Array`` whatever its size; the size says where its data is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as real
import pytest

import arraydispatch as ad
from arraydispatch import settings
from arraydispatch.backends import loader
from arraydispatch.launcher import runner
from arraydispatch.launcher.userfiles import UserFiles
from arraydispatch.profiling import Profile

HERE = Path(__file__).parent
LIMIT = 100


@pytest.fixture(params=[name for name in loader.available() if name != "numpy"])
def np(request: pytest.FixtureRequest) -> Iterator[Any]:
    before = ad.default_backend().name
    ad.use(request.param)
    settings.default.min_size = LIMIT
    with ad.fallback("error"), runner.accelerated(UserFiles([str(HERE)])):
        import numpy

        yield numpy
    settings.default.min_size = 0
    ad.use(before)


def small(x: Any) -> bool:
    assert isinstance(x, ad.Array)
    return x._kind.backend.small


def test_size_chooses_the_place_not_the_class(np: Any) -> None:
    for make in (np.zeros, np.ones, np.arange, np.random.rand, np.hanning, lambda n: np.array([1.0] * n)):
        few, many = make(LIMIT - 1), make(LIMIT)
        assert type(few) is type(many) is np.ndarray
        assert small(few) and not small(many)
        assert many.backend is ad.default_backend()


def test_why_an_array_on_the_device_comes_to_a_small_one(np: Any) -> None:
    a, index, many = np.arange(10), np.arange(LIMIT) % 10, np.ones(LIMIT)
    with Profile() as profile:
        a[index], a[:LIMIT]
        a[index] = 3
    assert {row.why for row in profile.transfers() if row.direction == "to_host"} == {
        "the index of a small array on the host"
    }
    with Profile() as profile:
        a[np.zeros(10, int)] = many[:10]
    assert [row.why for row in profile.transfers()] == ["written into a small array on the host"]


def test_what_meets_only_its_like_stays(np: Any) -> None:
    a, b = np.arange(6.0), np.ones(6)
    with Profile() as profile:
        results = [a + b, 2 * a, np.sin(a), np.concatenate((a, b)), a.reshape(2, 3) @ a.reshape(3, 2), np.sort(a), a[1:],
                   np.median(a.reshape(2, 3), axis=0), np.array([a, b]), a > 2, np.linalg.inv(np.eye(3)), a[a > 2]]  # fmt: skip
        a += 1
        a[0] = 5
    assert all(map(small, results))
    assert profile.calls_on_backend - profile.calls_by_class().get("view", 0) == 0
    assert profile.calls_by_class()["small"] > 8
    assert not profile.host_fallbacks() and not profile.transfers()


def test_what_meets_a_large_one_is_taken_along(np: Any) -> None:
    large, few = np.ones((LIMIT, 3)), np.array([1.0, 2.0, 3.0])
    for result in (large * few, few + large, large @ few, np.maximum(large, few), np.where(large > 0, few, large),
                   np.concatenate([large, few.reshape(1, 3)]), np.dot(large, few)):  # fmt: skip
        assert not small(result)
    real.testing.assert_array_equal(ad.to_numpy(large * few), real.ones((LIMIT, 3)) * [1, 2, 3])
    assert small(few)


def test_large_results_of_small_arrays_are_on_the_device(np: Any) -> None:
    a = np.arange(50.0)
    for _ in range(2):  # the second time by plan
        assert not small(a[:, None] * a)
        assert not small(np.add.outer(a, a))
        assert not small(np.tile(a, 10))
    expected = real.arange(50.0)[:, None] * real.arange(50.0)
    real.testing.assert_array_equal(ad.to_numpy(a[:, None] * a), expected)


def test_writes_keep_identity_and_views(np: Any) -> None:
    large = np.ones(LIMIT) * 3
    a = np.zeros(6)
    view, other = a[2:4], a.reshape(2, 3)
    a[...] = large[:6]
    view[:] = np.cumsum(large)[:2]
    a -= large[:6] / 3
    other[0] *= 2
    assert np.add(large[:6], 1, out=a) is a
    np.put(a, [0], large[:1] * 9)
    np.add.at(a, [1, 1], large[:2])
    np.copyto(a[4:], large[:2])
    assert small(a) and view.base is a and other.base is a
    assert a.tolist() == [27, 10, 4, 4, 3, 3]
    assert view.tolist() == [4, 4]
    assert other.tolist() == [[27, 10, 4], [4, 3, 3]]


def test_constants_of_a_loop_go_to_the_device_once(np: Any) -> None:
    large, few = np.ones((LIMIT, 3)), np.array([1.5, 2.5, 4.5])
    backend = ad.default_backend()
    with Profile() as profile:
        for _ in range(5):
            large * few
    uploads = sum(row.count for row in profile.transfers() if row.direction == "to_device")
    assert uploads == (5 if backend.mutable else 1)
    few[0] = -1
    assert (large * few)[0].tolist() == [-1, 2.5, 4.5]


def test_scalars_are_numpys(np: Any) -> None:
    a = np.arange(3.0)
    assert type(a.sum()) is type(a[1]) is type(np.max(a)) is real.float64


def test_adopted_arrays_go_by_size(np: Any) -> None:
    few, many = real.ones(3), real.ones(LIMIT)
    assert small(np.sqrt(few)) and not small(np.sqrt(many))


def test_precision_holds(np: Any) -> None:
    with ad.precision(32):
        a = np.ones(3)
        assert a.dtype == (a * 2.0).dtype == np.mean(np.arange(3)).dtype == real.float32
    with ad.precision(16):
        assert not small(np.ones(3))
