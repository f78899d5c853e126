"""Writes to parts of pending arrays, recorded: NumPy's bits, views that see each other, and one block for a row of updates."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np
import pytest

from arraydispatch.api import creation
from arraydispatch.array import Array
from arraydispatch.engine.host_blocks import cells
from arraydispatch.engine.nodes import Node, PendingView
from arraydispatch.engine.recording import tape

pytestmark = pytest.mark.usefixtures("fused")

KEYS = (
    "1:", ":-1", "::2", "1::3", "5:6", "3", "-1", "...", ":, 1:", "1:-1, 1:-1", "::2, 1::2", "2, 3:", ":, 4", "..., 0", "1:, ..., :-1",
    "100:", "1:1", "::-1", ":, ::-1", "2, 3", "None", "70", "-71", "::0",
    "1.0:", "True:", "True", "1.0", "[1]:", "...", "np.int64(1):", "np.int64(1)", "..., ...",
)  # fmt: skip
SHAPES = ((5000,), (70, 61), (61, 7, 11), (3, 2000), (1, 3000), (700, 1))


def values(shape: tuple[int, ...], dtype: str = "float64", seed: int = 3) -> np.ndarray[Any, Any]:
    return (np.random.default_rng(seed).normal(size=shape) * 50).astype(dtype)


def both(body: Callable[..., Any], *given: np.ndarray[Any, Any]) -> None:
    """Hold what a program makes of arrays against what it makes of ndarrays."""

    def outcome(*arrays: Any) -> Any:
        try:
            made = body(*arrays)
        except Exception as error:
            return type(error), str(error)
        parts = made if isinstance(made, tuple) else (made,)
        host = [np.array(part.__array__(), order="K") if isinstance(part, Array) else part for part in parts]
        return [(x.dtype, x.shape, x.tobytes()) for x in map(np.asarray, host)]

    expected = outcome(*[x.copy("K") for x in given])
    assert outcome(*[creation.array(x, order="K") for x in given]) == expected


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("key", KEYS)
def test_any_part_of_any_shape(shape: tuple[int, ...], key: str) -> None:
    here: dict[str, Any] = {"np": np}
    exec(
        f"""
def by_scalar(u, v):
    out = u * 2
    out[{key}] -= 3
    out[{key}] = 7.5
    out[{key}] *= out[{key}] + 1
    return out, out.sum()
def by_arrays(u, v):
    out = 4 * u
    out[{key}] -= v[{key}]
    out[{key}] += v[{key}].copy()
    return out + v
def by_broadcast(u, v):
    out = 4 * u
    out[{key}] -= v[{key}][..., :1]
    out[{key}] = v[{key}][0]
    return out * 2
def kept(u, v):
    out = u + v
    part = out[{key}]
    out *= 2
    part += 1
    again = part * 2
    out[{key}] -= 1
    return out, part, again
""",
        here,
    )
    for name in ("by_scalar", "by_arrays", "by_broadcast", "kept"):
        both(here[name], values(shape), values(shape, seed=4))


def laplacian(u: Any) -> Any:
    out = 4 * u
    out[1:] -= u[:-1]
    out[:-1] -= u[1:]
    out[:, 1:] -= u[:, :-1]
    out[:, :-1] -= u[:, 1:]
    return out


def of_pending(u: Any, v: Any) -> Any:
    w = u + v
    found = laplacian(w)
    return found, w, (found * w).sum()


def of_itself(u: Any, v: Any) -> Any:
    w = u + v
    w[1:] -= w[:-1]
    w[:, :-1] += w[:, 1:]
    w[:2] += w[0]
    w[...] -= w
    w += 1
    w[1:] *= w[-1]
    return w


def twice(u: Any, v: Any) -> Any:
    for _ in range(3):
        r = laplacian(u) - v
        s = (r * r).sum()
        u = u - r / s
    return u, s


def read_between(u: Any, v: Any) -> Any:
    out = u * 2
    before = out + 1
    out[1:] -= v[1:]
    between = out * 3
    out[:, 2:] += v[:, 2:]
    return before, between, out, out.sum(axis=1)


def boundaries(u: Any, v: Any) -> Any:
    for _ in range(3):
        u = u + 0.1 * v
        u[0] = 0
        u[-1] = u[-2]
        u[:, 0] = u[:, 1]
        u[:, -1] = 1
    return u


def red_and_black(u: Any, v: Any) -> Any:
    u = u * 1.5
    for _ in range(2):
        for i in (0, 1):
            u[1 + i : -1 : 2, 1:-1:2] = 0.5 * (v[1 + i : -1 : 2, 1:-1:2] + u[i:-2:2, 1:-1:2])
            u[i::2] *= 2
    return u


def view_of_view(u: Any, v: Any) -> Any:
    w = u * v
    part = w[1:]
    part[:, 1:] += 1
    inner = part[2:][:, 3:]
    inner -= v[3:, 3:]
    return w, part, inner


def reshaped_meanwhile(u: Any, v: Any) -> Any:
    w = u * v
    part = w[2:4]
    w.shape = (w.size,)
    w += 1
    part += 1
    return w, part


def copied_meanwhile(u: Any, v: Any) -> Any:
    w = u - v
    part = w[3:]
    w = w + 1
    part *= 2
    w[3:] -= part
    return w, part


def rows_summed(u: Any, v: Any) -> Any:
    w = u - v
    w[1:-1] += v[1:-1]
    w[1:, 1:] -= w.sum(axis=1, keepdims=True)[1:]
    return w - w.max(axis=1, keepdims=True)


def rolled(u: Any, v: Any) -> Any:
    w = u - v
    w[1:] += v[:-1]
    w = np.roll(w, 1, 0) + w
    w[:-1] *= 2
    return w


def into_a_place(u: Any, v: Any) -> Any:
    w = u * 2
    w[1:] -= u[:-1]
    v[...] = w
    u[1:-1] += w[1:-1]
    v[2:] = w[2:]
    return u, v, w


def of_a_new_array(u: Any, v: Any) -> Any:
    out = np.zeros_like(u)
    out[1:] += v[1:]
    held = out[:-1]
    out[:-1] += u[1:]
    out[:, 1:] -= u[:, :-1]
    held *= 2
    return out, held


def shifted_in_place(u: Any, v: Any) -> Any:
    w = u + 1
    x = v * w
    x[1:] -= w[:-1]
    w[:-1] = x[1:]
    w[0, :5] = 3
    return w, x


def by_its_own_part(u: Any, v: Any) -> Any:
    whole = u[:]
    whole += whole.sum()
    u -= whole  # which ends the block that both come from
    w = v * 2
    part = w[1:]
    w *= part.sum()
    part += 1
    w[:] -= w[:1]
    return u, whole, w, part


PROGRAMS = (
    of_pending, of_itself, twice, read_between, boundaries, red_and_black, view_of_view, reshaped_meanwhile, copied_meanwhile,
    rows_summed, rolled, into_a_place, of_a_new_array, shifted_in_place, by_its_own_part,
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "complex128"])
@pytest.mark.parametrize("shape", [(70, 61), (300, 8)], ids=str)
def test_programs(program: Callable[..., Any], dtype: str, shape: tuple[int, ...]) -> None:
    both(program, values(shape, dtype), values(shape, dtype, 5) + 1)


@pytest.mark.parametrize(
    "write",
    [
        "w[1:] += v", "w[1:] += v[:, :3]", "w[1:] = v", "w[:, 80:] = 1", "w[90] = 1", "w[1:] -= 1j", "w[1:] = 1j", "w[0] = 'x'", "w[0] = None",
        "w[1:] += None", "w[0] = [1, 2]", "w[1:] = v[1:].astype('float32')", "w[1:] //= v[1:]", "w[1:] **= 2", "w[1:] /= v[1:] * 0",
        "w[1:] += np.float32(2)", "w[1:] = np.float64(2)", "w[1:] = True", "w[1:] = 10**30", "w[1:] @= v", "w[v > 0] = 1", "w[[1, 2]] = 5",
        "w[1:] |= v[1:]", "w[1:] <<= 1", "w[1:] = v[1:]", "np.add(w[1:], 1, out=w[1:])", "w[1:] = w[:-1]", "w[0] = w[1] + w[2]",
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["float64", "int32", "bool"])
def test_what_numpy_says_of_them(write: str, dtype: str) -> None:
    def body(u: Any, v: Any) -> Any:
        w = u & v if dtype == "bool" else u * v
        exec(write, {"w": w, "v": v, "np": np})
        return w

    given = values((70, 61)), values((70, 61), seed=5)
    with np.errstate(all="ignore"):
        both(body, *[x > 0 if dtype == "bool" else x.astype(dtype) for x in given])


def test_errors_are_told_of_the_line() -> None:
    def body(v: Any, zeros: Any) -> Any:
        w = abs(v) + 1
        w[1:] /= zeros[1:]
        w[0] -= 1
        return w.sum()

    for make in (lambda x: x, creation.array):
        with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide") as told:
            body(make(values((70, 61))), make(np.zeros((70, 61))))
        assert {each.lineno for each in told if "zero" in str(each.message)} == {body.__code__.co_firstlineno + 2}


@pytest.mark.parametrize("fused", ["threads"], indirect=True)
def test_a_row_of_updates_is_one_block() -> None:
    found = laplacian(creation.array(values((70, 61))) * 2)
    assert type(found._v) is Node
    assert len(tape.mine().nodes) == 6
    part = found[3:]
    assert type(part._v) is PendingView
    assert (part.shape, part.ndim, part.size, len(part)) == ((67, 61), 2, 67 * 61, 67)
    assert type(found._v) is Node


def test_a_view_is_made_when_its_root_has_a_value() -> None:
    w = creation.array(values((70, 61))) * 2
    part = w[3:]
    assert type(part._v) is PendingView
    w.sum()
    assert type(part._v) is np.ndarray
    assert part.base is w
    assert np.shares_memory(part.__array__(), w.__array__())


def test_what_nobody_has_any_more_is_gone() -> None:
    w = creation.array(values((70, 61))) * 2
    part = w[3:]
    part += 1
    w[:2] *= 2
    gone = [ref(w), ref(part)]
    assert type(part._v) is PendingView
    del w, part
    assert all(each() is None for each in gone)


def test_another_thread_writes_over_a_pending_array() -> None:
    w = creation.array(values((70, 61))) * 2
    part = w[3:]
    expected = values((70, 61)) * 2 - 1

    def write() -> None:
        nonlocal w
        w -= 1

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    np.testing.assert_array_equal(np.asarray(part), expected[3:])
    np.testing.assert_array_equal(np.asarray(w), expected)


def test_another_thread_sees_the_part() -> None:
    w = creation.array(values((70, 61))) * 2
    part, seen = w[3:], []
    w[4:] += 1
    thread = threading.Thread(target=lambda: seen.append(np.asarray(part).copy()))
    thread.start()
    thread.join()
    expected = values((70, 61)) * 2
    expected[4:] += 1
    assert seen[0].tobytes() == expected[3:].tobytes()


@pytest.mark.parametrize("shape", [(7,), (5, 4), (4, 3, 5), (2, 3, 2, 3), (6, 1), (1, 5), (3, 1, 4)], ids=str)
def test_boxes_cover_each_element_once_in_order(shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape))
    number = np.arange(size).reshape(shape)
    for begin in range(size):
        for end in range(begin + 1, size + 1):
            seen = []
            for start, box in cells.boxes(begin, end, shape):
                part = number[tuple(slice(*ends) for ends in box)].ravel()
                assert part[0] == start
                seen.extend(part.tolist())
            assert seen == list(range(begin, end))
