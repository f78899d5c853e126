"""``--verify`` takes rounding for what it is: no alarm where it is all there is, and one where it decides."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.backends import loader
from arraydispatch.dispatch import functions
from arraydispatch.functions.registry import resolve
from arraydispatch.profiling.verification import Verification
from arraydispatch.profiling.verification.checked_calls import _text
from arraydispatch.profiling.verification.comparison import Finding
from arraydispatch.profiling.verification.known_errors import check_for

HERE = Path(__file__).name
YEARS = np.arange(1900.0, 2020.0)
BADLY = np.vander(YEARS, 6)
"""Its condition is beyond what 64 bits hold."""
HILBERT = 1 / (np.arange(8)[:, None] + np.arange(8) + 1.0)


@pytest.mark.compiles(3)
@pytest.mark.parametrize(
    "call",
    [
        lambda x, y, a, h: np.polyfit(x, y, 5),
        lambda x, y, a, h: np.polyfit(x, np.stack([y, y * 2], 1), 3),
        lambda x, y, a, h: np.polyfit(x, y, 4, cov=True),
        lambda x, y, a, h: np.polyfit(x, y, 4, full=True),
        lambda x, y, a, h: np.polyfit(x, y, 2, w=abs(y) + 1),
        lambda x, y, a, h: np.linalg.pinv(a),
        lambda x, y, a, h: np.linalg.pinv(h, 1e-4),
        lambda x, y, a, h: np.linalg.cond(a),
        lambda x, y, a, h: np.linalg.cond(h),
        lambda x, y, a, h: np.linalg.inv(h),
        lambda x, y, a, h: np.linalg.slogdet(h),
        lambda x, y, a, h: np.linalg.slogdet(h * 0),
        lambda x, y, a, h: np.linalg.matrix_power(h, -2),
        lambda x, y, a, h: np.linalg.lstsq(a, y, rcond=None),
        lambda x, y, a, h: np.linalg.tensorsolve(h.reshape(2, 4, 8), h[0].reshape(2, 4)),
        lambda x, y, a, h: np.linalg.tensorinv(h.reshape(2, 4, 8), ind=2),
        lambda x, y, a, h: np.linalg.eigvals(np.triu(h * 0 + 1)),
        lambda x, y, a, h: np.roots(x[:1] * np.poly(np.ones(9))),
    ],
)
def test_no_alarm_where_a_problem_is_badly_posed(backend: str, call: Callable[..., Any]) -> None:
    x, y, a, h = (ad.asarray(each, backend=backend) for each in (YEARS, np.sin(YEARS), BADLY, HILBERT))
    with Verification() as verification:
        call(x, y, a, h)
    assert [row.text for row in verification.differences()] == []
    assert verification.checked >= 1


def test_no_alarm_where_signs_of_determinants_are_those_of_rounding(backend: str) -> None:
    """A change of the matrix by the tolerance may leave the sign that NumPy has, and others not."""
    with Verification() as verification:
        for n in (20, 30, 60, 120):
            x = 1 / (np.arange(n)[:, None] + np.arange(n) + 1.0)
            np.linalg.slogdet(ad.asarray(x, backend=backend))
    assert [row.text for row in verification.differences()] == []
    assert verification.checked >= 4


@pytest.mark.parametrize(
    ("func", "args"),
    [
        (np.polyfit, (np.linspace(-1, 1, 200), np.sin(np.linspace(-1, 1, 200)), 3)),
        (np.linalg.pinv, (HILBERT[:, :3],)),
        (np.linalg.cond, (HILBERT[:3, :3] + np.eye(3),)),
        (np.linalg.slogdet, (HILBERT + np.eye(8),)),
        (np.linalg.matrix_power, (HILBERT + np.eye(8), -2)),
        (np.linalg.tensorsolve, ((HILBERT + np.eye(8)).reshape(2, 4, 8), HILBERT[0].reshape(2, 4))),
        (np.linalg.tensorinv, ((HILBERT + np.eye(8)).reshape(2, 4, 8), 2)),
        (np.linalg.eigvals, (np.triu(HILBERT) + np.diag(np.arange(8)),)),
    ],
)
def test_but_one_where_a_well_posed_one_is_solved_wrongly(
    func: Any, args: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = functions.call
    given = [ad.asarray(x) if isinstance(x, np.ndarray) else x for x in args]
    for change in (0.0, 1e-6):

        def call(called: Any, args: Any, kwargs: Any, change: float = change) -> Any:
            made = real(called, args, kwargs)
            if called is not func:
                return made
            return (made[0], made[1] + change) if isinstance(made, tuple) else made * (1 + change)

        monkeypatch.setattr("arraydispatch.dispatch.protocols._call", call)
        with Verification() as verification:
            func(*given)
        assert len(verification.differences()) == (change > 0), change


def test_wrong_roots_are_named() -> None:
    """NumPy dispatches the function on the elements of its argument, which are arrays on an accelerator alone."""
    check, p = check_for(np.roots), np.array([1.0, -3.0, 1.5])
    assert check is not None
    for change in (0.0, 1e-6):
        found = check((p,), {}, np.roots(p) * (1 + change), np.roots(p))
        assert found is not None and found[0].beyond == (change > 0)


def test_numbers_that_differ_are_shown_with_the_digits_that_do() -> None:
    one = np.float64(3.40888325e-06)
    assert "3.40888325e-06 (float64) where NumPy has 3.40888326e-06" in _text(
        Finding(1e-9, 1e-10, (), one, one + 1e-14)
    )
    said = _text(Finding(1e-9, 1e-10, (), one, np.nextafter(one, 1)))
    ours, numpys = said.split(" (float64) where NumPy has ")
    assert ours != numpys.partition(";")[0]
    big = np.complex128(1 + 1e-13j), np.complex128(1)
    assert "1+1e-13j" in _text(Finding(1e-9, 1e-10, (), *big))


# -- where it decides --------------------------------------------------------------------------------------------------


@pytest.fixture
def rounded(backend: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An array; and ``np.einsum`` is off by what rounding may be: what cancels is not zero."""
    held = loader.load(backend)
    entry = resolve(np.einsum, held)

    def einsum(xp: Any, *operands: Any, **options: Any) -> Any:
        return xp.add(entry.run(xp, *operands, **options), xp.asarray(np.array([1e-13, -1e-13, 0.0, 1e-13])))

    made = entry._replace(run=einsum, bound=functools.partial(einsum, held.xp))
    monkeypatch.setitem(held.entries, np.einsum, made)
    return ad.asarray(np.array([[1.0, -1.0], [2.0, -2.0], [3.0, 1.0], [4.0, -4.0]]) * 100, backend=backend)


JUMPS: dict[str, Any] = {
    "np.arctan2": lambda s: np.arctan2(s, -np.ones(4)),
    "np.sign": np.sign,
    "np.greater": lambda s: s > 0,
    "np.equal": lambda s: s == 0,
    "np.floor": np.floor,
    "ndarray.astype": lambda s: (s + 1).astype(int),
    "np.true_divide": lambda s: 1 / s,
    "np.log": np.log,
    "np.sqrt": np.sqrt,
    "np.signbit": lambda s: np.signbit(s * 2),
    "np.copysign": lambda s: np.copysign(1.0, (-s)[:, None]),
}


@pytest.mark.parametrize("name", JUMPS)
@pytest.mark.filterwarnings("ignore")
def test_a_zero_that_is_none_any_more_is_named_where_it_decides(rounded: Any, name: str) -> None:
    with Verification() as verification:
        s = np.einsum("ij->i", rounded)
        found = JUMPS[name](s)
    assert found is not None
    rows = verification.differences()
    assert [row.function.replace("np.divide", "np.true_divide") for row in rows] == [name], rows
    assert "because of what rounding left of np.einsum at" in rows[0].text
    assert f"{HERE}:" in rows[0].text
    if name == "np.arctan2":
        assert rows[0].text.startswith("-3.14159")


@pytest.mark.parametrize(
    "call",
    [
        lambda s: np.arctan2(s, np.ones(4)),  # 1e-13, not a turn
        lambda s: np.floor(s + 0.5),
        lambda s: s + 1 > 0,
        lambda s: np.sqrt(np.abs(s)),
        lambda s: s * 3,
        lambda s: np.round(s, 3),
        lambda s: np.linalg.lstsq(s[:, None] * 1e-3 + np.eye(4, 2), np.ones(4), rcond=None),  # several results
        lambda s: np.linalg.eigh(s[:, None] * s * 1e-3 + np.diag([1.0, 2.0, 3.0, 4.0])),
    ],
)
def test_rounding_that_decides_nothing_is_rounding(rounded: Any, call: Callable[[Any], Any]) -> None:
    with Verification() as verification:
        call(np.einsum("ij->i", rounded))
    assert verification.differences() == []


def test_an_array_that_was_written_since_is_another(rounded: Any) -> None:
    with Verification() as verification:
        s = np.einsum("ij->i", rounded)
        s[...] = 1e-13
        np.sign(s)
    assert verification.differences() == []


def test_functions_of_any_number_of_operands_are_compared(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their ``out=`` has no position that operands could take."""
    held = loader.load(backend)
    entry = resolve(np.einsum, held)

    def wrong(xp: Any, *operands: Any, **options: Any) -> Any:
        return xp.add(entry.run(xp, *operands, **options), 1e-3)

    made = entry._replace(run=wrong, bound=functools.partial(wrong, held.xp))
    monkeypatch.setitem(held.entries, np.einsum, made)
    with Verification() as verification:
        np.einsum("ij,jk->ik", *[ad.asarray(HILBERT, backend=backend)] * 2)
    assert [row.function for row in verification.differences()] == ["np.einsum"]


@pytest.mark.parametrize("name", ["matmul", "matvec", "vecmat", "vecdot"])
def test_no_alarm_where_the_terms_of_a_product_cancel(backend: str, name: str) -> None:
    """By the ufunc as by ``@``: what they are rounded to is relative to the terms."""
    if not hasattr(np, name):
        pytest.skip("NumPy has it from 2.2 on")
    a, v = np.random.default_rng(0).normal(size=(2, 50, 2000))[0], np.random.default_rng(1).normal(size=2000)
    a[:, -1] = -(a[:, :-1] @ v[:-1]) / v[-1]
    operands = (v, a.T.copy()) if name == "vecmat" else (a, v)
    with Verification() as verification:
        getattr(np, name)(*(ad.asarray(x, backend=backend) for x in operands))
    assert [row.text for row in verification.differences()] == []
    assert verification.checked >= 1
