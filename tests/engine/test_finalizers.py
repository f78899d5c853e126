"""Finalizers that compute with large arrays, when Python's collector calls them: in the midst of recording, of a run, and in another thread."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch._core import handles
from arraydispatch.backends import loader
from arraydispatch.common import signal_safety
from arraydispatch.engine.recording.tape import Collector, collector

ROOT = Path(__file__).parents[2]
PROGRAM = """\
import gc, threading, time
import numpy as np

gc.set_threshold(5, 2, 2)
big = np.linspace(0, 1, 1 << 18)
done = {}

class Loop:
    def __init__(self, name, i):
        self.me, self.name, self.i, self.a = self, name, i, big * 2

    def __del__(self):
        y = self.a
        for k in range(self.i % 3 + 1):
            y = (y * 2 + 1 - big) * 0.5 + k
        done[self.name, self.i] = float(y.sum())

def work(name, count):
    for i in range(count):
        Loop(name, i)
        y = big
        for k in range(i % 4 + 1):
            y = (y - big * 0.25) * 0.5 + k
        done[name, "own", i] = float(y.sum())

work("alone", 60)
threads = [threading.Thread(target=work, args=(name, 30)) for name in "ab"]
for thread in threads:
    thread.start()
work("beside", 30)
for thread in threads:
    thread.join()
while len(done) < 300:  # a thread that compiles a kernel may be the one that collects; then `gc.collect` does nothing
    gc.collect()
    time.sleep(0.01)
print(len(done), sorted(map(repr, done.items())))
"""
MODES = """\
import gc
import numpy as np
gc.set_threshold(THRESHOLD, 2, 2)
class Loop:
    def __init__(self):
        self.me = self
    def __del__(self):
        with np.errstate(divide="ignore"):
            pass
for i in range(20_000):
    for k in range(i % 7):
        Loop()
    with np.errstate(all="ignore"):
        x = [[] for _ in range(i % 5)]
print("done")
"""


def _run(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *(("-m", "arraydispatch", "run", *options) if options else ()), str(path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.run(command, capture_output=True, text=True, env=env, check=True, timeout=300)


@pytest.mark.skipif(not handles.compiled, reason="inapplicable: where nothing is compiled, the collector knows arrays")
@pytest.mark.parametrize("options", [("--backend", "numpy"), ("--backend", "jax"), ("--backend", "torch")])
def test_finalizers_compute_as_plainly(options: tuple[str, ...], tmp_path: Path) -> None:
    loader.check(options[1])  # conftest.py skips the test
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)
    plain, ours = _run(script), _run(script, *options)
    assert plain.stdout.startswith("300 ")
    assert "Exception ignored" not in ours.stderr
    if options[1] == "numpy":  # libraries add in another order
        assert ours.stdout == plain.stdout
    else:
        assert ours.stdout.startswith("300 ")


@pytest.mark.skipif(not handles.compiled, reason="inapplicable: where nothing is compiled, the collector knows arrays")
def test_arrays_are_known_to_no_collector_and_listed_all_the_same() -> None:
    x = ad.asarray(np.arange(6.0).reshape(2, 3))
    part = x[0]
    assert not gc.is_tracked(x) and not gc.is_tracked(part)
    listed = handles.live()
    assert sum(each is x for each in listed) == sum(each is part for each in listed) == 1
    count = len(listed)
    del part, listed
    assert len(handles.live()) == count - 1


def test_the_collector_is_held_by_all_who_hold_it_and_left_as_it_was() -> None:
    was_on = gc.isenabled()
    try:
        for state in (gc.enable, gc.disable):
            state()
            before = gc.isenabled()
            own = Collector()
            own.hold()
            own.hold()
            assert not gc.isenabled()
            own.let()
            assert not gc.isenabled()
            own.let()
            assert gc.isenabled() == before
            own.let()
            assert gc.isenabled() == before
    finally:
        (gc.enable if was_on else gc.disable)()


def test_what_is_due_is_collected_while_another_thread_holds_the_collector() -> None:
    seen: list[int] = []

    class Loop:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            seen.append(threading.get_ident())

    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        collector.hold()
        held.set()
        over.wait(60)
        collector.let()

    thread = threading.Thread(target=hold)
    before = gc.get_threshold()
    gc.collect()
    thread.start()
    assert held.wait(60)
    try:
        gc.set_threshold(10, 2, 2)
        for _ in range(100):
            Loop()
        assert not seen and not gc.isenabled()
        collector.catch_up()
        assert len(seen) == 100
    finally:
        gc.set_threshold(*before)
        over.set()
        thread.join()
    assert gc.isenabled()


@pytest.mark.parametrize("transform", [ad.grad, ad.value_and_grad, ad.jit, ad.vmap])
@pytest.mark.parametrize("backend", [name for name in ad.available_backends() if name != "numpy"])
def test_what_keeps_a_traced_array_is_collected(backend: str, transform: Any) -> None:
    class Model:
        def loss(self, w: Any) -> Any:
            self.last = w * 2
            return self.last.sum()

    x = ad.asarray(np.linspace(0.1, 1, 5), backend=backend)
    kept = []
    for _ in range(3):
        model = Model()
        transform(model.loss)(x)
        kept.append(weakref.ref(model))
        del model
    gc.collect()
    assert [look() for look in kept] == [None] * 3


def test_a_finalizer_of_a_class_without_slots_is_called_for_each_array() -> None:
    ended: list[int] = []

    class Own(ad.Array):
        __slots__ = ()

        def __del__(self) -> None:
            ended.append(len(self))

    like = ad.asarray(np.arange(3.0))
    for _ in range(100):
        handles.new_array(Own, like._v, like._kind, True, None)
    assert ended == [3] * 100


@pytest.mark.parametrize("threshold", [5, 13])
def test_finalizers_may_set_error_modes(threshold: int, tmp_path: Path) -> None:
    """On Python 3.11 the collector runs inside of ``ContextVar.set``, where a finalizer's own ``set`` must free nothing."""
    script = tmp_path / "script.py"
    script.write_text(MODES.replace("THRESHOLD", str(threshold)))
    assert _run(script, "--backend", "numpy").stdout == "done\n"


def test_finalizers_do_not_run_while_a_module_is_imported() -> None:
    seen: list[bool] = []
    assert gc.isenabled()
    signal_safety.importing(lambda: seen.append(gc.isenabled()))
    assert seen == [False] and gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        signal_safety.importing(lambda: seen.append(1 // 0))
    assert gc.isenabled()


TRACED = """\
import gc
import numpy as np

gc.set_threshold(3, 1, 1)
found = []

class Loop:
    def __init__(self, n):
        self.me, self.a = self, np.arange(float(n))

    def __del__(self):
        found.append((len(self.a), float(np.sqrt(self.a).sum() - np.sqrt(np.arange(float(len(self.a)))).sum())))

for n in range(10, 22):
    for _ in range(3):
        Loop(n)
    y = np.exp(np.ones(n)) * 2 + np.tanh(np.ones(n)).cumsum()
    np.median(y) + np.linalg.norm(y)
gc.collect()
print(len(found), sorted(set(found)))
"""
"""New shapes, for which a library traces kernels and programs, while finalizers compute."""


_AT_ONCE, _COMPILED = ("--min-size", "1"), ("--execution", "compiled", "--min-size", "0")


@pytest.mark.parametrize(
    ("library", "options"),
    [("jax", _AT_ONCE), ("jax", _COMPILED), ("torch", _AT_ONCE), ("tensorflow", _AT_ONCE), ("tensorflow", _COMPILED)],
)
def test_finalizers_are_not_traced(library: str, options: tuple[str, ...], tmp_path: Path) -> None:
    loader.check(library)  # conftest.py skips the test
    script = tmp_path / "traced.py"
    script.write_text(TRACED)
    assert _run(script, "--backend", library, *options).stdout == f"36 {[(n, 0.0) for n in range(10, 22)]}\n"
