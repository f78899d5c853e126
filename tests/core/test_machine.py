"""What the compiled core reads of arrays, and how it calls machine code, is what the same module does in Python."""

from __future__ import annotations

import ctypes
import importlib.util
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from arraydispatch._core import machine

ARRAYS = (
    np.zeros((3, 4)),
    np.zeros((3, 4))[1:, ::-2],
    np.array(1.5, np.float32),
    np.zeros((0, 5), np.int8),
    np.broadcast_to(np.arange(3), (2, 3)),
    np.asfortranarray(np.zeros((2, 3, 4), complex)),
)


@pytest.fixture(scope="module")
def python() -> ModuleType:
    """The module as it is where nothing is compiled."""
    spec = importlib.util.spec_from_file_location("nowhere.machine", machine.__file__)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize("x", ARRAYS, ids=lambda x: f"{x.dtype} {x.shape}")
def test_memory(python: ModuleType, x: Any) -> None:
    assert machine.address_of(x) == python.address_of(x) == x.__array_interface__["data"][0]
    assert machine.owns_memory(x) is python.owns_memory(x) is x.flags.owndata


def test_a_layout_is_shape_and_strides(python: ModuleType) -> None:
    for layout_of in (machine.layout_of, python.layout_of):
        for i, x in enumerate(ARRAYS):
            for j, y in enumerate(ARRAYS):
                alike = (x.shape, x.strides) == (y.shape, y.strides)
                assert (layout_of(x) == layout_of(y)) is alike, (i, j)
        assert layout_of(ARRAYS[0]) == layout_of(np.ones((3, 4)))
        assert layout_of(ARRAYS[0]) != layout_of(np.ones((4, 3)))
        assert layout_of(np.zeros(4)) != layout_of(np.zeros(8)[::2])


@pytest.mark.parametrize(
    ("how", "number"),
    [("d", 0.1), ("d", 3), ("d", True), ("d", np.float32(0.1)), ("d", -0.0), ("d", float("nan")), ("f", 0.1), ("f", np.float64(1e30)),
     ("q", -5), ("q", True), ("q", np.bool_(True)), ("q", np.int16(-7)), ("Q", 2**64 - 1), ("Q", np.uint64(2**63))],
)  # fmt: skip
def test_numbers_become_words(python: ModuleType, how: str, number: Any) -> None:
    found = []
    for put in (machine.put, python.put):
        words = bytearray(24)
        put(words, 1, how, number)
        found.append(bytes(words))
    assert found[0] == found[1]
    assert found[0][:8] == found[0][16:] == bytes(8)


def test_addresses_become_words(python: ModuleType) -> None:
    found = []
    for put_addresses in (machine.put_addresses, python.put_addresses):
        words = bytearray(24)
        put_addresses(words, [(0, 1, 16), (2, 0, -8)], [1 << 40, 77])
        found.append(np.frombuffer(words, np.int64).tolist())
    assert found == [[93, 0, (1 << 40) - 8]] * 2


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises((TypeError, AttributeError)):
        machine.address_of([1.0])
    for words, i, how, number in (
        (bytearray(8), 1, "d", 1.0),
        (bytearray(8), 0, "q", 2**63),
        (bytearray(8), 0, "d", "x"),
    ):
        with pytest.raises(Exception):  # noqa: B017 -- struct's own error, or one of Python's
            machine.put(words, i, how, number)


def test_machine_code_is_called_with_two_addresses(python: ModuleType) -> None:
    seen = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    def function(first: int, second: int) -> int:
        seen.append((first, ctypes.string_at(second, 8)))
        return 12

    address = ctypes.cast(function, ctypes.c_void_p).value
    for run in (machine.run, python.run):
        assert run(function, address, 4096, bytearray(b"operands")) == 12
    assert seen == [(4096, b"operands")] * 2
