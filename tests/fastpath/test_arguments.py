"""Arrays in sequences, in keywords and as ``out``: the thin path hands their values over, as NumPy takes them."""

from __future__ import annotations

from pathlib import Path

from tests.launched import Zygotes, prints_as_plainly

SCRIPT = '''
import warnings
warnings.simplefilter("error")
import numpy as np

def tell(x):
    if isinstance(x, (tuple, list)):
        return type(x).__name__, [tell(part) for part in x]
    if not isinstance(x, np.ndarray):
        return type(x).__name__, x
    return x.shape, x.dtype.str, x.flags.writeable, x.tolist()

x, y, i, m = np.arange(4.0), np.arange(4.0)[::-1] / 2, np.array([3, 0, 1, 1]), np.arange(4) % 2 > 0
A, S = np.arange(6.0).reshape(2, 3), np.array([[2.0, 1.0], [1.0, 3.0]])
o, p, q = np.zeros(4), np.zeros((2, 2)), np.zeros(4, np.float32)
for line in """
np.array([x, y])
np.array((x, y))
np.array([[x, y], [y, x]])
np.array([x, [1, 2, 3, 4]])
np.array([x, i])
np.array([x, y], np.float32)
np.array([x, y], dtype=complex)
np.array([A, A], "i8")
np.array([np.sum(x), x[2], 1])
np.array([m, m])
np.array([x, y], object)
np.array([x, y], "U4")
np.array([x, A])
np.array([x, None])
np.array([x, y + 1j])
np.asarray([x, y])
np.asarray(x) is x
np.asarray(x, float) is x
np.asarray(x, np.float32)
np.asanyarray([x])
np.array(x)
np.array(A.T, float)
np.array(x, "f4")
np.array(x[::2])
np.array(x, dtype=object)
np.array(2.5)
np.array(2, np.float32)
np.array(True)
np.bincount(i, weights=x)
np.bincount(i, x, minlength=6)
np.average(x, weights=y)
np.average(A, axis=1, weights=[1, 2, 3], returned=True)
np.sum(x, where=m)
x.sum(where=m)
x.mean(where=m)
np.max(x, initial=1, where=m)
np.trapezoid(y, x=x)
np.interp(x, xp=[0, 2], fp=np.array([1.0, 5.0]))
np.searchsorted(x, 2, sorter=i[::-1])
np.diff(x, prepend=y[:1])
np.diff(x, append=[7])
np.histogram(x, bins=3, weights=y)
np.isin(i, test_elements=[1, 3])
np.clip(x, a_min=y, a_max=3)
np.clip(x, 0.5, 2, out=o) is o, o
np.clip(x, 0.5, 2, o) is o, o
x.clip(1, 2, out=o) is o, o
x.clip(1, 2, o) is o, o
x.clip(y, 2.5, out=o) is o, o
x.clip(min=y, out=o) is o, o
np.dot(S, S, out=p) is p, p
np.dot(S, S, p) is p, p
S.dot(S, out=p) is p, p
S.dot(S, p) is p, p
S.dot(S.T)
x.dot([1, 2, 3, 4])
np.sum(S, 0, out=o[:2]), o
np.sum(x, out=o[2:3].reshape(())), o
np.mean(A, axis=0, out=o[1:]), o
A.mean(0, out=o[1:]), o
A.max(axis=1, out=o[:2]), o
np.cumsum(x, out=x) is x, x
x.cumsum(out=o) is o, o
np.add.reduce(A, 0, None, o[:3]), o
np.add.reduce(A, out=o[:3]), o
np.add.accumulate(x, out=o) is o, o
np.add(x, y, o) is o, o
np.sqrt(x, o) is o, o
np.subtract(y, x, x) is x, x
np.add(x, 1j, o)
np.add(x, A, o)
np.round(x, 1, out=q) is q, q
np.clip(x, 0, 1, out=q) is q, q
np.take(x, i, out=o) is o, o
np.take(x, i, mode="wrap", out=o) is o, o
x.take(i, out=o) is o, o
x.take(i, axis=0)
x.take([0, 1])
np.concatenate([x[:2], y[:2]], out=o) is o, o
np.median(A, axis=0, out=o[:3]), o
np.sum(x, out=A)
np.clip(x, 0, 1, out=o[:3])
np.linalg.slogdet(S), np.linalg.slogdet(S).sign
np.linalg.eigh(S)
np.linalg.qr(np.eye(2))
np.unique_counts(i)
np.meshgrid(x, y)
np.meshgrid(x, i, indexing="ij")
np.meshgrid(x, y, sparse=True)
np.ix_(i, m)
np.ix_([0, 1], i)
np.ix_(A, i)
np.atleast_1d(x, 2)[0] is x
m.nonzero()
A.nonzero()
np.prod(A.shape)
np.prod((2, 3, 4))
np.sum([1, 2.5, 3])
np.cumsum([1, 2, 3])
np.mean([[1, 2], [3, 4]], axis=0)
np.median((3, 1, 2))
np.sort([3, 1, 2])
np.where([True, False], 1, 2)
np.dot([1, 2], [3, 4])
np.sum("text")
np.sort([3, "a"])
np.linalg.norm([3, 4])
np.random.default_rng(1).normal(size=3)
np.random.default_rng(1).normal(0, 1, size=(2, 2))
np.random.default_rng(1).standard_normal((2, 3))
np.random.default_rng(1).integers(0, high=9, size=4)
np.random.default_rng(1).choice(9, size=3, replace=False)
np.random.default_rng(1).random((2, -1))
np.random.default_rng(1).uniform(low=0, high=2, size=(3,), axis=1)
x.view("i8"), x.view("i8").base is x
x.view("f4")[::2]
x.view("M8[s]").dtype
""".strip().splitlines():
    try:
        made = eval(line)
    except Exception as error:
        made = type(error).__name__, str(error)
    print(line, tell(made), x[:2].tolist(), o[:1].tolist())
    x[:], o[:] = range(4), 9

late = x * 2  # what reads x may be pending
out = np.add(x, 1, x)
print(late.tolist(), out is x, x.tolist())
late, kept = x[1:] * 2, np.array([x, x])
x.clip(0, 1, out=x)
print(late.tolist(), kept.tolist(), x.tolist())
shown = np.asarray([x, y])
x[0] = 77
print(shown.tolist())
x.flags.writeable = False
for line in ("np.clip(x, 0, 1, out=x)", "x.cumsum(out=x)", "np.add(y, y, x)", "np.dot(S, S, out=x)"):
    try:
        print(eval(line))
    except Exception as error:
        print(line, type(error).__name__, error)
'''


def test_arguments_that_hold_arrays(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, SCRIPT, tmp_path, (), ("--execution", "fused", "--min-size", "1"))
