"""Creation functions of many elements on a mesh: their memory is that of the array, and NumPy makes none in vain."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import ctypes
import gc
import importlib.util
import os
import re
import numpy as np

def memory(field):
    return int(re.search(field + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10

def growth(form):
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    file = os.open("/proc/self/clear_refs", os.O_WRONLY)
    os.write(file, b"5")
    os.close(file)
    before, x = memory("VmRSS"), eval(form)
    ends = [float(x[(i,) * x.ndim]) for i in (0, 1, -2, -1)]
    return x, ends, memory("VmHWM") - before

n, m = 1 << 22, 1 << 11
line = np.arange(1.0 * m)
forms = [
    "np.ones(n)", "np.ones((m, m))", "np.ones([m, m], int)", "np.ones((m, m), dtype=float)", "np.zeros((m, m))", "np.full(n, 2.5)", "np.full((m, m), 2.5)",
    "np.full((m, m), 7, dtype=int)", "np.arange(n)", "np.arange(0.0, 1.0 * n)", "np.arange(1.0 * n)", "np.arange(0, 1, 1 / n)", "np.arange(0.0, -0.5 * n, -0.5)",
    "np.arange(5, 5 + n)", "np.arange(0, n, dtype=float)", "np.linspace(0, 1, n)", "np.linspace(0, 1, num=n)", "np.linspace(0, 1, n, endpoint=False)",
    "np.logspace(0, 1, n)", "np.geomspace(-1, -1000, n)", "np.mgrid[0:m, 0:m]", "np.eye(m)", "np.eye(m, m, 1)", "np.eye(m, dtype=int)", "np.identity(m)", "np.tri(m)", "np.indices((m, m))",
    "np.fromfunction(lambda i, j: i + j, (m, m))", "line[:, None] * line", "np.outer(line, line)", "np.add.outer(line, line)", "np.random.rand(n)", "np.random.default_rng(3).normal(size=(m, m))",
]
np.save("rows.npy", np.random.default_rng(5).random((m, m)))
np.save("columns.npy", np.asfortranarray(np.load("rows.npy")))
np.savez("rows.npz", x=np.load("rows.npy"))
np.savez_compressed("packed.npz", x=np.load("rows.npy"))
forms += ["np.load('rows.npz')['x']", "np.load('packed.npz')['x']"]
forms += ["np.load('rows.npy')", "np.load('columns.npy')", "np.negative(np.load('rows.npy', mmap_mode='r'))"]
for name in ("h5py", "zarr"):
    if importlib.util.find_spec(name):
        module = importlib.import_module(name)
        file = module.File("a.h5", "w") if name == "h5py" else module.open_group("a.zarr", mode="w")
        held = file.create_dataset("x", data=np.load("rows.npy")) if name == "h5py" else file.create_array("x", data=np.load("rows.npy"), chunks=(100, m))
        globals()[name] = file
        forms += [f"{name}['x'][:]", f"{name}['x'][2:, 4:]"]
small = [
    "np.ones(5)", "np.ones((2, 3))", "np.full((2, 2), 100000)", "np.arange(0, 1e9, 1e8)", "np.arange(3.0)", "np.arange(1e9, 1e9 + 2)", "np.linspace(0, 1e7, 5)",
    "np.eye(3)", "np.eye(2, 3, k=1)", "np.indices((2, 2))", "np.arange(0, 1, 0.25)",
]
wrong = [
    "np.arange(0.0, float('inf'))", "np.arange(0.0, 1e30)", "np.arange(0.0, 1, 0)", "np.ones((-1, 1 << 20))", "np.eye(-2000)", "np.arange(1.0, float('nan'))",
]
np.random.seed(3)
for form in forms:
    growth(form)
for form in forms:
    for _ in range(4):  # memory of another thread may be in between
        x = None
        x, ends, more = growth(form)
        if (within := LIMIT) is True:
            break
    print(form, x.shape, x.dtype, ends, within)
    del x
for form in small:
    print(form, eval(form).tolist())
for form in wrong:
    try:
        print(form, eval(form))
    except Exception as error:
        print(form, type(error).__name__, error)
"""
LIMIT = "more < (2.6 if 'mmap' in form else 1.6) * x.nbytes or more / x.nbytes"
"""A mapped file is moved, and then computed with."""


def test_memory_of_large_new_arrays(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("inapplicable: the system does not tell a process's peak memory")
    out = []
    for way, limit in ([], "True"), (["-m", "arraydispatch", "run", "--mesh", "2", "--simulated"], LIMIT):
        (tmp_path / "script.py").write_text(SCRIPT.replace("LIMIT", limit))
        run = subprocess.run(
            [sys.executable, *way, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False
        )
        assert run.returncode == 0, run.stderr[-2000:]
        out.append(run.stdout.splitlines())
    assert [pair for pair in zip(*out, strict=True) if pair[0] != pair[1]] == []
