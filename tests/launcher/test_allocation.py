"""Memory: what there is none for is a MemoryError, and an element of a view does not take all of the view."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.launched import Done, Zygotes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inapplicable: limits and peaks as Linux has them")

# TensorFlow's own allocator waits ten seconds, each time, for memory that others may give back.
TOO_LARGE = """\
import os, re, resource, sys
os.environ["TF_ONEDNN_USE_SYSTEM_ALLOCATOR"] = "1"
import numpy as np

a, b, big, three = np.ones(300_000), np.arange(4.0), np.ones((400_000, 1)), np.ones(3)
if len(sys.argv) > 1:  # as a library's user has them
    import arraydispatch as ad
    ad.use(sys.argv[1])
    a, b, big, three = map(ad.asarray, (a, b, big, three))
column, window = a[:, None], np.broadcast_to(a, (10**6, 300_000))
(a + 1).sum(), a @ a, np.outer(b, b), np.concatenate([a, a]), b * b[:, None], (b[:, None] @ b[None]).sum()
limit = int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024 + (6 << 30)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def tried(name, does):
    try:
        does()
    except MemoryError as error:
        print(name, "MemoryError", *re.findall(r"allocate [\\d.]+ .iB", str(error) * (name != "resize")))  # of which NumPy says none
    except BaseException as error:
        print(name, type(error), error)
    else:
        print(name, "is there")


tried("outer", lambda: np.outer(a, a))
tried("operator", lambda: column * a)
tried("first operator of its kind", lambda: np.float32(3) * column - a)
tried("ufunc.outer", lambda: np.add.outer(a, a))
tried("matmul", lambda: big @ big.T)
tried("zeros", lambda: np.zeros((400_000, 400_000)))
tried("zeros_like", lambda: np.zeros_like(a, shape=(400_000, 400_000)))
tried("full", lambda: np.full((400_000, 400_000), 3.0))
tried("tile", lambda: np.tile(a, 10**6))
tried("repeat", lambda: np.repeat(a, 10**6))
tried("pad", lambda: np.pad(a, (0, 10**12)))
tried("kron", lambda: np.kron(a, a))
tried("meshgrid", lambda: np.meshgrid(a, a))
tried("vander", lambda: np.vander(a, 10**6))
tried("copy", lambda: window.copy())
tried("astype", lambda: window.astype(np.float32))
tried("concatenate", lambda: np.concatenate([window, window]))
tried("unary", lambda: -window)
tried("comparison", lambda: window > 3)
tried("method", lambda: window.cumsum())
tried("array", lambda: np.array(window))
tried("array of another dtype", lambda: np.array(window, np.float32))
tried("array of arrays", lambda: np.array([window, window]))
tried("resize", lambda: three.resize(10**14))
print(a.sum(), (a * 2)[:3], b, np.outer(b, b).sum(), column.shape)
"""


MADE_WHOLE = {"concatenate", "comparison", "array of arrays"}
"""What JAX and TensorFlow compute of all elements of a view, which are what they ask memory for."""
COMPILED = MADE_WHOLE | {"astype", "array of another dtype"}
"""Likewise in compiled blocks, their default."""


def check_like_numpys(done: Done, plain: Done, made_whole: set[str]) -> None:
    """The errors, with the sizes that NumPy names, and all arrays as before."""
    assert done.code == 0, done.stderr
    for line, wanted in zip(done.stdout.splitlines(), plain.stdout.splitlines(), strict=True):
        if wanted.partition(" MemoryError ")[0] in made_whole:
            wanted = f"{wanted.partition(' allocate')[0]} allocate 2.18 TiB"
        assert line == wanted


def test_what_there_is_no_memory_for_is_a_memory_error(tmp_path: Path, zygotes: Zygotes, backend: str) -> None:
    (tmp_path / "main.py").write_text(TOO_LARGE)
    plain = zygotes.plain.run("main.py", cwd=tmp_path)
    assert plain.stdout.count(" MemoryError allocate ") == 23, plain.stdout
    made_whole = MADE_WHOLE if backend in ("jax", "tensorflow") else set()
    for options in (("--min-size", "0"), ()):
        done = zygotes.of(backend).run("main.py", cwd=tmp_path, options=options)
        check_like_numpys(done, plain, made_whole if options else made_whole and COMPILED)
    done = zygotes.with_library(backend).run("main.py", backend, cwd=tmp_path)
    check_like_numpys(done, plain, made_whole - {"array of arrays"})  # which NumPy makes of a user's


ELEMENTS = """\
import re
import numpy as np

x = np.arange(1e6)
x[3], (x + 1)[:2]


def windows():
    return np.lib.stride_tricks.sliding_window_view(x, 150)


def peak(does):
    open("/proc/self/clear_refs", "w").write("5")
    before = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
    found = does()
    after = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
    print(found, type(found).__name__, after - before < 100_000 or after - before)


wide, tall = np.broadcast_to(x, (1000, 10**6)), np.broadcast_to(x[:, None], (10**6, 1000))
for view in (windows(), wide, tall):
    for does in (lambda: view[3, 4], lambda: view[-1, -2], lambda: view.item(3, 4), lambda: view.item(70), lambda: view.flat[-7],
                 lambda: len(repr(view)), lambda: str(view)[:20], lambda: view.T[5, 6], lambda: view[[3, 4], [5, 6]], lambda: view[np.array([9, 2])].sum(), lambda: next(iter(view))[2]):
        peak(does)
last = windows()
x[5] = -1
peak(lambda: last[3, 2])
peak(lambda: last[[5], [0]])
try:
    wide[3, 10**6]
except IndexError as error:
    print(error)
"""


@pytest.mark.parametrize("least", ["0", "262144"])
def test_an_element_of_a_large_view_takes_no_memory(tmp_path: Path, zygotes: Zygotes, backend: str, least: str) -> None:
    (tmp_path / "main.py").write_text(ELEMENTS)
    plain = zygotes.plain.run("main.py", cwd=tmp_path)
    assert plain.code == 0, plain.stderr
    done = zygotes.of(backend).run("main.py", cwd=tmp_path, options=("--min-size", least))
    assert (done.code, done.stdout) == (0, plain.stdout), done.stderr
