"""Other code writes a library's array that it was given: the array that gave it and its views show the write, and no other array does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

torch = pytest.importorskip("torch", reason="inapplicable: of the libraries only PyTorch's arrays can be written")


@pytest.fixture(params=["eager", "compiled"])
def execution(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each execution in which PyTorch's arrays hold tensors; its compiler, which takes seconds, is not asked."""
    transforms = ad.backend("torch").transforms
    before, transforms.compiler = transforms.compiler, "eager"
    with ad.backend("torch"), ad.execution(request.param):
        yield request.param
    transforms.compiler = before


def _new() -> Any:
    return ad.asarray(np.arange(1.0, 7.0).reshape(2, 3)) * 2


VALUES = np.arange(1.0, 7.0).reshape(2, 3) * 2


def _add_one(a: Any) -> Any:
    a += 1
    return a


DOORS: dict[str, Callable[[Any], Any]] = {
    "native": lambda a: a.native.add_(1),
    "native of a view": lambda a: a[...].native.add_(1),
    "native of the transpose": lambda a: a.T.native.add_(1),
    "native, twice": lambda a: (a.native.add_(2), a.native.sub_(1)),
    "numpy.from_dlpack": lambda a: _add_one(np.from_dlpack(a)),
    "torch.from_dlpack": lambda a: torch.from_dlpack(a).add_(1),
    "a namespace's from_dlpack": lambda a: _add_one(a.__array_namespace__().from_dlpack(a)),
    "convert": lambda a: _add_one(ad.convert(a, "numpy")),
    "convert and back": lambda a: ad.convert(ad.convert(a, "numpy"), "torch").native.add_(1),
    "an array of a transform": ad.vmap(_add_one),
}
COPIES: dict[str, Callable[[Any], Any]] = {
    "np.copy": np.copy,
    "copy": lambda a: a.copy(),
    "astype": lambda a: a.astype(float),
    "+x": lambda a: +a,
    "a copy of the transpose": lambda a: a.T.copy().T,
    "result of a transform": ad.jit(lambda x: x.copy()),
    "a copy of a copy": lambda a: np.copy(np.copy(a)),
}


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("door", DOORS)
def test_a_copy_shows_no_write_to_the_original(door: str, copied: str, execution: str) -> None:
    a = _new()
    copy, pending = COPIES[copied](a), a * 1.0
    DOORS[door](a)
    np.testing.assert_array_equal(np.asarray(a), VALUES + 1)
    np.testing.assert_array_equal(np.asarray(copy), VALUES)
    np.testing.assert_array_equal(np.asarray(pending), VALUES)
    later = COPIES[copied](a)  # of what other code has seen
    DOORS[door](a)
    DOORS[door](copy)
    np.testing.assert_array_equal(np.asarray(a), VALUES + 2)
    np.testing.assert_array_equal(np.asarray(copy), VALUES + 1)
    np.testing.assert_array_equal(np.asarray(later), VALUES + 1)


@pytest.mark.parametrize("door", DOORS)
def test_views_show_a_write_to_the_native_array_and_it_theirs(door: str, execution: str) -> None:
    a, theirs = _new(), VALUES.copy()
    parts: list[Callable[[Any], Any]] = [
        lambda x: x[:, 1], lambda x: x[::-1], lambda x: x.T, lambda x: x.reshape(3, 2), lambda x: x.view("i8"), lambda x: x[:0],
        lambda x: np.broadcast_to(x[0], (4, 3)),
    ]  # fmt: skip
    ours, expected = [part(a) for part in parts], [part(theirs) for part in parts]
    for view in ours[:3]:
        view.sum()  # views keep the values they have read
    DOORS[door](a)
    theirs += 1
    for view, like in zip(ours, expected):
        np.testing.assert_array_equal(np.asarray(view), like)
    native = a.native
    for view, like in zip(ours[:4], expected):
        view += 10
        like += 10
        np.testing.assert_array_equal(native.numpy(), theirs)
    a[0] = a[1] * 2
    theirs[0] = theirs[1] * 2
    np.testing.assert_array_equal(native.numpy(), theirs)
    assert [view.strides for view in ours] == [like.strides for like in expected]
    assert [view.base is a for view in ours] == [like.base is theirs for like in expected]


def test_memory_orders_scalars_and_parts_of_numbers_stay(execution: str) -> None:
    fortran = _new().copy("F")
    fortran.native.add_(1)
    assert fortran.native.stride() == (1, 2)
    np.testing.assert_array_equal(np.asarray(fortran[:, 1:]), VALUES[:, 1:] + 1)
    z = ad.asarray(np.array([1 + 2j, 3j])) * 1
    real, imaginary = z.real, z.imag
    z.native.mul_(2)
    assert real.tolist() == [2.0, 0.0] and imaginary.tolist() == [4.0, 6.0]
    imaginary += 1
    assert z.tolist() == [2 + 5j, 7j]
    total = _new().sum()
    same = +total
    if execution == "compiled":
        total.native.add_(1)
        assert float(total) == 43.0
    assert float(same) == 42.0


def test_a_sparse_tensor_has_values_of_its_own(execution: str) -> None:
    values = ad.asarray(np.arange(1.0, 4.0)) * 2
    copy = np.copy(values)
    made = ad.sparse.csr_array((values, np.array([0, 1, 2]), np.array([0, 1, 2, 3])), shape=(3, 3))
    made.native.values().add_(1)
    assert copy.tolist() == [2.0, 4.0, 6.0]


def test_a_jitted_function_leaves_its_arguments_deferred() -> None:
    with ad.backend("torch"), ad.execution("compiled"):
        transforms = ad.backend("torch").transforms
        before, transforms.compiler = transforms.compiler, "eager"
        try:
            a = _new()
            ad.jit(lambda x: x * 2)(a)
            assert a._kind.backend.defers
            a.native
            assert not a._kind.backend.defers
        finally:
            transforms.compiler = before


READ: dict[str, Callable[[Any], Any]] = {
    "copy": np.copy, "+x": lambda x: +x, "astype": lambda x: x.astype(float), "np.astype": lambda x: np.astype(x, float),
    "reshape": lambda x: np.reshape(x, (3, 2), copy=True), "pad": lambda x: np.pad(x, 0), "where": lambda x: np.where(True, x, x),
    "concatenate": lambda x: np.concatenate([x]), "power": lambda x: x**1, "sum": lambda x: x.sum(axis=()),
    "select": lambda x: np.select([True], [x]), "piecewise": lambda x: np.piecewise(x, [x > -1], [lambda y: y]),
    "unwrap": np.unwrap, "full": lambda x: np.full((2, 3), x), "take": lambda x: np.take(x, [0, 1], 0),
    "block": lambda x: np.block([x]), "an element": lambda x: x[0, 0], "sort": np.sort, "tril": lambda x: np.tril(x, 5), "conj": np.conj,
}  # fmt: skip


@pytest.mark.parametrize("read", READ)
def test_a_result_shows_no_later_write_to_a_wrapped_tensor(read: str, execution: str) -> None:
    for make in (ad.wrap, lambda tensor: tensor):
        tensor = torch.ones(2, 3, dtype=torch.float64)
        operand = make(tensor)
        if not isinstance(operand, ad.Array) and read not in ("concatenate", "where", "pad"):
            continue
        made = READ[read](operand)
        tensor.add_(1)
        assert set(np.asarray(made).reshape(-1).tolist()) == {1.0}
