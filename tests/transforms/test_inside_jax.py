"""Functions on arrays inside the user's own ``jax.jit``, which has no 64-bit types unless he asked for them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

X = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]], np.float32)


def _written(x: Any) -> Any:
    y = x.copy()
    y[0, 1:] = 7
    y[:, [0, 2]] += 1
    return y


FUNCTIONS = {
    **{
        name: getattr(np, name)
        for name in """argmax argmin argsort sort cumsum cumprod median std var mean ptp nanargmax nanargmin diff trapezoid sum prod max
        flip ravel transpose cov round sign isnan nan_to_num""".split()
    },
    "argmax, axis": lambda x: np.argmax(x, axis=1),
    "argmax, complex": lambda x: np.argmax(x + 1j * x),
    "argmax, bool": lambda x: np.argmax(x > 2),
    "argpartition": lambda x: np.sort(np.argpartition(x, 1)[:, :1]),
    "lexsort": lambda x: np.lexsort((x[0], x[1])),
    "searchsorted": lambda x: np.searchsorted(np.sort(x[0]), x[1]),
    "digitize": lambda x: np.digitize(x, np.array([1.0, 3.0])),
    "interp": lambda x: np.interp(x, [0.0, 1.0], [0.0, 2.0]),
    "quantile": lambda x: np.quantile(x, 0.3),
    "count": lambda x: np.count_nonzero(x > 1),
    "take_along_axis": lambda x: np.take_along_axis(x, np.argsort(x, 1), 1),
    "whole numbers": lambda x: np.cumsum(x.astype(int)),
    "where": lambda x: np.where(x > 1, x, 0),
    "histogram": lambda x: np.histogram(x, bins=3, range=(0.0, 5.0))[0],
    "unravel_index": lambda x: np.unravel_index(np.argmax(x), (2, 3))[0],
    "solve": lambda x: np.linalg.solve(x[:, :2], x[:, 2]),
    "fft": np.fft.fft,
    "gather": lambda x: x[np.array([0, 1, 1])],
    "steps that NumPy takes elsewhere": lambda x: np.logaddexp.accumulate(np.tile(x[0], 30)),
    "vander": lambda x: np.vander(x[0]),
    "writes": _written,
}


@pytest.mark.parametrize("wide", [False, True])
def test_inside_the_users_own_jit(wide: bool) -> None:
    jax = pytest.importorskip("jax")
    wrong = []

    def native(x: Any) -> Any:
        return x.native if isinstance(x, ad.Array | ad.Scalar) else x

    with warnings.catch_warnings(), jax.enable_x64(wide):
        warnings.simplefilter("error")
        for name, f in FUNCTIONS.items():
            try:
                found = np.asarray(jax.jit(lambda x, f=f: native(f(ad.wrap(x))))(X))
                np.testing.assert_allclose(found, f(X.copy()), rtol=1e-5)
            except Exception as error:  # each is told
                wrong.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
    assert not wrong, "\n".join(wrong)


def _assigned(o: Any, u: Any) -> None:
    o[0] = u[0]


def _onto(o: Any, u: Any) -> None:
    np.add(ad.wrap(u), 1, out=o)


def _through_a_view(o: Any, u: Any) -> None:
    o[1:][:] = ad.wrap(u)[1:]


def _twice(o: Any, u: Any) -> None:
    o *= 2


def _where(o: Any, u: Any) -> None:
    np.putmask(o, ad.wrap(u) > 0, 3)


@pytest.mark.parametrize("write", [_assigned, _onto, _through_a_view, _twice, _where])
def test_an_array_outside_keeps_its_value(write: Any) -> None:
    """What is traced cannot be written to it: it would be of that program for ever."""
    jax = pytest.importorskip("jax")
    with ad.backend("jax"):
        outside = ad.asarray(X[0])

        def f(u: Any) -> Any:
            write(outside, u)
            return u

        with pytest.raises(ad.TraceError, match="to an array that lives outside"):
            jax.jit(f)(X[1])
        assert outside.tolist() == X[0].tolist()
        outside[1] = 9
        assert outside.tolist() == [3, 9, 2]


def test_what_is_made_inside_is_written() -> None:
    """Of constants too: a wrapped one is the function's own."""
    jax = pytest.importorskip("jax")
    constant = jax.numpy.asarray(X[0])

    def f(u: Any) -> Any:
        x, y, z = ad.wrap(constant), ad.asarray(X[0], backend="jax"), np.zeros_like(ad.wrap(u))
        x[0] = u[0]
        y[1:][:1] = u[1]
        z += x * y
        return z.native

    assert jax.jit(f)(X[1]).tolist() == [0, 5, 4]
    assert constant.tolist() == X[0].tolist()
