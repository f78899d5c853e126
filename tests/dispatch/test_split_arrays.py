"""Arrays that the host makes by parts: how a place is divided, and what is kept of a stream."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

from arraydispatch.dispatch import split_arrays


def _size(box: Any) -> int:
    return prod(each.stop - each.start for each in box)


@pytest.mark.parametrize("together", [1, 3, 8])
@pytest.mark.parametrize(
    "ends",
    [((0, 7),), ((3, 30),), ((2, 9), (1, 4)), ((0, 2), (5, 40)), ((1, 3), (0, 2), (0, 5)), ((0, 3), (4, 4)), ()],
)
def test_pieces_are_the_whole_in_order(
    ends: tuple[tuple[int, int], ...], together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(split_arrays, "PIECE", 6)
    box = tuple(slice(*each) for each in ends)
    whole = np.arange(50 ** len(ends)).reshape((50,) * len(ends))
    pieces = list(split_arrays._pieces(box, together))
    got = np.concatenate([whole[piece].ravel() for piece in pieces])
    assert got.tolist() == whole[box].ravel().tolist()
    if together == 1:
        assert max(map(_size, pieces)) <= 6
    else:
        assert all(piece[0].start == box[0].start or piece[0].start % together == 0 for piece in pieces if ends)


@pytest.mark.parametrize(
    ("shape", "boxes"),
    [
        ((24,), [((0, 12),), ((12, 24),)]),
        ((24,), [((7, 9),)]),
        ((4, 10), [((0, 4), (0, 5)), ((0, 4), (5, 10))]),
        ((4, 10), [((2, 3), (3, 7))]),
        ((2, 3, 20), [((1, 2), (0, 3), (4, 8)), ((0, 1), (0, 3), (4, 8))]),
    ],
)
def test_parts_of_a_stream(
    shape: tuple[int, ...], boxes: list[tuple[tuple[int, int], ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(split_arrays, "PIECE", 6)
    whole, at, skipped = np.arange(prod(shape)).reshape(shape), 0, 0

    def draw(count: int) -> Any:
        nonlocal at
        assert count <= 6
        at += count
        return whole.ravel()[at - count : at]

    def skip(count: int) -> None:
        nonlocal skipped
        skipped += count
        draw(count)

    places = [tuple(slice(*each) for each in box) for box in boxes]
    parts = [(place, np.full([each.stop - each.start for each in place], -1)) for place in places]
    split_arrays._keep(parts, shape, draw, skip)
    assert at == whole.size
    assert skipped <= whole.size - sum(out.size for _, out in parts)
    for place, out in parts:
        np.testing.assert_array_equal(out, whole[place])
