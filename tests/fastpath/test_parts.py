"""Attributes that are views, and functions with several results, by the thin path: as NumPy's, and with the right owners."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import warnings
warnings.simplefilter("error")
import numpy as np
z = np.arange(4.0) + 1j
part = z.real
part[1] = 9
z.imag[0] = 7
z.real = z.real * 2
print(z, part, part.base is z, z.real.dtype, z.imag.base is z, z[::2].real.base is z)
b = np.arange(3.0)
print(b.real is b, b.imag, b.imag.flags.writeable, np.arange(6).reshape(2, 3).T.base is not None)
m = b > 1
print(np.where(m), np.nonzero(m), np.unique(b, return_counts=True), np.where(m, b, 0))
(i,) = np.nonzero(m)
i += 1
print(i, np.divmod(b, 2), divmod(7, b + 1), np.modf(b), np.broadcast_arrays(b, np.ones((2, 3)))[0].base is None)
x, y = np.arange(4.0), np.ones(4)
np.maximum(x, y, out=x)
x += y
x *= 2
np.clip(x, 0, 3, out=y)
print(x, y, np.add(2, 3), np.add(x, [1, 2, 3, 4]), x**2, 2**x, x == "a")
for refused in ("i += 0.5", "x += np.ones((5, 4))", "b.imag[0] = 1", "np.add(x, y, z, x)"):
    try:
        exec(refused)
    except Exception as error:
        print(type(error).__name__, error)
"""


LARGE = """
import numpy as np
a = np.arange(48.0).reshape(6, 8)
z = a + 1j
print(np.shape(a), np.ndim(z), np.size(a, 1), np.iscomplexobj(z), np.result_type(a, 1j), np.may_share_memory(a, a[2:]), type(np.shape(a)))
views = [
    np.ravel(a), np.reshape(a, (8, 6)), np.transpose(a), np.expand_dims(a, 0), np.swapaxes(a, 0, 1), np.squeeze(a[None]), np.flip(a), np.rot90(a),
    np.moveaxis(a, 0, 1), np.atleast_3d(a), np.broadcast_to(a, (2, 6, 8)), np.diag(a), np.diagonal(a, 1), np.real(a), np.real(z), np.imag(z),
    a.view(), a.view(np.int64), a.view("u1"), a.view(dtype=np.int64), np.ravel(a[:, 1:]), np.imag(a), np.conj(a), z.conj(), a.conj(),
    a.conjugate(), z.conjugate(), np.diag(a[0]), np.reshape(a.T, 48), *np.split(a, 2), *np.hsplit(a, [3]), np.array_split(a, 4)[1], np.meshgrid(a[0], a[1])[0],
]
for seen in views:
    root = seen
    while root.base is not None:
        root = root.base
    print(seen.dtype, seen.shape, seen.strides, seen.flags.writeable, root is a, root is z, seen.ravel()[:3])
a[0, 1] = -7.0
print([seen.ravel()[1:3].tolist() for seen in views])
b, c = np.empty_like(a), a * 2
np.copyto(b, a); np.copyto(b, 3, where=a > 30); np.fill_diagonal(b, -1); np.put(b, [5, 7], [0.5, 0.25]); np.place(b, a < 5, [9, 8])
np.putmask(b, a == 20, c); np.put_along_axis(b, np.array([[1], [2], [3], [4], [5], [6]]), 100, 1); np.copyto(b[:2], c[0]); np.copyto(dst=b[3], src=1)
print(b, c.sum(), np.copyto(b, b), np.put(b, 3, 3))
a.flags.writeable = False
for refused in (
    "np.copyto(a, 1)", "np.copyto(b, z)", "np.put(b, [99], 1)", "np.fill_diagonal(b[0], 1)", "np.reshape(a, 7)", "np.transpose(a, (0, 0))", "np.copyto(1, a)",
    "np.copyto([1.0] * 8, a[0])", "a.view(np.int8, 3)", "a.view('nonsense')", "np.split(a, 5)", "np.put(a, 1, 2)", "np.shape(a, 1)", "np.squeeze(a, 0)", "z.T.view(float)",
):
    try:
        print(exec(refused))
    except Exception as error:
        print(refused, type(error).__name__, error)
"""


@pytest.mark.parametrize("program", [SCRIPT, LARGE], ids=["small", "large"])
@pytest.mark.parametrize(
    "options", [(), ("--min-size", "3"), ("--min-size", "3", "--execution", "fused")], ids=["default", "many", "fused"]
)
@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_a_script_prints_what_it_prints_plainly(
    backend: str, options: tuple[str, ...], program: str, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(program)
    launcher = [sys.executable, "-m", "arraydispatch", "run", "--backend", backend, *options, str(script)]
    plain, ours = (
        subprocess.run(command, capture_output=True, text=True) for command in ([sys.executable, str(script)], launcher)
    )
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout == plain.stdout
