"""Program of test_scale: collectives of compiled steps on as many devices as the environment simulates, as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import arraydispatch as ad

from .mesh_calls import _gray_scott, _heat, _plate, _wave

N = 1024
STEPS: dict[str, Any] = {
    "heat": _heat,
    "stencil": _plate,
    "wave": _wave,
    "gray_scott": _gray_scott,
    "elementwise": lambda u, v: np.sin(u) * v + 1,
    "sum": lambda u, v: u.sum(),
    "sums of columns": lambda u, v: u.sum(axis=0),
    "sums of rows": lambda u, v: u.sum(axis=1),
    "product": lambda u, v: u @ v,
    "transpose": lambda u, v: u + v.T,
    "fft2": lambda u, v: np.fft.fft2(u),
    "sort of columns": lambda u, v: np.sort(u, axis=0),
}


def counted(devices: int) -> dict[str, list[dict[str, Any]]]:
    """Return the collectives of each step."""
    ad.use("jax", mesh=devices, fallback="error")
    host = np.random.default_rng(0).random((N, N))
    found = {}
    for name, step in STEPS.items():
        jitted = ad.jit(step)
        jitted(ad.asarray(host), ad.asarray(host + 1))
        ((_, program),) = jitted.jitted.programs.values()
        found[name] = program.collectives()
    return found


if __name__ == "__main__":
    import jax

    print(json.dumps(counted(len(jax.devices()))))
