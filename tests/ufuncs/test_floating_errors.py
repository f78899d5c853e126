"""``np.errstate``, ``np.seterr`` and ``np.seterrcall``: the same warnings, errors and calls as under NumPy."""

from __future__ import annotations

import operator
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch._core import handles
from tests.launched import Zygote, Zygotes
from tests.rows import each

ARRAYS: dict[str, np.ndarray[Any, Any]] = {
    "z": np.array([1.0, 0.0, -1.0, np.nan, np.inf]),
    "o": np.zeros(5),
    "i": np.array([1, 0, -1, -(2**63)]),
    "u": np.array([3, 0], np.uint8),
    "big": np.array([1e308, -1e308]),
    "f": np.array([1000.0, -1e6], np.float32),
    "h": np.array([60000.0, 0.0], np.float16),
    "c": np.array([0j, 1]),
    "tiny": np.array([1e-200, 1.0]),
    "nan": np.array([np.nan, 1e308, 1e308]),
    "good": np.array([[1.0, 2.0], [3.0, 4.0]]),
}

REPORTED = """
    z / o; o / o; 1 / z; np.float64(1) / o; h / 0.0; c / c; f / 1e-38; good / good; z / 2; good.T / np.zeros(2)
    i // i; i % i; np.divmod(i, i); np.fmod(i, i); 1 // i; i // 0; u // u; z // 0; z % o; np.fmod(z, o); np.reciprocal(i)
    np.log(z); np.log2(o); np.log10(z); np.log1p(z); np.sqrt(z); np.exp(f); np.expm1(f); np.exp2(f); np.sinh(f); np.cosh(f)
    z ** -1; o ** -1.5; np.power(z, -3); np.reciprocal(o); np.arccosh(o); np.arctanh(z); np.arcsin(z * 2); np.sin(z)
    np.hypot(big, big); np.ldexp(z, 5000); np.float_power(z, -2)
    np.divide.reduce(z); np.divide.accumulate(o); np.divide.reduceat(z, [0, 1]); np.divide.outer(z, o)
    np.floor_divide.reduce(i); np.divide.at(z, [0], 0.0); np.floor_divide.at(i, [0, 1], 0)
    np.divide(z, o, out=np.zeros_like(z), where=z > 0); np.log(np.abs(good), out=good, where=good > 1)
    np.sum(np.abs(big) * 0.9); big.prod(); np.add.reduce(np.abs(big)); np.sum(h, axis=0); z.sum(); np.sum(nan); big[:1].sum()
    np.divide(good, 0, out=good); operator.itruediv(z, 0.5); operator.itruediv(z, o); operator.itruediv(big, 0.1); z.astype(int); z.astype(np.float32)
"""
"""Reported in every mode."""

STRICT = """
    big * 10; big + big; big - -big; np.square(big); big ** 2; h * h; np.add(z, -z); np.multiply(z, o)
    np.cumsum(np.abs(big)); np.mean(np.abs(big))
    np.add.accumulate(np.abs(big)); np.multiply.outer(big, big); big @ big; np.dot(big, good); np.exp(tiny * -1e204)
    operator.imul(big, 10); tiny * tiny; tiny / 1e200; big.astype(np.float32); np.add.at(big, [0], 1e308)
"""
"""Reported where an error is to be more than a warning."""

RENAMED = frozenset({"np.dot(big, good)"})
"""On the NumPy backend computed by another function of NumPy's, which the message names."""


def cases(text: str) -> list[str]:
    return [case.strip() for line in text.splitlines() for case in line.split(";") if case.strip()]


def heard(expression: str, backend: str | None, mode: str, **modes: str) -> list[Any]:
    """What the user hears of one expression: messages of warnings, calls, lines of the log, or the error."""
    arrays: dict[str, Any] = {name: x.copy() for name, x in ARRAYS.items() if name in expression}
    if backend is not None:
        with ad.backend(backend):
            arrays = {name: ad.asarray(x) for name, x in arrays.items()}
    told: list[Any] = []

    class Log:
        write = told.append

    call: Any = Log() if mode == "log" else lambda *said: told.append(said)
    with warnings.catch_warnings(record=True) as caught, ad.fallback("silent"):
        warnings.simplefilter("always")
        try:
            with np.errstate(call=call, all=mode, **modes):
                eval(expression, {"np": np, "operator": operator, **arrays})
        except FloatingPointError as error:
            told.append(str(error))
    for warning in caught:
        assert warning.category is RuntimeWarning, warning
        assert backend in (None, "numpy") or warning.filename == "<string>", warning
    return told + [str(warning.message) for warning in caught]


@pytest.mark.parametrize("mode", ["warn", "raise", "call", "log"])
@each("expression", cases(REPORTED))
def test_reported(expression: str, mode: str, backend: str) -> None:
    modes = {"under": "ignore"} if mode == "warn" else {}  # NumPy's default
    assert heard(expression, backend, mode, **modes) == heard(expression, None, mode, **modes)


@pytest.mark.parametrize("mode", ["raise", "call", "log"])
@each("expression", cases(STRICT))
def test_strict(expression: str, mode: str, backend: str) -> None:
    if backend == "numpy" and expression in RENAMED:
        pytest.skip("inapplicable: its message names another function of NumPy's")
    theirs = heard(expression, None, mode)
    assert theirs
    assert heard(expression, backend, mode) == theirs


@each("expression", cases(REPORTED + STRICT))
def test_ignored(expression: str, backend: str) -> None:
    assert heard(expression, backend, "ignore") == []


def test_only_one_kind_is_strict(backend: str) -> None:
    for modes in ({"divide": "raise"}, {"divide": "ignore"}, {"invalid": "raise"}, {"over": "raise"}):
        assert heard("z / o", backend, "warn", **modes) == heard("z / o", None, "warn", **modes)


def test_printed(backend: str, capfd: pytest.CaptureFixture[str]) -> None:
    with ad.backend(backend):
        a = ad.asarray([1.0, 0.0])
    with np.errstate(all="print"):
        a / 0
    assert capfd.readouterr().err == (
        "Warning: divide by zero encountered in divide\nWarning: invalid value encountered in divide\n"
    )


@pytest.mark.parametrize("mode", ["call", "log"])
def test_nobody_to_call(mode: Any, backend: str) -> None:
    with ad.backend(backend):
        a = ad.asarray([1.0, 2.0])
    with np.errstate(divide=mode, call=None), pytest.raises(NameError, match="divide by zero"):
        a / 0


def test_process_default(backend: str) -> None:
    with ad.backend(backend):
        a = ad.asarray([1.0, 2.0])
    before = np.seterr(divide="raise")
    try:
        with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
            a / 0
        with pytest.raises(FloatingPointError, match="divide by zero encountered in log"):
            np.log(a * 0)
    finally:
        np.seterr(**before)


def test_other_threads_have_their_own(backend: str) -> None:
    with ad.backend(backend):
        a = ad.asarray([1e308, 2.0])
    found: list[Any] = []
    with np.errstate(over="raise"):
        thread = threading.Thread(target=lambda: found.append((a * np.ones(2)).tolist()))
        thread.start()
        thread.join()
        with pytest.raises(FloatingPointError):
            a * 10.0
    assert found == [[1e308, 2.0]]


def test_the_values_are_the_same_after_an_error(backend: str) -> None:
    with ad.backend(backend):
        a = ad.asarray([1.0, 0.0])
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        a /= 0
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.isnan(a / 0), [False, True])


def test_each_line_warns_once(backend: str) -> None:
    """As a script has it: the warning names the line that divides, so a second line is heard of too."""
    if backend == "numpy" and not handles.compiled:
        pytest.skip("inapplicable: NumPy itself warns there, and names our line")
    with ad.backend(backend):
        a = ad.asarray([1.0, 0.0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(2):
            a / 0
            np.log(a)
    assert [w.filename for w in caught] == [__file__] * 3
    assert len({w.lineno for w in caught}) == 2


SCRIPT = """
import numpy as np

a, b = np.array([1.0, 0.0]), np.arange(5000.0)
for _ in range(3):
    a / 0
    np.log(a)
    a * 1e308 * 10
b / b
np.log(-b)
np.divide.reduce(a)
np.divide(a, 0, out=a)
"""


def test_a_script_prints_the_same_warnings(backend: str, tmp_path: Path, zygotes: Zygotes) -> None:
    """The default of the launcher: small arrays on the host, large ones on the backend."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)

    def printed(where: Zygote, *options: str) -> list[str]:
        done = where.run(str(script), cwd=tmp_path, options=options)
        assert done.code == 0, done.stderr
        lines = done.stderr.splitlines()
        return [line for i, line in enumerate(lines) if str(script) in lines[max(i - 1, 0)] or str(script) in line]

    plain = printed(zygotes.plain)
    assert len(plain) == 20
    assert printed(zygotes.of(backend), "--min-size", "1000") == plain


def test_results_without_dimensions_are_always_looked_at(backend: str) -> None:
    for modes in ({}, {"all": "warn"}, {"all": "raise"}):
        for expression in (
            "big[0] * zero_d",
            "zero_d * zero_d",
            "zero_d - zero_d * 0",
            "np.square(zero_d)",
            "big.sum()",
        ):
            got = []
            for name in (backend, None):
                big, zero_d = np.array([1e308, -1e308, 5.0]), np.array(1e300)
                if name is not None:
                    with ad.backend(name):
                        big, zero_d = ad.asarray(big), ad.asarray(zero_d)
                with warnings.catch_warnings(record=True) as caught, np.errstate(**modes):  # type: ignore[arg-type]
                    warnings.simplefilter("always")
                    try:
                        eval(expression, {"np": np, "big": big, "zero_d": zero_d})
                        got.append([str(w.message) for w in caught])
                    except FloatingPointError as error:
                        got.append([str(error)])
            assert got[0] == got[1], (expression, modes)


CASTS = [
    "np.insert(i, [1, 2], x)", "np.insert(i, 1, np.nan)", "np.insert(i, [1, 2], [1.5, 2.5])", "np.insert(x, 1, np.array([1j, 2j]))",
    "np.add.at(i, [0, 1], x)", "np.add.at(i, [0, 1], np.nan)", "np.add.at(i, [0, 1], [1.5, 2.5])", "np.maximum.at(i, 0, 2.5)",
]  # fmt: skip


@pytest.mark.parametrize("expression", CASTS)
def test_what_an_integer_does_not_hold_is_told(expression: str, backend: str) -> None:
    """By functions that cast what they are given into an array."""

    def told(make: Any) -> list[tuple[str, str]]:
        names = {"np": np, "i": make(np.arange(5)), "x": make(np.array([np.nan, 1e30]))}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                eval(expression, names)
            except Exception as error:
                return [(type(error).__name__, "")]
        return [(w.category.__name__, str(w.message)) for w in caught]

    assert told(lambda x: ad.asarray(x, backend=backend)) == told(np.array)


NAN_RESULTS = """
    x[:0].mean(); np.var(x[:1], ddof=1); np.std(m[:1], axis=0, ddof=1); np.nanmean(n); np.nanmax(n); np.nanmedian(n); np.cov(x[:1])
    m[:0].mean(axis=0); np.nanstd(n); np.nanmin(n.reshape(2, 2), axis=0); np.corrcoef(x[:1], x[:1])
"""
"""Calls of which NumPy gives a warning of its own and floating-point errors."""


@each("mode", ["call", "log", "raise", "warn", "ignore"])
@each("call", [call.strip() for line in NAN_RESULTS.strip().splitlines() for call in line.split(";")])
def test_a_result_that_is_nan_is_reported_once(backend: str, mode: str, call: str) -> None:
    given = {"x": np.zeros(4), "m": np.zeros((4, 3)), "n": np.full(4, np.nan)}
    heard = []
    for arrays in (given, {name: ad.asarray(x, backend=backend) for name, x in given.items()}):
        told: list[Any] = []

        class Log:
            def write(self, message: str, told: list[Any] = told) -> None:
                told.append(message)

        def listener(kind: str, flag: int, told: list[Any] = told) -> None:
            told.append((kind, flag))

        answer: Any = Log() if mode == "log" else listener
        with warnings.catch_warnings(record=True) as seen, np.errstate(all=mode, call=answer):  # type: ignore[call-overload]
            warnings.simplefilter("always")
            try:
                eval(call, {"np": np, **arrays})
            except FloatingPointError as error:
                told.append(str(error))
        heard.append((told, [str(w.message) for w in seen]))
    assert heard[0] == heard[1]
