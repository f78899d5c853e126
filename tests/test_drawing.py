"""The tests of a run are those that the seed decides, never none of a function, and others with another seed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.drawing import ONE_OF, WHOLE, left_out
from tests.workers import LIBRARIES, library_of


class _Item:
    """What is asked of an item of pytest's."""

    function = None

    def __init__(self, nodeid: str, *marks: Any) -> None:
        self.nodeid, self.marks = nodeid, marks

    def iter_markers(self, name: str) -> Iterator[Any]:
        return (mark for mark in self.marks if mark.name == name)

    def get_closest_marker(self, name: str) -> Any:
        return next(self.iter_markers(name), None)


TABLES = {"long": 60, "bug": WHOLE, "single": 1}
MARKED = [pytest.mark.compiles(50).mark, pytest.mark.traces(50).mark]


def _items() -> list[_Item]:
    items = [
        _Item(f"tests/a/b.py::test_{name}[{library}-{i}]")
        for name, n in TABLES.items()
        for library in LIBRARIES
        for i in range(n)
    ]
    items += [_Item(f"tests/a/b.py::test_marked[{library}]", *MARKED) for library in ("jax", "tensorflow")]
    items += [_Item(f"tests/a/b.py::test_three[{library}]") for library in LIBRARIES[:3]]
    items += [_Item(f"tests/a/b.py::test_alone[{i}]") for i in range(60)]
    items += [_Item(f"tests/b.py::test_pages[{i}]") for i in range(60)]
    return [*items, _Item("tests/a/b.py::test_minutes", pytest.mark.long.mark)]


def _taken(seed: int) -> list[str]:
    items = _items()
    left = left_out(items, seed)
    return [item.nodeid for item in items if item not in left]


def test_the_seed_decides() -> None:
    assert _taken(3) == _taken(3)
    assert _taken(3) != _taken(4)


@pytest.mark.parametrize("seed", range(8))
def test_no_function_is_left_out(seed: int) -> None:
    of: dict[str, dict[str, int]] = {}
    for nodeid in _taken(seed):
        counts = of.setdefault(nodeid.partition("::")[2].partition("[")[0], {})
        counts[library_of(nodeid)] = counts.get(library_of(nodeid), 0) + 1
    assert set(of) == {"test_long", "test_bug", "test_single", "test_marked", "test_three", "test_alone", "test_pages"}
    for name, n in TABLES.items():
        assert len(of[f"test_{name}"]) == len(LIBRARIES) / 2
        assert set(of[f"test_{name}"].values()) == {n if n <= WHOLE else n // ONE_OF}
    assert sum(of["test_three"].values()) == 1
    assert of["test_alone"] == {"": 60 // ONE_OF}
    assert of["test_pages"] == {"": 60}


def test_each_case_is_taken_by_some_run() -> None:
    taken = {nodeid for seed in range(200) for nodeid in _taken(seed)}
    assert taken == {item.nodeid for item in _items()} - {"tests/a/b.py::test_minutes"}
