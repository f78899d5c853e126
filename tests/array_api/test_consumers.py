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
def results(backend: str, one_of: int, seed: int) -> dict[str, Any]:
    script = Path(__file__).parent / "consumers.py"
    command = [sys.executable, str(script), backend, str(one_of), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


AT_LEAST = {"sklearn": 60, "scipy": 100, "array-api-extra": 20, "einops": 5, "xarray": 50}


@pytest.mark.slow
@pytest.mark.parametrize("library", AT_LEAST)
@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_consumer(backend: str, library: str, seed: int, request: pytest.FixtureRequest) -> None:
    if backend not in ad.available_backends():
        pytest.skip(f"{backend} is not installed")
    one_of = 1 if backend != "jax" or request.config.option.whole else SHARE
    wrong = dict(results(backend, one_of, seed)[library])
    assert wrong.pop("cases") * one_of >= AT_LEAST[library]
    assert wrong == {}
