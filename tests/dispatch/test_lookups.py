"""Large tables that small arrays are looked up in, and NumPy's scalars that are compared with arrays: as NumPy, and at its cost."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.launched import Zygotes

LOOKUPS = """
    import warnings
    import numpy as np

    warnings.simplefilter("ignore")
    rng = np.random.default_rng({seed})

    def shown(call):
        try:
            made = call()
        except Exception as error:
            return type(error).__name__, str(error)
        return type(made).__name__, getattr(made, "dtype", None), np.shape(made), np.asarray(made).tolist()

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


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_results_and_errors_are_numpys(backend: str, zygotes: Zygotes, tmp_path: Path, seed: int) -> None:
    (tmp_path / "main.py").write_text(_source(LOOKUPS, seed=seed))
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
    ours = zygotes.of(backend).run("main.py", cwd=tmp_path)
    assert ours.stdout == theirs.stdout, ours.stderr[-2000:]
    looked = dict.fromkeys(("np.searchsorted", "np.interp", "np.take", "__getitem__"), 0)
    for row in ours.report["functions"]:
        if row["function"] in looked and row["class"] in ("native", "composed"):
            looked[row["function"]] += row["count"]
    assert backend == "numpy" or sum(looked.values()) < 40, looked
