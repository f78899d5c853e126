"""NumPy's elementwise loops give an element the same bits wherever a piece of the array begins: what the host tier stands on."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from arraydispatch.engine.loops import loop_of

LENGTH = 1031
UFUNCS = sorted(
    {
        u
        for u in vars(np).values()
        if isinstance(u, np.ufunc) and u.signature is None and u.nout == 1 and u is not np.isnat
    }
    | {np._core.umath.clip},  # type: ignore[attr-defined]
    key=lambda u: u.__name__,
)


def _values(dtype: np.dtype[Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Numbers of all sizes, with NaNs, infinities, zeros and subnormal ones between them."""
    count = 2 * LENGTH
    if dtype.kind == "b":
        return rng.integers(0, 2, count) > 0
    if dtype.kind in "iu":
        return rng.integers(0, 30, count).astype(dtype)
    made = rng.standard_normal(count) * 10.0 ** rng.integers(-3, 6, count)
    if dtype.kind == "c":
        made = made + 1j * rng.standard_normal(count)
    with np.errstate(all="ignore"):
        made = made.astype(dtype)
    for special in (np.nan, np.inf, -np.inf, 0, -0.0, 1e-310):
        with np.errstate(all="ignore"):
            made[rng.integers(0, count, count // 50)] = special
    return made


def _bits(x: np.ndarray[Any, Any]) -> bytes:
    """The bits, but for the sign and the payload of a NaN: of those not even NumPy's vector code and its rest agree."""
    if x.dtype.kind in "fc":
        parts = x.ravel().view(x.real.dtype)
        x = np.where(np.isnan(parts), np.array(np.nan, parts.dtype), parts)
    return x.tobytes()


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
def test_pieces_have_the_bits_of_the_whole(ufunc: np.ufunc) -> None:
    rng = np.random.default_rng(zlib.crc32(ufunc.__name__.encode()))
    checked = 0
    for types in ufunc.types:
        ins = [np.dtype(char) for char in types.partition("->")[0] if char not in "OMmSUV"]
        if len(ins) != ufunc.nin or (loop := loop_of(ufunc, tuple(ins))) is None:
            continue
        operands = [_values(dtype, rng) for dtype in ins]
        for step in (1,) if loop.pinned else (1, 2):  # contiguous, and not
            given = [x[step - 1 :: step][:LENGTH] for x in operands]
            with np.errstate(all="ignore"):
                whole = ufunc(*given)
                for length in (128, 256) if loop.pinned else (3, 7, 64, 257):
                    made, scratch = np.empty_like(whole), np.empty(length, whole.dtype)
                    for begin in range(0, LENGTH, length):
                        parts = [x[begin : begin + length] for x in given]
                        out = scratch[: len(parts[0])]
                        ufunc(*parts, out=out)
                        made[begin : begin + length] = out
                        for i, part in enumerate(parts):  # over an operand
                            if part.dtype == whole.dtype:
                                own = part.copy()
                                ufunc(*parts[:i], own, *parts[i + 1 :], out=own)
                                assert _bits(own) == _bits(out), (types, step, length, begin, i)
                    assert _bits(made) == _bits(whole), (types, step, length)
        checked += 1
    assert checked or ufunc is np.ldexp
