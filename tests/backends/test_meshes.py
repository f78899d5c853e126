"""Meshes of devices: arrays split over eight simulated ones, and the errors of backends and values that have no mesh."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("execution", ["None", "compiled"])
@pytest.mark.parametrize(
    "part", ["calls", "creation", "transforms", "meshes", "printing", "libraries", "halos", "windows"]
)
def test_on_eight_devices(part: str, execution: str, seed: int, pytestconfig: pytest.Config) -> None:
    pytest.importorskip("jax")
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
    compiles = "as for users" if pytestconfig.option.whole else "quickly"
    run = subprocess.run(
        [sys.executable, "-m", "tests.backends.mesh_calls", part, execution, str(seed), compiles],
        cwd=ROOT,
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr[-3000:]


@pytest.mark.parametrize("name", ["numpy", "torch", "tensorflow"])
def test_backends_without_a_mesh(name: str) -> None:
    if name != "numpy":
        pytest.importorskip(name)
    x = ad.asarray([1.0, 2.0], backend=name)
    assert x.sharding is None
    said = f"backend '{name}' does not split arrays over devices"
    with pytest.raises(ad.OptionError, match=said), ad.backend(name), ad.mesh(2):
        pass
    with pytest.raises(ad.OptionError, match=said):
        ad.use(name, mesh="auto")
    for call in (lambda: ad.shard(x, 0), lambda: ad.replicate(x)):
        with pytest.raises(ad.OptionError, match=said):
            call()
    assert ad.default_backend().name == "numpy"


@pytest.mark.parametrize("given", [0, -1, "", "2x", "x", "all", "0x2", 1.5, True, (2, 0), (), None, [2, "4"]])
def test_what_is_no_mesh(given: Any) -> None:
    with pytest.raises(ad.OptionError, match="a mesh is 'auto', a number of devices"):
        ad.mesh(given)


def test_mesh_of_one_device() -> None:
    pytest.importorskip("jax")
    with ad.backend("jax"), ad.mesh(1):
        x = ad.asarray(np.ones((300, 300)))
        assert x.sharding is None and float((x + 1).sum()) == 180000
    with pytest.raises(ad.OptionError, match="exclude each other"):
        ad.use("jax", device="cpu", mesh=1)
    with pytest.raises(ad.OptionError, match="0 or more"):
        ad.mesh(1, min_size=-1)
