"""What a thread writes or reads comes out right, at whatever line of ours another one acts on the same array.

An ordinary run draws two moments of a statement, ``--all`` forty.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.backends import loader
from tests.crowd import scenes
from tests.crowd.interleaved import Moments
from tests.crowd.test_crowd import CANNOT
from tests.crowd.writers import BY_ROW, SCATTERED
from tests.memory.test_mutation_fuzz import threshold

START = (np.arange(128.0).reshape(8, 16) % 5) + 1
FIRST, SECOND = 1, 2
"""The numbers of the threads; see :mod:`tests.crowd.writers`."""

ACTS = {
    "by row": [
        "x[i, 5] = 7",
        "np.add(x, 1, out=x, where=m)",
        "r += 1",
        "np.putmask(x, m, x * 2)",
        "float(x[i, 3])",
        "x.sum(1)[i]",
    ],
    "scattered": [
        "x[3, i] = 7",
        "np.add(x, 1, out=x, where=m)",
        "x[:, i::8] += 1",
        "np.putmask(x, m, x * 2)",
        "float(x[3, i])",
        "x.sum(0)[i]",
    ],
}
"""What the second does: they bring a value to the host, replace it, write into it, look at it."""
LOOKS = {name: look for name, look in scenes._LOOKS.items() if name not in ("all and one", "printed", "column")}


def _native(backend: str) -> Any:
    found = loader.load(backend)
    return ad.wrap(found.from_numpy(START.copy(), None, True))


def _on_the_host(backend: str) -> Any:
    return ad.asarray(START.copy(), backend=backend)


def _pending(backend: str) -> Any:
    return _native(backend) * 1


WORLDS: dict[str, tuple[int, str, Callable[[str], Any]]] = {
    "of the library's user": (0, "eager", _native),
    "large": (64, "eager", _native),
    "on the host": (64, "eager", _on_the_host),
    "pending": (64, "fused", _pending),
}


@contextmanager
def _world(backend: str, name: str) -> Iterator[Callable[[], Any]]:
    least, execution, make = WORLDS[name]
    with threshold(least, execution), ad.backend(backend), ad.fallback("silent"):
        yield lambda: make(backend)


def _names(x: Any, i: int, kind: str) -> dict[str, Any]:
    names = scenes._names(np, x, i)
    if kind == "by row":
        names["m"] = np.zeros(START.shape, bool)
        names["m"][i] = True
    return names


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("kind", ACTS)
def test_writes_of_two_threads(backend: str, world: str, kind: str, seed: int, effort: int) -> None:
    numbers = random.Random(f"{seed} {backend} {world} {kind}")
    wrong: list[str] = []
    with _world(backend, world) as make:
        firsts = [
            first
            for first in scenes._possible(SCATTERED if kind == "scattered" else BY_ROW, "d")
            if not any(word in first for word in CANNOT.get(backend, ()))
        ]
        for first in firsts if effort > 1 else numbers.sample(firsts, 8):

            def begun(first: str = first) -> tuple[Any, Callable[[], Any], dict[str, Any]]:
                x = make()
                names = _names(x, FIRST, kind)
                return x, (lambda: exec(first, names)), _names(x, SECOND, kind)

            begun()[1]()
            lines = Moments(begun()[1]).lines
            every = range(1, lines + 1)
            for at in sorted(numbers.sample(every, min(lines, 2 * effort))):
                second = numbers.choice(ACTS[kind])
                theirs = START.copy()
                for i, statement in ((FIRST, first), (SECOND, second)):
                    exec(statement, _names(theirs, i, kind))
                x, call, names = begun()
                try:
                    Moments(call, lambda second=second, names=names: exec(second, names), at)
                    ours = scenes.values(x)
                    assert np.array_equal(ours, theirs), f"{ours[ours != theirs]}, not {theirs[ours != theirs]}"
                except Exception as error:
                    wrong.append(f"{first!r}, at line {at} of {lines} {second!r}: {type(error).__name__}: {error}")
    assert not wrong, f"{len(wrong)}, seed {seed}\n" + "\n".join(wrong[:40])


@pytest.mark.parametrize("world", WORLDS)
def test_looks_beside_writes(backend: str, world: str, seed: int, effort: int) -> None:
    numbers = random.Random(f"{seed} {backend} {world}")
    wrong: list[str] = []
    with _world(backend, world) as make:
        for name, look in LOOKS.items():
            expected = look(np, START, FIRST)
            look(np, make(), FIRST)
            x = make()
            lines = Moments(lambda x=x, look=look: look(np, x, FIRST)).lines
            every = range(1, lines + 1)
            for at in sorted(numbers.sample(every, min(lines, 2 * effort))):
                second, x = numbers.choice(ACTS["by row"]), make()
                names = _names(x, SECOND, "by row")
                try:
                    made = Moments(
                        lambda x=x, look=look: look(np, x, FIRST),
                        lambda second=second, names=names: exec(second, names),
                        at,
                    ).made
                    found, told = list(made), list(expected)
                    assert found == told, f"{found}, not {told}"
                except Exception as error:
                    wrong.append(f"{name}, at line {at} of {lines} {second!r}: {type(error).__name__}: {error}")
    assert not wrong, f"{len(wrong)}, seed {seed}\n" + "\n".join(wrong[:40])
