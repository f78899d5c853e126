"""Random scripts that write, through every door, what pending values read print under the launcher what plain Python prints.

A script holds programs, each a function of some twenty lines: arrays, views of them, values computed from them that are looked at
late, and writes in between: ``out`` by position, ``overwrite_input``, ``ufunc.at``, ``np.copyto`` and its like, iterators, buffers,
ctypes, memory-mapped files, generators, SciPy's outputs. Lines are drawn while NumPy runs them, so that all of them run.

``python tests/engine/test_pending_programs.py --backend jax --programs 2000 --seed 1`` runs as many as asked for. A program that differs is
printed with its seed, cut down to the lines it needs.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arraydispatch.engine import nodes

LINES = 20
BATCH = 25
"""Programs of a script."""

HEAD = """\
import ctypes, io, struct, tempfile, warnings, zlib
import numpy as np
import scipy.ndimage, scipy.special
import arraydispatch.engine.nodes as _nodes, arraydispatch.engine.recording.tape as _tape
_nodes.ALONE = 1 << 60  # each call is recorded, however little comes of it
if {threads}:
    _tape.IN_THREADS = 0
warnings.simplefilter("ignore")
np.seterr(all="ignore")
N = {size}

def make(start):
    made = np.arange(N) * 7 % 23 + (start - 11.5)
    float(made[0])  # which has it there
    return made

def mapped(x):
    made = np.memmap(tempfile.TemporaryFile(), float, "w+", shape=(N,))
    made[...] = x
    return made

def look(x):
    print(x.shape, x.dtype, x.flags.writeable, repr(x.sum().item()), repr(x[3:9].tolist()))

def show(names):
    for name, x in sorted(names.items()):
        if isinstance(x, np.ndarray):
            print(name, x.shape, x.dtype, x.flags.writeable, zlib.crc32(x.tobytes()))
"""
"""What each script begins with. Nothing in it lets memory out before the end: what others have seen is read at once."""

_PENDING = (
    "np.where({s} > 0, {s}, 0.25)", "{s} * 2 + {r}", "np.clip({s}, -2, 2)", "{s} - {r}", "np.maximum({s}, {r})", "-{s}", "{s}.astype('f4')",
    "{s}[1:] + {s}[:-1]", "abs({s}) ** 0.5", "{s} + {s}[0:1]", "np.sqrt(np.abs({s})) + 1", "({s} > {r})", "{s} * {s}", "np.roll({s}, 3) + 1",
    "{s} + np.ones(4)[:1]", "{s}.reshape(2, -1) * 2", "({s}.reshape(4, -1) + 1).sum(axis=-1)", "1.5 - {s}[::-1]", "{s} % 5",
)  # fmt: skip
"""Values of what others may write while they are pending."""
_WINDOWS = "mapped(make({n}))", "np.frombuffer(bytearray(make({n}).tobytes()))"
"""Arrays on memory that is not theirs."""
_VIEWS = (
    "{t}[::2]",
    "{t}[::-1]",
    "{t}[4:]",
    "{t}[:-4]",
    "{t}.reshape(2, -1)[0]",
    "{t}.reshape(-1, 2)[:, 1]",
    "{t}[...]",
    "{t}.T",
    "{t}[None][0]",
)

_OUTS = (
    "np.cumsum({s}, 0, None, {t})", "np.clip({s}, -1, 1, {t})", "np.round({s}, 1, {t})", "np.around({s}, 1, {t})", "np.sum({s}[None], 0, None, {t})",
    "np.mean({s}[None], 0, None, {t})", "np.std(np.stack([{s}, {r}]), 0, None, {t})", "np.max({s}[None], 0, {t})", "np.ptp(np.stack([{s}, {r}]), 0, {t})",
    "np.median(np.stack([{s}, {r}]), 0, {t})", "np.quantile({s}[None], 0.5, 0, {t})", "np.fix({s}, {t})", "np.take({s}, np.arange(len({s}))[::-1], 0, {t})",
    "np.compress(np.ones(len({s}), bool), {s}, 0, {t})", "np.choose(np.zeros(len({s}), int), [{s}, {r}], {t})",
    "np.concatenate([{s}[:5], {r}[5:]], 0, {t})", "np.add({s}, 1, {t})", "np.multiply({s}, {r}, out={t})", "np.maximum({s}, {r}, {t}, where={s} > 0)",
    "np.add.accumulate({s}, 0, None, {t})", "np.add.reduce(np.stack([{s}, {r}]), 0, None, {t})", "np.add.reduceat({s}, np.arange(len({s})), 0, None, {t})",
    "np.einsum('i->i', {s}, out={t})", "np.nancumsum({s}, 0, None, {t})", "np.nansum({s}[None], 0, None, {t})", "np.cumulative_sum({s}, axis=0, out={t})",
    "np.outer(np.ones(1), {s}, {t}[None])", "{s}.cumsum(0, None, {t})", "{s}.clip(-2, 2, {t})", "{s}.round(1, {t})", "{s}[None].sum(0, None, {t})",
    "{s}[None].max(0, {t})", "{s}.take(np.arange(len({s})), 0, {t})", "{s}.compress(np.ones(len({s}), bool), 0, {t})", "{s}[None].mean(0, None, {t})",
    "np.dot(np.ones((1, 1)), {s}[None], {t}[None])", "np.matmul(np.ones((1, 1)), {s}[None], {t}[None])", "np.stack([{s}], 0, {t}[None])",
    "np.cumsum({s}, out={t})", "np.divmod({s}, 3.0, {t}, np.empty(len({s})))", "np.modf({s}, np.empty(len({s})), {t})",
    "scipy.special.expit({s}, {t})", "scipy.special.expit({s}, out={t})", "scipy.ndimage.uniform_filter1d({s}, 3, output={t})",
)  # fmt: skip
_IN_PLACE = (  # what overwrite_input leaves is not NumPy's to say
    "np.median({t}, None, None, True); {t}.fill(1.5)", "np.median({t}, overwrite_input=True); {t}.fill(1.5)", "np.percentile({t}, [25, 50], None, None, True); {t}.fill(1.5)",
    "np.quantile({t}, 0.5, overwrite_input=True); {t}.fill(1.5)", "np.nanmedian({t}, None, None, True); {t}.fill(1.5)", "np.nanpercentile({t}, 30, None, None, True); {t}.fill(1.5)",
    "np.nan_to_num({t}, False)", "np.add.at({t}, [0, 1, 1], 0.5)", "np.add.at({t}, np.arange(len({s})), {s})", "np.maximum.at({t}, [2, 3], 4.5)",
    "np.negative.at({t}, [1, 5])", "np.copyto({t}, {s})", "np.copyto({t}, {s}, where={s} > 1)", "np.put({t}, [1, 2, 3], [0.25, 9.0])", "{t}.put([1, -1], 7.5)",
    "np.place({t}, {s} > 1, [1.0, 2.0])", "np.putmask({t}, {s} > 1, {s})", "np.put_along_axis({t}, np.array([3, 4]), 8.0, 0)",
    "np.fill_diagonal({t}.reshape(4, -1), 1.5)", "{t}.fill(2.5)", "{t}.sort()", "{t}.partition(5)", "{t}.byteswap(True).byteswap(True)", "{t}.setfield(2.25, float)",
    "np.ndarray.sort({t})", "{t}.flat[2:9] = 3.5", "{t}.flat = {s}", "{t}.real = {s}", "{t}.view('i8')[:4] ^= 1", "{t} += {s}", "{t}[2:] *= 0.5", "{t}[{s} > 0] = 1.0",
    "{t}[[1, 2, 2]] += 1", "{t}[1:5], {t}[5:9] = {t}[5:9].copy(), {t}[1:5].copy()", "{t}[...] = {s}[::-1]", "{t}[:5] = {w}.ravel()[:5]",
    "[part.__iadd__(1) for part in {t}.reshape(4, -1)]", "np.apply_along_axis(lambda row: row.__imul__(0.5), 0, {t})", "np.flip({t})[1:3] = 0.5",
    "np.broadcast_arrays({t}, 1.0)[0][...]", "np.split({t}, 2)[1][:3] = 6.0", "np.atleast_2d({t})[0, :3] = 6.5", "np.ravel({t})[:3] = 6.25",
)  # fmt: skip
_MEMORY = (
    "for x in np.nditer({t}[3:9], op_flags=['readwrite']): x[...] = x * 0.5", "for x, y in np.nditer([{t}[:6], {s}[:6]], [], [['writeonly'], ['readonly']]): x[...] = y",
    "for i, x in np.ndenumerate({t}[:4]): {t}[i] = x + 1", "for x in np.nested_iters([{t}[:8].reshape(2, 4)], [[0], [1]], op_flags=['readwrite'])[1]: x[...] = 3",
    "ctypes.memset({t}.ctypes.data, 0, 24)", "np.ctypeslib.as_array({t}.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), (3,))[:] = 5",
    "memoryview({t}).cast('B')[8:16] = bytes(8)", "{t}.data[3] = 2.5", "struct.pack_into('d', {t}, 16, 3.25)", "io.BytesIO(bytes(32)).readinto({t})",
    "np.asarray({t})[2:5] = 1.25", "np.asarray({t}).sort()", "{t}.__array__()[:3] = 7", "np.array({t}, copy=None)[1:3] = 8",
    "np.frombuffer({t})[4:6] = 1.5", "np.ndarray((3,), float, {t})[...] = 2.75", "np.from_dlpack({t})[2:4]", "np.lib.stride_tricks.as_strided({t}, (3,), (16,))[:] = 7.25",
    "np.lib.stride_tricks.sliding_window_view({t}, 3, writeable=True)[2] = 1.75", "{t}.view(np.recarray)[:3] = 2.0", "{t}.view([('f', float)])['f'][:3] = 4.0",
    "np.random.default_rng(5).shuffle({t})", "np.random.default_rng(5).random(out={t})", "np.random.default_rng(5).standard_normal(None, float, {t})",
    "np.random.default_rng(5).permuted({s}, axis=0, out={t})", "np.random.RandomState(5).shuffle({t})", "np.random.default_rng(5).standard_exponential(None, float, 'zig', {t})",
)  # fmt: skip
"""What lets memory out, or writes it behind NumPy's functions."""


class Author:
    """Draws the lines of a program; ``scope``: where NumPy has run those before."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.scope: dict[str, Any] = {}
        alone = nodes.ALONE
        try:
            with (
                warnings.catch_warnings(),
                np.errstate(),
            ):  # the head is a script's, which may leave anything as it likes
                exec(HEAD.format(threads=False, size=24), self.scope)
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
        target = self.pick(self.names("avm"))
        shape = self.scope[target].shape
        alike = self.names("avm", shape)
        given = {"t": target, "s": self.pick(alike), "r": self.pick(alike), "w": self.pick(self.names("aw"))}
        if kind < 2:
            start = self.rng.randrange(9)
            if self.rng.randrange(2):
                return f"{self.new('a', 4)} = make({start})"
            return f"{self.new('m', 2)} = {self.pick(_WINDOWS).format(n=start)}"
        if kind < 3:
            return f"{self.new('v', 3) if target[0] != 'm' else 'm2'} = {self.pick(_VIEWS).format(**given)}"
        if kind < 9:
            return f"{self.new('w', 6)} = {self.pick(_PENDING).format(**given)}"
        if kind < 10:
            return f"look({given['w']})"
        table: tuple[str, ...] = self.pick((_OUTS, _OUTS, _OUTS, _IN_PLACE, _IN_PLACE, _IN_PLACE, _MEMORY))
        if table is _MEMORY and not (self.scope[target].flags.c_contiguous and shape[0] > 8):
            table = _IN_PLACE  # beyond the end of others lies what is not theirs
        line: str = self.pick(table)
        if line.startswith("{s}"):  # NumPy's own arrays have methods that take no others for `out`
            given["s"] = self.pick(self.names("av", shape) or ["a0"])
        return line.format(**given)

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
            self.scope["print"] = lambda *x: print(*x, file=nowhere)
            try:
                exec(line, self.scope)
            except Exception:
                return
        self.lines.append(line)


def drawn(seed: str) -> list[str]:
    """A program."""
    return Author(random.Random(seed)).program()


def script(programs: list[list[str]], size: int, threads: bool) -> str:
    """A script that runs programs, each in a part of its output."""
    parts = [HEAD.format(threads=threads, size=size)]
    for i, lines in enumerate(programs):
        body = "\n    ".join(lines)
        parts.append(f"def program_{i}():\n    {body}\n    show(locals())\n")
        parts.append(
            f"print('== {i}')\ntry:\n    program_{i}()\nexcept Exception as error:\n    print(type(error), error)\n"
        )
    return "\n".join(parts)


Runs = Callable[[str], tuple[str, str]]
"""Runs a script on plain Python and under the launcher: what each printed."""


def differences(programs: list[list[str]], runs: Runs, size: int, threads: bool) -> list[int]:
    """Numbers of the programs that print something else."""
    plain, ours = (text.split("== ")[1:] for text in runs(script(programs, size, threads)))
    return [i for i in range(len(programs)) if i >= len(ours) or i >= len(plain) or plain[i] != ours[i]]


def shortest(lines: list[str], runs: Runs, size: int, threads: bool) -> list[str]:
    """Leave out every line without which a program differs still."""
    i = len(lines) - 1
    while i >= 0:
        fewer = lines[:i] + lines[i + 1 :]
        plain, ours = runs(script([fewer], size, threads)) if fewer else ("", "")
        if plain != ours and "<class '" not in plain:
            lines = fewer
        i -= 1
    return lines


WAYS: dict[str, tuple[tuple[str, ...], int, bool]] = {
    "all of it": (("--execution", "fused", "--min-size", "1"), 24, True),
    "at once": (("--execution", "fused", "--min-size", "1"), 24, False),
    "large and small": (("--execution", "fused", "--min-size", "20"), 24, False),
    "the default": ((), 1 << 19, False),
}
"""Options of the launcher, the length of arrays, and whether threads compute each block."""


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_programs_print_what_plain_python_prints(
    backend: str, way: str, seed: int, effort: int, zygotes: Any, tmp_path: Path
) -> None:
    options, size, threads = WAYS[way]

    def runs(text: str) -> tuple[str, str]:
        (tmp_path / "script.py").write_text(text)
        done = [
            zygotes.plain._run(("script.py",), tmp_path, (), "", None, False, "run"),
            zygotes.of(backend)._run(("script.py",), tmp_path, options, "", None, False, "run"),
        ]
        assert [each.code for each in done] == [0, 0], done[1].stderr
        return done[0].stdout, done[1].stdout

    many = 5 if size > 1000 else BATCH
    for batch in range(effort):
        names = [f"{seed}/{backend}/{way}/{batch}/{i}" for i in range(many)]
        programs = [drawn(name) for name in names]
        for i in differences(programs, runs, size, threads):
            lines = shortest(programs[i], runs, size, threads)
            plain, ours = runs(script([lines], size, threads))
            pytest.fail(
                f"the program of {names[i]!r}:\n" + "\n".join(lines) + f"\nprints\n{ours}\nplain Python\n{plain}"
            )


def main() -> int:
    """Run the programs asked for and print their number and seed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--way", choices=WAYS, default="all of it")
    parser.add_argument("--keep-going", type=int, default=1, help="how many programs that differ to show")
    asked = parser.parse_args()
    options, size, threads = WAYS[asked.way]
    folder = Path(tempfile.mkdtemp())
    env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}

    def runs(text: str) -> tuple[str, str]:
        (folder / "script.py").write_text(text)
        launched = ("-m", "arraydispatch", "run", "--backend", asked.backend, *options)
        printed = [
            subprocess.run([sys.executable, *how, "script.py"], cwd=folder, env=env, capture_output=True, text=True)
            for how in ((), launched)
        ]
        if "Traceback" in printed[1].stderr:
            print(printed[1].stderr)
        return printed[0].stdout, printed[1].stdout

    start, failed, done = time.perf_counter(), 0, 0
    while done < asked.programs and failed < asked.keep_going:
        names = [f"{asked.seed}/{asked.way}/{done + i}" for i in range(min(200, asked.programs - done))]
        programs = [drawn(name) for name in names]
        for i in differences(programs, runs, size, threads):
            lines = shortest(programs[i], runs, size, threads)
            plain, ours = runs(script([lines], size, threads))
            print(f"the program of {names[i]!r}:", *lines, "prints", ours, "plain Python", plain, sep="\n", flush=True)
            failed += 1
            if failed >= asked.keep_going:
                break
        done += len(names)
    print(
        f"{asked.backend}, {asked.way}: {done} programs, seed {asked.seed}, {failed} failed, {time.perf_counter() - start:.0f} s"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
