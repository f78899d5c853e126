"""Large draws by all threads have NumPy's bits, and leave the generator as NumPy does."""

from __future__ import annotations

import gc
import pickle
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.random import PCG64, PCG64DXSM, SFC64, Generator

from arraydispatch.common.sentinels import DECLINED
from arraydispatch.engine import draws
from arraydispatch.engine.host_blocks import blocks
from arraydispatch.launcher import numpy_random

pytestmark = [pytest.mark.usefixtures("fused"), pytest.mark.parametrize("fused", ["threads"], indirect=True)]

DRAWS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("random", (), {}),
    ("random", (), {"dtype": np.float32}),
    ("standard_normal", (), {}),
    ("standard_normal", (), {"dtype": np.float32}),
    ("standard_exponential", (), {}),
    ("standard_exponential", (), {"method": "inv"}),
    ("standard_gamma", (0.4,), {}),
    ("standard_gamma", (3.3,), {"dtype": np.float32}),
    ("uniform", (-1.7, 13.1), {}),
    ("uniform", (), {"high": 7}),
    ("normal", (0.1, 1e-3), {}),
    ("normal", (1.0,), {"scale": 1e-300}),
    ("normal", (2.5, 0), {}),
    ("integers", (6,), {}),
    ("integers", (-5, 3_000_000_000), {}),
    ("integers", (0, 1 << 32), {}),
    ("integers", (0, (1 << 32) - 1), {"endpoint": True}),
    ("integers", (0, 1 << 32), {"endpoint": True}),
    ("integers", (0, 3 << 61), {"dtype": np.int64}),
    ("integers", (), {"low": 3, "high": np.int8(77)}),
    ("gamma", (2.5, 0.7), {}),
    ("poisson", (3.0,), {}),
    ("poisson", (40.0,), {}),
    ("binomial", (10, 0.3), {}),
    ("binomial", (1000, 0.5), {}),
    ("beta", (0.5, 0.6), {}),
    ("geometric", (0.01,), {}),
    *((name, (1.5,), {}) for name in "chisquare exponential pareto power rayleigh standard_t weibull".split()),
    *((name, (0.5, 2.0), {}) for name in "f gumbel laplace logistic lognormal vonmises wald".split()),
    ("negative_binomial", (3, 0.4), {}),
    ("noncentral_chisquare", (2.5, 1.5), {}),
    ("standard_cauchy", (), {}),
    ("triangular", (-1.0, 0.5, 2.0), {}),
]  # fmt: skip
"""Each is drawn in parts."""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small draws count as large."""
    monkeypatch.setattr(draws, "LEAST", 100)
    monkeypatch.setattr(draws, "PART", 300)
    monkeypatch.setattr(draws, "_SAMPLE", 50)


@pytest.fixture(params=[2, 3, 4])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(blocks, "thread_count", lambda: request.param)
    return int(request.param)


def both(ours: Generator, theirs: Generator, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Draw by both, and say whether ours was in parts."""
    method = getattr(Generator, name)
    expected, made = method(theirs, *args, **kwargs), draws.call(method, ours, args, kwargs)
    parts = made is not DECLINED
    made = made if parts else method(ours, *args, **kwargs)
    assert (made.dtype, made.shape, made.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())
    assert made.base is None and made.flags.c_contiguous
    assert ours.bit_generator.state == theirs.bit_generator.state
    return parts


@pytest.mark.parametrize("kind", [PCG64, PCG64DXSM])
@pytest.mark.parametrize(("name", "args", "kwargs"), DRAWS)
def test_draws(kind: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], threads: int) -> None:
    for seed in range(4):
        ours, theirs = Generator(kind(seed)), Generator(kind(seed))
        for half, size in enumerate((4001, (30, 57), [911])):  # with half an output left, and without
            assert both(ours, theirs, name, args, {**kwargs, "size": size}), size
            assert ours.integers(9) == theirs.integers(9), half


def test_a_program_of_draws(threads: int) -> None:
    """Large, small and spawned, one after the other, by the generator, a copy of it and a child's."""
    choose = np.random.default_rng(threads)
    ours, theirs = np.random.default_rng(5), np.random.default_rng(5)
    for _ in range(300):
        name, args, kwargs = DRAWS[choose.integers(len(DRAWS))]
        both(ours, theirs, name, args, {**kwargs, "size": int(choose.integers(1, 3000))})
        match choose.integers(8):
            case 0:
                ours = pickle.loads(pickle.dumps(ours))
            case 1:
                (ours,), (theirs,) = ours.spawn(1), theirs.spawn(1)
            case 2:
                assert (ours.permutation(7) == theirs.permutation(7)).all()
            case 3:
                assert ours.random(dtype=np.float32) == theirs.random(dtype=np.float32)


@pytest.mark.parametrize("size", [1 << 18, (512, 600)])
def test_the_launchers_generators(size: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large draws are made so, small ones and those of NumPy's legacy class are not."""
    asked: list[Any] = []
    real = draws.call
    monkeypatch.setattr(draws, "call", lambda *args: asked.append(args[2:]) or real(*args))
    generator = numpy_random.Generator(PCG64(1))
    expected = np.random.default_rng(1)
    assert (generator.normal(2, 3, size) == expected.normal(2, 3, size)).all()
    assert (generator.random(size=size) == expected.random(size)).all()
    assert asked == [((2, 3, size), {}), ((), {"size": size})]
    generator.normal(2, 3, 99)
    generator.random()
    generator.permutation(500)
    numpy_random.RandomState(1).normal(2, 3, 500)
    assert len(asked) == 2


def test_what_is_left_to_numpy() -> None:
    for name, args, kwargs in (
        ("normal", (0.0, -1.0, 500), {}),
        ("normal", (np.zeros(500), 1.0, 500), {}),
        ("normal", (0.0, 1.0, 99), {}),
        ("normal", (0.0, 1.0, 500), {"size": 500}),
        ("normal", (0.0, 1.0, -500), {}),
        ("normal", (0.0, 1.0, (0, 500)), {}),
        ("normal", (0.0, 1.0, 500.0), {}),
        ("random", (), {"size": 500, "out": np.empty(500)}),
        ("random", (500, np.float32), {}),
        ("random", (), {"size": 500, "dtype": np.int32}),
        ("standard_gamma", (0.0,), {"size": 500}),
        ("integers", (5, 5, 500), {}),
        ("integers", (5, 6, 500), {}),
        ("integers", (0, 5, 500), {"dtype": np.int8}),
        ("integers", (0, 1 << 64, 500), {}),
        ("poisson", (0.0, 500), {}),
    ):
        drawing = np.random.default_rng(1)
        before = drawing.bit_generator.state
        assert draws.call(getattr(Generator, name), drawing, args, kwargs) is DECLINED, (name, args, kwargs)
        assert drawing.bit_generator.state == before
    assert draws.call(Generator.random, Generator(SFC64(1)), (500,), {}) is DECLINED


def test_draws_that_do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is drawn in one thread."""
    for steps in (0, 1, 2, 5):
        monkeypatch.setattr(draws, "_STEPS", steps)
        for seed in range(20):
            ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
            assert both(ours, theirs, "gamma", (0.4,), {"size": 5000})


def test_more_values_than_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the sample misleads, the last parts are drawn again."""
    real = draws._Draw._count
    monkeypatch.setattr(draws._Draw, "_count", lambda self, halves, of=0: real(self, halves) + 200 * bool(of))
    for seed in range(20):
        ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
        assert both(ours, theirs, "standard_normal", (), {"size": 5000})


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The one who waits for a draw is interrupted."""

    def wait(done: blocks.Done) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(blocks.Done, "wait", wait)
        yield


@pytest.mark.usefixtures("stopped")
def test_a_signal_leaves_the_generator() -> None:
    drawing = np.random.default_rng(1)
    before = drawing.bit_generator.state
    with pytest.raises(KeyboardInterrupt):
        draws.call(Generator.standard_normal, drawing, (5000,), {})
    assert drawing.bit_generator.state == before
    assert drawing.bit_generator.lock.acquire(timeout=60)  # another thread may still be about to leave it


def test_the_lock_is_held() -> None:
    """Two threads that draw from one generator get what some order gives."""
    drawing = np.random.default_rng(3)
    made: list[Any] = []
    workers = [
        threading.Thread(target=lambda: made.append(draws.call(Generator.normal, drawing, (), {"size": 4000})))
        for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    expected = np.random.default_rng(3).normal(size=(4, 4000))
    assert sorted(x.tobytes() for x in made) == sorted(x.tobytes() for x in expected)


def test_what_is_done_holds_no_array(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    """Without waiting for a search of garbage: few objects are made, and the arrays are large."""
    made: list[Any] = []

    class Draw(draws._Draw):
        def run(self, shape: Any, threads: int) -> Any:
            made.append(weakref.ref(self))
            return super().run(shape, threads)

    monkeypatch.setattr(draws, "_Draw", Draw)
    gc.disable()
    try:
        for method in ("standard_normal", "random"):
            draws.call(getattr(Generator, method), Generator(PCG64(1)), (5000,), {})
        end = time.monotonic() + 10
        while any(ref() is not None for ref in made) and time.monotonic() < end:  # a thread that comes late
            time.sleep(0.01)
        assert [ref() for ref in made] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("raised", [TimeoutError, KeyError, KeyboardInterrupt])
def test_what_a_handler_raises_comes_out(monkeypatch: pytest.MonkeyPatch, raised: Any, threads: int) -> None:
    """And nothing has been drawn."""

    def wait(self: Any) -> None:
        raise raised

    generator, expected = Generator(PCG64(3)), Generator(PCG64(3))
    with monkeypatch.context() as patched:
        patched.setattr(blocks.Done, "wait", wait)
        with pytest.raises(raised):
            draws.call(Generator.normal, generator, (0.0, 1.0, 5000), {})
    assert (draws.call(Generator.normal, generator, (0.0, 1.0, 5000), {}) == expected.normal(size=5000)).all()
