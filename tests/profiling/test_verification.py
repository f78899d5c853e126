"""``--verify``: each call is held against NumPy, differences are named, and the program's results stay what they are."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch._core import handles
from arraydispatch.api import creation
from arraydispatch.array import Array
from arraydispatch.backends import loader
from arraydispatch.common.process_state import process
from arraydispatch.memory import views
from arraydispatch.profiling.verification import Verification
from arraydispatch.profiling.verification.comparison import compare
from arraydispatch.runtime import settings
from tests.launched import Done, Zygote, Zygotes

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
HERE = str(Path(__file__))
RNG = np.random.default_rng(5)
A, B = RNG.normal(size=(6, 4)), RNG.normal(size=(6, 4))
SQUARE = A.T @ A + np.eye(4)


@pytest.fixture
def replaced() -> Iterator[Callable[[str, Callable[[Any], Any]], None]]:
    """Replace the form of a member by ``make(form)`` for a test: ``replaced(name, make)``."""
    laid: list[Any] = []

    def replace(name: str, make: Callable[[Any], Any]) -> None:
        laid.append(lambda each, form: make(form) if each == name else None)
        handles.lay_over(laid[-1])

    yield replace
    for each in laid:
        handles.take_off(each)


def _line() -> int:
    return sys._getframe(1).f_lineno


# -- no false alarm ----------------------------------------------------------------------------------------------------


def _work(a: Any, b: Any, square: Any) -> list[Any]:
    """A bit of everything, with writes of every kind; values to compare with a run without verification."""
    c = a + 2 * b
    c[1:, 0] = 3
    c[2] += 1
    t = c.T
    t[0] = c[0, 0]
    np.add(a, b, out=c)
    np.add(a[1:], 1, out=c[:-1])
    t.sort(axis=1)
    np.add.at(c, (np.array([0, 0]), np.array([1, 1])), 2.0)
    c.real = a
    c.flat[3:5] = 7
    c[::-1, 1:] *= 2
    c[c > 5] = 0
    np.putmask(c, c < -1, -1.0)
    np.copyto(c[0], b[0])
    host = np.zeros((6, 4))
    host += a
    np.copyto(host[1:], b[1:])
    d = c.copy()
    d.fill(2)
    np.fill_diagonal(d, 5)
    e = np.where(a > 0, a, b)
    w, v = np.linalg.eigh(square)
    results = [
        c, t, host, d, e, w, abs(v), np.linalg.solve(square, a[:4]), np.linalg.inv(square), np.linalg.det(square),
        np.linalg.svd(a, compute_uv=False), np.linalg.cholesky(square), np.linalg.lstsq(a, b)[0], np.sum(a), a.mean(axis=0),
        a.std(), np.cumsum(a, axis=1), np.sort(a, axis=0), np.take_along_axis(a, np.argsort(a, axis=0), 0), a @ b.T,
        np.einsum("ij,kj->ik", a, b), np.concatenate((a, b)), np.unique(np.round(a)), np.median(a), np.sin(a), a % b,
        np.divmod(a, b)[0], a.astype(np.float32), a.reshape(-1)[3], a[:, ::-2], np.histogram(a, 5)[0], np.nonzero(a > 0)[0],
        np.fft.ifft(np.fft.fft(a)).real, np.diff(a - np.mean(a), axis=0), np.cov(a), np.interp(a[0], np.arange(4.0), b[0]),
        a.argmax(), np.count_nonzero(a > 0), bool((a == a).all()), np.sum(a - a.mean()), np.stack([a, b]).transpose(2, 0, 1),
    ]  # fmt: skip
    np.linalg.svd(a)
    np.linalg.qr(a)
    np.linalg.eig(square)
    return [np.array(x) for x in results]


def _inputs(backend: str) -> list[Any]:
    return [ad.asarray(x, backend=backend, copy=True) for x in (A, B, SQUARE)]


@pytest.mark.compiles(2)
def test_no_difference_where_there_is_none(backend: str) -> None:
    with ad.fallback("silent"):
        plain = _work(*_inputs(backend))
    with ad.fallback("silent"), Verification() as verification:
        verified = _work(*_inputs(backend))
    assert verification.differences() == []
    assert verification.checked > 80
    assert sum(verification.unchecked.values()) == 0
    for x, y in zip(plain, verified, strict=True):
        np.testing.assert_array_equal(x, y)
        assert x.dtype == y.dtype


@pytest.mark.parametrize("order", ["C", "F"])
def test_what_scipy_may_overwrite_is_overwritten_once(backend: str, order: Any) -> None:
    """LAPACK writes also to memory that is marked as read-only: NumPy's side gets copies, and leave to overwrite none."""
    linalg = pytest.importorskip("scipy.linalg")
    rng = np.random.default_rng(2)
    plain = np.array(rng.normal(size=(5, 5)) + 5 * np.eye(5), order=order), rng.normal(size=5)
    a, b = (ad.asarray(x, backend=backend, copy=True) for x in plain)
    with Verification() as verification, ad.fallback("silent"):
        made = linalg.solve(a, b, overwrite_a=True, overwrite_b=True)
        linalg.lu_factor(a, True)
    wanted = linalg.solve(*plain, overwrite_a=True, overwrite_b=True)
    linalg.lu_factor(plain[0], True)
    assert verification.differences() == [] and verification.checked == 2
    for x, y in ((made, wanted), (a, plain[0]), (b, plain[1])):
        np.testing.assert_allclose(ad.to_numpy(x), y, 1e-12)


@pytest.mark.parametrize("bits", [64, 32, 16])
def test_no_difference_under_a_precision(backend: str, bits: int) -> None:
    with ad.precision(bits), Verification() as verification:
        a, b = ad.asarray(A, backend=backend), ad.asarray(B, backend=backend)
        c = np.exp(a) * b - a.mean(axis=0)
        c[2:4] += 1
        c[0] = c[1] / 2
        (c @ b.T).sum()
        np.linalg.eigh(ad.asarray(SQUARE, backend=backend))
        c.astype(np.float32)
    assert verification.differences() == []
    assert verification.checked >= 15


def test_methods_of_scipys_objects_are_looked_at(backend: str) -> None:
    """Some of these objects are functions themselves, which is no reason to leave them."""
    stats = pytest.importorskip("scipy.stats")
    x = ad.asarray(np.linspace(-0.9, 0.9, 7), backend=backend)
    with Verification() as verification:
        for evaluate in (stats.norm.pdf, stats.norm.logpdf, stats.norm.cdf):  # `stats.norm` is called too
            evaluate(x)
    assert verification.differences() == []
    assert verification.checked == 3 and verification.unchecked == {}


def test_nan_and_nat_are_the_same_in_records_and_times_too(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record = np.dtype([("t", "M8[D]"), ("v", "f8", 2), ("in", [("w", "c8"), ("n", "i4")])])
    monkeypatch.setattr(settings.default, "backend", backend)
    with ad.fallback("silent"), Verification() as verification:
        for values, dtype in (
            (["2024-01-01", "NaT"], "M8[D]"),
            ([3, "NaT"], "m8[s]"),
            ([(np.nan, 1)], "f8,i4"),
            ([("NaT", (np.nan, 1.0), (complex(np.nan, 1), 2))], record),
            ([complex(np.nan, 1.0)], "c16"),
            ([float("nan"), "a", None], object),
            ([np.nan], np.longdouble),
        ):
            creation.array(values, dtype=dtype)
        creation.full(3, np.datetime64("NaT"))
    assert [row.text for row in verification.differences()] == []
    assert verification.checked == 8


_OF_TWO = ("solve", "lstsq", "orthogonal_procrustes")
_HILBERT = 1 / (np.arange(10.0)[:, None] + np.arange(1.0, 11.0))
_R = np.outer(np.arange(1.0, 7), np.arange(1.0, 5))


@pytest.mark.parametrize(
    ("name", "args", "options"),
    [
        ("null_space", (_R,), {}),
        ("null_space", (_R.T,), {}),
        ("null_space", (_R[:, :3] * (1 + 2j),), {}),
        ("orth", (np.ones((4, 4)) + 2 * np.eye(4),), {}),
        ("svd", (_R,), {}),
        ("svd", (), {"a": _R, "full_matrices": False}),
        ("eigh", (np.ones((5, 5)),), {}),
        ("eigh", (np.triu(np.ones((5, 5))),), {"lower": False}),
        ("eig", (SQUARE,), {}),
        ("qr", (A,), {}),
        ("qr", (_R,), {"mode": "economic"}),
        ("polar", (_R,), {}),
        ("polar", (_R.T,), {"side": "left"}),
        ("orthogonal_procrustes", (_R, 2 * _R), {}),
        ("solve", (_HILBERT, np.ones(10)), {}),
        ("solve", (_HILBERT[:9, 1:], np.ones((9, 2))), {"transposed": True}),
        ("inv", (_HILBERT,), {}),
        ("det", (_HILBERT,), {}),
        ("lstsq", (_HILBERT, np.ones(10)), {}),
        ("pinv", (_HILBERT[:6, :4],), {}),
    ],
)
def test_factors_that_are_not_unique_are_held_against_what_defines_them(
    backend: str, name: str, args: Any, options: Any
) -> None:
    """What SciPy gives is another factorization of the same: the same with other rounding, so vectors that are not unique turn."""
    linalg = pytest.importorskip("scipy.linalg")
    given = [ad.asarray(x, backend=backend) for x in args]
    keywords = {key: ad.asarray(x, backend=backend) if isinstance(x, np.ndarray) else x for key, x in options.items()}
    with ad.fallback("error"), Verification() as verification:
        getattr(linalg, name)(*given, **keywords)
    assert [row.text for row in verification.differences()] == []
    assert verification.checked == 1


@pytest.mark.parametrize(
    "name", ["null_space", "orth", "svd", "eigh", "eig", "qr", "polar", "inv", "pinv", "det", *_OF_TWO]
)
def test_wrong_factors_of_scipys_are_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from arraydispatch.dispatch import functions

    linalg = pytest.importorskip("scipy.linalg")
    real = functions.call
    a = ad.asarray(SQUARE - SQUARE[:, :1] if name == "null_space" else SQUARE)

    def call(func: Any, args: Any, kwargs: Any) -> Any:
        made = real(func, args, kwargs)
        turned = made[::-1] if isinstance(made, ad.Array) else made
        return (*made[:-1], made[-1] * 1.1) if isinstance(made, tuple) else turned * 1.1

    monkeypatch.setattr("arraydispatch.dispatch.protocols._call", call)
    with Verification() as verification:
        getattr(linalg, name)(*(a, a)[: 1 + (name in _OF_TWO)])
    assert len(verification.differences()) == 1


def test_methods_that_are_not_looked_at_say_why_by_their_objects_name() -> None:
    interpolate = pytest.importorskip("scipy.interpolate")
    x = ad.asarray(np.arange(9.0))
    with ad.fallback("silent"), Verification() as verification:
        interpolate.CubicSpline(x, x**2)(x)
    why = "is of an object of SciPy's, which the call may change"
    names = ("scipy.interpolate.CubicSpline", "scipy.interpolate.CubicSpline.__call__")
    assert verification.unchecked == {f"{name} {why}": 1 for name in names}


def test_everything_is_put_back() -> None:
    doors = Array.sum.target, creation.zeros, ad.asarray
    members = dict(vars(Array))
    with Verification():
        assert Array.sum.target is not doors[0]
        assert dict(vars(Array)) == members
    assert (Array.sum.target, creation.zeros, ad.asarray) == doors


def test_callbacks_run_once() -> None:
    seen = []

    def row(x: Any) -> Any:
        seen.append(1)
        return x.sum()

    with Verification() as verification:
        np.apply_along_axis(row, 0, ad.asarray(A))
    assert len(seen) == A.shape[1]
    assert verification.unchecked == {"np.apply_along_axis takes a function": 1}
    assert verification.checked >= A.shape[1]  # what the callback calls


def test_warnings_are_the_programs() -> None:
    with Verification() as verification, pytest.warns(RuntimeWarning, match="divide by zero") as caught:
        ad.asarray([1.0, 2.0]) / 0
    assert len(caught) == 1
    assert verification.differences() == []


def test_errors_stay_errors(backend: str) -> None:
    a = ad.asarray(A, backend=backend)
    with Verification() as verification:
        for bad in (lambda: a + np.ones(5), lambda: a[9], lambda: a.sum(axis=4), lambda: a.__setitem__(0, np.ones(3))):
            with pytest.raises((ValueError, IndexError)):
                bad()
    assert verification.differences() == []


def _raising(how: str) -> contextlib.AbstractContextManager[Any]:
    """Floating-point errors that raise, by each way that NumPy has for it."""
    stack = contextlib.ExitStack()
    if how == "errstate":
        stack.enter_context(np.errstate(all="raise"))
    elif how == "warnings":
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("error")
    else:
        stack.enter_context(np.errstate(all="call", call=_refuse))
    return stack


def _refuse(kind: str, flag: int) -> None:
    raise LookupError(kind)


FAILING = {
    "1 / x": lambda x: 1 / x,
    "np.log(x)": np.log,
    "x / 0": lambda x: x / 0,
    "np.exp(x)": lambda x: np.exp(x + 1000),
    "x[:0].mean()": lambda x: x[:0].mean(),
    "x /= 0": lambda x: x.__itruediv__(0),
    "np.divide(out)": lambda x: np.divide(1, x, out=x),
    "np.sqrt(x - 1)": lambda x: np.sqrt(x - 1),
}


@pytest.mark.parametrize("how", ["errstate", "warnings", "call"])
@pytest.mark.parametrize("size", [4, 3000])
def test_errors_that_raise_on_both_sides_are_no_differences(backend: str, how: str, size: int) -> None:
    values, raised = np.arange(float(size)), 0
    for name, work in FAILING.items():
        ours = ad.asarray(values, backend=backend, copy=True)
        with _raising(how):
            theirs = _error_of(work, values.copy())
            with Verification() as verification:
                assert _error_of(work, ours) == theirs, name
        assert verification.differences() == [], name
        raised += theirs is not None
    assert raised == len(FAILING)


def _error_of(work: Any, x: Any) -> type[Exception] | None:
    try:
        work(x)
    except Exception as error:
        return type(error)
    return None


def test_an_error_that_only_a_lower_precision_raises_is_named(backend: str) -> None:
    with ad.precision(16), np.errstate(all="raise"), Verification() as verification:
        x = ad.asarray([200.0, 300.0] * 1000, backend=backend)
        with pytest.raises(FloatingPointError):
            x * x
    assert [row.text for row in verification.differences()] == [
        "raises FloatingPointError: overflow encountered in multiply, where NumPy does not"
    ]


@pytest.mark.parametrize("bits", [32, 16])
def test_cancellation_is_rounding_of_the_terms(backend: str, bits: int) -> None:
    with ad.precision(bits), Verification() as verification:
        x = ad.asarray(np.linspace(0, 1, 11), backend=backend)
        x - 0.2
        0.2 - x
        x + (-0.3)
        -0.3 + x
        np.subtract(x, 0.7)
        np.subtract.outer(x, np.linspace(0, 1, 11))
        x - np.linspace(0, 1, 11)
        x[2] - 0.2
    assert verification.differences() == []
    assert verification.checked >= 9


def test_a_sum_of_two_terms_may_not_be_off_by_more(backend: str, replaced: Any) -> None:
    replaced("__sub__", lambda form: lambda self, other: form(self, other) + 1e-4)
    with ad.precision(32), Verification() as verification:
        ad.asarray([0.2, 0.3], backend=backend) - 0.2
    assert [row.function for row in verification.differences()] == ["np.subtract"]


def test_lines_warn_as_often_as_without_verification(backend: str) -> None:
    """Python remembers which lines have warned until filters change."""
    x = ad.asarray(np.arange(4.0), backend=backend)
    counts = []
    for verified in (contextlib.nullcontext(), Verification()):
        with warnings.catch_warnings(record=True) as caught, verified:
            warnings.simplefilter("default")
            for _ in range(3):
                np.array([1.0]) / np.array([0.0])
                np.log(x)
        counts.append(len(caught))
    assert counts[0] == counts[1] >= 2


# -- what is wrong is found --------------------------------------------------------------------------------------------


def test_a_broken_kernel_is_named_at_its_first_use(backend: str, break_kernel: Any) -> None:
    held = loader.load(backend)
    break_kernel(held, np.arctan, lambda x: x + x * 1e-8)
    a, out = ad.asarray(A, backend=backend), io.StringIO()
    # Without a policy the NumPy backend hands whole calls to NumPy: it has no kernel to break.
    with ad.precision(64 if held.native_is_ndarray else None), Verification(out) as verification:
        np.sin(a)
        first = _line() + 1
        b = np.arctan(a)
        np.arctan(b)
        np.arctan(b)
    found = verification.differences()
    assert [(row.function, row.file, row.line) for row in found] == [
        ("np.arctan", HERE, first),
        ("np.arctan", HERE, first + 1),
        ("np.arctan", HERE, first + 2),
    ]
    assert 0.9e-8 < found[0].error < 1.1e-8
    assert float(found[0].ours) == pytest.approx(float(found[0].numpy), rel=1e-7)
    said = out.getvalue()
    assert said.startswith(f"arraydispatch: {HERE}:{first}: np.arctan differs from NumPy: ")
    assert said.count("\n") == 1  # the first, at once


def test_a_wrong_dtype_and_a_wrong_shape_are_named(replaced: Any) -> None:
    a = ad.asarray(A)
    replaced("cumsum", lambda form: lambda self: form(self).astype(np.float32))
    replaced("ravel", lambda form: lambda self: self)
    with Verification() as verification:
        a.cumsum()
        a.ravel()
    assert [row.text for row in verification.differences()] == [
        "dtype float32 where NumPy has float64",
        "shape (6, 4) where NumPy has (24,)",
    ]


def test_a_write_that_misses_the_array_is_named(replaced: Any) -> None:
    a = ad.asarray(A, copy=True)
    replaced("__setitem__", lambda form: lambda self, key, value: None)
    with Verification() as verification:
        line = _line() + 1
        a[2:, 1] = 5.0
    (found,) = verification.differences()
    assert (found.function, found.line, found.count) == ("__setitem__", line, 1)


def test_a_write_that_hits_too_much_is_named(replaced: Any) -> None:
    a = ad.asarray(A, copy=True)
    view = a[:2]
    replaced("__setitem__", lambda form: lambda self, key, value: form(a, ..., value))
    with Verification() as verification:
        view[0] = 5.0
    assert [row.function for row in verification.differences()] == ["__setitem__"]


def test_a_view_that_lost_its_array_is_named(backend: str) -> None:
    a = ad.asarray(A, backend=backend, copy=True)
    view = a[1:3]
    np.array(view)
    lost = process.wrapper(ad.asarray(A[1:3] + 1, backend=backend)._v, view._kind)
    lost._base, lost._ghost = a, views.ghost(view)
    with Verification() as verification:
        np.array(view * 1)
        assert verification.differences() == []
        lost * 1  # type: ignore[operator]
    assert [row.function for row in verification.differences()] == ["np.multiply"]


def test_an_error_that_numpy_does_not_raise_is_named(replaced: Any) -> None:
    def fails(self: Any) -> None:
        raise RuntimeError("out of luck")

    replaced("cumsum", lambda form: fails)
    with Verification() as verification, pytest.raises(RuntimeError):
        ad.asarray(A).cumsum()
    assert "RuntimeError: out of luck" in verification.differences()[0].text


def test_eigenvectors_have_no_sign_but_must_be_eigenvectors(monkeypatch: pytest.MonkeyPatch) -> None:
    from arraydispatch.dispatch import functions

    real = functions.call
    for factor, count in ((-1.0, 0), (1.1, 1)):

        def call(func: Any, args: Any, kwargs: Any, factor: float = factor) -> Any:
            w, v = real(func, args, kwargs)
            return w, v * factor

        monkeypatch.setattr("arraydispatch.dispatch.protocols._call", call)
        with Verification() as verification:
            np.linalg.eigh(ad.asarray(SQUARE))
        assert len(verification.differences()) == count


@pytest.mark.parametrize(
    ("ours", "reference", "beyond"),
    [
        ([1.0, np.nan, np.inf], [1.0, np.nan, np.inf], False),
        ([1.0, 0.0], [1.0, np.nan], True),
        ([np.inf], [1e300], True),
        ([-np.inf], [np.inf], True),
        ([0.0], [-0.0], False),
        ([1.0 + 1e-12], [1.0], False),
        ([1.0 + 1e-9], [1.0], True),
        ([0.0], [1e-310], False),  # subnormals may become zero
        ([0.0], [1e-300], True),
        ([1], [2], True),
        ([True], [True], False),
        ([], [], False),
    ],
)
def test_comparison(ours: list[Any], reference: list[Any], beyond: bool) -> None:
    assert compare(np.array(ours), np.array(reference)).beyond is beyond


def test_underflow_counts_at_16_bits() -> None:
    assert compare(np.zeros(1, np.float16), np.array([3e-8])).beyond
    assert compare(np.array([np.inf], np.float16), np.array([70000.0])).beyond
    assert not compare(np.array([0.1], np.float16), np.array([0.1])).beyond


# -- the command -------------------------------------------------------------------------------------------------------

ENV = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def _verify(backend: str, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "arraydispatch", "run", "--backend", backend, "--verify", *args]
    return subprocess.run(command, env=ENV, capture_output=True, text=True, timeout=600)


def _digits(zygote: Zygote, *options: str) -> Done:
    return zygote.run("digits_pca.py", cwd=EXAMPLES, options=(*options, "--min-size", "0"))


@pytest.mark.one_backend("digits verified")
@pytest.mark.slow
def test_sixteen_bits_are_not_enough_for_the_digits(backend: str, zygotes: Zygotes) -> None:
    pytest.importorskip("sklearn")
    done = _digits(zygotes.of(backend), "--verify", "--precision", "16")
    assert done.code == 0, done.stderr
    first = next(line for line in done.stderr.splitlines() if " differs from NumPy: " in line)
    assert re.match(r"arraydispatch: .*digits_pca\.py:\d+: \S+ differs from NumPy: .* where NumPy has ", first)
    assert int(re.search(r"([\d,]+) differences? beyond", done.stderr)[1].replace(",", "")) > 0  # type: ignore[index]


@pytest.mark.one_backend("digits verified")
@pytest.mark.slow
def test_sixty_four_bits_are(backend: str, zygotes: Zygotes) -> None:
    pytest.importorskip("sklearn")
    plain, done = _digits(zygotes.plain), _digits(zygotes.of(backend), "--verify", "--precision", "64")
    assert done.code == 0, done.stderr
    assert " 0 differences beyond the tolerance" in done.stderr
    assert done.stdout.splitlines()[0] == plain.stdout.splitlines()[0]


@pytest.mark.one_backend
@pytest.mark.slow
@pytest.mark.parametrize("script", ["adoption", "index_objects", "optimise", "writes"])
def test_programs_of_every_kind(backend: str, script: str, zygotes: Zygotes) -> None:
    """The same output as without NumPy beside it, and nothing differs."""
    corpus = ROOT / "tests" / "launcher" / "corpus"
    plain = zygotes.plain.run(f"{script}.py", cwd=corpus)
    done = zygotes.of(backend).run(f"{script}.py", cwd=corpus, options=("--min-size", "0", "--verify"))
    assert (done.code, done.stdout) == (plain.code, plain.stdout), done.stderr
    assert " 0 differences beyond the tolerance" in done.stderr


def test_a_kernel_broken_by_the_script(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(
        "import numpy as np\n"
        "from arraydispatch.backends import loader\n"
        "kernels = loader.load('numpy').UFUNCS\n"
        "right = kernels[np.arctan]\n"
        "kernels[np.arctan] = lambda x, **kw: right(x) + 1\n"
        "x = np.linspace(0.0, 1.0, 1000)\n"
        "y = np.sin(x)\n"
        "z = np.arctan(y)\n"
        "print(z[0])\n"
    )
    done = _verify("numpy", "--precision", "64", "--min-size", "0", str(script))
    assert done.returncode == 0
    assert done.stdout == "1.0\n"
    assert f"{script}:8: np.arctan differs from NumPy: " in done.stderr
    assert " 1 difference beyond the tolerance" in done.stderr
