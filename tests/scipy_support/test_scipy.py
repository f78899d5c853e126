"""SciPy is the oracle: its functions on arrays give its values, dtypes, shapes and exceptions, and the library computes them."""

from __future__ import annotations

import itertools
import pickle
import random
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import fft, integrate, interpolate, linalg, ndimage, signal, special, stats
from scipy.spatial import distance

import arraydispatch as ad
from arraydispatch import interop, scipy_support
from arraydispatch.common import names
from arraydispatch.functions import registry
from arraydispatch.interop import import_notices, packages
from tests import oracle
from tests.rows import SHARE
from tests.scipy_support import cases

ROOT = Path(__file__).resolve().parents[2]
MODULES = {
    "np": np, "linalg": linalg, "signal": signal, "stats": stats, "fft": fft, "ndimage": ndimage,
    "integrate": integrate, "special": special, "distance": distance,
}  # fmt: skip
EXPRESSIONS = cases.expressions()
BACKENDS = ["jax", "torch", "tensorflow"]

pytestmark = pytest.mark.compiles(5)


@pytest.fixture(params=BACKENDS)
def library(request: pytest.FixtureRequest) -> str:
    if request.param not in ad.available_backends():
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)


def evaluate(expression: str, arrays: dict[str, Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(expression, {**MODULES, **arrays})
        except Exception as error:
            return error


def close(ours: Any, theirs: Any, where: str) -> None:
    if type(ours) is type(theirs) is float:
        ours, theirs = np.float64(ours), np.float64(theirs)
    for got, want in oracle.parts(ours, theirs, where):
        rtol = 2e-3 if want.dtype.itemsize == 2 else 1e-5 if want.dtype in (np.float32, np.complex64) else 1e-10
        largest = np.max(np.abs(want[np.isfinite(want)]), initial=1.0)
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * largest, err_msg=where)


def wrong(backend: str, expressions: list[str]) -> list[str]:
    """What differs from SciPy, or was not computed by the library."""
    ours = {name: oracle.wrapped(backend, x) for name, x in oracle.ARRAYS.items()}
    found = []
    for expression in expressions:
        wanted = evaluate(expression, {name: x.copy(order="K") for name, x in oracle.ARRAYS.items()})
        with ad.fallback("error"):
            got = evaluate(expression, ours)
        try:
            close(got, wanted, expression)
        except AssertionError as error:
            found.append(str(error))
    return found


@pytest.mark.compiles(1)
@pytest.mark.slow
def test_values_dtypes_shapes_and_exceptions_are_scipys(
    library: str, seed: int, request: pytest.FixtureRequest
) -> None:
    """On JAX, which compiles each shape of each step, and on TensorFlow a part of the cases, drawn anew, unless all are asked for.

    PyTorch runs all of them, and the functions are composed of the same steps on each library.
    """
    one_of = 1 if request.config.option.all else {"jax": 2 * SHARE, "tensorflow": 4}.get(library, 1)
    drawn = random.Random(seed).sample(EXPRESSIONS, len(EXPRESSIONS) // one_of)
    assert wrong(library, drawn) == []


def test_batches_that_scipy_takes(library: str) -> None:
    stack = np.arange(18.0).reshape(2, 3, 3) % 7 + np.eye(3)
    ours = ad.asarray(stack, backend=library)
    with ad.fallback("silent"):
        made = linalg.orthogonal_procrustes(ours, ours)
    for got, wanted in zip(made, linalg.orthogonal_procrustes(stack, stack), strict=True):
        np.testing.assert_allclose(
            np.asarray(got), wanted, rtol=1e-12, atol=1e-14
        )  # a rotation: ones, and zeros but for rounding


def test_values_on_numpy_are_scipys_own() -> None:
    x = ad.wrap(np.arange(9.0).reshape(3, 3) + np.eye(3))
    for made, wanted in ((linalg.expm(x), linalg.expm(np.asarray(x))), (fft.fft(x), fft.fft(np.asarray(x)))):
        assert isinstance(made, ad.Array)
        np.testing.assert_array_equal(made, wanted)


def test_what_scipy_fills_and_what_it_is_given_twice(library: str) -> None:
    host = np.arange(64.0) % 7
    x = ad.asarray(host, backend=library)
    with ad.fallback("silent"):
        found = signal.csd(x, x, nperseg=16)[1]  # of one object the spectrum is real
        distances = ad.asarray(np.zeros((8, 8)), backend=library)
        places = ad.asarray(np.zeros((2, 8, 8), "int32"), backend=library)
        ndimage.distance_transform_edt(x.reshape(8, 8) > 2, distances=distances, return_indices=True, indices=places)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, signal.csd(host, host, nperseg=16)[1], rtol=1e-12)
    wanted = ndimage.distance_transform_edt(host.reshape(8, 8) > 2, return_indices=True)
    np.testing.assert_array_equal(distances, wanted[0])
    np.testing.assert_array_equal(places, wanted[1])


def test_a_convolution_by_spectrum_tells_of_what_is_not_finite(library: str) -> None:
    x = ad.asarray([1.0, np.nan, 2.0], backend=library)
    with pytest.warns(RuntimeWarning, match="NAN or inf"):
        signal.convolve(x, x, method="fft")


def test_a_singular_matrix_has_factors(library: str) -> None:
    x = ad.asarray(np.zeros((3, 3)), backend=library)
    with ad.fallback("silent"), pytest.warns(linalg.LinAlgWarning, match="exactly zero"):
        factors, pivots = linalg.lu_factor(x)
    assert factors.backend.name == pivots.backend.name == library
    np.testing.assert_array_equal(np.asarray(factors), np.zeros((3, 3)))
    np.testing.assert_array_equal(np.asarray(pivots), [0, 1, 2])


_OF_A_MATRIX: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(linalg, name) for name in (
        "inv det svdvals eigvalsh lu_factor lu pinv pinvh cholesky expm norm null_space polar".split()
    )},
    "eigh": lambda a: linalg.eigh(a, eigvals_only=True), "eigvals": lambda a: np.sort(linalg.eigvals(a)), "solve": lambda a: linalg.solve(a, a[0]),
    "lstsq": lambda a: linalg.lstsq(a, a[0]), "solve_triangular": lambda a: linalg.solve_triangular(a, a[0]),
    "lu_solve": lambda a: linalg.lu_solve(linalg.lu_factor(a), a[0]), "mixed": lambda a: linalg.solve(a, np.ones(3, "f4")),
    "cho_solve": lambda a: linalg.cho_solve(linalg.cho_factor(a), a[0]), "norm of rows": lambda a: linalg.norm(a, axis=1),
    "2-norm": lambda a: linalg.norm(a, 2),
    "one equation in each row": lambda a: linalg.solve(a[:1, :1], a[0]),
}  # fmt: skip


@pytest.mark.parametrize("name", _OF_A_MATRIX)
def test_matrices_of_every_dtype(library: str, name: str, drawn: Callable[..., list[Any]]) -> None:
    """LAPACK's routines have single precision for small whole numbers, SciPy's own compiled code double."""
    func, host = _OF_A_MATRIX[name], np.array([[4, 1, 0], [1, 5, 2], [0, 2, 6]])
    for dtype in drawn("bBhHeiIlLfdFD", library, 4):
        a = host.astype(dtype)
        with ad.fallback("silent"):
            got, want = (evaluate("func(a)", {"func": func, "a": x}) for x in (ad.asarray(a, backend=library), a))
        if isinstance(want, np.ndarray | np.generic) and dtype not in "dD":
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-2 if want.dtype == np.float16 else 1e-4, atol=1e-4)
        else:
            for x, y in oracle.parts(got, want, f"{name} of {dtype}"):
                np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(3, 4, 4), (2, 3, 5, 5), (2, 1, 1)])
def test_factors_of_many_matrices(library: str, shape: tuple[int, ...], drawn: Callable[..., list[Any]]) -> None:
    a = np.random.default_rng(5).normal(size=shape)
    x, n = ad.asarray(a, backend=library), shape[-1]
    with ad.fallback("error"):
        for options in ({}, {"permute_l": True}, {"p_indices": True}):
            for got, want in zip(linalg.lu(x, **options), linalg.lu(a, **options)):
                assert (got.dtype, got.shape) == (want.dtype, want.shape)
                np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-13)
        ours, theirs = linalg.lu_factor(x), linalg.lu_factor(a)
        np.testing.assert_array_equal(ours[1], theirs[1])
        sizes = (n,), (n, 2), (*shape[:-2], n, 2), (2, *shape[:-2], n, 1)
        for size, trans in drawn(itertools.product(sizes, (0, 1, 2)), library, 3):
            b = np.random.default_rng(6).normal(size=size)
            got = linalg.lu_solve(ours, ad.asarray(b, backend=library), trans=trans)
            np.testing.assert_allclose(got, linalg.lu_solve(theirs, b, trans=trans), rtol=1e-8)


def test_which_of_many_matrices_are_singular(library: str) -> None:
    x = ad.asarray(np.stack([np.eye(2), np.zeros((2, 2)), np.diag([1.0, 0.0])]), backend=library)
    with ad.fallback("silent"), pytest.warns(linalg.LinAlgWarning) as told:
        linalg.lu_factor(x)
    assert [str(w.message)[:17] for w in told] == ["Diagonal number 1", "Diagonal number 2"]


def test_there_are_many() -> None:
    """With the ufuncs of ``scipy.special``, of which test_special counts a hundred, far more than 150."""
    for topic in set(scipy_support.MODULES.values()):
        scipy_support.load(topic)
    known = [func for func in registry.SCIENTIFIC if func in registry.SPECS]
    assert len(known) >= 150
    functions = {names.FULL[func].rpartition(".")[2] for func in known}
    without = {name for name in functions if f".{name}(" not in " ".join(EXPRESSIONS)}
    assert without <= {"freqz_sos", "__call__"}  # SciPy's name for sosfreqz; CZT's, which zoom_fft calls


# -- the door --------------------------------------------------------------------------------------------------------------


def test_the_modules_that_are_watched() -> None:
    assert scipy_support.MODULES.keys() | packages.MODULES == import_notices.WATCHED


def test_a_stand_in_is_scipys_function_without_arrays() -> None:
    a = np.arange(9.0).reshape(3, 3)
    assert isinstance(linalg.expm(a), np.ndarray)
    assert linalg.expm.__name__ == "expm"
    assert linalg.expm.__doc__ == linalg.expm.real.__doc__
    assert pickle.loads(pickle.dumps(linalg.expm)) is linalg.expm
    with pytest.raises(TypeError):
        linalg.expm()
    with pytest.warns(linalg.LinAlgWarning) as seen:
        linalg.inv(np.diag([1.0, 1e-20]))
    assert seen[0].filename == __file__


def test_what_no_library_has_runs_on_the_host_by_the_policy(library: str) -> None:
    values = np.arange(40.0) % 7
    x = ad.asarray(values, backend=library)
    with ad.fallback("error"), pytest.raises(ad.HostFallbackError, match=r"scipy\.ndimage\.distance_transform_edt"):
        ndimage.distance_transform_edt(x)
    with (
        ad.profile() as profile,
        ad.fallback("warn"),
        pytest.warns(ad.HostFallbackWarning, match="distance_transform_edt") as seen,
    ):
        made = ndimage.distance_transform_edt(x)
    assert seen[0].filename == __file__
    assert made.backend.name == library
    np.testing.assert_allclose(np.asarray(made), ndimage.distance_transform_edt(values))
    rows = (
        [row for row in profile.records if row.function == "scipy.ndimage.distance_transform_edt"]
        if hasattr(profile, "records")
        else []
    )
    assert all(row.kind == "host" for row in rows)


def test_objects_of_scipys(library: str) -> None:
    x, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 4.0, 9.0])
    ours = [ad.asarray(v, backend=library) for v in (x, y, np.array([0.5, 2.5]))]
    with ad.fallback("silent"):
        made = interpolate.CubicSpline(ours[0], ours[1])(ours[2])
    assert made.backend.name == library
    np.testing.assert_allclose(np.asarray(made), [0.25, 6.25])
    with ad.fallback("error"), pytest.raises(ad.HostFallbackError, match="CubicSpline"):
        interpolate.CubicSpline(ours[0], ours[1])
    with ad.fallback("silent"):
        tests = stats.t.pdf(ours[0], 3.0)
    np.testing.assert_allclose(np.asarray(tests), stats.t.pdf(x, 3.0))


def test_output_is_written(library: str) -> None:
    x = ad.asarray(np.arange(6.0), backend=library)
    out = ad.asarray(np.zeros(6), backend=library)
    with ad.fallback("silent"):
        assert ndimage.gaussian_filter1d(x, 1.0, output=out) is out
    np.testing.assert_allclose(np.asarray(out), ndimage.gaussian_filter1d(np.arange(6.0), 1.0))
    np.testing.assert_array_equal(np.asarray(x), np.arange(6.0))


def test_output_of_another_dtype_is_written_by_the_library(library: str) -> None:
    host = np.arange(12.0).reshape(3, 4)
    x = ad.asarray(host, backend=library)
    for func, *args in (
        (ndimage.gaussian_filter, 1.0), (ndimage.median_filter, 3), (ndimage.shift, 0.5), (ndimage.generic_filter, np.mean, 2),
    ):  # fmt: skip
        out, wanted = ad.asarray(np.zeros((3, 4), "f4"), backend=library), np.zeros((3, 4), "f4")
        with ad.fallback("error"):
            assert func(x, *args, output=out) is out
        func(host, *args, output=wanted)
        np.testing.assert_allclose(np.asarray(out), wanted, rtol=1e-6)
    with ad.fallback("silent"), pytest.raises(RuntimeError, match="output shape"):
        ndimage.gaussian_filter(x, 1.0, output=ad.asarray(np.zeros((4, 4)), backend=library))


def test_what_scipy_makes_of_dtypes_that_it_has_no_code_for(library: str) -> None:
    x, halves = np.arange(24.0).reshape(3, 8) + 2j, np.ones((3, 3), "f2")
    with ad.fallback("silent"):
        with pytest.warns(np.exceptions.ComplexWarning):
            made = signal.savgol_filter(ad.asarray(x, backend=library), 5, 2)
        with pytest.raises(TypeError, match="signature"):
            ndimage.label(ad.asarray(halves, backend=library))
    np.testing.assert_allclose(made, signal.savgol_filter(x.real, 5, 2))


@pytest.mark.parametrize(
    ("wanted", "dtypes"),
    [
        ((2, 0.3), ("f8", "f4")), ((4, 0.1), ("f8", "f4")), ((8, 0.05), ("f8",)), ((2, 0.01), ("f8",)),
    ],
)  # fmt: skip
def test_a_recursive_filter_is_as_accurate_as_scipys(
    library: str, wanted: tuple[Any, ...], dtypes: tuple[str, ...]
) -> None:
    """Against SciPy's own in long double; single precision is computed in double, so much better than SciPy does."""
    b, a = signal.butter(*wanted)
    x = np.random.default_rng(5).normal(size=3000)
    for dtype in dtypes:
        given = [v.astype(dtype) for v in (b, a, x)]
        true = signal.lfilter(*[v.astype(np.longdouble) for v in given])
        with ad.fallback("error"):
            ours = signal.lfilter(*given[:2], ad.asarray(given[2], backend=library))
        assert ours.dtype == given[2].dtype
        theirs = signal.lfilter(*given)
        size = np.max(np.abs(true))
        errors = [float(np.max(np.abs(np.asarray(v) - true)) / size) for v in (ours, theirs)]
        assert errors[0] <= 4 * errors[1] + np.finfo(dtype).eps


@pytest.mark.parametrize(("wanted", "sizes"), [((4, 0.3), (3, 428, 900)), ((2, 0.01), (40, 2500))])
def test_a_filter_goes_on_where_it_stopped_as_accurately_as_scipys(
    library: str, wanted: tuple[Any, ...], sizes: tuple[int, ...]
) -> None:
    """The states at the end are the beginning of the next part, where their errors are amplified."""
    b, a = signal.butter(*wanted)
    x = np.cumsum(np.random.default_rng(6).normal(size=sum(sizes)))
    parts = np.split(x, np.cumsum(sizes)[:-1])

    def run(take: Callable[[Any], Any], dtype: Any) -> list[Any]:
        states, made = signal.lfilter_zi(b, a).astype(dtype) * x[0].astype(dtype), []
        for part in parts:
            out, states = signal.lfilter(b.astype(dtype), a.astype(dtype), take(part.astype(dtype)), zi=states)
            made.append(np.asarray(out))
        return [np.concatenate(made), np.asarray(states)]

    true, theirs = run(np.asarray, np.longdouble), run(np.asarray, np.float64)
    with ad.fallback("error"):
        ours = run(lambda part: ad.asarray(part, backend=library), np.float64)
    for got, other, exact in zip(ours, theirs, true):
        size = np.max(np.abs(exact))
        errors = [float(np.max(np.abs(v - exact)) / size) for v in (got, other)]
        assert errors[0] <= 10 * errors[1] + np.finfo(float).eps


@pytest.mark.parametrize("n", [1, 5, 16])
@pytest.mark.parametrize("dtype", ["d", "f", "D"])
def test_a_few_elements_are_filtered_as_scipy_does(library: str, n: int, dtype: str) -> None:
    """What states lose in a step cannot be had by products of matrices: poles close together, and any states to begin with."""
    b, a = signal.butter(8, 0.02)
    rng = np.random.default_rng(4)
    x = rng.normal(size=(3, n)).astype(dtype)
    states = rng.normal(size=(3, 8)) * signal.lfilter_zi(b, a)
    with ad.fallback("error"):
        made = signal.lfilter(b, a, ad.asarray(x, backend=library), zi=ad.asarray(states, backend=library))
        parts = signal.sosfilt(
            signal.butter(4, 0.02, output="sos"), ad.asarray(x, backend=library), zi=np.ones((2, 3, 2))
        )
    for got, want in zip(made, signal.lfilter(b, a, x, zi=states), strict=True):
        np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=1e-15 * np.abs(want).max())
    # SciPy adds the terms of a section in another order
    for got, want in zip(
        parts, signal.sosfilt(signal.butter(4, 0.02, output="sos"), x, zi=np.ones((2, 3, 2))), strict=True
    ):
        np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=1e-14 * np.abs(want).max())


def test_a_smoothing_of_no_rows_is_scipys_error(library: str) -> None:
    for host in (np.zeros((0, 8)), np.zeros((8, 0))):
        with pytest.raises(ValueError, match=r"illegal value|window_length") as theirs:
            signal.savgol_filter(host, 5, 2)
        with pytest.raises(type(theirs.value)) as ours, ad.fallback("silent"):
            signal.savgol_filter(ad.asarray(host, backend=library), 5, 2)
        assert str(ours.value) == str(theirs.value)


def test_gustafssons_ends_are_nearer_the_truth_than_scipys(library: str) -> None:
    """They are found by least squares whose matrix has a condition of 1e12: SciPy's filter, in doubles, loses a digit of the result.

    Here the same equations are solved in seventy digits.
    """
    mp = pytest.importorskip("mpmath").mp
    b, a = signal.butter(4, [0.5, 40], fs=250, btype="band")
    x, order = np.cumsum(np.random.default_rng(0).normal(size=80)), len(a) - 1
    n = len(x)

    def run(values: list[Any], states: list[Any]) -> list[Any]:
        out = []
        for value in values:
            y = weights[0] * value + states[0]
            later = [*states[1:], mp.mpf(0)]
            states = [later[k] + weights[k + 1] * value - poles[k + 1] * y for k in range(order)]
            out.append(y)
        return out

    with mp.workdps(70):
        weights, poles, zeros = [mp.mpf(v) for v in b.tolist()], [mp.mpf(v) for v in a.tolist()], [mp.mpf(0)] * order
        first = run([mp.mpf(0)] * n, [mp.mpf(1), *zeros[1:]])
        free = [[mp.mpf(0)] * k + first[: n - k] for k in range(order)]
        turned = [run(c[::-1], zeros) for c in free]
        ends = [c[::-1] for c in (*turned, *free)]
        matrix = [[p - q for p, q in zip(u, v)] for u, v in zip(ends, (*free, *turned))]
        values = [mp.mpf(v) for v in x.tolist()]
        ahead = run(run(values, zeros)[::-1], zeros)[::-1]
        other = run(run(values[::-1], zeros)[::-1], zeros)
        apart = [p - q for p, q in zip(other, ahead)]
        square = mp.matrix([[mp.fdot(u, v) for v in matrix] for u in matrix])
        found = mp.lu_solve(square, mp.matrix([mp.fdot(u, apart) for u in matrix]))
        true = np.array([float(y + mp.fdot(found, [c[t] for c in ends])) for t, y in enumerate(ahead)])
    with ad.fallback("silent"):  # the least squares
        ours = np.asarray(signal.filtfilt(b, a, ad.asarray(x, backend=library), method="gust"))
    theirs = signal.filtfilt(b, a, x, method="gust")
    errors = [float(np.abs(v - true).max()) for v in (ours, theirs)]
    assert errors[0] <= errors[1]
    assert errors[0] < 1e-2 * np.abs(true).max()


def test_what_a_filter_that_is_run_in_blocks_refuses(library: str) -> None:
    grows = ad.asarray(np.ones(4000), backend=library)
    with ad.fallback("error"), pytest.raises(ad.HostFallbackError, match="grows"):
        signal.lfilter([1.0], [1.0, -1.5], grows)
    with ad.fallback("error"), pytest.raises(ad.HostFallbackError, match="does not fade"):
        signal.lfilter([1.0], [1.0, -0.999], grows)
    b, a = signal.butter(8, 0.02)
    with ad.fallback("error"), pytest.raises(ad.HostFallbackError, match="states grow"):
        signal.lfilter(b, a, grows[:600], zi=signal.lfilter_zi(b, a))
    gap = ad.asarray(np.where(np.arange(300) == 200, np.nan, 1.0), backend=library)
    with ad.fallback("silent"):  # what is before it stays finite
        made = signal.lfilter([1.0], [1.0, -0.5], gap)
    np.testing.assert_array_equal(np.isnan(np.asarray(made)), np.arange(300) >= 200)


def test_precision(library: str) -> None:
    x = ad.asarray(np.eye(3), backend=library)
    with ad.precision(32):
        assert linalg.expm(x).dtype == np.float32
        assert fft.fft(x).dtype == np.complex64


def test_a_function_of_the_host_inside_a_compiled_one_is_an_error(library: str) -> None:
    x = ad.asarray(np.arange(5.0), backend=library)
    with pytest.raises((ad.TraceError, ad.HostFallbackError)):
        ad.jit(ndimage.distance_transform_edt)(x)


def test_what_is_composed_works_inside_a_compiled_one(library: str) -> None:
    x = np.arange(9.0).reshape(3, 3) / 5
    run = ad.jit(lambda v: linalg.expm(v) + ndimage.gaussian_filter(v, 1.0))
    wanted = linalg.expm(x) + ndimage.gaussian_filter(x, 1.0)
    np.testing.assert_allclose(np.asarray(run(ad.asarray(x, backend=library))), wanted, rtol=1e-10)


def test_a_stand_in_is_written_by_its_name() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    for write in (pickle.dumps, cloudpickle.dumps):
        assert pickle.loads(write(ndimage.correlate)) is ndimage.correlate
    assert {ndimage.correlate: 1}[ndimage.correlate.real] == 1  # type: ignore[attr-defined]


def test_stand_ins_are_taken_out_and_put_back() -> None:
    before = linalg.expm
    assert before.made in registry.SCIENTIFIC
    interop.uninstall()
    try:
        assert linalg.expm is before.real
        with interop.installed():
            assert linalg.expm is before
        assert linalg.expm is before.real
    finally:
        interop.install()
    assert linalg.expm is before


def test_without_stand_ins_scipy_computes_on_the_host_and_says_so(library: str) -> None:
    x = ad.asarray(np.arange(9.0).reshape(3, 3) / 9, backend=library)
    wanted = linalg.expm(x.to_numpy())
    interop.uninstall()
    try:
        for call, name in (
            (lambda: linalg.expm(x), r"scipy\.linalg\.expm"),
            (lambda: stats.zscore(x, axis=None), r"scipy\.stats\.zscore"),
            (lambda: linalg.toeplitz(x[0]), r"scipy\.linalg\.toeplitz"),
        ):
            with pytest.warns(ad.HostFallbackWarning, match=f"{name} runs on the host.*interop.install") as seen:
                made = call()
            assert type(made) is np.ndarray and seen[0].filename == __file__
            with ad.fallback("error"), pytest.raises(ad.HostFallbackError, match=name):
                call()
            with ad.fallback("silent"):
                call()
        assert type(special.erf(x)) is ad.Array  # a ufunc, which NumPy dispatches
        with ad.fallback("silent"):
            np.testing.assert_allclose(linalg.expm(x), wanted, rtol=1e-12)
        with pytest.raises(ad.TraceError):
            ad.grad(lambda v: linalg.expm(v).sum())(x)
    finally:
        interop.install()


WITHOUT = """
import sys
import arraydispatch as ad
x = ad.asarray([1.0, 2.0], backend="numpy")
ad.interop.install()
assert not [m for m in sys.modules if m.partition(".")[0] == "scipy"], "SciPy is imported"
from scipy.linalg import norm
print(type(norm).__name__)
"""
BEFORE = """
from scipy.linalg import toeplitz
import arraydispatch as ad
ad.interop.install()
print(type(toeplitz(ad.asarray([1.0, 2.0], backend="numpy"))).__name__)
"""


@pytest.mark.parametrize(("code", "said"), [(WITHOUT, "Front"), (BEFORE, "Array")])
def test_imports_in_either_order(code: str, said: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout.strip(), done.stderr) == (said, "")
