"""Large tables that small arrays are looked up in, and NumPy's scalars that are compared with arrays: as NumPy, and at its cost."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.launched import Zygotes

HEAD = """
    import warnings
    import numpy as np

    warnings.simplefilter("ignore")
    rng = np.random.default_rng({seed})

    def shown(call):
        try:
            made = call()
        except Exception as error:
            return type(error).__name__, str(error) if {texts} else ""
        return type(made).__name__, getattr(made, "dtype", None), np.shape(made), np.asarray(made).tolist()
"""

LOOKUPS = """
    n = 400
    tables = [
        np.sort(rng.random(n)), rng.integers(0, 9, n), rng.random((20, 20)), np.sort(rng.random(n)).astype("f4"), np.zeros(n, bool),
        np.arange(n) * 1j,
    ]
    queries = [
        0.5, 3, rng.random(5), rng.integers(0, 20, (2, 3)), np.array([]), np.array([], int), [1, 2], [[0, 1], [1, 2]], True,
        [True, False], np.float32(0.3), 10**6, [-1, 5], [10**6], None, slice(2), np.array(3), (1, 2), np.array([True] * n),
    ]
    for t in tables:
        points = np.linspace(3, 900, n, dtype=t.dtype if t.dtype == complex else float)
        for q in queries:
            for _ in range(12 if rng.random() < 0.1 else 2):
                for call in (
                    lambda: t[q], lambda: t[q, 1], lambda: t[1, q], lambda: t[q, q], lambda: t.take(q), lambda: np.take(t, q),
                    lambda: np.take(t, q, axis=0), lambda: np.take(t, q, 0), lambda: np.take(t, q, mode="wrap"),
                    lambda: np.take(a=t, indices=q), lambda: np.searchsorted(t, q), lambda: t.searchsorted(q),
                    lambda: np.searchsorted(t, q, "right"), lambda: np.searchsorted(t, v=q), lambda: np.digitize(q, t),
                    lambda: np.interp(q, t, t), lambda: np.interp(q, xp=t, fp=t), lambda: np.interp(q, points, t, period=500),
                ):
                    print(*shown(call))
                print(*shown(lambda: t.__setitem__(q, 1) or t[:3]))
"""

PARTS = """
    def added(x, key, value):
        x[key] += value
        return x[key]

    def written(x, key, value):
        x[key] = value
        return x[key]

    i, j, m = np.array([0, 3, 5]), np.array([[2], [4]]), np.arange(20) % 7 == 0
    keys = [
        np.ix_(i, i), np.ix_(m, m), (i, i), (i, j), (i, 2), (2, i), (slice(1, 9), i), (i, slice(None, None, 3)), (..., i), (i, None),
        (None, i, i), m, (m, 3), (3, m), (m, m), (slice(None), m), (m, i), ([1, 2], [3, 4]), [1, 2], [True] * 20, (i[:2], [True, False]),
        np.zeros(20, bool), (i[:0], i[:0]), (i, i + 100), (m, np.arange(2)), (i, m[:3]), (i, i, i), (i > 1, i), np.eye(20) > 0, (i * 1.0, i),
    ]
    for dtype in ("f8", "i4", "?", "c8"):
        for key in keys:
            x = (rng.integers(0, 36, (20, 20)) / 4).astype(dtype)
            whole = x * 1
            for n in range(10):
                print(*shown(lambda: x[key]), *shown(lambda: written(x, key, n)), *shown(lambda: added(x, key, 1)))
                print(*shown(lambda: written(x, key, x[key] * 1)), *shown(lambda: written(x, key, [1, 2, 3])))
            print(x.sum(), whole.sum(), (x + whole).sum())
"""

COMPARED = """
    import numpy as np

    for x in (np.arange(5), np.linspace(0, 4, 257), np.linspace(0, 4, 257, dtype="f4"), np.arange(300) > 7, np.arange(300) * 1j):
        for number in (np.float64(2), np.int64(2), np.float32(2.5), np.bool_(True), np.complex64(2j), np.array(2), np.uint8(200)):
            found = [number == x, number != x]
            if "c" not in (x.dtype.kind, number.dtype.kind):
                found += [number < x, number <= x, number > x, number >= x]
            found += [number + x, number * x, number - x] if x.dtype != bool else []
            for made in found:
                print(type(made).__name__, made.dtype, made.shape, made.sum(), made[-1])
"""


def _source(text: str, **values: object) -> str:
    source = textwrap.dedent(text)
    for name, value in values.items():
        source = source.replace(f"{{{name}}}", str(value))
    return source


@pytest.mark.parametrize("program", [LOOKUPS, PARTS], ids=["lookups", "parts"])
@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_results_and_errors_are_numpys(backend: str, program: str, zygotes: Zygotes, tmp_path: Path, seed: int) -> None:
    texts = program is LOOKUPS  # a library may name another of several indices that are out of bounds
    (tmp_path / "main.py").write_text(_source(HEAD + program, seed=seed, texts=texts))
    theirs = zygotes.plain.run("main.py", cwd=tmp_path)
    ours = zygotes.of(backend).run("main.py", cwd=tmp_path, options=("--min-size", "100"))
    assert ours.code == 0, ours.stderr[-2000:]
    assert ours.stdout.splitlines() == theirs.stdout.splitlines()


@pytest.mark.parametrize("execution", ["eager", "fused", "compiled"])
@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_scalars_of_numpys_compare(backend: str, execution: str, zygotes: Zygotes, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(_source(COMPARED))
    theirs = zygotes.plain.run("main.py", cwd=tmp_path)
    options = ("--execution", execution) if execution == "eager" else ("--execution", execution, "--min-size", "100")
    ours = zygotes.of(backend).run("main.py", cwd=tmp_path, options=options)
    assert ours.code == 0, ours.stderr[-2000:]
    assert ours.stdout.splitlines() == theirs.stdout.splitlines()


@pytest.mark.one_backend
def test_small_lookups_in_a_large_table_are_the_hosts(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """After a few of them the table moves there."""
    (tmp_path / "main.py").write_text(
        _source("""
            import numpy as np

            table, values = np.linspace(0, 1, 300_000), np.linspace(2, 3, 300_000)
            few, at = np.array([0.25, 0.5]), np.array([3, 7, 9])
            total = 0.0
            for _ in range(200):
                total += np.searchsorted(table, few)[0] + np.interp(few, table, values)[1] + table[at][2] + np.take(values, at)[0]
            print(total)
        """)
    )
    theirs = zygotes.plain.run("main.py", cwd=tmp_path)
    ours = zygotes.of(backend).run("main.py", cwd=tmp_path, reported=True)
    assert ours.stdout == theirs.stdout, ours.stderr[-2000:]
    looked = dict.fromkeys(("np.searchsorted", "np.interp", "np.take", "__getitem__"), 0)
    for row in ours.report["functions"]:
        if row["function"] in looked and row["class"] in ("native", "composed"):
            looked[row["function"]] += row["count"]
    assert backend == "numpy" or sum(looked.values()) < 40, looked


@pytest.mark.one_backend
def test_small_parts_of_a_large_array_are_the_hosts(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """Whatever names them: several index arrays, masks of rows and columns, lists; and whether they are read or written."""
    (tmp_path / "main.py").write_text(
        _source("""
            import numpy as np

            n, at, few = 600, np.array([3, 7, 9]), np.arange(600) % 50 == 0
            stiffness, ratings, counts = np.zeros((n, n)), np.ones((n, n)), np.zeros((n, n))
            for i in range(200):
                stiffness[np.ix_(at + i, at + i)] += np.ones((3, 3))
                stiffness[at, at + i] = ratings[i, few][:3] + ratings[few, i][:3] + ratings[few][0, i]
                counts[[i, i + 1], [i, i]] = 1
            print(stiffness.sum(), ratings.sum(), counts.sum())
        """)
    )
    theirs = zygotes.plain.run("main.py", cwd=tmp_path)
    ours = zygotes.of(backend).run("main.py", cwd=tmp_path, reported=True)
    assert ours.stdout == theirs.stdout, ours.stderr[-2000:]
    rows = [row for row in ours.report["functions"] if row["class"] in ("native", "composed", "host kernel")]
    done = {row["function"]: row["count"] for row in rows if row["function"] in ("__getitem__", "__setitem__")}
    assert backend == "numpy" or sum(done.values()) < 60, done
