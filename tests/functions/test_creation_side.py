"""Creation of scalars and sequences, which NumPy does not dispatch: what the launcher's facade offers, and ``like=``."""

from __future__ import annotations

import types
import warnings
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.api import creation

from .. import oracle
from ..rows import each


class _Grid:
    def __init__(self, sparse: bool) -> None:
        self.sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        return creation.grid(key, self.sparse)


OURS = types.SimpleNamespace(
    **{
        **{name: value for name, value in vars(np).items() if not name.startswith("__")},
        **{name: getattr(creation, name) for name in creation.__all__},
        "mgrid": _Grid(False),
        "ogrid": _Grid(True),
        "fft": types.SimpleNamespace(fftfreq=creation.fftfreq, rfftfreq=creation.rfftfreq),
    }
)

EXPRESSIONS = [
    "np.arange(7)",
    "np.arange(0)",
    "np.arange(-3)",
    "np.arange(2.5)",
    "np.arange(1, 8, 3)",
    "np.arange(8, 1, -2)",
    "np.arange(0, 1, 0.1)",
    "np.arange(1.0, -1.0, -0.3)",
    "np.arange(3, dtype='f4')",
    "np.arange(0, 5, 0.7, dtype='f2')",
    "np.arange(0, 200, 7, dtype='u1')",
    "np.arange(5, dtype=complex)",
    "np.arange(0, 5, 2, float)",
    "np.arange(0.0, 1.0, 0.3, 'f4')",
    "np.arange(1, 5, None, int)",
    "np.arange(1, 5, 1, 'x')",
    "np.arange(1, 5, 1, int, 3)",
    "np.arange(2, dtype=bool)",
    "np.arange(0, 10, 0)",
    "np.arange(np.float64(3))",
    "np.arange(np.int8(3))",
    "np.arange(5, None)",
    "np.arange(float('inf'))",
    "np.arange(float('nan'))",
    "np.arange(1, 2, dtype='i2')",
    "np.linspace(0, 1)",
    "np.linspace(0, 1, 7, endpoint=False)",
    "np.linspace(1, -3, 5, retstep=True)",
    "np.linspace(0, 1, 5, dtype=int)",
    "np.linspace(0, 10, 4, dtype='f4')",
    "np.linspace(0, 1j, 5)",
    "np.linspace(0, 1, 0)",
    "np.linspace(0, 1, 1)",
    "np.linspace(0, 1, -1)",
    "np.linspace(np.float32(0), 1, 5)",
    "np.logspace(0, 2, 5)",
    "np.logspace(0, 2, 5, base=2)",
    "np.geomspace(1, 1000, 4)",
    "np.geomspace(-1, -1000, 4)",
    "np.geomspace(1, 256, 9, dtype=int)",
    "np.geomspace(0, 1)",
    "np.eye(3)",
    "np.eye(3, 4, 1)",
    "np.eye(3, 4, -1, dtype=int)",
    "np.eye(0)",
    "np.identity(3, 'f4')",
    "np.identity(3)",
    "np.tri(3)",
    "np.tri(3, 4, -1, int)",
    "np.tri(2, 3, 5, bool)",
    "np.indices((2, 3))",
    "np.indices((2, 3), sparse=True)",
    "np.indices((2, 3), dtype='f4')",
    "np.indices(())",
    "np.fromfunction(lambda i, j: i * j, (2, 3), dtype=int)",
    "np.mgrid[0:3]",
    "np.mgrid[0:3, 1:4]",
    "np.mgrid[0:1:5j]",
    "np.mgrid[0:1:5j, 0:2]",
    "np.mgrid[-1:1:0.5, 2:4]",
    "np.ogrid[0:3, 1:4]",
    "np.ogrid[0:1:3j]",
    "np.mgrid[:4]",
    "np.meshgrid([1, 2], [3., 4, 5])",
    "np.bartlett(7)",
    "np.blackman(8)",
    "np.hamming(7)",
    "np.hanning(6)",
    "np.hanning(1)",
    "np.hanning(0)",
    "np.hanning(-3)",
    "np.kaiser(7, 14)",
    "np.kaiser(1, 14)",
    "np.kaiser(0, 14)",
    "np.fft.fftfreq(8)",
    "np.fft.fftfreq(7, 0.1)",
    "np.fft.rfftfreq(8, 2)",
    "np.fft.fftfreq(2.5)",
    "np.diag_indices(3)",
    "np.diag_indices(3, 3)",
    "np.tril_indices(3)",
    "np.tril_indices(3, 1, 4)",
    "np.triu_indices(3)",
    "np.triu_indices(3, -1)",
    "np.mask_indices(3, np.triu)",
    "np.mask_indices(3, np.tril, 1)",
    "np.ones((2, 3), order='F')",
    "np.full(3, [1, 2, 3])",
    "np.full((2, 2), 1.5, int)",
    "np.zeros(-1)",
    "np.array([[1, 2], [3, 4]])",
    "np.array([1, 2.5], dtype='f4')",
    "np.array([], dtype=int)",
    "np.array(3)",
    "np.array([[1, 2], [3]])",
    "np.array([1, 2], ndmin=3)",
    "np.asarray([True, False])",
    "np.ascontiguousarray(3)",
    "np.asfortranarray([[1, 2], [3, 4]])",
]


def evaluate(expression: str, namespace: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(expression, {"np": namespace})
        except Exception as error:
            return error


ARGUMENTS: list[str] = [
    *(f"np.{f}(2, order={order})" for f in ("zeros", "ones", "empty", "eye") for order in ("'Q'", "3", "'A'", "'K'")),
    "np.full(2, 1, order='Q')", "np.full(2, [1, 2], order='K')", "np.zeros((2, 3), order='f')", "np.ones((2, 3), order=None)",
    "np.eye(2, 3, order='F')", "np.array([1], order='Q')", "np.asarray([[1, 2]], order='c')", "np.asarray([1], order=3)",
    "np.eye(-1)", "np.eye(2, -1)", "np.eye(-1, 2)", "np.identity(-1)", "np.eye(1.5)", "np.tri(-1)", "np.tri(2, -1)", "np.tri(-1, 3)",
    "np.tri(1.5)", "np.tri(2.5, 3.2, .5)", "np.tri(3, k=.5)", "np.tri('x')", "np.indices((-1,))", "np.indices((-1,), sparse=True)",
    "np.indices((2, -1))", "np.indices((2.5,))", "np.tril_indices(-1)", "np.triu_indices(-1)", "np.tril_indices(1.5)",
    "np.tril_indices(np.arange(3))", "np.triu_indices(2, 0, np.arange(3))", "np.tril_indices(2, np.arange(3))",
    "np.diag_indices(-1)", "np.mask_indices(-1, np.triu)",
]  # fmt: skip
"""Orders and lengths that NumPy takes, and others that it refuses."""


@each("expression", [*EXPRESSIONS, *ARGUMENTS])
def test_as_numpy(backend: str, expression: str) -> None:
    with ad.backend(backend), ad.fallback("error"):
        ours = evaluate(expression, OURS)
    call = oracle.Call(expression)
    oracle.compare(ours, evaluate(expression, np), f"{expression} on {backend}", backend=backend, call=call)


def test_lists_of_arrays_are_gathered_on_the_backend(backend: str) -> None:
    w = oracle.wrapped(backend, np.arange(3.0))
    with ad.backend(backend), ad.fallback("error"):
        made = creation.array([[w, w + 1], [w * 2, [0.0, 1.0, 2.0]]])
    assert made.backend.name == backend
    np.testing.assert_array_equal(ad.to_numpy(made), [[[0, 1, 2], [1, 2, 3]], [[0, 2, 4], [0, 1, 2]]])


def test_gradients_go_through_lists_of_lists() -> None:
    """The arrays in them stay where they are, at any depth: the host would refuse what has gradients, or get each by itself."""
    torch = pytest.importorskip("torch")
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    w = ad.wrap(x)
    with ad.backend("torch"), ad.fallback("error"):
        made = creation.array([[w, (w * 2)], [[0.0, 1.0, 2.0], w]])
        creation.array([[[w], [[1, 2, 3]]]]).sum().native.backward()
        made.sum().native.backward()
    np.testing.assert_array_equal(
        ad.to_numpy(ad.wrap(made.native.detach())), [[[1, 1, 1], [2, 2, 2]], [[0, 1, 2], [1, 1, 1]]]
    )
    assert x.grad.tolist() == [5, 5, 5]


LIKE = [
    "np.asarray([1, 2], like=w)",
    "np.array([[1, 2], [3, 4]], dtype='f4', like=w)",
    "np.array([w, w], like=w)",
    "np.arange(3, like=w)",
    "np.arange(1, 7, 2, dtype='f4', like=w)",
    "np.zeros((2, 3), like=w)",
    "np.ones(3, int, like=w)",
    "np.full((2,), 7, like=w)",
    "np.eye(3, k=1, like=w)",
    "np.identity(2, like=w)",
    "np.tri(3, like=w)",
    "np.fromfunction(lambda i, j: i + j, (2, 3), like=w)",
    "np.asanyarray([1.5], like=w)",
    "np.ascontiguousarray([[1, 2]], like=w)",
    "np.asfortranarray([[1, 2]], like=w)",
    "np.require([1, 2], like=w)",
    "np.fromiter(range(4), float, like=w)",
    "np.frombuffer(b'abcd', 'u1', like=w)",
    "np.fromstring('1 2', sep=' ', like=w)",
    "np.loadtxt(['1 2', '3 4'], like=w)",
    "np.genfromtxt(['1 2', '3 4'], like=w)",
    "np.zeros(-1, like=w)",
    "np.arange('x', like=w)",
    "np.eye(2.5, like=w)",
]


@each("expression", LIKE)
def test_like(backend: str, expression: str) -> None:
    """NEP 35, outside the launcher and whatever the default backend is."""
    w = np.arange(3.0)
    theirs = oracle.evaluate(expression, {"w": w})
    with ad.backend("numpy"):
        ours = oracle.evaluate(expression, {"w": oracle.wrapped(backend, w)})
    oracle.compare(ours, theirs, f"{expression} on {backend}", backend=backend, call=oracle.Call(expression))
    assert isinstance(theirs, Exception) or ours.backend.name == backend


def test_like_keeps_what_only_the_host_holds(backend: str) -> None:
    w = oracle.wrapped(backend, np.arange(3.0))
    assert isinstance(np.array(["a", "b"], like=w), np.ndarray)


CALLED = [
    "np.apply_along_axis(lambda x: x[:2] * 2, 1, f34)",
    "np.apply_along_axis(np.median, 0, f234)",
    "np.apply_over_axes(np.sum, f234, [0, 2])",
    "np.piecewise(f34, [f34 < 0, f34 > 1], [lambda x: -x, 5, 0])",
    "np.piecewise(f5, f5 > 0, [np.sqrt, np.abs])",
]


@each("expression", CALLED)
def test_functions_that_call_functions(backend: str, expression: str) -> None:
    oracle.check(expression, backend)


def test_element_by_element_on_the_host(backend: str) -> None:
    """``np.vectorize`` and ``np.frompyfunc`` call Python for each element: NumPy does that, with a reason."""
    w = oracle.wrapped(backend, np.arange(3.0))
    with ad.fallback("silent"):
        np.testing.assert_array_equal(np.asarray(np.vectorize(lambda x: x + 1)(w)), [1, 2, 3])
        np.testing.assert_array_equal(np.asarray(np.frompyfunc(lambda x: x + 1, 1, 1)(w)), [1, 2, 3])


@pytest.mark.parametrize("order", list("KACF"))
def test_the_memory_order_of_arrays_in_a_list(backend: str, order: str) -> None:
    f = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    for given in ("[f, f]", "[[f], [f]]", "(f.T, f.T)", "[f[:, ::-1], f]"):
        call = f"np.array({given}, order={order!r})"
        with ad.backend(backend):
            ours: Any = oracle.evaluate(call.replace("np.", "ours."), {"ours": OURS, "f": oracle.wrapped(backend, f)})
        theirs: Any = oracle.evaluate(call, {"f": f})
        assert ours.strides == theirs.strides, given
        np.testing.assert_array_equal(np.asarray(ours), theirs)
