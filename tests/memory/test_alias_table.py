"""Every function NumPy dispatches, and every one that makes arrays, × each of its array arguments: does the result share memory
with it where NumPy's does? On each backend, as a library and under the launcher.

Found out by writing (:mod:`tests.memory.aliasing.observing`). The ordinary suite draws the same cases of each call every time, others
with ``--seed``; ``--all`` takes the whole product.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.api import creation
from arraydispatch.functions import registry
from arraydispatch.launcher.commands import coverage
from tests.launched import Zygotes
from tests.memory.aliasing import rows
from tests.memory.aliasing.departures import DEPARTURES, Departure, departs
from tests.memory.aliasing.observing import Case, World, difference, observe

SEED = int(os.environ.get("ARRAYDISPATCH_SEED", "0"))
"""Of the draw: one and the same in an ordinary run; ``--all`` draws anew, ``--seed`` as it says."""
SCRIPT = Path(__file__).parent / "aliasing" / "script.py"
PLAIN = World(np, lambda x: x.copy(order="K"), (np.ndarray,))
PART = 10_000
"""Cases of one script."""
LAUNCHED = {"made": ("made",), "device": ("made", "--min-size", "0"), "handed": ("handed",)}
"""What the script is told to make, and options of the launcher."""

# Cases of each call. JAX compiles a program for each new shape, at 20 to 100 ms.
_OWN = ("creation", "options", "members")
_SHARES = {"numpy": 1.0, "torch": 1.0, "tensorflow": 0.5, "jax": 0.03}


def share(group: str, backend: str, *, launched: bool) -> float:
    most = _SHARES[backend] / 3 if launched else _SHARES[backend]
    return most if group in _OWN else most / 5


class _Library:
    """NumPy as users of the library know it, with the creation functions that arraydispatch has."""

    ndarray = np.ndarray

    def __getattr__(self, name: str) -> Any:
        return getattr(creation, name if name in creation.__all__ or name == "require" else "", None) or getattr(
            np, name
        )


@functools.cache
def expected(case: Case) -> dict[str, Any]:
    """What NumPy does; empty where there is nothing to share."""
    found = observe(case, PLAIN)
    return found if "raises" not in found and (found["leaves"] or found["written"]) else {}


def cases(group: str, backend: str, whole: bool, *, launched: bool) -> list[Case]:
    found = rows.product(group) if whole else rows.drawn(group, share(group, backend, launched=launched), SEED)
    return [case for case in found if expected(case)]


def in_library(found: list[Case], backend: str) -> list[dict[str, Any]]:
    with ad.backend(backend), ad.fallback("silent"):
        world = World(_Library(), lambda x: ad.asarray(x.copy(order="K")), (np.ndarray, ad.Array))
        return [_observed(case, world) for case in found]


def _observed(case: Case, world: World) -> dict[str, Any]:
    try:
        return observe(case, world)
    except Exception as error:
        return {"raises": f"{type(error).__name__} when it is written ({error})"}


def under_launcher(found: list[Case], how: str, backend: str, zygotes: Zygotes, folder: Path) -> list[dict[str, Any]]:
    """By as many scripts as it takes: one that is compiled 100,000 programs for needs more memory than there is."""
    made, *options = LAUNCHED[how]
    options += ["--on-fallback", "silent"]
    observed = []
    for start in range(0, len(found), PART):
        told = folder / f"cases{start}.json"
        told.write_text(json.dumps(found[start : start + PART]), encoding="utf-8")
        done = zygotes.of(backend).run(str(SCRIPT), made, str(told), cwd=SCRIPT.parent, options=tuple(options))
        assert done.code == 0, done.stderr
        observed += [json.loads(line) for line in done.stdout.splitlines()]
    return observed


def _compared(found: list[Case], observed: list[dict[str, Any]]) -> list[tuple[Case, str]]:
    return [(case, _difference(case, ours)) for case, ours in zip(found, observed, strict=True)]


def _difference(case: Case, ours: dict[str, Any], *without: str) -> str:
    return difference(ours, expected(case), without if case in rows.ALWAYS else ("flags", *without))


def differing(found: list[Case], observed: list[dict[str, Any]]) -> list[tuple[Case, str]]:
    return [(case, what) for case, what in _compared(found, observed) if what]


def check(found: list[Case], observed: list[dict[str, Any]], world: str, backend: str) -> None:
    wrong = []
    for (case, what), ours in zip(_compared(found, observed), observed, strict=True):
        departure = departs(case, world, backend) if what else None
        if departure is not None:
            what = _difference(case, ours, "is") if departure.identity else ""
        if what:
            wrong.append(f"{case}: {what}")
    assert not wrong, f"seed {SEED}: {len(wrong)} of {len(found)}\n" + "\n".join(wrong[:40])


# -- the table -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", rows.GROUPS)
def test_in_the_library(backend: str, group: str, pytestconfig: pytest.Config) -> None:
    found = cases(group, backend, pytestconfig.option.whole, launched=False)
    check(found, in_library(found, backend), "library", backend)


def test_what_every_run_has(backend: str) -> None:
    """Calls whose results once shared memory otherwise; :func:`test_under_the_launcher` has them too."""
    check(list(rows.ALWAYS), in_library(list(rows.ALWAYS), backend), "library", backend)


def test_a_broadcast_part_is_written_where_it_lies(backend: str, drawn: Callable[..., list[Case]]) -> None:
    """Views of another dtype than their root that have elements more than once."""
    calls = ("np.broadcast_arrays(", "np.meshgrid(")
    found = [
        c
        for g in rows.GROUPS
        for c in rows.product(g)
        if c.layout == "part" and c.call.startswith(calls) and expected(c)
    ]
    assert len(found) > 10
    found = drawn(found, backend, 4)
    check(found, in_library(found, backend), "library", backend)


@pytest.mark.parametrize("how", LAUNCHED)
def test_under_the_launcher(
    backend: str, how: str, zygotes: Zygotes, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    whole = pytestconfig.option.whole
    found = [*rows.ALWAYS, *(case for group in rows.GROUPS for case in cases(group, backend, whole, launched=True))]
    check(found, under_launcher(found, how, backend, zygotes, tmp_path), how, backend)


# -- its departures ------------------------------------------------------------------------------------------------------

_SOME = 12


def _of(departure: Departure, world: str, backend: str) -> list[Case]:
    held = [case for group in rows.GROUPS for case in rows.product(group) if departure.holds(case, world, backend)]
    return [case for case in held[:: max(len(held) // _SOME, 1)] if expected(case)]


def _first_place(departure: Departure) -> tuple[str, str]:
    return (departure.worlds or "library").split()[0], (departure.backends or "torch").split()[0]


def _differences(departure: Departure, zygotes: Zygotes, folder: Path) -> list[tuple[Case, str]]:
    world, backend = _first_place(departure)
    if backend not in ad.available_backends():
        pytest.skip(f"{backend} is not installed")
    found = _of(departure, world, backend)
    assert found, "no call of the table is meant"
    run = in_library(found, backend) if world == "library" else under_launcher(found, world, backend, zygotes, folder)
    return differing(found, run)


@pytest.mark.parametrize("departure", DEPARTURES, ids=lambda d: d.calls)
def test_what_departs_departs(departure: Departure, zygotes: Zygotes, tmp_path: Path) -> None:
    assert len(departure.reason.split()) > 4
    assert _differences(departure, zygotes, tmp_path)


# -- its extent ----------------------------------------------------------------------------------------------------------

# What takes no array whose memory it could share, or gives none.
_WITHOUT_ARRAYS = frozenset(
    "arange empty eye identity ones tri zeros frombuffer fromfile fromstring genfromtxt loadtxt".split()
)
_NO_ARRAYS = frozenset(
    "base ctypes data device dtype dump dumps flags item itemsize nbytes ndim setflags shape size strides to_device tobytes"
    " tofile tolist".split()
)
_OTHERWISE_CALLED = frozenset({"argpartition", "partition"})  # which elements come first is open


def _named() -> set[Any]:
    """Every function of NumPy's that a call of the table names."""
    words = {
        word for group in rows.GROUPS for case in rows.product(group) for word in re.findall(r"np(?:\.\w+)+", case.call)
    }
    found = set()
    for word in words:
        thing: Any = np
        for part in word.split(".")[1:]:
            thing = getattr(thing, part, None)
        if callable(thing):
            found.add(thing)
    return found


def test_every_dispatchable_function_is_in_the_table() -> None:
    registry.load_topics()
    known = _named() | registry.HOST.keys() | {getattr(np, name) for name in _WITHOUT_ARRAYS}
    public = [u for u in coverage.ufuncs() if getattr(np, u.__name__, None) is u]
    numeric = {u for u in public if {"d", "l"} & set("".join(u.types))}
    assert sorted(f.__name__ for f in {*coverage.dispatched(), *numeric} - known) == []


def test_every_member_of_ndarray_is_in_the_table() -> None:
    called = {
        word for group in rows.GROUPS for case in rows.product(group) for word in re.findall(r"\.(\w+)", case.call)
    }
    public = {name for name in coverage.members() if not name.startswith("_")}
    assert public - called - _NO_ARRAYS - _OTHERWISE_CALLED == set()


def test_a_difference_is_found() -> None:
    """Each kind of mistake would be seen."""
    case = Case("np.asarray(a)")
    for made in ("np.array(a)", "a[...]", "a[::-1]", "(a.fill(1), np.asarray(a))[1]"):
        assert difference(observe(case._replace(call=made), PLAIN), expected(case)), made
    sliced = expected(Case("a[1:]"))
    for made in ("a[1:].copy()", "a[:-1]", "np.broadcast_to(a[1:], (2, 4))", "[a[1:], a]"):
        assert difference(observe(Case(made), PLAIN), sliced), made
    assert difference(observe(Case("a[1:]", layout="read-only"), PLAIN), sliced)
    turned = observe(Case("np.asfortranarray(a)"), PLAIN), expected(Case("np.ascontiguousarray(a)[:, ::-1].copy()"))
    assert difference(*turned, ("is", "sees", "reaches")) and not difference(*turned)
    assert not difference(observe(Case("a[1:]"), PLAIN), sliced)
