"""The grid: every function and ufunc over dtypes, ranks, layouts and argument patterns, with NumPy as the oracle.

A :class:`Row` says how a function is called: expressions over ``np`` and a few operands that are made for each dtype,
shape and layout. The grid multiplies. From the repository's root::

    python -m tests.functions.grid --backend torch             every call, a summary by function
    python -m tests.functions.grid --backend jax --share 0.1   every tenth call
    python -m tests.functions.grid --backend torch --only np.median --fails

Every call runs with ``fallback("error")`` and ``execution="eager"``, so a call that needs the host counts as one that does
not pass, and what NumPy would compute on a library's memory is the library's own.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import re
import sys
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import arraydispatch as ad
from arraydispatch.backends import loader

from .. import oracle
from .grid_rows import DEPARTURES, ROWS, Row

SHAPES: tuple[tuple[int, ...], ...] = ((), (5,), (3, 4), (2, 3, 4), (2, 3, 2, 2), (0,), (0, 3))
SQUARE: tuple[tuple[int, ...], ...] = ((3, 3), (2, 3, 3), (2, 2, 3, 3), (0, 0), (0, 3, 3))
DTYPES = {
    "bool": "?",
    "int": "bhil",
    "uint": "BHIL",
    "float": "efd",
    "complex": "FD",
}
BASE = "dl"  # dtypes that see every shape with every argument pattern
LAYOUTS = ("strided", "transposed", "reversed", "special")


class Case(NamedTuple):
    """One call on one kind of operands."""

    function: str
    call: str
    dtype: str
    shape: tuple[int, ...]
    layout: str
    values: str = "any"
    elementwise: bool = False

    @property
    def figure(self) -> str:
        """Whose accuracy it is: ``ufunc.at`` with repeated indices runs a ufunc on its own rounded results."""
        return f"{self.function}.at" if f"{self.function}.at(" in self.call else self.function

    def __str__(self) -> str:
        return f"{self.call} with a: {np.dtype(self.dtype)}{list(self.shape)} {self.layout}"


# -- operands ------------------------------------------------------------------------------------------------------------


def _drawn(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...], values: str) -> np.ndarray[Any, Any]:
    if dtype.kind == "b":
        return rng.random(shape) < 0.6
    if dtype.kind in "iu":
        low = 0 if dtype.kind == "u" or values in ("positive", "count") else -9
        return rng.integers(low + (values == "positive"), 5 if values == "count" else 10, shape).astype(dtype)
    x = rng.normal(size=shape) * 2
    if values in ("positive", "count"):
        x = np.abs(x) + 0.1
    if values == "unit":
        x = np.tanh(x)
    if dtype.kind == "c":
        return (x + 1j * rng.normal(size=shape)).astype(dtype)
    return x.astype(dtype)


def _special(dtype: np.dtype[Any], shape: tuple[int, ...], values: str, shift: int) -> np.ndarray[Any, Any]:
    """Ties, zeros of both signs, infinities and NaN; the ends of the range of integers."""
    if dtype.kind == "b":
        row: list[Any] = [True, False, False]
    elif dtype.kind in "iu":
        limits = np.iinfo(dtype)
        row = [limits.max, 0, 1, 2, 2, limits.min, limits.max - 1]
    elif dtype.kind == "f":
        row = [1.5, np.nan, -0.0, 2.0, np.inf, 2.0, 0.0, -np.inf, -1.5]
    else:
        row = [1.5, complex(np.nan, 1), -0.0, 2 + 1j, 2.0, 2 + 1j, complex(0, -3), -1.5]
    if values in ("positive", "count"):
        row = [x for x in row if not x < 0] if dtype.kind != "c" else row
    size = int(np.prod(shape))
    return np.array([row[(i * 4 + shift) % len(row)] for i in range(size)], dtype).reshape(shape)


def _laid(x: np.ndarray[Any, Any], layout: str) -> np.ndarray[Any, Any]:
    if layout == "strided":
        return np.repeat(x, 2, axis=-1)[..., ::2]
    if layout == "transposed":
        return np.ascontiguousarray(x.T).T
    if layout == "reversed":
        return np.ascontiguousarray(x[::-1])[::-1]
    return x


def operands(case: Case) -> dict[str, np.ndarray[Any, Any]]:
    """The operands by name; see :data:`OPERANDS`."""
    return _operands(case.dtype, case.shape, case.layout, case.values)


OPERANDS = {
    "a": "the operand: of the case's dtype, shape and layout",
    "b": "another of the same kind",
    "r": "a row that broadcasts against it",
    "m": "a mask of its shape",
    "w": "positive float64 weights of its shape",
    "k": "int64 indices into its first axis",
    "v": "a sorted line of its dtype",
    "out": "an array for the result, of the shape and dtype that NumPy's result has without it",
}


@functools.lru_cache(maxsize=64)
def _operands(dtype: str, shape: tuple[int, ...], layout: str, values: str) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(zlib.crc32(f"{dtype}{shape}{values}".encode()))
    kind = np.dtype(dtype)
    if layout == "special":
        a, b = _special(kind, shape, values, 0), _special(kind, shape, values, 1)
    else:
        a, b = _laid(_drawn(rng, kind, shape, values), layout), _laid(_drawn(rng, kind, shape, values), layout)
    if values == "definite":  # well-conditioned, symmetric
        n = shape[-1]
        base = rng.normal(size=shape) + (1j * rng.normal(size=shape) if kind.kind == "c" else 0)
        a = (base @ np.swapaxes(base.conj(), -1, -2) + (n + 1) * np.eye(n)).astype(kind)
        a = _laid(a, layout)
    made = {
        "a": a,
        "b": b,
        "r": _drawn(rng, kind, shape[-1:], values),
        "m": rng.random(shape) < 0.6,
        "w": rng.random(shape) + 0.5,
        "k": rng.integers(0, shape[0], 3) if shape and shape[0] else np.zeros(0, np.int64),
        "v": np.sort(_drawn(rng, kind, (6,), values)),
    }
    return {name: np.asarray(x) for name, x in made.items()}


# -- the product ---------------------------------------------------------------------------------------------------------

_AXIS = {0: ("0",), 1: ("0", "-1"), 2: ("0", "-1"), 3: ("1", "-1"), 4: ("-3", "3")}
_AXES = {0: ("None", "0"), 1: ("None", "0", "-1"), 2: ("None", "0", "-1", "(0, -1)"), 3: ("None", "1", "(0, -1)"),
         4: ("None", "-2", "(1, 3)", "(0, 1, 2, 3)")}  # fmt: skip
_BY_NAME = re.compile(r"\{(axis|axes)\}")


def _filled(template: str, name: str, ndim: int) -> list[str]:
    call = template.replace("{f}", name.removeprefix("ndarray."))
    found = _BY_NAME.search(call)
    if found is None:
        return [call]
    chosen = (_AXIS if found[1] == "axis" else _AXES)[ndim]
    return [call.replace(found[0], value) for value in chosen]


def _letters(kinds: str) -> str:
    return "".join(DTYPES[kind] for kind in kinds.split())


def cases(only: str | None = None, share: float = 1.0, seed: int = 0) -> list[Case]:
    """The cases of the grid, or of one function, or that share of them, in an order by chance.

    A seed always gives the same ones, and a smaller share those of a larger one's that come first.
    """
    found: dict[int, Case] = {}
    for row in ROWS:
        for name in row.names.split():
            if only is None or name == only:
                for case in _cases_of(row, name):
                    number = zlib.crc32(f"{seed}{case.call}|{case.dtype}{case.shape}{case.layout}".encode())
                    if number < share * 2**32:
                        found[number] = case
    return [found[number] for number in sorted(found)]


@functools.cache
def _shapes(row: Row) -> tuple[tuple[int, ...], ...]:
    return SQUARE if row.square else tuple(s for s in SHAPES if row.ndim[0] <= len(s) <= row.ndim[1])


def _cases_of(row: Row, name: str) -> Iterator[Case]:
    letters, shapes = _letters(row.dtypes), _shapes(row)
    base = [c for c in BASE if c in letters] or [letters[0]]
    for template in row.calls:
        first = template is row.calls[0]
        plans = dict.fromkeys((c, s, "contiguous") for c in base for s in shapes)
        wide = shapes if first else (shapes[min(1, len(shapes) - 1)],)
        plans.update(dict.fromkeys((c, s, "contiguous") for c in letters for s in wide))
        if row.layouts:
            plain = [s for s in shapes if s and 0 not in s][: 3 if first else 2]
            plans.update(dict.fromkeys((base[0], s, layout) for layout in LAYOUTS[:3] for s in plain))
            if row.special:
                plans.update(dict.fromkeys((c, s, "special") for c in letters for s in plain[-2:]))
        calls = {ndim: _filled(template, name, ndim) for ndim in {len(s) for s in shapes}}
        for dtype, shape, layout in plans:
            for call in calls[len(shape)]:
                yield Case(name, call, dtype, shape, layout, row.values, row.elementwise)


# -- one case ------------------------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """What a case did on a backend: ``verdict`` is empty if it passed."""

    verdict: str = ""
    host: str = ""
    ulp: dict[str, float] = field(default_factory=dict)


def _is_out(expression: str) -> bool:
    return "out=out" in expression


def run(case: Case, backend: str) -> Outcome:
    """Run a case on NumPy and on a backend and compare everything, floating values by the limits of :mod:`tests.limits`.

    Parameters
    ----------
    case : Case
        The call.
    backend : str
        The backend's name.
    """
    hosts = {name: x for name, x in operands(case).items() if re.search(rf"\b{name}\b", case.call)}
    warnings.filterwarnings("ignore", "'where' used without 'out'", UserWarning)
    if _is_out(case.call):
        plain = oracle.evaluate(
            re.sub(r",? ?\b(out=out|where=m)\b", "", case.call), {k: v.copy("K") for k, v in hosts.items()}
        )
        if not isinstance(plain, np.ndarray | np.generic):
            return Outcome()  # an error, which the call without out= compares
        hosts["out"] = np.ones(plain.shape, plain.dtype)
    theirs = oracle.evaluate(case.call, {name: x.copy("K") for name, x in hosts.items()})
    wrapped = {name: oracle.wrapped(backend, x) for name, x in hosts.items()}
    with ad.fallback("error"):
        ours = oracle.evaluate(case.call, wrapped)
    if isinstance(ours, ad.HostFallbackError):
        return Outcome(verdict="host", host=str(ours))
    if _is_out(case.call) and isinstance(theirs, np.ndarray) and ours is not wrapped["out"]:
        return Outcome(verdict="the result is not out")
    outcome = Outcome()
    try:
        pairs = oracle.parts(ours, theirs)
    except AssertionError as difference:
        outcome.verdict = str(difference)
        return outcome
    call = oracle.Call(case.call, hosts)
    outcome.verdict = oracle.within(pairs, theirs, call, backend, elementwise=case.elementwise)
    outcome.ulp = {t: far for t, far in oracle.distances(pairs, case.elementwise).items() if far < HALF_THE_DIGITS[t]}
    return outcome


HALF_THE_DIGITS = {
    name: float(np.finfo(name).eps) ** -0.5 for name in "float16 float32 float64 complex64 complex128".split()
}
"""What is kept as a figure, in units in the last place: where more is right, NumPy's digits had no meaning."""


def departs(case: Case, backend: str) -> str:
    """Why a case differs from NumPy on a backend; empty if it does not."""
    for d in DEPARTURES:
        if (
            (d.functions == "*" or case.function in d.functions.split())
            and d.calls in case.call
            and case.dtype in d.dtypes
            and case.layout in d.layouts.split()
            and (d.ndim is None or len(case.shape) in d.ndim)
            and backend in d.backends.split()
        ):
            return d.reason
    return ""


# -- the command ---------------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What the cases of one function did."""

    calls: int = 0
    passed: int = 0
    departs: Counter[str] = field(default_factory=Counter)
    host: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[str, str]] = field(default_factory=list)
    ulp: dict[str, float] = field(default_factory=dict)

    def add(self, case: Case, outcome: Outcome, backend: str) -> None:
        """Count one case; the figures are of those that are meant to be NumPy's."""
        self.calls += 1
        if not outcome.verdict:
            self.passed += 1
            if departs(case, backend):
                return
            for dtype, distance in outcome.ulp.items():
                self.ulp[dtype] = max(self.ulp.get(dtype, 0.0), distance)
        elif reason := departs(case, backend):
            self.departs[reason] += 1
        elif outcome.host:
            self.host[outcome.host] += 1
        else:
            self.wrong.append((str(case), outcome.verdict))


def measure(backend: str, found: list[Case], seconds: float = math.inf) -> dict[str, Tally]:
    """The tally of each function over the cases, or over as many as the time allows, with a progress bar."""
    from rich.console import Console
    from rich.progress import track

    tallies: dict[str, Tally] = {}
    start = time.perf_counter()
    for case in track(found, backend, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()):
        tallies.setdefault(case.figure, Tally()).add(case, run(case, backend), backend)
        if time.perf_counter() - start > seconds:
            break
    return dict(sorted(tallies.items()))


def main(argv: list[str] | None = None) -> int:
    """The command line; 1 if calls differ from NumPy."""
    parser = argparse.ArgumentParser(prog="python -m tests.functions.grid", description=__doc__.splitlines()[0])
    parser.add_argument("--backend", required=True, choices=ad.available_backends())
    parser.add_argument("--share", type=float, default=1.0, help="run this share of the calls")
    parser.add_argument("--seed", type=int, default=0, help="choose another sample")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after this time")
    parser.add_argument("--only", help="one function, as in np.linalg.svd")
    parser.add_argument("--fails", action="store_true", help="print every call that differs")
    parser.add_argument("--json", type=Path, help="write the tallies to this file")
    options = parser.parse_args(argv)
    start = time.perf_counter()
    ad.use(execution="eager")
    found = cases(options.only, options.share, options.seed)
    tallies = measure(options.backend, found, options.seconds)
    for name, tally in tallies.items():
        if tally.passed + tally.departs.total() < tally.calls or options.only:
            print(f"{name}: {tally.passed}/{tally.calls}, host {tally.host.total()}, differ {len(tally.wrong)}")
        for reason, count in tally.host.most_common():
            print(f"    {count} x {reason}")
        for where, what in tally.wrong if options.fails else tally.wrong[:3]:
            print(f"    {where}: {' '.join(what.split())[:300]}")
    calls, passed = sum(t.calls for t in tallies.values()), sum(t.passed for t in tallies.values())
    share = 100 * passed / max(calls, 1)
    departed = sum(t.departs.total() for t in tallies.values())
    took = time.perf_counter() - start
    print(
        f"{options.backend}: {passed} of {calls} calls pass ({share:.2f} %), {departed} depart for a reason, {took:.0f} s"
    )
    if options.json:
        version = loader.load(options.backend).version
        rows = {
            name: {
                "calls": t.calls, "passed": t.passed, "host": dict(t.host), "differ": len(t.wrong), "ulp": t.ulp,
            }
            for name, t in tallies.items()
        }  # fmt: skip
        options.json.write_text(
            json.dumps({"backend": options.backend, "version": version, "functions": rows}, indent=1) + "\n"
        )
    return int(any(t.wrong for t in tallies.values()))


if __name__ == "__main__":
    sys.exit(main())
