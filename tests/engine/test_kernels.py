"""Kernels give NumPy's bits and NumPy's errors, for every call they know, every dtype and every layout."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arraydispatch.api import creation
from arraydispatch.common import signal_safety
from arraydispatch.engine import nodes
from arraydispatch.engine.host_blocks import blocks, kernel_compiler, kernel_source, kernels
from arraydispatch.engine.recording import block_reports, tape
from arraydispatch.runtime.settings import default, kept, set_execution
from arraydispatch.ufuncs.facts import CLIP, INSTRUCTIONS

pytest.importorskip("llvmlite")
N = 1031
DTYPES = "?bhilqBHILQfd"


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every chain is compiled when it comes for the first time."""
    with kept():
        default.min_size = 1
        set_execution("fused")
        for module, name, now in (
            (kernels, "HOT", 0),
            (kernels, "BESIDE", False),
            (tape, "IN_THREADS", 0),
            (kernels, "_kernels", {}),
            (kernels, "_work", {}),
            (blocks, "_plans", {}),
            (nodes, "ALONE", 1 << 60),
        ):
            monkeypatch.setattr(module, name, now)
        monkeypatch.setattr(block_reports, "heeded", False)
        yield
        tape.run_all()


def values(dtype: Any, seed: int = 0, count: int = N) -> np.ndarray[Any, Any]:
    """Numbers of all sizes; the least and the largest, NaNs, infinities, zeros and subnormal ones between them."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, count) > 0
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        made = rng.integers(info.min, info.max, count, dtype, endpoint=True)
        made[::3] = rng.integers(0, 5, len(made[::3]))
        made[rng.integers(0, count, 40)] = info.min
        return made
    with np.errstate(all="ignore"):
        made = (rng.standard_normal(count) * 10.0 ** rng.integers(-40, 40, count)).astype(dtype)
        for special in (np.nan, np.inf, -np.inf, 0, -0.0, 1e-40, 5e-324, 1.5, -2.5):
            made[rng.integers(0, count, count // 30)] = special
    return made


def bits(x: Any) -> bytes:
    """Those of the values; a NaN is one like another."""
    x = np.array(x)
    if x.dtype.kind == "f":
        x = np.where(np.isnan(x), np.array(np.nan, x.dtype), x)
    return x.tobytes()


def made_kernels() -> int:
    assert None not in kernels._kernels.values()
    return len(kernels._kernels)


@pytest.mark.parametrize("ufunc", [each for each in INSTRUCTIONS if each is not CLIP], ids=lambda u: u.__name__)
def test_every_call_has_numpys_bits(ufunc: np.ufunc) -> None:
    done = 0
    for chars in dict.fromkeys(types.partition("->")[0] for types in ufunc.types):
        if not set(chars) <= set(DTYPES):
            continue
        given = [values(char, seed) for seed, char in enumerate(chars)]
        with np.errstate(all="ignore"):
            plain = ufunc(*given)
            kernels._kernels.clear()
            blocks._plans.clear()
            ours = ufunc(*map(creation.array, given))
            again = ours == ours
            assert bits(ours) == bits(plain), chars
            assert bits(again) == bits(plain == plain), chars
        ins, out = tuple(np.dtype(char) for char in chars), plain.dtype
        if kernel_source.has(INSTRUCTIONS[ufunc], ins, out):
            assert made_kernels(), chars
            done += 1
    assert done


@pytest.mark.parametrize("char", "bhilqBHILQfd")
def test_bounds(char: str) -> None:
    """Clip to numbers, also to zeros of both signs, to NaN, and to bounds in the wrong order; bounds that are arrays are left to NumPy."""
    x = values(char)
    bounds: list[Any] = [(0, 9), (3, 3), (9, 0), (1, 5)]
    if char in "fd":
        bounds += [(-0.0, 0.0), (0.0, -0.0), (-1.5, 0.0), (-0.0, 2.0), (np.nan, 1.0), (1.0, np.nan), (-np.inf, np.inf)]
    for low, high in bounds:
        with np.errstate(all="ignore"):
            plain, ours = x.clip(low, high), creation.array(x).clip(low, high)
            again = ours == ours
            assert bits(again) == bits(plain == plain), (low, high)
            assert bits(ours) == bits(plain), (low, high)
    assert made_kernels()
    with np.errstate(all="ignore"):
        low, high = x[::-1].copy(), values(char, 3)
        assert bits(np.clip(creation.array(x), low, high)) == bits(np.clip(x, low, high))


@pytest.mark.parametrize("to", DTYPES)
def test_casts_and_choices(to: str) -> None:
    for char in DTYPES:
        x, other, mask = values(char), values(to, 1), values("?", 2)
        a, b, m = map(creation.array, (x, other, mask))
        with np.errstate(all="ignore"):
            assert bits(a.astype(to) == b) == bits(x.astype(to) == other), char
            plain = np.where(mask, x, other)
            chosen = np.where(m, a, b)
            assert bits(chosen == chosen) == bits(plain == plain)
            assert bits(chosen) == bits(plain), char
    assert made_kernels()


LAYOUTS: dict[str, Any] = {
    "whole": lambda x: (x.reshape(30, 34), x[::-1].copy().reshape(30, 34)),
    "windows": lambda x: (x.reshape(30, 34)[1:-1, 2:], x.reshape(30, 34)[2:, :-2]),
    "steps": lambda x: (x[::2], x[1::2]),
    "steps of two axes": lambda x: (x.reshape(30, 34)[::2, ::2], x.reshape(30, 34)[1::2, 1::2]),
    "a row": lambda x: (x.reshape(30, 34), x[:34]),
    "a column": lambda x: (x.reshape(30, 34), x[:30].reshape(30, 1)),
    "an outer product": lambda x: (x[:30].reshape(30, 1), x[:34]),
    "a single element": lambda x: (x.reshape(30, 34), x[5:6]),
    "Fortran's order": lambda x: (np.asfortranarray(x.reshape(30, 34)), np.asfortranarray(x[::-1].reshape(30, 34))),
    "three axes": lambda x: (x.reshape(5, 6, 34)[:, 1:-1], x.reshape(5, 6, 34)[:, 2:]),
    "three axes, inner broadcast": lambda x: (x.reshape(5, 6, 34), x[:30].reshape(5, 6, 1)),
    "four axes": lambda x: (x.reshape(5, 6, 2, 17)[:, 1:-1, :, 1:], x.reshape(5, 6, 2, 17)[:, 2:, :, :-1]),
    "axes of one": lambda x: (x.reshape(30, 1, 34), x[:34].reshape(1, 1, 34)),
    "one row": lambda x: (x.reshape(1, -1)[:, 1:], x.reshape(1, -1)[:, :-1]),
    "unaligned": lambda x: ((y := np.frombuffer(b"x" + x.tobytes(), x.dtype, offset=1)), y[::-1].copy()),
}


@pytest.mark.parametrize("char", "dfib")
@pytest.mark.parametrize("how", LAYOUTS)
def test_layouts(how: str, char: str) -> None:
    given = np.random.default_rng(3).integers(-9, 9, 1020).astype(char)
    x, y = LAYOUTS[how](given)
    ours = creation.array(given)
    a, b = (creation.array(x), creation.array(y)) if "unaligned" in how or "F" in how else LAYOUTS[how](ours)
    for _ in range(2):  # the second time one is there
        plain = (x + y) * 3 - x
        made = (a + b) * 3 - a
        assert bits(made) == bits(plain)
        assert made.strides == plain.strides


@pytest.mark.parametrize("char", "fdil")
def test_over_an_operand(char: str) -> None:
    x, y = values(char), values(char, 1)
    a, b = creation.array(x), creation.array(y)
    seen = a[:]  # so that the write goes into its place
    with np.errstate(all="ignore"):
        x += (x + y) * 2 - y
        a += (a + b) * 2 - b
        np.subtract(x * 2, y, out=x)
        np.subtract(a * 2, b, out=a)
        x[5:900] = x[5:900] * 2 + y[5:900]
        a[5:900] = a[5:900] * 2 + b[5:900]
    assert bits(a) == bits(x) == bits(seen)
    assert made_kernels()


def told(how: Any, *given: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        tape.run_all()
        with np.errstate(all="warn"):
            np.array(how(*given))
    return [str(warning.message) for warning in found]


ERRORS: dict[str, Any] = {
    "divide": lambda x, y: (x + 1) / y - 1,
    "invalid": lambda x, y: np.sqrt(x * -1) + y,
    "overflow": lambda x, y: (x + 1e300) * 1e300 - y,
    "underflow": lambda x, y: (x + 1) * 1e-308 * 1e-10,
    "two of them": lambda x, y: np.sqrt(x / y - 3) * 2,
    "none": lambda x, y: (x + y) * 2,
}


@pytest.mark.parametrize("how", ERRORS)
def test_errors_are_told_of_the_call(how: str) -> None:
    x, y = np.linspace(0.5, 3, N), np.linspace(0, 2, N)
    plain = told(ERRORS[how], x, y)
    assert bool(plain) is (how != "none")
    for _ in range(2):
        assert told(ERRORS[how], creation.array(x), creation.array(y)) == plain
    assert any(kernel is not None and bool(kernel.flagged) is bool(plain) for kernel in kernels._kernels.values())


def test_what_is_no_exception_is_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "OFTEN", 2)
    x = np.linspace(-1, 1, N)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(5):
            made = np.sqrt(creation.array(x) * 2) + 1
            assert bits(made) == bits(np.sqrt(x * 2) + 1)
    (kernel,) = kernels._kernels.values()
    assert kernel is not None
    assert kernel.flagged == 3
    assert -math.inf in [work.done for work in kernels._work.values()]


def test_the_room_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "MOST", 3)
    x = np.linspace(-1, 1, N)
    for i, j in itertools.product(range(1, 4), repeat=2):
        made, plain = creation.array(x), x
        for _ in range(i):
            made, plain = made * 2, plain * 2
        for _ in range(j):
            made, plain = made - 1, plain - 1
        assert bits(made) == bits(plain)
    assert len(kernels._kernels) == 3


def test_a_chain_is_compiled_when_it_has_been_computed_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "HOT", 40 * N)
    x = creation.array(np.linspace(-1, 1, N))
    counts = []
    for i in range(8):
        y = x * i + 1  # numbers are no part of the chain
        y[0]  # has it run
        counts.append(len(kernels._kernels))
    assert counts == [0] * 5 + [1] * 3


def test_what_is_counted_of_chains_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that are left to NumPy too: a process may have any number of them."""
    monkeypatch.setattr(kernels, "_MOST_CHAINS", 4)
    monkeypatch.setattr(kernels, "MOST", 2)
    x = np.linspace(-1, 1, N)
    for i in range(1, 12):
        made, plain = creation.array(x), x
        for _ in range(i):
            made, plain = made * 2 - 1, plain * 2 - 1
        for _ in range(3):
            assert bits(made + 1) == bits(plain + 1)
        assert len(kernels._work) <= 4
    assert len(kernels._kernels) == 2


_TWICE = """
import numpy as np
from arraydispatch.api import creation
from arraydispatch.common import signal_safety
from arraydispatch.runtime import settings
from arraydispatch.engine.host_blocks import kernel_compiler as compiler, kernels
from arraydispatch.engine.recording import tape
kernels.HOT = tape.IN_THREADS = 0
kernels.BESIDE = False
settings.default.min_size = 1
settings.set_execution("fused")
compiled = []
written = compiler._write
compiler._write = lambda where, name, code: (compiled.append(name), written(where, name, code))
x = np.linspace(-1, 1, 5000)
for i in range(3):
    y = creation.array(x) * (i + 1) + x.size
    assert (np.array(y) == x * (i + 1) + x.size).all()
print(len(compiled), sum(kernel is not None for kernel in kernels._kernels.values()))
"""


def _processes(cache: Path) -> str:
    env = {**os.environ, "ARRAYDISPATCH_CACHE": str(cache), "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", _TWICE], env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    assert _processes(tmp_path) == "1 1"
    (kept,) = (tmp_path / "kernels").iterdir()
    assert _processes(tmp_path) == "0 1"
    kept.write_bytes(kept.read_bytes()[:-7])  # broken off: compiled again
    assert _processes(tmp_path) == "1 1"
    assert _processes(tmp_path) == "0 1"


_HOT = """
import numpy as np
from arraydispatch.api import creation
from arraydispatch.common import signal_safety
from arraydispatch.runtime import settings
from arraydispatch.engine.host_blocks import kernels
from arraydispatch.engine.recording import tape
kernels.HOT, tape.IN_THREADS = 400_000, 0
kernels.BESIDE = False
settings.default.min_size = 1
settings.set_execution("fused")
x = np.linspace(-1, 1, 5000)

for i in range(14):
    y = creation.array(x) * (i + 1) + 2.0
    y[0]
    print(len(kernels._kernels), end="")
"""


def test_a_chain_that_was_worth_it_once_is_compiled_sooner(tmp_path: Path) -> None:
    env = {**os.environ, "ARRAYDISPATCH_CACHE": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}

    def counts() -> str:
        return subprocess.run([sys.executable, "-c", _HOT], env=env, capture_output=True, text=True, check=True).stdout

    assert counts() == "0" * 10 + "1" * 4
    assert counts() == "0" * 2 + "1" * 12
    env["ARRAYDISPATCH_CACHE"] = ""
    assert counts() == "0" * 10 + "1" * 4


_BESIDE = """
import os
import numpy as np
from arraydispatch.api import creation
from arraydispatch.common import signal_safety
from arraydispatch.runtime import settings
from arraydispatch.engine.host_blocks import kernels
from arraydispatch.engine.recording import tape
kernels.HOT, tape.IN_THREADS = 60_000, 0
settings.default.min_size = 1
settings.set_execution("fused")
x = np.linspace(-1, 1, 5000)

def count():
    for i in range(7):
        y = creation.array(x) * (i + 1) + 2.0
        assert y[-1] == i + 3
    return len(kernels._kernels)

count()
begun = kernels._thread is not None and kernels._thread.is_alive()  # and NumPy has computed meanwhile
if (child := os.fork()) == 0:  # of which the compiler is whole, or left alone
    count()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
kernels._thread.join()
count()
kernels._thread.join()
print(begun, count(), kernels._jobs)
creation.array(x) - 1.0 + 3.0 * creation.array(x)  # pending at the end of the process
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="inapplicable: no forks")
def test_kernels_are_compiled_beside_what_numpy_computes(tmp_path: Path) -> None:
    env = {**os.environ, "ARRAYDISPATCH_CACHE": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    for _ in range(2):
        ran = subprocess.run([sys.executable, "-c", _BESIDE], env=env, capture_output=True, text=True)
        assert (ran.returncode, ran.stdout) == (0, "True 1 {}\n"), ran.stderr


def test_where_nothing_can_be_kept_it_is_compiled_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert _processes(tmp_path / "file") == "1 1"


def test_few_files_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_compiler, "MOST_FILES", 8)
    for i in range(20):
        kernel_compiler._write(tmp_path, f"kernel_{i}", b"code")
    assert 6 <= len(list(tmp_path.iterdir())) <= 8
    assert kernel_compiler._read(tmp_path, "kernel_19") == b"code"


def test_no_signals_handler_is_called_while_llvm_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it raises would be taken for LLVM's refusal, or be lost in a callback of C's."""
    begun: list[threading.Thread] = []
    of = kernels.source
    monkeypatch.setattr(kernels, "source", lambda *key: (begun.append(threading.current_thread()), of(*key))[1])
    x = creation.array(np.linspace(0, 1, 3000))
    for _ in range(4):
        made = np.sqrt(x * 3.25 + 0.125) - 1.75
        np.testing.assert_array_equal(np.asarray(made), np.sqrt(np.linspace(0, 1, 3000) * 3.25 + 0.125) - 1.75)
    assert begun
    assert threading.main_thread() not in begun


def test_what_runs_aside_raises_here() -> None:
    found: list[int] = []
    signal_safety.aside(lambda: found.append(threading.get_ident()))
    assert found
    assert found[0] != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        signal_safety.aside(lambda: found.append(1 // 0))


def test_a_chain_that_comes_twice_in_a_block_counts_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both of its parts together make it worth a kernel."""
    monkeypatch.setattr(kernels, "HOT", 400)
    work = kernels.Work(kernels.Chain((), ()))
    assert not kernels.counted([(work, 40), (work, 40)])
    assert kernels.counted([(work, 10), (work, 10)])
    assert work.done == 100


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_what_nobody_reads_is_computed(dtype: str) -> None:
    """Results without a reader, of which each kernel adds the bits in one place."""
    x, y = np.linspace(-1, 1, N).astype(dtype), np.full(N, 3.0)
    a, b = creation.array(x), creation.array(y)
    for k in range(8):
        a + k, a * 2.0, a * 2.0, b * (k + 1), a > 0, b == k
    assert bits(a + b * 2) == bits(x + y * 2)
    assert made_kernels()


def test_errors_of_what_nobody_reads_are_told() -> None:
    x = np.full(N, 1e200)
    x[N // 2] = 1

    def unread(y: Any, where: int) -> Any:
        parts = [y * 1.0, y * 2.0, y * 2.0, y * 2.0, y - 1.0]
        parts[where] = y * y
        del parts
        return y + 1.0

    for where in range(5):
        for _ in range(2):
            assert (
                told(unread, creation.array(x), where) == told(unread, x, where) == ["overflow encountered in multiply"]
            )
    assert made_kernels()
