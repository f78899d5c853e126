"""A profile tells of blocks: their lines, who computed them, why they ended, and what plain NumPy takes for the same calls."""

from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.api import creation
from arraydispatch.engine.recording import block_reports, tape
from arraydispatch.profiling import report
from arraydispatch.profiling.contexts import Profile

pytestmark = pytest.mark.usefixtures("fused")

N = 5000


def _array(n: int = N) -> Any:
    return creation.asarray(np.arange(float(n)) + 1)


def _first_line(function: Callable[..., Any]) -> int:
    return function.__code__.co_firstlineno


def test_the_lines_that_recorded_share_the_time() -> None:
    a = _array()

    def program() -> float:
        b = np.sqrt(a) + 1
        c = b * b
        return float(c[7])

    with ad.profile() as p:
        value = program()
    assert value == (np.sqrt(8.0) + 1) ** 2
    (block,) = p.blocks()
    first = _first_line(program)
    assert (block.line, block.count, block.calls, block.why) == (first + 3, 1, 3, block_reports.LOOKED)
    assert block.by_numpy > 0 and block.seconds > 0 and block.tier
    parts = {part.line - first: part for part in p.parts()}
    assert {line: part.calls for line, part in parts.items()} == {1: 2, 2: 1}
    assert sum(part.seconds for part in parts.values()) == pytest.approx(block.seconds)
    assert sum(part.by_numpy for part in parts.values()) == pytest.approx(block.by_numpy)


def _looks(a: Any) -> Any:
    return np.sin(a)[3]


def _writes_what_is_read(a: Any) -> Any:
    b = np.sin(a)
    a[0] = 5.0
    return b


def _is_long(a: Any) -> Any:
    for _ in range(tape.LONGEST):
        a = a + 1
    return a


def _lets_memory_out(a: Any) -> Any:
    b = np.sin(a)
    return memoryview(np.asarray(a.native)), b


def _in_place(a: Any) -> Any:
    np.add(np.sin(a), 1, out=a)
    return a


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (_looks, block_reports.LOOKED), (_writes_what_is_read, block_reports.MEMORY), (_is_long, f"it had {tape.LONGEST} calls"),
        (_lets_memory_out, block_reports.MEMORY),
    ],
)  # fmt: skip
def test_why_a_block_ended(program: Callable[[Any], Any], why: str) -> None:
    a = _array()
    with ad.profile() as p:
        kept = program(a)
        found = [block.why for block in p.blocks()]
    assert found[:1] == [why], found
    del kept


def test_a_block_computed_into_its_place(request: pytest.FixtureRequest) -> None:
    a = _array()
    with ad.profile() as p:
        _in_place(a)
        a.tolist()
    assert {block.why for block in p.blocks()} <= {block_reports.PLACE, block_reports.LOOKED}
    assert a.tolist() == (np.sin(np.arange(float(N)) + 1) + 1).tolist()
    if "here" not in request.node.callspec.id:
        assert p.blocks()[0].why == block_reports.PLACE


def test_another_thread_reads_it() -> None:
    a = _array()
    b = np.sin(a)
    with ad.profile() as p:
        thread = threading.Thread(target=lambda: np.cos(b))
        thread.start()
        thread.join()
    assert block_reports.ANOTHER in {block.why for block in p.blocks()}
    assert sum(part.calls for part in p.parts()) >= 1  # recorded before the profile began: it counts where it ended


def test_a_measured_block_has_the_same_effects() -> None:
    """The calls are run once more, call by call: into memory of their own, without a second warning."""

    def program(a: Any) -> Any:
        a[1:] -= 1
        np.log(a, out=a)
        a *= np.where(a > 1, a, 2)
        return a

    want = np.arange(float(N)) + 1
    with np.errstate(divide="ignore"):
        want = program(want)
    for _ in range(block_reports.TIMES + 1):
        a = _array()
        a[1] = 1.0
        with ad.profile(), pytest.warns(RuntimeWarning, match="divide by zero") as told:
            got = program(a).tolist()
        assert len(told) == 1
    assert got[2:] == want.tolist()[2:]


def test_each_kind_of_block_is_measured_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []

    class Counted(block_reports.Short):
        def values(self) -> list[Any]:
            ran.append(1)
            return super().values()

    monkeypatch.setattr(block_reports, "Short", Counted)
    a = _array()
    with ad.profile() as p:
        for _ in range(block_reports.TIMES + 5):
            float((np.sin(a) + 1)[0])
    (block,) = {(b.line, b.calls // b.count) for b in p.blocks()}
    assert block[1] == 2
    assert len(ran) <= block_reports.TIMES + 1  # one more where the first of a kind has no plan


def test_nobody_listens_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_reports, "measured", lambda block: pytest.fail("measured"))
    float((np.sin(_array()) + 1)[0])


def test_profiles_nest() -> None:
    a = _array()
    with ad.profile() as outer, ad.profile() as inner:
        float((np.sin(a) + 1)[0])
    assert (
        [(b.calls, b.why) for b in outer.blocks()]
        == [(b.calls, b.why) for b in inner.blocks()]
        == [(2, block_reports.LOOKED)]
    )


def _filled() -> Profile:
    a = _array()
    with ad.profile() as p:
        float((np.sin(a) + 1)[0])
    return p


def test_every_report_has_them() -> None:
    p = _filled()
    run = report.Run.of(p)
    stream = io.StringIO()
    report.print_report(p, run, stream, full=True)
    assert "plain NumPy would have taken about" in stream.getvalue() and block_reports.LOOKED in stream.getvalue()
    stream = io.StringIO()
    report.WRITERS[".json"](stream, p, run)
    data = json.loads(stream.getvalue())
    (row,) = data["blocks"]
    assert row["calls"] == 2 and row["by_numpy"] > 0
    assert sum(line["seconds"] for line in data["lines"]) == pytest.approx(data["seconds_in_calls"])
    assert sum(line["seconds_by_numpy"] for line in data["lines"]) == pytest.approx(row["by_numpy"])
    stream = io.StringIO()
    report.WRITERS[".csv"](stream, p, run)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert [row["count"] for row in rows if row["row"] == "block"] == ["1"]


def test_html() -> None:
    pytest.importorskip("jinja2")
    stream = io.StringIO()
    p = _filled()
    report.WRITERS[".html"](stream, p, report.Run.of(p))
    assert "Ran in blocks" in stream.getvalue() and "a block ended here" in stream.getvalue()


def test_processes_add_up() -> None:
    p = _filled()
    p.children = [type(p.tally()).from_json(json.loads(json.dumps(_filled().tally().to_json())))]
    assert sum(block.count for block in p.blocks()) == 2
    assert sum(part.calls for part in p.parts()) == 4
