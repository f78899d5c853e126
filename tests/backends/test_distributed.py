"""Arrays over several devices and processes, by JAX's own runtime: NumPy's calls on them run where they lie."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPREAD = """
import sys
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
import arraydispatch as ad

jax.config.update("jax_enable_x64", True)
if len(sys.argv) > 1:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(sys.argv[1], num_processes=2, process_id=int(sys.argv[2]))
mesh = Mesh(np.array(jax.devices()), ("rows",))
assert mesh.size == 4
host = np.arange(32.0).reshape(8, 4)
rows = NamedSharding(mesh, PartitionSpec("rows"))
x = ad.wrap(jax.make_array_from_callback(host.shape, rows, lambda part: host[part]))


def on_all(made, how=rows):
    assert isinstance(made, ad.Array) and made.backend.name == "jax"
    assert len(made.native.sharding.device_set) == 4
    if how is not None:
        assert made.native.sharding.is_equivalent_to(how, made.ndim)
    return made


def deviation(v):
    return np.sqrt(np.mean((v - np.mean(v, axis=0)) ** 2, axis=0))


ad.use(fallback="error")
np.testing.assert_allclose(ad.to_numpy(deviation(x)), deviation(host))
for made in (np.sin(x), x + 1, x + host, np.where(x > 3, x, 0), np.zeros_like(x), x * np.float32(2), np.sort(x, axis=1)):
    on_all(made)
assert x.sum() == host.sum() and type(x.sum()) is np.float64
product = on_all(x @ x.T, None)
y = x.copy()
y[1:3] = 7
y += x
on_all(y)
wanted = host.copy()
wanted[1:3] = 7
assert y.sum() == (wanted + host).sum() and x.sum() == host.sum()
on_all(ad.jit(lambda v: np.sin(v) * 2)(x))
on_all(ad.grad(lambda v: np.sum(v**2))(x))
"""
ONE_PROCESS = (
    SPREAD
    + """
np.testing.assert_allclose(ad.to_numpy(product), host @ host.T)
np.testing.assert_array_equal(ad.to_numpy(y), wanted + host)
np.testing.assert_array_equal(x[x > 3], host[host > 3])
np.testing.assert_array_equal(x[2:5], host[2:5])
np.testing.assert_allclose(ad.to_numpy(ad.grad(lambda v: np.sum(v**2))(x)), 2 * host)
print("done", flush=True)
"""
)
TWO_PROCESSES = (
    SPREAD
    + """
np.testing.assert_array_equal(ad.to_numpy(x), host)
np.testing.assert_array_equal(ad.to_numpy(y), wanted + host)
np.testing.assert_array_equal(ad.to_numpy(x[x > 3]), host[host > 3])
print("done", flush=True)
"""
)


def started(code: str, devices: int, *args: str) -> Any:
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}"
    return subprocess.Popen(
        [sys.executable, "-c", code, *args],
        cwd=ROOT,
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ends(*processes: Any) -> None:
    said = [process.communicate(timeout=600) for process in processes]
    for process, (out, error) in zip(processes, said, strict=True):
        assert (process.returncode, out.strip().splitlines()[-1:]) == (0, ["done"]), error[-3000:]


@pytest.fixture(autouse=True)
def _jax() -> None:
    pytest.importorskip("jax")


def test_several_devices() -> None:
    ends(started(ONE_PROCESS, 4))


def test_several_processes() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    ends(*(started(TWO_PROCESSES, 2, address, str(k)) for k in range(2)))
