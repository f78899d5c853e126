"""Fixtures that every test shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import arraydispatch as ad

# What JAX compiled is shared by the workers, by the scripts that tests start, and with the next run. (Before JAX is
# imported, which nothing has done yet: arraydispatch imports libraries on first use.)
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "0")


@pytest.fixture(params=["numpy", "jax", "torch", "tensorflow"])
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend by name; skipped where its library is missing."""
    if request.param not in ad.available_backends():
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)
