"""Profiles and reports: counts by function and line, threads, nesting, files."""

from __future__ import annotations

import csv
import io
import json
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch import events, report
from arraydispatch.profiling import Profile

HERE = str(Path(__file__))
RUN = report.Run("torch", "1.0", "cpu", None, 1.25)


def _line() -> int:
    return sys._getframe(1).f_lineno


def _filled() -> Profile:
    profile = Profile()
    with profile:
        tap = events.tap
        assert tap is profile
        for _ in range(3):
            tap.call(np.add, "torch", "native", "", 0.5)
        tap.call(np.mean, "torch", "host", "no kernel", 0.25)
        tap.call(np.linalg.inv, "torch", "composed", "", 0.125)
        tap.call("__getitem__", "torch", "view", "", 0.0)
        tap.transfer("to_device", 800, "adopted")
        tap.transfer("to_host", 80, "printing")
        tap.left("np.sort", "dtype <U1 exists only on the host")
        tap.sync("float()")
    return profile


def test_counts() -> None:
    profile = _filled()
    assert profile.calls_on_backend == 5
    assert profile.calls_by_class() == {"native": 3, "host": 1, "composed": 1, "view": 1}
    (fallback,) = profile.host_fallbacks()
    assert (fallback.function, fallback.reason, fallback.file, fallback.count) == ("np.mean", "no kernel", HERE, 1)
    assert (profile.moved("to_device"), profile.moved("to_host")) == (800, 80)
    assert [row.what for row in profile.left_numpy()] == ["np.sort"]
    assert profile.seconds == 1.875
    assert events.tap is not profile


def test_each_line_by_itself() -> None:
    x = ad.asarray([1.0, 2.0])
    with ad.profile() as profile:
        first = _line()
        np.sin(x)
        for _ in range(4):
            np.sin(x)
    lines = {call.line - first: call.count for call in profile.calls() if call.function == "np.sin"}
    assert lines == {1: 1, 3: 4}


def test_profiles_nest() -> None:
    x = ad.asarray([1.0, 2.0])
    with ad.profile() as outer:
        np.sin(x)
        with ad.profile() as inner:
            np.sin(x)
    assert (outer.calls_on_backend, inner.calls_on_backend) == (2, 1)


def test_threads_lose_nothing() -> None:
    profile = Profile()

    def work() -> None:
        for _ in range(20_000):
            profile.call(np.add, "torch", "native", "", 1.0)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert profile.calls_on_backend == 80_000
    assert profile.seconds == 80_000


def test_json() -> None:
    stream = io.StringIO()
    report.WRITERS[".json"](stream, _filled(), RUN)
    data = json.loads(stream.getvalue())
    assert data["backend"] == "torch"
    assert data["calls_on_backend"] == 5
    assert data["host_fallbacks"][0].keys() == {"function", "reason", "file", "line", "count"}
    assert data["left_numpy"][0].keys() == {"what", "why", "file", "line", "count"}
    assert (data["bytes_to_device"], data["bytes_to_host"], data["seconds"]) == (800, 80, 1.25)
    assert {row["function"] for row in data["functions"]} == {"np.add", "np.mean", "np.linalg.inv", "__getitem__"}
    assert sum(row["calls"] for row in data["lines"]) == 6


def test_csv() -> None:
    stream = io.StringIO()
    report.WRITERS[".csv"](stream, _filled(), RUN)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert sum(int(row["count"]) for row in rows if row["row"] == "call") == 6
    assert {row["row"] for row in rows} == {"call", "left_numpy", "transfer"}


@pytest.mark.parametrize("full", [False, True])
def test_terminal(full: bool) -> None:
    stream = io.StringIO()
    report.print_report(_filled(), RUN, stream, full=full)
    text = stream.getvalue()
    assert "5 calls on the backend · 1 host fallback · 1 array left NumPy · 800 B to the device, 80 B back" in text
    assert "no kernel" in text
    assert f"{Path(HERE).name}:" in text
    assert ("np.linalg.inv" in text) is full
