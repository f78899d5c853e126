"""Plans are made once for the calls of a loop, whatever arrays they are of, and give NumPy's values for each."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from arraydispatch.api import creation
from arraydispatch.engine import nodes
from arraydispatch.engine.host_blocks import block_plans, blocks, kernels
from arraydispatch.engine.nodes import Node
from arraydispatch.engine.recording import tape
from arraydispatch.runtime.settings import default

pytestmark = pytest.mark.usefixtures("fused")
SHAPE = 70, 60


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Numbers of the nodes of which plans are made."""
    made: list[int] = []
    plan = block_plans.plan
    monkeypatch.setattr(block_plans, "plan", lambda nodes, *rest: made.append(len(nodes)) or plan(nodes, *rest))
    yield made
    tape.run_all()


def data(seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=SHAPE)


def heat(u: Any, v: Any, t: float) -> Any:
    u[1:-1, 1:-1] += t * (u[:-2, 1:-1] + u[2:, 1:-1] + v[1:-1, :-2] - 2 * v[1:-1, 2:])
    return u


def oscillator(x: Any, y: Any, t: float) -> Any:
    for _ in range(3):
        y = y - t * (x + np.exp(-x * x))
        x = x + t * y
    return x


def softmax(x: Any, y: Any, t: float) -> Any:
    x = np.exp((x - x.max(axis=-1, keepdims=True)) * t)
    return x / x.sum(axis=-1, keepdims=True) + np.where(x > y, 1, y).sum()


def rolled(x: Any, y: Any, t: float) -> Any:
    return np.roll(x * t, 1, 0) + np.roll(y, (3, -2), (0, 1)) - x


def both_ends(x: Any, y: Any, t: float) -> Any:
    x[...] = x * t + y
    z = x - y
    y[:, ::2] = z[:, ::2] * 2
    return x + y + z


PROGRAMS = heat, oscillator, softmax, rolled, both_ends


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_loop_is_planned_once(program: Callable[..., Any], planned: list[int]) -> None:
    counts = []
    for i in range(10):
        x, y, t = data(i), data(i + 10), 0.1 + i
        made = program(creation.array(x), creation.array(y), t)
        np.testing.assert_array_equal(np.array(made.__array__()), program(x, y, t), strict=True)
        counts.append(len(planned))
    assert (
        0 < counts[1] <= counts[-1] <= counts[1] + 2
    )  # a thread that comes late may still hold what could be written over


def test_one_array_given_twice_is_no_plan_for_two(planned: list[int]) -> None:
    def program(x: Any, y: Any) -> Any:
        return np.exp(x * 2 + y) + y

    for i in range(3):
        x, y = data(i), data(i + 10)
        a, b = creation.array(x), creation.array(y)
        for given, plain in (((a, b), (x, y)), ((a, a), (x, x)), ((a, a[:]), (x, x)), ((b, a), (y, x))):
            np.testing.assert_array_equal(np.array(program(*given).__array__()), program(*plain), strict=True)


@pytest.mark.parametrize("offset", [0, 1, 2, 4, 6])
def test_where_an_array_begins_is_part_of_the_plan(offset: int) -> None:
    """An element that lies across words is nothing for a kernel."""
    memory = np.zeros(8 * 4000 + 16, np.uint8)
    for shift in (0, offset, 0, offset):
        x = memory[shift : shift + 8 * 4000].view(np.float64)
        x[:] = np.arange(4000) / 7
        a = creation.asarray(x)
        made = (a * 2 + a) - 1
        np.testing.assert_array_equal(np.array(made.__array__()), (x * 2 + x) - 1, strict=True)


def test_what_is_held_is_part_of_the_plan() -> None:
    x = data(0)
    for hold in (False, True, False, True):
        a = creation.array(x)
        b = a * 2
        c = b + 1
        if not hold:
            del b
        np.testing.assert_array_equal(np.array(c.__array__()), x * 2 + 1, strict=True)
        if hold:
            np.testing.assert_array_equal(np.array(b.__array__()), x * 2, strict=True)


def test_what_is_recorded_after_an_interrupted_look_is_of_the_same_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The array that was looked at may be gone by then, and its value still be read."""
    keep, plan = blocks._keep, block_plans.plan

    def interrupted(*args: Any) -> Any:
        monkeypatch.setattr(blocks, "_keep", keep)
        monkeypatch.setattr(block_plans, "plan", plan)
        raise KeyboardInterrupt

    monkeypatch.setattr(blocks, "_keep", interrupted)
    monkeypatch.setattr(block_plans, "plan", interrupted)
    x = creation.array(data(0))
    x += 1
    with pytest.raises(KeyboardInterrupt):
        float(x.sum())
    x = x * 2
    assert (np.asarray(x) == (data(0) + 1) * 2).all()


@pytest.mark.parametrize("in_threads", [False, True])
def test_what_has_been_computed_holds_no_arrays(monkeypatch: pytest.MonkeyPatch, in_threads: bool) -> None:
    """NumPy's error state of a block is remembered beyond it."""
    monkeypatch.setattr(tape, "IN_THREADS", 0 if in_threads else 1 << 60)
    begun: list[Any] = []
    listening = blocks._listening
    monkeypatch.setattr(
        blocks, "_listening", lambda block, now: begun.append(weakref.ref(block)) or listening(block, now)
    )
    monkeypatch.setattr(kernels, "HOT", 1 << 60)
    x = np.random.default_rng(0).normal(size=(2, 300, 300))
    for t in range(3):
        inner, moved = creation.array(x)[:, 1:-1, 1:-1], creation.array(x)[:, 2:, :-2]
        made = (
            inner + moved
        ) * t + 1  # rows, for which NumPy's buffers are made shorter, in the error state that is in force
        assert made[1, 0, 0] == (x[1, 1, 1] + x[1, 2, 0]) * t + 1
    end = time.monotonic() + 10
    while begun[-1]() is not None and time.monotonic() < end:  # a thread that comes late has it for a moment
        time.sleep(0.01)
    assert begun[-1]() is None


def test_numbers_are_no_part_of_a_plan(planned: list[int]) -> None:
    x = data(1)
    for i, number in enumerate((1.5, -0.0, 2.5, np.float64(3.5), float("inf"), 1e-300, 7.25)):
        with np.errstate(invalid="ignore"):
            made = np.sqrt(creation.array(x) * number * 0 + 2) - number
            expected = np.sqrt(x * number * 0 + 2) - number
        assert np.array(made.__array__()).tobytes() == expected.tobytes(), i
    assert len(planned) <= 3  # Python's numbers, and NumPy's


def test_plans_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_PLANS", 5)
    for n in range(100, 120):
        x = np.arange(float(n))
        np.testing.assert_array_equal(np.array((creation.array(x) * 2 + 1).__array__()), x * 2 + 1)
        assert len(blocks._plans) <= 5


def test_calls_that_stay_alone_are_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block of one call, in the thread that asks, takes longer than the call; with others it is worth it again, once it has a plan."""
    monkeypatch.setattr(tape, "IN_THREADS", 1 << 60)
    scope: dict[str, Any] = {}
    exec("def call(x):\n    return x * 3", scope)  # a place of its own
    call = scope["call"]
    for name, number in (("ALONE", 4), ("AGAIN", 8)):
        monkeypatch.setattr(nodes, name, number)
    assert default.min_size == 1
    x = creation.array(data(2))
    recorded = []
    for _ in range(28):
        made = call(x)
        recorded.append(type(made._v) is Node)
        assert made[2, 3] == x[2, 3] * 3
    assert recorded == [True] * 4 + [False] * 7 + [True] + [False] * 15 + [True]
    smaller = call(x[1:])
    assert type(smaller._v) is not Node
    for _ in range(3):
        while type((made := call(x))._v) is not Node:
            pass
        assert (made + 1)[2, 3] == x[2, 3] * 3 + 1
    assert type(call(x)._v) is Node


def test_a_loop_in_one_block_counts_as_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its calls at one place are many, and its first block has no plan yet."""
    monkeypatch.setattr(tape, "IN_THREADS", 1 << 60)
    monkeypatch.setattr(nodes, "ALONE", 4)
    scope: dict[str, Any] = {}
    exec("def call(x):\n    for _ in range(12):\n        x = x * 3 + 1\n    return x", scope)
    call, x = scope["call"], creation.array(data(2))
    for _ in range(12):
        made = call(x)
        assert type(made._v) is Node
        assert np.isfinite(float(made[2, 3]))


def test_a_place_that_records_no_small_arrays_records_larger_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tape, "IN_THREADS", 1 << 60)
    monkeypatch.setattr(nodes, "ALONE", 4)
    scope: dict[str, Any] = {}
    exec("def call(x):\n    return x * 3", scope)
    call = scope["call"]
    x, larger = creation.array(data(2)), creation.array(np.concatenate([data(2)] * 2))
    for _ in range(6):
        assert call(x)[2, 3] == x[2, 3] * 3
    assert type(call(x)._v) is not Node
    assert type(call(larger)._v) is Node
    np.testing.assert_array_equal(np.array(call(larger).__array__()), np.concatenate([data(2)] * 2) * 3)


def test_a_block_of_a_loop_is_of_whole_rounds() -> None:
    """Whatever comes before the loop; else its plan would be another each time."""
    one, two, three, first = (SimpleNamespace(func=i, span=(), dtype=None) for i in range(4))
    forms: Any = [one, two, two, three] * 31
    assert blocks.whole_rounds(forms, 200) == 200
    assert blocks.whole_rounds([first, first, first, *forms], 200) == 199
    assert blocks.whole_rounds([*forms, first], 200) == 200
    assert blocks.whole_rounds(forms[:8], 5) == 8
    long: Any = [SimpleNamespace(func=10 + i, span=(), dtype=None) for i in range(60)]
    assert blocks.whole_rounds([first, *long, *long, *long[:7]], 200) == 181
    assert blocks.whole_rounds([*long, first, *long[::-1], first], 200) == 200
    longer: Any = [SimpleNamespace(func=100 + i, span=(), dtype=None) for i in range(77)]
    assert blocks.whole_rounds([first, *longer, *longer[:50]], 200) == 155
    assert blocks.whole_rounds([first, *longer, *longer[:30]], 200) == 200
    assert blocks.whole_rounds([*longer, *longer, *longer[:46]], 200) == 231
    assert blocks.whole_rounds(longer * 3, 200) == 231
    longest: Any = [SimpleNamespace(func=200 + i, span=(), dtype=None) for i in range(150)]
    assert blocks.whole_rounds([*longest, *longest[:50]], 200) == 300
    assert blocks.whole_rounds([*longest, *longest, *longest[:100]], 200) == 400


@pytest.mark.parametrize("calls", [30, 77, 153])
def test_blocks_of_a_loop_have_few_plans(calls: int, planned: list[int]) -> None:
    """However long its round is."""
    functions = [(np.add, np.subtract, np.multiply)[k % 3 if k % 7 else (k // 7) % 2] for k in range(calls)]

    def computed(x: Any) -> Any:
        for _ in range(2000 // calls):
            for k, function in enumerate(functions):
                x = function(x, 1 + k / 1000)
        return x

    np.testing.assert_array_equal(computed(creation.array(data(2))).__array__(), computed(data(2)))
    assert len(planned) <= 5, planned


def test_code_in_a_dict_of_its_own_does_not_keep_the_dict() -> None:
    x, held = creation.array(data(2)), []
    for _ in range(20):
        scope: dict[str, Any] = {"x": x}
        exec("y = x * 3 + 1\nz = float(y[2, 3])", scope)
        held.append(weakref.ref(scope["y"]))
        del scope
    assert sum(each() is not None for each in held) < 10


def test_what_is_recorded_does_not_depend_on_when_a_kernel_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block whose plan is made again, with a kernel, is as well known as before: a machine with more to do has kernels later."""
    monkeypatch.setattr(tape, "IN_THREADS", 1 << 60)
    monkeypatch.setattr(nodes, "ALONE", 3)
    monkeypatch.setattr(kernels, "HOT", 1 << 60)
    scope: dict[str, Any] = {}
    exec("def call(x):\n    return x * 3 + x - 1", scope)  # places of their own
    call, x = scope["call"], creation.array(data(2))
    counted = 0

    def is_ready(cold: Any) -> bool:
        nonlocal counted
        counted += 1
        return counted < 8

    monkeypatch.setattr(kernels, "counted", is_ready)
    recorded = []
    for _ in range(20):
        made = call(x)
        recorded.append(type(made._v) is Node)
        assert made[2, 3] == x[2, 3] * 3 + x[2, 3] - 1
    assert all(recorded), recorded
    assert counted > 10 or not kernels.can_compile()
