"""Compiled execution under the launcher on a CPU: large arrays begin in the library and stay there, small and piecewise work is the host's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.launched import Zygotes, prints_as_plainly

COMPILED = "--execution", "compiled", "--min-size", "65536"
PROGRAMS = {
    "writes through views of new arrays": """
        u = np.zeros((300, 300))
        u[100:200, 100:200] = 1.0
        for _ in range(10):
            u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] - 2 * u[1:-1, 1:-1])
            u[0] = u[1]
            u[:, -1] = 0.5
    """,
    "an array of integers counts masks": """
        x = np.linspace(-2, 2, 90_000)
        u = np.zeros(x.shape, int)
        for _ in range(6):
            u += x * x < 2
            x = x * 1.1
    """,
    "rows of a large array": """
        u = np.ones((300, 300))
        for i in range(1, 300):
            u[i, 1:-1] += u[i - 1, 1:-1] * 0.5
        u = u * 2.0
    """,
    "elements of a large array": """
        u = np.ones((300, 300))
        for i in range(1, 200):
            u[i, i] = u[i - 1, i - 1] * 0.5 + u[i, 0]
        u = u + 1.0
    """,
    "a small target of a large sum": """
        x = np.arange(90_000.0).reshape(300, 300)
        u = np.zeros(300)
        u += (x * 2.0).sum(axis=0)
        u[3:9] = x[3:9].mean(axis=1)
    """,
    "sums of many slices": """
        x = np.arange(90_000.0) % 97
        at = np.arange(0, 90_000, 90)
        u = np.add.reduceat(x * 2.0, at) + np.maximum.reduceat(x + 1.0, at) - np.logical_and.reduceat(x, at)
        u = u + np.add.reduceat((x + 0.5).reshape(300, 300), np.arange(0, 300, 10), axis=1).sum()
    """,
    "functions that sort": """
        x = np.random.default_rng(3).permutation(90_000) / 8.0
        y = np.sort(x * 2.0) + np.median(x) - np.percentile(x * 3.0, [5, 50]).sum()
        i = np.argsort(x * 0.5)
        u = y[:100] + x[i][:100] + np.argmax(x + 1.0) + np.argmin(x.reshape(300, 300) - 1.0, axis=1)[:100] + np.unique(x)[-100:]
        u = u + np.partition(x * 2.0, 50)[50] + np.cumsum(x - 4.0)[-1]
    """,
    "shapes that values decide": """
        x = np.linspace(-2, 2, 400_000).reshape(100_000, 4)
        near = np.arange(100_000) % 7
        u = np.zeros((7, 4))
        for _ in range(6):
            for k in range(7):
                u[k] = x[near == k].mean(axis=0) + x[near >= k].std(axis=0)
            x = x + u[near % 7] * 1e-3
            near = (near * 3 + 1) % 7
            x[near > 3] *= 1.5
            x[near == 2] = x[near == 2] * 0.5
    """,
    "parts of many lengths": """
        x = np.linspace(-2, 2, 200_000)
        u = np.zeros(100)
        for n in range(100):
            part = x[: 200_000 - 500 * n] * 2.0 + 1.0
            u[n] = part.sum() - part[-1]
            x[n * 700 :] += 1e-3
    """,
    "pairs of small arrays": """
        x, y = np.linspace(-2, 2, 300), np.linspace(0, 3, 300)
        d = (x[:, None] - x[None, :]) ** 2 + np.subtract.outer(y, y) ** 2
        u = (np.exp(-d) * y).sum(1) + np.outer(x, y).sum(0) + np.kron(x, y)[:300] + np.maximum(x[:, None], y).min(0)
        u = u + np.linalg.outer(x, y)[3] + (x[:, None] * y[None, :, None] > 1).sum() + np.multiply.outer(x, np.ones((20, 30))).sum(2)[:, 0]
    """,
    "steps from element to element": """
        x = np.linspace(0.5, 2, 70_000)
        u = np.logaddexp.accumulate(x)[-9:] + np.hypot.accumulate(x * 2.0)[-9:] - np.arctan2.reduce(x + 1.0)
        u = u + np.add.reduceat(x.reshape(7, 10_000), np.arange(0, 9990, 10), axis=1)[:, -1].sum()
    """,
    "running extrema of many shapes": """
        x = np.linspace(-2, 2, 100_000)
        u = np.zeros(40)
        for n in range(40):
            u[n] = np.exp(x[n:]).sum() + np.maximum.accumulate(np.sin(x * 40)[n:])[-1] + np.minimum.reduce(x[n:])
    """,
    "functions of SciPy's": """
        import scipy.special
        x = np.linspace(-2, 2, 90_000)
        u = scipy.special.expit(x * 2) + scipy.special.erf(x) * scipy.special.gammaln(x * x + 1)
    """,
    "new arrays of many shapes": """
        u = np.zeros(40)
        for n in range(40):
            u[n] = (np.eye(300 + n, k=n % 3) * 2.0).sum() + (np.tri(300 + n) + np.indices((300 + n, 300 + n))[0]).sum()
    """,
    "an array that grows": """
        x = np.linspace(-2, 2, 100_000)
        for n in range(40):
            x = np.append(x * 0.5, x[: n + 1])
        u = x
    """,
}
PROGRAMS |= {
    "writes of elements": """
        u = np.zeros((300, 300))
        for n in range(5):
            u[n, n] = 2.0
            u[0, -1] += u[n, n] * 0.5
            u = u * 0.5 + 1.0
    """,
}


def _source(body: str) -> str:
    lines = [line[8:] for line in body.splitlines()]
    return "\n".join(["import numpy as np", *lines, "print(u.dtype, u.shape, u.sum(), u.min(), u.max())", ""])


def _numbers(said: str) -> list[float]:
    return [float(x) for x in said.rsplit(")", 1)[1].split()]


@pytest.mark.one_backend
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_numpys(name: str, backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(_source(PROGRAMS[name]))
    theirs = zygotes.plain.run("main.py", cwd=tmp_path)
    ours = zygotes.of(backend).run("main.py", cwd=tmp_path, options=COMPILED)
    assert ours.code == theirs.code == 0, ours.stderr
    assert ours.stdout.rsplit(")", 1)[0] == theirs.stdout.rsplit(")", 1)[0]
    np.testing.assert_allclose(_numbers(ours.stdout), _numbers(theirs.stdout), rtol=1e-12)


@pytest.mark.one_backend
def test_new_arrays_are_not_moved(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    if backend == "numpy":
        return
    (tmp_path / "main.py").write_text(_source(PROGRAMS["writes through views of new arrays"]))
    done = zygotes.of(backend).run("main.py", cwd=tmp_path, options=COMPILED)
    assert done.code == 0, done.stderr
    assert done.stderr.startswith(f"arraydispatch: {backend} computed everything: "), done.stderr
    assert "to the device" not in done.stderr, done.stderr


CHANGING = ["shapes that values decide", "parts of many lengths", "an array that grows"]


@pytest.mark.one_backend
@pytest.mark.parametrize("name", CHANGING)
def test_shapes_that_change_are_numpys_after_a_few(name: str, backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    if backend == "numpy":
        return
    _compiles_few(_source(PROGRAMS[name]), backend, zygotes, tmp_path)


def _compiles_few(source: str, backend: str, zygotes: Zygotes, tmp_path: Path) -> str:
    """Run a program of many shapes, of which few are to be compiled; return what it prints."""
    counted = (
        "from arraydispatch.engine.compiled_blocks.counters import counters\n"
        "print(counters.programs + counters.interpreted, counters.refused)\n"
    )
    (tmp_path / "main.py").write_text(source + counted)
    done = zygotes.of(backend).run("main.py", cwd=tmp_path, options=COMPILED)
    assert done.code == 0, done.stderr
    *said, last = done.stdout.splitlines()
    made, refused = map(int, last.split())
    assert made <= 60, done.stdout
    assert refused <= 8, done.stdout
    return "\n".join(said)


@pytest.mark.one_backend
def test_a_loop_over_shapes_that_runs_again_is_numpys_too(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """Shapes come again when their loop does, and each would need a program, of which a place has eight."""
    if backend == "numpy":
        return
    source = (
        "import numpy as np\n"
        "def products(x):\n"
        "    made = np.zeros((300, 300))\n"
        "    for i in range(60):\n"
        "        made[i, i:] = x[:, i] @ x[:, i:]\n"
        "    return float(made.sum())\n"
        "data = np.ones((400, 300))\n"
        "print([products(data * 2.0) for _ in range(2)])\n"
    )
    each = 1600.0 * sum(300 - i for i in range(60))  # sums of fours, which are exact
    assert _compiles_few(source, backend, zygotes, tmp_path) == str([each, each])


@pytest.mark.one_backend
def test_an_array_moves_to_the_host_where_another_has(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """A loop over rows records some of them the first time; a stencil's edges are recorded each time."""
    if backend == "numpy":
        return
    (tmp_path / "main.py").write_text(
        "import numpy as np\n"
        "from arraydispatch.engine.compiled_blocks.counters import counters\n"
        "def rows(x):\n"
        "    for i in range(1, 300):\n"
        "        x[i] += x[i - 1] * 0.5\n"
        "def edges(x):\n"
        "    for _ in range(40):\n"
        "        x[1:-1] = x[:-2] * 0.5 + x[2:] * 0.5\n"
        "        x[0] = x[1]\n"
        "def calls(work, shape):\n"
        "    before = counters.calls\n"
        "    work(np.ones(shape))\n"
        "    return counters.calls - before\n"
        "print(*[calls(work, shape) for work, shape in ((rows, (300, 300)), (edges, (1000, 300))) for _ in range(3)])\n"
    )
    done = zygotes.of(backend).run("main.py", cwd=tmp_path, options=COMPILED)
    assert done.code == 0, done.stderr
    first, *later, edges, edges_again, _ = map(int, done.stdout.split())
    assert first > 30, done.stdout
    assert max(later) <= 6, done.stdout
    assert edges > 200, done.stdout
    assert edges_again == edges, done.stdout


@pytest.mark.one_backend
def test_large_parts_that_numpy_computes_are_written_on_the_host(
    backend: str, zygotes: Zygotes, tmp_path: Path
) -> None:
    """A table that is filled column by column moves to the host, and next time with its first column; edges of a stencil do not move it."""
    if backend == "numpy":
        return
    (tmp_path / "main.py").write_text(
        "import numpy as np\n"
        "from arraydispatch.engine.compiled_blocks.counters import counters\n"
        "x = np.arange(30_000.0)\n"
        "def columns():\n"
        "    table = np.empty((30_000, 5))\n"
        "    for k in range(5):\n"
        "        table[:, k] = x * k\n"
        "    return table\n"
        "def edges():\n"
        "    u = np.zeros((300, 300))\n"
        "    for n in range(20):\n"
        "        u[1:-1] = u[:-2] * 0.5 + u[2:] * 0.5\n"
        "        u[0] = x[:300] * n\n"
        "    return u\n"
        "for work in columns, columns, edges, edges:\n"
        "    before = counters.calls\n"
        "    made = work()\n"
        "    print(made.sum(), 'in', counters.calls - before)\n"
    )
    theirs = zygotes.plain.run("main.py", cwd=tmp_path, options=())
    ours = zygotes.of(backend).run("main.py", cwd=tmp_path, options=COMPILED)
    assert ours.code == theirs.code == 0, ours.stderr
    lines = [[line.split(" in ") for line in done.stdout.splitlines()] for done in (ours, theirs)]
    np.testing.assert_allclose(*[[float(value) for value, _ in each] for each in lines], rtol=1e-12)
    first, later, *stencils = [int(count) for _, count in lines[0]]
    assert first > later <= 2, ours.stdout
    assert min(stencils) > 100, ours.stdout


@pytest.mark.one_backend
def test_arrays_that_move_each_time_begin_on_the_host(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """Copies of a matrix that is read by rows alone are NumPy's after a few, until others of its shape are computed with."""
    (tmp_path / "main.py").write_text(
        "import numpy as np\n"
        "from arraydispatch.engine.compiled_blocks.counters import counters\n"
        "def solved(given, b):\n"
        "    lower, x = np.copy(given), np.zeros(300)\n"
        "    for i in range(300):\n"
        "        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]\n"
        "    return x.sum(), (lower + x).sum()\n"
        "given, b = np.tri(300) + 300 * np.eye(300), np.arange(300.0)\n"
        "for _ in range(6):\n"
        "    before = counters.calls\n"
        "    print(*solved(given, b), 'in', counters.calls - before)\n"
        "u = given\n"
        "for _ in range(200):\n"
        "    u = u * 0.5 + 1.0\n"
        "print(u.sum(), 'in', counters.calls)\n"
    )
    theirs = zygotes.plain.run("main.py", cwd=tmp_path)
    ours, again = (zygotes.of(backend).run("main.py", cwd=tmp_path, options=COMPILED) for _ in "12")
    assert ours.code == theirs.code == 0, ours.stderr
    assert again.stdout == ours.stdout
    values, recorded = ([line.split(" in ")[at] for line in ours.stdout.splitlines()] for at in (0, 1))
    expected = [line.split(" in ")[0] for line in theirs.stdout.splitlines()]
    np.testing.assert_allclose(
        [float(x) for line in values for x in line.split()],
        [float(x) for line in expected for x in line.split()],
        rtol=1e-12,
    )
    if backend != "numpy":
        assert [int(n) > 0 for n in recorded] == [True] * 2 + [False] * 4 + [True], ours.stdout


@pytest.mark.one_backend
def test_results_of_parts_on_the_host_stay_there_if_little_comes_of_them(
    backend: str, zygotes: Zygotes, tmp_path: Path
) -> None:
    """A loop that reads and writes layers, as lattice Boltzmann programs do, would copy each of them in each step."""
    (tmp_path / "main.py").write_text(
        "import numpy as np\n"
        "from arraydispatch.engine.compiled_blocks.counters import counters\n"
        "f, solid = np.ones((4, 300, 300)) + np.arange(4)[:, None, None] / 8, np.arange(90_000).reshape(300, 300) % 97 < 3\n"
        "def step(f):\n"
        "    r, g = f[0] + f[1], np.zeros(f.shape)\n"
        "    for i in range(4):\n"
        "        g[i] = r * (1.0 + f[i] - 0.5 * f[i] ** 2)\n"
        "        g[i, solid] = f[3 - i, solid]\n"
        "    for i in range(4):\n"
        "        f[i] = np.roll(g[i], i - 1, axis=0) / np.abs(g[i]).max()\n"
        "        f[i, -1, 3:9] = f[i, -2, 3:9]\n"
        "before = []\n"
        "for n in range(60):\n"
        "    before.append(counters.blocks)\n"
        "    step(f)\n"
        "print(f.sum(), f[1, 2, 3], 'in', counters.blocks - before[40])\n"
    )
    theirs = zygotes.plain.run("main.py", cwd=tmp_path)
    ours = zygotes.of(backend).run("main.py", cwd=tmp_path, options=COMPILED)
    assert ours.code == theirs.code == 0, ours.stderr
    (value, blocks), (expected, _) = (said.stdout.split(" in ") for said in (ours, theirs))
    np.testing.assert_allclose(*([float(x) for x in line.split()] for line in (value, expected)), rtol=1e-12)
    assert backend == "numpy" or int(blocks) < 40, ours.stdout


@pytest.mark.one_backend
def test_numpy_sorts_what_lies_in_the_hosts_memory(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """XLA takes twenty to a hundred times as long."""
    (tmp_path / "main.py").write_text(_source(PROGRAMS["functions that sort"]))
    done = zygotes.of(backend).run("main.py", cwd=tmp_path, options=COMPILED, reported=True)
    assert done.code == 0, done.stderr
    found = {row["function"]: row["class"] for row in done.report["functions"]}
    sorting = ("np.sort", "np.median", "np.percentile", "np.argsort", "np.argmax", "np.unique", "np.partition")
    if backend == "torch":
        sorting = ("np.sort", "np.argsort", "np.partition", "np.median")
    assert backend == "numpy" or {found[name] for name in sorting} == {"host kernel", "hosted"}, found


@pytest.mark.one_backend
def test_an_element_of_a_view_is_read_without_the_view(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """Of a deferred array NumPy reads it in the memory of the whole."""
    (tmp_path / "main.py").write_text(
        "import numpy as np\n"
        "from arraydispatch.engine.compiled_blocks.counters import counters\n"
        "u = np.arange(90_000.0).reshape(300, 300)\nv, f = u * 0.5, np.asfortranarray(u) * 0.5\n"
        "print(v.sum(), f.sum())\n"
        "before = counters.calls\n"
        "print(v.reshape(-1)[5], v.T[3, 7], v[::-1][2, 3], v.view(np.int64)[1, 1], np.broadcast_to(v, (2, 300, 300))[1, 2, 3])\n"
        "print(type(v.ravel()[-1]) is np.float64, v[100:][3:, ::2][4, 5], v.real[1, 1])\n"
        "calls = counters.calls - before\n"
        "print(f.T[2, 3], f[:, ::2][4, 5], f.reshape(-1)[9])\nv[2, 3] = 7\nprint(v.T[3, 2], v.reshape(-1)[603])\n"
        "print(calls)\n"
    )
    theirs = zygotes.plain.run("main.py", cwd=tmp_path)
    ours = zygotes.of(backend).run("main.py", cwd=tmp_path, options=COMPILED)
    assert ours.code == theirs.code == 0, ours.stderr
    assert ours.stdout == theirs.stdout


@pytest.mark.one_backend
def test_numbers_of_numpys_and_outer_products_are_recorded(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """NumPy hands a scalar of its own on as an array of rank 0 where it is compared with an array, and parts to ``ufunc.outer``."""
    (tmp_path / "main.py").write_text(
        "import numpy as np\n"
        "r = np.arange(90_000.0).reshape(300, 300) % 7\n"
        "low, high = np.float64(2.5), np.float64(4.5)\n"
        "inside = np.logical_and(low <= r, r < high)\n"
        "sums = np.add.outer(r[:, 3], r[5, :]) * 2.0\n"
        "print(inside.dtype, inside.sum(), (low * r).sum(), sums.dtype, sums.sum(), (np.float32(2) + r.astype(np.float32)).dtype)\n"
    )
    theirs = zygotes.plain.run("main.py", cwd=tmp_path)
    ours = zygotes.of(backend).run("main.py", cwd=tmp_path, options=COMPILED)
    assert ours.code == theirs.code == 0, ours.stderr
    assert ours.stdout == theirs.stdout
    assert "ran on the host" not in ours.stderr
    assert "to the device" not in ours.stderr


@pytest.mark.one_backend
def test_scalars_are_numpys_own(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """A launched program hands them to code that wants Python's floats."""
    (tmp_path / "main.py").write_text(
        "import json, pickle, numpy as np\nx = np.arange(131_072.0) / 131_072  # sums of these are exact\n"
        "print(json.dumps([x.sum(), x[7], x.mean() * 2]), type(x.max()) is np.float64, isinstance(x[3], float))\n"
        "print(pickle.dumps(x.min()), {x[0]: 1}, [type(e) is np.float64 for e in x[:2]])\n"
    )
    theirs = zygotes.plain.run("main.py", cwd=tmp_path)
    ours = zygotes.of(backend).run("main.py", cwd=tmp_path, options=COMPILED)
    assert ours.code == theirs.code == 0, ours.stderr
    assert ours.stdout == theirs.stdout


@pytest.mark.long
def test_programs_and_memory_are_bounded_in_20000_rounds(zygotes: Zygotes, tmp_path: Path) -> None:
    pytest.importorskip("jax")
    (tmp_path / "main.py").write_text(
        "import numpy as np\n"
        "from arraydispatch.engine.compiled_blocks.counters import counters\n"
        "def resident():\n    return int(open('/proc/self/statm').read().split()[1]) * 4096 >> 20\n"
        "x = np.random.default_rng(1).random(140_000)\ntotal = 0.0\n"
        "for i in range(20_000):\n"
        "    part = x[:66_000 + (i * 7919) % 70_000] * 2.0 + 1.0\n"
        "    total += part[-1] + part.sum() * 1e-9\n"
        "    if i % 10 == 0:\n        total += x[x > (i % 997) / 2000].mean()\n"
        "    if i % 100 == 0:\n        x = x * 0.999 + 0.001\n"
        "    if i == 1000:\n        before = resident()\n"
        "print(counters.programs + counters.interpreted, resident() - before)\n"
    )
    done = zygotes.of("jax").run("main.py", cwd=tmp_path, options=COMPILED, reported=False)
    assert done.code == 0, done.stderr
    made, grown = map(int, done.stdout.split())
    assert made <= 64
    assert grown <= 128


@pytest.mark.one_backend
def test_an_array_on_the_host_is_moved_by_the_block_that_reads_it(
    backend: str, zygotes: Zygotes, tmp_path: Path
) -> None:
    """What NumPy rolled would be given to the library next, once for each roll."""
    (tmp_path / "main.py").write_text(
        "import numpy as np\n"
        "rng = np.random.default_rng(0)\n"
        "s = rng.integers(0, 3, (300, 300)) - 1.0\n"
        "for _ in range(20):\n"
        "    around = np.roll(s, 1, 0) + np.roll(s, -1, 1) + np.tril(s)\n"
        "    flips = rng.random(s.shape) < np.exp(-s * around)\n"
        "    s[flips] *= -1\n"
        "print(s.sum(), np.roll(s, 1).ravel()[:99].sum())\n"
    )
    theirs = zygotes.plain.run("main.py", cwd=tmp_path)
    ours = zygotes.of(backend).run("main.py", cwd=tmp_path, options=COMPILED, reported=True)
    assert ours.stdout == theirs.stdout, ours.stderr[-2000:]
    found = {row["class"] for row in ours.report["functions"] if row["function"] in ("np.roll", "np.tril")}
    assert backend == "numpy" or "hosted" not in found, ours.report["functions"]


@pytest.mark.one_backend
def test_many_slices_are_reduced_by_numpy(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """A library calls a function for each slice: XLA compiled a minute and a half for a thousand of them."""
    (tmp_path / "main.py").write_text(_source(PROGRAMS["sums of many slices"]))
    ours = zygotes.of(backend).run("main.py", cwd=tmp_path, options=COMPILED, reported=True)
    found = {
        row["class"] for row in ours.report["functions"] if row["count"] and row["function"] in ("np.add", "np.maximum")
    }
    assert backend == "numpy" or "host kernel" in found, ours.report["functions"]


@pytest.mark.one_backend
def test_a_write_that_ends_in_an_error_is_seen(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """``np.put`` writes the elements before the index that it refuses; the library's copy of the array is none any more."""
    (tmp_path / "main.py").write_text(
        "import numpy as np\nx = np.zeros(100_000)\nfor i in range(40):\n    x[i] = 0.5\nprint((x * 2.0).sum())\n"
        "try:\n    np.put(x, [50, 51, 10**9], 7.0)\nexcept IndexError as error:\n    print(error)\nprint((x * 2.0).sum())\n"
    )
    theirs = zygotes.plain.run("main.py", cwd=tmp_path)
    ours = zygotes.of(backend).run("main.py", cwd=tmp_path, options=COMPILED)
    assert ours.stdout == theirs.stdout, ours.stderr


REPEATED = """
import numpy as np
a = np.arange(24.0)
np.quantile(a, 0.5, overwrite_input=True)
a.fill(1.5)
a.view("u1")[:8] = 0
b = np.arange(24.0) * 2
b[:] = 3
b.view("i8")[1] = 0
c = np.broadcast_to(np.arange(3.0), (4, 3)) + 0
c.fill(1)
print(a, b, c.view("f4").sum(), (np.zeros(24) + 2).view("u1")[:9])
"""


def test_an_array_of_one_value_is_reread_by_its_bytes(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """PyTorch keeps such a value once (``expand``), and has no bytes of each element."""
    (tmp_path / "main.py").write_text(REPEATED)
    plain = zygotes.plain.run("main.py", cwd=tmp_path)
    for least in ("20", "1"):
        ours = zygotes.of(backend).run(
            "main.py", cwd=tmp_path, options=("--execution", "compiled", "--min-size", least)
        )
        assert (ours.code, ours.stdout) == (0, plain.stdout), ours.stderr


@pytest.mark.one_backend
def test_numpy_multiplies_a_matrix_that_is_there_and_a_vector(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """It takes longer to start a program of the library; what is pending, and a large product, is left in the block."""
    script = (
        "import numpy as np\n"
        "from arraydispatch.engine.compiled_blocks.counters import counters\n"
        "a = np.arange(90_000.0).reshape(300, 300) % 7 - 3\n"
        "a = a + a.T\n"
        "print(a.sum())\n"
        "before, v = counters.calls, np.ones(300)\n"
        "for _ in range(4):\n"
        "    w = a @ v + np.dot(v, a) + a.dot(v) + v @ a\n"
        "    w = w + a.T @ v + np.dot(a[::-1], v) + a[:, 3] @ a + np.pad(a[5:, 3] @ a[5:, 20:], (0, 20)) + v @ a.T\n"
        "    v = np.round(w / np.abs(w).max() * 8)\n"
        "print(counters.calls - before, v.sum(), v.dtype, w.flags.writeable)\n"
        "b = a * 2.0\n"
        "print((b @ v).sum(), (np.ones((80_000, 3)) @ np.arange(3.0)).sum(), (a @ v.astype(np.float32)).dtype)\n"
        "try:\n    a @ v[1:]\nexcept ValueError as error:\n    print(error)\n"
    )
    prints_as_plainly(zygotes, backend, script, tmp_path, COMPILED)


@pytest.mark.one_backend
def test_numpy_goes_on_with_small_arrays_that_a_block_has_made(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """It takes longer to start a program of the library; while a block is open, calls on small arrays are recorded in it."""
    script = (
        "import numpy as np\n"
        "from arraydispatch.engine.compiled_blocks.counters import counters\n"
        "x = np.arange(90_000.0).reshape(300, 300) % 7 - 3\n"
        "def made():\n"
        "    b = (x * 2.0).sum(axis=0)\n"
        "    print(b.max())\n"
        "    return b\n"
        "b, c, d, e, f, g = [made() for _ in range(6)]\n"
        "part, turned, late = c[5:], d.reshape(20, 15).T, e[::-1]\n"
        "g.flags.writeable = False\n"
        "before = counters.calls\n"
        "for n in range(3):\n"
        "    u = b * 2.0 - np.sqrt(np.abs(part)).sum() + np.where(d > n, d, b)\n"
        "    print(u.sum(), turned.sum(axis=0)[:4], np.concatenate([b, late, [1.0]]).size, f[7], f[[3, 1]], f[f > n].size)\n"
        "    part[2:9] += n\n"
        "    c -= 1.0\n"
        "    turned[3] = n\n"
        "    np.multiply(e, 0.5, out=e)\n"
        "    b += late\n"
        "    print(c[:9], d[:4], late[:4], b[:4], np.linalg.norm(g), g.flags.writeable)\n"
        "print(counters.calls - before)\n"
        "h, k = made(), made()\n"
        "before = counters.calls\n"
        "k = ((x + 1.0).sum(axis=1) + h).sum() + k\n"
        "print(k.sum(), (x * k).sum(), (x[:, 1:2] * h).sum(), type(h), h.shape)\n"
        "try:\n    h + h[1:]\nexcept ValueError as error:\n    print(error)\n"
        "try:\n    g[3] = 1\nexcept ValueError as error:\n    print(error)\n"
    )
    prints_as_plainly(zygotes, backend, script, tmp_path, COMPILED)


@pytest.mark.one_backend
@pytest.mark.parametrize(("rows", "columns"), [(1500, 1500), (20_000, 40)])
def test_who_multiplies_a_matrix_and_a_vector(
    rows: int, columns: int, backend: str, zygotes: Zygotes, tmp_path: Path
) -> None:
    """Large matrices are the library's, but for narrow ones."""
    script = (
        "import numpy as np\n"
        f"a, v = np.random.default_rng(0).random(({rows}, {columns})), np.ones({columns})\n"
        "for _ in range(4):\n"
        "    w = np.dot(a.T, a @ v) + np.dot(a, v) @ a\n"
        "    v = np.round(w / np.abs(w).max() * 8)\n"
        "    print(v.sum())\n"
    )
    (tmp_path / "main.py").write_text(script)
    plain = zygotes.plain.run("main.py", cwd=tmp_path)
    ours = zygotes.of(backend).run("main.py", cwd=tmp_path)
    assert (ours.code, ours.stdout) == (0, plain.stdout), ours.stderr
    if backend != "numpy":
        by_numpy = columns == 40
        assert ("at once" in ours.stderr, f"{backend} computed" in ours.stderr) == (by_numpy, not by_numpy), ours.stderr


def test_what_is_pending_at_the_end_is_computed_in_silence(tmp_path: Path) -> None:
    """Python then calls compiled code, above which no frame is."""
    script = tmp_path / "main.py"
    script.write_text("import numpy as np\nu = np.ones((600, 600))\nfor _ in range(9):\n    u = u * 0.5 + 1.0\n")
    command = ["-m", "arraydispatch", "run", "--backend", "jax", "--execution", "compiled", str(script)]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr, done.stderr
    assert "jax computed everything" in done.stderr
