"""Under the launcher memory that arrays have left is used again, without new pages from the system."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arraydispatch.runtime import resources

ROOT = Path(__file__).parents[2]
SCRIPT = """
import resource
import numpy as np
a = np.ones(500_000)
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        b = a * 2
        c = np.sort(b) + a
        del b, c
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults()
print(faults())
"""


def faults(path: Path, *command: str, **more: str) -> int:
    env = {name: value for name, value in os.environ.items() if name not in resources.HEAP}
    env |= {"PYTHONPATH": str(ROOT), **more}
    done = subprocess.run([sys.executable, *command, str(path)], env=env, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"), reason="inapplicable: another C library")
def test_freed_memory_is_used_again(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    launched = ["-m", "arraydispatch", "run", "--backend", "numpy"]
    pages = 20 * 500_000 * 8 // 4096
    assert faults(path, *launched) < pages / 10
    assert faults(path, *launched, GLIBC_TUNABLES=resources.LARGE_PAGES) < pages / 10
    # What the user has told the C library stays.
    assert faults(path, *launched, MALLOC_TRIM_THRESHOLD_="131072", MALLOC_MMAP_THRESHOLD_="131072") > pages


def test_the_state_of_errors_is_what_it_was(tmp_path: Path) -> None:
    """The short paths ask for that very object: with another one of the same content, every call looked for errors."""
    path = tmp_path / "script.py"
    path.write_text(
        "from arraydispatch.dispatch import fp_errors\nprint(int(fp_errors.in_force() is fp_errors.UNTOUCHED))\n"
    )
    assert faults(path, "-m", "arraydispatch", "run", "--backend", "numpy") == 1


LARGE = """
import threading
import numpy as np
from arraydispatch._core import _allocator
size = 5_000_000
def name(x):
    return np._core.multiarray.get_handler_name(x)
def at(x):
    return x.__array_interface__["data"][0]
assert _allocator.keep(1 << 25, 1 << 29) and _allocator.kept() == 0
a = np.ones(size)
first = at(a)
assert name(a) == "arraydispatch"
view = a[1:]
del a
assert _allocator.kept() == 0 and view.sum() == size - 1  # the memory is held
del view
room = _allocator.kept()
assert 8 * size <= room < 8 * size * 17 / 16
b = np.zeros(size - 1000)  # the same block, of zeros
assert at(b) == first and not b.any() and _allocator.kept() == 0
b.resize(size + 1000, refcheck=False)
assert not b.any() and b.size == size + 1000
del b
for more in range(-3000, 4000, 1000):  # in turn, of about one size: all the same block
    assert _allocator.kept() == room
    b = np.full(size + more, 2.0)
    assert _allocator.kept() == 0
    del b
c = np.empty(size // 8)  # too small for it
assert _allocator.kept() == room
del c
def resident():
    with open("/proc/self/statm") as told:
        return int(told.read().split()[1]) * 4096
before, n = resident(), 40_000_000
while n > size:  # what has been left is not forgotten
    np.ones(n)
    n = n * 9 // 10
assert resident() - before < _allocator.kept() + (1 << 24), (resident() - before, _allocator.kept())
_allocator.keep(1 << 25, 0)
_allocator.keep(1 << 25, 1 << 29)
held = [np.empty(n * 1_000_000, np.uint8) for n in range(40, 60)]
del held
assert 0 < _allocator.kept() <= 1 << 29
np.empty(600_000_000, np.uint8)  # more than is kept of all together
assert _allocator.kept() <= 1 << 29
try:
    np.empty(10**15)
except MemoryError as error:
    assert "Unable to allocate" in str(error)
assert _allocator.kept() == 0  # given back before it was refused
def work(seed):
    rng = np.random.default_rng(seed)
    for i in range(50):
        x = np.full(size + int(rng.integers(0, 1000)), float(seed))
        y = x[::2]
        del x
        assert (y == seed).all()
import contextvars
threads = [threading.Thread(target=contextvars.copy_context().run, args=(work, i)) for i in range(4)]
for thread in threads:
    thread.start()
work(9)
for thread in threads:
    thread.join()
d = np.ones(size)
assert _allocator.keep(1 << 25, 0) and _allocator.kept() == 0 and name(np.ones(3)) == "default_allocator"
del d  # made before
assert _allocator.kept() == 0
print("ok")
"""


def test_memory_of_large_arrays_is_used_again(tmp_path: Path) -> None:
    pytest.importorskip("arraydispatch._core._allocator", reason="inapplicable: it is compiled")
    done = subprocess.run(
        [sys.executable, "-c", LARGE], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.stdout == "ok\n", done.stderr
    path = tmp_path / "script.py"
    path.write_text("import numpy as np\nprint(np._core.multiarray.get_handler_name())\n", encoding="utf-8")
    for more, name in (({}, "arraydispatch"), ({"MALLOC_TRIM_THRESHOLD_": "131072"}, "default_allocator")):
        env = {key: value for key, value in os.environ.items() if key not in resources.HEAP} | {
            "PYTHONPATH": str(ROOT),
            **more,
        }
        command = [sys.executable, "-m", "arraydispatch", "run", "--backend", "numpy", str(path)]
        assert subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout == f"{name}\n"


def test_threads_of_openblas_sleep_sooner(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text("import os\nprint(os.environ['OPENBLAS_THREAD_TIMEOUT'])\n", encoding="utf-8")
    command = [sys.executable, "-m", "arraydispatch", "run", "--backend", "numpy", str(path)]
    for more, said in (({}, "17"), ({"OPENBLAS_THREAD_TIMEOUT": "26"}, "26")):
        env = {**os.environ, "PYTHONPATH": str(ROOT), **more}
        assert subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout == f"{said}\n"


MAPPED = """
import ctypes
import threading
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]
library.mallinfo2.restype = Info
before = library.mallinfo2().hblkhd
def work():
    library.malloc(100_000_000)
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(library.mallinfo2().hblkhd - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="inapplicable: another C library")
@pytest.mark.parametrize("name", ["jax", "torch", "tensorflow"])
def test_large_results_of_a_librarys_threads_are_kept_too(tmp_path: Path, name: str) -> None:
    pytest.importorskip(name)
    path = tmp_path / "script.py"
    path.write_text(MAPPED, encoding="utf-8")
    assert faults(path, "-m", "arraydispatch", "run", "--backend", name) == 0
