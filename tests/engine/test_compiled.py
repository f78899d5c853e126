"""Compiled execution leaves what NumPy leaves, and compiles few programs for it."""

from __future__ import annotations

import copy
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.array.scalar import Scalar
from arraydispatch.engine.compiled_blocks import programs, tapes
from arraydispatch.engine.compiled_blocks.counters import counters
from arraydispatch.engine.compiled_blocks.values import Deferred
from arraydispatch.engine.recording import block_reports

LIBRARIES = "jax", "torch", "tensorflow"


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, nobody_listens: None) -> Iterator[str]:
    """Compiled execution on a library; PyTorch's own compiler, which takes seconds for each program, is not asked."""
    name = request.param
    module = ad.backend(name).transforms
    before = getattr(module, "compiler", None)
    if before is not None:
        module.compiler = "eager"
    programs.forget()
    programs._of_place.clear()
    counters.clear()
    with ad.backend(name), ad.execution("compiled"):
        yield name
    if before is not None:
        module.compiler = before


def _pending(x: Any) -> bool:
    return isinstance(x._v, Deferred) and x._v.tape is not None


def _same(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-12, atol=1e-12)
    assert ours.dtype == theirs.dtype


def _heat(u: Any) -> Any:
    for _ in range(40):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


def _rows(u: Any) -> Any:
    for t in range(1, u.shape[0]):
        u[t] = u[t - 1] * 1.01 + t
    return u


def _elements(u: Any) -> Any:
    for i in range(1, 30):
        u[i, 3] = u[i - 1, 2] + u[i, 1]
    return u


def _out(u: Any) -> Any:
    part = u[::2]
    np.multiply(part, 2.0, out=part)
    np.add(u, 1.0, out=u, where=u > 0.5)
    u[u > 2.5] = -1.0
    u[[0, 3], [1, 2]] = 7.0
    np.copyto(u[1], u[0])
    u.T[2] -= u.T[1]
    return u


def _functions(u: Any) -> Any:
    made = np.roll(u, 3, axis=0) + np.einsum("ij,kj->ik", u, u) + np.median(u, axis=1, keepdims=True)
    made = np.where(made > 1.0, np.clip(made, 0.0, 2.0), np.cumsum(made, axis=1))
    return np.linalg.solve(made + 50.0 * np.eye(len(made)), np.sort(u, axis=0))


PROGRAMS = _heat, _rows, _elements, _out, _functions


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_leave_what_numpy_leaves(library: str, program: Callable[[Any], Any]) -> None:
    values = np.random.default_rng(0).random((32, 32))
    ours = program(ad.asarray(values))
    _same(ours, program(values.copy()))


def test_calls_are_pending_until_somebody_looks(library: str) -> None:
    a = ad.asarray(np.arange(12.0).reshape(3, 4))
    b = np.sin(a) * 2 + np.roll(a, 1)
    assert _pending(b)
    assert (b.shape, b.dtype, b.strides, b.backend.name) == ((3, 4), np.dtype(float), (32, 8), library)
    assert _pending(b)
    total = b.sum()
    assert isinstance(total, Scalar) and _pending(total)
    half = total / 2
    assert _pending(half)
    assert float(half) == pytest.approx((np.sin(np.arange(12.0)) * 2 + np.roll(np.arange(12.0), 1)).sum() / 2)
    assert not _pending(half)


def test_a_turn_at_a_tape_is_known_while_it_lasts(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launcher has handlers of signals wait by it, also where the modules are compiled and have no frames."""
    seen: list[bool] = []

    class Run(programs.Run):
        def results(self) -> Any:
            seen.append(tapes.is_in_between())
            return super().results()

    monkeypatch.setattr(tapes, "Run", Run)
    x = ad.asarray(np.arange(4.0)) * 2
    assert not tapes.is_in_between()
    assert x.tolist() == [0, 2, 4, 6]
    assert seen and all(seen)
    assert not tapes.is_in_between()


def test_a_loop_is_few_programs_and_none_later(library: str) -> None:
    u = ad.asarray(np.random.default_rng(0).random((16, 16)))
    _heat(u)
    _heat(u)
    float(u.sum())
    made = counters.programs
    _heat(u)
    _heat(u)
    float(u.sum())
    assert 0 < made <= 6
    assert counters.programs - made <= 1


def test_a_program_ends_where_little_is_read_later(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names hold as much before the first roll as before the third; only what the next round begins with is read there."""
    monkeypatch.setattr(tapes, "_rounds", set())
    monkeypatch.setattr(tapes, "_waits", {})
    monkeypatch.setattr(tapes, "_lengths", [])
    values = np.random.default_rng(0).integers(0, 2, (40, 40)).astype(np.int8)

    def run(cells: Any) -> Any:
        for _ in range(40):
            rows = np.roll(cells, 1, 0) + cells + np.roll(cells, -1, 0)
            around = np.roll(rows, 1, 1) + rows + np.roll(rows, -1, 1) - cells
            cells = ((around == 3) | ((cells == 1) & (around == 2))).astype(np.int8)
        return cells

    _same(run(ad.asarray(values)), run(values))
    (units,) = tapes._rounds
    assert units[0].name is np.roll
    assert units[-1].name not in (np.roll, np.add, np.subtract)


def test_rows_written_one_after_the_other_are_one_program(library: str) -> None:
    u = ad.asarray(np.zeros((400, 3)))
    _rows(u)
    assert counters.programs <= 4  # the first rows, all others, these once more to write over an operand, and the end
    assert counters.refused == 0


def test_numbers_are_operands_and_no_part_of_programs(library: str) -> None:
    a = ad.asarray(np.ones(8))
    for t in range(40):
        a = a * (1.0 + t / 100.0) - t
        float(a[0])
    assert counters.programs <= 2


def test_an_if_synchronises_once_a_step(library: str) -> None:
    x, steps = ad.asarray(np.full(64, 100.0)), 0
    with ad.profile():
        while True:
            new = x * 0.5 + 1.0
            error = abs(new - x).max()
            x = new
            steps += 1
            if error < 1e-3:
                break
    assert sum(counters.synchronisations.values()) == steps
    assert all("test_compiled.py" in line for line in counters.synchronisations)
    assert counters.programs <= 2


def test_conjugate_gradients_never_synchronise(library: str) -> None:
    rng = np.random.default_rng(0)
    m = rng.random((16, 16))
    matrix, b = m @ m.T + 16 * np.eye(16), rng.random(16)

    def solved(matrix: Any, b: Any) -> Any:
        x = np.zeros_like(b)
        r = b - matrix @ x
        p, rr = r, r @ r
        for _ in range(12):
            q = matrix @ p
            alpha = rr / (p @ q)
            x = x + alpha * p
            r = r - alpha * q
            new = r @ r
            p, rr = r + new / rr * p, new
        return x

    ours = solved(ad.asarray(matrix), ad.asarray(b))
    assert not counters.synchronisations
    np.testing.assert_allclose(np.asarray(ours), solved(matrix, b), rtol=1e-9)


def test_what_values_decide_is_numpys_at_its_line(library: str) -> None:
    a = ad.asarray(np.zeros((2, 2))) + 1
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.inv(a - a)
    with pytest.raises(IndexError):
        a[np.array([5])]
    with pytest.raises(ValueError, match="broadcast"):
        a + ad.asarray(np.zeros(3))
    _same(np.nonzero(a - np.eye(2))[0], np.nonzero(np.ones((2, 2)) - np.eye(2))[0])
    assert float((a * 3).sum()) == 12.0


def test_shapes_that_always_change_are_not_compiled_for_ever(library: str) -> None:
    a = ad.asarray(np.arange(60.0))
    for n in range(1, 20):
        for _ in range(4):
            float((a[:n] * 2 + 1).sum())
    assert counters.programs <= programs.MOST_OF_A_PLACE + 2
    assert counters.refused


def test_a_copy_is_made_by_the_first_write(library: str) -> None:
    values = np.random.default_rng(0).random((8, 8))
    a = ad.asarray(values) * 2
    before = counters.calls
    copies = [a.copy(), np.copy(a), np.copy(a, order="F"), copy.deepcopy(a), a.T.copy().T]
    assert counters.calls - before <= 2  # to transpose, and back
    copies[0][1] = 7.0
    a[2] = 5.0
    changed, written = values * 2, values * 2
    changed[1], written[2] = 7.0, 5.0
    _same(copies[0], changed)
    _same(a, written)
    for each in copies[1:]:
        _same(each, values * 2)


def test_what_nobody_wants_is_not_computed(library: str) -> None:
    a = ad.asarray(np.ones(4))
    b = a + 1
    for _ in range(5):
        np.exp(a * 100)
    blocks = counters.elements["call"] + counters.elements["program"]
    float(b[0])
    assert counters.elements["call"] + counters.elements["program"] - blocks <= 4 + 1 + 1


def test_arrays_outlive_the_block_and_those_from_before_take_part(library: str) -> None:
    with ad.execution("eager"):
        before = ad.asarray(np.arange(4.0))
    made = before * 2 + ad.asarray(np.ones(4))
    view = made[1:]
    with ad.execution("eager"):
        assert not _pending(made)
        _same(made, np.arange(4.0) * 2 + 1)
        view += 1
        _same(made * before, np.array([1.0, 4.0, 6.0, 8.0]) * np.arange(4.0))
    assert ad.backend(library).is_native(made.native)


def test_the_librarys_arrays_that_others_write_are_read_at_the_call() -> None:
    import torch

    given = torch.arange(4.0)
    with ad.backend("torch"), ad.execution("compiled"):
        made = ad.wrap(given) + ad.asarray(np.ones(4, np.float32))
        given[:] = 100
        _same(made, np.arange(4, dtype=np.float32) + 1)


def test_transforms_take_pending_arrays(library: str) -> None:
    a = ad.asarray(np.arange(4.0)) * 2
    captured = a + 1

    def f(x: Any) -> Any:
        return (x * captured).sum()

    _same(ad.grad(f)(a), np.arange(4.0) * 2 + 1)
    assert float(ad.jit(f)(a)) == pytest.approx(float((np.arange(4.0) * 2 * (np.arange(4.0) * 2 + 1)).sum()))


def test_a_tape_is_a_threads(library: str) -> None:
    a = ad.asarray(np.arange(6.0)) + 1
    made: list[Any] = []
    thread = threading.Thread(target=lambda: made.append(a * 2))
    thread.start()
    thread.join()
    _same(made[0] + a, (np.arange(6.0) + 1) * 3)


def test_two_threads_that_read_each_others_pending_values_do_not_wait_for_each_other(library: str) -> None:
    shared = [ad.asarray(np.arange(6.0)) + 1, ad.asarray(np.arange(6.0)) + 2]

    def work(mine: int) -> None:
        for _ in range(60):
            shared[mine] = (shared[1 - mine] + shared[mine]) * 0.5

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert float(shared[0][0] + shared[1][0]) > 0


def test_a_call_that_fails_fails_where_it_is_looked_at_and_spares_the_others(library: str) -> None:
    a = ad.asarray(np.arange(3.0))
    good, failing = a + 1, a * 2
    form = failing._v.tape.forms[-1]
    run, form.run = form.run, lambda *_: 1 / 0
    try:
        with pytest.raises(ZeroDivisionError):
            np.asarray(failing)
        _same(good, np.arange(3.0) + 1)
    finally:
        form.run = run
    with pytest.raises(ZeroDivisionError):
        np.asarray(failing + 1)
    _same(a * 2, np.arange(3.0) * 2)


def test_a_dead_operand_is_written_over_and_one_that_others_hold_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax")
    monkeypatch.setattr(programs, "_WORTH_DONATING", 0)
    monkeypatch.setattr(programs, "_DEAD_FOR", 2)
    monkeypatch.setattr(programs, "_REPAYS", 0)
    with ad.backend("jax"), ad.execution("compiled"):
        a, kept = ad.asarray(np.zeros(64)), []
        for step in range(40):
            a = a * 0.5 + 1.0
            view = a[::2]
            if step % 7 == 0:
                kept.append((step, a.native, a, view))
            float(a[0])
        donated = [block for block in programs.programs() if block.program is not None and block.program.donated]
        assert donated
        for step, native, array, view in kept:
            value = 2.0 - 2.0**-step
            _same(array, np.full(64, value))
            _same(view, np.full(32, value))
            np.testing.assert_allclose(np.asarray(native), value)


def test_numbers_that_were_equal_may_differ_later(library: str) -> None:
    a = ad.asarray(np.arange(8.0))
    for step in range(8):
        x, y = 2.0, (2.0 if step < 5 else 3.0 + step)
        made = (a * x + 1.0) * y
        _same(made, (np.arange(8.0) * x + 1.0) * y)
    assert counters.programs <= 2


FROM_BEFORE: dict[str, Callable[[Any], Any]] = {
    "in place": lambda u: u.__iadd__(u * 0.5),
    "a view in place": lambda u: u[1:-1].__iadd__(u[2:] * 0.5),
    "out": lambda u: np.add(u, u * 0.1, out=u),
    "out of a function": lambda u: np.cumsum(u * 2, axis=0, out=u),
    "out of a reduction": lambda u: np.add.reduce(u * 2, axis=0, out=u[0]),
    "out of two": lambda u: np.divmod(u * 1, 0.3, out=(u, u * 1)),
    "where": lambda u: np.add(u, u * 2, where=u > 0.5, out=u),
    "at": lambda u: np.add.at(u, ([0, 0, 1],), u[:3] * 3),
    "mask": lambda u: u.__setitem__(u > 0.5, (u * 0.5)[u > 0.5]),
    "put": lambda u: np.put(u, [1, 2], (u * 3).ravel()[:2]),
    "matmul": lambda u: np.matmul(u * 1, u * 1, out=u),
}


@pytest.mark.parametrize("name", FROM_BEFORE)
@pytest.mark.filterwarnings("ignore::arraydispatch.HostFallbackWarning")
def test_arrays_from_before_are_written(name: str, library: str) -> None:
    values = np.random.default_rng(0).random((8, 8))
    with ad.execution(None):
        u = ad.asarray(values.copy())
        view = u[1:]
    FROM_BEFORE[name](u)
    want = values.copy()
    FROM_BEFORE[name](want)
    _same(u * 1.0, want)
    _same(view, want[1:])


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "an element": lambda a, s: a.__setitem__(1, s),
    "a slice": lambda a, s: a.__setitem__(slice(0, 2), s),
    "an empty slice": lambda a, s: a.__setitem__(slice(0, 0), s),
    "indices": lambda a, s: a.__setitem__([0, 1], s),
    "a mask": lambda a, s: a.__setitem__(a > 0, s),
    "a view": lambda a, s: a[1:].__setitem__(..., s),
    "a list": lambda a, s: a.__setitem__(slice(0, 2), [s, s]),
    "an array": lambda a, s: a.__setitem__(slice(0, 2), (s * a)[:2]),
    "fill": lambda a, s: a.fill(s),
    "copyto": lambda a, s: np.copyto(a, s, casting="unsafe"),
    "put": lambda a, s: np.put(a, [0], s),
    "putmask": lambda a, s: np.putmask(a, a > 0, s),
    "place": lambda a, s: np.place(a, a > 0, s),
    "flat element": lambda a, s: a.flat.__setitem__(0, s),
    "flat": lambda a, s: setattr(a, "flat", s),
    "insert": lambda a, s: np.insert(a, 0, s),
}


def _outcome(write: Callable[[Any, Any], Any], a: Any, s: Any) -> Any:
    try:
        made = write(a, s)
    except Exception as error:
        return type(error), np.asarray(a).tolist()
    return None if made is None else np.asarray(made).tolist(), np.asarray(a).tolist()


@pytest.mark.one_backend
@pytest.mark.parametrize("name", WRITES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.filterwarnings("ignore::arraydispatch.HostFallbackWarning")
def test_pending_scalars_are_written_into_integers_as_numpys_are(name: str, library: str) -> None:
    """Of a scalar NumPy looks at the number: a NaN is no integer."""
    for target in ("int64", "uint8", "bool"):
        for number in (np.nan, np.inf, 2.7):
            for dtype in (np.float64, np.float32, complex):
                values = np.array([1, 0, 3, 4]).astype(target)
                found = ad.asarray(np.array([number], dtype))
                ours = found.sum() if dtype is complex else found.max()
                assert _pending(ours)
                theirs = _outcome(WRITES[name], values.copy(), np.array([number], dtype)[0])
                assert _outcome(WRITES[name], ad.asarray(values), ours) == theirs, (target, number, dtype)


def test_a_pending_number_is_a_flag_and_a_degree_by_its_value(library: str) -> None:
    a = np.arange(6.0).reshape(2, 3)
    ours = ad.asarray(a)
    for value in (0, 1):
        number, flag = ad.asarray(np.array(value + 1)) - 1, ad.asarray(np.array(value + 1)) > 1
        assert np.shape(np.sum(ours, keepdims=number)) == np.shape(np.sum(a, keepdims=value))
        assert np.shape(np.linalg.svd(ours, full_matrices=flag)[2]) == np.linalg.svd(a, full_matrices=value)[2].shape
        _same(np.diff(ours, number), np.diff(a, value))
        _same(np.std(ours, ddof=number), np.std(a, ddof=value))
    assert hash(ours._v) == hash(ours._v)


def test_blocks_of_a_second_run_are_those_of_the_first(library: str) -> None:
    """Rounds of a loop that is known are blocks of their own, from the first run on."""
    start = np.random.default_rng(0).random((1500, 1500))

    def run() -> float:
        u = ad.asarray(start)
        for _ in range(12):
            left, right = np.roll(u, 1, 0), np.roll(u, -1, 0)
            u = u + 0.1 * (left + right - 2 * u)
        return float(u.sum())

    seen: list[int] = []
    results = []
    for _ in range(3):
        results.append(run())
        seen.append(len(programs._blocks))
    assert seen[1] - seen[0] <= 1
    assert seen[2] == seen[1]
    assert results[0] == pytest.approx(results[1], rel=1e-12)
    assert results[1] == pytest.approx(results[2], rel=1e-12)


def test_a_tape_runs_in_parts_and_a_failure_spares_the_others(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later part reads what an earlier one made, though nobody else has it; what failed there fails here."""
    a = ad.asarray(np.arange(6.0))
    good, kept = a * 2.0 + 1.0, a - 5.0
    tape = kept._v.tape
    bad = np.exp(a)
    failing = tape.forms[-1]
    later = bad + good
    fine = good * kept
    run, failing.run = failing.run, lambda *_: 1 / 0
    try:
        tape.run(3)
        assert len(tape.calls) == 3
        _same(fine, (np.arange(6.0) * 2 + 1) * (np.arange(6.0) - 5))
        with pytest.raises(ZeroDivisionError):
            np.asarray(later)
    finally:
        failing.run = run
    _same(good + np.exp(a), np.arange(6.0) * 2 + 1 + np.exp(np.arange(6.0)))


def test_a_program_writes_over_operands_only_where_that_saves_traffic(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax")
    monkeypatch.setattr(programs, "_REPAYS", 0)
    programs.forget()
    with ad.backend("jax"), ad.execution("compiled"):
        stencil, scaled = ad.asarray(np.arange(90_000.0).reshape(300, 300)), ad.asarray(np.ones(90_000))
        for _ in range(12):
            stencil = np.roll(stencil, 1, 1) + np.roll(stencil, -1, 0) * 0.5
            stencil._v.tape.run()
        for _ in range(12):
            scaled = scaled * 0.5 + 1.0
            scaled._v.tape.run()
    found = {block.avals[0].shape: block for block in programs.programs() if block.runs > programs._DEAD_FOR}
    assert found[90_000,].program.donated
    assert not found[300, 300].program.donated


@pytest.mark.slow
def test_rolled_arrays_are_read_in_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ad.backend("torch").transforms, "compiler", "inductor")  # whatever other tests have chosen
    x = np.random.default_rng(1).normal(size=(40, 50))
    given = x

    def step(u: Any) -> Any:
        return 0.2 * (np.roll(u, 1, 0) + np.roll(u, -3, 0) + np.roll(u, 1, 1) + np.roll(u, -1, (0, 1)) + u)

    programs.forget()
    programs._of_place.clear()
    with ad.backend("torch"), ad.execution("compiled"):
        u = ad.asarray(given)
        for _ in range(4):
            u, x = step(u), step(x)
            _same(u, x)
        assert [block.cost()["kernels"] for block in programs.programs()] == [1.0]


def test_a_dead_operand_of_few_rounds_is_worth_no_other_program(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax")
    programs.forget()
    monkeypatch.setattr(programs, "_REPAYS", 30 * 8 * 90_000)
    with ad.backend("jax"), ad.execution("compiled"):
        a, donated = ad.asarray(np.ones(90_000)), []
        for _ in range(40):
            a = a * 0.5 + 1.0
            a._v.tape.run()
            donated.append(any(block.program is not None and block.program.donated for block in programs.programs()))
    assert 28 < donated.index(True) < 34


def test_a_small_dead_operand_is_worth_no_other_program(library: str) -> None:
    a = ad.asarray(np.zeros(2000))
    for _ in range(20):
        a = a * 0.5 + 1.0
        float(a[0])
    assert not any(block.program is not None and block.program.donated for block in programs.programs())


@pytest.mark.parametrize(
    "product",
    [
        lambda a, v, w: a.T @ v, lambda a, v, w: w @ a.T, lambda a, v, w: np.matmul(a.T, v), lambda a, v, w: a.T[1:] @ v,
        lambda a, v, w: np.asfortranarray(a) @ w, lambda a, v, w: a.T @ np.stack([v, v], 1), lambda a, v, w: a.T[::-1] @ v,
        lambda a, v, w: a @ w, lambda a, v, w: v @ a, lambda a, v, w: a.T.dot(v), lambda a, v, w: np.dot(w, a.T), lambda a, v, w: np.dot(a.T, 2),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [float, np.float32, complex, int])
def test_products_of_transposed_matrices(product: Any, dtype: Any, library: str) -> None:
    a, v, w = np.arange(12.0).reshape(4, 3).astype(dtype), np.arange(4).astype(dtype), np.arange(3).astype(dtype)
    _same(product(*map(ad.asarray, (a, v, w))), product(a, v, w))


def test_a_transposed_matrix_times_a_vector_is_no_copy_of_the_matrix() -> None:
    pytest.importorskip("jax")
    programs.forget()
    with ad.backend("jax"), ad.execution("compiled"):
        a, v = ad.asarray(np.ones((300, 200))), ad.asarray(np.arange(300.0))
        np.asarray(a.T @ v)
        np.asarray(ad.asarray(np.ones(200)) @ a.T)
        np.asarray(a.T.dot(v))
    names = [form.unit.name for block in programs.programs() for form in block.forms]
    assert names == ["matmul", "matmul", np.dot]
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        a.T @ v[1:]
    with pytest.raises(ValueError, match=r"shapes \(200,300\) and \(299,\) not aligned"):
        a.T.dot(v[1:])


@pytest.mark.parametrize("step", [1, 2, 3, 7])
def test_most_of_an_array_is_written(step: int, library: str) -> None:
    """XLA's programs choose each element of such a write."""

    def write(u: Any) -> Any:
        u[1:-1:step, 1:-2:step] = (u[:-2:step, 1:-2:step] + u[2::step, 1:-2:step]) * 0.5
        u[::step] += 1
        u[:, 1::step] = 3
        u[0] = np.nan
        return u

    u = np.arange(90.0).reshape(9, 10)
    _same(write(ad.asarray(u.copy())), write(u.copy()))


def test_arrays_of_a_namespace_take_part(library: str) -> None:
    """Also those that the namespace makes of the host's numbers."""
    a = ad.asarray(np.arange(3.0)) * 2
    xp = a.__array_namespace__()
    made = xp.broadcast_to(xp.asarray(a), (np.int64(2), np.int64(3)))
    _same(made, np.broadcast_to(np.arange(3.0) * 2, (2, 3)))
    assert float(xp.sum(xp.asarray([1, 2, 3]) + xp.asarray(np.int64(4)))) == 18


def test_host_values_lie_as_strides_say(library: str) -> None:
    """Also where a program makes one number of them, spread, or a matrix that is transposed."""
    for made in (
        np.broadcast_to(ad.asarray(np.arange(3.0)), (4, 3)).copy(),
        np.zeros_like(ad.asarray(np.ones(16, np.int8))),
        np.add(ad.asarray(np.arange(6.0).reshape(2, 3)).T, 1, order="C"),
    ):
        assert np.asarray(made).strides == made.strides
        assert np.asarray(made[1:]).strides == made[1:].strides
    zeros = np.zeros_like(ad.asarray(np.ones(16, np.int8)))
    assert zeros[4:12].copy().view(np.float64).tolist() == [0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ad.HostFallbackWarning)
        assert zeros.copy()[1:9].view(np.float64).tolist() == zeros[1:9].copy()[:].view(np.float64).tolist() == [0.0]


def test_constants_keep_digits_that_floats_have_not(library: str) -> None:
    a = np.arange(4)
    made = np.pad(ad.asarray(a) * 2, 1, constant_values=2**63 - 1)
    assert made.tolist() == np.pad(a * 2, 1, constant_values=2**63 - 1).tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda a, i: np.histogram(a, 3, i(np.array([1.0, 40.0]))),
        lambda a, i: np.histogramdd(a.reshape(-1, 2), i(np.array([2, 3])), i(np.array([[1.0, 40.0], [0.0, 50.0]]))),
        lambda a, i: np.roll(a, i(np.array([1, 2])), axis=i(np.array([0, 1]))),
        lambda a, i: np.full_like(a, 3, shape=i(np.array([2, 5]))),
        lambda a, i: np.resize(a, i(np.array([2, 5]))),
        lambda a, i: np.unravel_index(i(np.array([1, 5])), i(np.array([2, 6]))),
        lambda a, i: np.tensordot(a, a.T, axes=i(np.array([1]))[0]),
        lambda a, i: np.fft.fftn(a, s=i(np.array([4])), axes=i(np.array([1]))),
        lambda a, i: np.fft.fftshift(a, axes=i(np.array([1]))),
        lambda a, i: np.unwrap(a, period=i(np.array([4.0]))[0]),
        lambda a, i: np.einsum(a, i(np.array([0, 1])), i(np.array([1, 0]))),
        lambda a, i: np.linalg.matrix_power(a[:3, :3], i(np.array([3]))[0]),
        lambda a, i: np.linalg.tensorinv(np.eye(4).reshape(2, 2, 2, 2) + 0 * a[0, 0], ind=i(np.array([2]))[0]),
        lambda a, i: np.linalg.norm(a, axis=tuple(i(np.array([0, 1])))),
        lambda a, i: np.sum(a, initial=i(np.array([2.0]))[0]),
    ],
)  # fmt: skip
def test_arrays_are_sequences_and_numbers_where_a_function_wants_those(library: str, call: Any) -> None:
    """Such as axes, shapes and exponents: they are read, as from the library's own arrays."""
    a = np.arange(48.0).reshape(6, 8)
    made, expected = call(ad.asarray(a), ad.asarray), call(a, np.asarray)
    for one, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (made, expected)), strict=True):
        for mine, theirs in zip(*(x if isinstance(x, list) else [x] for x in (one, other)), strict=True):
            _same(mine, theirs)


def _warned(xp: Any) -> list[str]:
    x = xp(np.linspace(-1.0, 1.0, 101))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        np.log(x) + 1.0
        np.where(x > 0.0, np.sqrt(x), 0.0)
        (x * 1e300) ** 3.0
        x / (x - x[3])
        (x * 1e300).astype(int)
        np.sum((x + 2.0) * 1e307)
        np.mean(x[:0])
        np.median(x[:0])
        np.nanmax(x * np.nan)
        np.nanmedian(np.nan * x[:6].reshape(2, 3), axis=1)
        np.nanvar(x[:1], ddof=2)
        x + 1.0
    return [f"{each.category.__name__}: {each.message}" for each in told]


def test_a_program_that_listens_hears_each_warning(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go on by them: they come as NumPy's come, at their calls, and twice."""
    monkeypatch.setattr(block_reports, "heeded", True)
    for _ in range(2):
        assert [x.replace("scalar ", "") for x in _warned(ad.asarray)] == [
            x.replace("scalar ", "") for x in _warned(np.asarray)
        ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = ad.asarray(np.array([0.0, 1.0]))
        with pytest.raises(RuntimeWarning, match="divide by zero encountered in log"):
            np.log(x)
        assert np.exp(x).tolist() == np.exp(x).tolist()


@pytest.mark.filterwarnings("ignore::arraydispatch.HostFallbackWarning")
@pytest.mark.parametrize("axes", [7, 8, 10])
@pytest.mark.parametrize(
    "call",
    [
        lambda a: a[..., ::2] * 2,
        lambda a: np.where(a > 3, a, a[0]),
        lambda a: np.pad(a, 1),
        lambda a: np.argmax(a, axis=1),
        lambda a: np.median(a, axis=1),
        lambda a: np.diff(a[::-1]),
        lambda a: np.fft.fft(a).real,
        lambda a: a.__setitem__((Ellipsis, 0), 3) or a,
        lambda a: a[(np.array([0, 1]),) * 2],
    ],
)
def test_arrays_of_many_axes(call: Callable[[Any], Any], axes: int, library: str) -> None:
    """TensorFlow refuses some of these when they run, too late for NumPy to take the call over."""
    a = np.arange(2.0**axes).reshape((2,) * axes)
    _same(call(ad.asarray(a)), call(a.copy()))


def test_sums_of_16_bit_products_are_rounded_once(library: str) -> None:
    """NumPy's loop rounds each partial sum where the transposed matrix lies in another order than the program's."""
    a, b = np.arange(48, dtype="e").reshape(4, 12), np.arange(12, dtype="e")
    for _ in range(4):
        _same(np.einsum("ji,j", ad.asarray(a).T, ad.asarray(b)), np.einsum("ji,j", a.T, b))
