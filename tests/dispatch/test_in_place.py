"""Ufuncs that write into arrays of a size at which the library computes: values, dtypes, errors, views and overlaps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.launched import Zygotes, prints_as_plainly

WRITES = """
import operator, warnings
from zlib import crc32
import numpy as np

ufuncs = [np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.bitwise_and, np.bitwise_xor, np.left_shift]
ufuncs += [np.logical_and, np.less, np.equal, np.not_equal, np.divide, np.floor_divide, np.copysign]
of_one = [np.negative, np.absolute, np.floor, np.sign, np.square, np.invert, np.logical_not, np.reciprocal]
dtypes = [np.float64, np.float32, np.int64, np.int32, np.int8, np.uint8, np.bool_, np.complex128, np.float16, ">f8"]
numbers = [2, -3, 0.5, 300, 2**40, True, np.float64(1.25), np.float32(2.5), np.int64(7)]


def made(dtype, shift=0):
    return ((np.arange(400).reshape(20, 20) * 7 + shift) % 90 - (45 if np.dtype(dtype).kind in "ifc" else 0)).astype(dtype)


def values(x):  # to as many digits as libraries compute; no sign of NaN
    return [f"{value:.4g}" if x.dtype.kind in "fc" else value for value in x.ravel().tolist()]


def write(label, call, *seen):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = call()
            said = [result is x for x in seen]
        except Exception as error:
            said = type(error).__name__
    heard = sorted({(each.category.__name__, str(each.message)) for each in told})
    print(label, said, heard, [(x.dtype.str, x.shape, values(x)[:4], crc32(repr(values(x)).encode())) for x in seen])


for dtype in dtypes:
    for other in (dtype, np.float64, np.int64, np.bool_):
        for func in ufuncs:
            x, y, z = made(dtype), made(other, 11), made(dtype, 5)
            write((func, dtype, other, "out"), lambda: func(x, y, out=z), z, x, y)
            write((func, dtype, other, "left"), lambda: func(x, y, out=x), x, y)
            write((func, dtype, other, "right"), lambda: func(x, y, out=y), x, y)
            write((func, dtype, other, "mask"), lambda: func(z, y, out=(m,)), m := np.zeros((20, 20), bool))
    for number in numbers:
        for func in ufuncs:
            x = made(dtype)
            write((func, dtype, repr(number)), lambda: func(x, number, x), x)
            write((func, repr(number), dtype), lambda: func(number, x, out=x), x)
        for name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "ipow", "iand"):
            x = made(dtype)
            write((name, dtype, repr(number)), lambda: getattr(operator, name)(x, number), x)
    for func in of_one:
        x = made(dtype)
        write((func, dtype), lambda: func(x, out=x), x)

x, base = made(float), made(float, 3)
view, turned, rows = x[1:, ::2], x.T, x[::-1]
whole = x.reshape(-1)
def step(a, b): a -= b; return a
def plus(a, b): a += b; return a
write("columns", lambda: step(x[:, 1:], base[:, :-1]), x)
write("shifted", lambda: plus(x[1:], x[:-1]), x, view)
write("shifted up", lambda: plus(x[:-1], x[1:]), x, view)
write("turned", lambda: plus(x, turned), x, whole)
write("backwards", lambda: plus(rows, base), x, view)
write("read backwards", lambda: plus(x, base[::-1]), x, view)
write("stretched", lambda: plus(x, base[0]), x)
write("column", lambda: plus(x, base[:, :1]), x)
write("too narrow", lambda: plus(x[0], base), x)
write("huge", lambda: plus(x, 10**400), x)
write("itself", lambda: plus(x, x), x, view)
write("same place", lambda: np.multiply(x[2:], x[2:], out=x[2:]), x)
write("flat", lambda: plus(whole, whole[::-1]), x)
write("masked", lambda: np.add(x, 1.0, out=x, where=base > 0), x)
write("dtype", lambda: np.add(x, base, out=x, dtype=np.float32, casting="unsafe"), x)
write("casting", lambda: np.add(made(int), base, out=made(int), casting="unsafe"))
sealed = x.copy(); sealed.flags.writeable = False
write("read-only", lambda: plus(sealed, 1.0), sealed)
write("repeated", lambda: plus(np.broadcast_to(x[0], (20, 20)), 1.0), x)
write("of read-only", lambda: plus(x, sealed), x)
window = np.lib.stride_tricks.sliding_window_view(whole, 300, writeable=True)
write("windows", lambda: plus(window, 1.0), x)
fields = np.zeros(400, "f4,f8"); inside = fields["f1"]
write("fields", lambda: plus(inside, whole), inside)
with np.errstate(all="raise"):
    write("overflow", lambda: np.multiply(x, 1e308, out=x), whole[:0])
    write("divided", lambda: np.divide(x, 0.0, out=x), whole[:0])
write("spread", lambda: np.subtract(whole[:, None], base[0]), x)
a = np.arange(300.0)
print((a[:, None] - a[None, :]).sum(axis=0)[:5], (a[:, None] * a).shape, np.add.outer(a, a)[7, 8])
"""

MAKES = """
import warnings
import numpy as np
from arraydispatch.dispatch import in_place
in_place.FRESH = 1  # every result at which the library computes

of_two = [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.less, np.equal, np.bitwise_xor, np.logical_and]
of_one = [np.negative, np.absolute, np.sqrt, np.square, np.invert, np.logical_not, np.reciprocal]
base = (np.arange(900).reshape(30, 30) * 7) % 90 - 45


def told(label, call):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            z = call()
            said = z.dtype.str, z.shape, z.strides, z.flags.writeable
            said += ([f"{value:.6g}" if z.dtype.kind in "fc" else value for value in z.ravel().tolist()],)
        except Exception as error:
            said = type(error).__name__
    print(label, said, sorted({(each.category.__name__, str(each.message)) for each in heard}))


for dtype in (np.float64, np.float32, np.int64, np.int16, np.bool_, np.complex128):
    x, y = base.astype(dtype), base[::-1].astype(dtype)
    for func in of_one:
        told((func, dtype), lambda: func(x))
    for func in of_two:
        told((func, dtype), lambda: func(x, y))
        for other in (2, 0.5, np.float64(1.5), 0, 2**40, True):
            told((func, dtype, other), lambda: func(x, other))
            told((func, other, dtype), lambda: func(other, x))
    for name, each in {
        "part": x[1:, 1:], "rows": x[::2], "column": x[:, :1], "row": x[0], "turned": x.T, "back": x[::-1], "repeated": np.broadcast_to(x[0], x.shape),
        "Fortran": np.asfortranarray(x), "flat": x.ravel(), "deep": x.reshape(30, 1, 30), "axes": x.reshape(5, 6, 30).transpose(1, 0, 2),
        "integers": base, "none": x[:0], "one": x[:1, :1],
    }.items():
        told((dtype, name, "self"), lambda: each + each)
        told((dtype, name, "left"), lambda: each * x)
        told((dtype, name, "right"), lambda: x - each)
z = base * 1.0
before = z + z
z += 1
print(before[0, :3], (before + z)[3, :3], np.add(z, before, dtype=np.float32).dtype)
with np.errstate(all="raise"):
    told("raised", lambda: z / (z - z))
"""

READS = (
    MAKES.replace("in_place.FRESH = 1  # every result at which the library computes", "")
    .replace("z = call()", "call()\n            z = call()")
    .replace(
        '"none": x[:0],',
        '"none": x[:0], "sealed": sealed(x), "swapped": x.astype(x.dtype.newbyteorder()), "field": fields(x)["f1"],',
    )
    .replace(
        "for dtype in (np.float64",
        """
def sealed(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def fields(x):
    made = np.zeros(x.shape, [("f0", "i1"), ("f1", x.dtype)])
    made["f1"] = x
    return made


for dtype in (np.float64""",
        1,
    )
    .replace(
        '        told((dtype, name, "self")',
        """        for func in (np.sum, np.max, np.mean, np.any, np.cumsum, np.diff, np.real, np.ravel, np.median):
            told((dtype, name, func.__name__), lambda: np.asarray(func(each)))
            told((dtype, name, func.__name__, 0), lambda: np.asarray(func(each, 0)))
        told((dtype, name, "where"), lambda: np.where(each > 0, each, x[:1, :1]))
        told((dtype, name, "self")""",
    )
)
"""Calls on large arrays in the host state, each twice: the second has a plan."""

RETURNS = """
import numpy as np
a, p = np.arange(900.0).reshape(30, 30), np.arange(400.0)
for x, call in (
    (a, lambda: np.diff(a, 0)), (a, lambda: np.linalg.matrix_power(a, 1)), (p, lambda: np.polyder(p, 0)), (p, lambda: np.polyint(p, 0)),
    (a, lambda: np.fft.fftn(a, axes=())), (p, lambda: np.histogram(a, p)[1]), (p, lambda: np.histogram_bin_edges(a, p)),
):
    print(call() is x, call() is x)
"""
"""Calls of functions that return an argument itself."""

FILTERS = """
import numpy as np
from scipy import ndimage, signal

names = ["gaussian_filter", "uniform_filter", "median_filter", "maximum_filter", "sobel"]
for dtype in (np.float64, np.float32, np.int64):
    for name in names:
        for out in (0, np.zeros((30, 30)), np.zeros((30, 30), np.float32), np.zeros((30, 60))[:, ::2]):
            x = (np.arange(900).reshape(30, 30) % 31).astype(dtype)
            out = x if isinstance(out, int) else out
            options = {} if name == "sobel" else {"sigma" if name[0] == "g" else "size": 3}
            print(dtype, name, getattr(ndimage, name)(x, output=out, **options) is out, [f"{v:.4g}" for v in out.ravel()[40:60].tolist()])
    for call in (
        lambda x: ndimage.median_filter(x, 1), lambda x: ndimage.rank_filter(x, 0, 1), lambda x: ndimage.gaussian_filter(x, 0),
        lambda x: ndimage.gaussian_filter(x, 1, axes=()), lambda x: ndimage.uniform_filter(x, 1), lambda x: ndimage.maximum_filter(x, 1),
        lambda x: ndimage.minimum_filter1d(x, 1), lambda x: ndimage.spline_filter1d(x, 0), lambda x: ndimage.shift(x, 0), lambda x: signal.medfilt(x, 1),
    ):
        x = (np.arange(900).reshape(30, 30) % 31).astype(dtype)
        made = call(x)
        x[3, 4] = 99
        print(dtype, made.dtype, np.shares_memory(made, x), f"{made[3, 4]:.4g}")
"""
"""Filters of large images, into arrays of several dtypes, and of windows of one element, whose results are not the image."""

STEPS = """
import numpy as np
x, y = np.ones((30, 40)), np.full((30, 40), 2.0)
for _ in range(4):
    x[1:] -= y[:-1]
    np.add(x, y, out=x)
    x *= 0.5
    r = y[0][:, None] - y[1]
"""


COPYING = (
    WRITES.partition("with np.errstate")[0].replace(" np.float16,", "").replace(" 2**40,", "").replace('"ipow", ', "")
)
"""What immutable libraries do alike: they look at results before they write, and at those of half precision less often than NumPy."""


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numpy", "torch", "jax", "tensorflow"])
def test_writing_is_as_in_numpy(zygotes: Zygotes, backend: str, tmp_path: Path) -> None:
    """Write by many ufuncs, dtypes and overlaps, and compare values, errors and warnings."""
    script = WRITES if backend in ("numpy", "torch") else COPYING
    prints_as_plainly(zygotes, backend, script, tmp_path, (), ("--min-size", "100"))


@pytest.mark.parametrize("backend", ["torch", "tensorflow"])
def test_very_large_results_are_as_numpys(zygotes: Zygotes, backend: str, tmp_path: Path) -> None:
    """Compute into new memory of NumPy's, by ufuncs, dtypes, memory orders and overlaps of operands, and compare."""
    prints_as_plainly(zygotes, backend, MAKES, tmp_path, (), ("--min-size", "100"))


@pytest.mark.parametrize("backend", ["torch", "tensorflow"])
def test_host_memory_is_read_as_by_numpy(zygotes: Zygotes, backend: str, tmp_path: Path) -> None:
    """Compute from NumPy's memory in place, by ufuncs, functions, dtypes and memory orders, and compare."""
    prints_as_plainly(zygotes, backend, READS, tmp_path, (), ("--min-size", "100"))


@pytest.mark.parametrize("script", [RETURNS, FILTERS], ids=["returned", "filtered"])
@pytest.mark.parametrize("backend", ["torch", "tensorflow"])
def test_results_are_arguments_where_numpys_are(zygotes: Zygotes, backend: str, script: str, tmp_path: Path) -> None:
    """Return an argument itself where NumPy does, write to ``output=``, and otherwise share no memory with arguments."""
    prints_as_plainly(zygotes, backend, script, tmp_path, (), ("--min-size", "100"))


def test_torch_computes_what_is_written(zygotes: Zygotes, tmp_path: Path) -> None:
    """Hold that PyTorch writes into large arrays, and makes large results of small operands."""
    (tmp_path / "script.py").write_text(STEPS)
    ran = zygotes.of("torch").run(
        "script.py", cwd=tmp_path, options=("--min-size", "1000", "--report", str(tmp_path / "said.json"))
    )
    assert ran.code == 0, ran.stderr
    said = json.loads((tmp_path / "said.json").read_text())
    calls = {(each["function"], each["class"]): each["count"] for each in said["functions"]}
    assert calls["np.subtract", "native"] == 8, calls
    assert calls["np.add", "native"] == calls["np.multiply", "native"] == 4, calls
