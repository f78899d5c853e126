"""The first line of a report: who computed which share of the elements, why, and what to do where the library did nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.common import events
from arraydispatch.profiling.contexts import Profile
from arraydispatch.profiling.recorder import elements_of
from arraydispatch.profiling.records import LARGE, MOVED, Call
from arraydispatch.profiling.report import Run, as_dict
from arraydispatch.profiling.report.summary import computed, summary, verified


def _call(backend: str, kind: str, count: int, elements: int, reason: str = "") -> Call:
    return Call("np.add", backend, kind, reason, "f.py", 1, "f", count, 0.5, 0, elements)


def _said(*calls: Call, counted: int = 0, backend: str = "torch", least: int = 65536, execution: Any = None) -> str:
    data = {
        "computed": computed(calls, counted), "backend": backend, "min_size": least, "execution": execution,
        "calls_without_lines": counted,
    }  # fmt: skip
    return summary(data)


LIBRARY = _call("torch", "native", 10, 930_000)
SMALL = "calls on arrays of fewer than 65,536 elements"


@pytest.mark.parametrize(
    ("calls", "options", "expected"),
    [
        ([LIBRARY, _call("torch", "hosted", 12_000, 70_000)], {}, f"torch computed 93 % of the elements; NumPy computed 12,000 {SMALL}"),
        ([LIBRARY], {"counted": 12_000},
         f"torch computed 100 % of the elements in arrays of 65,536 or more; NumPy computed 12,000 {SMALL}"),
        ([LIBRARY], {}, "torch computed everything: 10 calls"),
        ([LIBRARY, _call("torch", "program", 2, 0)], {}, "torch computed everything: 10 calls in 2 compiled blocks"),
        ([LIBRARY, _call("torch", "view", 9, 9)], {}, "torch computed everything: 10 calls"),
        ([LIBRARY, _call("torch", "host", 1, 70_000)], {},
         "torch computed 93 % of the elements; NumPy computed 1 call that torch cannot run"),
        ([LIBRARY, _call("torch", "host kernel", 2, 930_000)], {},
         "torch computed 50 % of the elements; NumPy computed 2 calls on the library's own memory, where it is faster"),
        ([LIBRARY, _call("jax", "native", 1, 930_000)], {}, "torch computed 50 % and jax computed 50 % of the elements"),
        ([LIBRARY, _call("torch", "hosted", 3, 1)], {}, f"torch computed more than 99.9 % of the elements; NumPy computed 3 {SMALL}"),
        ([_call("torch", "fused", 20, 0), _call("torch", "block", 5, 900)], {"execution": "fused"},
         'NumPy computed everything: 20 calls in 5 fused blocks on the CPU; ad.use(execution="compiled") has torch compute'),
        ([LIBRARY, _call("torch", "fused", 20, 0), _call("torch", "block", 5, 930_000)], {"counted": 7},
         f"torch computed 50 % of the elements in arrays of 65,536 or more and in fused blocks; NumPy computed 20 {SMALL}, in 5 fused blocks and 7 {SMALL}"),
        ([_call("torch", "fused", 20, 0), _call("torch", "block", 5, 900)], {},
         f"NumPy computed everything: 20 {SMALL}, in 5 fused blocks"),
        ([LIBRARY, _call("numpy", "fused", 25, 0)], {"execution": "fused"}, "torch computed everything: 10 calls"),
        ([_call("numpy", "fused", 25, 0)], {}, "nothing was computed: 25 calls recorded, and nothing used the results"),
        ([_call("torch", "hosted", 2, 900_000, LARGE)], {}, "NumPy computed everything: 2 calls at once"),
        ([_call("torch", "hosted", 2, 900_000, MOVED)], {}, "NumPy computed everything: 2 calls that only move elements"),
        ([LIBRARY, _call("torch", "hosted", 1, 900_000, MOVED)], {},
         "torch computed 100 % of the elements; NumPy computed 1 call that only moves elements"),
        ([_call("numpy", "native", 2, 900)], {"backend": "numpy"}, "NumPy computed everything: 2 calls at once"),
        ([], {"backend": "numpy", "counted": 7}, f"NumPy computed everything: 7 {SMALL}"),
        ([], {}, "no NumPy call met an array, so there is nothing to list"),
    ],
)  # fmt: skip
def test_each_case(calls: list[Call], options: dict[str, Any], expected: str) -> None:
    assert _said(*calls, **options) == expected


def test_elements_are_those_of_the_largest_operand_or_result(backend: str) -> None:
    x = ad.asarray(np.ones((50, 20)), backend=backend)
    with Profile() as profile:
        np.sum(x)
        x + x
        np.linalg.svd(x)
    counts = {call.function: call.elements for call in profile.calls()}
    assert counts["np.add"] == counts["np.sum"] == 1000
    assert counts["np.linalg.svd"] >= 1000
    assert as_dict(profile, Run.of(profile))["computed"][0]["elements"] >= 3000


def test_what_is_no_array_has_no_elements() -> None:
    assert elements_of(None, 3, "x", [1, 2], np.float64(1.0)) == 1
    assert elements_of((np.ones(3), np.ones(4)), np.ones(5)) == 7


def test_a_program_is_counted_beside_its_calls() -> None:
    with Profile() as outer, Profile() as profile:
        tap = events.tap
        assert tap is not None
        tap.call(np.add, "jax", "native", "", 0.0, None, 1, 1000)
        tap.tape_ran("jax", 1, 0.25)
        tap.tape_ran("jax", 0, 0.25)
    for each in (outer, profile):
        assert each.calls_by_class() == {"native": 1, "program": 1}
        assert each.calls_on_backend == 1
        assert each.seconds_by_class()["program"] == 0.5


@pytest.mark.parametrize(
    ("checked", "by_numpy", "unchecked", "expected"),
    [
        (30, 0, {}, "30 results of jax, views and new arrays included, compared with NumPy "),
        (30, 5, {}, "0 differences beyond the tolerance (NumPy itself computed 5 more)"),
        (
            0,
            5,
            {},
            "nothing was verified: NumPy itself computed 5 results; with the library, jax computes and is verified",
        ),
        (0, 0, {"why": 2}, "nothing was verified: 2 results could not be checked"),
        (0, 0, {}, "nothing was verified: no NumPy call met an array"),
    ],
)
def test_verification_says_how_many_results_it_compared(
    checked: int, by_numpy: int, unchecked: dict[str, int], expected: str
) -> None:
    found = {"checked": checked, "by_numpy": by_numpy, "unchecked": unchecked, "differing": 0, "backend": "jax"}
    assert expected in verified(found)
