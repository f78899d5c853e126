"""Arrays meet objects of others in NumPy's calls: what speaks the protocols, what refuses them, what shows its memory."""

from __future__ import annotations

import array
import base64
import contextlib
import functools
import hashlib
import io
import operator
import pickle
import random
import re
import struct
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from tests.launched import Zygotes, shows_memory

VALUES = [1.0, 2.0, 3.0, 4.0]


@pytest.fixture
def x(backend: str) -> Any:
    with ad.fallback("silent"):
        yield ad.asarray(VALUES, backend=backend)


def outcome(call: Callable[[], Any]) -> Any:
    """What came out, as lists; the class of an error."""
    try:
        made = call()
    except Exception as error:
        return type(error)
    return [np.asarray(part).tolist() for part in made] if isinstance(made, tuple) else np.asarray(made).tolist()


# -- protocols ---------------------------------------------------------------------------------------------------------

BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.matmul,
    operator.lt,
    operator.eq,
    operator.pow,
]
CALLS: list[Callable[[Any, Any], Any]] = [
    *BINARY, np.add, np.arctan2, lambda d, z: np.concatenate([d, z]), lambda d, z: np.where(d > 1, z, d),
    lambda d, z: np.dot(z, d), lambda d, z: np.sum(d * z), lambda d, z: d[z > 2], np.allclose,
    lambda d, z: np.stack([z, d]), lambda d, z: np.tensordot(d, z, 1), lambda d, z: d.map_blocks(lambda b: b * 2) - z,
]  # fmt: skip


@shows_memory
def test_dask(x: Any) -> None:
    dask = pytest.importorskip("dask.array")
    d = dask.from_array(np.arange(2.0, 6.0), chunks=2)
    wrong = []
    for at, call in enumerate(CALLS):
        for swapped in (False, True) if at < len(BINARY) + 2 else (False,):
            run = (lambda z, call=call: call(z, d)) if swapped else (lambda z, call=call: call(d, z))
            theirs, ours = run(np.asarray(VALUES)), run(x)
            if type(ours) is not type(theirs) or not np.array_equal(np.asarray(ours), np.asarray(theirs)):
                wrong.append((call, swapped, ours, theirs))
    assert not wrong


def test_dask_takes_no_out(x: Any) -> None:
    dask = pytest.importorskip("dask.array")
    with pytest.raises(NotImplementedError):
        x += dask.from_array(np.arange(4.0), chunks=2)
    assert np.asarray(x).tolist() == VALUES


class Asked:
    """Has a say of its own, and knows ndarrays alone."""

    def __init__(self) -> None:
        self.seen: list[type] = []

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        others = [z for z in (*inputs, *kwargs.get("out", ())) if not isinstance(z, Asked)]
        self.seen += map(type, others)
        if not all(isinstance(z, np.ndarray) for z in others):
            return NotImplemented
        for out in kwargs.get("out", ()):
            out[...] = 7.0
        return "asked"

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return "asked" if isinstance(args[0], np.ndarray) else NotImplemented


def test_who_knows_ndarrays_alone_gets_one(x: Any) -> None:
    asked = Asked()
    assert np.add(x, asked) == np.add(asked, x) == "asked"
    assert x + asked == np.multiply.outer(x, asked) == "asked"
    assert type(x) in asked.seen  # which it might have known
    assert np.dot(x, asked) == "asked"
    np.add(asked, asked, out=x)
    assert np.asarray(x).tolist() == [7.0] * 4


def test_who_knows_nothing_is_an_error(x: Any) -> None:
    class Declines:
        def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
            return NotImplemented

    for call in (lambda z: np.add(z, Declines()), lambda z: z + Declines(), lambda z: np.add(Declines(), z)):
        assert outcome(lambda call=call: call(x)) is outcome(lambda call=call: call(np.asarray(VALUES))) is TypeError


NAMES = "add sub mul truediv floordiv mod divmod pow lshift rshift and or xor matmul".split()
COMPARISONS = "eq ne lt le gt ge".split()
Refuses: Any = type("Refuses", (), {"__array_ufunc__": None, "__hash__": None})
Goes_first: Any = type("GoesFirst", (), {"__array_priority__": 1000.0, "__hash__": None})
for _name in (*NAMES, *COMPARISONS):
    for _cls in (Refuses, Goes_first):
        for _side in ("", "r") if _name in NAMES else ("",):
            setattr(_cls, f"__{_side}{_name}__", lambda self, other, name=_side + _name: name)
INPLACE = [f"i{name}" for name in NAMES if name != "divmod"]


@pytest.mark.parametrize("cls", [Refuses, Goes_first])
def test_who_takes_part_in_no_ufunc(cls: Any, backend: str) -> None:
    wrong = []
    for name in (*NAMES, *COMPARISONS, *INPLACE):
        op = divmod if name == "divmod" else getattr(operator, name, None) or getattr(operator, f"{name}_")
        for swapped in (False, True) if name not in INPLACE else (False,):
            theirs, ours = (
                outcome(lambda z=z: op(cls(), z) if swapped else op(z, cls()))  # noqa: B023 -- called at once
                for z in (np.array([1, 2, 3]), ad.asarray([1, 2, 3], backend=backend))
            )
            if ours != theirs:
                wrong.append((name, swapped, ours, theirs))
    assert not wrong


@pytest.mark.parametrize(("said", "there"), [("yes", True), ("", False), (True, True), (False, False), ([0, 2], True)])
def test_in(said: Any, there: bool, x: Any) -> None:
    """What the comparison gives may be anything that NumPy makes an array of."""
    cls = type("Says", (), {"__array_ufunc__": None, "__eq__": lambda self, other: said, "__hash__": None})
    assert (cls() in np.asarray(VALUES)) is (cls() in x) is there


# -- memory ------------------------------------------------------------------------------------------------------------

SHOWN: dict[str, Callable[[], Any]] = {
    "array": lambda: array.array("d", [4, 1, 2, 3]),
    "integers": lambda: array.array("l", [3, 1, 2, 0]),
    "memoryview": lambda: memoryview(np.arange(4.0)),
    "bytearray": lambda: bytearray([1, 0, 3, 2]),
    "bytes": lambda: memoryview(bytes([1, 0, 3, 2])),
    "range": lambda: range(4),
}
USES: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda z, o: z + o,
    "radd": lambda z, o: o + z,
    "np.add": lambda z, o: np.add(o, z),
    "less": lambda z, o: z < o,
    "matmul": lambda z, o: (z @ o, o @ z),
    "iadd": lambda z, o: operator.iadd(z.copy(), o),
    "where": lambda z, o: (np.where(z > 2, z, o), np.where(z > 2, o, 1)),
    "putmask": lambda z, o: (c := z.copy(), np.putmask(c, c > 2, o))[0],
    "place": lambda z, o: (c := z.copy(), np.place(c, c > 2, o))[0],
    "copyto": lambda z, o: (c := z.copy(), np.copyto(c, o))[0],
    "set": lambda z, o: (c := z.copy(), operator.setitem(c, slice(None), o))[0],
    "getitem": lambda z, o: z[o],
    "setitem": lambda z, o: (c := z.copy(), operator.setitem(c, o, 9.0))[0],
    "take": lambda z, o: z.take(o),
    "concatenate": lambda z, o: np.concatenate([z, o]),
    "stack": lambda z, o: np.stack([o, z]),
    "dot": lambda z, o: np.dot(o, z),
    "einsum": lambda z, o: np.einsum("i,i", z, o),
    "interp": lambda z, o: np.interp(o, z, z),
    "isin": np.isin,
    "searchsorted": np.searchsorted,
    "clip": lambda z, o: np.clip(z, o, 3),
    "average": lambda z, o: np.average(z, weights=o),
    "choose": lambda z, o: np.choose([0, 1, 0, 1], [z, o]),
    "insert": lambda z, o: np.insert(z, 1, o),
    "full_like": np.full_like,
    "array_equal": np.array_equal,
    "convolve": np.convolve,
    "transpose": lambda z, o: np.transpose(z.reshape(1, 2, 1, 2), o),
}
OTHERWISE = {
    (
        "less",
        "bytearray",
    ): "bytes compare with what shows its memory, which arrays do where the core is compiled",
}


@pytest.mark.parametrize("what", SHOWN)
def test_what_shows_its_memory(what: str, x: Any, drawn: Callable[..., list[Any]]) -> None:
    wrong = []
    for use, run in drawn(USES.items(), x.backend.name, 6):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = outcome(lambda: run(np.asarray(VALUES), SHOWN[what]()))  # noqa: B023 -- called at once
            ours = outcome(lambda: run(x, SHOWN[what]()))  # noqa: B023
        if ours != theirs and (use, what) not in OTHERWISE:
            wrong.append((use, ours, theirs))
    assert not wrong


def test_operands_that_show_their_memory_stay_off_the_host(backend: str) -> None:
    x = ad.asarray(VALUES, backend=backend)
    with ad.fallback("error"):
        assert np.asarray(x * array.array("d", VALUES) + memoryview(np.ones(4)) - range(4)).tolist() == [
            2.0,
            4.0,
            8.0,
            14.0,
        ]


# -- bytes ---------------------------------------------------------------------------------------------------------------

BYTES: dict[str, Callable[[Any], Any]] = {
    "md5": lambda x: hashlib.md5(x).hexdigest(),
    "crc32": zlib.crc32,
    "compress": lambda x: zlib.decompress(zlib.compress(x)),
    "join": lambda x: b"".join([x]),
    "BytesIO": lambda x: io.BytesIO(x).getvalue(),
    "b64encode": base64.b64encode,
    "frombuffer": lambda x: np.frombuffer(x, np.uint8).tolist(),
    "unpack": lambda x: struct.unpack_from("2B", x),
    "bytes": bytes,
    "bytearray": bytearray,
    "extend": lambda x: bytearray(b"a").__iadd__(x),
}


@shows_memory
@pytest.mark.parametrize("use", BYTES)
def test_who_takes_bytes_takes_arrays(use: str, backend: str) -> None:
    run = BYTES[use]
    for host in (np.arange(6), np.ones((2, 3), np.float32), np.array([True, False]), np.zeros(0)):
        x = ad.asarray(host, backend=backend)
        for part in (lambda a: a, lambda a: a.T, lambda a: a[::2], lambda a: a[:1]):
            assert outcome(lambda: run(part(x))) == outcome(lambda: run(part(host)))  # noqa: B023 -- called at once


@shows_memory
def test_a_memoryview_is_the_data(backend: str) -> None:
    x = ad.asarray(np.arange(12.0).reshape(3, 4), backend=backend)
    for view in (x, x[:, ::2], x.T, x[::-1, 1:]):
        seen, theirs = memoryview(view), memoryview(np.asarray(view))
        for name in ("format", "itemsize", "shape", "strides", "readonly", "nbytes"):
            assert getattr(seen, name) == getattr(theirs, name)
        assert seen.tolist() == memoryview(object=view).tolist() == view.tolist()
        if seen.contiguous:
            assert pickle.loads(pickle.dumps(pickle.PickleBuffer(view), protocol=5)) == view.tobytes("A")
    with pytest.raises(TypeError, match="required argument"):
        memoryview()  # type: ignore[call-arg]


@shows_memory
@pytest.mark.parametrize("library", ["torch", "jax", "tensorflow"])
def test_numpy_goes_by_array_which_counts(library: str) -> None:
    """NumPy takes a memoryview, which is what ``__array__`` gives, and counted as that."""
    pytest.importorskip(library)
    x = ad.asarray(VALUES, backend=library)
    held: list[Any] = []
    for takes in (
        lambda: np.asarray(x),
        lambda: np.array([x, x]),
        lambda: (memoryview(x), np.asarray(x)),
    ):
        with ad.profile() as profile:
            takes()
        assert profile.transfers()
    with ad.profile() as profile:
        held += [np.asarray(x) for _ in range(600)]  # wherever in memory NumPy's memoryviews come to lie
    assert sum(transfer.count for transfer in profile.transfers()) == 600


@shows_memory
def test_tensors_of_arrays_are_of_their_numbers(backend: str) -> None:
    torch = pytest.importorskip("torch")
    for dtype in ("f8", "f4", "i8", "c16", "?"):
        x = ad.asarray(np.array([1, 0, 3]).astype(dtype), backend=backend)
        for a in (x, x[::2], x[1:], x[2].reshape(()) if isinstance(x[2], ad.Array) else x[:0]):
            made, wanted = torch.asarray(a), torch.asarray(np.array(a))
            assert (made.dtype, made.tolist()) == (wanted.dtype, wanted.tolist())
        assert torch.asarray(x, dtype=torch.complex64, copy=True).real.tolist() == [
            1.0,
            0.0,
            1.0 if dtype == "?" else 3.0,
        ]


READ_INTO = """\
import io
import numpy as np

x = np.zeros(6)
view, twice = x[1:3], x * 2
io.BytesIO(np.arange(6.0)).readinto(x)
print(x, view, twice, x.sum())
large = np.zeros(300_000)
half = large[::2]
io.BytesIO(np.arange(300_000.0)).readinto(large)
print(large.sum(), half.sum())
fixed = np.zeros(3)
fixed.flags.writeable = False
try:
    io.BytesIO(b"a" * 24).readinto(fixed)
except TypeError as error:
    print(fixed)
"""
WRITTEN_THROUGH = """\
import numpy as np

fixed = np.zeros(3)
fixed.flags.writeable = False
for a in (np.arange(6.0).reshape(2, 3), np.arange(300_000.0).reshape(2, -1)):
    seen, shown = a[:, 1:], memoryview(a)
    shown[1, 2] = 0.5
    a[0, 1] = 7
    print(a.sum(), seen[0, 0], seen[1, 1], shown[0, 1], memoryview(a.T)[1, 0], memoryview(fixed).readonly)
"""


@shows_memory
@pytest.mark.parametrize("least", ["0", "262144"])
def test_what_is_read_into_an_array_is_there(least: str, backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(READ_INTO)
    plain = zygotes.plain.run("main.py", cwd=tmp_path)
    done = zygotes.of(backend).run("main.py", cwd=tmp_path, options=("--min-size", least))
    assert (done.code, done.stdout) == (0, plain.stdout), done.stderr


@shows_memory
@pytest.mark.parametrize("least", ["0", "262144"])
def test_what_is_written_through_a_memoryview_is_there(
    least: str, backend: str, zygotes: Zygotes, tmp_path: Path
) -> None:
    (tmp_path / "main.py").write_text(WRITTEN_THROUGH)
    plain = zygotes.plain.run("main.py", cwd=tmp_path)
    done = zygotes.of(backend).run("main.py", cwd=tmp_path, options=("--min-size", least))
    assert (done.code, done.stdout) == (0, plain.stdout), done.stderr


# -- out= and in place, with guests among the operands -------------------------------------------------------------------


class _Shows:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray([0.0, 1.0, 2.0, 3.0], dtype)


WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "+=": lambda b, s, o: operator.iadd(b, s),
    "-= of a part": lambda b, s, o: operator.isub(b[:], s),
    "/=": lambda b, s, o: operator.itruediv(b, s + 1),
    "add": lambda b, s, o: np.add(s, 1, out=b),
    "add, by place": lambda b, s, o: np.add(s, 1, b),
    "of both": lambda b, s, o: np.add(o, s, out=b),
    "of itself": lambda b, s, o: np.add(b, s, out=b),
    "maximum": lambda b, s, o: np.maximum(s, 2, out=b),
    "sqrt": lambda b, s, o: np.sqrt(s, out=b),
    "where=": lambda b, s, o: np.negative(s, out=b, where=np.array([True, False, True, False])),
    "modf": lambda b, s, o: np.modf(s, out=(b, o)),
    "divmod": lambda b, s, o: np.divmod(s, 2.0, out=(b, o)),
    "accumulate": lambda b, s, o: np.add.accumulate(s, out=b),
    "reduce": lambda b, s, o: np.add.reduce(s, out=b[:1].reshape(())),
    "at": lambda b, s, o: np.add.at(b, [0, 1, 1, 3], s),
    "put": lambda b, s, o: np.put(b, [3, 2, 1, 0], s),
    "copyto": lambda b, s, o: np.copyto(b, s),
    "part": lambda b, s, o: b.__setitem__(slice(None), s),
}


def _guests() -> dict[str, Callable[[], Any]]:
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    values = [0.0, 1.0, 2.0, 3.0]
    return {
        "a series": lambda: pandas.Series(values),
        "a labelled series": lambda: pandas.Series(values, index=list("abcd")),
        "integers": lambda: pandas.Series([0, 1, 2, 3], dtype="Int64"),
        "an index": lambda: pandas.Index(values),
        "an extension array": lambda: pandas.array(values),
        "xarray": lambda: xarray.DataArray(values, dims="x"),
        "a variable": lambda: xarray.Variable("x", values),
        "masked": lambda: np.ma.array(values, mask=[0, 1, 0, 0]),
    }


def test_guests_are_computed_into_arrays_that_are_given(backend: str) -> None:
    """Both operands hold afterwards what NumPy's hold, wherever NumPy computes."""
    wrong = []
    for guest, make in _guests().items():
        for name, write in WRITES.items():
            theirs, ours = (
                [f(np.ones(4)), f(np.arange(4.0))] for f in (np.copy, lambda x: ad.asarray(x, backend=backend))
            )
            with warnings.catch_warnings(), ad.fallback("silent"):
                warnings.simplefilter("ignore")
                expected = outcome(functools.partial(write, theirs[0], make(), theirs[1]))
                got = outcome(functools.partial(write, ours[0], make(), ours[1]))
            same = all(np.array_equal(o, t, equal_nan=True) for o, t in zip(map(np.asarray, ours), theirs))
            if not same or isinstance(expected, type) is not isinstance(got, type):
                wrong.append(
                    f"{name} with {guest}: {ours[0].tolist()}, NumPy's {theirs[0].tolist()}; {got}, {expected}"
                )
    assert not wrong, "\n".join(wrong)


def test_a_mean_of_what_is_no_array_is_written_where_it_is_told_to(backend: str) -> None:
    for values in ([1.0, 2.0, 6.0], _Shows()):
        out = ad.asarray(np.zeros(()), backend=backend)
        with ad.fallback("silent"):
            assert np.mean(values, out=out) is out
        assert out.item() == np.mean(values)


_DEEPER: list[Callable[[Callable[[Any], Any]], Any]] = [
    lambda f: sum(map(f, [0])),
    lambda f: max([0], key=f),
    lambda f: re.sub("a", f, "a"),
    lambda f: functools.reduce(lambda _, y: f(y), [1, 2]),
    lambda f: list(filter(f, [0])),
]
"""Ways into C code, each of which takes another number of bytes of its stack."""


@shows_memory
def test_bytes_are_taken_wherever_the_stack_of_c_stands(backend: str) -> None:
    """What asks for them lies at the beginning of a page once in a hundred times."""
    x, numbers, taken = ad.asarray(np.arange(6), backend=backend), random.Random(0), []

    def at(depth: int) -> Any:
        try:
            taken.append(bytearray(x) == np.arange(6).tobytes())
        except TypeError:
            taken.append(False)
        if depth:
            numbers.choice(_DEEPER)(lambda _: at(depth - 1) or "")
        return ""

    for _ in range(60):
        with contextlib.suppress(TypeError):  # of max() and the like, which are given a text
            at(50)
    assert len(taken) > 1000
    assert all(taken)


class Writer:
    """Writes into an array while NumPy converts it, as a lazy object may that shares a buffer."""

    def __init__(self, into: Any) -> None:
        self.into = into

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.into[:2] = 100.0
        return np.full(4, 2.0)


WRITTEN: dict[str, Callable[[Any, Any], Any]] = {
    "out": lambda z, w: np.add(z, w, z),
    "reduced": lambda z, w: np.add.reduce([w, z], axis=0, out=z),
    "reversed": lambda z, w: np.subtract(w, z, z),
    "operator": lambda z, w: z + w,
    "in place": operator.iadd,
    "masked": lambda z, w: np.multiply(z, w, out=z, where=[True, False, True, False]),
    "in a list": lambda z, w: np.add(z, [w, w]),
    "at": lambda z, w: np.add.at(z, [0, 1, 2, 3], w),
    "outer": np.multiply.outer,
    "matmul": np.matmul,
    "where": lambda z, w: np.where(z > 1, w, z),
    "copyto": lambda z, w: np.copyto(z, w, where=z > 2),
    "put": lambda z, w: np.put(z, [3], w),
    "putmask": lambda z, w: np.putmask(z, z > 50, w),
    "place": lambda z, w: np.place(z, np.asarray([False, False, False, True]), w),
    "concatenate": lambda z, w: np.concatenate([z, w]),
    "dot": np.dot,
    "einsum": lambda z, w: np.einsum("i,i->i", z, w, out=z),
    "average": lambda z, w: np.average(z, weights=w),
    "interp": lambda z, w: np.interp(w, z, z),
    "take": lambda z, w: np.take(w, np.asarray([0, 1, 2, 3]), out=z),
    "append": np.append,
    "linspace": lambda z, w: np.linspace(z, w, 3),
    "cumsum": lambda z, w: np.cumsum(w, out=z),
    "assigned": lambda z, w: z.__setitem__(slice(None), w),
    "part assigned": lambda z, w: z.__setitem__(slice(1, None), np.asarray(w)[1:]),
    "mask is none": lambda z, w: np.sum(z, where=w),
    "norm of a difference": lambda z, w: np.linalg.norm(z - w),
    "on the host": np.correlate,
}


@pytest.mark.parametrize("way", WRITTEN)
def test_arrays_are_read_after_objects_that_write_them(way: str, backend: str) -> None:
    def run(z: Any) -> Any:
        view = z[1:3]
        made = outcome(lambda: WRITTEN[way](z, Writer(z)))
        return made, outcome(lambda: z), outcome(lambda: view)

    with ad.fallback("silent"):
        assert run(ad.asarray(VALUES, backend=backend)) == run(np.array(VALUES))
