"""Host kernels: NumPy on the library's own memory, told as such, with the results of the library's own kernels."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.special

import arraydispatch as ad
from arraydispatch import scipy_support
from arraydispatch.backends import host_kernels, loader
from arraydispatch.common import names, tracing
from tests import oracle
from tests.functions.test_sorting import CASES

LISTED = {
    (name, func): kind
    for name in ad.available_backends()
    for kind, funcs in (("host kernel", loader.load(name).HOST_KERNELS), ("hosted", loader.load(name).LEFT_TO_NUMPY))
    for func in funcs
    if not str(func).startswith("scipy.special.")
}
"""Backend and function -> the class of its calls."""
SPECIAL = [
    (name, func)
    for name in ad.available_backends()
    for func in loader.load(name).LEFT_TO_NUMPY
    if str(func).startswith("scipy.special.")
]
"""Backend and ufunc of SciPy's that is left to SciPy."""
ROUNDED = {
    np.linalg.eigh, np.linalg.eigvalsh, np.linalg.svd, np.linalg.svdvals, np.linalg.qr, np.cov, np.corrcoef, np.fft.rfft, np.fft.irfft,
}  # fmt: skip
"""What libraries round otherwise, each in its order of operations."""
OWN = {np.sqrt: 2.3e-16, np.cbrt: 5e-16, np.arcsinh: 5e-16, np.arccosh: 5e-16}
"""Relative error of torch's own functions of real numbers, which are not correctly rounded."""
_NUMBERS = np.random.default_rng(7).permutation(20_000) / 8 - 1000  # no two are equal
CALLS: dict[Any, Any] = {
    np.sqrt: lambda x: np.sqrt(np.abs(x)),
    np.sort: np.sort,
    np.argsort: np.argsort,
    np.argmax: np.argmax,
    np.argmin: lambda x: np.argmin(x.reshape(2, -1), axis=1),
    np.isnan: np.isnan,
    np.isinf: np.isinf,
    np.isfinite: np.isfinite,
    np.cumsum: np.cumsum,
    np.cumprod: lambda x: np.cumprod(x > 0),
    np.partition: lambda x: np.partition(x, 5)[5],
    np.argpartition: lambda x: x[np.argpartition(x, 5)[5]],
    np.lexsort: lambda x: np.lexsort((x, np.abs(x))),
    np.sort_complex: np.sort_complex,
    np.nonzero: np.nonzero,
    np.flatnonzero: np.flatnonzero,
    np.argwhere: np.argwhere,
    np.bincount: lambda x: np.bincount(np.tile(np.abs(x).astype(np.int64), 8)),
    np.linalg.eigh: lambda x: np.linalg.eigh(_matrix(x))[0],
    np.linalg.eigvalsh: lambda x: np.linalg.eigvalsh(_matrix(x)),
    np.linalg.svd: lambda x: np.linalg.svd(_matrix(x))[1],
    np.linalg.svdvals: lambda x: np.linalg.svdvals(_matrix(x)),
    np.linalg.qr: lambda x: np.abs(np.linalg.qr(_matrix(x))[1]),
    **{
        func: func
        for func in (
            np.median,
            np.nanmedian,
            np.nanmax,
            np.nanmin,
            np.nanargmax,
            np.nanargmin,
            np.unique,
            np.unique_values,
        )
    },
    **{func: lambda x, func=func: func(x, 30) for func in (np.percentile, np.nanpercentile)},
    **{func: lambda x, func=func: func(x, 0.3) for func in (np.quantile, np.nanquantile)},
    **{func: lambda x, func=func: func(x)[1] for func in (np.unique_all, np.unique_counts, np.unique_inverse)},
    **{
        func: lambda x, func=func: func(x, x[:9] + 4)
        for func in (np.intersect1d, np.setdiff1d, np.setxor1d, np.union1d, np.isin)
    },
    **{func: lambda x, func=func: func(x, np.array([1.0, 2.0, 1.0]), "same") for func in (np.convolve, np.correlate)},
    **{func: lambda x, func=func: func(x > 0, x) for func in (np.compress, np.extract)},
    np.packbits: lambda x: np.packbits(x > 0),
    np.unpackbits: lambda x: np.unpackbits((x > 0).astype(np.uint8)),
    np.array_equal: lambda x: np.array_equal(x, x + 1),
    np.ldexp: lambda x: np.ldexp(x, 3),
    np.cbrt: np.cbrt,
    np.arcsinh: np.arcsinh,
    np.arccosh: lambda x: np.arccosh(np.abs(x) + 1),
    np.frexp: np.frexp,
    **{func: lambda x, func=func: func(x.reshape(4, -1)) for func in (np.cov, np.corrcoef)},
    np.fft.rfft: np.fft.rfft,
    np.fft.irfft: lambda x: np.fft.irfft(x + 1j),
    **{
        f"scipy.fft.{name}": lambda x, name=name: _scipys(f"scipy.fft.{name}")(x if name == "rfft" else x + 1j)
        for name in ("rfft", "irfft")
    },
    np.histogram: lambda x: np.histogram(x, 12)[0],
    np.allclose: lambda x: np.allclose(x, x + 1),
    np.clip: lambda x: np.clip(x, -5, 5),
    np.cross: lambda x: np.cross(x[:19_998].reshape(-1, 3), x[:3]),
    **{
        f"scipy.fft.{name}": lambda x, name=name: _scipys(f"scipy.fft.{name}")(x)
        for name in ("dct", "dst", "idct", "idst", "dctn", "dstn", "idctn", "idstn")
    },
    "scipy.signal.lfilter": lambda x: _scipys("scipy.signal.lfilter")([0.1, 0.2], [1.0, -0.5], x),
    "scipy.signal.sosfilt": lambda x: _scipys("scipy.signal.sosfilt")([[0.1, 0.2, 0.1, 1.0, -0.5, 0.25]], x),
    **{
        f"scipy.ndimage.{name}": lambda x, name=name, given=given: _scipys(f"scipy.ndimage.{name}")(
            x[:19_600].reshape(140, 140), *given
        )
        for name, given in {
            "affine_transform": (np.eye(2) * 0.9,),
            "map_coordinates": (np.arange(40.0).reshape(2, 20),),
            "rotate": (10,),
            "shift": (1.5,),
            "zoom": (0.5,),
            "uniform_filter": (5,),
            "uniform_filter1d": (5,),
            "gaussian_gradient_magnitude": (1,),
        }.items()
    },
}


def _scipys(name: str) -> Any:
    return scipy_support.stand_in(name)


def _matrix(x: Any) -> Any:
    return x[:4900].reshape(70, 70)


@pytest.fixture(params=[None, "eager"])
def execution(request: pytest.FixtureRequest) -> Iterator[str | None]:
    ad.use(execution=request.param)
    yield request.param
    ad.use(execution=None)


@pytest.mark.compiles(3)
@pytest.mark.parametrize(("name", "func"), LISTED, ids=lambda x: getattr(x, "__name__", x))
def test_every_host_kernel_is_told_and_eager_execution_has_none(name: str, func: Any, execution: str | None) -> None:
    x = ad.convert(ad.wrap(_NUMBERS), name)
    with ad.profile() as profile:
        got = CALLS[func](x)
    kinds = {call.kind for call in profile.calls() if call.function == names.name_of(func)}
    assert kinds <= {"native", "composed"} if execution == "eager" else kinds == {LISTED[name, func]}
    wanted = CALLS[func](_NUMBERS)
    for one, other in zip(*[x if isinstance(x, tuple) else (x,) for x in (got, wanted)], strict=True):
        rtol = OWN.get(func, 0) if execution == "eager" else 0
        exact = not (func in ROUNDED or isinstance(func, str)) or execution != "eager"
        np.testing.assert_allclose(np.asarray(one), other, rtol=rtol, atol=0 if exact else 1e-8)


@pytest.mark.parametrize(("name", "func"), SPECIAL)
def test_ufuncs_of_scipy_are_left_to_scipy_in_host_memory(name: str, func: str) -> None:
    ufunc, numbers = getattr(scipy.special, func.rpartition(".")[2]), np.abs(_NUMBERS) / 8000 + 0.03125
    x = ad.convert(ad.wrap(numbers), name)
    with ad.profile() as profile:
        made = ufunc(*[x] * ufunc.nin)
    assert {call.kind for call in profile.calls() if call.function == func} == {"hosted"}
    for one, other in zip(*[y if ufunc.nout > 1 else (y,) for y in (made, ufunc(*[numbers] * ufunc.nin))], strict=True):
        assert type(one) is ad.Array
        np.testing.assert_array_equal(np.asarray(one), other)


def test_special_functions_have_the_librarys_derivatives() -> None:
    x = ad.asarray(np.abs(_NUMBERS) / 2000 + 1, backend="torch")
    made = ad.grad(lambda x: scipy.special.gamma(x).sum())(x)
    values = np.asarray(x)
    np.testing.assert_allclose(np.asarray(made), scipy.special.gamma(values) * scipy.special.digamma(values), rtol=1e-9)


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_the_library_runs_in_transforms_what_is_left_to_numpy(backend: str) -> None:
    x = ad.asarray(_NUMBERS, backend=backend)
    made = ad.grad(lambda x: np.median(x) + np.clip(x, -5.01, 5.01).sum() + np.nanmax(x))(x)
    expected = ((_NUMBERS >= -5) & (_NUMBERS <= 5)).astype(float)
    expected[_NUMBERS.argmax()] += 1
    middle = np.argsort(_NUMBERS)[[9_999, 10_000]]
    expected[middle] += 0.5
    np.testing.assert_array_equal(np.asarray(made), expected)


def test_a_mask_is_a_host_kernel_only_where_it_may_be(execution: str | None) -> None:
    x = ad.convert(ad.wrap(_NUMBERS), "jax")
    with ad.profile() as profile:
        got = x[x > 0]
    assert ("host kernel" in profile.calls_by_class()) == (execution is None)
    np.testing.assert_array_equal(np.asarray(got), _NUMBERS[_NUMBERS > 0])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize(
    "shapes", [((64, 70), (70, 64)), ((2, 64, 70), (70, 64)), ((3, 1, 64, 70), (2, 70, 64))], ids=str
)
@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_complex_matrices_are_multiplied_by_numpy(backend: str, shapes: Any, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    a, b = ((rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype) for shape in shapes)
    with ad.profile() as profile:
        made = ad.asarray(a, backend=backend) @ ad.asarray(b, backend=backend)
    assert "host kernel" in profile.calls_by_class()
    assert (type(made), made.dtype, made.shape) == (ad.Array, dtype, (a @ b).shape)
    np.testing.assert_array_equal(np.asarray(made), a @ b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_thin_matrices_are_multiplied_by_numpy(dtype: Any, execution: str | None) -> None:
    pytest.importorskip("torch")
    whole, row = (_NUMBERS.reshape(200, 100) / 1000).astype(dtype), (_NUMBERS[:200] / 1000).astype(dtype)
    theirs = {
        "matrix and vector": (whole, row[:100]),
        "vector and matrix": (row, whole),
        "columns": (whole.T, row),
        "few columns": (whole, np.resize(row, (100, 5))),
        "few rows": (np.resize(row, (4, 200)), whole),
        "steps": (whole[:, ::2], row[:50]),
    }
    for name, (a, b) in theirs.items():
        x, y = (ad.asarray(part, backend="torch") for part in (a, b))
        with ad.profile() as profile:
            got = x @ y
        by_numpy = execution is None and a.ndim == b.ndim and a.size + b.size > 15_000
        assert ("host kernel" in profile.calls_by_class()) == by_numpy, name
        assert (type(got), got.dtype) == (ad.Array, dtype)
        np.testing.assert_allclose(np.asarray(got), a @ b, rtol=1e-4 if dtype is np.float32 else 1e-12, err_msg=name)
    x, y = (ad.asarray(part, backend="torch") for part in theirs["matrix and vector"])
    slope = ad.grad(lambda x: ((x @ y) ** 2).sum())(x)
    np.testing.assert_allclose(np.asarray(slope), 2 * np.outer(whole @ row[:100], row[:100]), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_division_by_a_number_is_checked_where_it_may_fail(backend: str, dtype: Any) -> None:
    numbers = np.array([np.inf, 3e38, 0.0, np.nan, -3.0], dtype)
    for divisor in (2.0, -1, 0.0, 1e-20, np.inf, 3, 1e39):
        made, said = [], []
        for x in (numbers, ad.asarray(numbers, backend=backend)):
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                made.append(np.asarray(x / divisor).tobytes())
            said.append({str(each.message) for each in told})
        assert made[0] == made[1], divisor
        if divisor == 1e39 and dtype is np.float32:
            said = [{text for text in each if "overflow" not in text} for each in said]  # of the cast of the number
        assert said[0] == said[1], divisor


@pytest.mark.compiles(6)
@pytest.mark.parametrize("backend", ["jax"])
@pytest.mark.parametrize("expression", [e for func in CALLS for e in CASES.get(func, [])])
def test_sorting_by_the_library_itself(expression: str, backend: str) -> None:
    ad.use(execution="eager")
    try:
        oracle.check(expression, backend)
    finally:
        ad.use(execution=None)


def test_the_call_after_a_host_kernel_is_its_own_class() -> None:
    x = ad.convert(ad.wrap(_NUMBERS), "jax")
    with ad.profile() as profile:
        np.sort(x)
        np.sin(x)
    assert profile.calls_by_class() == {"host kernel": 1, "native": 1}


def test_unknown_ways_to_execute_are_refused() -> None:
    for ask in (lambda: ad.use(execution="lazy"), lambda: ad.execution("lazy").__enter__()):
        with pytest.raises(ValueError, match="choose 'eager', 'fused', 'compiled', or None"):
            ask()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool])
@pytest.mark.parametrize("compare", [np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal])
def test_bytes_compared_with_a_number(compare: Any, dtype: Any) -> None:
    """On torch many of them are compared with an array of it."""
    pytest.importorskip("torch")
    theirs = (np.arange(20_000) % 7).astype(dtype).reshape(100, 200)
    ours = ad.asarray(theirs, backend="torch")
    for number in (theirs.dtype.type(1), np.array(1, dtype), True):
        np.testing.assert_array_equal(np.asarray(compare(ours, number)), compare(theirs, number))
        np.testing.assert_array_equal(np.asarray(compare(number, ours)), compare(number, theirs))
        np.testing.assert_array_equal(np.asarray(compare(ours.T, number)), compare(theirs.T, number))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("compare", [np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal])
def test_numbers_are_compared_by_numpy_while_they_fit_the_cache(
    compare: Any, dtype: Any, execution: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More numbers than fit are compared by NumPy only where torch has few threads; here no number of threads is few."""
    pytest.importorskip("torch")
    host_kernels = importlib.import_module("arraydispatch.backends.torch.host_kernels")
    for name in ("_WITH_ONE_NUMBER", "_WITH_AN_ARRAY"):
        monkeypatch.setattr(host_kernels, name, {})
    for size in (1000, 1 << 17, 1 << 19):
        theirs = np.resize(np.array([0.5, np.nan, -0.0, 0.0, np.inf, 0.1], dtype), size)
        ours = ad.asarray(theirs, backend="torch")
        flipped, others = theirs[::-1], ad.asarray(theirs[::-1].copy(), backend="torch")
        for one, other, expected in (
            (ours, 0.1, compare(theirs, 0.1)),
            (0.5, ours, compare(0.5, theirs)),
            (ours, others, compare(theirs, flipped)),
            (ours[::2], others[::2], compare(theirs[::2], flipped[::2])),
            (ours.reshape(2, -1), others[: size // 2], compare(theirs.reshape(2, -1), flipped[: size // 2])),
        ):
            with ad.profile() as profile:
                got = compare(one, other)
            assert type(got) is ad.Array and got.dtype == bool
            np.testing.assert_array_equal(np.asarray(got), expected)
            if one is ours:
                by_numpy = execution is None and size == 1 << 17
                assert ("host kernel" in profile.calls_by_class()) == by_numpy


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool])
@pytest.mark.parametrize("backend", ad.available_backends())
def test_bytes_are_compared_with_a_number(backend: str, dtype: Any) -> None:
    for shape in ((200, 300), (300, 200), (70_000,), (3, 100, 256), (20_000, 1)):
        theirs = (np.arange(np.prod(shape)) % 7).astype(dtype).reshape(shape)
        ours = ad.asarray(theirs, backend=backend)
        for of in (lambda x: x, lambda x: x.T, lambda x: x[::2], lambda x: x[..., ::-1]):
            for compare in (np.equal, np.not_equal, np.less, np.greater_equal):
                for number in (1, dtype(3), np.array(0, dtype)):
                    np.testing.assert_array_equal(np.asarray(compare(of(ours), number)), compare(of(theirs), number))
                    np.testing.assert_array_equal(np.asarray(compare(number, of(ours))), compare(number, of(theirs)))


@pytest.mark.parametrize("combine", [np.logical_and, np.logical_or, np.logical_xor])
def test_masks_are_combined_by_numpy(combine: Any, execution: str | None) -> None:
    pytest.importorskip("torch")
    theirs = np.arange(1 << 18) % 3 == 0, np.arange(1 << 18) % 5 == 0
    ours = [ad.asarray(mask, backend="torch") for mask in theirs]
    with ad.profile() as profile:
        got = combine(*ours)
    np.testing.assert_array_equal(np.asarray(got), combine(*theirs))
    assert ("host kernel" in profile.calls_by_class()) == (execution is None)
    out = ad.asarray(np.zeros(1 << 18, bool), backend="torch")
    assert combine(*ours, out=out) is out
    np.testing.assert_array_equal(np.asarray(out), combine(*theirs))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_absolute_values_of_complex_numbers_are_numpys(dtype: Any) -> None:
    pytest.importorskip("torch")
    theirs = (_NUMBERS + 1j * _NUMBERS[::-1]).astype(dtype)
    theirs[:4] = np.inf + 1j, complex(np.nan, np.inf), complex(0, np.nan), 0
    assert np.asarray(np.abs(ad.asarray(theirs, backend="torch"))).tobytes() == np.abs(theirs).tobytes()


_PLACES = np.arange(20_000) % 7
READING: dict[Any, Any] = {
    np.argmax: lambda x: x.argmax(),
    np.argmin: lambda x: np.argmin(x.reshape(2, -1), axis=1),
    np.nanargmax: np.nanargmax,
    np.nanargmin: np.nanargmin,
    np.bincount: lambda x: np.bincount(_PLACES, weights=x),
    np.repeat: lambda x: np.repeat(x, 2),
    np.take: lambda x: np.take(x, _PLACES),
    np.choose: lambda x: np.choose(_PLACES % 2, [x, -x]),
    np.convolve: lambda x: np.convolve(x, [1.0, 2.0]),
    np.correlate: lambda x: np.correlate(x, [1.0, 2.0]),
}


@pytest.mark.parametrize("func", READING, ids=names.name_of)
def test_an_operand_that_may_not_be_written_is_lent_without_a_copy_and_left_alone(func: Any) -> None:
    def lock(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        x = x.copy()
        x.flags.writeable = False
        return x

    numbers = lock(_NUMBERS)
    lent = host_kernels.uncopied(func, numbers)
    assert lent.flags.writeable and not numbers.flags.writeable and np.shares_memory(lent, numbers)
    made = READING[func](lent)
    assert not np.shares_memory(made, numbers) and (numbers == _NUMBERS).all()
    for other in (np.sort, np.add, func):
        small = lock(_NUMBERS[:9])
        assert host_kernels.uncopied(other, small) is small
    assert host_kernels.uncopied(np.sort, numbers) is numbers
    expected = READING[func](numbers)
    for name in ad.available_backends():
        result = READING[func](ad.asarray(numbers, backend=name))
        assert np.asarray(result).tolist() == expected.tolist(), name


@pytest.mark.parametrize("backend", ad.available_backends())
def test_out_that_may_not_be_written_is_refused(backend: str) -> None:
    out = np.zeros(20_000)
    out.flags.writeable = False
    x = ad.asarray(_NUMBERS, backend=backend)
    for call in (lambda: np.take(x, _PLACES, None, out), lambda: np.take(x, _PLACES, out=out)):
        with pytest.raises(ValueError, match=r"read-only|WRITEBACKIFCOPY|writeable"):
            call()
    assert not out.any()


def test_all_functions_that_copy_are_called_here() -> None:
    assert READING.keys() == host_kernels.COPIES


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    ("backend", "ufunc"),
    [
        (name, func)
        for name in ("jax", "tensorflow")
        if name in loader.available()
        for func in host_kernels.SCALAR_CODE
        if func in loader.load(name).UFUNCS
    ],
)
def test_what_xla_computes_element_by_element_is_numpys(ufunc: np.ufunc, backend: str, dtype: str) -> None:
    x = (np.random.default_rng(4).random(1 << 15) * 1.8 - 0.9).astype(dtype)
    args = (x, x[::-1].copy()) if ufunc.nin == 2 else (x,)
    given = [ad.asarray(each, backend=backend) for each in args]
    with ad.profile() as profile:
        result = ufunc(*given)
    assert np.asarray(result).tobytes() == ufunc(*args).tobytes()
    assert "host kernel" in profile.calls_by_class()


ORDERED = [np.add, np.multiply, np.maximum, np.minimum]


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
@pytest.mark.parametrize("ufunc", ORDERED, ids=names.name_of)
def test_numpy_accumulates_many_elements_one_by_one(ufunc: np.ufunc, backend: str) -> None:
    signs = np.where(np.arange(24_000) % 5, 1, -1)
    reals = signs * (1 + np.cos(np.arange(24_000.0)) / 1000)
    reals[[700, 12_345]] = -0.0, np.nan
    for numbers in (signs, signs.astype("i1"), signs > 0, signs.astype("u4"), reals, reals.astype("f4")):
        for shape in ((24_000,), (300, 80), (20, 30, 40)):
            theirs = numbers.reshape(shape)
            for of in (lambda x: x, lambda x: x.T, lambda x: x[::-1]):
                ours = of(ad.asarray(theirs, backend=backend))
                for axis in range(len(shape)):
                    made = ufunc.accumulate(ours, axis)
                    expected = ufunc.accumulate(of(theirs), axis)
                    assert (type(made), made.dtype) == (ad.Array, expected.dtype)
                    np.testing.assert_array_equal(np.asarray(made), expected, err_msg=f"{theirs.dtype} {shape} {axis}")
                    out = ad.asarray(np.zeros(ours.shape, made.dtype), backend=backend)
                    assert ufunc.accumulate(ours, axis, out=out) is out
                    np.testing.assert_array_equal(np.asarray(out), expected)


@pytest.mark.parametrize(
    ("backend", "ufunc", "dtype"),
    [
        *(("jax", ufunc, dtype) for ufunc in ORDERED for dtype in ("i8", "?", "f4")),
        *(("tensorflow", ufunc, dtype) for ufunc in ORDERED for dtype in ("i8", "f4")),
        *(("torch", ufunc, "f8") for ufunc in ORDERED[2:]),
    ],
)
def test_that_numpy_accumulates_is_told(backend: str, ufunc: np.ufunc, dtype: str) -> None:
    x = ad.asarray(_NUMBERS.astype(dtype), backend=backend)
    with ad.profile() as profile, np.errstate(all="ignore"):
        ufunc.accumulate(x.reshape(200, 100), axis=1)
    assert "host kernel" in profile.calls_by_class()
    y = ad.asarray(_NUMBERS[:400], backend=backend)
    slope = ad.grad(lambda y: np.sum(ufunc.accumulate(np.tile(y, 100))))(y)  # in a transform the library does
    assert slope.backend.name == backend


@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "u8"])
def test_powers_of_integers(dtype: str) -> None:
    a = np.arange(256).astype(dtype)
    for backend in ad.available_backends():
        x = ad.asarray(a, backend=backend)
        for b in (0, 1, 3, 7, 8, 100):
            assert np.asarray(x**b).tolist() == (a**b).tolist(), (backend, b)
            assert np.asarray(np.power(b, x[:100])).tolist() == np.power(b, a[:100]).tolist(), (backend, b)
        places = (a & 15).astype(dtype)
        assert np.asarray(x ** ad.asarray(places, backend=backend)).tolist() == (a**places).tolist(), backend


@pytest.mark.parametrize(("among", "leaves"), [(10, False), (1000, True)])
def test_no_program_of_tensorflows_searches_among_many(among: int, leaves: bool) -> None:
    tf = pytest.importorskip("tensorflow", reason="inapplicable: TensorFlow is not installed")
    search = loader.load("tensorflow").prim.searchsorted
    given = [tf.TensorSpec([n], tf.float64) for n in (among, 5)]
    with tracing.watched(near=True) as looks:
        tf.function(lambda a, values: search(a, values, "left")).get_concrete_function(*given)
    assert (looks.count > 0) == leaves
