"""Fixtures that every test shares."""

from __future__ import annotations

import pytest

import arraydispatch as ad


@pytest.fixture(params=["numpy", "jax", "torch", "tensorflow"])
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend by name; skipped where its library is missing."""
    if request.param not in ad.available_backends():
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)
