"""Ghosts: NumPy's stand-ins for arrays, where the system does not allow the memory that they would have."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.memory import ghosts, views
from arraydispatch.memory.roots import memory_of
from tests import differential
from tests.memory.test_memory import PROGRAMS
from tests.rows import each

HUGE = (2**17, 2**16)


class Refusing:
    """NumPy on a system that allows no memory for more than two items an axis."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def empty(self, shape: Any, *args: Any, **kwargs: Any) -> Any:
        self._count(shape)
        return np.empty(shape, *args, **kwargs)

    def empty_like(self, given: Any, *args: Any, shape: Any = None, **kwargs: Any) -> Any:
        self._count(given.shape if shape is None else shape)
        return np.empty_like(given, *args, shape=shape, **kwargs)

    @staticmethod
    def _count(shape: Any) -> None:
        if 0 not in shape and any(n > 2 for n in shape):
            raise MemoryError


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ghosts, "np", Refusing())


SHAPES = [(3,), (4, 3), (1, 3), (3, 1, 4), (1, 1, 5), (2, 3, 4), (5, 1)]


@pytest.mark.usefixtures("refused")
@each("shape", SHAPES)
@each("order", ["C", "F"])
def test_addresses_are_laid_out_as_memory(shape: tuple[int, ...], order: Any) -> None:
    made, theirs = ghosts.stand_in(shape, "f4", order), np.empty(shape, "f4", order)
    assert (made.shape, made.dtype, made.strides) == (theirs.shape, theirs.dtype, theirs.strides)
    assert made.flags.writeable
    assert not made.flags.owndata
    made.flags.writeable = False
    assert not made[..., :1].flags.writeable
    made.flags.writeable = True
    assert memory_of(made.T[::-1]) is made
    assert not made.any()


@pytest.mark.usefixtures("refused")
@each("shape", SHAPES)
@each("order", ["K", "A", "C", "F"])
def test_addresses_follow_a_given_array(shape: tuple[int, ...], order: Any) -> None:
    for axes in itertools.permutations(range(len(shape))):
        given = np.zeros(shape).transpose(axes)[..., ::-1]
        made, theirs = ghosts.stand_in_like(given, "i2", order), np.empty_like(given, "i2", order)
        assert (made.shape, made.dtype) == (theirs.shape, theirs.dtype)
        where_it_matters = [(a, b) for n, a, b in zip(made.shape, made.strides, theirs.strides) if n > 1]
        assert all(a == b for a, b in where_it_matters)


def test_addresses_end() -> None:
    with pytest.raises(MemoryError, match="addresses"):
        ghosts.stand_in((2**57,), "f8")


@pytest.mark.usefixtures("refused")
@pytest.mark.parametrize("backend", ["jax"])
@each("program", PROGRAMS)
def test_program_on_addresses(program: str, backend: str) -> None:
    """What is true of memory is true where there are addresses alone, on the library that has no views of its own."""
    differential.check(program, backend)


RESHAPED = [
    "np.reshape(a, -1)", "np.reshape(a, (-1, 2))", "np.reshape(a, (2, -1), 'F')", "np.reshape(a, -1, order='A')",
    "np.reshape(a.T, (2, -1), 'A')", "np.reshape(a.T, -1)", "np.reshape(a.T, -1, 'F')", "np.reshape(a, a.shape[::-1], copy=True)",
    "np.reshape(a[:, ::2], -1)", "np.ravel(a)", "np.ravel(a.T)", "np.ravel(a.T, 'K')", "np.ravel(a.T, order='F')",
    "np.ravel(a, order='F')", "np.ravel(a[::2])", "np.reshape(a, (3, 3))", "np.reshape(a.T, -1, copy=False)", "np.reshape(a, -1, 'x')",
    "np.reshape(a.T, shape=(-1,))", "np.reshape(a=a.T, shape=(-1,))", "np.ravel(a=a.T)", "np.ravel(np.broadcast_to(a[:1], a.shape))",
]  # fmt: skip


@each("call", RESHAPED)
def test_what_a_copy_would_be_is_not_copied(call: str) -> None:
    """The stand-in for a reshaped copy is NumPy's copy but for its values, and views stay views."""

    def told(show: bool) -> Any:
        a = np.zeros((100, 120))
        names = {"np": Names(show), "a": a}
        try:
            made = eval(call, names)
        except (ValueError, TypeError) as error:
            return type(error)
        return made.shape, made.dtype, made.strides, np.shares_memory(made, a)

    assert told(True) == told(False)


def test_no_copy_is_made_to_know_its_shape() -> None:
    """A contiguous array of which no host has the memory is raveled to a view, another to a stand-in."""
    a = ghosts.stand_in(HUGE, np.float64)
    for seen in (ghosts.shown(np.ravel, (a,), {}), ghosts.shown(np.ravel, (a.T,), {"order": "F"})):
        assert seen.shape == (a.size,)
        assert seen.__array_interface__["data"] == a.__array_interface__["data"]
    assert ghosts.shown(np.ravel, (a.T,), {}).shape == (a.size,)


class Names:
    """NumPy, whose reshaping functions are asked through :func:`ghosts.shown`."""

    def __init__(self, show: bool) -> None:
        self.show = show

    def __getattr__(self, name: str) -> Any:
        func = getattr(np, name)
        if self.show and name in ("reshape", "ravel"):
            return lambda *args, **kwargs: ghosts.shown(func, args, kwargs)
        return func


VIEWS = [
    "a.strides", "a[::2].strides", "a.T[1:].shape", "a[:, ::-1].strides", "a.reshape(-1).strides",
    "np.swapaxes(a, 0, 1).strides", "a[3:5, 1:3].flags.c_contiguous", "a.T.flags.f_contiguous", "a.flags.writeable",
    "a[None].shape", "np.broadcast_to(a, (2, *a.shape)).strides", "a.real.strides", "a.view('i8').strides",
    "np.expand_dims(a, 1).strides", "[v.strides for v in np.split(a, 2)]", "np.diagonal(a).strides",
    "np.shares_memory(a[:5], a[4:9])", "np.may_share_memory(a[:5], a[5:])",
    "a.reshape(3, 3)",
]  # fmt: skip


def _asked(a: Any, question: str) -> Any:
    try:
        return eval(question, {"a": a, "np": np})
    except ValueError as error:
        return str(error)


def test_64_gib_of_a_library() -> None:
    """Views of what no host has the memory for are those of NumPy on a range of addresses."""
    torch = pytest.importorskip("torch")
    theirs = ghosts._addresses(HUGE, np.dtype(float), (0, 1))
    a = ad.asarray(torch.empty(HUGE, dtype=torch.float64, device="meta"), backend="torch")
    for question in VIEWS:
        assert _asked(a, question) == _asked(theirs, question), question
    assert math.prod(a.T.reshape(-1).shape) == 2**33
    b = ad.asarray(torch.ones(1, dtype=torch.float64).expand(HUGE), backend="torch")
    assert b.strides == (0, 0)
    assert b[7:9, :: 2**15].sum() == 4


def test_64_gib_in_a_trace() -> None:
    """The same of shapes that are only traced, and a transposed array's results keep its order."""
    jax = pytest.importorskip("jax")
    theirs = ghosts._addresses(HUGE, np.dtype("f4"), (0, 1))
    found = {}

    def traced(x: Any) -> Any:
        a = ad.asarray(x, backend="jax")
        for question in VIEWS:
            if "view(" not in question:
                found[question] = _asked(a, question)
        found["order"] = ((a.T * 2).strides, np.sort(a.T, axis=1).strides, (a.T + a[:1].T).ravel("K").shape)
        found["copied"] = a.T.reshape(-1).shape
        return views.native(a)

    jax.eval_shape(traced, jax.ShapeDtypeStruct(HUGE, np.float32))
    assert found.pop("order") == ((4, 2**18), (4, 2**18), (2**33,))
    assert found.pop("copied") == (2**33,)
    for question, answer in found.items():
        assert answer == _asked(theirs, question), question
