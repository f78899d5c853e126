"""Every primitive of every backend against NumPy's, and every primitives module against the table of the contract."""

from __future__ import annotations

import inspect
import re
import warnings
from typing import Any

import numpy as np
import pytest

from arraydispatch.backends.base import PRIMITIVES, Unsupported

from ..rows import each
from .support import BOOL, COMPLEX, FLOATS, INTEGERS, NAMES, call, check, need, special_values, to_host, to_native

EVERY = BOOL + INTEGERS + FLOATS + COMPLEX
REAL = BOOL + INTEGERS + FLOATS
LINALG = "fdFD"

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning"),
    pytest.mark.compiles(1),  # each primitive, in each run
]


@pytest.fixture(params=NAMES)
def backend(request: pytest.FixtureRequest) -> Any:
    return need(request.param)


def same(backend: Any, primitive: str, *args: Any, **how: Any) -> None:
    """The primitive returns what NumPy's does. Arguments are copied for each, and none but a target is written."""
    try:
        got = call(backend, getattr(backend.prim, primitive), *to_native(backend, args))
    except Unsupported as reason:
        pytest.skip(f"inapplicable: {reason}")
    want = getattr(need("numpy").prim, primitive)(*to_native(need("numpy"), args))
    check(to_host(backend, got), want, **how)


def dtypes(backend: Any, letters: str) -> list[str]:
    return [letter for letter in letters if backend.holds(np.dtype(letter))]


def numbers(dtype: str, shape: tuple[int, ...] = (3, 4)) -> np.ndarray[Any, Any]:
    """Small numbers with ties; NaN, infinities and a negative zero where the dtype has them."""
    size = int(np.prod(shape))
    values = np.random.default_rng(size).integers(0, 5, size)
    if dtype == BOOL:
        return (values > 2).reshape(shape)
    if dtype in "bhil":
        values = values - 2
    out = values.astype(dtype)
    if out.dtype.kind in "fc" and size > 6:
        out[[1, 4]] = np.nan, -np.inf
        out[5] = -0.0
        if dtype in COMPLEX:
            out[2], out[3], out[6] = complex(1, np.nan), complex(np.nan, 1), 1 - 1j
    return out.reshape(shape)


# -- the table ---------------------------------------------------------------------------------------------------------


@each("primitive", list(PRIMITIVES))
def test_every_primitive_exists_with_its_parameters(backend: Any, primitive: str) -> None:
    described = PRIMITIVES[primitive]
    inside = described[1 : described.index(")")]
    while inside.count("(") > inside.count(")") or inside.count("[") > inside.count("]"):
        inside = described[1 : described.index(")", len(inside) + 2)]
    parameters = list(inspect.signature(getattr(backend.prim, primitive)).parameters)
    depth_0 = re.sub(r"[(\[][^()\[\]]*(\([^()]*\)[^()\[\]]*)*[)\]]", "ITEMS", inside)
    assert len(parameters) == len(depth_0.split(","))
    for parameter, text in zip(parameters, depth_0.split(","), strict=True):
        name = re.match(r"\s*(\w+)", text)
        assert name is not None
        if name[1] not in ("list", "ITEMS", "sorted"):  # described, not named
            assert parameter == name[1]


# -- making and moving -------------------------------------------------------------------------------------------------


@each("shape", [(), (3,), (2, 0), (2, 3)])
@each("value", [0, 1, 2.75, True, np.float32(3), np.int8(-1)])
def test_full(backend: Any, shape: tuple[int, ...], value: Any) -> None:
    for dtype in dtypes(backend, EVERY):
        if isinstance(value, np.int8) and dtype in "BHIL":
            continue
        same(backend, "full", shape, value, np.dtype(dtype), None)


def test_full_with_ends_of_the_range(backend: Any) -> None:
    for dtype in dtypes(backend, "lL"):
        for value in (np.iinfo(dtype).min, np.iinfo(dtype).max):
            same(backend, "full", (2,), value, np.dtype(dtype), None)
    for special in (np.nan, -np.inf, -0.0):
        same(backend, "full", (2,), special, np.dtype("d"), None)


def test_iota(backend: Any) -> None:
    for dtype in dtypes(backend, INTEGERS + FLOATS):
        for n in (0, 1, 100):
            same(backend, "iota", n, np.dtype(dtype), None)


def castable(source: str, target: str) -> Any:
    """Values whose cast C defines, or on which the compilers of all platforms agree."""
    values = special_values(source)
    if values.dtype.kind in "fc" and np.dtype(target).kind in "iu":
        real = np.trunc(values.real)
        info = np.iinfo(target)
        inside = (real >= info.min) & (real < float(info.max))
        return values[inside]
    return values


@each("source", EVERY)
def test_astype(backend: Any, source: str) -> None:
    if not backend.holds(np.dtype(source)):
        pytest.skip("inapplicable: not a dtype of the library")
    for target in dtypes(backend, EVERY):
        values = castable(source, target)
        same(backend, "astype", values, np.dtype(target), inputs=(values,))


@each("source", "efd")
def test_astype_of_a_negative_float_to_unsigned_wraps(backend: Any, source: str) -> None:
    if backend.on_cpu(backend.from_numpy(np.zeros(1))) and not _saturates():
        for target in dtypes(backend, "BHIL"):
            same(backend, "astype", np.array([-1.0, -2.75, 3.0], source), np.dtype(target))


def _saturates() -> bool:
    """Whether NumPy's own cast saturates here (ARM) rather than wraps (x86)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bool(np.array([-1.0]).astype(np.uint8)[0] == 0)


def test_astype_to_its_own_dtype_is_the_array(backend: Any) -> None:
    native = backend.from_numpy(np.arange(3.0))
    assert call(backend, backend.prim.astype, native, np.dtype("d")) is native


@each("dtype", EVERY)
def test_copy(backend: Any, dtype: str) -> None:
    if backend.holds(np.dtype(dtype)):
        same(backend, "copy", numbers(dtype))
        native = backend.from_numpy(numbers("d"))
        copied = call(backend, backend.prim.copy, native)
        assert not np.shares_memory(backend.to_numpy(copied), backend.to_numpy(native))


@each(
    "source, target",
    ["lL", "Ll", "dl", "ld", "dL", "fi", "if", "fI", "eh", "he", "eH", "bB", "Bb", "?B", "?b", "dd", "Fd", "Fl", "dF"],
)
def test_view_dtype(backend: Any, source: str, target: str) -> None:
    if backend.holds(np.dtype(source)) and backend.holds(np.dtype(target)):
        values = np.array([1, 0, 1]) if source == BOOL else np.array([1.5, -2, 100])
        same(backend, "view_dtype", values.astype(source), np.dtype(target))


# -- shape -------------------------------------------------------------------------------------------------------------

MANY_AXES = (3, 2, 3, 1, 1, 1, 1, 1, 1, 2)
"""More than TensorFlow's own operations take."""

SHAPED = [
    ("reshape", (2, 6), ((3, 4),)),
    ("reshape", (1,), ((),)),
    ("reshape", (), ((1, 1),)),
    ("reshape", (0, 3), ((3, 0, 2),)),
    ("transpose", (2, 3, 4), ((2, 0, 1),)),
    ("transpose", (), ((),)),
    ("transpose", (2, 0), ((1, 0),)),
    ("broadcast_to", (3, 1), ((2, 3, 4),)),
    ("broadcast_to", (), ((2,),)),
    ("broadcast_to", (1,), ((0,),)),
    ("flip", (3, 4), ((0,),)),
    ("flip", (3, 4), ((0, 1),)),
    ("flip", (3, 4), ((),)),
    ("flip", (0, 4), ((0, 1),)),
    ("flip", (), ((),)),
    ("flip", MANY_AXES, ((0, 3, 9),)),
]


@each("primitive, shape, arguments", SHAPED)
@each("dtype", "?lBeFd")
def test_shapes(backend: Any, primitive: str, shape: tuple[int, ...], arguments: tuple[Any, ...], dtype: str) -> None:
    same(backend, primitive, numbers(dtype, shape), *arguments)


@each("dtype", "?lBeFd")
def test_concatenate(backend: Any, dtype: str) -> None:
    parts = [numbers(dtype, (2, n, 3)) for n in (4, 0, 1)]
    same(backend, "concatenate", parts, 1)
    same(backend, "concatenate", parts[:1], 0)
    same(backend, "concatenate", [parts[0], parts[0]], 2)


@each("dtype", "?lBeFd")
def test_pad(backend: Any, dtype: str) -> None:
    for widths in ([(1, 2), (0, 0)], [(0, 0), (3, 0)], [(0, 0), (0, 0)]):
        same(backend, "pad", numbers(dtype), widths, 1)
    same(backend, "pad", numbers(dtype, (0,)), [(1, 2)], 0)
    same(backend, "pad", numbers(dtype, ()), [], 0)


# -- elements ----------------------------------------------------------------------------------------------------------

KEYS: list[tuple[tuple[int, ...], tuple[slice, ...]]] = [
    ((), ()),
    ((6,), (slice(1, 4, 1),)),
    ((6,), (slice(4, 4, 1),)),
    ((6,), (slice(6, 6, 1),)),
    ((6,), (slice(1, 6, 2),)),
    ((6,), (slice(0, 6, 4),)),
    ((6,), (slice(5, 6, 3),)),
    ((3, 4), (slice(0, 3, 1), slice(2, 4, 1))),
    ((3, 4), (slice(0, 3, 2), slice(1, 4, 2))),
    ((3, 4), (slice(0, 3, 1), slice(0, 4, 1))),
    ((3, 4), (slice(1, 1, 1), slice(0, 4, 3))),
    ((0, 4), (slice(0, 0, 1), slice(0, 4, 1))),
    (MANY_AXES, (slice(1, 3, 1), slice(0, 2, 1), slice(0, 3, 2), *[slice(0, 1, 1)] * 6, slice(1, 2, 1))),
]


@each("shape, key", KEYS)
@each("dtype", "?lBeFd")
def test_slice_and_slice_update(backend: Any, shape: tuple[int, ...], key: tuple[slice, ...], dtype: str) -> None:
    array = numbers(dtype, shape)
    same(backend, "slice", array, key)
    region = array[key].shape if key else ()
    for value in (np.ones(region, dtype), np.ones((), dtype), np.zeros(region[-1:], dtype)):
        same(backend, "slice_update", array, key, value)


def indices(*lists: Any) -> tuple[np.ndarray[Any, Any], ...]:
    return tuple(np.array(values, np.int64) for values in lists)


GATHERS = [
    ((6,), indices([0, 5, 5, 2])),
    ((3, 4), indices([2, 0])),
    ((3, 4), indices([2, 0, 2], [3, 3, 1])),
    ((3, 4), indices([[2], [0]], [[3], [1]])),
    ((3, 4), indices([], [])),
    ((3, 4), indices(1)),
    ((3, 4), indices(1, 2)),
    ((2, 0), indices([1, 0])),
]


@each("shape, index", GATHERS)
@each("dtype", "?lBeFd")
def test_gather(backend: Any, shape: tuple[int, ...], index: tuple[Any, ...], dtype: str) -> None:
    same(backend, "gather", numbers(dtype, shape), index)


@each("shape, index", GATHERS)
@each("how", ["set", "add", "multiply", "maximum", "minimum"])
@each("dtype", "?lBeFd")
def test_scatter(backend: Any, shape: tuple[int, ...], index: tuple[Any, ...], how: str, dtype: str) -> None:
    array = np.ones(shape, dtype)
    region = array[index].shape
    values = np.arange(int(np.prod(region))).reshape(region).astype(dtype)
    same(backend, "scatter", array, index, values, how)
    same(backend, "scatter", array, index, np.zeros((), dtype), how)


@each("dtype", EVERY)
def test_take(backend: Any, dtype: str) -> None:
    if backend.holds(np.dtype(dtype)):
        for index in indices([2, 0, 2], [[1], [0]], 1, []):
            for axis in (0, 1):
                same(backend, "take", numbers(dtype), index, axis)
        same(backend, "take", numbers(dtype, (0, 3)), *indices([2, 2]), 1)


@each("dtype", "?lBeFd")
def test_take_along_axis(backend: Any, dtype: str) -> None:
    same(backend, "take_along_axis", numbers(dtype), *indices([[2, 1, 0, 0], [1, 1, 1, 1]]), 0)
    same(backend, "take_along_axis", numbers(dtype), *indices([[3], [0], [1]]), 1)
    same(backend, "take_along_axis", numbers(dtype), np.zeros((3, 0), np.int64), 1)


@each("dtype", EVERY)
def test_nonzero_and_mask(backend: Any, dtype: str) -> None:
    if backend.holds(np.dtype(dtype)):
        for shape in [(3, 4), (0,), (2, 0), (5,)]:
            array = numbers(dtype, shape)
            same(backend, "nonzero", array)
            same(backend, "mask", array, np.arange(array.size).reshape(shape) % 2 == 0)
            same(backend, "mask", array, np.zeros(shape, bool))


@each("dtype", EVERY)
def test_where(backend: Any, dtype: str) -> None:
    if backend.holds(np.dtype(dtype)):
        x = numbers(dtype)
        for condition in (np.eye(3, 4, dtype=bool), np.array(True), np.array([[True], [False], [True]])):
            same(backend, "where", condition, x, np.ones((), dtype))
        same(backend, "where", np.array(False), x[0, :1].reshape(()), x[0, 1:2].reshape(()))
        same(backend, "where", np.zeros((0, 4), bool), x[:1], x[0])


# -- order -------------------------------------------------------------------------------------------------------------


@each("primitive", ["sort", "argsort"])
@each("dtype", EVERY)
def test_sorting_is_stable_with_nan_last(backend: Any, primitive: str, dtype: str) -> None:
    if not backend.holds(np.dtype(dtype)):
        pytest.skip("inapplicable: not a dtype of the library")
    arrays = [numbers(dtype, shape) for shape in [(12,), (3, 7), (2, 0), (1, 1)]]
    arrays.append(special_values(dtype)[::-1].copy())
    for array in arrays:
        if primitive == "sort":  # which zero comes first is open, as in NumPy's own default
            array = np.where(array == 0, np.zeros_like(array), array)
        for axis in range(array.ndim):
            same(backend, primitive, array, axis)


@each("primitive", ["argmax", "argmin"])
@each("dtype", EVERY)
def test_first_extremum_and_first_nan(backend: Any, primitive: str, dtype: str) -> None:
    if not backend.holds(np.dtype(dtype)):
        pytest.skip("inapplicable: not a dtype of the library")
    clean = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0]]).astype(dtype)
    for array in (clean, numbers(dtype, (3, 7)), special_values(dtype).reshape(1, -1)):
        for axis in (0, 1):
            same(backend, primitive, array, axis)


@each("side", ["left", "right"])
@each("dtype", REAL)
def test_searchsorted(backend: Any, side: str, dtype: str) -> None:
    if not backend.holds(np.dtype(dtype)):
        pytest.skip("inapplicable: not a dtype of the library")
    array = np.sort(numbers(dtype, (12,)))
    for values in (numbers(dtype), np.unique(array), array[:0], array[3:4].reshape(())):
        same(backend, "searchsorted", array, values, side)
    same(backend, "searchsorted", array[:0], array, side)


def test_bincount(backend: Any) -> None:
    for x in indices([1, 1, 4, 0], []):
        for weights in (None, np.arange(x.size) + 0.5):
            for length in (5, 8):
                same(backend, "bincount", x, weights, length)


# -- complex -----------------------------------------------------------------------------------------------------------


@each("dtype", COMPLEX)
def test_parts(backend: Any, dtype: str) -> None:
    for array in (numbers(dtype), numbers(dtype, (0,)), numbers(dtype, ())):
        same(backend, "real", array)
        same(backend, "imag", array)


@each("dtype", "fd")
def test_complex_of_parts(backend: Any, dtype: str) -> None:
    x = numbers(dtype)
    for re_, im in ((x, x[::-1].copy()), (x, np.ones((), dtype)), (x[:0], x[0])):
        same(backend, "complex", re_, im)


# -- linear algebra ----------------------------------------------------------------------------------------------------


def matrix(dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    generator = np.random.default_rng(7)
    out = generator.standard_normal(shape)
    if dtype in COMPLEX:
        out = out + 1j * generator.standard_normal(shape)
    return out.astype(dtype)


def definite(dtype: str, shape: tuple[int, ...]) -> Any:
    a = matrix(dtype, shape)
    return (a @ a.conj().swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def close(got: Any, want: Any, factor: float = 200) -> None:
    """Equal to a small multiple of the rounding unit, relative to the largest entry."""
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    scale = float(np.abs(want).max(initial=1))
    np.testing.assert_allclose(got, want, rtol=0, atol=factor * np.finfo(want.dtype).eps * scale)


def ours(backend: Any, primitive: str, *args: Any) -> Any:
    try:
        return to_host(backend, call(backend, getattr(backend.prim, primitive), *to_native(backend, args)))
    except Unsupported as reason:
        pytest.skip(f"inapplicable: {reason}")


@each("dtype", EVERY)
@each(
    "left, right",
    [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 1, 2, 3), (3, 3, 1)),
     ((2, 0), (0, 3)), ((0, 2), (2, 3)), ((0,), (0,))],
)  # fmt: skip
def test_matmul(backend: Any, dtype: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    if backend.holds(np.dtype(dtype)):
        a, b = (
            (np.arange(np.prod(shape)) % 5 - (dtype not in "BHIL?")).reshape(shape).astype(dtype)
            for shape in (left, right)
        )
        same(backend, "matmul", a, b)


def test_matmul_is_not_rounded_to_tf32(backend: Any) -> None:
    a = matrix("f", (64, 64))
    close(ours(backend, "matmul", a, a), np.matmul(a, a), 64)


SQUARE = [(3, 3), (2, 4, 4), (1, 1), (0, 0), (0, 3, 3)]


@each("dtype", LINALG)
@each("shape", SQUARE)
def test_square_matrices(backend: Any, dtype: str, shape: tuple[int, ...]) -> None:
    reference = need("numpy").prim
    a, d = matrix(dtype, shape), definite(dtype, shape)
    close(ours(backend, "cholesky", np.tril(d) + 3 * np.triu(matrix(dtype, shape), 1)), reference.cholesky(d))
    close(ours(backend, "inv", d), np.linalg.inv(d))
    close(ours(backend, "det", a), reference.det(a), 1000)
    for got, want in zip(ours(backend, "slogdet", a), reference.slogdet(a), strict=True):
        close(got, want, 1000)
    for columns in (1, 2, 0):
        b = matrix(dtype, (*shape[:-1], columns))
        close(ours(backend, "solve", d, b), np.linalg.solve(d, b))
    factors, order = ours(backend, "lu", a)
    assert order.dtype == np.int64
    close(
        (np.tril(factors, -1) + np.eye(shape[-1], dtype=dtype)) @ np.triu(factors),
        np.take_along_axis(a, order[..., None], -2),
    )
    for lower in (True, False):
        triangle = np.tril(d) if lower else np.triu(d)
        for columns in (1, 2, 0):
            b = matrix(dtype, (*shape[:-1], columns))
            close(ours(backend, "solve_triangular", d, b, lower), np.linalg.solve(triangle, b))
        close(ours(backend, "eigvalsh", triangle, lower), reference.eigvalsh(triangle, lower))
        w, v = ours(backend, "eigh", triangle, lower)
        close(w, reference.eigvalsh(triangle, lower))
        close(d @ v, (v * w[..., None, :]).astype(dtype))


@each("dtype", LINALG)
def test_solve_broadcasts_stacks(backend: Any, dtype: str) -> None:
    a, b = definite(dtype, (2, 1, 3, 3)), matrix(dtype, (4, 3, 2))
    close(ours(backend, "solve", a, b), np.linalg.solve(a, b))
    close(ours(backend, "solve_triangular", a, b, True), np.linalg.solve(np.tril(a), b))


@each("dtype", LINALG)
@each("shape", [(3, 3), (5, 3), (3, 5), (2, 4, 3), (0, 3), (3, 0), (0, 2, 2)])
def test_factorizations(backend: Any, dtype: str, shape: tuple[int, ...]) -> None:
    a, reference = matrix(dtype, shape), need("numpy").prim
    for complete in (False, True):
        q, r = ours(backend, "qr", a, complete)
        wanted = reference.qr(a, complete)
        assert (q.shape, r.shape) == tuple(x.shape for x in wanted)
        close(q @ r, a)
        close(
            q.conj().swapaxes(-1, -2) @ q,
            np.broadcast_to(np.eye(q.shape[-1], dtype=dtype), (*q.shape[:-2], *2 * q.shape[-1:])),
        )
        close(np.tril(r, -1), np.zeros_like(r))
    for full in (False, True):
        u, s, vh = ours(backend, "svd", a, full)
        wanted = reference.svd(a, full)
        assert (u.shape, vh.shape) == (wanted[0].shape, wanted[2].shape)
        close(s, wanted[1])
        rank = s.shape[-1]
        close((u[..., :rank] * s[..., None, :]).astype(dtype) @ vh[..., :rank, :], a)
    close(ours(backend, "svdvals", a), reference.svdvals(a))


@each("dtype", LINALG)
@each("shape", [(3, 3), (2, 4, 4), (0, 0)])
def test_general_eigenvalues(backend: Any, dtype: str, shape: tuple[int, ...]) -> None:
    a = matrix(dtype, shape)
    w, v = ours(backend, "eig", a)
    alone = ours(backend, "eigvals", a)
    assert w.dtype == v.dtype == alone.dtype == np.result_type(dtype, "F")
    close(a @ v, v * w[..., None, :])
    close(np.sort(alone), np.sort(need("numpy").prim.eigvals(a)), 1000)


def bad(dtype: str) -> dict[str, np.ndarray[Any, Any]]:
    singular = np.array([[1, 2], [2, 4]], dtype)
    return {
        "solve": singular,
        "inv": singular,
        "cholesky": np.array([[1, 0], [0, -1]], dtype),
        "svd": np.array([[1, np.nan], [0, 1]], dtype),
        "eig": np.array([[1, np.inf], [0, 1]], dtype),
        "eigvals": np.array([[1, np.nan], [0, 1]], dtype),
    }


@each("primitive", ["solve", "inv", "cholesky", "svd", "eig", "eigvals"])
@each("dtype", LINALG)
def test_what_numpy_refuses_is_refused(backend: Any, primitive: str, dtype: str) -> None:
    a = bad(dtype)[primitive]
    extra = {"solve": (np.ones((2, 1), dtype),), "svd": (False,)}.get(primitive, ())
    for stack in (a, np.stack([np.eye(2, dtype=dtype), a])):
        with pytest.raises(np.linalg.LinAlgError):
            getattr(need("numpy").prim, primitive)(stack, *extra)
        with pytest.raises(np.linalg.LinAlgError):
            ours(backend, primitive, stack, *extra)


# -- FFT ---------------------------------------------------------------------------------------------------------------


@each("dtype", COMPLEX)
@each("primitive", ["fftn", "ifftn"])
def test_fft(backend: Any, primitive: str, dtype: str) -> None:
    a = matrix(dtype, (2, 3, 4, 5))
    # The functions above take repeated axes in turn, and nothing where there is none or no element.
    for axes in [(3,), (0, 2), (1, 3, 0), (0, 1, 2, 3)]:
        close(ours(backend, primitive, a, axes), getattr(need("numpy").prim, primitive)(a, axes))


@each("dtype", "fd")
def test_real_fft(backend: Any, dtype: str) -> None:
    a, reference = matrix(dtype, (3, 4, 5)), need("numpy").prim
    for axis in range(3):
        forward = reference.rfft(a, axis)
        close(ours(backend, "rfft", a, axis), forward)
        close(ours(backend, "irfft", forward, a.shape[axis], axis), a)
    # Imaginary parts that a real signal's spectrum would not have are ignored.
    spectrum = matrix("F" if dtype == "f" else "D", (3,))
    for n in (4, 5):
        close(ours(backend, "irfft", spectrum, n, 0), reference.irfft(spectrum, n, 0))


# -- the backend class -------------------------------------------------------------------------------------------------


@each("copy", [True, False])
@each("shape", [(), (3,), (0, 2), (130, 130)])
def test_conversion_keeps_values_and_dtype(backend: Any, copy: bool, shape: tuple[int, ...]) -> None:
    for dtype in dtypes(backend, EVERY):
        array = numbers(dtype, shape)
        native = backend.from_numpy(array, copy=copy)
        assert backend.is_native(native)
        assert backend.dtype_of(native) == array.dtype
        assert backend.shape_of(native) == shape
        check(np.asarray(backend.to_numpy(native)), array)


@each("size", [1, 8, 100_000])
def test_a_copy_never_shares_memory(backend: Any, size: int) -> None:
    memory = np.zeros(size * 8 + 64, np.uint8)
    start = -memory.ctypes.data % 64  # aligned as libraries want memory they take over
    array = memory[start : start + size * 8].view(np.float64)
    for _ in range(3 if size > 8 else 600):  # often enough for any path that is chosen by use
        native = backend.from_numpy(array, copy=True)
    array[:] = 7
    assert not np.any(backend.to_numpy(native))


def test_layouts_of_ndarrays(backend: Any) -> None:
    base = np.arange(24.0).reshape(4, 6)
    read_only = base.copy()
    read_only.flags.writeable = False
    for array in (base.T, base[::2, 1::2], base[::-1], np.broadcast_to(base[0], (3, 6)), read_only):
        for copy in (True, False):
            check(np.asarray(backend.to_numpy(backend.from_numpy(array, copy=copy))), np.asarray(array))


def test_dtypes_the_library_has_not_are_unsupported(backend: Any) -> None:
    for array in (np.array(["a"]), np.array([None]), np.zeros(2, "M8[s]"), np.zeros(2, [("x", "d")]), np.zeros(2, "g")):
        if backend.holds(array.dtype):
            assert backend.name == "numpy"
            continue
        with pytest.raises(Unsupported):
            backend.from_numpy(array)


def test_devices(backend: Any) -> None:
    first, *_ = devices = backend.devices()
    assert all(device.backend == backend.name for device in devices)
    assert len({device.name for device in devices}) == len(devices)
    native = backend.from_numpy(np.arange(3.0), first.native)
    check(np.asarray(backend.to_numpy(backend.to_device(native, first))), np.arange(3.0))
    assert "cpu" in {device.name for device in devices}
    cpu = next(device for device in devices if device.name == "cpu")
    assert cpu.kind == "CPU"
    assert cpu.memory > 0
    on_cpu = backend.to_device(native, cpu)
    assert backend.on_cpu(on_cpu)
    full = call(backend, backend.prim.full, (2,), 1, np.dtype("d"), backend.device_of(on_cpu))
    assert backend.on_cpu(full)


def test_random_numbers_repeat_with_the_seed(backend: Any) -> None:
    for dtype in map(np.dtype, "efd"):
        for kind in ("normal", "uniform"):
            backend.seed(5)
            first = backend.random(kind, (200,), dtype, None)
            second = np.asarray(backend.to_numpy(backend.random(kind, (200,), dtype, None)))
            backend.seed(5)
            again = backend.random(kind, (200,), dtype, None)
            first, again = (np.asarray(backend.to_numpy(x)) for x in (first, again))
            assert first.dtype == dtype
            np.testing.assert_array_equal(first, again)
            assert not np.array_equal(first, second)
            if kind == "uniform":
                assert first.min() >= 0
                assert first.max() < 1
            else:
                assert first.min() < -1 < 1 < first.max()


# -- JAX alone ---------------------------------------------------------------------------------------------------------


def test_jax_scope_follows_the_switch() -> None:
    backend = need("jax")
    import jax

    with jax.enable_x64(True):
        assert backend.scope is None
    with jax.enable_x64(False):
        scope = backend.scope
        assert scope is not None
        with scope():
            assert backend.scope is None
        assert backend.scope is not None


def test_jax_tracers_are_native_but_not_concrete() -> None:
    backend = need("jax")
    import jax

    def look(x: Any) -> Any:
        assert backend.is_native(x)
        assert not backend.is_concrete(x)
        assert not backend.on_cpu(x)
        assert backend.device_of(x) is None
        return backend.prim.inv(x)  # no error can be raised for a value that is not known

    assert not np.isfinite(np.asarray(jax.jit(look)(np.zeros((2, 2), np.float32)))).all()


def test_jax_random_under_a_trace_leaves_no_tracer_behind() -> None:
    backend = need("jax")
    import jax

    jax.jit(lambda x: x + backend.random("normal", (2,), np.dtype("f"), None))(np.zeros(2, np.float32))
    assert backend.is_concrete(backend.random("normal", (2,), np.dtype("f"), None))


@pytest.mark.parametrize("primitive", ["slice_update_donated", "scatter_donated"])
def test_jax_donating_updates_delete_their_target(primitive: str) -> None:
    backend = need("jax")
    from arraydispatch.backends.jax import primitives

    donating = getattr(primitives, primitive)
    assert primitive == "slice_update_donated" or backend.prim.scatter_donated is donating
    first, target = (call(backend, backend.prim.copy, backend.from_numpy(np.zeros(6))) for _ in range(2))
    arguments = ((slice(1, 3, 1),),) if primitive.startswith("slice") else (indices([1, 2]),)
    how = () if primitive.startswith("slice") else ("add",)
    rest = *arguments, backend.from_numpy(np.ones(2)), *how
    call(backend, donating, first, *rest)  # the first of a kind compiles, with a copy to give away
    out = call(backend, donating, target, *rest)
    np.testing.assert_array_equal(np.asarray(out), [0, 1, 1, 0, 0, 0])
    assert target.is_deleted()


def test_jax_moving_windows_are_one_program() -> None:
    backend = need("jax")
    native = backend.from_numpy(np.arange(50.0))
    from arraydispatch.backends.jax import primitives

    sizes = []
    for start in range(5):
        call(backend, backend.prim.slice, native, (slice(start, start + 7, 1),))
        sizes.append(primitives._slice_compiled._cache_size())
    assert sizes[0] == sizes[-1]
