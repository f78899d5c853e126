"""Numbers beside arrays, and functions whose method stands for them: values, dtypes, errors, and warnings with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.launched import Zygotes, prints_as_plainly

HEAD = """
import operator, warnings
import numpy as np

def tell(x):
    if isinstance(x, (tuple, list)):
        return type(x).__name__, [tell(part) for part in x]
    if not isinstance(x, np.ndarray):
        return type(x).__name__, repr(x)
    return x.shape, x.dtype.str, x.flags.writeable, repr(x.tolist())

def run(label, call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            made = tell(call())
        except Exception as error:
            made = type(error).__name__, "" if type(error) is TypeError else str(error)  # who counts arguments words it
    heard = [(each.category.__name__, str(each.message), each.filename.rpartition("/")[2], each.lineno) for each in told]
    print(label, made, heard)
"""

NUMBERS = (
    HEAD
    + """
ufuncs = [each for each in vars(np).values() if type(each) is type(np.add) and each.nin == 2 and each.nout == 1]
ufuncs = sorted({each.__name__: each for each in ufuncs}.items())
operators = "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift lt le gt ge eq ne".split()
numbers = [
    2, 0, -1, 3.5, 0.0, -0.0, float("nan"), float("inf"), 2**53, 2**53 + 1, 2**63 - 1, 2**63, 10**30, True, 1j,
    np.float64(2.5), np.float64("nan"), np.int64(3), np.float32(1.5), np.bool_(True), np.uint8(3),
]
arrays = [
    np.array([1.5, -2.0, 0.0]), np.array([3, -5, 0]), np.array(2.5), np.array([]), np.array([1, 2], np.int32),
    np.array([1.5, 2.5], np.float32), np.array([True, False]), np.arange(6.0).reshape(2, 3).T, np.array([1 + 2j]),
]
for i, x in enumerate(arrays):
    for n in numbers:
        for name, func in ufuncs:
            run((name, i, n), lambda: func(x, n))
            run((name, n, i), lambda: func(n, x))
        for name in operators:
            func = getattr(operator, name)
            run((name, i, n), lambda: func(x, n))
            run((name, n, i), lambda: func(n, x))
        for name in operators[:12]:
            func, y = getattr(operator, "i" + name.rstrip("_")), x.copy()
            run(("i" + name, i, n), lambda: func(y, n))
            run(("left", i, n), lambda: y)
first, second = arrays[0] * 2.0, arrays[0] * 3.0  # no result keeps what the next call writes
print(first.tolist(), second.tolist())
"""
)

METHODS = (
    HEAD
    + '''
x, m, i, e = np.array([1.5, -2.0, np.nan, 1e308]), np.array([True, False, True, True]), np.array([3, 0, 1, 1]), np.array([])
S, z, big = np.arange(6.0).reshape(2, 3), np.array(2.5), np.array([1e308, 1e308])
names = """max min mean std var sum all any argmax argmin prod clip argsort nonzero cumprod cumsum round trace diagonal ravel
    reshape squeeze swapaxes transpose repeat searchsorted take sort flip median concatenate stack vstack where roll""".split()
more = [(), (0,), (1,), (-1,), (7,), (None,), ((1, 0),), ((3, 2),), ("F",), (0, 1), (1, 2), (i,), (x, x), (1.5, i), (m,), (0.5, 2.0)]
for name in names:
    func = getattr(np, name)
    for label, a in ("x", x), ("m", m), ("i", i), ("e", e), ("S", S), ("z", z), ("big", big):
        for given in more:
            run((name, label, given), lambda: func(a, *given))
            if hasattr(a, name) and name != "sort":
                run(("method", name, label, given), lambda: getattr(a, name)(*given))
        for axis in 0, 1, -1, None, 5, True, (0, 1), 1.5, np.int64(0), "0":
            run((name, label, "axis", axis), lambda: func(a, axis=axis))
            if hasattr(a, name) and name != "sort":
                run(("method", name, label, "axis", axis), lambda: getattr(a, name)(axis=axis))
for name in "concatenate stack vstack hstack dstack column_stack broadcast_arrays shape ndim size max sum".split():
    func = getattr(np, name)
    for label, given in enumerate([(x, x), [x, m], (x, [1, 2, 3, 4]), (), [], ((x, x), (m, i)), (S, S.T), (x, None), [S, S], (z, z)]):
        run((name, label), lambda: func(given))
for line in """
np.where(m, x, 0.0)
np.where(m, x, i)
np.where(m, 1, 2)
np.where(m, S, 2)
np.where(m, x, None)
np.where(x > 0, x, x)
np.add(x, 1, x)
np.add(x, x, z)
np.add(x, x, None)
np.add(x, x, 5)
np.maximum(x, 0, i)
np.add.reduce(S, axis=0)
np.add.reduce(S, axis=1)
np.add.accumulate(S, axis=1)
np.add.reduce(S, axis=(0, 1))
np.add.reduce(S, axis=True)
np.add.outer(x, axis=1)
np.interp(0.5, i, x)
np.interp(i, e, e)
np.interp(m, np.sort(i), x)
np.interp(x, np.sort(i), 1j * x)
np.interp(None, i, x)
np.interp(z, x[:2], x)
np.interp(x, np.arange(300_000.0), np.arange(300_000.0))
np.take(S, i[2:], 1)
np.take(S, i, 0)
np.take(S, m, None)
np.take(S, 1, 0)
np.take(i, i * 0, 0).base is None
np.take(x, 2, 0)
np.searchsorted(i, x, "right")
np.digitize(x, np.sort(i), True)
""".strip().splitlines():
    run(line, lambda: eval(line))
cube = np.arange(24.0).reshape(2, 3, 4)
for given in (2, 0, 1), (0, 1, 2), (-1, 0, 1), (0, 0, 1), (0, 1, 5), (0, 1, None), (0, 1, i[:1]), (4, 3, 2), (4, -1, 2), (2, 3, "F"):
    for name in "transpose", "reshape", "diagonal", "swapaxes", "mean":
        run((name, given), lambda: getattr(cube, name)(*given))
a = np.arange(6.0)
for line in "np.roll(a, 2)", "np.reshape(a, (2, 3))", "np.ravel(a)", "np.squeeze(a)", "np.transpose(a)", "np.take(a, i)", "np.repeat(a, 1)":
    made = eval(line)
    made[(0,) * made.ndim] = 9  # a view writes the array, a result does not
    print(line, a.tolist(), made.tolist(), np.shares_memory(a, made))
    a[:] = range(6)
rows, turned = np.ones((3, 200000)), np.ones((200000, 3)).T
run("large out by position", lambda: np.maximum(turned, rows, rows).sum())
run("large out by name", lambda: np.maximum(turned, rows, out=rows).sum())
reshaped, selected = np.arange(6.0).reshape(2, 3).T.reshape(6), np.arange(6.0).reshape(2, 3)[:, [0, 2]]
for name in "squeeze atleast_1d real real_if_close ravel transpose positive".split():
    print(name, [getattr(np, name)(each) is each for each in (reshaped, selected)])
'''
)


JOINED = (
    HEAD
    + """
x, i, e, S = np.array([1.5, -2.0, 0.0]), np.array([3, -5, 0]), np.array([], np.float32), np.arange(6.0).reshape(2, 3)
z, b, f = np.array(2.5), np.array([True, False]), np.array([1.5], np.float32)
for key in (
    x, (), (x,), (x, x), (x, 2), (i, 2.5), (f, 2.5), (f, np.float64(2.5)), (b, 1), (x, z), (z, z), (x, i, e), (x, [1, 2]), ([x[0], 3], x), (S, S), (S, x), (1, x, 2j),
    (x, np.log(x[0]), 10**30), ("r", x), ("c", x), ("0,2", x, x), ("-1", S, S), (x, slice(0, 3)), (slice(0, 1, 5j), x), ((x, x), S), (x, None), (x, "a"), (i, True), [x, x],
):
    run(("r_", key), lambda: np.r_[key])
    run(("c_", key), lambda: np.c_[key])
made = np.r_[x]
made[0] = 9
print(x.tolist(), np.shares_memory(made, x), type(made) is np.ndarray, type(np.r_["r", x]) is np.matrix)
for a in x, i, e, S, z, b, S.T, S[:, ::-1], S[:, 1]:
    made = np.array(a)
    run("array", lambda: (np.array(a), made.flags.c_contiguous, made.flags.f_contiguous, made.strides, made.base is None, made is a, np.shares_memory(made, a)))
rng, old = np.random.default_rng(3), np.random.RandomState(3)
np.random.seed(3)
read_only = np.arange(5)
read_only.flags.writeable = False
for a in np.arange(9), np.arange(12.0).reshape(4, 3), np.arange(12.0).reshape(3, 4).T, np.arange(9)[::2], z, e, read_only, [3, 1, 2], np.array(list("abc")), b:
    view = a[1:] if np.ndim(a) else None
    for generator in rng, old, np.random:
        run("shuffle", lambda: generator.shuffle(a))
        run("shuffled", lambda: (a, view))
u = np.arange(40_000.0)
later = u * 2 + 1
rng.shuffle(u)
print(later[:3], later[-1], u[:3], rng.integers(100))
"""
)


def test_joined_copied_and_shuffled_arrays(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, JOINED, tmp_path, ())


def test_numbers_beside_arrays(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, NUMBERS, tmp_path, ())


def test_functions_and_their_methods(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, METHODS, tmp_path, ())


PICKS = """
import numpy as np
r = np.random.default_rng(0)
for n in (10, 1000, 100_000):
    x = r.random((n, 3))
    d, i, m, some = x[:, 0].copy(), r.integers(0, n, n), r.random(n) < 0.5, x > 0.5
    calls = [
        lambda: x[i], lambda: x[m], lambda: x[some], lambda: d[m], lambda: d[i], lambda: x[m[:-1]], lambda: x[i + n], lambda: x[-i],
        lambda: x.T[i[:1]], lambda: x.T[some.T], lambda: x[m[None]], lambda: x[i.astype("i4")], lambda: x[np.array(2)], lambda: x[np.array(True)],
        lambda: np.zeros((0, 3))[i], lambda: d[np.zeros(n, bool)], lambda: x[[0, 1]], lambda: x[i[:6].reshape(2, 3)], lambda: x[::2][i[:2]],
        lambda: x[:, ::-1][m], lambda: x[i[:0]], lambda: x[np.zeros(n + 1, bool)], lambda: x[:, :1][some], lambda: np.arange(n)[m],
        lambda: x[i.astype("u8")], lambda: x[i * 1.0], lambda: d[some], lambda: (x + 0)[m], lambda: (x > 2)[i],
    ]
    for number, call in enumerate(calls):
        try:
            made = call()
            print(n, number, type(made).__name__, made.shape, made.dtype, made.flags.c_contiguous, made.flags.owndata, made.base is None, made.sum())
        except Exception as error:
            print(n, number, type(error).__name__, error)
"""


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_picks(zygotes: Zygotes, backend: str, tmp_path: Path) -> None:
    """Pick rows and elements by indices and masks."""
    prints_as_plainly(zygotes, backend, PICKS, tmp_path, () if backend == "numpy" else ("--min-size", str(1 << 30)))


MASKS = """
import warnings
import numpy as np
r = np.random.default_rng(0)
for shape in ((70_000,), (300, 400), (50, 60, 30)):
    scattered, runs = r.random(shape) < 0.5, np.arange(np.prod(shape)).reshape(shape) % 5000 < 2500
    for mask in (scattered, runs, ~(scattered | True), scattered | True, r.random(shape) < 0.01, scattered.T.copy().T, scattered[..., ::-1]):
        count = int(mask.sum())
        for dtype in (float, np.int8, bool, complex):
            values = [2, 2.5, -1.5, np.nan, True, 1j, np.array(3.5), np.array([4.0]), np.arange(count) % 7, np.arange(count + 1), "7", "x", None, [1]]
            for value in values:
                x = (np.arange(np.prod(shape)).reshape(shape) % 100).astype(dtype)
                whole, said = x.reshape(-1), ""
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    try:
                        x[mask] = value
                    except Exception as error:
                        said = type(error).__name__ + str(error)
                print(shape, count, dtype, said, [str(each.message) for each in told], whole.sum(), x[mask].shape, x[mask].sum())
        b = scattered.copy()
        b[b] = False
        c = np.arange(mask.size).reshape(shape)
        c[mask] = c.reshape(-1)[:count]
        c[mask] += 3
        d = c[:, ...]
        d[mask] = 0
        c.flags.writeable = False
        try:
            c[mask] = 1
        except ValueError as error:
            print(error)
        print(b.sum(), c.sum(), c[mask[:1]].shape if len(mask) == 1 else c.shape)
"""


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_masks(zygotes: Zygotes, backend: str, tmp_path: Path) -> None:
    """Read and write by masks at random and of runs."""
    prints_as_plainly(zygotes, backend, MASKS, tmp_path, () if backend == "numpy" else ("--min-size", str(1 << 30)))


PARTS = (
    HEAD
    + """
arrays = [
    np.arange(6.0), np.arange(12.0).reshape(3, 4)[:, 1:3], np.arange(8, dtype=np.int32), np.arange(4) + 1j, np.array([True, False, True, True]),
    np.arange(12.0).reshape(3, 4).T, np.array(2.5), np.zeros((0, 4)), np.arange(300_000.0),
]
for k, x in enumerate(arrays):
    for dtype in ("i8", "f4", np.uint8, np.int64, bool, float, complex, ">f8", "S8", np.dtype("f8"), np.dtype([("a", "f4"), ("b", "i4")]), "x", np.matrix):
        if dtype is bool and x.size > 100:  # a library's memory cannot be read so: a copy, which is read-only
            continue
        def seen():
            y = x.copy() if x.size < 100 else x + 0
            v = y.view(dtype)
            first = tell(v[:4] if v.ndim else v), v.nbytes == y.nbytes, type(v).__name__
            if v.dtype.kind in "iuf" and v.size:
                v[..., -1:] = 1
            if y.dtype.kind == "f" and y.size:
                y[..., :1] = 2 + y[..., :1]
            z = v.view(y.dtype)
            return first, tell(y[:4] if y.ndim else y), tell(v[:4] if v.ndim else v), (z == y).all(), (v[:3] == v[:3]).sum()
        run((k, str(dtype)), seen)
c = np.arange(4) + 2j
for part in (np.real, np.imag):
    p = part(c)
    p[1] = 7
    p += 1
    run(part.__name__, lambda: (tell(p), p.base is c, tell(c), tell(part(np.arange(3.0))), part(3 + 4j), part(np.arange(3)) is None))
"""
)


def test_views_of_another_dtype(zygotes: Zygotes, backend: str, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, PARTS, tmp_path, ())
