"""vmap: what a loop over the examples gives, on each library, nested with the other transforms."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest

import arraydispatch as ad

RNG = np.random.default_rng(5)
X = RNG.normal(size=(4, 3))
M = RNG.normal(size=(4, 3, 3))
M = M @ M.transpose(0, 2, 1) + 3 * np.eye(3)


def host(x: Any) -> Any:
    return np.asarray(x)


def _roll(x):
    y = x.copy()
    y[1:] += x[:-1]
    y[0, ...] = -1
    return y[::-1]


BODIES = {
    "sum": lambda x: np.sum(x**2),
    "mean": lambda x: x.mean(),
    "sort": np.sort,
    "median": np.median,
    "cumsum": np.cumsum,
    "where": lambda x: np.where(x > 0, x, np.exp(x)),
    "slices": lambda x: x[1:] * x[:-1],
    "writes": _roll,
    "outer": lambda x: np.outer(x, x),
    "concatenate": lambda x: np.concatenate([x, [1.0, 2.0], x[:1]]),
    "take": lambda x: np.take(x, [2, 0]),
    "fancy": lambda x: x[[0, 2, 0]],
    "fft": np.fft.fft,
    "std": np.std,
    "norm": np.linalg.norm,
    "interp": lambda x: np.interp(x, [-1.0, 0.0, 1.0], [0.0, 2.0, 3.0]),
    "pad": lambda x: np.pad(x, 1),
    "roll": lambda x: np.roll(x, 1),
    "argmax": np.argmax,
    "max": np.max,
    "einsum": lambda x: np.einsum("i,j->ij", x, x),
    "stack": lambda x: np.stack([x, 2 * x], axis=1),
    "clip": lambda x: np.clip(x, -0.5, 0.5),
}


@pytest.mark.compiles(3)
@pytest.mark.parametrize("name", BODIES)
def test_as_a_loop(name: str, backend: str) -> None:
    body = BODIES[name]
    expected = np.stack([body(x) for x in X])
    with ad.backend(backend):
        made = ad.vmap(body)(ad.asarray(X))
    assert made.backend.name == backend
    assert made.dtype == expected.dtype
    np.testing.assert_allclose(host(made), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("body", [np.linalg.inv, np.linalg.det, lambda m: np.linalg.solve(m, m[0]), np.linalg.cholesky])
def test_matrices(body: Any, library: str) -> None:
    np.testing.assert_allclose(host(ad.vmap(body)(ad.asarray(M))), [body(m) for m in M], rtol=1e-10, atol=1e-12)


class Pair(NamedTuple):
    a: Any
    b: Any


def test_axes_and_trees(backend: str) -> None:
    def f(p, w, *, shift):
        return {"y": p.a @ w + shift, "n": 3, "t": (p.b, p.b * 2, "name", None)}

    with ad.backend(backend):
        p = Pair(ad.asarray(X), ad.asarray(M.transpose(1, 2, 0)))
        made = ad.vmap(f, in_axes=(Pair(0, 2), None))(
            p, ad.asarray(np.arange(6.0).reshape(3, 2)), shift=ad.asarray([1.0, 2.0, 3.0, 4.0])
        )
    w = np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(host(made["y"]), X @ w + np.array([1.0, 2, 3, 4])[:, None])
    assert host(made["n"]).tolist() == [3] * 4
    np.testing.assert_allclose(host(made["t"][0]), M)
    np.testing.assert_allclose(host(made["t"][1]), 2 * M)
    assert made["t"][2:] == ("name", None)


@dataclasses.dataclass
class Line:
    slope: Any
    offset: Any
    name: str = dataclasses.field(default="", metadata={"static": True})


def test_axes_in_a_dataclass(backend: str) -> None:
    with ad.backend(backend):
        line = Line(ad.asarray([1.0, 2.0]), ad.asarray(3.0), "l")
        made = ad.vmap(lambda p, x: p.slope * x + p.offset, in_axes=(Line(0, None), None))(line, 2.0)
        both = ad.vmap(lambda x: Line(x * 2, x[None]), out_axes=Line(0, 1))(line.slope)
    assert host(made).tolist() == [5, 7]
    assert host(both.slope).tolist() == [2, 4] and host(both.offset).tolist() == [[1, 2]]


def test_out_axes(backend: str) -> None:
    with ad.backend(backend):
        x = ad.asarray(X)
        assert ad.vmap(lambda x: 2 * x, out_axes=1)(x).shape == (3, 4)
        assert ad.vmap(lambda x: 2 * x, in_axes=1, out_axes=-1)(x).shape == (4, 3)
        one, two = ad.vmap(lambda x: (x, x * x), in_axes=-1, out_axes=(1, 0))(x)
    assert one is x and two.shape == (3, 4)


def test_writes_reach_the_caller(backend: str) -> None:
    def f(x, y):
        x[1:] += y
        x[0] = 7
        return x.sum()

    with ad.backend(backend):
        x, y = ad.asarray(X.copy()), ad.asarray(np.arange(4.0))
        total = ad.vmap(f)(x, y)
    expected = X.copy()
    expected[:, 1:] += np.arange(4.0)[:, None]
    expected[:, 0] = 7
    np.testing.assert_allclose(host(x), expected)
    np.testing.assert_allclose(host(total), expected.sum(axis=1))


def test_nested(library: str) -> None:
    def f(x):
        return np.sum(np.sin(x) * x[0])

    x, first = ad.asarray(X), np.array([1.0, 0.0, 0.0])
    gradients = ad.vmap(ad.grad(f))(x)
    slopes = np.cos(X) * X[:, :1] + np.sin(X).sum(axis=1, keepdims=True) * first
    np.testing.assert_allclose(host(gradients), slopes, rtol=1e-12)
    hessians = ad.vmap(ad.hessian(f))(x)
    assert hessians.shape == (4, 3, 3)
    crossed = np.cos(X)[:, :, None] * first
    curved = np.eye(3) * (-np.sin(X) * X[:, :1])[:, None] + crossed + crossed.transpose(0, 2, 1)
    np.testing.assert_allclose(host(hessians), curved, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(host(ad.jit(ad.vmap(f))(x)), [f(row) for row in X], rtol=1e-12)
    np.testing.assert_allclose(host(ad.grad(lambda x: ad.vmap(f)(x).sum())(x)), host(gradients), rtol=1e-12)
    both = ad.vmap(ad.vmap(lambda a, b: a * b, in_axes=(None, 0)), in_axes=(0, None))(x[0], x[1])
    np.testing.assert_allclose(host(both), np.outer(X[0], X[1]))


def test_what_is_shared(backend: str) -> None:
    outside = np.arange(3.0)
    with ad.backend(backend):
        made = ad.vmap(lambda x: outside * 2)(ad.asarray(X))
        same = ad.vmap(lambda x, y: x + y)(ad.asarray(X), 1.5)
    np.testing.assert_allclose(host(made), np.tile(outside * 2, (4, 1)))
    np.testing.assert_allclose(host(same), X + 1.5)


def test_bad_input(library: str) -> None:
    x = ad.asarray(X)
    with pytest.raises(ValueError, match=r"args\[0\] has 4, args\[1\] has 2"):
        ad.vmap(lambda x, y: x)(x, ad.asarray([1.0, 2.0]))
    with pytest.raises(ValueError, match="no axis 2"):
        ad.vmap(lambda x: x, in_axes=2)(x)
    with pytest.raises(ValueError, match="no axis 0"):
        ad.vmap(lambda x: x)(ad.asarray(1.0))
    with pytest.raises(ValueError, match="an axis to map"):
        ad.vmap(lambda x: x, in_axes=None)(x)
    with pytest.raises(ValueError, match="2 entries for the 1"):
        ad.vmap(lambda x: x, in_axes=(0, 0))(x)
    with pytest.raises(ValueError, match="no example"):
        ad.vmap(lambda x: x)(x[:0])
    with pytest.raises(ValueError, match=r"out_axes of ad\.vmap is 5"):
        ad.vmap(lambda x: x * 2, out_axes=5)(x)
    with pytest.raises(ad.TraceError, match=r"test_vmap\.py:\d+ in .*np\.where"):
        ad.vmap(lambda x: x if x.sum() > 0 else -x)(x)
    outside = ad.asarray(np.zeros(3))

    def leak(x):
        outside[:] = x
        return x * 1

    with pytest.raises(ad.TraceError, match="written"):
        ad.vmap(leak)(x)
    assert host(outside).tolist() == [0, 0, 0]
