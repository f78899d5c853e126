"""What programs do with small arrays most: values, dtypes and aliases are NumPy's, and writes wait for those who read."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as real
import pytest

import arraydispatch as ad
from arraydispatch.backends import loader
from arraydispatch.launcher.activation import Activation
from arraydispatch.launcher.user_files import UserFiles
from arraydispatch.runtime import settings

HERE = Path(__file__).parent
LIMIT = 100

CALLS = """\
np.asarray(b) | np.asanyarray(b) | np.asarray(b, dtype=float) | np.asarray(b, np.float32) | np.asarray(b, np.dtype("f4"))
np.array(b) | np.array(b, copy=None) | np.array(b, ndmin=2) | np.array(b, dtype=object) | np.array(a, order="F") | np.array(b[::2])
np.ascontiguousarray(a.T) | np.asfortranarray(a) | np.ascontiguousarray(b) | np.ascontiguousarray(s) | np.array(0.5) | np.array([1, 2.0])
np.array([b, b]) | np.asarray([[1, 2], [3, 4]]) | np.array("abc") | np.array([1, None]) | np.asarray(b, device="cpu")
b.astype(int) | b.astype("f4") | b.astype(np.float64) | b.astype(float, copy=False) | b.astype(complex).astype(np.dtype("c8"))
b.astype("U5") | b.astype(object) | b.astype(np.float16) | a.astype(np.int8, order="F") | b.astype("i4", casting="safe")
b.dot(b) | a.dot(b[:6]) | a.T.dot(a) | b.dot(2.0) | b.dot(f) | b.dot(b[:3]) | b.clip(0.2, 0.5) | b.clip(b[::-1]) | b.clip(min=0.3)
b.take(i) | b.take([0, -1]) | b.repeat(2) | b.repeat(k) | b.searchsorted(0.5) | b.searchsorted(b[:3], "right")
b.ravel() | a.T.ravel() | a.T.ravel("F") | b.reshape(3, 4) | b.reshape((2, -1)) | a.T.reshape(12) | b.reshape(5, 5) | a.reshape(-1, order="F")
a.T | a.mT | a[:, None].T | a.swapaxes(0, 1) | a.transpose(1, 0) | a.squeeze() | a[:1].squeeze() | a.diagonal() | b.flatten() | b.copy()
b.item(3) | a.item(1, 2) | a.item((1, 2)) | b.item() | b[3].item() | b.tolist() | a.nonzero() | np.nonzero(a > 0.3) | np.where(a > 0.3)
np.transpose(a) | np.ravel(a) | np.reshape(a, (3, 4)) | np.fliplr(a) | np.flip(b) | np.squeeze(a) | np.expand_dims(b, 0) | np.atleast_2d(b)
np.swapaxes(a, 0, 1) | np.moveaxis(a, 0, 1) | np.broadcast_to(b, (2, 12)) | np.diag(a) | np.rot90(a) | np.split(b, 3) | np.diff(b, n=0)
np.add.reduce(b) | np.maximum.reduce(a) | np.add.reduce(a, 1) | np.add.accumulate(a, 0) | np.multiply.outer(b, b) | np.add.reduceat(b, k[:3])
np.add.reduce(a, 0, None, o6) | np.subtract.accumulate(b, 0, None, o) | np.add.reduce(a, axis=1, keepdims=True) | np.add.outer(s, 2)
np.add(b, b, out=o) | np.multiply(a, 2, out=a) | np.add(b[1:], b[:-1], b[:-1]) | np.sqrt(b, out=o) | np.add(b, 1j, out=o) | np.add(b, a, out=o)
np.divide(b, 3, out=f) | np.add(b, b, out=(o,)) | np.less(b, 0.5, out=o) | np.add(b, b, out=b[:3]) | np.negative(b, out=b[::-1])
np.sqrt(s) | np.sin(0.5) | np.exp(-s) | np.maximum(s, 0) | np.add(1, 2) | np.hypot(s, s) | np.floor(2.5) | np.sqrt(-1.0) | np.divmod(7, s)
np.add.at(b, k, 1.0) | np.add.at(b, [0, 0], b[:2]) | np.subtract.at(a, (0, slice(None)), 1) | np.negative.at(b, k) | np.add.at(b, 99, 1)
b.fill(3) | a[1].fill(s) | b.fill(1j) | b.fill("x") | b[::-1].sort() | a.sort(0) | a.sort(axis=None) | b.partition(4) | a.T.sort(kind="stable")
r.shuffle(b) | r.shuffle(a) | r.shuffle(a, axis=1) | r.shuffle(b[::2]) | r.permutation(b) | r.normal() | r.normal(size=3) | r.random((2, 3))
r.integers(0, 9, 4) | r.choice(b, 3) | r.uniform(0, b) | r.random(dtype=np.float32) | r.normal(s, 2, 3) | r.exponential(size=(2,))
g.shuffle(b) | g.normal(size=3) | g.rand(2, 3) | g.rand() | g.randint(0, 9, 4) | g.permutation(5)
a[k[:2], k[:2]] | a[k[:1], :] | b[k] | b[b > 0.5] | a[i, 0] | np.einsum("i,i->", b, b) | np.einsum("ij->ji", a) | np.lexsort((b, b))
b.dtype | a.T.dtype | s.dtype | len(a) | len(b[:0]) | len(b.sum(keepdims=True)[0]) | len(np.asarray(s)) | a.ndim | b[::2].size | np.asarray(s).shape
(b * 1j).real | (b * 1j).imag | b.real | b.imag | a[:, ::2].real | (a * 1j)[1].imag | (b > 0.5).real | f.imag | k.real | np.asarray(s).T | a[::2].mT
list(a) | [row.base is None for row in a] | list(a[:, ::-2]) | list(b) | list(a[None])[0] | list(np.asarray(s)) | next(iter(a))[2:] | [*a.T][3]
np.sqrt(b[::2], out=o[:6]) | np.sqrt(b, out=b) | np.sqrt(b, o) | np.sqrt(b, out=o[:3]) | np.sqrt(b, out=lock(o)) | np.sqrt(a, out=a.T) | np.sqrt(b, out=k)
np.sqrt(s, out=np.asarray(s)) | np.sqrt(2.0, out=o) | np.sqrt(b, out=None) | np.sqrt(b, out=(o,)) | np.sqrt(b, out=np.float64(1)) | np.sqrt(b, 1, out=o)
np.sqrt(b, out=o, where=b > 0.5) | np.isnan(b, out=o > 1) | np.abs(b * 1j, out=o) | np.sqrt(b[::-1], out=b) | np.sqrt(b[:4], out=a) | np.modf(b, out=(o, o))
np.add(b, b[::-1], out=b) | np.add(b, 2, out=lock(o)) | np.add(b, b, o) | np.add(b, out=o) | np.add(a, b[:6], out=a) | np.divmod(b, 2, out=(o, o))
np.sqrt() | np.sqrt(b, b, b) | np.add(b) | np.sqrt(x=b) | np.sqrt(sub(b)) | np.add(b, sub(b)) | np.sqrt(sub(b), out=o) | np.sqrt([1.0, 4.0]) | np.sqrt("a")
b.copy("F") | a.T.copy() | a.T.copy("A") | a.reshape((3, 4)) | a.reshape(3, 4, order="F") | a.reshape() | b.reshape(12, 1, 1, 1) | b.reshape([3, 4])
a.ravel("K") | a[:, ::2].ravel() | lock(b).ravel() | b.astype(None) | b.astype() | b.astype(b) | k.astype(bool) | b.astype("no") | a.T.astype(int).T
a.argmax(0) | a.any(1) | a.cumsum(1) | b.round(1) | a.trace(1) | a.swapaxes(0, 5) | a.take(b) | b.max(None, o[0:1].reshape(())) | a.sum(0, float)
np.empty_like(b).shape | np.zeros_like(a, int) | np.transpose(a, (1, 0)) | np.sort(a, 0) | np.sort(sub(b)) | np.argsort(b[::-1]) | np.ravel(s) | np.sum(s)
np.concatenate((b, b[::2])) | np.concatenate([a, a], 1) | np.concatenate((b, lock(b))) | np.concatenate(()) | np.concatenate((b, 1)) | np.concatenate(b)
np.concatenate(row(b, k)) | np.stack(row(b, b)) | np.hstack(row(a, a)[::-1]) | np.linalg.multi_dot(row(a, a.T)) | np.vstack(deque([a, a]))
np.linalg.multi_dot(deque([a, a.T])) | np.concatenate({1: a}.values()) | np.stack(v for v in a) | np.column_stack(row(b, k))
np.where(a > 0.5) | np.nonzero(b[::2] > 0.5) | np.nonzero(s) | np.where(b > 0.5, b, 0) | np.where(b > 0.5, 1) | np.transpose(lock(a)) | np.dot(b, 2)
np.zeros(3) | np.zeros((2, 3)) | np.zeros(3, int) | np.zeros(-1) | np.zeros("a") | np.zeros() | np.arange(5) | np.arange(1, 5) | np.arange(0, 1, 0.25)
np.arange() | np.arange(None) | np.arange(5, None) | np.arange(s) | np.linspace(0, 1, 5) | np.eye(2) | np.eye(2, 3) | np.full(3, 2) | np.full(3, b[0]) | np.ones(s)
np.asarray(b) | np.asarray(lock(b)).flags.writeable | np.asarray(3) | np.asanyarray(b) | np.asarray(None) | np.asarray() | np.array(b, copy=False)
r.random() | r.random(3) | r.random((2, 2)) | r.random(-1) | r.random("a") | r.normal(0.5) | r.normal(0, 1) | r.normal(0, 1, 3) | r.normal(0, -1, 3) | r.uniform(1, 2, 3)
r.integers(5) | r.integers(0, 9) | r.integers(0, 9, 4) | r.random(3, None) | r.random(size=3) | r.random(out=o) | r.choice(5, 3) | r.normal(b, 1) | r.permutation(5)
g.rand(3) | g.normal(0, 1, 4) | g.randn(2, 2) | g.random_sample(3) | g.choice(4, 2) | r.gamma(2.0, 1.0, 3) | r.shuffle(k) | [r.random() for _ in range(3)]
a @ b[:6] | a @ a.T | b @ b | b @ a | a @ 2 | 2 @ a | a @ sub(b[:6]) | a[:, ::2] @ b[:3] | (a > 0.5) @ k[:2].repeat(3) | a * b[:6] | b[:2, None] * a
np.sum(a, 0, None, o6) | np.cumsum(b, 0, None, o) | np.take(b, k, None, o[:4]) | np.clip(b, 0.2, 0.4, o) | np.concatenate((b, b), 0, f24)
"""
STATEMENTS = [call for line in CALLS.splitlines() for call in line.split(" | ")]


class Sub(real.ndarray):
    """A user's subclass of ndarray."""


def given(np: Any) -> dict[str, Any]:
    values = real.linspace(0.05, 0.95, 12)
    made = {
        "b": values, "a": values.reshape(2, 6) + 0, "f": values.astype("f4"), "o": values * 0, "o6": values[:6] * 0,
        "f24": real.zeros(24), "k": real.array([0, 1, 0, 1]), "i": real.array([1, 0]),
    }  # fmt: skip
    ours = {name: value if np is real else np.array(value) for name, value in made.items()}

    def lock(x: Any) -> Any:
        x.flags.writeable = False
        return x

    def row(*arrays: Any) -> Any:
        made = real.empty(len(arrays), object)
        for i, x in enumerate(arrays):
            made[i] = x
        return made

    def sub(x: Any) -> Any:
        return real.asarray(plain(x)).view(Sub)

    return {
        **ours,
        "np": np,
        "lock": lock,
        "row": row,
        "deque": deque,
        "sub": sub,
        "s": ours["b"][3],
        "r": np.random.default_rng(3),
        "g": np.random.RandomState(3),
    }


def answer(np: Any, statement: str) -> tuple[Any, dict[str, Any]]:
    names = given(np)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return eval(statement, names), names
    except Exception as error:
        return error, names


def plain(x: Any) -> Any:
    if isinstance(x, tuple | list):
        return type(x)(map(plain, x))
    return ad.to_numpy(x) if isinstance(x, ad.Array) else x


def same(ours: Any, numpys: Any) -> None:
    if isinstance(numpys, Exception):
        assert type(ours) is type(numpys), (ours, numpys)
        return
    assert not isinstance(ours, Exception), ours
    if isinstance(numpys, tuple | list):
        assert type(ours) is type(numpys)
        assert len(ours) == len(numpys)
        for one, other in zip(ours, numpys, strict=True):
            same(one, other)
        return
    if isinstance(numpys, real.ndarray):
        if type(numpys) is Sub:
            assert type(ours) is Sub
        else:
            assert isinstance(ours, ad.Array) == (numpys.dtype.kind in "biufc"), type(ours)
    else:
        assert type(ours) is type(numpys)
    found = plain(ours)
    assert real.asarray(found).dtype == real.asarray(numpys).dtype
    real.testing.assert_array_equal(found, numpys, strict=True)


@pytest.fixture(scope="module", params=loader.available())
def np(request: pytest.FixtureRequest) -> Iterator[Any]:
    before = ad.default_backend().name
    ad.use(request.param)
    settings.default.min_size = LIMIT
    try:
        with Activation(UserFiles([str(HERE)])):
            import numpy

            yield numpy
    finally:
        settings.default.min_size = 0
        ad.use(before)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_call_is_numpys(np: Any, statement: str) -> None:
    made, names = answer(np, statement)
    expected, numpys = answer(real, statement)
    same(made, expected)
    arrays = [name for name, value in numpys.items() if isinstance(value, real.ndarray)]
    for name in arrays:  # what was written
        same(names[name], numpys[name])
    if isinstance(expected, real.ndarray) and isinstance(made, ad.Array):
        assert made.flags.writeable == expected.flags.writeable
        assert made.flags.c_contiguous == expected.flags.c_contiguous
        assert [made is names[name] for name in arrays] == [expected is numpys[name] for name in arrays]
        if expected.flags.writeable:
            made[...] = 7
            expected[...] = 7
            for name in arrays:  # what it is a view of
                same(names[name], numpys[name])


WRITES = (
    "np.add(row, 1, out=row)", "np.add.at(row, [0], 5)", "row.fill(0)", "row.sort()", "row[::-1].sort()", "r.shuffle(row)",
    "row[:2].fill(9)", "np.sum(np.ones((3, 30)), 0, None, row)", "np.add.reduce(np.ones((3, 30)), 0, None, row)",
    "np.negative(row[::-1], out=row[::-1])", "row.partition(3)", "np.asarray(row).fill(4)",
)  # fmt: skip


@pytest.mark.parametrize("statement", WRITES)
def test_what_is_pending_reads_before_a_write(np: Any, statement: str) -> None:
    settings.set_execution("fused")
    try:
        found = []
        for module in (np, real):
            row = module.array(real.linspace(1.0, 0.0, 30))
            names = {"np": module, "row": row, "r": module.random.default_rng(1)}
            table = module.ones((40, 30)) * 2 + row  # reads the row, perhaps later
            eval(statement, names)
            found.append((plain(table), plain(row)))
    finally:
        settings.set_execution(None)
    for ours, numpys in zip(*found, strict=True):
        real.testing.assert_array_equal(ours, numpys)
