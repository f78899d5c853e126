"""Profiles and reports: counts by function and line, threads, nesting, advice, files."""

from __future__ import annotations

import csv
import importlib
import io
import json
import operator
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.common import events
from arraydispatch.profiling import report
from arraydispatch.profiling.contexts import Profile
from arraydispatch.profiling.report import html

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
    assert profile.calls_on_backend == 4  # a view is work for nobody
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
    assert data["calls_on_backend"] == 4
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
    assert {row["row"] for row in rows} == {"advice", "call", "left_numpy", "sync", "transfer"}


def test_places_are_no_pictures() -> None:
    """rich would make a picture of ``nn.py:100:``, whose number is one of its emoji codes."""
    stream = io.StringIO()
    profile = Profile()
    with profile:
        exec(compile("profile.left('a :100: b', 'why :bug: so')", "nn.py", "exec"), {"profile": profile})
    report.print_report(profile, RUN, stream, full=True)
    assert ":100:" in stream.getvalue() and ":bug:" in stream.getvalue()


def test_a_tape_without_programs_is_shown() -> None:
    stream = io.StringIO()
    with Profile() as profile:
        assert events.tap is profile
        profile.tape_ran("jax", 0, 0.25)
    report.print_report(profile, RUN, stream, full=True)
    assert events.ONE_BY_ONE in stream.getvalue()


def test_without_a_library_no_array_is_said_to_be_kept_on_the_host() -> None:
    stream = io.StringIO()
    profile = Profile()
    with profile:
        profile.left("an array of records", "NumPy's own")
    report.print_report(profile, RUN._replace(backend="numpy"), stream, full=True)
    assert "records" not in stream.getvalue() and "kept on the host" not in stream.getvalue()


@pytest.mark.parametrize("full", [False, True])
def test_terminal(full: bool) -> None:
    stream = io.StringIO()
    report.print_report(_filled(), RUN, stream, full=full)
    text = stream.getvalue()
    summary, figures = text.splitlines()[:2]
    assert (
        summary
        == "arraydispatch: torch computed 80 % of the calls; NumPy computed 1 call that torch cannot run · 1.25 s"
    )
    assert len(re.findall(r" \(\d+\.\d\d s\) · ", figures)) == 2  # the library's, and the fallback's
    text = re.sub(r" \(\d+\.\d\d s\)", "", text)
    assert (
        "4 calls on the backend · 1 host fallback · 1 array kept on the host · 800 B to the device, 80 B back" in text
    )
    assert "no kernel" in text
    assert f"{Path(HERE).name}:" in text
    assert ("np.linalg.inv" in text) is full


# -- what is noticed ---------------------------------------------------------------------------------------------------


def _advice(profile: Profile) -> dict[str, tuple[int, int]]:
    """Kind -> (line, count) of each piece of advice."""
    data = report.as_dict(profile, report.Run.of(profile))
    assert {row["file"] for row in data["advice"]} <= {HERE}
    return {row["kind"]: (row["line"], row["count"]) for row in data["advice"]}


def test_element_loops(backend: str) -> None:
    x = ad.asarray(np.arange(200.0), backend=backend)
    with ad.profile() as profile:
        for i in range(150):
            line = _line() + 1
            x[i] = x[i] + 1.0
    assert _advice(profile)["element loop"] == (line, 300)
    assert profile.calls_by_class()["native"] == 300


def test_elements_in_passing_are_no_loop(backend: str) -> None:
    x = ad.asarray(np.arange(200.0), backend=backend)
    with ad.profile() as profile:
        for i in range(50):
            x[i]
    assert _advice(profile) == {}


def test_growing_arrays(backend: str) -> None:
    x = ad.asarray(np.zeros(1), backend=backend)
    with ad.profile() as profile:
        for _ in range(20):
            line = _line() + 1
            x = np.append(x, 1.0)
        for _ in range(20):
            np.concatenate((x, x))
    found = _advice(profile)
    assert found["growing array"] == (line, 16)  # every eighth call is looked at
    assert found.keys() - {"growing array"} <= {"compilation"}  # by JAX, for each length


def test_the_same_ndarray_again_and_again() -> None:
    name = _library()
    x, n = ad.asarray(np.ones(1000), backend=name), np.ones(1000)
    with ad.profile() as profile:
        for _ in range(10):
            line = _line() + 1
            x = x + n
    assert _advice(profile) == {"repeated uploads": (line, 9)}
    assert profile.moved("to_device") == 10 * n.nbytes


def test_each_of_many_ndarrays_used_once_is_no_repetition() -> None:
    x, table = ad.asarray(np.ones(1000), backend=_library()), np.ones((96, 1000))
    with ad.profile() as profile:
        for row in table:  # parts of one ndarray, each moved once
            x = x + row
        for i in range(96):
            x = x + np.full(1000, i)
    assert profile.repeated_uploads() == []
    with ad.profile() as profile:
        for _ in range(3):
            for at in range(0, 90, 7):
                line = _line() + 1
                x = x + table[at]
    assert _advice(profile) == {"repeated uploads": (line, 2 * 13)}


@pytest.mark.parametrize("steps", [1, 12])
def test_ndarrays_that_change_in_between_are_no_repetition(steps: int) -> None:
    """Whoever had made an array of it before the loop would go on with the old values."""
    x, weights = ad.asarray(np.ones(1000), backend=_library()), np.linspace(0.0, 1.0, 1000)
    with ad.profile() as profile:
        for i in range(12):
            y = x * weights
            y = x + weights
            if i % steps == steps - 1:
                weights[i] += 1
        y = y + weights
    assert profile.repeated_uploads() == []
    assert _advice(profile) == {}


def test_one_paragraph_for_all_lines_that_move_ndarrays_again() -> None:
    x, n, m = ad.asarray(np.ones(1000), backend=_library()), np.ones(1000), np.ones((2, 1000))
    with ad.profile() as profile:
        for _ in range(10):
            y = x + n
            line = _line() + 1
            y = y * n + (y / n).sum()
            y = y - m
    (advice,) = report.as_dict(profile, report.Run.of(profile))["advice"]
    assert (advice["kind"], advice["line"], advice["count"]) == ("repeated uploads", line, 38)
    assert f"{Path(HERE).name}:{line - 2}, {Path(HERE).name}:{line + 1}" in advice["text"]
    assert "float64[1000], float64[2, 1000]" in advice["text"]


def test_what_to_do_is_said_once_for_each_pattern(backend: str) -> None:
    x = ad.asarray(np.arange(400.0), backend=backend)
    with ad.profile() as profile:
        for i in range(300):
            x[i] = 1.0
        for i in range(250):
            x[i] = 2.0
    texts = [
        row["text"]
        for row in report.as_dict(profile, report.Run.of(profile))["advice"]
        if row["kind"] == "element loop"
    ]
    assert len(texts) == 2
    assert [text.count("Say it with whole arrays") for text in texts] == [1, 0]
    assert texts[1].endswith("250 written.")


def test_fresh_ndarrays_are_no_repetition() -> None:
    x = ad.asarray(np.ones(1000), backend=_library())
    with ad.profile() as profile:
        for i in range(10):
            x = x + np.full(1000, float(i))
    assert _advice(profile) == {}


def test_there_and_back_again() -> None:
    x = ad.asarray(np.ones(1000), backend=_library())
    host = x.to_numpy()
    with ad.profile() as profile:
        host = np.array(x.to_numpy())
        for _ in range(12):
            host = x.to_numpy()
            line = _line() + 1
            x + host
    assert _advice(profile)["ping-pong"] == (line, 12)


def test_a_loop_through_the_host() -> None:
    struve = pytest.importorskip("scipy.special").struve  # which no library has
    x = ad.asarray(np.ones(1000), backend=_library())
    with ad.fallback("silent"), ad.profile() as profile:
        for _ in range(12):
            line = _line() + 1
            x = struve(1, x)
    found = _advice(profile)
    assert found["ping-pong"] == (line, 12)
    assert found["host"] == (line, 12)


def test_casts_of_the_precision_policy() -> None:
    name = _library()
    x = ad.asarray(np.arange(4), backend=name)
    with ad.profile() as profile, ad.backend(name), ad.precision(32):
        line = _line() + 1
        x / 2
        np.mean(x)
        np.sin(ad.asarray([1.0, 2.0]))
    found = {(row.line - line, row.what, row.why) for row in profile.casts()}
    assert found == {(0, "float64", "float32"), (1, "float64", "float32"), (2, "float64", "float32")}
    with ad.profile() as profile:
        x / 2
    assert profile.casts() == []


def test_whoever_asks_without_a_profile_pays_nothing() -> None:
    before = events.tap
    with ad.profile():
        assert events.tap is not before
    assert events.tap is before


_DOOR = """
def door(compiles):
    if compiles:
        for count, seconds in [(0, 0.25), (1, 0.75)] * 2:
            profile.compiled("jax", count, seconds)
    profile.call(add, "jax", "native", "", 2.0)
"""


def _compiling(steps: int, calls: int) -> Profile:
    """A profile that heard of ``calls`` calls at one line, of which the first ``steps`` compiled twice."""
    with Profile() as profile:
        assert events.tap is profile

        exec(compile(_DOOR, ad.__file__, "exec"), scope := {"profile": profile, "add": np.add})
        door = scope["door"]
        for i in range(calls):
            door(i < steps)
    return profile


def test_compiling_for_each_new_shape() -> None:
    (row,) = _compiling(12, 15).compilations()
    assert (row.backend, row.file, row.scope, row.count, row.seconds, row.again) == (
        "jax",
        HERE,
        "_compiling",
        24,
        24.0,
        11,
    )
    data = report.as_dict(_compiling(12, 15), RUN)
    (advice,) = data["advice"]
    assert (advice["kind"], advice["file"], advice["line"], advice["count"]) == ("compilation", HERE, row.line, 24)
    assert "24 compilations here took 24.0 s: jax compiles an operation for each new shape" in advice["text"]
    assert (data["seconds_compiling"], data["lines"][0]["compilations"]) == (24.0, 24)
    for suffix, says in ((".csv", "compilation,jax"), (".json", '"again": 11'), (".html", "24 × by jax, 24 s")):
        if suffix == ".html":
            pytest.importorskip("plotly")
        stream = io.StringIO()
        report.WRITERS[suffix](stream, _compiling(12, 15), RUN)
        assert says in stream.getvalue()
    stream = io.StringIO()
    report.print_report(_compiling(12, 15), RUN, stream, full=True)
    assert " · 24 compilations took 24.00 s" in stream.getvalue()


def test_compiling_once_is_no_advice() -> None:
    assert _compiling(1, 50).compilations()[0].again == 0
    assert _advice(_compiling(1, 50)) == {}


def test_what_the_library_compiles_is_heard() -> None:
    jax = "jax"
    if jax not in ad.available_backends():
        pytest.skip("needs a library that compiles each operation")
    x = ad.asarray(np.linspace(0.0, 1.0, 70_000, dtype="f4"), backend=jax)
    first = int.from_bytes(os.urandom(2)) + 3  # whose programs no earlier run of the tests has kept
    with ad.profile() as outer, ad.profile() as profile:
        for n in range(first, first + 12):
            line = _line() + 1
            np.sinh(x[:n])
        for _ in range(5):
            np.cosh(x[:first])
    found = {row.line - line: row for row in profile.compilations()}
    assert found.keys() == {0, 2}
    assert found[0].count >= 12
    assert found[0].again >= 11
    assert found[2].again == 0
    assert 0 < sum(row.seconds for row in found.values()) < profile.wall
    assert [vars(row) for row in outer.compilations()] == [vars(row) for row in profile.compilations()]
    assert _advice(profile)["compilation"] == (line, found[0].count)


def test_an_array_cast_to_what_no_library_holds_has_left() -> None:
    x = ad.asarray(np.arange(5000), backend=_library())
    with ad.fallback("silent"), ad.profile() as profile:
        line = _line() + 1
        x.astype(object), x.astype("timedelta64[h]")
        x.astype("f4")
    assert {(row.what, row.line) for row in profile.left_numpy()} == {
        ("an array of dtype object", line),
        ("an array of dtype timedelta64[h]", line),
    }


def test_the_library_at_the_door_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = _visitor(tmp_path, monkeypatch)
    x = ad.asarray(np.arange(5000.0), backend=_library())
    with ad.profile() as profile:
        line = _line() + 1
        visitor.look(x)
        visitor.turn(x)
        np.asarray(x)
        np.polynomial.polynomial.polyfromroots(x[:3])
        x.to_numpy()
    asked = {(row.why, row.line - line) for row in profile.transfers()}
    assert asked == {
        ("visitor asked for an ndarray", 0),
        ("visitor asked for an ndarray", 1),
        ("an operation of an ndarray's, or an extension module, asked for an ndarray", 2),
        ("NumPy's polyfromroots asked for an ndarray", 3),
        ("to_numpy()", 4),
    }
    stream = io.StringIO()
    profile.print(stream, full=False)
    said = [row for row in stream.getvalue().splitlines() if "visitor" in row]
    assert [row.split()[:3] for row in said] == [["1", "40.0", "kB"]] * 2
    assert "to_numpy()" not in stream.getvalue()


def _visitor(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An installed library."""
    package = folder / "site-packages" / "visitor"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from .inner import *\n")
    (package / "inner.py").write_text(
        "import numpy as np\nlook = lambda x: np.asarray(x).mean()\nturn = lambda x: x.to_numpy().T\n"
        "kept = np.ones(1000)\nadd = lambda x: np.add(x, kept)\n"
    )
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.delitem(sys.modules, "visitor", raising=False)
    monkeypatch.delitem(sys.modules, "visitor.inner", raising=False)
    return importlib.import_module("visitor")


def test_an_index_that_is_none_moves_nothing() -> None:
    x = ad.asarray(np.arange(5000), backend=_library())
    mask, rows = x % 2 == 0, np.arange(5000)
    with ad.profile() as profile:
        assert len(rows[mask]) == 2500
        for array in (mask, x, x[:1], np.sum(x * 1.5, keepdims=True)):
            with pytest.raises(TypeError, match="integer scalar"):
                operator.index(array)
        assert operator.index(ad.asarray(7, backend=_library())) == 7
    back = [(row.why[:5], row.count) for row in profile.transfers() if row.direction == "to_host"]
    assert back == [("an op", 1), ("an in", 1)]


def test_what_a_library_uploads_again_is_not_the_users_to_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = _visitor(tmp_path, monkeypatch)
    x = ad.asarray(np.ones(1000), backend=_library())
    with ad.profile() as profile:
        for _ in range(10):
            visitor.add(x)
        assert profile.repeated_uploads() == []
        for _ in range(10):
            np.add(x, visitor.kept)
    assert [row.count for row in profile.repeated_uploads()] == [10]
    assert profile.moved("to_device") == 20 * 8000


def test_the_start_of_a_library_is_no_calls_time(tmp_path: Path) -> None:
    with Profile() as outer, Profile() as profile:
        tap, began = events.tap, perf_counter() - 5
        assert tap is profile
        tap.started("torch", began, began + 4.5, True)
        tap.call(np.add, "torch", "native", "", 5.0)
        tap.call(np.mean, "torch", "native", "", 0.125)
        tap.call(np.mean, "torch", "native", "", 9.0)  # the one before began after the start, so it is over
    for each in (outer, profile):
        assert each.seconds == pytest.approx(0.5 + 0.125 + 9.0, abs=0.1)
        assert each.starts() == {"torch": (1, pytest.approx(4.5))}
    stream = io.StringIO()
    report.print_report(profile, RUN, stream, full=False)
    assert "Importing torch took 4.50 s" in stream.getvalue()


def test_a_run_on_the_library_alone_tells_its_start(tmp_path: Path) -> None:
    name = _library()
    (tmp_path / "main.py").write_text("import numpy as np\nnp.arange(5.0) + 1\n")
    command = [sys.executable, "-m", "arraydispatch", "run", "--backend", name, "--min-size", "0", "--report", "r.json"]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([*command, "main.py"], cwd=tmp_path, env=env, check=True, capture_output=True, timeout=240)
    data = json.loads((tmp_path / "r.json").read_text())
    (start,) = data["starts"]
    assert (start["backend"], start["count"], data["calls_on_backend"]) == (name, 1, 2)
    assert sum(row["seconds"] for row in data["functions"]) + start["seconds"] <= data["seconds"]
    assert data["functions"][0]["seconds"] < start["seconds"]


def test_paths_have_no_detours(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "it.py").write_text("def work(x, p):\n    p.message('here')\n    return x + 1\n")
    x = ad.asarray([1.0])
    file = str(tmp_path / "sub" / ".." / "it.py")
    exec(compile((tmp_path / "it.py").read_text(), file, "exec"), scope := {"__file__": file})
    with ad.profile() as profile:
        scope["work"](x, profile)
    assert {row.file for row in [*profile.calls(), *profile.messages()]} == {str(tmp_path / "it.py")}


def test_a_report_of_nothing_is_one_line_more() -> None:
    stream = io.StringIO()
    report.print_report(Profile(), RUN, stream, full=True)
    assert stream.getvalue().count("\n") == 2
    assert "no NumPy call met an array" in stream.getvalue()
    assert "np.asarray" not in stream.getvalue()  # no ndarray was seen that could be made an array


def _library() -> str:
    name = next((name for name in ad.available_backends() if name not in ("numpy", "jax")), None)
    if name is None:
        pytest.skip("needs a library that is not NumPy")
    return name


# -- the public profile ------------------------------------------------------------------------------------------------


def test_messages_and_trace(tmp_path: Path) -> None:
    x = ad.asarray([1.0, 2.0])
    path = tmp_path / "trace.json"
    with ad.profile(save=path) as profile:
        for i in range(3):
            profile.message("step", number=i)
            np.sin(x)
    trace = json.loads(path.read_text())
    calls = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    said = [event for event in trace["traceEvents"] if event["ph"] == "i"]
    assert [event["name"] for event in calls] == ["np.sin"] * 3
    assert all(event["dur"] >= 0 and event["args"]["line"].startswith(HERE) for event in calls)
    assert [event["args"]["number"] for event in said] == [0, 1, 2]
    times = [event["ts"] for event in sorted(calls + said, key=lambda event: event["ts"])]
    assert times == sorted(times)
    assert times[0] >= 0
    stream = io.StringIO()
    profile.print(stream)
    assert "number 2" in stream.getvalue()


def test_a_full_trace_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from arraydispatch.profiling import recorder

    monkeypatch.setattr(recorder, "_MOST_EVENTS", 2)
    x = ad.asarray([1.0, 2.0])
    with ad.profile() as profile:
        for _ in range(5):
            np.sin(x)
    assert (len(profile.events()), profile.dropped_events, profile.calls_on_backend) == (2, 3, 5)


def test_profile_function(backend: str) -> None:
    calls = []

    def work(x: object, *, power: int) -> object:
        calls.append(power)
        return np.sum(np.sin(x) ** power)

    x = ad.asarray(np.ones(50), backend=backend)
    profile = ad.profile_function(work, (x,), {"power": 3}, warmup=2, call_count=4)
    assert calls == [3] * (2 + 4 + 4)
    assert profile.calls_on_backend == 3
    assert profile.retimed is not None
    assert profile.wall == profile.retimed
    quick = ad.profile_function(work, (x,), {"power": 3}, warmup=0, retime=False)
    assert quick.retimed is None
    with pytest.raises(ValueError, match="call_count"):
        ad.profile_function(work, (x,), {"power": 3}, call_count=0)


def test_only_some_backends() -> None:
    x, y = ad.asarray([1.0], backend="numpy"), ad.asarray([1.0], backend=_library())
    with ad.profile(backends=[y.backend.name]) as profile:
        np.sin(x)
        np.sin(y)
    assert [call.backend for call in profile.calls()] == [y.backend.name]


def test_a_report_that_cannot_be_replaced_is_written_anyway(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("before")
    path.chmod(0o640)
    report.write(report.WRITERS[".json"], path, _filled(), RUN)
    assert json.loads(path.read_text())["backend"] == "torch"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_no_half_report(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("before")

    def fails(stream: object, profile: object, run: object) -> None:
        stream.write("half")  # type: ignore[attr-defined]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        report.write(fails, path, _filled(), RUN)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_html() -> None:
    pytest.importorskip("plotly")
    stream = io.StringIO()
    report.WRITERS[".html"](stream, _filled(), RUN)
    page = stream.getvalue()
    assert "<b>1</b><span>array kept on the host</span>" in page
    assert "<b>4</b><span>calls on torch" in page
    assert "np.mean ran on the host 1 ×: no kernel" in page
    assert "dtype &lt;U1 exists only on the host" in page
    outside = page.replace(str(html._plotly()), "")
    assert not re.search(r"(src|href)=.(http|//)", outside)
    assert "tap.call(" in re.sub("<[^>]+>", "", outside)  # the source of this file


def test_html_has_one_lane_for_each_device() -> None:
    pytest.importorskip("plotly")
    step = {
        "line": "heat.py:8", "runs": 5, "bytes_per_device": 4096, "operands": [{"shape": [64, 8], "dtype": "float64", "split": [0], "count": 2}],
        "collectives": [{"kind": "collective-permute", "bytes": 64, "count": 3}],
    }  # fmt: skip
    silent = {**step, "line": "heat.py:9", "collectives": []}
    run = RUN._replace(backend="jax", device="mesh:2x4", programs=[silent, step])
    page = _html(run)
    assert "2 × float64[64, 8] split along axis 0" in page
    assert "3 × collective-permute of 64 B" in page
    (figures,) = re.findall(r"^const plots = (.*);$", page, re.MULTILINE)
    (lane,) = json.loads(figures)["plot-devices"]["data"]
    assert lane["y"] == [f"device {i}" for i in range(8)]
    assert (lane["name"], lane["x"]) == ("1. heat.py:8", [5 * 3 * 64] * 8)
    assert '<div id="plot-devices">' in page
    assert '<div id="plot-devices">' not in _html(RUN)


def test_html_of_a_line_at_which_a_block_ran_and_no_call() -> None:
    """As at ``os.fork()``, before which what is pending is computed."""
    pytest.importorskip("plotly")
    profile = Profile()

    def run_block() -> None:
        assert events.tap is not None
        events.tap.call(events.BLOCK, "numpy", "block", "", 0.5)

    with profile:
        run_block()
    page = _html(RUN, profile)
    assert 'style="width: 100.0%' in page
    assert 'title="1 block"' in page


def _html(run: report.Run, profile: Profile | None = None) -> str:
    stream = io.StringIO()
    report.WRITERS[".html"](stream, _filled() if profile is None else profile, run)
    return stream.getvalue().replace(str(html._plotly()), "")


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_what_is_made_counts_once(backend: str, zygotes: Any, tmp_path: Path) -> None:
    """By the function that makes it, whatever that is made of."""
    made = ("linspace(0, 1, 5000)", "logspace(0, 1, 5000)", "geomspace(1, 2, 5000)", "eye(80)", "full((70, 70), 2.0)")
    path, told = tmp_path / "script.py", tmp_path / "report.json"
    lines = [*(f"a = np.{call}" for call in made), "a, b = np.meshgrid(np.ones(70), np.ones(80))"]
    path.write_text("\n".join(["import numpy as np", *lines]), encoding="utf-8")
    done = zygotes.of(backend).run(str(path), cwd=tmp_path, options=("--min-size", "0", "--report", str(told)))
    assert done.code == 0, done.stderr
    counts: dict[str, int] = {}
    for row in json.loads(told.read_text())["functions"]:
        counts[row["function"]] = counts.get(row["function"], 0) + row["count"]
    expected = {f"np.{call.partition('(')[0]}": 1 for call in made}
    assert counts == {**expected, "np.meshgrid": 1, "np.ones": 2}


# -- calls in calls ----------------------------------------------------------------------------------------------------


def test_calls_in_a_call_are_counted_and_timed_once(backend: str) -> None:
    """SciPy's Python code calls NumPy hundreds of times; to the reader that is one call."""
    signal = pytest.importorskip("scipy.signal")
    x = ad.asarray(np.random.default_rng(0).normal(size=4000), backend=backend)
    with ad.profile() as profile:
        for _ in range(2):
            signal.welch(x, nperseg=256)
    calls = [call for call in profile.calls() if call.kind != "view"]
    assert {(call.function, call.count) for call in calls} == {("scipy.signal.welch", 2)}
    assert profile.seconds <= profile.wall


def test_calls_of_the_programs_function_in_a_call_are_its_own(backend: str) -> None:
    x = ad.asarray(np.arange(12.0).reshape(3, 4), backend=backend)

    def norm(row: Any) -> Any:
        time.sleep(0.001)
        return np.sum(np.sqrt(row * row))

    with ad.profile() as profile:
        np.apply_along_axis(norm, 1, x)
    counts = {call.function: call.count for call in profile.calls()}
    if backend != "numpy":
        assert (counts["np.sqrt"], counts["np.multiply"], counts["np.apply_along_axis"]) == (3, 3, 1)
    assert profile.seconds <= profile.wall


def test_a_body_that_raises_leaves_no_time_behind(backend: str) -> None:
    x = ad.asarray(np.arange(3.0), backend=backend)

    def fails(row: Any) -> Any:
        np.sqrt(row)
        raise ValueError("no")

    with ad.profile() as profile:
        with pytest.raises(ValueError, match="no"):
            np.apply_along_axis(fails, 0, x)
        np.exp(x)
    assert events.inside.body is None
    assert next(call for call in profile.calls() if call.function == "np.exp").seconds > 0
