"""matrix_from_function: the matrix times the argument is what the function gives, and what is not linear is refused at its line."""

from __future__ import annotations

import copy
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import arraydispatch as ad

RNG = np.random.default_rng(3)
C, D, K = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 5)), RNG.normal(size=3)


def laplace(u: Any) -> Any:
    v = np.zeros_like(u)
    v[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    return v


def aliases(x: Any) -> Any:
    y = x.copy()
    row, column = y[1], y.T[0]
    row += 2 * x[0]
    column[...] = x[:, 1] / 4
    y[[0, 2], [1, 1]] -= 1
    return y


def _added_at(x: Any) -> Any:
    y = np.zeros_like(x)
    np.add.at(y, [0, 2, 0, 1], np.concatenate([x, [5.0]]))
    np.subtract.at(y, [1, 1], x[:2])
    return y


def _written(x: Any) -> Any:
    y = np.zeros_like(x)
    np.copyto(y, x[::-1], where=[True, False, True])
    np.add(y, 1, out=y)
    return y


def _put(x: Any) -> Any:
    y = np.zeros_like(x)
    np.put(y, [0, 2, 2], np.stack([x[1], x[0], x[2] + 1]))
    np.putmask(y, [False, True, True], 2 * x)
    np.place(y, [True, False, True], x[1:])
    z = np.empty_like(x)
    z.fill(x[0])
    return y + z


def _written_matrix(m: Any) -> Any:
    made = np.full_like(m, 2.0)
    np.fill_diagonal(made, m[0, 0])
    np.put_along_axis(made, np.array([[1], [2], [0], [3]]), m[:, :1], axis=1)
    return made


VECTORS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda x: x,
    "affine": lambda x: 3 - 2 * x / 5 + K,
    "weights": lambda x: x * K,
    "constant": lambda x: np.arange(4.0),
    "number": lambda x: x[1],
    "sum": np.sum,
    "mean": lambda x: x.mean(),
    "cumsum": np.cumsum,
    "diff": lambda x: np.diff(x, 2),
    "slices": lambda x: x[::-1][:2] + x[1:],
    "fancy": lambda x: x[[2, 0, 0, 1]],
    "mask": lambda x: x[np.array([True, False, True])],
    "roll": lambda x: np.roll(x, 1),
    "pad": lambda x: np.pad(x, (1, 2), constant_values=5.0),
    "wrap": lambda x: np.pad(x, 2, mode="wrap"),
    "concatenate": lambda x: np.concatenate([x[1:], [7.0], x]),
    "stack": lambda x: np.stack([x, np.ones(3), 2 * x], axis=1),
    "where": lambda x: np.where([True, False, True], x, 9.0),
    "outer": lambda x: np.outer(K, x),
    "dot": lambda x: np.dot(K, x),
    "vdot": lambda x: np.vdot(x, K),
    "matrix": lambda x: C.T @ x,
    "other side": lambda x: x @ C,
    "convolve": lambda x: np.convolve(x, [1.0, 2.0]),
    "same": lambda x: np.convolve([1.0, 2.0, 3.0, 4.0], x, "same"),
    "valid": lambda x: np.convolve(x, [1.0, -1.0], "valid"),
    "correlate": lambda x: np.correlate([1.0, 2.0, 3.0, 4.0], x),
    "correlate, full": lambda x: np.correlate(x, [1.0, 2.0], "full"),
    "tile": lambda x: np.tile(x, (2, 2)),
    "repeat": lambda x: np.repeat(x, [1, 0, 2]),
    "diag": np.diag,
    "loop": lambda x: sum(k * e for k, e in zip(K, x)),
    "lists": lambda x: np.stack([x[0], x[1] + 1]) * [1.0, 2.0],
    "complex": lambda x: x * (1 + 2j),
    "halves": lambda x: np.sum((x[1:] + x[:-1]) * 0.5),
    "trapezoid": lambda x: np.trapezoid(x, [0.0, 0.5, 2.0]),
    "trapezoid, places": lambda x: np.trapezoid([1.0, 3.0, 2.0], x),
    "gradient": np.gradient,
    "gradient, spacing": lambda x: np.gradient(x, [0.0, 0.5, 2.0], edge_order=2),
    "diff, ends": lambda x: np.diff(x, prepend=1.0, append=x[:1]),
    "ediff1d": lambda x: np.ediff1d(x, to_begin=x[0], to_end=[5.0, 6.0]),
    "cumulative_sum": lambda x: np.cumulative_sum(x, include_initial=True),
    "average": lambda x: np.average(x, weights=[1.0, 2.0, 4.0]),
    "interp": lambda x: np.interp([-1.0, 0.0, 0.3, 1.0, 1.7, 2.0, 9.0], [0.0, 1.0, 2.0], x),
    "interp, ends": lambda x: np.interp([[-1.0, 0.5], [2.0, 9.0]], [0.0, 1.0, 2.0], x, left=7.0, right=x[0]),
    "polyval": lambda x: np.polyval(x, np.array([2.0, 0.5])) + np.polyval([3.0, 1.0], x)[:2],
    "kron": lambda x: np.kron(x, [[1.0, 2.0], [0.0, 3.0]]),
    "cross": lambda x: np.cross(K, x) - np.linalg.cross(x, K),
    "vecdot": lambda x: np.vecdot(x, C.T),
    "matvec": lambda x: np.matvec(C.T, x),
    "vecmat": lambda x: np.vecmat(x, C),
    "linalg": lambda x: np.linalg.outer(x, K).ravel() + np.linalg.tensordot(K, x, axes=0).ravel(),
    "multi_dot": lambda x: np.linalg.multi_dot([C.T, np.diag(K), x]),
    "select": lambda x: np.select([[True, False, False], [True, True, False]], [x, 2 * x], 5.0),
    "choose": lambda x: np.choose([2, 0, 1, 2], x),
    "bincount": lambda x: np.bincount([0, 2, 0], weights=x, minlength=5),
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, 2) @ [1.0, 3.0],
    "sum, where": lambda x: np.sum(x, where=[True, False, True], initial=4.0) + np.mean(x, where=[True, True, False]),
    "outer ufuncs": lambda x: np.multiply.outer(K, x) + np.subtract.outer(x, K),
    "add.at": _added_at,
    "written": _written,
    "likes": lambda x: np.ones_like(x) + x + np.full_like(x, 2.5) + np.full_like(x, x[1]),
    "real": lambda x: np.conj(x) + np.real(x) + np.imag(x),
    "put": _put,
    "constant factors": lambda x: x * np.full_like(x, 3.0) / (np.ones_like(x) + 1) + np.ones_like(x) / np.full_like(x, 4.0),
    "solve": lambda x: np.linalg.solve(np.diag(K) + 5, x),
    "fft": lambda x: np.fft.fft(x, 5) + np.fft.ifft(x * (1 + 1j), 5, norm="ortho"),
    "rfft": lambda x: np.fft.irfft(x, 4) + np.fft.hfft(x, 4) + np.concatenate([np.real(x), x[:1]]),
    "rfft, half": lambda x: np.fft.rfft(x, 6, norm="forward") + np.fft.ihfft(x, 6),
    "fftshift": lambda x: np.fft.fftshift(x) - np.fft.ifftshift(x),
    "pad, empty": lambda x: np.pad(x, 2, mode="empty")[2:-2],
    "pad, mean": lambda x: np.pad(x, (2, 1), mode="mean") + np.pad(x, (2, 1), mode="mean", stat_length=2),
    "pad, ramp": lambda x: np.pad(x, (2, 3), mode="linear_ramp", end_values=(5.0, -1.0)),
    "pad, odd": lambda x: np.pad(x, 2, mode="reflect", reflect_type="odd") + np.pad(x, 2, mode="symmetric", reflect_type="odd"),
    "linspace": lambda x: np.linspace(x[0], x[1], 5) + np.linspace(2.0, x[2], 5, endpoint=False),
    "linspace of arrays": lambda x: np.linspace(x, 2 * x + 1, 4, axis=1),
    "polyder": lambda x: np.polyder(x) + np.polyint(x, k=7.0)[:2],
    "resize": lambda x: np.resize(x, (2, 4)),
}  # fmt: skip
MATRICES: dict[str, Callable[[Any], Any]] = {
    "laplace": laplace,
    "aliases": aliases,
    "transpose": lambda m: m.T * 2,
    "solve": lambda m: np.linalg.solve(C[:, :3] + 5 * np.eye(3), m[:3]),
    "fft2": lambda m: np.fft.fft2(m) + np.fft.ifftn(m, s=(4, 4), axes=(0, 1)),
    "rfft2": lambda m: np.fft.rfft2(m) - np.fft.rfftn(m),
    "irfft2": lambda m: np.fft.irfft2(m) + np.fft.irfftn(m[:, ::-1]),
    "fft, axis": lambda m: np.fft.fft(m, axis=0) + np.fft.fftn(m, axes=(1,)) + np.fft.ifft2(m),
    "pad, ramp": lambda m: np.pad(m, ((1, 2), (0, 1)), mode="linear_ramp", end_values=((1.0, 2.0), (3.0, 4.0))),
    "pad, mean": lambda m: np.pad(m, 1, mode="mean"),
    "pad, odd": lambda m: np.pad(m, {1: (2, 1)}, mode="reflect", reflect_type="odd"),
    "apply_along_axis": lambda m: np.apply_along_axis(lambda r: np.convolve(r, [1.0, 2.0]), 0, m),
    "apply_along_axis, totals": lambda m: np.apply_along_axis(lambda r: r[0] - r.sum(), 1, m),
    "apply_over_axes": lambda m: np.apply_over_axes(np.sum, m, [0]),
    "reshape": lambda m: m.reshape(2, -1)[1],
    "flip": lambda m: np.flip(m, 1),
    "rot90": np.rot90,
    "sum, axis": lambda m: m.sum(axis=0) - np.sum(m, axis=1, keepdims=True),
    "mean, axis": lambda m: np.mean(m, axis=1),
    "cumsum, axis": lambda m: np.cumsum(m, axis=0),
    "add.reduceat": lambda m: np.add.reduceat(m, [1, 0, 0]),
    "add.reduceat, axis": lambda m: np.add.reduceat(m, [0, 1], axis=-1),
    "matmul": lambda m: m @ D,
    "left": lambda m: C.T @ (m @ D)[:3],
    "einsum": lambda m: np.einsum("ij,jk,i->ki", m, D, np.arange(4.0)),
    "einsum, diagonal": lambda m: np.einsum("ii->i", m),
    "tensordot": lambda m: np.tensordot(C, m, axes=(1, 0)),
    "inner": lambda m: np.inner(m, C),
    "trace": np.trace,
    "tril": lambda m: np.tril(m, -1),
    "diagonal": lambda m: np.diagonal(m, 1),
    "take": lambda m: np.take(m, [3, 0], axis=1),
    "swap": lambda m: np.moveaxis(m[None], 0, -1).squeeze(),
    "broadcast": lambda m: m[:, None] + m[None, :, 0],
    "hstack": lambda m: np.hstack([m, np.eye(4)]),
    "iadd": lambda m: _in_place(m.copy()),
    "gradient, axes": lambda m: np.stack(np.gradient(m, 0.5, [0.0, 1.0, 3.0, 4.0])),
    "gradient, axis": lambda m: np.gradient(m, axis=0, edge_order=2),
    "trapezoid, axis": lambda m: np.trapezoid(m, dx=0.1, axis=0) + np.trapezoid(m, [0.0, 1.0, 3.0, 4.0]),
    "average, axis": lambda m: np.average(m, axis=0, weights=np.arange(1.0, 5.0), keepdims=True),
    "kron, both": lambda m: np.kron(m, np.eye(2)),
    "windows, sum": lambda m: np.lib.stride_tricks.sliding_window_view(m, (2, 2)).sum(axis=(2, 3)),
    "flips": lambda m: np.flipud(m) - np.fliplr(m) + np.rot90(m, 3, (1, 0)),
    "rows and columns": lambda m: np.vecdot(m, C.T[:, [0, 1, 2, 0]]) + np.linalg.trace(m) + np.linalg.vecdot(m, D[:, :4], axis=0),
    "take_along_axis": lambda m: np.take_along_axis(m, np.argsort(np.asarray(D[:, :4]), axis=1), axis=1),
    "written": _written_matrix,
    "einsum, two": lambda m: np.einsum("...j,jk->...k", m, D),
}  # fmt: skip


def _in_place(m: Any) -> Any:
    m += 1
    m[1:] *= 2
    m[0] -= m[1]
    return m


@pytest.mark.parametrize("name", [*VECTORS, *MATRICES])
def test_matrix_times_the_argument(name: str) -> None:
    f = VECTORS.get(name) or MATRICES[name]
    x = RNG.normal(size=(3,) if name in VECTORS else (4, 4))
    matrix, bias = ad.matrix_from_function(f, np.empty_like(x))
    expected = np.asarray(f(x.copy()))
    assert isinstance(matrix, sp.csr_array)
    assert matrix.shape == (expected.size, x.size)
    np.testing.assert_allclose(matrix @ x.ravel() + bias, expected.ravel(), rtol=1e-12, atol=1e-12)


def test_sums_between_indices_are_of_the_dtype_that_is_asked_for() -> None:
    matrix, bias = ad.matrix_from_function(lambda x: np.add.reduceat(x, [0, 2], dtype=complex), np.zeros(4))
    assert (matrix.dtype, bias.dtype) == (np.complex128, np.complex128)
    np.testing.assert_array_equal(matrix.toarray(), [[1, 1, 0, 0], [0, 0, 1, 1]])
    with pytest.raises(ad.TraceError, match="a cast to int64 is not linear"):
        ad.matrix_from_function(lambda x: np.add.reduceat(x, [0, 2], dtype=np.int64), np.zeros(4))


def test_laplacian_of_a_grid() -> None:
    matrix, bias = ad.matrix_from_function(laplace, np.empty((100, 100)))
    assert matrix.nnz == 5 * 98 * 98
    assert not bias.any()
    start = time.process_time()
    ad.matrix_from_function(laplace, np.empty((100, 100)))
    assert time.process_time() - start < 0.5  # a fiftieth of a second on a machine that does nothing else


def test_several_arguments_and_constants() -> None:
    def f(p, y, *, k):
        return np.concatenate([p["a"] * k, y - p["b"][0]])

    matrix, bias = ad.matrix_from_function(f, {"a": np.empty(2), "b": np.empty((2, 1))}, 1.0, k=3.0)
    assert matrix.toarray().tolist() == [[3, 0, 0, 0, 0], [0, 3, 0, 0, 0], [0, 0, -1, 0, 1]]
    assert bias.tolist() == [0, 0, 0]


def test_coefficients_of_a_library(library: str) -> None:
    k = ad.asarray(K)
    matrix, bias = ad.matrix_from_function(lambda x: x[::-1] * k + 1, ad.asarray(np.zeros(3)))
    assert isinstance(matrix, ad.sparse.SparseArray)
    assert (matrix.format, matrix.backend.name) == ("csr", library)
    np.testing.assert_allclose(dense(matrix), np.diag(K)[:, ::-1])
    assert bias.tolist() == [1, 1, 1]
    matrix, _ = ad.matrix_from_function(lambda x: x * 2, ad.asarray(np.zeros(3)))
    assert isinstance(matrix, sp.csr_array)


def dense(matrix: Any) -> Any:
    """A sparse matrix of any library as an ndarray."""
    if isinstance(matrix, sp.sparray):
        return matrix.toarray()
    return ad.to_numpy(matrix.toarray())


def test_arrays_made_inside_are_numpys(library: str) -> None:
    matrix, _ = ad.matrix_from_function(lambda x: ad.asarray(K) * x, np.empty(3))
    assert isinstance(matrix, sp.csr_array)
    assert ad.default_backend().name == library


def test_examples_have_matrices_of_their_own(library: str) -> None:
    def f(x, y, *, k):
        return np.concatenate([np.cumsum(x, axis=-1)[..., ::-1] * k + 1, y], axis=-1)

    x, y, k = RNG.normal(size=(2, 3, 5)), RNG.normal(size=(2, 3, 2)), RNG.normal(size=(2, 3, 1))
    for factor in (k, ad.asarray(k)):
        matrices, bias = ad.matrix_from_function(f, np.empty_like(x), np.empty_like(y), batch_dims=2, k=factor)
        assert matrices.shape == (2, 3) and bias.shape == (2, 3, 7)
        assert isinstance(matrices[0, 0], sp.csr_array) is (factor is k)
        expected = f(x, y, k=k)
        for i in np.ndindex(2, 3):
            made = dense(matrices[i]) @ np.concatenate([x[i], y[i]]) + bias[i]
            np.testing.assert_allclose(made, expected[i], rtol=1e-12, atol=1e-12)


def test_examples_are_kept_apart() -> None:
    x = np.empty((2, 3))
    with pytest.raises(ad.TraceError, match="result 0 depends on example 1"):
        ad.matrix_from_function(lambda x: x[::-1], x, batch_dims=1)
    with pytest.raises(ValueError, match="axes of examples"):
        ad.matrix_from_function(lambda x: x.sum(axis=0), x, batch_dims=1)
    with pytest.raises(ValueError, match="the same 1 leading axes"):
        ad.matrix_from_function(lambda x, y: x + y, x, np.empty(3), batch_dims=1)
    with pytest.raises(ValueError, match="the same 2 leading axes"):
        ad.matrix_from_function(lambda x: x, np.empty(3), batch_dims=2)


def test_memory_is_that_of_the_coefficients() -> None:
    def bytes_for_each(n: int) -> float:
        tracemalloc.start()
        try:
            matrix, _ = ad.matrix_from_function(laplace, np.empty((n, n)))
            return tracemalloc.get_traced_memory()[1] / matrix.nnz
        finally:
            tracemalloc.stop()

    ad.matrix_from_function(laplace, np.empty((3, 3)))  # what is imported first is not counted
    assert bytes_for_each(200) < 1.1 * bytes_for_each(100) < 150


NOT_LINEAR = [
    lambda x: x * x, lambda x: np.sin(x) + 1, lambda x: x**2, lambda x: 1 / x, lambda x: np.where(x > 0, x, 0), np.max, np.prod, abs,
    lambda x: x if x.sum() > 0 else -x, lambda x: float(x[0]), np.sort, lambda x: np.arange(3.0)[x],
    lambda x: np.linalg.solve(np.diag(x), K), lambda x: np.array([x[0], x[1]]), lambda x: np.pad(x, 1, mode="maximum"),
    lambda x: np.interp(x, K, K), lambda x: np.polyval([1.0, 2.0, 3.0], x), lambda x: np.kron(x, x), lambda x: np.average(K, weights=x),
    lambda x: np.vecdot(x * 1j, x), lambda x: np.bincount([0, 1, 1], weights=np.maximum(x, 0)), lambda x: np.multiply.outer(x, x),
    np.multiply.reduce, lambda x: np.maximum.at(x, [0], 1.0), lambda x: np.trapezoid(x, x), lambda x: np.cross(x, x),
    lambda x: np.einsum("i,i->", x, x), lambda x: np.convolve(x, x), lambda x: np.take(K, x), lambda x: np.roll(x, x[0]),
]  # fmt: skip


def _parts_written(x: Any) -> Any:
    y = x * (1 + 2j)
    y.real = x[::-1]
    z = y.copy()
    z.imag = 3
    return y + z


def _flat_written(x: Any) -> Any:
    y = np.stack([x, 2 * x])
    y.flat[0] = 5
    y.T.flat[2:4] = y.flat[-2:]
    read = y.flat[:2]
    read[0] = 7
    y.flat[4:] += read
    return y


def _flat_filled(x: Any) -> Any:
    y = np.zeros_like(x)
    y.flat = [x[1], 3.0]
    y.real = y + x
    return y


def _copied(x: Any) -> Any:
    y, z = copy.copy(x), copy.deepcopy(x)
    y[0], z[1] = 4, 3
    return x + 2 * y + 3 * z


PARTS: list[Callable[..., Any]] = [
    lambda x: np.real((1 + 2j) * x),
    lambda x: np.imag((1 + 2j) * x + 3j),
    lambda x: np.conj((1 + 2j) * x + 3j).imag,
    lambda x: (2j * x).conj() + (2j * x).conjugate() + x.conj() + x.real + x.imag,
    lambda x: np.fft.ifft(1j * np.fft.fftfreq(3) * np.fft.fft(x)).real,
    lambda x: np.fft.irfft(1j * np.arange(2) * np.fft.rfft(x), n=3),
    lambda x: np.fft.hfft((1 + 1j) * x),
    lambda x: np.vdot((1 + 1j) * x, K) + np.vecdot(1j * x, K),
    lambda x: np.correlate([1.0, 2j], 1j * x) + np.correlate(1j * x, [1j, 2.0, 3, 4]),
    lambda x: np.correlate(K, 1j * x, "full"),
    _parts_written,
    _flat_written,
    _flat_filled,
    _copied,
]


@pytest.mark.parametrize("f", PARTS, ids=range(len(PARTS)))
def test_parts_copies_and_flat_iterators(f: Any) -> None:
    """Real arguments: of complex ones parts and conjugates are not linear."""
    matrix, bias = ad.matrix_from_function(f, np.empty(3))
    zero = np.ravel(f(np.zeros(3)))
    assert np.allclose(matrix.toarray(), np.stack([np.ravel(f(unit)) - zero for unit in np.eye(3)], -1))
    assert np.allclose(bias, zero)


def _into_integers(x: Any) -> Any:
    y = np.zeros_like(x, dtype=int)
    y[:] = x
    return y


def _into_reals(x: Any) -> Any:
    y = np.zeros_like(x)
    y[:] = 1j * x
    return y


def _into_a_part(x: Any) -> Any:
    y = 1j * x
    y.real[0] = 1  # what is written is a copy
    return y


NOT_FOLLOWED: list[Callable[..., Any]] = [
    *(_into_integers, _into_reals, _into_a_part),
    *(lambda x: x.clip(0), lambda x: x.max(), lambda x: round(x[0]), lambda x: divmod(x, 2), lambda x: f"{x[0]:.3f}"),
]


@pytest.mark.parametrize("f", NOT_FOLLOWED, ids=range(len(NOT_FOLLOWED)))
def test_what_would_lose_something_is_named_with_its_line(f: Any) -> None:
    with pytest.raises(ad.TraceError, match=r"not linear .*test_linear.py:\d+"):
        ad.matrix_from_function(f, np.empty(3))


@pytest.mark.parametrize("f", PARTS[:5])
def test_parts_of_complex_arguments_are_not_linear(f: Any) -> None:
    with pytest.raises(ad.TraceError, match=r"of complex arguments is not linear .*test_linear.py:\d+"):
        ad.matrix_from_function(f, np.empty(3, complex))


@pytest.mark.parametrize("f", NOT_LINEAR)
def test_what_is_not_linear_is_named_with_its_line(f: Any) -> None:
    with pytest.raises(ad.TraceError, match=r"is not linear .*, at .*test_linear\.py:\d+"):
        ad.matrix_from_function(f, np.empty(3))


def test_bad_input() -> None:
    def writes(x):
        y = np.zeros(3)
        np.add(x, 1, out=y)
        return y

    with pytest.raises(ad.TraceError, match=r"np\.zeros_like"):
        ad.matrix_from_function(writes, np.empty(3))
    with pytest.raises(TypeError, match="is a str"):
        ad.matrix_from_function(lambda x: x, "a")
    with pytest.raises(TypeError, match="one array"):
        ad.matrix_from_function(lambda x: (x, x), np.empty(3))


def test_an_argument_that_numpy_refuses_is_numpys_error() -> None:
    with pytest.raises(TypeError, match="rfft"):
        ad.matrix_from_function(lambda x: np.fft.rfft(x * 1j), np.empty(3))


def test_the_dtype_of_a_ufunc_is_followed() -> None:
    x = np.arange(3.0)
    matrix, _ = ad.matrix_from_function(lambda v: np.multiply(v, 0.1, dtype=np.float32), x)
    assert matrix.dtype == np.float32
