"""Nothing of Python's, NumPy's, SciPy's or a library's is another after the package is imported and used as a library."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, gc, importlib, json, pickle, signal, sys, threading, warnings
import builtins, abc, collections, copyreg, functools, operator, os, traceback, types

import numpy as np

library = sys.argv[1]
names = ["numpy.linalg", "numpy.fft", "numpy.random", "numpy.ma", "numpy.lib.stride_tricks", "numpy.testing",
         "scipy", "scipy.linalg", "scipy.special", "scipy.stats", "scipy.signal", "scipy.ndimage", "scipy.fft", "scipy.optimize", "scipy.sparse"]
names += {"jax": ["jax", "jax.numpy", "jax.lax", "jax.scipy.linalg", "jax.dlpack", "jax.tree_util"],
          "torch": ["torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.utils.dlpack"],
          "tensorflow": ["tensorflow", "tensorflow.experimental.numpy"], "numpy": []}[library]
for name in names:
    try:
        importlib.import_module(name)
    except ImportError:
        pass
MODULES = [builtins, abc, collections, copyreg, functools, operator, os, pickle, signal, sys, threading, traceback, types, warnings, np]
MODULES += [sys.modules[name] for name in names if name in sys.modules]

# The words of a type object that are functions or tables of them: they lie in the order of Python's documentation.
SLOTS = [6, *range(8, 19), 20, *range(23, 26), 27, 28, 33, 34, *range(36, 41), 46]
TABLES = {9: 4, 11: 36, 12: 10, 13: 3, 20: 2}  # of slot: words

def words(at, count):
    return list((ctypes.c_void_p * count).from_address(at))

def slots(cls):
    found = words(id(cls), 48)
    # A table of a class made in Python may be filled when a class of its is first used.
    tables = {i: words(found[i], count) for i, count in TABLES.items() if found[i] and not cls.__flags__ & (1 << 9)}
    return [[found[i] for i in SLOTS], sorted(tables.items())]

def is_code(value):
    return callable(value) or isinstance(value, (property, classmethod, staticmethod)) or hasattr(value, "__get__")

kept = []

def snapshot():
    found = {}
    def see(name, owner):
        for key, value in list(vars(owner).items()):
            if is_code(value):
                kept.append(value)
                found[f"{name}.{key}"] = [id(value), slots(value) if isinstance(value, type) else None]
                if isinstance(value, type) and value not in seen:
                    seen.add(value)
                    see(f"{name}.{key}", value)
    seen = set()
    for module in MODULES:
        see(module.__name__, module)
    for extra in (memoryview, pickle.PickleBuffer, types.FunctionType, types.CodeType, types.ModuleType):
        found[f"slots of {extra.__name__}"] = slots(extra)
    state = {
        "errors of NumPy": np.geterr(), "print options": np.get_printoptions(), "warning filters": warnings.filters,
        "excepthook": sys.excepthook, "displayhook": sys.displayhook, "path hooks": sys.path_hooks, "meta path": sys.meta_path,
        "trace": sys.gettrace(), "profile": sys.getprofile(), "collector": (gc.get_threshold(), gc.callbacks),
        "threads": threading.excepthook, "copyreg": [pair for pair in copyreg.dispatch_table.items() if not pair[0].__module__.startswith("arraydispatch.")],
        "signals": [signal.getsignal(s) for s in signal.valid_signals()],
        "import": builtins.__import__, "class statement": builtins.__build_class__,
        "memoryview": (memoryview(b"ab").tolist(), memoryview(np.arange(2).data).tolist()),
    }
    found.update((f"state: {key}", repr(value)) for key, value in state.items())
    return found

before = snapshot()
import arraydispatch as ad
after_import = snapshot()
for x in (ad.asarray(np.arange(12.0).reshape(3, 4), backend=library), ad.asarray(np.arange(12), backend=library)):
    y = x + x * 2 - 1
    x[0] = 1
    x.T.copy(), y.sum(), np.sin(x), np.where(y > 1, x, y), np.concatenate([x, x]), np.asarray(x), np.sort(y, axis=None), x.tolist(), repr(x)
    pickle.loads(pickle.dumps(x)), x.data.nbytes, np.array([x, x])
    with ad.profile():
        np.linalg.norm(x + 0.5)
import scipy.special, scipy.linalg
with ad.fallback("silent"):
    scipy.special.erf(ad.asarray([0.5], backend=library)), scipy.linalg.toeplitz(ad.asarray([0.5, 1.0], backend=library))
import arraydispatch.sparse
ad.sparse.csr_array(np.eye(3)) @ ad.asarray(np.ones(3), backend="numpy")
with ad.interop.installed():
    assert type(scipy.linalg.toeplitz(ad.asarray([0.5, 1.0], backend=library))) is ad.Array
    scipy.stats.zscore(ad.asarray([0.5, 1.0], backend=library))
if library != "numpy":
    ad.grad(lambda v: (v * v).sum())(ad.asarray([1.0, 2.0], backend=library))
after = snapshot()

def changed(one, other):
    return sorted(key for key in one if key in other and one[key] != other[key] or key not in other)

ad.install(library, min_size=0)
assert np is not sys.modules["numpy"] and type(np.ones(3)) is np.ndarray is not vars(sys.modules["numpy"])["ndarray"]
import pandas
pandas.Series(np.ones(3)).mean()
installed = snapshot()
ad.uninstall()
assert np is sys.modules["numpy"] and np.ndarray is type(np.ones(3))
uninstalled = snapshot()
with ad.accelerated(library):
    np.sin(np.ones(3))
    import numpy.linalg as imported
assert imported is np.linalg
ad.accelerate(lambda: np.sin(np.ones(3)))()
left = snapshot()

print(json.dumps([changed(*pair) for pair in
                  ((before, after_import), (before, after), (after, installed), (after, uninstalled), (after, left))]))
"""


@pytest.fixture(scope="module", params=["numpy", "jax", "torch", "tensorflow"])
def snapshots(request: pytest.FixtureRequest) -> list[list[str]]:
    """Names of what is another after the import, after the use of a library that was imported before, and by ways in after that."""
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    done = subprocess.run([sys.executable, "-c", PROGRAM, request.param], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found: list[list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture
def changed(snapshots: list[list[str]]) -> tuple[list[str], list[str]]:
    """Names of what is another after the import, and after the use."""
    return snapshots[0], snapshots[1]


def test_no_attribute_or_slot_is_another(changed: tuple[list[str], list[str]]) -> None:
    assert changed == ([], [])


def test_ways_in_are_undone_completely(snapshots: list[list[str]]) -> None:
    """``ad.uninstall`` and the ends of ``ad.accelerated`` and ``@ad.accelerate`` put everything back; ``ad.install`` does show."""
    installed, uninstalled, left = snapshots[2:]
    assert {"builtins.__import__", "warnings._showwarnmsg"} <= set(installed)
    assert (uninstalled, left) == ([], [])


def test_the_look_would_find_a_slot() -> None:
    """The snapshot sees what an attribute does not show: a class's slots."""
    code = PROGRAM.partition("before = snapshot()")[0] + (
        "class Own:\n    pass\nbuiltins.Own = Own\none = snapshot()\nOwn.__add__ = lambda x, y: 1\nassert snapshot() != one"
    )
    done = subprocess.run([sys.executable, "-c", code, "numpy"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
