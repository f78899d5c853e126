"""Reductions under fused execution: NumPy's own bits, types and warnings, whatever the pieces."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from arraydispatch.api import creation
from arraydispatch.array import Array
from arraydispatch.common.members import REDUCTIONS
from arraydispatch.engine.host_blocks import block_plans, blocks
from arraydispatch.engine.nodes import Node
from arraydispatch.engine.recording import tape
from arraydispatch.fastpath import recorded

pytestmark = pytest.mark.usefixtures("fused")

_RNG = np.random.default_rng(5)
GIVEN = {
    "line": _RNG.normal(size=4099) * 10.0 ** _RNG.integers(-8, 8, 4099),
    "square": _RNG.normal(size=(70, 61)),
    "fortran": np.asfortranarray(_RNG.normal(size=(70, 61))),
    "cube": _RNG.normal(size=(50, 6, 11)),
    "short": _RNG.normal(size=(40, 30, 3)),
    "wide": _RNG.normal(size=(3, 2000)),
    "zeros": np.where(np.arange(3000) % 2 == 0, 0.0, -0.0),
    "gaps": np.where(np.arange(3000) % 700 == 3, np.nan, 1.0),
}
DTYPES = "float64", "float32", "complex128", "complex64", "int64", "int32", "uint8", "bool"
AXES = (None, -1, 1, 0, (1,), (0, 1), (1, 2), (2, 1), (0, 1, 2), 7, (1, 1))
CALLS: dict[str, Callable[..., Any]] = {
    "sum": lambda x, **k: x.sum(**k),
    "np.sum": np.sum,
    "max": lambda x, **k: x.max(**k),
    "np.min": np.min,
    "np.amax": np.amax,
    "mean": lambda x, **k: x.mean(**k),
    "np.mean": np.mean,
    "var": lambda x, **k: x.var(**k),
    "std": lambda x, **k: np.std(x, ddof=1, **k),
}


def outcome(call: Callable[[Any], Any], x: Any) -> Any:
    """What a call returns or raises, and what it warns of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            made = call(x)
            if isinstance(made, Array):
                host = np.array(made.__array__())
                found: Any = "array", host.dtype, host.shape, made.strides, host.tobytes()
            elif isinstance(made, np.ndarray):
                found = "array", made.dtype, made.shape, made.strides, made.tobytes()
            else:
                found = type(made), made.tobytes()
        except Exception as error:
            found = type(error), str(error)
    return found, sorted(str(each.message) for each in told)


@pytest.mark.parametrize("fused", ["threads"], indirect=True)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("call", CALLS)
def test_as_numpy(call: str, dtype: str) -> None:
    """Of values that are there, and of what is still to be computed."""
    wrong = []
    for name, x in GIVEN.items():
        if dtype != "float64" and name == "gaps":
            continue
        with np.errstate(all="ignore"):
            given = x.astype(dtype, order="K") * (1 + 1j if dtype.startswith("complex") else 1)
        for axis in AXES:
            for keepdims in ({}, {"keepdims": True}):
                said = keepdims | ({} if axis is None else {"axis": axis})
                for before in (lambda z: z, lambda z: z + z, abs):

                    def run(z: Any, before: Any = before, said: Any = said) -> Any:
                        return CALLS[call](before(z), **said)

                    if outcome(run, creation.array(given)) != (expected := outcome(run, given)):
                        wrong.append((name, said, expected))
    assert not wrong


def test_what_is_reduced_is_used_again() -> None:
    """By calls on the same rows, on others, and on what the reduction came from."""

    def chain(x: Any, y: Any) -> list[Any]:
        softmax = np.exp(x - x.max(axis=1, keepdims=True))
        softmax = softmax / softmax.sum(axis=1, keepdims=True)
        apart = x - x.mean(axis=1, keepdims=True)
        distance = ((y[:, None, :] - y[None, :, :]) ** 2).sum(axis=2)
        crossed = (x[:61] + x[:61].sum(axis=1)) * 2  # a row of sums, though each is of another row
        return [
            softmax,
            apart,
            apart.std(axis=1),
            distance,
            np.sqrt(distance + 0.1).sum(axis=1),
            crossed,
            (x * 2).sum() * x,
        ]

    given = GIVEN["square"], GIVEN["short"][:, 0]
    for made, expected in zip(chain(*map(creation.array, given)), chain(*given), strict=True):
        assert np.array(made.__array__()).tobytes() == expected.tobytes()


@pytest.mark.parametrize("reduce", [np.max, np.min, np.sum, np.mean])
def test_a_reduction_of_no_elements_is_not_recorded(reduce: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tape, "IN_THREADS", 0)
    for part in (np.s_[2:1], np.s_[2:1, :0]):
        x = creation.array(GIVEN["square"])
        pending = x * 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert outcome(reduce, x[part]) == outcome(reduce, GIVEN["square"][part])
            assert outcome(reduce, x[part] * 2) == outcome(reduce, GIVEN["square"][part])
        x[0] = 1  # runs what is pending
        assert outcome(lambda z: z + 0, pending) == outcome(lambda z: z * 2, GIVEN["square"])


def test_what_nobody_holds_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum of what only it sees needs no memory for that; what a name holds is there afterwards."""
    assert recorded._count_of("method") is not None
    tells = recorded._count_of("function") is not None
    assert tells or sys.version_info >= (3, 14)  # where a call borrows a name's reference, as if nobody held the array
    monkeypatch.setattr(tape, "IN_THREADS", 0)  # what is not planned has a value of its own at each step
    made: list[tuple[int, ...]] = []
    memory = blocks._memory
    monkeypatch.setattr(blocks, "_memory", lambda form: made.append(form.shape) or memory(form))
    x = creation.array(GIVEN["square"])
    for call in (
        lambda z: (z * 3).sum(axis=1),
        lambda z: np.sum(z * 3, axis=1),
        lambda z: (z * 3).mean(),
        lambda z: np.max(abs(z * 3)),
        lambda z: (z * 3).std(),
    ):
        made.clear()
        assert outcome(call, x) == outcome(call, GIVEN["square"])
        names = call.__code__.co_names
        assert (70, 61) not in made or "std" in names or ("np" in names and not tells)
    for hold in (lambda z: z.sum(axis=1), lambda z: np.sum(z, axis=1), lambda z: z.mean()):
        made.clear()
        held = x * 3
        outcome(hold, held)
        assert made.count((70, 61)) == 1
        assert np.array(held.__array__()).tobytes() == (GIVEN["square"] * 3).tobytes()


def test_pieces_are_those_of_the_pairwise_sum() -> None:
    for length in (1, 127, 128, 129, 1000, 4099, 65537):
        for unit in (1, 2):
            for longest in (1, 64, 300, 1 << 20):
                parts = list(block_plans.halves(length, unit, longest))
                assert sum(parts) == length
                assert max(parts) <= max(longest, block_plans.LEAST_SUMMED // unit)


def test_sums_along_axes_are_pending() -> None:
    x = creation.array(GIVEN["cube"])
    assert type((x * 2).sum(axis=2)._v) is Node
    assert type(x.sum(axis=0)._v) is not Node  # NumPy adds row by row: no piece is done before the last
    assert set(REDUCTIONS) >= {"sum", "mean", "max", "min", "var", "std"}


@pytest.mark.parametrize("how", ["method", "function"])
def test_a_finalizer_that_reduces_while_references_are_counted_gets_its_sum(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its calls are in the thread that counts, between the calls whose references are counted."""
    x, ask, found = creation.array(GIVEN["square"]), recorded._ask, []

    def interrupted(value: Any) -> None:
        monkeypatch.setattr(recorded, "_ask", ask)  # the calls here count references, too
        found.extend([(x * 2).sum(), np.sum(x * 2)])
        ask(value)
        found.append(np.max(x))

    counts = recorded._count_of(how)
    monkeypatch.setattr(recorded, "_known", {})
    monkeypatch.setattr(recorded, "_ask", interrupted)
    monkeypatch.setattr(tape, "IN_THREADS", 0)
    assert recorded._count_of(how) == counts
    double = (GIVEN["square"] * 2).sum()
    np.testing.assert_allclose([float(each) for each in found], [double, double, GIVEN["square"].max()], rtol=1e-12)
