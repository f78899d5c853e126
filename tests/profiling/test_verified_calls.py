"""``--verify`` under the launcher compares what the library computes, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.launched import Zygotes

SCRIPT = """\
import numpy as np
x = np.linspace(0.0, 1.0, 2000)
for _ in range(20):
    x[1:-1] = x[1:-1] * 0.5 + np.sin(x[2:])
print(np.sum(x) > 0)
"""


@pytest.mark.one_backend
@pytest.mark.parametrize("least", [None, 1000, 0])
def test_what_numpy_computes_is_not_compared(backend: str, least: int | None, zygotes: Zygotes, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(SCRIPT)
    options = ("--verify", *(() if least is None else ("--min-size", str(least))))
    done = zygotes.of(backend).run("main.py", cwd=tmp_path, options=options, reported=True)
    assert (done.code, done.stdout) == (0, "True\n"), done.stderr
    found = done.report["verification"]
    if least == 0:  # there are no values on the host, and NumPy's backend is compared too
        assert found["checked"] > 100
        assert found["by_numpy"] == 0
    elif least is None or backend == "numpy":
        assert found["checked"] == 0
        assert found["by_numpy"] > 60
        assert "verify: nothing was verified: NumPy itself computed " in done.stderr
        assert ("; with --min-size 0, " in done.stderr) is (backend != "numpy")
    else:
        assert found["checked"] >= 61
        assert found["by_numpy"] >= 20  # slices, and writes of a part
        assert f"results of {backend}, " in done.stderr
    assert found["differing"] == 0
