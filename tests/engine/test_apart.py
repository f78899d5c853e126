"""Functions along an axis are computed on parts of the other axes, with NumPy's bits, order of memory, warnings and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from arraydispatch.api import creation
from arraydispatch.engine import along_axis
from arraydispatch.functions import registry
from tests.engine.test_reductions import outcome

pytestmark = [pytest.mark.usefixtures("fused"), pytest.mark.parametrize("fused", ["threads"], indirect=True)]

_RNG = np.random.default_rng(11)
GIVEN = {
    "tall": _RNG.normal(size=(90, 40)),
    "thin": _RNG.normal(size=(200, 3)),
    "cube": _RNG.normal(size=(30, 8, 40)),
    "gaps": np.where(_RNG.random((60, 50)) < 0.01, np.nan, _RNG.normal(size=(60, 50))),
    "large": np.full((60, 50), 1e300),
    "too large along both": np.full((60, 50), 1e306),
    "ties": _RNG.integers(0, 4, (60, 50)),
    "bytes": _RNG.integers(0, 250, (60, 50)).astype(np.uint8),
    "single": _RNG.normal(size=(60, 50)).astype(np.float32),
    "complex": _RNG.normal(size=(60, 50)) + 1j * _RNG.normal(size=(60, 50)),
    "mask": _RNG.random((60, 50)) < 0.5,
    "few rows": _RNG.normal(size=(2, 900)),
    "transposed": _RNG.normal(size=(50, 60)).T,
}
ALONG: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in "sum prod max min mean var std any all argmax argmin cumsum cumprod".split()},
    **{name: getattr(np, name) for name in "sort median".split()},
    "cumsum wrapped": lambda x, **k: np.cumsum(x.astype(np.int8), **k),
    "fft shortened": lambda x, **k: np.fft.fft(x, n=7, **k),
    "rfft shortened": lambda x, **k: np.fft.rfft(x, 9, norm="ortho", **k),
    "irfft of odd length": lambda x, **k: np.fft.irfft(x, 33, norm="forward", **k),
    "fft of nothing": lambda x, **k: np.fft.fft(x, 0, **k),
    "fft of a float": lambda x, **k: np.fft.fft(x, 8.0, **k),
    "argsort": lambda x, **k: np.argsort(x, kind="stable", **k),
    "percentile": lambda x, **k: np.percentile(x, 30, **k),
    "quantiles": lambda x, **k: np.quantile(x, [0.2, 0.7], **k),
    "sum as float32": lambda x, **k: np.sum(x, dtype=np.float32, **k),
    "kept": lambda x, **k: np.max(x, keepdims=True, **k),
    **{f"fft.{name}": getattr(np.fft, name) for name in "fft ifft rfft irfft hfft ihfft".split()},
    "fft padded": lambda x, **k: np.fft.fft(x, 64, **k),
}  # fmt: skip
PLANES: dict[str, Callable[..., Any]] = {
    **{name: getattr(np.fft, name) for name in "fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn".split()},
    "axes": lambda x: np.fft.fftn(x, axes=(1, 0), norm="ortho"),
    "an axis twice": lambda x: np.fft.ifftn(x, axes=[0, 0, -1]),
    "s": lambda x: np.fft.fft2(x, (16, 16)),
    "no axes": lambda x: np.fft.fftn(x, axes=()),
}


@pytest.mark.parametrize("name", ALONG)
def test_along_an_axis(name: str) -> None:
    wrong = []
    for given, x in GIVEN.items():
        for axis in (0, 1, -1, 2, (0, 1), None):

            def call(z: Any, axis: Any = axis) -> Any:
                return ALONG[name](z, axis=axis)

            if outcome(call, creation.array(x, order="K")) != (expected := outcome(call, x)):
                wrong.append((given, axis, expected))
    assert not wrong


@pytest.mark.parametrize("name", PLANES)
def test_transforms_along_several_axes(name: str) -> None:
    wrong = []
    for given, x in GIVEN.items():
        if outcome(PLANES[name], creation.array(x, order="K")) != (expected := outcome(PLANES[name], x)):
            wrong.append((given, expected))
    assert not wrong


def test_parts_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of columns, transforms and sorts are; what gets an array besides, or writes to one, is not."""
    parts: list[int] = []
    whole = along_axis.Parts
    monkeypatch.setattr(along_axis, "Parts", lambda made, run: parts.append(len(made)) or whole(made, run))
    x = creation.array(GIVEN["tall"])
    for call, many in (
        (lambda: np.sum(x, axis=0), 1),
        (lambda: np.sort(x), 1),
        (lambda: np.fft.fft2(x), 2),
        (lambda: np.sum(x, axis=0, out=np.empty(40)), 0),
        (lambda: np.quantile(x, np.array([0.1, 0.2]), axis=0), 0),
        (lambda: np.sort(x, axis=None), 0),
    ):
        parts.clear()
        call()
        assert parts == [3] * many
    assert registry.spec_of(np.sort).parallel.apart  # type: ignore[union-attr]


_SORTED = np.sort(_RNG.normal(size=9))
_MANY = np.where(_RNG.random(9000) < 0.01, np.nan, _RNG.normal(size=9000))
BY_ELEMENTS: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "searched": (lambda x: np.searchsorted(_SORTED, x), True),
    "from the right": (lambda x: np.searchsorted(_SORTED, x, side="right"), True),
    "a side by position": (lambda x: np.searchsorted(np.sort(np.nan_to_num(x)), x, "left"), False),
    "in large": (lambda x: np.searchsorted(np.sort(np.nan_to_num(x)), x), True),
    "out of order": (lambda x: np.searchsorted(_SORTED[::-1].copy(), x), False),
    "whole numbers": (lambda x: np.searchsorted(np.arange(9), np.nan_to_num(x * 9).astype(int)), True),
    "of another dtype": (lambda x: np.searchsorted(np.arange(9), x), False),
    "one": (lambda x: np.searchsorted(x, 1.5), False),
    "between": (lambda x: np.interp(x, _SORTED, _SORTED**3), True),
    "with ends": (lambda x: np.interp(x, _SORTED, _SORTED**3, left=-1, right=np.pi), True),
    "periodic": (lambda x: np.interp(x, _SORTED, _SORTED**3, period=1.5), False),
    "points out of order": (lambda x: np.interp(x, _SORTED[::-1].copy(), _SORTED), False),
    "of other lengths": (lambda x: np.interp(x, _SORTED, _SORTED[:-1]), False),
    "complex": (lambda x: np.interp(x, _SORTED, _SORTED * 1j), False),
    "a side that is none": (lambda x: np.searchsorted(_SORTED, x, side="middle"), False),
    "every second": (lambda x: np.interp(x[::2], _SORTED, _SORTED**2), True),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_ELEMENTS)
def test_by_elements(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of what is searched for, if what it is searched in has an order."""
    asked: list[int] = []
    whole = along_axis.Parts
    monkeypatch.setattr(along_axis, "_PART", 1000)
    monkeypatch.setattr(along_axis, "Parts", lambda made, run: asked.append(len(made)) or whole(made, run))
    call, in_parts = BY_ELEMENTS[name]
    assert outcome(call, creation.array(_MANY)) == outcome(call, _MANY)
    assert bool(max(asked, default=0) > 3) is in_parts
