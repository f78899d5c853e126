"""Random scripts that write, through every door, what pending values read print under the launcher what plain Python prints.

A script holds programs, each a function of some twenty lines: arrays, views of them, values computed from them that are looked at
late, and writes in between: ``out`` by position, ``overwrite_input``, ``ufunc.at``, ``np.copyto`` and its like, iterators, buffers,
ctypes, memory-mapped files, generators, SciPy's outputs. Lines are drawn while NumPy runs them, so that all of them run.

``python tests/engine/test_pending_programs.py --backend jax --programs 5000 --seed 1`` runs as many as asked for, in all ways by their
shares. A program that differs is printed with its seed, cut down to the lines it needs.
"""

from __future__ import annotations

import argparse
import functools
import random
import subprocess
import sys
import tempfile
import textwrap
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from arraydispatch.engine import nodes

if __package__ is None:  # run as a script
    sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.engine import doors

LINES = 20
BATCH = 25
"""Programs of a script."""

HEAD = """\
import array, concurrent.futures, copy, ctypes, io, operator, os, pickle, random, struct, tempfile, warnings, zlib
import numpy as np, numpy.lib.recfunctions
import scipy.fft, scipy.linalg, scipy.ndimage, scipy.special
import arraydispatch.engine.nodes as _nodes, arraydispatch.engine.recording.tape as _tape
_nodes.ALONE = 1 << 60  # each call is recorded, however little comes of it
if {threads}:
    _tape.IN_THREADS = 0
if {recorded}:  # fused execution is asked first, and NumPy computes at once what it declines
    import arraydispatch.engine.recording.call_nodes as _calls, arraydispatch.fastpath as _fastpath
    _calls.RECORDED_FROM, _nodes.ALONE, _nodes.AGAIN = {recorded}, 2, 3
    _fastpath._follow()
warnings.simplefilter("ignore")
np.seterr(all="ignore")
N = {size}

def make(start, dtype=float):
    made = np.arange(N).astype(dtype) * 7 % 23 + (start - 11.5) if dtype is not complex else np.arange(N) * (1 - 2j) % 23
    made = made.astype(dtype)
    complex(made[0])  # which has it there
    return made

def mapped(x):
    made = np.memmap(tempfile.TemporaryFile(), float, "w+", shape=(N,))
    made[...] = x
    return made

def fields(x):
    made = np.zeros(x.shape, [("f", x.dtype), ("g", "i4")])
    made["f"] = x
    return made

def few(x):  # for a loop of Python's
    return x if len(x) < 100 else x[:99]

def run(function, *args):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args).result()

def tell(name, x):
    print(name, x.shape, x.dtype.str, x.flags.writeable, {told}(x.tobytes()), sep="|")

def look(x):
    tell("", x)
    tell("sum", x.sum())

def show(names):
    for name, x in sorted(names.items()):
        if isinstance(x, np.ndarray) and (name[1:].isdigit() or name == "late"):
            tell(name, x)
"""
"""What each script begins with. Nothing in it lets memory out before the end: what others have seen is read at once."""


class Way(NamedTuple):
    """How scripts are run, and what is asked of what they print."""

    options: tuple[str, ...]
    size: int = 24
    threads: bool = False
    """Whether threads compute each block."""
    exactly: bool = True
    """Bit for bit, because NumPy itself computes; else programs hold only what is exact in few bits, and a limit allows for many."""
    shared: bool = True
    """Whether what others write to an array's memory is seen by it."""
    recorded: int = 0
    """Elements from which a call on a small array may be recorded."""
    share: int = 0
    """Programs of a round of the soak; those that a library compiles cost most."""


class Author:
    """Draws the lines of a program; ``scope``: where NumPy has run those before."""

    def __init__(self, rng: random.Random, way: Way) -> None:
        self.rng, self.way = rng, way
        self.scope: dict[str, Any] = {}
        alone = nodes.ALONE
        try:
            with (
                warnings.catch_warnings(),
                np.errstate(),
            ):  # the head is a script's, which may leave anything as it likes
                exec(_head(way._replace(threads=False, recorded=0, size=24)), self.scope)
        finally:
            nodes.ALONE = alone
        self.lines: list[str] = []
        self._count = 0

    def pick(self, choices: Any) -> Any:
        return choices[self.rng.randrange(len(choices))]

    def names(self, kinds: str, shape: Any = None) -> list[str]:
        """Arrays of a kind, which a letter says: one's own, a view, a pending value; all of them of a shape, if one is given."""
        found = [
            name
            for name, x in self.scope.items()
            if name[0] in kinds and name[1:].isdigit() and isinstance(x, np.ndarray)
        ]
        return [name for name in found if shape is None or self.scope[name].shape == shape]

    def new(self, kind: str, most: int) -> str:
        self._count += 1
        return f"{kind}{self._count % most}"

    def line(self) -> str:
        kind = self.rng.randrange(20)
        # NumPy's functions that join arrays write to what is read-only.
        target = self.pick([name for name in self.names("avm") if self.scope[name].flags.writeable])
        shape = self.scope[target].shape
        alike = self.names("avm", shape)
        given = {"t": target, "s": self.pick(alike), "r": self.pick(alike), "w": self.pick(self.names("aw"))}
        if kind < 2:
            given["n"] = self.rng.randrange(9)
            if self.rng.randrange(2):
                return f"{self.new('a', 4)} = {self.pick(doors.MADE).format(**given)}"
            return f"{self.new('m', 2)} = {self.pick(doors.WINDOWS).format(**given)}"
        if kind < 3:
            return f"{self.new('v', 3) if target[0] != 'm' else 'm2'} = {self.pick(doors.VIEWS).format(**given)}"
        if kind < 9:
            return f"{self.new('w', 6)} = {self.of(doors.PENDING, doors.PENDING_ROUNDED).format(**given)}"
        if kind < 10:
            return f"look({given['w']})"
        if kind < 14:
            line = self.of(doors.OUTS, doors.OUTS_ROUNDED)
        elif kind < 18 or not self.in_one_piece(
            target, given["s"]
        ):  # beyond the ends of others lies what is not theirs
            line = self.of(doors.IN_PLACE, doors.IN_PLACE_ROUNDED)
        else:
            line = self.of(doors.MEMORY, doors.MEMORY_ROUNDED)
        if line.startswith("{s}"):  # NumPy's own arrays have methods that take no others for `out`
            given["s"] = self.pick(self.names("av", shape) or ["a0"])
        return line.format(**given)

    def in_one_piece(self, *names: str) -> bool:
        """Whether 64 bytes of each may be written from its first element on."""
        arrays = [self.scope[name] for name in names]
        alike = (
            self.way.exactly or len({x.dtype for x in arrays}) == 1
        )  # small integers' bytes are subnormal floats, zero for XLA
        return self.way.shared and alike and all(x.flags.c_contiguous and x.nbytes > 64 for x in arrays)

    def of(self, lines: tuple[str, ...], rounded: tuple[str, ...]) -> str:
        """One of a table, or where bits are compared of what is rounded too."""
        return str(self.pick((*lines, *rounded) if self.way.exactly else lines))

    def program(self) -> list[str]:
        """The lines of one that NumPy runs to its end."""
        for line in (f"a0 = make({self.rng.randrange(9)})", f"a1 = make({self.rng.randrange(9)})"):
            self._ran(line)
        while len(self.lines) < LINES:
            self._ran(self.line())
        return self.lines

    def _ran(self, line: str) -> None:
        with warnings.catch_warnings(), np.errstate(all="ignore"), tempfile.TemporaryFile("w") as nowhere:
            warnings.simplefilter("ignore")
            self.scope["print"] = lambda *x, sep: print(*x, sep=sep, file=nowhere)
            try:
                exec(line, self.scope)
            except Exception:
                return
        self.lines.append(line)


def drawn(seed: str, way: Way) -> list[str]:
    """A program."""
    return Author(random.Random(seed), way).program()


def alone() -> list[list[str]]:
    """Programs that go through one door each: to an array, and to a view of one."""
    tables = (
        doors.OUTS,
        doors.IN_PLACE,
        doors.MEMORY,
        doors.OUTS_ROUNDED,
        doors.IN_PLACE_ROUNDED,
        doors.MEMORY_ROUNDED,
    )
    made = (
        [f"a{i} = make({i})" for i in range(3)]
        + ["v0 = make(4)[None][0]", "w0 = a1 + 1"]
        + ["m1 = np.asarray(array.array('d', range(N)))"]
    )
    seen = "look(a0); look(a1); look(v0); look(w0)"
    lines = [line.format(t=t, s="a1", r="a2", w="w0") for table in tables for line in table for t in ("a0", "v0")]
    lines += [
        f"{line.format(t='a0', s='m1', r='m1', w='w0')}; m1[[1, 2]] = 9.5"
        for line in doors.OUTS + doors.IN_PLACE
        if "{s}" in line and "\n" not in line
    ]
    windows = [f"m1 = {line.format(n=3)}; m1[2:4] = 2.5; look(m1 + 1)" for line in doors.WINDOWS]
    views = [f"v1 = {line.format(t='a0')}; v1[...] = 2.5; v1 += 1" for line in doors.VIEWS]
    return [[*made, line, seen] for line in (*lines, *windows, *views)]


def _head(way: Way) -> str:
    whole = way.size > 1000
    return HEAD.format(
        threads=way.threads, recorded=way.recorded, size=way.size, told="zlib.crc32" if whole else "bytes.hex"
    )


def script(programs: list[list[str]], way: Way) -> str:
    """A script that runs programs, each in a part of its output."""
    parts = [_head(way)]
    for i, lines in enumerate(programs):
        body = textwrap.indent("\n".join(lines), "    ")
        parts.append(f"def program_{i}():\n{body}\n    show(locals())\n")
        parts.append(
            f"print('== {i}')\ntry:\n    program_{i}()\nexcept Exception as error:\n    print(type(error), error)\n"
        )
    return "\n".join(parts)


Runs = Callable[[str], tuple[str, str]]
"""Runs a script on plain Python and under the launcher: what each printed."""


def same(ours: str, plain: str, way: Way) -> bool:
    """Whether a program has printed what it prints on plain Python."""
    if ours == plain or way.exactly:
        return ours == plain
    lines = [text.splitlines() for text in (ours, plain)]
    return len(lines[0]) == len(lines[1]) and all(map(_alike, *lines))


def _alike(ours: str, plain: str) -> bool:
    if "|" not in plain or ours == plain:
        return ours.partition(">")[0] == plain.partition(">")[0]  # the type of an error
    *facts, data = plain.split("|")
    *found, bits = ours.split("|")
    if facts != found:
        return False
    x, y = (np.frombuffer(bytes.fromhex(text), facts[2]) for text in (bits, data))
    if x.dtype.kind not in "fc":
        return np.array_equal(x, y)
    limit = 1e-4 if x.itemsize == 4 else 1e-9
    return bool(np.allclose(x, y, rtol=limit, atol=limit, equal_nan=True))


def differences(programs: list[list[str]], runs: Runs, way: Way, failing: bool = True) -> list[int]:
    """Numbers of the programs that print something else; ``failing``: also of those that plain Python does not run to the end."""
    plain, ours = (text.split("== ")[1:] for text in runs(script(programs, way)))
    assert len(plain) == len(programs)
    ran = [i for i in range(len(programs)) if failing or "<class '" not in plain[i]]
    return [i for i in ran if i >= len(ours) or not same(ours[i], plain[i], way)]


def shortest(lines: list[str], runs: Runs, way: Way) -> list[str]:
    """Leave out every line without which a program differs still; those that can be left out together are tried in one script."""

    def differ(programs: list[list[str]]) -> list[int]:
        return differences(programs, runs, way, failing=False)

    while True:
        without = [lines[:i] + lines[i + 1 :] for i in range(len(lines))]
        single = differ(without)[::-1]
        if not single:
            return lines
        fewer = [[line for i, line in enumerate(lines) if i not in single[:k]] for k in range(1, len(single) + 1)]
        lines = fewer[max(differ(fewer), default=0)]


WAYS = {
    "all of it": Way(("--execution", "fused", "--min-size", "1"), threads=True, share=500),
    "at once": Way(("--execution", "fused", "--min-size", "1"), share=550),
    "large and small": Way(("--execution", "fused", "--min-size", "20"), share=500),
    "asked first": Way(("--execution", "fused"), recorded=8, share=300),
    "large arrays": Way(("--execution", "fused"), 1 << 19, share=20),
    "eager": Way(("--execution", "eager", "--min-size", "1"), exactly=False, share=400),
    "in the library": Way(("--min-size", "0"), exactly=False, share=350),
    "compiled": Way(("--execution", "compiled", "--min-size", "1"), exactly=False, share=110),
    "compiled, large and small": Way(("--execution", "compiled", "--min-size", "20"), exactly=False, share=70),
    "compiled in the library": Way(("--execution", "compiled", "--min-size", "0"), exactly=False, share=60),
}
ROUND = sum(way.share for way in WAYS.values())


def _runs(zygotes: Any, backend: str, how: Way, tmp_path: Path) -> Runs:
    def runs(text: str) -> tuple[str, str]:
        (tmp_path / "script.py").write_text(text)
        done = [
            zygotes.plain._run(("script.py",), tmp_path, (), "", None, False, "run"),
            zygotes.of(backend)._run(("script.py",), tmp_path, how.options, "", None, False, "run"),
        ]
        assert [each.code for each in done] == [0, 0], done[1].stderr
        return done[0].stdout, done[1].stdout

    return runs


@pytest.mark.one_backend
@pytest.mark.slow
@pytest.mark.parametrize("way", ["in the library", "compiled"])
def test_each_door_writes_what_a_library_holds(
    backend: str, way: str, seed: int, effort: int, zygotes: Any, tmp_path: Path
) -> None:
    how = WAYS[way]
    programs, runs = alone(), _runs(zygotes, backend, how, tmp_path)
    if effort == 1:  # JAX compiles each of them
        programs = random.Random(seed).sample(programs, 120)
    assert [programs[i][-2] for i in differences(programs, runs, how, failing=False)] == []


@pytest.mark.one_backend
@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_programs_print_what_plain_python_prints(
    backend: str, way: str, seed: int, effort: int, zygotes: Any, tmp_path: Path
) -> None:
    how = WAYS[way]
    runs = _runs(zygotes, backend, how, tmp_path)
    many = 5 if how.size > 1000 else BATCH if how.exactly else BATCH // 3
    for batch in range(effort):
        names = [f"{seed}/{backend}/{way}/{batch}/{i}" for i in range(many)]
        programs = [drawn(name, how) for name in names]
        for i in differences(programs, runs, how):
            lines = shortest(programs[i], runs, how)
            plain, ours = runs(script([lines], how))
            pytest.fail(
                f"the program of {names[i]!r}:\n" + "\n".join(lines) + f"\nprints\n{ours}\nplain Python\n{plain}"
            )


def main() -> int:
    """Run the programs asked for and print their number and seed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--backend", action="append", required=True, help="may be given several times")
    parser.add_argument(
        "--programs", type=int, default=ROUND, help=f"how many on each backend; {ROUND} are a round of all ways"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--way", choices=WAYS, action="append", help="default: all")
    parser.add_argument("--keep-going", type=int, default=1, help="how many programs that differ to show")
    asked = parser.parse_args()
    failed, done, number = 0, 0, 0
    while done < asked.programs and failed < asked.keep_going:
        for name in asked.way or WAYS:
            count = min(WAYS[name].share, asked.programs - done)
            failed += _soak(asked, name, [f"{asked.seed}/{number}/{name}/{i}" for i in range(count)])
            done += count
        number += 1
    return 1 if failed else 0


def _soak(asked: argparse.Namespace, name: str, seeds: list[str]) -> int:
    """Run programs of one way on each backend, and once on plain Python; return how many differ."""
    way, folder = WAYS[name], Path(tempfile.mkdtemp())

    def printed(*how: str) -> str:
        done = subprocess.run([sys.executable, *how, "script.py"], cwd=folder, capture_output=True, text=True)
        if "Traceback" in done.stderr:
            print(done.stderr)
        return done.stdout

    @functools.lru_cache(1)
    def plain(text: str) -> str:
        (folder / "script.py").write_text(text)
        return printed()

    failed, programs = 0, [drawn(seed, way) for seed in seeds]
    for backend in asked.backend:

        def runs(text: str, backend: str = backend) -> tuple[str, str]:
            return plain(text), printed(
                "-m", "arraydispatch", "run", "--backend", backend, "--on-fallback", "silent", *way.options
            )

        start = time.perf_counter()
        found = differences(programs, runs, way)
        spent = time.perf_counter() - start
        print(
            f"{backend}, {name}: {len(seeds)} programs, seed {asked.seed}, {len(found)} failed, {spent:.0f} s",
            flush=True,
        )
        for i in found[: asked.keep_going]:
            lines = shortest(programs[i], runs, way)
            print(
                f"the program of {seeds[i]!r}:",
                *lines,
                "prints",
                *reversed(runs(script([lines], way))),
                sep="\n",
                flush=True,
            )
        failed += len(found)
    return failed


if __name__ == "__main__":
    sys.exit(main())
