"""Transforms in a script under the launcher, where new arrays live on the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.launched import Zygotes

WRITTEN = """
import numpy as np
import arraydispatch as ad

def f(x):
    o = np.zeros(6)
    back, table = o[::-1], o.reshape(2, 3)
    part = table.T[1:, ::-1]
    o += 1
    table[0, 1] = x[0] * x[1]  # from here on the array and its views are the library's
    back[:2] *= x[1]
    np.add.at(o, np.array([0, 0, 2]), x[2])
    np.multiply(x, 3, out=o[2:6])
    np.copyto(table[1], x[:3], where=np.array([True, False, True]))
    np.put(o, [1], x[1] ** 2)
    total = np.zeros(4)
    np.cumsum(x, out=total)
    total.fill(x[0])
    chosen = np.array([1.0, 2.0, 3.0])
    chosen[x[:3] > 1.5] = 7
    chosen[[0, 1]] += x[:2]
    chosen.flat[2] = x[3]
    return sum(np.sum(a**2 * np.arange(1.0, a.size + 1).reshape(a.shape)) for a in (o, back, table, part, total, chosen))

x = np.array([1.25, 2.5, 0.75, 2.0])
e = 1e-6 * np.eye(4)
wanted = np.array([(f(x + d) - f(x - d)) / 2e-6 for d in e])
np.testing.assert_allclose(ad.grad(f)(x), wanted, 1e-7)
np.testing.assert_allclose(ad.jit(f)(x), f(x), 1e-12)
np.testing.assert_allclose(ad.vmap(f)(np.stack([x, x])), [f(x)] * 2, 1e-12)
print("as finite differences")
"""
LEAKS = """
import numpy as np
import arraydispatch as ad

outside = np.zeros(3)
locked = np.zeros(3)
locked.flags.writeable = False

def leaks(x):
    outside[1:][0] = x[0]
    return x.sum()

def writes_locked(x):
    inside = np.zeros(3)
    inside.flags.writeable = False
    inside[0] = x[0]
    return x.sum()

for transform in (ad.grad, ad.jit):
    for f in (leaks, writes_locked):
        try:
            transform(f)(np.array([1.0, 2.0]))
        except (ad.TraceError, ValueError) as error:
            print(type(error).__name__, "main.py:10" in str(error))
print(outside)
"""
CONSTANTS = """
import numpy as np
import arraydispatch as ad

weights = np.array([1.0, 2.0])  # a constant of one program and of another, and of what is no program
for transform in (ad.jit, ad.jit, ad.grad, ad.jit):
    print(transform(lambda x: np.sum(x * weights * np.array([3.0, 1.0])))(np.array([1.0, 2.0])))
"""
SHAPES = """
import numpy as np
import arraydispatch as ad

mask, counts = np.array([True, False, True]), np.array([1, 0, 2])

def f(x):
    square = np.outer(x, x)
    return [
        np.repeat(x, counts), np.delete(x, np.array([1])), np.insert(x, np.array([1]), 2.0), np.compress(mask, x), np.extract(mask, x),
        np.pad(square, np.array([1, 2])), np.add.reduceat(x, np.array([0, 1])), np.bincount(counts, weights=x), x[mask],
        np.bincount(np.digitize(counts, np.array([0.5, 1.5])), weights=x, minlength=4), np.roll(x, counts[2]), x[: counts[2]],
        np.histogram2d(counts, counts, bins=2, weights=x)[0], np.tile(x, counts[[0, 2]]), np.split(x, counts[[0, 2]])[1],
    ]

x = np.array([1.25, 2.5, 0.75])
for made in (ad.jit(f)(x), [a[0] for a in ad.vmap(f)(np.stack([x, x]))]):
    for a, b in zip(made, f(x), strict=True):
        np.testing.assert_allclose(a, b, 1e-14)
loss = lambda x: sum(np.sum(a**2) for a in f(x))
wanted = [(loss(x + e) - loss(x - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
np.testing.assert_allclose(ad.jit(ad.grad(loss))(x), wanted, 1e-7)
print("as NumPy's")
"""


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (WRITTEN, "as finite differences\n"),
        (LEAKS, "TraceError True\nValueError False\n" * 2 + "[0. 0. 0.]\n"),
        (CONSTANTS, "7.0\n7.0\n[3. 2.]\n7.0\n"),
        (SHAPES, "as NumPy's\n"),
    ],
    ids=["written", "leaks", "constants", "shapes"],
)
def test_arrays_on_the_host_in_a_trace(script: str, said: str, backend: str, tmp_path: Path, zygotes: Zygotes) -> None:
    """What a function makes begins on the host, and goes to the library when it is written with a traced value."""
    if backend == "numpy":
        pytest.skip("inapplicable: NumPy has no derivatives")
    path = tmp_path / "main.py"
    path.write_text(script)
    done = zygotes.with_compiler(backend).run(str(path), cwd=tmp_path, options=())
    assert done.stdout == said, done.stderr
