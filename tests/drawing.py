"""Choose the tests of a run of the whole suite: of tables of cases a part that the seed decides, and another with the next seed.

The cases of a test function on one library are a table. Of a table of at most :data:`WHOLE` cases a run takes all, so that tests that
were written for a bug, with the few cases of that, stay whole; of a longer one it takes one case of :data:`ONE_OF`, and never fewer
than :data:`WHOLE`. Of the libraries that a function runs on, a run takes half, rounded down, and at least one: TensorFlow and JAX
half as often as others, where no mark has drawn them before. No function is left out for these two reasons, nor for the marks
``compiles`` and ``traces``. The marks of tests that are drawn are in pyproject.toml.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from typing import Any

from tests.workers import LIBRARIES, library_of

WHOLE = 3
ONE_OF = 6
_OF_MARKS = {"tensorflow": "traces", "jax": "compiles"}
_SLOW = set(_OF_MARKS)  # half as often: the one starts slowly, the other compiles each program


def left_out(items: Sequence[Any], seed: int) -> set[Any]:
    """Return the tests that a run with this seed does not take."""
    left = {item for item in items if item.get_closest_marker("long")} | _of_marks(items, seed)
    functions: dict[str, list[Any]] = {}
    for item in items:
        if not any(item.get_closest_marker(name) for name in ("long", "one_backend", "share")):
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, cases in functions.items():
        chance = random.Random(f"{seed} {name}")
        of_marks = [item for item in cases if item not in left] or [chance.choice(cases)]
        left.update(cases)
        left.difference_update(_of_tables(name, of_marks, chance))
    return left


def _of_tables(name: str, cases: Sequence[Any], chance: random.Random) -> set[Any]:
    """Return the cases of a function that are taken."""
    tables: dict[str, list[Any]] = {}
    for item in cases:
        tables.setdefault(library_of(item.nodeid), []).append(item)
    libraries = [library for library in LIBRARIES if library in tables]
    slow = {
        name for name in _SLOW if not any(item.get_closest_marker(_OF_MARKS[name]) for item in tables.get(name, ()))
    }
    turns = {library: chance.random() ** (2 if library in slow else 1) for library in libraries}  # u ** (1 / weight)
    chosen = sorted(libraries, key=turns.__getitem__, reverse=True)[: max(1, len(libraries) // 2)]
    taken: set[Any] = set()
    for library, table in tables.items():
        if library and library not in chosen:
            continue
        of_the_project = not library and name.count("/") == 1  # a page or a file each
        count = len(table) if of_the_project else min(len(table), max(WHOLE, math.ceil(len(table) / ONE_OF)))
        taken.update(chance.sample(table, count))
    return taken


def _named(item: Any) -> set[str]:
    return set(re.split(r"[-\[\]]", item.nodeid))


def _of_marks(items: Sequence[Any], seed: int) -> set[Any]:
    """Of what is marked ``one_backend`` all but one item of each test, or of each name; of what is marked ``compiles`` some on JAX, of
    what is marked ``traces`` some on TensorFlow, and of what is marked ``share`` some of all, also of those of one backend."""
    alike: dict[tuple[str, ...], list[Any]] = {}
    for item in items:
        if mark := item.get_closest_marker("one_backend"):
            parts = [part for part in re.split(r"[-\[\]]", item.nodeid) if part not in LIBRARIES]
            alike.setdefault(mark.args or tuple(parts), []).append(item)
    taken: set[Any] = set()
    for key, several in alike.items():
        weights = [1 if _SLOW & _named(item) else 2 for item in several]
        taken.update(random.Random(f"{seed} {key}").choices(several, weights))
    left = {item for several in alike.values() for item in several} - taken
    for item in items:
        named = _named(item)
        one_of = 1
        if "jax" in named:
            one_of = min((mark.args[0] for mark in item.iter_markers("compiles")), default=1)
        elif "tensorflow" in named and not hasattr(
            getattr(item, "function", None), "_tables"
        ):  # of which rows are drawn
            one_of = min((mark.args[0] for mark in item.iter_markers("traces")), default=1)
        one_of = 1 if item in taken else one_of
        one_of = max([one_of, *(mark.args[0] for mark in item.iter_markers("share"))])
        if one_of > 1 and random.Random(f"{seed} {item.nodeid}").randrange(one_of):
            left.add(item)
    return left
