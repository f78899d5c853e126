"""Values: special cases of the standard, complex numbers against NumPy, and every function against NumPy over dtypes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

from ..rows import each

INF, NAN = np.inf, np.nan


@pytest.fixture
def xp(backend: str) -> Any:
    return ad.namespace(backend)


def host(x: Any) -> Any:
    if isinstance(x, tuple):
        return [host(y) for y in x]
    assert isinstance(x, ad.Array), f"{type(x).__name__} is no Array"
    return x.to_numpy()


def alike(x: Any, y: Any) -> np.ndarray:
    """Equal, the sign of zeros included; NaN is like NaN."""
    return (np.isnan(x) & np.isnan(y)) | ((x == y) & (np.signbit(x) == np.signbit(y)))


# -- where the standard's values are not NumPy's -------------------------------------------------------------------------


def test_floor_divide(xp: Any, backend: str, drawn: Callable[..., list[Any]]) -> None:
    cases = [
        (INF, 2.0, INF), (INF, -2.0, -INF), (-INF, 2.0, -INF), (-INF, -2.0, INF), (3.0, INF, 0.0), (-3.0, INF, -0.0),
        (3.0, -INF, -0.0), (-3.0, -INF, 0.0), (INF, INF, NAN), (-INF, INF, NAN), (INF, 0.0, INF), (1.0, 0.0, INF),
        (0.0, 0.0, NAN), (7.0, -2.0, -4.0), (-7.0, 2.0, -4.0), (NAN, 1.0, NAN), (0.0, -1.0, -0.0),
    ]  # fmt: skip
    a, b, wanted = (np.array(column) for column in zip(*cases))
    for dtype in drawn((np.float64, np.float32, np.float16), backend, 3):
        x, y, changed = xp.asarray(a, dtype=dtype), xp.asarray(b, dtype=dtype), xp.asarray(a, dtype=dtype, copy=True)
        view = changed[::2]
        with np.errstate(all="ignore"):
            changed //= y
            ways = {
                "function": xp.floor_divide(x, y),
                "operator": x // y,
                "in place": changed,
                "np": np.floor_divide(x, y),
            }
            # Made one by one: elements of x would be cut out by a program for each place.
            each = xp.stack([xp.asarray(v, dtype=dtype) // float(w) for v, w in zip(a, b)])
            turned = xp.stack([float(v) // xp.asarray(w, dtype=dtype) for v, w in zip(a, b)])
        for way, found in {**ways, "by a number": each, "of a number": turned}.items():
            assert host(found).dtype == dtype and alike(host(found), wanted).all(), (way, found)
        assert alike(host(view), wanted[::2]).all()
    assert host(xp.floor_divide(xp.asarray([-7, 7], dtype=xp.int8), 2)).tolist() == [-4, 3]
    assert host(xp.floor_divide(xp.asarray([2.0**71, -1.0]), 2**70)).tolist() == [2.0, -1.0]
    assert host(xp.asarray([-7, 7], dtype=xp.int8) // 2).tolist() == [-4, 3]


def test_floor_divide_reports_what_is_an_error(xp: Any) -> None:
    x = xp.asarray([INF, -INF, 3.0, -2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert host(x // 2.0).tolist() == [INF, -INF, 1.0, -1.0]
        assert host(3.0 // x)[:2].tolist() == [0.0, 0.0]
    with np.errstate(all="raise"):
        x // 2.0
        with pytest.raises(FloatingPointError, match="divide by zero"):
            x // 0.0


def test_an_array_of_numpys_kind_keeps_numpys_operator(backend: str) -> None:
    with ad.backend(backend):
        x = ad.asarray(np.array([INF, 3.0]))
    with np.errstate(all="ignore"):
        found = x // 2.0
        x //= -INF
    np.testing.assert_array_equal(np.asarray(found), [NAN, 1.0])
    np.testing.assert_array_equal(np.asarray(x), [NAN, -1.0])


def test_expm1(xp: Any) -> None:
    cases = [
        (0j, 0j), (complex(-0.0, 0), 0j), (complex(1, INF), complex(NAN, NAN)), (complex(INF, 0), complex(INF, 0)),
        (complex(-INF, INF), complex(-1, 0)), (complex(INF, INF), complex(INF, NAN)), (complex(-INF, NAN), complex(-1, 0)),
        (complex(INF, NAN), complex(INF, NAN)), (complex(NAN, 0), complex(NAN, 0)), (complex(NAN, 1), complex(NAN, NAN)),
    ]  # fmt: skip
    z, wanted = (np.array(column) for column in zip(*cases))
    with np.errstate(all="ignore"):
        found = host(xp.expm1(xp.asarray(z)))
    assert alike(np.abs(found.real), np.abs(wanted.real)).all() and alike(np.abs(found.imag), np.abs(wanted.imag)).all()
    assert not np.signbit(found[:2].real).any() and (found.real[[4, 6]] == -1).all()
    np.testing.assert_allclose(host(xp.expm1(xp.asarray([1e-9, 1.0]))), np.expm1([1e-9, 1.0]), rtol=1e-15)


def test_tanh(xp: Any) -> None:
    z = np.array([complex(INF, 3), complex(INF, -3), complex(-INF, 3), complex(-INF, -2), complex(INF, 1), 0.5 + 0.5j])
    found = host(xp.tanh(xp.asarray(z)))
    wanted = np.array(
        [complex(1, 0), complex(1, -0.0), complex(-1, 0), complex(-1, -0.0), complex(1, 0), np.tanh(0.5 + 0.5j)]
    )
    assert alike(found.real[:5], wanted.real[:5]).all() and alike(found.imag[:5], wanted.imag[:5]).all()
    np.testing.assert_allclose(found[5], wanted[5], rtol=1e-15)


# -- complex numbers: NumPy is the oracle --------------------------------------------------------------------------------

COMPLEX = (
    "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh "
    "square reciprocal sign conjugate rint negative positive absolute isnan isinf isfinite"
).split()
ULPS = {"float32": 12, "float64": 12}
"""Of the larger part; each part alone where it is exact in NumPy (zeros, infinities, NaN)."""


@pytest.mark.compiles(4)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_special_values(backend: str, name: str, dtype: str) -> None:
    parts = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, INF, -INF, NAN]
    z = np.array([complex(a, b) for a in parts for b in parts], dtype=dtype)
    function = getattr(np, name)
    with np.errstate(all="ignore"):
        wanted = function(z)
        found = np.asarray(function(ad.asarray(z, backend=backend)))
    assert found.dtype == wanted.dtype
    if wanted.dtype.kind != "c":
        found, wanted = found + 0j, wanted + 0j
    real = np.finfo(found.dtype)
    sizes = [np.where(np.isfinite(part), np.abs(part), 0) for part in (wanted.real, wanted.imag)]
    near = ULPS[real.dtype.name] * real.eps * np.maximum(*sizes)
    for a, b in ((found.real, wanted.real), (found.imag, wanted.imag)):
        with np.errstate(invalid="ignore"):
            good = alike(a, b) | (
                (np.abs(a - b) <= near) & ((np.signbit(a) == np.signbit(b)) | (np.abs(b) <= near)) & (b != 0)
            )
        wrong = [(complex(z[i]), complex(found[i]), complex(wanted[i])) for i in np.flatnonzero(~good)]
        assert not wrong, f"(z, ours, NumPy's): {wrong[:5]}"


@pytest.mark.parametrize("name", ["log", "log2", "log10", "sqrt"])
@pytest.mark.parametrize(
    ("dtype", "size"), [("complex64", 1.5e19), ("complex64", 1e30), ("complex128", 1e200), ("complex128", 1e-200)]
)
def test_complex_numbers_whose_squares_overflow(backend: str, name: str, dtype: str, size: float) -> None:
    z = (np.array([0.3 + 1j, 1 - 1j, -1 + 0.2j, -0.5 - 0.5j, 1j]) * size).astype(
        dtype
    )  # several: vectorized kernels differ
    function = getattr(np, name)
    found = np.asarray(function(ad.asarray(z, backend=backend)))
    np.testing.assert_allclose(found, function(z), rtol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize(
    ("dtype", "size"), [("float32", 1e30), ("float64", 1e200), ("complex64", 1e19), ("complex128", 1e200)]
)
def test_qr_of_numbers_whose_squares_overflow(xp: Any, dtype: str, size: float) -> None:
    x = (np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]]) * size).astype(dtype)
    q, r = xp.linalg.qr(xp.asarray(x))
    np.testing.assert_allclose(host(q) @ host(r), x, rtol=40 * np.finfo(dtype).eps)
    assert (host(xp.triu(r)) == host(r)).all()


# -- every function against NumPy ------------------------------------------------------------------------------------------

f, c, i, u, b = (
    np.array([[1.5, -2.0, 0.25], [3.0, 0.5, -0.75]]),
    np.array([[1.5 + 1j, -2.0, 0.25j], [3.0 - 2j, 0.5, -0.75 + 1j]]),
    np.array([[3, -1, 4], [1, -5, 9]]),
    np.array([[3, 1, 4], [1, 5, 9]]),
    np.array([[True, False, True], [False, False, True]]),
)
INPUTS: dict[str, np.ndarray] = {
    "float64": f, "float32": f.astype(np.float32), "complex128": c, "complex64": c.astype(np.complex64), "bool": b,
    "int8": i.astype(np.int8), "int64": i, "uint64": u.astype(np.uint64),
}  # fmt: skip
KINDS = {"f": ["float32", "float64"], "c": ["complex64", "complex128"], "b": ["bool"]}
KINDS["i"] = ["int8", "int64", "uint64"]  # the others' rules are tested function by function elsewhere

# (kinds, the standard's expression, NumPy's if it is another); x has shape (2, 3), v is its first row, s its left square.
CASES: list[tuple[str, str, str | None]] = [
    ("fcib", "xp.concat([x, x], axis=1)", "np.concatenate([x, x], axis=1)"),
    ("fcib", "xp.concat([x, v], axis=None)", "np.concatenate([x, v], axis=None)"),
    ("fcib", "xp.stack([v, v], axis=-1)", None),
    ("fcib", "xp.unstack(x, axis=1)", None),
    ("fcib", "xp.permute_dims(x, (1, 0))", "np.transpose(x, (1, 0))"),
    ("fcib", "xp.moveaxis(x, 0, 1)", None),
    ("fcib", "xp.expand_dims(x, axis=-1)", None),
    ("fcib", "xp.flip(x)", None),
    ("fcib", "xp.flip(x[0, 0])", None),
    ("fcib", "xp.roll(x, 1, axis=0)", None),
    ("fcib", "xp.repeat(x, xp.asarray([1, 2, 0]), axis=1)", "np.repeat(x, [1, 2, 0], axis=1)"),
    ("fcib", "xp.tile(x, (2, 1))", None),
    ("fcib", "xp.reshape(x, (3, 2), copy=True)", None),
    ("fcib", "xp.broadcast_arrays(x, v)", None),
    ("fcib", "xp.broadcast_to(v, (2, 3))", None),
    ("fcib", "xp.squeeze(x[:1], 0)", None),
    ("fcib", "xp.take(v, xp.asarray([2, 0, -1]))", "np.take(v, [2, 0, -1])"),
    ("fcib", "xp.take_along_axis(x, xp.asarray([[0], [2]]), axis=1)", "np.take_along_axis(x, np.array([[0], [2]]), axis=1)"),
    ("fcib", "xp.triu(x)", None),
    ("fcib", "xp.where(x == x, x, x)", None),
    ("fcib", "xp.nonzero(x)", None),
    ("fcib", "xp.count_nonzero(x, axis=0)", None),
    ("fcib", "xp.count_nonzero(x, axis=(0, 1), keepdims=True)", None),
    ("fib", "xp.sort(x, descending=True)", "np.sort(x)[:, ::-1]"),
    ("fi", "xp.argsort(x, axis=0, descending=True)", "x.shape[0] - 1 - np.argsort(x[::-1], axis=0, kind='stable')[::-1]"),
    ("fi", "xp.argmax(x, axis=1, keepdims=True)", None),
    ("fi", "xp.argmin(x)", None),
    ("fi", "xp.searchsorted(xp.sort(v), x, side='right')", None),
    ("fcib", "xp.unique_all(x)", None),
    ("fcib", "xp.unique_counts(x)", None),
    ("fcib", "xp.isin(x, v)", None),
    ("fcib", "xp.all(x, axis=1)", None),
    ("fcib", "xp.any(x)", None),
    ("fci", "xp.sum(x)", None),
    ("fci", "xp.sum(x, axis=0, keepdims=True)", None),
    ("fci", "xp.prod(x, axis=1)", None),
    ("fci", "xp.cumulative_sum(x, axis=1, include_initial=True)", None),
    ("fci", "xp.cumulative_prod(v)", None),
    ("fi", "xp.max(x, axis=0)", None),
    ("fi", "xp.min(x)", None),
    ("fc", "xp.mean(x, axis=1)", None),
    ("f", "xp.std(x, axis=0, correction=1)", "np.std(x, axis=0, ddof=1)"),
    ("f", "xp.var(x, correction=0.5)", "np.var(x, ddof=0.5)"),
    ("fci", "xp.diff(x, axis=0)", None),
    ("fci", "xp.diff(v, prepend=v[:1], n=2)", None),
    ("fi", "xp.clip(x, v[1], 2)", "np.clip(x, v[1], 2).astype(x.dtype)"),
    ("f", "xp.round(x)", None),
    ("fci", "xp.real(x)", None),
    ("c", "xp.imag(x)", None),
    ("fci", "xp.conj(x)", "np.conjugate(x)"),
    ("fci", "xp.pow(x, 2)", "np.power(x, 2)"),
    ("fi", "xp.remainder(x, v)", None),
    ("fi", "xp.floor_divide(x, v)", None),
    ("fi", "xp.maximum(x, v)", None),
    ("f", "xp.atan2(x, v)", "np.arctan2(x, v)"),
    ("fc", "xp.divide(x, v)", None),
    ("f", "xp.reciprocal(x)", None),
    ("i", "xp.bitwise_left_shift(x, 1)", "np.left_shift(x, 1)"),
    ("ib", "xp.bitwise_invert(x)", "np.invert(x)"),
    ("fcib", "xp.logical_xor(x, v)", None),
    ("fci", "xp.matmul(x, xp.matrix_transpose(x))", "np.matmul(x, x.T)"),
    ("fci", "xp.tensordot(x, x, axes=2)", None),
    ("fci", "xp.vecdot(x, v)", None),
    ("fci", "xp.linalg.outer(v, v)", None),
    ("fci", "xp.linalg.trace(s)", None),
    ("fci", "xp.linalg.diagonal(x, offset=1)", None),
    ("fci", "xp.linalg.cross(v, v + v)", None),
    ("fci", "xp.linalg.matrix_power(s, 3)", None),
    ("fc", "xp.linalg.det(s)", None),
    ("fc", "xp.linalg.inv(s)", None),
    ("fc", "xp.linalg.solve(s, s)", None),
    ("fc", "xp.linalg.pinv(x)", "np.linalg.pinv(x, rtol=None)"),
    ("fc", "xp.linalg.svdvals(x)", None),
    ("fc", "xp.linalg.matrix_rank(x)", None),
    ("fc", "xp.linalg.matrix_norm(x, ord='nuc')", None),
    ("fc", "xp.linalg.vector_norm(x, axis=1, ord=3)", None),
    ("fc", "xp.linalg.slogdet(s)", None),
    ("fc", "xp.fft.fft(x)", None),
    ("fc", "xp.fft.fftn(x, s=(3, 4))", "np.fft.fftn(x, s=(3, 4), axes=(0, 1))"),
    ("f", "xp.fft.rfft(x)", None),
    ("fc", "xp.fft.irfft(x)", None),
    ("fc", "xp.fft.fftshift(x, axes=1)", None),
]  # fmt: skip


@each("kinds, ours, numpys", CASES)
def test_against_numpy(xp: Any, backend: str, kinds: str, ours: str, numpys: str | None) -> None:
    for name in [name for kind in kinds for name in KINDS[kind]]:
        x = INPUTS[name]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = eval(numpys or ours.replace("xp.", "np."), {"np": np, "x": x, "v": x[0], "s": x[:, :2]})
            mine = xp.asarray(x)
            found = host(eval(ours, {"xp": xp, "x": mine, "v": mine[0, :], "s": mine[:, :2]}))
        if not isinstance(wanted, tuple | list):
            found, wanted = [found], [wanted]
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            assert one.dtype == np.asarray(other).dtype and one.shape == np.shape(other), (name, one, other)
            tolerance = 0 if one.dtype.kind in "iub" else 40 * np.finfo(one.dtype).eps
            np.testing.assert_allclose(
                one, other, rtol=tolerance, atol=tolerance, err_msg=f"{ours} of {name} on {backend}"
            )


EMPTY = ["xp.sum(x)", "xp.prod(x, axis=0)", "xp.any(x)", "xp.sort(x)", "xp.unique_values(x)", "xp.concat([x, x])", "xp.flip(x)",
         "xp.matmul(x, xp.matrix_transpose(x))", "xp.cumulative_sum(x, axis=1)", "xp.exp(x)", "xp.take(x, xp.asarray([], dtype=xp.int64), axis=0)",
         "x + 1", "x[x > 0]", "xp.nonzero(x)", "xp.where(x > 0, x, x)", "xp.reshape(x, (3, 0))", "xp.repeat(x, 2, axis=0)"]  # fmt: skip


@each("expression", EMPTY)
def test_arrays_of_no_elements(xp: Any, expression: str) -> None:
    x = np.zeros((0, 3))
    numpys = expression.replace("xp.concat", "xp.concatenate")
    wanted: Any = eval(numpys, {"xp": np, "x": x})
    found = host(eval(expression, {"xp": xp, "x": xp.asarray(x)}))
    for one, other in zip(found, wanted) if isinstance(wanted, tuple) else [(found, wanted)]:
        assert one.shape == np.shape(other) and one.dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(one, other)
