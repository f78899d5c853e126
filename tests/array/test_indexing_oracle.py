"""Every kind of key and every mixture of two kinds, on ranks 0 to 4, read and written: NumPy is the oracle.

Compared are value, dtype, shape, array or scalar, view or copy, and the exception's type; an array is unchanged after an
error. The table is walked in few tests, as one test for each of its thousands of keys would take longer to set up than to
run. JAX compiles a kernel for each new shape, so there a run takes some keys, others each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

SHAPES: dict[int, tuple[int, ...]] = {0: (), 1: (3,), 2: (3, 2), 3: (2, 3, 2), 4: (2, 3, 2, 2)}

Drawn = Callable[..., list[Any]]
Item = Callable[[tuple[int, ...]], Any]
"""From the lengths of the axes that are left, the item of a key; an ndarray stands for an index array."""


def _mask(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.arange(int(np.prod(shape))).reshape(shape) % 2 == 0


def _n(left: tuple[int, ...]) -> int:
    return left[0] if left else 1


KINDS: dict[str, tuple[Item, int]] = {  # the item, and how many axes it takes
    "whole slice": (lambda left: slice(None), 1),
    "slice": (lambda left: slice(1, None), 1),
    "step": (lambda left: slice(None, None, 2), 1),
    "negative step": (lambda left: slice(None, None, -1), 1),
    "negative step of 2": (lambda left: slice(-1, None, -2), 1),
    "empty slice": (lambda left: slice(2, 1), 1),
    "slice beyond": (lambda left: slice(-9, 9), 1),
    "integer": (lambda left: 1, 1),
    "NumPy integer": (lambda left: np.int32(0), 1),
    "negative": (lambda left: -1, 1),
    "newaxis": (lambda left: None, 0),
    "ellipsis": (lambda left: ..., 0),
    "rank 0": (lambda left: np.array(1), 1),
    "rank 1": (lambda left: np.array([1, 0, -1]), 1),
    "rank 1 of uint8": (lambda left: np.array([0, 1], np.uint8), 1),
    "rank 1, one": (lambda left: np.array([0]), 1),
    "rank 2": (lambda left: np.array([[0, 1], [-1, 0]]), 1),
    "list": (lambda left: [0, 1, 1], 1),
    "empty list": (lambda left: [], 1),
    "mask": (lambda left: _mask(left[:1]), 1),
    "mask of rank 2": (lambda left: _mask(left[:2]), 2),
    "no true": (lambda left: np.zeros(left[:1], bool), 1),
    "list of bools": (lambda left: [True] * _n(left), 1),
    "True": (lambda left: True, 0),
    "False": (lambda left: np.bool_(False), 0),
    "bool of rank 0": (lambda left: np.array(True), 0),
    "out of range": (lambda left: 3, 1),
    "negative out of range": (lambda left: -4, 1),
    "array out of range": (lambda left: np.array([0, 5]), 1),
    "array negative out of range": (lambda left: np.array([-7, 0]), 1),
    "mask too long": (lambda left: np.ones(_n(left) + 1, bool), 1),
    "mask of length 0": (lambda left: np.zeros(0, bool), 1),
    "float": (lambda left: 1.0, 1),
    "array of floats": (lambda left: np.array([0.0, 1.0]), 1),
    "string": (lambda left: "a", 1),
    "unmatched": (lambda left: np.array([0, 1, 0, 1, 0]), 1),
}


def singles(rank: int) -> Iterator[tuple[str, Any]]:
    """Each kind alone: as the key, and in a tuple."""
    for name, (item, _) in KINDS.items():
        made = item(SHAPES[rank])
        yield name, made
        yield f"({name},)", (made,)


def pairs(rank: int) -> Iterator[tuple[str, Any]]:
    """Each mixture of two: side by side, and from rank 3 on with a slice between them."""
    shape = SHAPES[rank]
    for first, (one, taken) in KINDS.items():
        for second, (other, _) in KINDS.items():
            yield f"({first}, {second})", (one(shape), other(shape[taken:]))
            if rank >= 3:
                yield f"({first}, :, {second})", (one(shape), slice(None), other(shape[taken + 1 :]))


def start(rank: int) -> np.ndarray[Any, Any]:
    """Different numbers."""
    shape = SHAPES[rank]
    return np.arange(10.0, 10.0 + int(np.prod(shape))).reshape(shape)


def _ours(key: Any, backend: str, which: int) -> Any:
    """The key with its index arrays as they are, or every other one as an array of the backend."""
    if isinstance(key, tuple):
        return tuple(_ours(k, backend, which + i) for i, k in enumerate(key))
    return ad.asarray(key, backend=backend) if isinstance(key, np.ndarray) and which % 2 else key


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns or raises."""
    try:
        return call()
    except Exception as error:
        return error


def _same_error(ours: Any, theirs: Any) -> bool:
    return isinstance(ours, Exception) and isinstance(theirs, Exception) and type(ours) is type(theirs)


def read(x: np.ndarray[Any, Any], a: ad.Array, key: Any, ours: Any) -> str | None:
    """What differs between ``x[key]`` and ours."""
    theirs, found = outcome(lambda: x[key]), outcome(lambda: a[ours])
    if isinstance(theirs, Exception) or isinstance(found, Exception):
        return None if _same_error(found, theirs) else f"{found!r}, NumPy: {theirs!r}"
    if isinstance(theirs, np.ndarray) != isinstance(found, ad.Array):
        return f"a {type(found)}, NumPy: a {type(theirs)}"
    if found.dtype != theirs.dtype or found.shape != theirs.shape:
        return f"{found.dtype}{found.shape}, NumPy: {theirs.dtype}{theirs.shape}"
    if not np.array_equal(np.asarray(found), theirs):
        return f"{found!r}, NumPy: {theirs!r}"
    if isinstance(theirs, np.ndarray):
        if np.shares_memory(found, a) != np.shares_memory(theirs, x):
            return f"shares memory: {np.shares_memory(found, a)}, NumPy: {np.shares_memory(theirs, x)}"
        moves = [(s, t) for n, s, t in zip(theirs.shape, found.strides, theirs.strides) if n > 1 and s != t]
        if np.shares_memory(theirs, x) and (found.base is None or moves):
            return f"base {found.base is not None}, strides {found.strides}, NumPy: {theirs.strides}"
    return None


def _values(x: np.ndarray[Any, Any], key: Any) -> Iterator[tuple[str, Any]]:
    """What is assigned: a scalar, values that broadcast, values that do not fit."""
    yield "a scalar", 7
    target = outcome(lambda: x[key])
    shape = np.shape(target) if not isinstance(target, Exception) else ()
    yield "values", -np.arange(1, 1 + int(np.prod(shape))).reshape(shape)
    yield "a broadcast value", np.array([0.5]) if not shape else np.arange(shape[-1])[None] - 0.5
    yield "a wrong shape", np.ones((*shape[:-1], shape[-1] + 2) if shape else (2,))


def written(rank: int, backend: str, key: Any, ours: Any, which: int) -> str | None:
    """What differs after ``x[key] = value``, for each kind of value."""
    for i, (name, value) in enumerate(_values(start(rank), key)):
        x, a = start(rank), ad.asarray(start(rank), backend=backend)
        given = ad.asarray(value, backend=backend) if isinstance(value, np.ndarray) and (which + i) % 2 else value
        theirs, found = outcome(partial(x.__setitem__, key, value)), outcome(partial(a.__setitem__, ours, given))
        both = isinstance(theirs, Exception) and isinstance(found, Exception)
        if not both and (isinstance(theirs, Exception) or isinstance(found, Exception)):
            return f"= {name}: {found!r}, NumPy: {theirs!r}"
        # Where the index is wrong and the value as well, NumPy says one or the other.
        if both and not _same_error(found, theirs) and (name != "a wrong shape" or not _either(found, theirs)):
            return f"= {name}: {found!r}, NumPy: {theirs!r}"
        if not np.array_equal(ad.to_numpy(a), x):
            return f"= {name} leaves\n{a!r}, NumPy:\n{x!r}"
    return None


def _either(ours: Exception, theirs: Exception) -> bool:
    return {type(ours), type(theirs)} == {IndexError, ValueError}


def walk(keys: Iterable[tuple[int, tuple[str, Any]]], rank: int, backend: str) -> None:
    """Read and write each key; every difference is shown."""
    different = []
    with ad.backend(backend), ad.fallback("error"):
        x, a = start(rank), ad.asarray(start(rank), backend=backend)
        for which, (name, key) in keys:
            ours = _ours(key, backend, which)
            looks = (read(x, a, key, ours), written(rank, backend, key, ours, which))
            different += [f"x{list(SHAPES[rank])}[{name}] {found}" for found in looks if found is not None]
        np.testing.assert_array_equal(ad.to_numpy(a), x, err_msg="changed by reading")
    assert not different, "\n".join([f"{len(different)} keys differ on {backend}:", *different[:40]])


@pytest.mark.parametrize("rank", SHAPES)
def test_every_kind_of_key(backend: str, rank: int, drawn: Drawn) -> None:
    walk(drawn(enumerate(singles(rank)), backend, 12), rank, backend)


@pytest.mark.traces(2)
@pytest.mark.parametrize("rank", SHAPES)
def test_every_mixture_of_two_kinds(backend: str, rank: int, drawn: Drawn) -> None:
    walk(drawn(enumerate(pairs(rank)), backend, 20 * 2**rank), rank, backend)
