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


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_a_script_prints_what_it_prints_plainly(backend: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    launcher = [sys.executable, "-m", "arraydispatch", "run", "--backend", backend, str(script)]
    plain, ours = (
        subprocess.run(command, capture_output=True, text=True) for command in ([sys.executable, str(script)], launcher)
    )
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout == plain.stdout
