"""scikit-learn, SciPy, array-api-extra, einops and xarray on arrays of each backend: NumPy's results, in an ``Array``.

In a process of their own, because SciPy reads ``SCIPY_ARRAY_API`` when it is imported.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import arraydispatch as ad
from tests.rows import SHARE

pytest.importorskip("array_api_extra")
pytest.importorskip("einops")
pytest.importorskip("sklearn")
pytest.importorskip("xarray")


@functools.cache
def results(one_of: int, seed: int) -> dict[str, dict[str, Any]]:
    """Backend -> library -> what is wrong; all in one process: importing the libraries takes longer than most of the cases."""
    script = Path(__file__).parent / "consumers.py"
    done = subprocess.run([sys.executable, str(script), str(one_of), str(seed)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


AT_LEAST = {"sklearn": 60, "scipy": 100, "array-api-extra": 20, "einops": 5, "xarray": 50}


@pytest.mark.slow
@pytest.mark.parametrize("library", AT_LEAST)
def test_consumer(library: str, seed: int, request: pytest.FixtureRequest) -> None:
    share = 1 if request.config.option.whole else SHARE
    found = results(share, seed)
    libraries = [name for name in ad.available_backends() if name != "numpy"]
    assert (list(found) == libraries) if share == 1 else (len(found) == 1 and set(found) <= set(libraries))
    for backend, tables in found.items():
        wrong = dict(tables[library])
        assert wrong.pop("cases") * (share if backend == "jax" else 1) >= AT_LEAST[library], backend
        assert wrong == {}, backend
