"""Selecting and replacing by position, and the engine of ``a[key]`` by itself, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.functions.indexing import getitem, setitem

from .. import oracle
from ..rows import each

CASES: dict[Any, list[str]] = {
    np.take: [
        "np.take(f34, 2)",
        "np.take(f34, [0, -1])",
        "np.take(f34, k5, axis=0)",
        "np.take(f34, k5, axis=-1)",
        "np.take(f34, [[0, 1], [2, 3]], axis=1)",
        "np.take(f34, 12)",
        "np.take(f34, [5], axis=1)",
        "np.take(f34, [5, -9], axis=1, mode='wrap')",
        "np.take(f34, [5, -9], axis=1, mode='clip')",
        "np.take(f34, [0], mode='bad')",
        "np.take(f34, f5)",
        "np.take(f34, [])",
        "np.take(f34, b5)",
        "np.take(f34, 1, axis=0)",
        "np.take(e0, [0])",
        "np.take(e0, [], mode='clip')",
        "np.take(f34, k5, axis=2)",
        "np.take(f34, u34)",
        "np.take(f0, 0)",
        "np.take(f34, 0, axis=0, out=np.zeros_like(f34[0]))",
    ],
    np.take_along_axis: [
        "np.take_along_axis(f34, np.argsort(f34, axis=1), axis=1)",
        "np.take_along_axis(f34, np.argsort(f34, axis=0), axis=0)",
        "np.take_along_axis(f34, k5, axis=None)",
        "np.take_along_axis(f34, i34[:, :1] * 0 - 1, axis=1)",
        "np.take_along_axis(f34, i34[:1, :1] * 0 + 2, axis=1)",
        "np.take_along_axis(f34, f34, axis=1)",
        "np.take_along_axis(f34, i34 * 0 + 9, axis=1)",
        "np.take_along_axis(f34, k5, axis=1)",
        "np.take_along_axis(f34, [0], axis=1)",
        "np.take_along_axis(f34, i34 * 0, axis=3)",
        "np.take_along_axis(f34[:, :1], i34 * 0, axis=0)",
        "np.take_along_axis(f34, i34, axis=None)",
        "np.take_along_axis(f34, np.argsort(f34))",
    ],
    np.put: [
        "[np.put(f34, [0, 5], [7, 8]), f34]",
        "[np.put(f34, [0, -1, 3], 9), f34]",
        "[np.put(f34, [20], 1), f34]",
        "[np.put(f34, [20, -20], 1, mode='wrap'), f34]",
        "[np.put(f34, [20, -20], [1, 2], mode='clip'), f34]",
        "[np.put(f34, [1, 2, 3], [5, 6]), f34]",
        "[np.put(i34, [0], 2.7), i34]",
        "[np.put(f34, [0], []), f34]",
        "[np.put(f34, k5, f5), f34]",
        "[np.put(ft34, [1], 5), ft34]",
        "[np.put(f34, i5, i5), f34]",
        "[np.put(f34.T, [1], 5), f34]",
        "[np.put(f34, 3, 1j), f34]",
    ],
    np.put_along_axis: [
        "[np.put_along_axis(f34, np.argsort(f34, axis=1), i34, axis=1), f34]",
        "[np.put_along_axis(f34, np.argmax(f34, axis=1, keepdims=True), 99, axis=1), f34]",
        "[np.put_along_axis(f34, k5[:3], 7, axis=None), f34]",
        "[np.put_along_axis(f34, i34 * 0 + 9, 1, axis=1), f34]",
        "[np.put_along_axis(f34, f34, 1, axis=1), f34]",
        "[np.put_along_axis(f34, k5, 1, axis=0), f34]",
        "[np.put_along_axis(i34, i34[:1] * 0, 1.9, axis=0), i34]",
    ],
    np.place: [
        "[np.place(f34, m34, [1, 2, 3]), f34]",
        "[np.place(f34, m34, 5), f34]",
        "[np.place(f34, m34, []), f34]",
        "[np.place(f34, m34[0], 1), f34]",
        "[np.place(i34, i34 > 0, [1.5, 2.5]), i34]",
        "[np.place(f34, f34 > 99, []), f34]",
        "[np.place(f34, i34, f5), f34]",
    ],
    np.putmask: [
        "[np.putmask(f34, m34, 0), f34]",
        "[np.putmask(f34, m34, [1, 2, 3]), f34]",
        "[np.putmask(f34, f34 > 1, f34 ** 2), f34]",
        "[np.putmask(f34, m34[0], 1), f34]",
        "[np.putmask(i34, i34 > 0, 2.7), i34]",
        "[np.putmask(f34, m34, e0), f34]",
        "[np.putmask(f34, i34, -f34), f34]",
    ],
    np.choose: [
        "np.choose(k5, [f5, i5, 0])",
        "np.choose(k5, [1, 2])",
        "np.choose(k5, [1, 2], mode='wrap')",
        "np.choose(k5, [1, 2.5], mode='clip')",
        "np.choose(k5, f34[:, :1])",
        "np.choose(f5, [1, 2])",
        "np.choose(i0 - 3, [f34, 1])",
        "np.choose(k5 % 2, [g34[0, 0], 1])",
        "np.choose(k5, [f5, f6, 0])",
        "np.choose(k5 - 1, [1, 2, 3])",
        "np.choose([0, 1], [f5[:2], i5[:2]])",
        "np.choose(b5, [f5, -f5])",
    ],
    np.compress: [
        "np.compress(b5, f5)",
        "np.compress([True, False, True], f34, axis=0)",
        "np.compress([0, 1], f34, axis=1)",
        "np.compress([1, 0, 1], f34)",
        "np.compress([1] * 5, f34, axis=1)",
        "np.compress(m34, f34)",
        "np.compress([True], f34, axis=2)",
        "np.compress([1, 0, 1, 1, 0], f34, axis=1)",
        "np.compress([0] * 9, f34, axis=1)",
    ],
    np.extract: [
        "np.extract(m34, f34)",
        "np.extract(i34, f34)",
        "np.extract(f34 > 99, f34)",
        "np.extract([True, False], f34)",
        "np.extract(b5, i5)",
    ],
    np.diag_indices_from: [
        "np.diag_indices_from(sq33)",
        "np.diag_indices_from(f34)",
        "np.diag_indices_from(f5)",
    ],
    np.fill_diagonal: [
        "[np.fill_diagonal(sq33, 5), sq33]",
        "[np.fill_diagonal(f34, [1, 2, 3]), f34]",
        "[np.fill_diagonal(f34, [1, 2]), f34]",
        "[np.fill_diagonal(f34.T, 7), f34]",
        "[np.fill_diagonal(f34, f5), f34]",
        "[np.fill_diagonal(f5, 1), f5]",
        "[np.fill_diagonal(f234, 1), f234]",
        "(lambda a: [np.fill_diagonal(a, 4, wrap=True), a])(np.zeros_like(f34, shape=(7, 2)))",
        "(lambda a: [np.fill_diagonal(a, 4), a])(np.zeros_like(f34, shape=(7, 2)))",
        "(lambda a: [np.fill_diagonal(a, 4), a])(np.zeros_like(i34, shape=(2, 2, 2)))",
    ],
    np.tril_indices_from: [
        "np.tril_indices_from(sq33)",
        "np.tril_indices_from(f34, 1)",
        "np.tril_indices_from(f5)",
    ],
    np.triu_indices_from: [
        "np.triu_indices_from(sq33)",
        "np.triu_indices_from(f34, k=-1)",
    ],
    np.ix_: [
        "np.ix_(k5, [0, 1])",
        "np.ix_(b5, i5)",
        "np.ix_(f34)",
        "np.ix_(i5)",
        "np.ix_(e0, i5)",
        "np.ix_([], i5)",
    ],
    np.unravel_index: [
        "np.unravel_index(k5, (3, 4))",
        "np.unravel_index(i0, (3, 4))",
        "np.unravel_index(i5, (2, 3), order='F')",
        "np.unravel_index(i5, (2, 2))",
        "np.unravel_index(f5, (3, 4))",
        "np.unravel_index(-i5, (9,))",
        "np.unravel_index(i5, 9)",
        "np.unravel_index(i5, (3, 4), order='Q')",
        "np.unravel_index(np.argmax(f34), f34.shape)",
    ],
    np.ravel_multi_index: [
        "np.ravel_multi_index((k5, k5), (3, 4))",
        "np.ravel_multi_index((k5, i5), (3, 9), order='F')",
        "np.ravel_multi_index((k5, i5), (3, 3))",
        "np.ravel_multi_index((k5, i5), (3, 3), mode='wrap')",
        "np.ravel_multi_index((k5, k5), (3, 0), mode='wrap')",
        "np.ravel_multi_index((k5, k5), (0, 3), mode='clip')",
        "np.ravel_multi_index((k5[:0], k5[:0]), (0, 3), mode='clip')",
        "np.ravel_multi_index((k5, i5), (3, 3), mode=('raise', 'clip'))",
        "np.ravel_multi_index((f5, i5), (3, 3))",
        "np.ravel_multi_index((i0, 1), (5, 5))",
        "np.ravel_multi_index((k5,), (3, 3))",
        "np.ravel_multi_index(np.stack([k5, k5]), (3, 4))",
    ],
}


@each("expression", CASES)
def test_as_numpy(backend: str, expression: str) -> None:
    oracle.check(expression, backend)


# -- the engine of a[key], by itself ---------------------------------------------------------------------------------


def _random_slice(random: Random, n: int) -> slice:
    bounds = [None, *range(-n - 1, n + 2)]
    return slice(random.choice(bounds), random.choice(bounds), random.choice([None, 1, 2, -1, -2, 3, -3]))


def _random_index(random: Random, rng: np.random.Generator, n: int, lengths: tuple[int, ...]) -> Any:
    """An index array of one of a few shapes, sometimes out of bounds, as an ndarray or a list."""
    shape = random.choice([lengths, lengths[-1:], (1,)])
    index = rng.integers(-n, max(n, 1 - n), shape) + (random.random() < 0.05)
    return index.tolist() if random.random() < 0.3 else index.astype(random.choice([np.int64, np.int32, np.int8]))


def _random_key(random: Random, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    lengths = random.choice([(), (2,), (3,), (1,), (2, 1), (2, 3), (0,)])
    key: list[Any] = []
    axis = 0
    for _ in range(random.randint(1, len(shape) + 2)):
        kind = random.random()
        if axis >= len(shape) and kind < 0.8:  # a few keys have too many indices
            continue
        n = shape[axis] if axis < len(shape) else 2
        if kind < 0.25:
            key.append(_random_slice(random, n))
            axis += 1
        elif kind < 0.4:
            key.append(random.randint(-n, n if random.random() < 0.1 else max(n - 1, -n)))
            axis += 1
        elif kind < 0.65:
            key.append(_random_index(random, rng, n, lengths))
            axis += 1
        elif kind < 0.75:
            masked = shape[axis : axis + random.randint(1, max(1, len(shape) - axis))]
            wrong = int(random.random() < 0.05)
            key.append(rng.random([m + wrong for m in masked]) < 0.5)
            axis += len(masked)
        elif kind < 0.85:
            key.append(None)
        elif kind < 0.93:
            key.append(Ellipsis)  # sometimes a second one, which is an error
        elif kind < 0.96:
            key.append(random.choice([True, False]))
        else:
            key.append(random.choice([1.5, "a", [], np.array([1.0])]))
    return key[0] if len(key) == 1 and random.random() < 0.7 else tuple(key)


def _outcome(run: Callable[..., Any], *args: Any) -> Any:
    try:
        return run(*args)
    except (IndexError, ValueError, TypeError) as error:
        return error


def _written(a: np.ndarray[Any, Any], key: Any, value: Any) -> np.ndarray[Any, Any]:
    a = a.copy()
    a[key] = value
    return a


def _assert_same(ours: Any, theirs: Any, where: str, same_error: bool) -> None:
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), f"{where}: NumPy raises {theirs!r}"
        assert not same_error or isinstance(ours, type(theirs)), f"{where}: {ours!r} for {theirs!r}"
    else:
        if isinstance(ours, Exception):
            raise AssertionError(f"{where}: we raise") from ours
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), where
        np.testing.assert_array_equal(ours, theirs, err_msg=where)


def _native(xp: Any, key: Any) -> Any:
    """The key with its ndarrays as native arrays."""
    if isinstance(key, tuple):
        return tuple(_native(xp, k) for k in key)
    return xp.backend.from_numpy(key) if isinstance(key, np.ndarray) and key.dtype.kind in "iub" else key


# Compiling each new shape makes thousands of random keys slow where the library compiles.
@pytest.mark.parametrize(("name", "count"), [("numpy", 3000), ("torch", 1500)])
def test_engine_on_random_keys(name: str, count: int) -> None:
    if name not in ad.available_backends():
        pytest.skip(f"{name} is not installed")
    with ad.backend(name) as backend:
        xp = backend.xp
    random, rng = Random(11), np.random.default_rng(11)
    for i in range(count):
        shape = tuple(random.choice([1, 2, 3, 4]) for _ in range(random.randint(1, 4)))
        a = rng.integers(0, 100, shape).astype(random.choice([np.float64, np.int64, np.float32]))
        key = _random_key(random, rng, shape)
        given = _native(xp, key) if i % 2 else key
        where = f"shape {shape}, key {key!r}"
        read = _outcome(lambda x, k: np.asarray(x[k]), a, key)
        got = _outcome(getitem, xp, backend.from_numpy(a.copy()), given)
        _assert_same(_on_host(xp, got), read, where, same_error=True)
        if isinstance(read, Exception) or not read.shape:
            continue
        fits = tuple(random.choice([1, n]) for n in read.shape[random.randint(0, read.ndim) :])
        value = rng.integers(100, 200, random.choice([(), read.shape, fits, tuple(n + 1 for n in read.shape)]))
        ours = _outcome(setitem, xp, backend.from_numpy(a.copy()), given, backend.from_numpy(value))
        theirs = _outcome(_written, a, key, value)
        _assert_same(_on_host(xp, ours), theirs, f"{where}, value {value!r}", same_error=False)


def _on_host(xp: Any, x: Any) -> Any:
    return x if isinstance(x, Exception) else xp.backend.to_numpy(x)


_KEYS = [
    ("f34", "k5"), ("f34", "m34"), ("f34", "(k5, k5)"), ("f34", "[0, 2]"), ("f34", "m34[:, 0]"), ("f5", "b5"),
    ("f234", "([0, 1], k5[:2])"), ("f34", "(k5[:, None], [0, 1])"), ("f234", "(..., k5)"), ("f34", "i5"),
    ("f34", "f5"), ("f34", "b5"), ("f234", "([0, 1], None, 1, [[2], [3]])"), ("f5", "(k5, k5)"), ("i34", "(m34, None)"),
    ("f34", "(True, k5)"), ("u34", "(k5, -1)"), ("b34", "np.argsort(f34[:, 0])"), ("c34", "m34"), ("h34", "k5"),
]  # fmt: skip


@each("name, key", _KEYS)
def test_keys_of_arrays(backend: str, name: str, key: str) -> None:
    oracle.check(f"{name}[{key}]", backend)
    oracle.check(f"[{name}.__setitem__({key}, 7), {name}]", backend)
