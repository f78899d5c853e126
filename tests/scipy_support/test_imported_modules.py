"""A launched program imports the modules of SciPy that it would import in plain Python, and no other: ``scipy.stats`` takes half a second."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("scipy")

ROOT = Path(__file__).parents[2]
PROGRAMS = {
    "spatial": "from scipy.spatial.distance import pdist; pdist(x[:, None])",
    "special": "from scipy import special; special.erf(x); special.logsumexp(x)",
    "signal": "from scipy import signal; signal.lfilter([1.0], [1.0, 0.5], x); signal.savgol_filter(x, 5, 2)",
    "integrate": "from scipy import integrate; integrate.simpson(x)",
    "ndimage": "from scipy import ndimage; ndimage.gaussian_filter(x, 1)",
    "sparse": "from scipy import sparse; sparse.csr_matrix(np.eye(3)) @ np.ones(3)",
    "linalg": "from scipy import linalg; linalg.solve(np.eye(3), x[:3])",
}
SCRIPT = """
import json, sys
import numpy as np
x = np.linspace(0, 1, 50)
{}
loaded = [name for name in sys.modules if name.startswith("scipy.") and name.count(".") == 1 and not name.startswith("scipy._")]
print(json.dumps(sorted(loaded)))
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_other_module_is_imported(name: str, tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(PROGRAMS[name]), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = []
    for command in ([], ["-m", "arraydispatch", "run"]):
        done = subprocess.run(
            [sys.executable, *command, str(path)], env=env, capture_output=True, text=True, check=True
        )
        found.append(set(json.loads(done.stdout)))
    plain, launched = found
    assert launched <= plain


LOOKS = """
from arraydispatch.launcher.package_patches import Doors
count, real = [0], Doors._open_news
def counted(self):
    count[0] += 1
    real(self)
Doors._open_news = counted
import sys
before = len(sys.modules)
import scipy.signal
print(count[0], len(sys.modules) - before)
"""


def test_tables_are_looked_through_for_few_of_the_imports(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(LOOKS, encoding="utf-8")
    command = [sys.executable, "-m", "arraydispatch", "run", str(path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    looks, modules = map(int, done.stdout.split())
    assert 0 < looks < modules / 2
