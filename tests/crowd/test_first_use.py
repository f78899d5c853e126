"""Whatever is made on first use is made once, and is whole before anybody else has it: eight threads ask at one time.

Each test slows down the making of one thing, so that all threads are inside before the first has done.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.backends import loader
from arraydispatch.common.patching import Exchanges
from arraydispatch.dispatch import ufuncs
from arraydispatch.launcher import facade, package_patches
from arraydispatch.memory import views
from arraydispatch.ufuncs import plans
from tests.launched import Zygotes

ROOT = Path(__file__).parents[2]
THREADS = 8
PAUSE = 0.01


def together(*actions: Callable[[], Any]) -> list[Any]:
    """What each action gives, all begun at one time; one action is begun by eight threads."""
    chosen = actions if len(actions) > 1 else actions * THREADS
    barrier = threading.Barrier(len(chosen))

    def act(action: Callable[[], Any]) -> Any:
        barrier.wait()
        return action()

    with ThreadPoolExecutor(len(chosen)) as pool:
        return list(pool.map(act, chosen))


def one(found: list[Any]) -> bool:
    """Whether all are the same object."""
    return all(x is found[0] for x in found)


def slowly(monkeypatch: pytest.MonkeyPatch, holder: Any, name: str) -> None:
    """Whoever asks for it waits a little, as for a thread that is not let run."""
    real = getattr(holder, name)

    def slow(*args: Any, **kwargs: Any) -> Any:
        made = real(*args, **kwargs)
        time.sleep(PAUSE)
        return made

    monkeypatch.setattr(holder, name, slow)


START = f"""
import importlib, sys, threading, time, traceback
import numpy as np
import arraydispatch as ad

def slowly(holder, name):
    real = getattr(holder, name)
    def slow(*args, **kwargs):
        time.sleep({PAUSE})
        return real(*args, **kwargs)
    setattr(holder, name, slow)

barrier, failed = threading.Barrier({THREADS}), []

def run(i):
    barrier.wait()
    try:
        act(i)
    except BaseException:
        failed.append(traceback.format_exc())

def together():
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=run, args=(i,)) for i in range({THREADS})]
    for thread in threads: thread.start()
    for thread in threads: thread.join(60)
    sys.setswitchinterval(0.005)
    if any(thread.is_alive() for thread in threads):
        import faulthandler, os
        faulthandler.dump_traceback(); os._exit(3)
    if failed:
        sys.exit(failed[0])
"""


def fresh(code: str) -> str:
    """What a new interpreter prints, in which eight threads do what ``act(i)`` of the code does."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", START + code], env=env, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- the package -------------------------------------------------------------------------------------------------------


def test_public_names() -> None:
    """The modules behind them import each other."""
    fresh("""
names = sorted(set(ad.__all__) - {"__version__"})
def act(i):
    for name in names[i::8] + names:
        getattr(ad, name)
together()
""")


def test_modules_in_any_order() -> None:
    fresh("""
modules = "api.public api.creation array memory.views runtime.settings api.native_namespace array.scalar dispatch.functions".split()
def act(i):
    importlib.import_module(f"arraydispatch.{modules[i]}")
    assert np.sum(ad.asarray([1.0, 2.0])) == 3
together()
""")


# -- topics and entries ------------------------------------------------------------------------------------------------


def test_topics() -> None:
    """No function runs on the host because its topic was not there yet; and that would be kept for ever."""
    told = fresh("""
from arraydispatch.functions import registry
backend = ad.backend("numpy")
slowly(registry.importlib, "import_module")
asked = [np.linalg.norm, np.median, np.unique, np.histogram, np.fft.fft, np.pad, np.polyval, np.einsum]
def act(i):
    registry.resolve(asked[i], backend)
together()
print([f.__name__ for f in asked if registry.resolve(f, backend).kind == "host"])
""")
    assert told == "[]\n"


def test_a_topic_that_does_not_import_is_tried_again() -> None:
    told = fresh("""
from arraydispatch.functions import registry
real = registry.importlib.import_module
def broken(name, *package):
    if name.endswith("statistics"):
        raise MemoryError
    return real(name, *package)
registry.importlib.import_module = broken
try:
    registry.resolve(np.median, ad.backend("numpy"))
except MemoryError:
    registry.importlib.import_module = real
print(registry.resolve(np.median, ad.backend("numpy")).kind)
""")
    assert told == "composed\n"


def test_a_topic_whose_import_was_interrupted_is_imported_again() -> None:
    """By Ctrl-C, with half of its functions registered."""
    told = fresh("""
from arraydispatch.functions import registry
x, real = ad.asarray([[3.0, 4.0]]), registry.position_of
def interrupted(*args):
    global left
    left -= 1
    if not left:
        raise KeyboardInterrupt
    return real(*args)
registry.position_of = interrupted
for left in (7, 20, 40):
    try:
        np.linalg.norm(x)
    except KeyboardInterrupt:
        print(left, end=" ")
print(np.linalg.norm(x), np.median(x), np.sort(x, axis=None)[1], np.concatenate([x, x]).sum())
""")
    assert told == "0 0 0 5.0 3.5 4.0 14.0\n"


def test_a_function_waits_for_the_end_of_its_topic() -> None:
    """A product of stacks imports the topic of ``np.cross``, which is registered long before its module is complete."""
    pytest.importorskip("torch")
    fresh("""
from arraydispatch.functions import registry
plain = registry.implements
def implements(*funcs, **facts):
    register = plain(*funcs, **facts)
    def slow(body):
        made = register(body)
        if np.cross in funcs:
            time.sleep(0.3)
        return made
    return slow
registry.implements = implements
ad.use("torch", execution="eager")
a, v, c = ad.asarray(np.ones((4, 1, 4))), ad.asarray(np.ones(4)), ad.asarray(np.arange(30.0).reshape(10, 3))
def act(i):
    if i % 2:
        while np.cross not in registry.SPECS:
            time.sleep(0.01)
        assert np.cross(c, c + 1).sum() == 0
    else:
        assert (a @ v).sum() == 16
""")


def test_namespaces() -> None:
    fresh("""
from arraydispatch.functions import registry
slowly(registry.importlib, "import_module")
found = []
def act(i):
    xp = ad.namespace("numpy")
    found.append(xp)
    assert xp.median(xp.asarray([1.0, 2.0, 4.0])) == 2
together()
assert all(xp is found[0] for xp in found)
""")


def test_resolvers_and_their_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = type(loader.load("numpy"))()
    slowly(monkeypatch, type(backend), "resolver")
    assert one(together(lambda: backend.xp))
    assert together(lambda: backend.xp.median(np.arange(5.0)))[0] == 2


# -- kinds and plans ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", ["kind", "standard_kind"])
def test_kinds(make: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays are of one kind where it is the same object."""
    backend = type(loader.load("numpy"))()
    slowly(monkeypatch, backend, "scalar_maker")
    assert one(together(lambda: getattr(backend, make)(np.dtype(float))))


def test_kinds_of_native_arrays(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held = loader.load(backend)
    native = ad.asarray([1.0], backend=backend).native
    monkeypatch.setattr(held, "_kinds", {})
    if hasattr(held, "_by_dtype"):
        monkeypatch.setattr(held, "_by_dtype", {})
    slowly(monkeypatch, type(held), "scalar_maker")  # which a kind asks for as it is made
    assert one(together(lambda: held.kind_of(native)))


def test_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operators hold the table of their ufunc: it must stay the one that plans go to."""

    class Slow(dict[Any, Any]):
        def get(self, *key: Any) -> Any:
            found = super().get(*key)
            time.sleep(PAUSE)
            return found

        def setdefault(self, *item: Any) -> Any:
            time.sleep(PAUSE)
            return super().setdefault(*item)

    table = Slow()
    for module in (plans, ufuncs):
        monkeypatch.setattr(module, "PLANS", table)
    backend = loader.load("numpy")
    kinds = [backend.kind(np.dtype(t)) for t in "bhilBHIL"]
    together(*[lambda kind=kind: plans.plan_for(np.add, backend, (kind, kind), None) for kind in kinds])
    assert len(table[np.add]) == THREADS


# -- ghosts ------------------------------------------------------------------------------------------------------------


def test_ghosts(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two would lie at two places, and a view of one be garbage to the other."""
    held = loader.load(backend)
    for name in ("shape_of", "strides_of"):
        slowly(monkeypatch, held, name)
    for make in (lambda x: x, lambda x: x[2:]):
        x = make(ad.asarray(np.arange(12.0).reshape(4, 3), backend=backend))
        assert one(together(lambda x=x: views.ghost(x)))


def test_the_first_view_of_an_array(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held = loader.load(backend)
    for name in ("shape_of", "strides_of"):
        slowly(monkeypatch, held, name)
    host = np.arange(120.0).reshape(12, 10)
    x = ad.asarray(host, backend=backend)
    found = together(*[lambda i=i: x[i:, ::2] for i in range(THREADS)])
    for i, made in enumerate(found):
        np.testing.assert_array_equal(ad.to_numpy(made), host[i:, ::2])
        np.testing.assert_array_equal(ad.to_numpy(made[::-1].T), host[i:, ::2][::-1].T)
    for made in found:
        made[...] = -1.0
    np.testing.assert_array_equal(ad.to_numpy(x)[:, ::2], -1)
    np.testing.assert_array_equal(ad.to_numpy(x)[:, 1::2], host[:, 1::2])


# -- backends ----------------------------------------------------------------------------------------------------------


def test_backends(backend: str, tmp_path: Path, zygotes: Zygotes, request: pytest.FixtureRequest) -> None:
    """Whose library has been imported, but in a run of everything."""
    code = f"""
found = []
def act(i):
    found.append(ad.backend({backend!r}))
    with found[-1]:
        x = ad.asarray([[1.0, 2.0], [3.0, 5.0]])
        assert x.backend is found[-1]
        assert np.median(x) == 2.5
        assert abs(np.linalg.det(x) + 1) < 1e-5
        assert np.unique(x).shape == (4,)
        assert len(ad.active_backend.uniform(0, 1, 3)) == 3
together()
assert all(x is found[0] for x in found)
"""
    if request.config.option.all:
        fresh(code)
    else:
        (tmp_path / "main.py").write_text(START + code)
        done = zygotes.with_library(backend).run("main.py", cwd=tmp_path)
        assert done.code == 0, done.stderr


def test_host_states() -> None:
    """Each has kinds of its own, so arrays of two of them are not of one kind."""
    fresh("""
from arraydispatch.backends import loader, numpy
slowly(numpy.HostState, "__init__")
found = []
def act(i):
    found.append(loader.hosted("torch"))
together()
assert all(x is found[0] for x in found)
""")


def test_the_wrapper_reaches_a_backend_that_is_being_loaded() -> None:
    """Which library functions take our arrays must not depend on whether a backend or the array class came first."""
    fresh("""
import types
from arraydispatch.backends import loader

class Backend:
    wrapper = None
    def adopt_wrapper(self, wrapper):
        self.wrapper = wrapper

made = Backend()
def loading(name):
    if not name.startswith("arraydispatch"):
        return importlib.import_module(name)
    time.sleep(0.01)
    return types.SimpleNamespace(BACKEND=made)

loader.imported = loading
class Slow(dict):
    def __setitem__(self, name, backend):
        time.sleep(0.05)
        super().__setitem__(name, backend)
loader._loaded = Slow()
def act(i):
    if i % 2:
        time.sleep(0.02)
        loader.set_wrapper(int)
    else:
        loader.load("numpy")
together()
assert made.wrapper is int
""")


@pytest.mark.one_backend
def test_a_seeded_generator_is_one(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads with a generator each of the same seed would draw the same numbers."""
    fresh(f"""
backend = ad.backend({backend!r})
ad.use({backend!r})
ad.seed(3)
if {backend!r} == "torch":
    import torch
    class Generator(torch.Generator):
        def manual_seed(self, n):
            time.sleep({PAUSE})
            return super().manual_seed(n)
    torch.Generator = Generator
drawn = []
def act(i):
    drawn.append(float(ad.asarray(ad.active_backend.uniform(0, 1, 1))[0]))
together()
ad.seed(3)
one_by_one = [float(ad.asarray(ad.active_backend.uniform(0, 1, 1))[0]) for _ in range({THREADS})]
assert sorted(drawn) == sorted(one_by_one), (drawn, one_by_one)
""")


# -- the launcher ------------------------------------------------------------------------------------------------------


def test_facades(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facade, "_facades", {})
    slowly(monkeypatch, facade.Facade, "__init__")
    assert one(together(lambda: facade.substitute(np)))
    assert one(together(lambda: facade.substitute(np.random)))


@pytest.mark.parametrize("name", ["add", "median", "ndarray", "linalg", "r_", "zeros", "vectorize", "pi"])
def test_what_a_facade_has(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facade, "_facades", {})
    module = facade.substitute(np)
    slowly(monkeypatch, facade, "_stands_for")
    assert one(together(lambda: getattr(module, name)))
    assert getattr(module, name) is getattr(module, name)


def test_doors_are_opened_once_and_before_anybody_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    library = ModuleType("torch")
    library.from_numpy = lambda x: x  # type: ignore[attr-defined]
    library.__spec__ = None
    monkeypatch.setitem(sys.modules, "torch", library)
    exchanges = Exchanges()
    opened = package_patches.Doors(exchanges)
    opened._opened.update({"jax", "numpy", "tensorflow", *sys.modules} - {"torch"})
    slowly(monkeypatch, package_patches, "_door_in_c")
    real = library.from_numpy

    def import_it() -> Any:
        opened.open_all()
        return library.from_numpy

    assert one(together(import_it))
    assert library.from_numpy.__wrapped__ is real
    assert not hasattr(real, "__wrapped__")
    exchanges.undo()
    assert library.from_numpy is real


SCRIPT = """
import sys, threading
import numpy as np
barrier, found = threading.Barrier(8), {}
shared = np.arange(6000.0).reshape(60, 100)
host = [[i * 100.0 + j for j in range(100)] for i in range(60)]
def act(i):
    barrier.wait()
    x = shared[i : i + 50 : 2, ::3]
    y = x - np.median(x)
    found[i] = [
        float(np.linalg.norm(y)), float(np.unique(x)[3]), float(np.add.reduce(x, axis=0)[1]), float((x[::-1] @ x.T)[1, 2]),
        float(np.percentile(x, 30)), float(np.histogram(x)[0][2]), float(np.where(x > 50, x, 0.5)[0, 3]), x.shape[0],
        float(np.random.default_rng(i).random(5000)[7]), float(np.einsum("ij->j", x)[2]), float(np.sort(y, axis=None)[4]),
    ]
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=act, args=(i,)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
for i in range(8):
    print(i, *[f"{value:.10g}" for value in found[i]])
"""


@pytest.mark.parametrize("name", [name for name in ("jax", "torch", "tensorflow") if name in ad.available_backends()])
def test_a_program_whose_threads_use_everything_for_the_first_time(name: str, tmp_path: Path, zygotes: Zygotes) -> None:
    script = tmp_path / "main.py"
    script.write_text(SCRIPT)
    plain = zygotes.plain.run(str(script), cwd=tmp_path)
    done = zygotes.of(name).run(str(script), cwd=tmp_path, options=("--min-size", "0"), reported=True)
    assert (done.code, done.stdout) == (0, plain.stdout), done.stderr
    assert not done.report["calls_by_class"].get("host", 0), done.report["functions"]
