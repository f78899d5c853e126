"""Fused execution is NumPy's in all but time: values, warnings and their lines, memory, threads, signals, forks."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
import tracemalloc
import warnings
from copy import copy
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.api import creation
from arraydispatch.array import Array
from arraydispatch.engine import loops
from arraydispatch.engine.host_blocks import block_plans, blocks
from arraydispatch.engine.nodes import Node
from arraydispatch.engine.recording import tape
from arraydispatch.memory import views
from arraydispatch.runtime.settings import default

N = 4096


pytestmark = pytest.mark.usefixtures("fused")


def arr(x: Any) -> Any:
    return creation.array(x)


def is_pending(x: Any) -> bool:
    return type(x._v) is Node


def value(x: Any) -> np.ndarray[Any, Any]:
    return np.array(x.__array__())


# -- values ------------------------------------------------------------------------------------------------------------

GIVEN = {
    "line": np.linspace(-3, 3, N),
    "float32": np.linspace(-3, 3, N, dtype=np.float32),
    "integers": np.arange(N) % 17 + 1,
    "bytes": (np.arange(N) % 17 + 1).astype(np.uint8),
    "mask": np.arange(N) % 3 == 0,
    "complex": np.linspace(-3, 3, N) * (1 + 2j),
    "square": np.linspace(-3, 3, N).reshape(64, 64),
    "fortran": np.asfortranarray(np.linspace(-3, 3, N).reshape(64, 64)),
    "row": np.linspace(1, 2, 64),
    "column": np.linspace(1, 2, 64).reshape(64, 1),
    "one": np.array([2.5]),
    "cube": np.linspace(0, 1, 3 * N).reshape(N, 3),
}


def _both(how: Any) -> tuple[Any, Any]:
    return how(dict(GIVEN)), how({name: arr(x) for name, x in GIVEN.items()})


CALLS: dict[str, Any] = {
    "a chain": lambda g: (g["line"] * 2 + 1) / (g["line"] ** 2 + 0.5) - np.sin(g["line"]),
    "dtypes": lambda g: g["float32"] * g["line"] + g["integers"] - g["bytes"],
    "Python scalars are weak": lambda g: 2.5 * g["float32"] + 1,
    "NumPy's are not": lambda g: np.float64(2.5) * g["float32"],
    "integers divide": lambda g: g["integers"] / 3 + g["integers"] // 2 - g["integers"] % 5,
    "bytes wrap": lambda g: g["bytes"] * 20 - 3,
    "comparisons": lambda g: (g["line"] > 0) & (g["integers"] < 9) | ~g["mask"],
    "complex": lambda g: np.exp(g["complex"]) * np.conj(g["complex"]) - abs(g["complex"]),
    "rows and columns": lambda g: g["square"] * g["row"] + g["column"] - g["one"],
    "an outer product": lambda g: np.exp(-((g["column"] - g["row"]) ** 2)),
    "Fortran's order": lambda g: g["fortran"] * 2 + g["fortran"],
    "both orders": lambda g: g["fortran"] * 2 + g["square"],
    "slices": lambda g: g["square"][1:-1, 1:-1] * 4 - g["square"][:-2, 1:-1] - g["square"][1:-1, 2:],
    "steps": lambda g: g["line"][::3] + g["line"][1::3][: len(g["line"][::3])].sum(),
    "backwards": lambda g: g["line"][::-1] + g["line"] * 2,
    "transposed": lambda g: g["square"].T + g["square"],
    "many shapes": lambda g: (g["cube"] * 2).sum(axis=1) + np.sqrt(g["cube"][:, 0] * 3) * g["line"],
    "a shape in between": lambda g: (g["cube"] - (g["line"] * 2)[:, None]) / (g["cube"][:, :1] + 1),
    "where": lambda g: np.where(g["line"] > 0, g["line"] * 2, -1),
    "clip": lambda g: np.clip(g["line"] * 2, -1, g["one"]) + g["line"].clip(0),
    "casts": lambda g: (g["line"] * 100).astype(np.int16) + g["float32"].astype("f8"),
    "in place": lambda g: _in_place(g["line"] * 2, g["line"]),
    "twice the same": lambda g: _cube(g["line"] + 1),
    "powers": lambda g: g["line"] ** 2 + g["row"].repeat(64) ** 1.5 + 2.0 ** g["line"],
    "ufuncs of three": lambda g: np._core.umath.clip(g["line"], -1.0, 1.0),  # type: ignore[attr-defined]
    "reduced": lambda g: (g["line"] * 3 - 1).sum() + (g["square"] * 2).max(axis=0).sum(),
    "out": lambda g: np.multiply(g["line"] + 1, 2, out=g["line"].copy()),
    "a mask selects": lambda g: (g["line"] * 2)[g["line"] > 0],
}


def _cube(x: Any) -> Any:
    return x * x + x


def _in_place(x: Any, y: Any) -> Any:
    x += y
    x *= 3
    x -= x
    x[::2] += 1
    x /= y + 10
    return x


@pytest.mark.parametrize("name", CALLS)
def test_values_are_numpys_bit_by_bit(name: str) -> None:
    with np.errstate(all="ignore"):
        theirs, ours = _both(CALLS[name])
    if isinstance(theirs, np.generic):
        assert type(ours) is type(theirs)
        assert ours.tobytes() == theirs.tobytes()
        return
    assert (ours.shape, ours.dtype, ours.ndim, len(ours)) == (theirs.shape, theirs.dtype, theirs.ndim, len(theirs))
    assert ours.strides == theirs.strides
    assert value(ours).tobytes() == theirs.tobytes()


UFUNCS = [
    u
    for u in vars(np).values()
    if isinstance(u, np.ufunc) and u.signature is None and u.nout == 1 and u is not np.isnat
]


@pytest.mark.parametrize("ufunc", sorted(set(UFUNCS), key=lambda u: u.__name__), ids=lambda u: u.__name__)
def test_every_ufunc_on_every_dtype(ufunc: np.ufunc) -> None:
    operands = [GIVEN[name] for name in ("line", "float32", "integers", "bytes", "mask", "complex")]
    for x in operands:
        for y in operands[:: 1 if ufunc.nin == 2 else len(operands)]:
            given = (x, y)[: ufunc.nin]
            with np.errstate(all="ignore"):
                try:
                    theirs = ufunc(*given)
                except (TypeError, ValueError) as refused:
                    with pytest.raises(type(refused)):
                        ufunc(*map(arr, given))
                    continue
                ours = ufunc(*map(arr, given))
            recorded = loops.loop_of(ufunc, tuple(z.dtype for z in given)) is not None
            assert is_pending(ours) == recorded, (x.dtype, y.dtype)
            assert value(ours).tobytes() == theirs.tobytes(), (x.dtype, y.dtype)


def test_what_is_recorded_waits_and_knows_its_shape() -> None:
    x = arr(GIVEN["cube"])
    y = np.sqrt(x * 2 + 1) > 1
    assert is_pending(y)
    assert (y.shape, y.dtype, y.ndim, y.size, len(y), y.nbytes) == ((N, 3), np.bool_, 2, 3 * N, N, 3 * N)
    assert type(y) is Array
    assert y.backend is x.backend
    assert is_pending(y * 2)


LOOKS: dict[str, Any] = {
    "an element": lambda x: x[5], "a slice": lambda x: x[2:4][0], "a mask": lambda x: x[x > 3].size, "repr": repr, "str": str,
    "float": lambda x: float(x[0]), "asarray": np.asarray, "a list": lambda x: x.tolist(), "sum": lambda x: x.sum(),
    "dot": lambda x: x @ x, "sorted": np.sort, "strides": lambda x: x.strides, "flags": lambda x: x.flags.owndata,
    "iterated": lambda x: next(iter(x)), "native": lambda x: x.native, "copied": lambda x: x.copy()[0], "data": lambda x: x.data[0],
    "a view": lambda x: x.reshape(2, -1)[0, 0], "written": lambda x: x.__setitem__(0, 1.0), "T": lambda x: x.T[0],
    "real": lambda x: x.real[0], "cumsum": np.cumsum, "stacked": lambda x: np.stack([x, x]), "pickled": lambda x: x.__reduce__(),
    "in": lambda x: 3.0 in x, "an index": lambda x: np.arange(9)[x[:2].astype(int) % 9], "view": lambda x: x.view("i8")[0],
    "reshaped": lambda x: setattr(x, "shape", (2, -1)), "dlpack": lambda x: np.from_dlpack(x)[0], "hosted": lambda x: x.to_numpy(),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOKS)
def test_whoever_looks_has_it_run(name: str) -> None:
    x = arr(GIVEN["line"]) * 2
    assert is_pending(x)
    LOOKS[name](x)
    assert not is_pending(x)
    x.shape = (-1,)
    assert x[1] == GIVEN["line"][1] * 2


# -- writing what a pending value reads --------------------------------------------------------------------------------

WRITES: dict[str, Any] = {
    "an element": lambda x: x.__setitem__(3, 9.0), "all": lambda x: x.__setitem__(..., 9.0), "fill": lambda x: x.fill(9),
    "+=": lambda x: x.__iadd__(1), "a view": lambda x: x[3:].__setitem__(0, 9.0), "out": lambda x: np.add(x, 1, out=x),
    "at": lambda x: np.add.at(x, [3], 1.0), "put": lambda x: np.put(x, [3], 9.0), "copyto": lambda x: np.copyto(x, 9.0),
    "sort": lambda x: x[::-1].sort(), "flat": lambda x: x.flat.__setitem__(3, 9.0), "asarray": lambda x: np.asarray(x).fill(9),
    "a mask": lambda x: x.__setitem__(x > 0, 9.0), "native": lambda x: x.native.__setitem__(3, 9.0), "data": lambda x: np.asarray(x.data).fill(9),
    "resize": lambda x: x.resize(2 * N, refcheck=False), "a view +=": lambda x: x[3:].__iadd__(1), "where": lambda x: np.add(x, 1, out=x, where=x > 0),
    "partition": lambda x: x[::-1].partition(5), "byteswap": lambda x: x.byteswap(inplace=True), "real": lambda x: setattr(x, "real", 9),
    "reduced": lambda x: np.cumsum(x, out=x), "clip": lambda x: np.clip(x, 0, 1, out=x), "a reversed view": lambda x: x[::-1].__setitem__(0, 9.0),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_a_write_does_not_reach_what_was_computed_before(name: str) -> None:
    plain = GIVEN["line"].copy()
    before = plain * 2 + 1
    x = arr(GIVEN["line"])
    y = x * 2 + 1
    assert is_pending(y)
    WRITES[name](x)
    assert value(y).tobytes() == before.tobytes()
    if name != "native":
        WRITES[name](plain) if name not in ("native", "data") else plain.fill(9)
        assert value(x).tobytes() == plain.tobytes()


def test_memory_that_others_have_is_read_at_once() -> None:
    x = arr(GIVEN["line"])
    seen = np.asarray(x)
    y = x + 1
    seen[0] = 100.0
    assert y[0] == GIVEN["line"][0] + 1


def test_in_place_keeps_who_else_sees_the_array() -> None:
    x = arr(GIVEN["line"])
    alias, view = x, x[1:]
    x += 1
    assert alias is x
    assert view[0] == GIVEN["line"][1] + 1
    y = x * 2
    other = y
    y += 1
    assert other is y
    assert value(y).tobytes() == ((GIVEN["line"] + 1) * 2 + 1).tobytes()
    with pytest.raises(TypeError):  # what cannot be cast is refused at the call
        y += 1j
    z = arr(GIVEN["integers"]) * 2
    with pytest.raises(TypeError):
        z += 0.5


def test_errors_come_at_the_call() -> None:
    x = arr(GIVEN["line"]) * 2
    for refused in (
        lambda a: a + np.ones(3), lambda a: a & 1, lambda a: np.add(a, "x"), lambda a: a.astype(np.uint8) + 300, lambda a: a @ np.ones(3),
    ):  # fmt: skip
        with pytest.raises(Exception) as theirs:
            refused(GIVEN["line"])
        with pytest.raises(theirs.type):
            refused(x)
    assert is_pending(arr(GIVEN["integers"]) * 2)
    with pytest.raises(ValueError, match="negative integer powers"):
        arr(GIVEN["integers"]) ** -2


def test_what_is_assigned_is_computed_into_its_place() -> None:
    x, out = arr(GIVEN["square"]), arr(np.zeros((66, 66)))
    plain = np.zeros((66, 66))
    for i in range(4):
        made = x * 2 + i
        out[1:-1, 1:-1] = made
        plain[1:-1, 1:-1] = GIVEN["square"] * 2 + i
        if tape.IN_THREADS == 0:
            assert not views.waiting or is_pending(made)
    assert value(out).tobytes() == plain.tobytes()
    out[...] = 0.0
    assert value(made).tobytes() == (GIVEN["square"] * 2 + 3).tobytes()  # it is nobody's view
    made = out + 1
    out[...] = made * 2
    assert value(made).tobytes() == np.ones((66, 66)).tobytes()
    assert value(out).tobytes() == np.full((66, 66), 2.0).tobytes()
    out[1:, :] = out[:-1, :] * 3 + x[0, 0]
    rows = out[3:5]
    out[3:5] = rows + 1
    line = arr(np.zeros((2, N)))
    line[0] = arr(GIVEN["line"]) * 2
    line[1, ::-1] = arr(GIVEN["line"]) * 2
    line[:, :] = arr(GIVEN["line"]) - 1  # broadcast
    line[0] = arr(GIVEN["integers"]) * 2  # cast
    assert value(line).tobytes() == np.stack([GIVEN["integers"] * 2.0, GIVEN["line"] - 1]).tobytes()
    with pytest.raises(ValueError, match="broadcast"):
        line[0] = arr(GIVEN["row"]) * 2
    line.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        line[0] = arr(GIVEN["line"]) * 2


def test_an_array_given_twice_with_a_number_between() -> None:
    for given in (GIVEN["line"], GIVEN["line"][::2]):
        x = arr(given)
        for low, high in [(0.25, 0.5), (0.25, x), (x, x), (x, 0.25)]:  # each with what is known of the one before
            bounds = [given if z is x else z for z in (low, high)]
            assert value(np.clip(x, low, high)).tobytes() == np.clip(given, *bounds).tobytes()
        c, known = arr(given > 0), given > 0
        for first, second in ((2, 3), (2, c), (c, c), (c, 2)):
            chosen = [known if z is c else z for z in (first, second)]
            assert value(np.where(c, first, second)).tobytes() == np.where(known, *chosen).tobytes()


def test_what_is_not_recorded_warns_once() -> None:
    for given in (np.array(1e300), np.full(3, 1e300)[::-1]):  # a 0-d array, and one that no kernel takes
        x = arr(given)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            made = x * x
            np.asarray(made)
        assert len(told) == 1
        assert np.isinf(np.asarray(made)).all()


def test_results_take_the_memory_of_dead_values() -> None:
    def taken() -> bool:
        x = arr(GIVEN["line"]) * 1
        x[0]
        place = x._v.ctypes.data
        x = x * 2 + 1
        x[0]
        y = x + 1
        y[0]
        assert y._v.ctypes.data != x._v.ctypes.data
        return x._v.ctypes.data == place

    times = [taken() for _ in range(20)]  # not where a thread still has the last block in its hands
    assert any(times) if tape.IN_THREADS == 0 else not any(times)


# -- floating-point errors ---------------------------------------------------------------------------------------------


def _warned(how: Any) -> list[tuple[str, int]]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        how()
    return [(str(each.message), each.lineno) for each in told]


def test_warnings_name_the_line_that_was_recorded() -> None:
    def program(new: Any) -> None:
        zero = new(np.zeros(N))
        x = 1 / zero
        y = x - x
        with np.errstate(divide="ignore"):
            z = 1 / zero
        w = np.log(zero - 1) + np.exp(new(np.full(N, 1e4)))
        print(x[0], y[0], z[0], w[0])

    theirs = _warned(lambda: program(np.array))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        program(arr)
    assert [(str(each.message), each.lineno) for each in told] == theirs
    assert all(each.filename == __file__ for each in told)


def test_dead_values_warn_too() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        _ = 1 / arr(np.zeros(N))
        del _
        assert not told
        tape.run_all()
    assert [str(each.message) for each in told] == ["divide by zero encountered in divide"]


@pytest.mark.parametrize("mode", ["raise", "call", "print", "log"])
def test_errors_that_are_more_than_warnings_come_at_the_call(mode: Any) -> None:
    zero = arr(np.zeros(N))
    with np.errstate(all=mode, call=lambda *told: None):
        if mode == "raise":
            with pytest.raises(FloatingPointError):
                1 / zero
        elif mode != "log":
            assert not is_pending(1 / zero)


def test_warnings_that_are_errors_or_awaited_come_at_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # as it is outside of these tests
    default.min_size = 1
    zero = arr(np.zeros(N))
    with pytest.raises(RuntimeWarning):  # pytest's filters
        1 / zero
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        _ = 1 / zero
    assert len(told) == 1
    with np.errstate(all="ignore"):
        assert is_pending(1 / zero)


# -- memory ------------------------------------------------------------------------------------------------------------


def test_dead_values_are_never_there() -> None:
    x = arr(np.linspace(0, 1, 1 << 18))
    tape.run_all()
    gc.collect()
    tracemalloc.start()
    y = x
    for _ in range(30):
        y = y * 1.01 + x
    y[0]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * x.nbytes


def test_a_loop_that_nobody_looks_at_ends_the_tape_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tape, "MOST_BYTES", 1 << 22)
    x = arr(GIVEN["line"])
    held = []
    for i in range(500):
        held.append(x + i)
        assert len(tape.mine().nodes) <= tape.LONGEST
    pending = sum(is_pending(y) for y in held)
    assert pending <= (1 << 22) // x.nbytes
    assert held[400][0] == GIVEN["line"][0] + 400
    assert not views.waiting or is_pending(held[-1])


def test_nothing_is_kept_of_what_has_run() -> None:
    x = arr(GIVEN["line"])
    y = x * 2
    y[0]
    assert not tape._live
    assert not views.waiting


# -- threads, signals, forks -------------------------------------------------------------------------------------------


def test_threads_read_one_pending_value() -> None:
    for _ in range(20):
        x = arr(GIVEN["line"])
        y = np.sin(x) * 2
        z = y + 1
        found: list[Any] = []
        barrier = threading.Barrier(4)

        def read(y: Any = y, z: Any = z, found: list[Any] = found, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            found.append((value(y + z), value(z * 2)))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        plain = np.sin(GIVEN["line"]) * 2
        assert len(found) == 4
        assert all((one == plain + (plain + 1)).all() and (two == (plain + 1) * 2).all() for one, two in found)


def test_each_thread_has_a_tape_and_none_loses_a_write() -> None:
    x = arr(np.zeros(4 * N))

    def work(i: int) -> None:
        mine = x[i * N : (i + 1) * N]
        for _ in range(50):
            made = mine * 1 + 1
            mine[...] = made

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (value(x) == 50).all()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="inapplicable: no timers here")
def test_an_interrupted_block_is_computed_all_the_same() -> None:
    x = arr(np.linspace(0, 1, 1 << 16))
    plain = value(x)
    for _ in range(12):
        plain = np.sin(plain) + 0.5

    class Stop(Exception):
        pass

    def stop(_number: int, _frame: Any) -> None:
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    gc.disable()  # a library's own callback of the collector would swallow what is raised in it
    try:
        stopped = 0
        for i in range(30):
            try:
                y = x + 0
                for _ in range(12):
                    y = np.sin(y) + 0.5
            finally:
                pass
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0002 * (i + 1))
                y[0]
                time.sleep(0.1)
            except Stop:
                stopped += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert value(y).tobytes() == plain.tobytes()
        assert stopped
    finally:
        gc.enable()
        signal.signal(signal.SIGALRM, before)


def test_a_handler_may_look_at_what_it_interrupts() -> None:
    x = arr(GIVEN["line"]) * 2
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(x[1]))
    try:
        for i in range(20):
            y = x
            for _ in range(50):
                y = np.cos(y)
            signal.setitimer(signal.ITIMER_REAL, 0.0003 * (i + 1))
            y[0]
            time.sleep(0.01)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert seen
    assert set(seen) == {GIVEN["line"][1] * 2}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="inapplicable: no forks here")
@pytest.mark.filterwarnings("ignore:.*fork.*")
def test_a_fork_finds_values_and_computes() -> None:
    x = arr(GIVEN["line"])
    y = np.sin(x) * 2
    pid = os.fork()
    if pid == 0:
        try:
            same = value(y).tobytes() == (np.sin(GIVEN["line"]) * 2).tobytes()
            more = value(np.cos(y) + 1).tobytes() == (np.cos(np.sin(GIVEN["line"]) * 2) + 1).tobytes()
            os._exit(0 if same and more else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert value(y)[1] == np.sin(GIVEN["line"][1]) * 2


def test_a_call_that_fails_says_so_to_all_who_look(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise MemoryError("no room")

    x = arr(GIVEN["line"]) * 2
    other = x + 1
    x._v.form = copy(x._v.form)
    x._v.form.func = failing
    y = x + 1
    for z in (x, y, x):
        with pytest.raises(MemoryError, match="no room"):
            z[0]
    with pytest.raises(MemoryError):
        other[0]
    assert (arr(GIVEN["line"]) * 2)[1] == GIVEN["line"][1] * 2


def test_only_the_calls_that_have_no_room_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = arr(np.ones(8)) * 2, arr(GIVEN["column"]) * arr(GIVEN["row"])
    monkeypatch.setattr(blocks, "_memory", _no_room(blocks._memory))
    monkeypatch.setattr(tape, "np", _Np())
    row = large[0]
    for look in (lambda: large[0, 0], row.tolist, lambda: row + 1, lambda: large[1]):
        with pytest.raises(MemoryError):
            look()
    assert row.shape == large.shape[1:]
    assert small[0] == 2
    monkeypatch.undo()


def test_a_call_that_fails_leaves_other_calls_their_values() -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise MemoryError("no room")

    x = arr(GIVEN["line"])
    y, z = x * 2, x * 3
    y._v.form = copy(y._v.form)
    y._v.form.func = failing
    x[0] = 5  # has them run, and does not look at their values
    with pytest.raises(MemoryError, match="no room"):
        y[0]
    assert z[1] == GIVEN["line"][1] * 3


def _no_room(real: Any) -> Any:
    def memory(node: Any, *rest: Any) -> Any:
        if node.size > 1000:
            raise MemoryError
        return real(node, *rest)

    return memory


class _Np:
    """NumPy without room for large arrays."""

    def empty(self, shape: Any, dtype: Any, order: Any) -> Any:
        if np.prod(shape) > 1000:
            raise MemoryError
        return np.empty(shape, dtype, order)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


# -- in force, and not -------------------------------------------------------------------------------------------------


def test_execution_holds_for_its_block() -> None:
    x = arr(GIVEN["line"])
    with ad.execution("eager"):
        assert not is_pending(x * 2)
    y = x * 2
    assert is_pending(y)
    with ad.execution("eager"):
        assert y[1] == GIVEN["line"][1] * 2
    with ad.precision(32):
        assert (x * 2).dtype == np.float32


def test_small_arrays_are_not_recorded() -> None:
    default.min_size = 100
    assert not is_pending(arr(np.ones(99)) + 1)
    assert is_pending(arr(np.ones(100)) + 1)
    assert not is_pending(arr(np.ones(100))[:50] * 2)


def test_an_element_that_is_read_backwards() -> None:
    """NumPy computes exp of it by other code than of one that lies as it should."""
    for number in np.linspace(1, 100, 50):
        x = np.array([1.0, number, 2.0])
        assert value(np.exp(arr(x)[1:0:-1]) / 3).tobytes() == (np.exp(x[1:0:-1]) / 3).tobytes()


def test_no_piece_is_of_a_single_element(monkeypatch: pytest.MonkeyPatch) -> None:
    # Over an operand, NumPy multiplies one complex number by another loop, with other roundings.
    monkeypatch.setattr(block_plans, "PIECE", 16)
    monkeypatch.setattr(block_plans, "STEP", 1)
    rng = np.random.default_rng(8)
    for n in range(4097, 4103):
        a, b, c = (rng.normal(size=n) + 1j * rng.normal(size=n) for _ in range(3))
        y = arr(a) * arr(b) * arr(c) * arr(a)
        assert value(y).tobytes() == (a * b * c * a).tobytes()
