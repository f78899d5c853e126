"""Functions of other packages: library use changes those that the registry lists for it, a run those that it lists, and after a run they are back."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROBE = '''\
"""Attributes of modules and classes of CPython, NumPy, SciPy and others, as they were and as they are."""
import sys
from types import ModuleType

OURS = "arraydispatch"
PYTHONS = set(sys.builtin_module_names) | set(sys.stdlib_module_names)


def holders():
    found = {}
    for name, module in list(sys.modules.items()):
        if type(module) is not ModuleType or name.partition(".")[0] in (OURS, "probe", "__main__", "main", "sitecustomize"):
            continue
        found[id(module)] = name, module
        for value in list(vars(module).values()):
            if isinstance(value, type) and not str(value.__module__).startswith(OURS):
                found[id(value)] = f"{value.__module__}:{value.__qualname__}", value
    return found


def take():
    """All attributes that are called, or may be; what is kept is alive, so its id is no other's."""
    return {key: (name, holder, dict(vars(holder))) for key, (name, holder) in holders().items()}


def is_called(value):
    return callable(value) or isinstance(value, (staticmethod, classmethod, property))


def of_ours(value):
    value = getattr(value, "__func__", value)
    return str(getattr(value, "__module__", "")).startswith(OURS) or type(value).__module__.startswith(OURS)


def changed(before):
    """(holder, attribute) of what is another function now, or is one of arraydispatch's, or is gone."""
    found = []
    for name, holder, were in before.values():
        now = vars(holder)
        for attribute, value in were.items():
            if is_called(value) and now.get(attribute) is not value and attribute not in ("__abstractmethods__", "__getattr__"):
                found.append((name, holder, attribute))
        for attribute, value in list(now.items()):
            if attribute not in were and is_called(value) and of_ours(value):
                found.append((name, holder, attribute))
    return found


def unlisted(before, library_only):
    """Those that no exchange of the registry that is in force has put there."""
    exchanges = sys.modules.get("arraydispatch.common.patching")
    listed = set()
    if exchanges is not None:
        for (holder, name), stack in exchanges._stacks.items():
            rows = [exchanges.SURFACES.get(each.row) for each in stack if each.on]
            if rows and (not library_only or any(row is not None and row.library for row in rows)):
                listed.add((holder, name))
    return sorted({f"{name}.{attribute}" for name, holder, attribute in changed(before) if (id(holder), attribute) not in listed})
'''

LIBRARY = """\
import importlib, sys
import numpy as np
for name in ("scipy.linalg", "scipy.special", "scipy.stats", "scipy.signal", "scipy.ndimage", "scipy.sparse", "xarray", "dask.utils", sys.argv[1]):
    importlib.import_module(name)
import probe

before = probe.take()
import arraydispatch as ad
print(probe.unlisted(before, True))
ad.use(sys.argv[1])
x = ad.asarray(np.arange(12.0).reshape(3, 4))
np.sort(x), np.median(x), x @ x.T, (x + 1).sum(), memoryview(np.asarray(x)), bytes(x.to_numpy())
x[1:] = 2
import scipy.linalg
with ad.fallback("silent"):
    scipy.linalg.norm(x), scipy.special.erf(x)
print(probe.changed(before) == [])
ad.interop.install()
scipy.linalg.norm(x), scipy.special.erf(x), scipy.stats.zscore(x)
print(len(probe.changed(before)) > 100, probe.unlisted(before, True))
ad.interop.uninstall()
print(probe.changed(before) == [])
"""

ALONE = """\
import sys
import asyncio, logging, multiprocessing.pool
import numpy as np, numpy.ctypeslib, numpy.testing
import probe

before, finders = probe.take(), list(sys.meta_path)
import arraydispatch as ad
print(probe.changed(before), [each for each in sys.meta_path if each not in finders])
x = ad.asarray([1.0, 2.0], backend="numpy")
print(np.sum(np.sort(x) + 1), probe.changed(before))
"""

RUN = """\
import atexit, importlib, sys
for name in ("pandas", "h5py", "PIL.Image", "scipy.sparse.linalg", "scipy.stats", "sklearn.model_selection", "joblib", "dill", "cloudpickle", "xarray",
             "dask.array", "numba", "numexpr", "multiprocessing.pool", "asyncio", "logging", sys.argv[1]):
    importlib.import_module(name)
import probe
from arraydispatch import array
from arraydispatch.launcher import runner
from arraydispatch.launcher.commands import cli

probe.before = probe.take()
atexit.register(lambda: print(probe.unlisted(probe.before, True)))  # after the run's own end, which is at exit too
print(cli.main(["run", "--backend", sys.argv[1], "main.py"]))
"""

PROGRAM = """\
import numpy as np, pandas as pd, scipy.stats, numba, warnings
from sklearn.base import BaseEstimator
import probe

class Has:
    def __array__(self, dtype=None, copy=None):
        return np.ones(3)

x = np.linspace(0.0, 1.0, 300_000)
print(np.sum(np.sort(x) * 2 + Has().__array__()[0]) > 0, pd.Series(x[:4]).sum() > 0, scipy.stats.gmean(x[1:9]) > 0)
during = probe.changed(probe.before)
print(len(during) > 1000)
print(probe.unlisted(probe.before, False))
"""


def _lines(folder: Path, text: str, *args: str) -> list[str]:
    (folder / "probe.py").write_text(PROBE)
    (folder / "main.py").write_text(PROGRAM)
    (folder / "driver.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "driver.py", *args],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_import_changes_nothing(tmp_path: Path) -> None:
    assert _lines(tmp_path, ALONE) == ["[] []", "5.0 []"]


@pytest.mark.slow
@pytest.mark.one_backend
@pytest.mark.parametrize("library", ["jax", "torch", "tensorflow"])
def test_library_use_changes_what_the_registry_lists(tmp_path: Path, library: str) -> None:
    for name in ("scipy", "xarray", "dask", library):
        pytest.importorskip(name)
    assert _lines(tmp_path, LIBRARY, library) == ["[]", "True", "True []", "True"]


@pytest.mark.slow
@pytest.mark.one_backend
@pytest.mark.parametrize("library", ["jax", "torch", "tensorflow"])
def test_a_run_changes_what_the_registry_lists_and_puts_it_back(tmp_path: Path, library: str) -> None:
    for name in (
        "pandas",
        "h5py",
        "PIL",
        "sklearn",
        "joblib",
        "dill",
        "cloudpickle",
        "xarray",
        "dask",
        "numba",
        "numexpr",
        library,
    ):
        pytest.importorskip(name)
    assert _lines(tmp_path, RUN, library) == ["True True True", "True", "[]", "0", "[]"]


INSTALLED = """\
import numpy as np
import scipy.linalg, scipy.signal
import probe

before = probe.take()
import arraydispatch as ad
x = ad.asarray(np.eye(2), backend="numpy")
for begin, end in ((ad.install, ad.uninstall), (ad.interop.install, ad.interop.uninstall)):
    begin()
    begin()
    print(isinstance(scipy.linalg.expm(x), ad.Array))
    with ad.interop.installed():
        pass
    print(isinstance(scipy.signal.convolve(x, x), ad.Array))
    end()
    print(type(scipy.linalg.expm(x)).__name__, probe.changed(before))
"""


def test_what_is_installed_is_taken_out(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    assert _lines(tmp_path, INSTALLED) == ["True", "True", "ndarray []"] * 2


# -- in the source -----------------------------------------------------------------------------------------------------

_ALLOWED = {
    "os.environ", "sys.__stdin__", "sys.argv", "sys.excepthook", "sys.modules", "sys.path", "sys.stdin", "warnings.filters",
}  # fmt: skip
"""Of the interpreter and the process: what is set of them is in the registry, but for the environment, modules of this package's, and the
standard input of one of several processes that run a script.
"""


def _written(text: str) -> set[str]:
    """The attributes of imported modules and classes that a module's text assigns to, deletes or sets an item of."""
    tree = ast.parse(text)
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {(each.asname or each.name).partition(".")[0] for each in node.names}
        elif (
            isinstance(node, ast.ImportFrom) and not node.level and not (node.module or "").startswith("arraydispatch")
        ):
            imported |= {each.asname or each.name for each in node.names}
    places: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.Delete):
            places += node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            places.append(node.target)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
            places.append(ast.Attribute(node.args[0], "any"))
    found = set()
    for place in places:
        inner: ast.expr = place
        while isinstance(inner, ast.Subscript):
            inner = inner.value
        owner = inner
        while isinstance(owner, ast.Attribute | ast.Subscript):
            owner = owner.value
        if isinstance(inner, ast.Attribute) and isinstance(owner, ast.Name) and owner.id in imported:
            found.add(ast.unparse(inner))
    return found


def test_no_module_writes_to_another_package_but_by_the_registry() -> None:
    found = {
        (str(path.relative_to(ROOT)), place)
        for path in (ROOT / "arraydispatch").rglob("*.py")
        for place in _written(path.read_text(encoding="utf-8"))
    }
    assert {place for _, place in found} == _ALLOWED, sorted(found)


def test_that_would_be_seen() -> None:
    assert _written("import scipy.linalg as la\nfrom numpy import ndarray\nla.solve = 1\nsetattr(ndarray, 'x', 2)") == {
        "la.solve",
        "ndarray.any",
    }
    assert _written("from . import state\nstate.x = 1\nx = {}\nx['a'] = 2") == set()
