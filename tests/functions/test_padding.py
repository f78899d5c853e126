"""``np.pad`` against NumPy, in all modes."""

from __future__ import annotations

from typing import Any

import numpy as np

import arraydispatch as ad

from .. import oracle
from ..rows import each

_WIDTHS = ["1", "(2, 1)", "((1, 2), (0, 3))", "((0, 0), (7, 9))", "{-1: 2}", "((1,), (2,))", "0", "[[5, 0], [0, 5]]"]
_MODES = [
    "'edge'",
    "'linear_ramp'",
    "'linear_ramp', end_values=((1, 2), (3, 4.5))",
    "'linear_ramp', end_values=(7, -7)",
    "'maximum'",
    "'maximum', stat_length=2",
    "'minimum', stat_length=((1, 2), (2, 1))",
    "'mean'",
    "'mean', stat_length=(3, 2)",
    "'median'",
    "'median', stat_length=2",
    "'reflect'",
    "'reflect', reflect_type='odd'",
    "'symmetric'",
    "'symmetric', reflect_type='odd'",
    "'wrap'",
    "'constant'",
    "'constant', constant_values=3",
    "'constant', constant_values=((1, 2), (3, 4))",
    "'constant', constant_values=(5.5, -1)",
    "'constant', constant_values=np.nan",
]

CASES: dict[Any, list[str]] = {
    np.pad: [f"np.pad({a}, {w}, {m})" for m in _MODES for a, w in zip(["f34", "i34"] * 4, _WIDTHS)]
    + [f"np.pad({a}, (3, 2), {m})" for m in _MODES[:-1] for a in ("u34", "g34", "b5", "f5")]
    + [f"np.pad(f34, 1, {m})" for m in ("'empty', 3", "'bogus'", "'edge', stat_length=3", "'constant', end_values=1")]
    + [f"np.pad(e03, ((0, 0), (1, 2)), {m})" for m in ("'edge'", "'wrap'", "'mean'", "'constant'")]
    + [f"np.pad(f34[:1], ((3, 2), (2, 1)), {m})" for m in ("'reflect'", "'symmetric'", "'wrap'", "'edge'")]
    + [
        "np.pad(f5, 2)",
        "np.pad(f234, ((1, 0), (0, 2), (1, 1)), mode='constant')",
        "np.pad(f234, 2, 'reflect')",
        "np.pad(f234, ((1, 0), (0, 2), (1, 1)), 'linear_ramp')",
        "np.pad(c34, 1, 'linear_ramp', end_values=2j)",
        "np.pad(c34, 1, constant_values=1j)",
        "np.pad(d34, 1, 'mean')",
        "np.pad(h34, 1, 'linear_ramp')",
        "np.pad(h34, 1, 'constant', constant_values=1e9)",
        "np.pad(i34, 30, 'linear_ramp', end_values=(-49, 98))",
        "np.pad(ft34, 1, 'wrap')",
        "np.pad(st34, 1, 'edge')",
        "np.pad(neg5, 4, 'symmetric')",
        "np.pad(f5, 2, constant_values=f0)",
        "np.pad(i34, 1, constant_values=f34[0, :2])",
        "np.pad([1, 2] + i0, 1, 'wrap')",
        "np.pad(f0, 0)",
        "np.pad(f0, [], 'edge')",
        "np.pad(e0, 2)",
        "np.pad(u34, 1, constant_values=300)",
        "np.pad(i34, 1, constant_values=2**70)",
        "np.pad(b34, 2, constant_values=3)",
        "np.pad(f34, (1, 1, 1))",
        "np.pad(f34, -1)",
        "np.pad(f34, 1.0)",
        "np.pad(f34, np.uint8(1))",
        "np.pad(e03, 1, 'edge')",
        "np.pad(f34, 1, 'maximum', stat_length=0)",
        "np.pad(f34, 1, 'maximum', stat_length=-1)",
        "np.pad(f34, {5: 1})",
        "np.pad(f34, {0: (1, 2), 1: 1}, 'edge')",
    ],
}


@each("expression", CASES)
def test_as_numpy(expression: str, backend: str) -> None:
    oracle.check(expression, backend)


def test_empty_keeps_what_is_there(backend: str) -> None:
    x = oracle.ARRAYS["f34"]
    with ad.backend(backend), ad.fallback("error"):
        padded = np.pad(ad.asarray(x), ((1, 2), (3, 0)), "empty")
    assert padded.shape == (6, 7)
    np.testing.assert_array_equal(ad.to_numpy(padded)[1:4, 3:], x)


def test_callable_mode_runs_on_the_host(backend: str) -> None:
    expression = "np.pad(f34, 2, lambda v, w, i, k: v.__setitem__(slice(0, w[0]), k['p']), p=9)"
    oracle.check(expression, backend, host=True)
