"""Small ndarrays that other code holds are operands of the thin path: the data of a sparse matrix beside arrays of the program's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import warnings
warnings.simplefilter("error")
import numpy as np
from scipy import sparse

m = sparse.csr_array(np.arange(12.0).reshape(3, 4))
v, places = m.data[:4], m.indices[:4]
half, swapped, text, whole = v.astype("f2"), v.astype(">f8"), v.astype("U4"), v.astype(object)
x, i, S, big = np.arange(4.0), np.arange(4), np.arange(16.0).reshape(4, 4), np.zeros(1000)

def tell(a):
    if isinstance(a, tuple):
        return [tell(b) for b in a]
    return (type(a).__name__, a.dtype.str, a.shape, a.tolist()) if isinstance(a, (np.ndarray, np.generic)) else a

for line in '''
v @ x
x @ v
v @ S
S @ v
v + x
x + v
x * places
places * x
i + places
v > x
x ** places
np.arctan2(v, x)
np.hypot(x, v)
np.divmod(x, v)
np.add(v, x, x).tolist(), x.tolist()
np.matmul(v, S, out=x).tolist(), x.tolist()
half + x
half + i
x + half
swapped + x
x + swapped
text == x
whole + x
v[:0] @ x[:0]
v[:, None] + x
v + x[:3]
v @ x[:3]
v.reshape(()) + x
v[:1].reshape(()) + x
big + v[:1]
v[:1] + big
np.broadcast_to(v[:1], 1000)[:4] + x
v + 1j * x
S @ sparse.csr_array(S).data
(v - x).base
'''.strip().splitlines():
    try:
        print(line, tell(eval(line)))
    except Exception as error:
        print(line, type(error).__name__, error)
    x[:] = range(4)
for line in "x += v", "x -= places", "S *= v", "i += v", "i += places", "x @= v", "v += x", "places += x", "x += swapped", "x += text":
    try:
        exec(line)
    except Exception as error:
        print(line, type(error).__name__, error)
    print(line, tell((x, S, i)), v[:2].tolist(), places[:2].tolist())
    x[:] = i[:] = range(4)
x.flags.writeable = False
try:
    x += v
except ValueError as error:
    print(error)
"""
COUNTED = """
import numpy as np
from scipy import sparse
from arraydispatch._core.handles import Handle
from arraydispatch.fastpath.results import path

v, x = sparse.csr_array(np.eye(4)).data, np.arange(4.0)
assert type(x) is not type(v) or not isinstance(v, Handle)
before = path.calls
for _ in range(50):
    v @ x, x @ v, v + x, x * v
    x += v
print(path.calls - before, isinstance(v + x, Handle))
"""


@pytest.mark.parametrize("options", [(), ("--min-size", "3", "--execution", "fused")], ids=["default", "fused"])
@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_results_are_those_of_plain_python(backend: str, options: tuple[str, ...], tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    launcher = [sys.executable, "-m", "arraydispatch", "run", "--backend", backend, *options, str(script)]
    plain, ours = (
        subprocess.run(command, capture_output=True, text=True) for command in ([sys.executable, str(script)], launcher)
    )
    assert plain.returncode == 0, plain.stderr
    assert (ours.returncode, ours.stdout) == (0, plain.stdout), ours.stderr


def test_they_take_the_thin_path(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    script = tmp_path / "script.py"
    script.write_text(COUNTED)
    launcher = [sys.executable, "-m", "arraydispatch", "run", "--backend", "numpy", str(script)]
    ran = subprocess.run(launcher, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["250", "True"]
