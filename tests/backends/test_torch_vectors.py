"""Compiled programs on PyTorch give the same numbers whatever vectors a processor has."""

from __future__ import annotations

import os
import platform
import random
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
ROOT = Path(__file__).parents[2]

SCRIPT = """
import sys
import numpy as np
import arraydispatch as ad

def f(arrays):
    found = []
    for x in arrays:
        if x.dtype == bool:
            found += [np.min(x, -1), np.max(x, -1), np.argmin(x, -1), np.argmax(x, -1), np.any(x, -1), np.all(x, -1), np.sum(x)]
            continue
        found += [np.min(x, -1), np.max(x, -1), np.argmin(x, -1), np.argmax(x, -1), np.sum(x, -1), np.prod(x, -1), np.min(x), np.argmin(x)]
        found += [np.minimum.accumulate(x, -1), np.any(x > 4, -1), np.all(x > 1, -1), np.mean(x, 0)]
    return found

arrays = [((np.arange(np.prod(shape)) * 7 + 3) % 11 % 5 + 3).astype(dtype).reshape(shape) for dtype in sys.argv[1] for shape in eval(sys.argv[2])]
made = ad.jit(f)([ad.asarray(x, backend="torch") for x in arrays])
for i, (ours, theirs) in enumerate(zip(made, f(arrays), strict=True)):
    np.testing.assert_allclose(np.asarray(ours), theirs, 1e-14, err_msg=str(i))
print("as NumPy's")
"""


@pytest.mark.parametrize("vectors", ["avx2", pytest.param("default", marks=pytest.mark.long)])
def test_reductions(vectors: str, tmp_path: Path, seed: int, pytestconfig: pytest.Config) -> None:
    """Of dtypes and shapes, whose loops take a C++ compiler seconds each, an ordinary run draws one."""
    dtypes, shapes = "?bBhilQ", [(5,), (9,), (5, 11)]
    if not pytestconfig.option.whole:
        chance = random.Random(seed)
        dtypes, shapes = chance.choice(dtypes), [chance.choice(shapes)]
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "ATEN_CPU_CAPABILITY": vectors,
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path),
        "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",  # for one program they take longer than they save
    }
    if vectors == "avx2":  # as on a processor that has no others: g++ 12 mixes those up with what torch writes for AVX2
        if platform.machine() != "x86_64" or sys.platform != "linux":
            pytest.skip("inapplicable: AVX2 is of other processors")
        compiler = tmp_path / "g++"
        compiler.write_text('#!/bin/bash\nexec g++ "${@/#-march=native/-march=haswell}"\n', encoding="utf-8")
        compiler.chmod(0o755)
        env["CXX"] = str(compiler)
    command = [sys.executable, str(path), dtypes, repr(shapes)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=500)
    assert done.stdout == "as NumPy's\n", done.stderr
