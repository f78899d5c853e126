"""Kernels that read elsewhere than they write: random programs of rolls, of writes to parts and of what joins them, as NumPy has them."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from arraydispatch.api import creation
from arraydispatch.engine.host_blocks import blocks, kernels, stretch_kernels as joined
from arraydispatch.engine.recording import tape

SHAPES = ((4001,), (61, 40), (40, 61), (300, 3), (23, 17, 11), (2000, 1), (1, 2000), (2, 900), (5, 4, 30, 6))
DTYPES = {"float64": "+-*/", "float32": "+-*/", "int64": "+-*|^", "int8": "+-*|^", "bool": "|^&"}
NAMES = "abcd"


def _part(rng: random.Random, shape: tuple[int, ...]) -> tuple[str, str]:
    """A part of an array, and another with as many elements along each axis."""
    keys: list[tuple[str, str]] = []
    for n in shape[: rng.randint(1, len(shape))]:
        if rng.random() < 0.1:
            keys.append((str(rng.randrange(-n, n)), str(rng.randrange(n))))
            continue
        begin = rng.choice([0, 0, 1, n // 3])
        length = max(rng.choice([n, n - 1, n - 2, n - n // 4]) - begin, 1)
        other = rng.randint(0, n - length)
        step = ":2" if rng.random() < 0.05 else ""
        keys.append((f"{begin}:{begin + length}{step}", f"{other}:{other + length}{step}"))
    one, other_one = (", ".join(parts) for parts in zip(*keys))
    return one, other_one


def _line(rng: random.Random, shape: tuple[int, ...], dtype: str) -> str:
    to, x, y = (rng.choice(NAMES) for _ in range(3))
    op = rng.choice(DTYPES[dtype])
    what = rng.random()
    if what < 0.35:
        axes = tuple(rng.randrange(len(shape)) for _ in range(rng.choice([1, 1, 2])))
        steps = tuple(rng.choice([1, -1, 2, 5, -7, 40]) for _ in axes)
        rolled = f"np.roll({x}, {steps}, {axes})"
        return f"{to} = {rolled}" if rng.random() < 0.2 else f"{to} = {y} {op} {rolled}"
    if what < 0.8:
        key, other = _part(rng, shape)
        value = rng.choice(
            [f"{x}[{other}]", f"{x}[{other}]", f"{x}[{other}] {op} {y}[{key}]", "True" if dtype == "bool" else "2"]
        )
        return f"{to}[{key}] {rng.choice(['', op, op, op])}= {value}"
    if what < 0.85:
        return f"{to} = np.{'logical_not' if dtype == 'bool' else 'abs'}({x})"
    if what < 0.9:
        return f"total = {x}.sum()"
    return f"{to} = {x} {op} {y} {op} {to}"


def program(seed: str) -> tuple[tuple[int, ...], str, str]:
    """Shape and dtype of its arrays, and its source."""
    rng = random.Random(seed)
    shape, dtype = rng.choice(SHAPES), rng.choice(list(DTYPES))
    lines = [_line(rng, shape, dtype) for _ in range(rng.randint(2, 9))]
    return shape, dtype, "\n    ".join([f"for _ in range({rng.choice([1, 2, 3])}):", *lines])


def run(code: Any, make: Callable[[Any], Any], given: list[np.ndarray[Any, Any]]) -> list[Any]:
    here: dict[str, Any] = {"np": np, "total": 0, **{name: make(x) for name, x in zip(NAMES, given)}}
    told = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(code, here)
        except Exception as error:
            told = type(error).__name__
        found = [np.asarray(here[name]) for name in (*NAMES, "total")]
    return [told, {str(warning.message) for warning in caught}, *((x.dtype, x.shape, _bits(x)) for x in found)]


def _bits(x: np.ndarray[Any, Any]) -> bytes:
    """With one NaN for all: which of two NaNs a sum is, is nobody's promise."""
    return np.where(np.isnan(x), np.full_like(x, np.nan), x).tobytes() if x.dtype.kind == "f" else x.tobytes()


@pytest.fixture(autouse=True)
def kernels_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process has so many, and those of earlier tests are among them."""
    monkeypatch.setattr(kernels, "MOST", 1 << 30)
    monkeypatch.setattr(kernels, "_work", {})


@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize("fused", ["kernels", "threads"], indirect=True)
@pytest.mark.parametrize("block", range(10))
def test_random_programs(block: int, pytestconfig: pytest.Config) -> None:
    for k in range(200 if pytestconfig.option.all else 12):
        seed = f"{pytestconfig.option.seed} {block} {k}"
        shape, dtype, text = program(seed)
        rng = np.random.default_rng(k)
        given = [(rng.normal(size=shape) * 3).astype(dtype) for _ in NAMES]
        code = compile(text, "program", "exec")
        expected = run(code, np.copy, given)
        assert run(code, creation.array, given) == expected, f"{shape} {dtype}\n{text}"
        tape.run_all()


@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize("fused", ["kernels"], indirect=True)
@pytest.mark.parametrize("operators", ["+-", "-+"])
def test_what_a_part_leaves_alone_keeps_the_sign_of_zeros(operators: str) -> None:
    """Whichever comes first: what adds nothing is -0.0, and what subtracts nothing 0."""
    for op in operators:
        x = np.linspace(-1, 1, 2000, dtype=np.float32)[None]
        expected = (x - x) * x
        found = (creation.array(x) - creation.array(x)) * creation.array(x)
        for y, z in ((expected, x), (found, creation.array(x))):
            exec(f"y[0:1, 654:1655] {op}= z[0:1, 480:1481]", {"y": y, "z": z})
        assert np.asarray(found).tobytes() == expected.tobytes(), op


def _steps(body: Callable[..., Any]) -> list[list[Any]]:
    """Of each stretch of the last block of a program what it is computed by."""
    a, b = (creation.array(np.linspace(0, 1, 61 * 40).reshape(61, 40) + i) for i in range(2))
    float(body(a, b)[5, 5])
    plan = list(blocks._plans.values())[-1]
    assert plan is not None
    return [[func for func, *_ in stretch.steps] for stretch in plan.stretches]


def _rolled(a: Any, b: Any) -> Any:
    return np.roll(a, 1, 0) + np.roll(a, -1, 1) - 4 * b


def _updated(a: Any, b: Any) -> Any:
    out = 4 * a
    out[1:] -= b[:-1]
    out[:, 1:] *= b[:, :-1]
    return out + 1


def _needed_by_the_next(a: Any, b: Any) -> Any:
    p = a + 2 * b
    out = 4 * p
    out[1:] -= p[:-1]
    return out + p


@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize("fused", ["kernels"], indirect=True)
@pytest.mark.parametrize(("body", "calls"), [(_rolled, [5]), (_updated, [4]), (_needed_by_the_next, [2, 3])])
def test_one_kernel_takes_what_is_read_elsewhere_along(body: Callable[..., Any], calls: list[int]) -> None:
    pytest.importorskip("llvmlite")
    steps = _steps(body)
    assert [len(func.group.numbers) for (func,) in steps] == calls
    assert all(type(func) is joined.Fused and func.kernel is not None for (func,) in steps)
