"""Fused execution of all that can be recorded."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from arraydispatch.engine import nodes
from arraydispatch.engine.host_blocks import block_plans, blocks, kernels
from arraydispatch.engine.recording import tape
from arraydispatch.runtime.settings import default, kept, set_execution


@pytest.fixture(params=["threads", "kernels", "here"])
def fused(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, nobody_listens: None) -> Iterator[None]:
    """Everything is recorded, and runs in pieces and threads, by NumPy's loops or by kernels, or at once in the thread that looks."""
    threads = request.param != "here"
    with kept():
        default.min_size = 1
        set_execution("fused")
        monkeypatch.setattr(tape, "IN_THREADS", 0 if threads else 1 << 60)
        monkeypatch.setattr(blocks, "_plans", {})
        monkeypatch.setattr(nodes, "ALONE", 1 << 60)  # each call, however little comes of it
        monkeypatch.setattr(block_plans, "STEP", 128)
        monkeypatch.setattr(block_plans, "PIECE", 1000)
        monkeypatch.setattr(block_plans, "LONGEST", 300)
        monkeypatch.setattr(blocks, "thread_count", lambda: 3)
        monkeypatch.setattr(kernels, "BESIDE", False)
        monkeypatch.setattr(kernels, "HOT", 0 if request.param == "kernels" else 1 << 60)
        yield
        tape.run_all()
