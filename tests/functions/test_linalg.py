"""Linear algebra against NumPy. Factors that are unique only up to signs or phases are compared as what they rebuild."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

from .. import oracle
from ..rows import each

pytestmark = pytest.mark.compiles(3)

_SQUARES = ["sq33", "cs33", "sq233", "sq33.T", "sq33.astype('f4')", "cs33.astype('c8')", "i34[:, :3]", "b34[:, :3]"]
_WRONG_SQUARES = ["f34", "f5", "f0", "h34[:, :3]"]
_EMPTY_SQUARES = ["e03[:, :0]", "sq233[:, :0, :0]", "sq233[:0]"]
_RECTANGLES = ["f34", "ft34", "f34.T", "st34", "c34", "c34.T", "f234", "g34", "d34", "i34", "b34", "u34.T", "f33[:1]"]
_WRONG_RECTANGLES = ["f5", "f0", "h34"]
_EMPTY_RECTANGLES = ["e03", "e03.T", "f234[:0]"]


def _on(functions: list[str], arrays: list[str]) -> list[str]:
    return [f.format(a=a) for f in functions for a in arrays]


def _facts(call: str) -> str:
    """Shapes, dtypes and class of the parts of a named result."""
    return f"(lambda r: [type(r).__name__, [x.shape for x in r], [x.dtype for x in r]])({call})"


_H = "np.swapaxes(np.conj({0}), -1, -2)"
_SPD = "({a} @ np.swapaxes(np.conj({a}), -1, -2) + 3 * np.eye(3, dtype={a}.dtype))"
_SYM = "({a} + np.swapaxes(np.conj({a}), -1, -2))"
_FLOATS = ["sq33", "cs33", "sq233", "sq33.astype('f4')", "cs33.astype('c8')"]

CASES: dict[Any, list[str]] = {
    np.linalg.cholesky: _on([f"np.linalg.cholesky({_SPD})", f"np.linalg.cholesky({_SPD}, upper=True)"], _FLOATS)
    + _on(["np.linalg.cholesky({a})"], ["spd33", "-spd33", "i34[:, :3] * 0 + i0 * np.eye(3, dtype=int)"])
    + _on(["np.linalg.cholesky({a})"], _WRONG_SQUARES + _EMPTY_SQUARES)
    + ["np.linalg.cholesky(np.tril(spd33) + f0 * 0)", "np.linalg.cholesky(np.triu(spd33) + f0 * 0, upper=True)"],
    np.linalg.qr: _on(
        [
            "(lambda q, r: q @ r)(*np.linalg.qr({a}))",
            "(lambda q, r: q @ r)(*np.linalg.qr({a}, 'complete'))",
            f"(lambda q, r: {_H.format('q')} @ q)(*np.linalg.qr({{a}}))",
            f"(lambda q, r: {_H.format('q')} @ q)(*np.linalg.qr({{a}}, mode='complete'))",
            "np.abs(np.linalg.qr({a}, mode='r'))",
            "np.tril(np.linalg.qr({a}, mode='r'), -1)",
        ],
        _RECTANGLES[:-4] + ["f33[:1]"],
    )
    + _on(["np.linalg.qr({a})"], _WRONG_RECTANGLES)
    + ["np.linalg.qr(f34, 'x')", "np.linalg.qr(e03, 'r')", "np.linalg.qr(e03.T, 'complete')[0]"],
    np.linalg.svd: _on(
        [
            "(lambda u, s, vh: (u * s[..., None, :]) @ vh)(*np.linalg.svd({a}, full_matrices=False))",
            "(lambda u, s, vh: s)(*np.linalg.svd({a}))",
            f"(lambda u, s, vh: u @ {_H.format('u')})(*np.linalg.svd({{a}}))",
            f"(lambda u, s, vh: vh @ {_H.format('vh')})(*np.linalg.svd({{a}}))",
            "np.linalg.svd({a}, compute_uv=False)",
        ],
        _RECTANGLES[:-4] + ["f33[:1]"],
    )
    + _on(
        [
            f"(lambda u, s, vh: (u * s[..., None, :]) @ vh)(*np.linalg.svd({_SYM}, hermitian=True))",
            f"np.linalg.svd({_SYM}, True, False, True)",
            f"np.linalg.svd({_SYM}, hermitian=True)[1]",
            f"np.abs(np.linalg.svd({_SYM}, hermitian=True).U)",
        ],
        _FLOATS,
    )
    + _on(["np.linalg.svd({a})"], _WRONG_RECTANGLES)
    + ["np.linalg.svd(f5, hermitian=True)", "np.linalg.svd(e03)[2]", "np.linalg.svd(e03, compute_uv=False)"],
    np.linalg.svdvals: _on(["np.linalg.svdvals({a})"], ["f34", "c34", "f234", "g34", "i34", "e03", "f5", "h34"]),
    np.linalg.eigh: _on(
        [
            f"(lambda w, v: (v * w[..., None, :]) @ {_H.format('v')})(*np.linalg.eigh({_SYM}))",
            f"np.linalg.eigh({_SYM}).eigenvalues",
            f"np.linalg.eigh({_SYM}, UPLO='u').eigenvalues",
            f"(lambda v: {_H.format('v')} @ v)(np.linalg.eigh({_SYM})[1])",
        ],
        _FLOATS,
    )
    + _on(["np.linalg.eigh({a})"], _WRONG_SQUARES)
    + [
        "np.linalg.eigh(sq33, 'x')",
        "np.linalg.eigh(sq33, 3)",
        "np.linalg.eigh(sq33, 'U')[0]",
        "np.linalg.eigh(sq33)[0]",
    ],
    np.linalg.eigvalsh: _on(["np.linalg.eigvalsh({a})", "np.linalg.eigvalsh({a}, 'U')"], _SQUARES + _EMPTY_SQUARES)
    + _on(["np.linalg.eigvalsh({a})"], _WRONG_SQUARES)
    + ["np.linalg.eigvalsh(sq33, UPLO='q')"],
    np.linalg.eig: _on(
        [
            "(lambda w, v: v * w[..., None, :] - {a} @ v + {a})(*np.linalg.eig({a}))",
            "(lambda w: np.sort(w, -1))(np.linalg.eig({a})[0])",
        ],
        [*_FLOATS, "spd33", "np.triu(sq33)", "i34[:, :3]", "b34[:, :3]"],
    )
    + _on(["np.linalg.eig({a})"], [*_WRONG_SQUARES, "sq33 * np.nan", "sq33 / 0"]),
    np.linalg.eigvals: _on(["np.sort(np.linalg.eigvals({a}), -1)"], [*_SQUARES, "spd33", *_EMPTY_SQUARES])
    + _on(["np.linalg.eigvals({a})"], [*_WRONG_SQUARES, "sq33 * np.nan"]),
    np.linalg.solve: _on(
        ["np.linalg.solve({a}, f33)", "np.linalg.solve({a}, f33[0])", "np.linalg.solve({a}, cs33)"],
        ["sq33", "cs33", "sq233", "spd33", "sq33.T"],
    )
    + [
        "np.linalg.solve(sq33, sq233)",
        "np.linalg.solve(sq233, sq233)",
        "np.linalg.solve(sq233[:1], sq233)",
        "np.linalg.solve(sq233, f33[:, :1])",
        "np.linalg.solve(sq33, f34)",
        "np.linalg.solve(spd33, i34)",
        "np.linalg.solve(spd33, b34)",
        "np.linalg.solve(spd33.astype('f4'), g34)",
        "np.linalg.solve(spd33.astype('f4'), f34)",
        "np.linalg.solve(spd33, [1, 2, 3])",
        "np.linalg.solve([[1, 2], [3, 4]], f34[:2])",
        "np.linalg.solve(spd33, f34[:, :0])",
        "np.linalg.solve(e03[:, :0], e03[:, :2])",
        "np.linalg.solve(e03[:, :0], e0)",
        "np.linalg.solve(sq233[:0], f33)",
        "np.linalg.solve(sq33 * 0, f33)",
        "np.linalg.solve(sq33, f5)",
        "np.linalg.solve(sq33, f0)",
        "np.linalg.solve(f34, f33)",
        "np.linalg.solve(f5, f5)",
        "np.linalg.solve(sq233, f2345[0, :, :3])",
        "np.linalg.solve(sq33, h34)",
    ],
    np.linalg.inv: _on(["np.linalg.inv({a})"], [*_SQUARES[:-2], "spd33", *_WRONG_SQUARES, *_EMPTY_SQUARES])
    + [
        "np.linalg.inv(spd33 * 0)",
        "np.linalg.inv(sq233 * np.ones((2, 1, 1)) * 0)",
        "np.linalg.inv(np.eye(3, dtype=int) * i0)",
    ],
    np.linalg.tensorsolve: [
        "np.linalg.tensorsolve(f234[0].ravel()[:9].reshape(3, 3) + spd33, f33[0])",
        "np.linalg.tensorsolve((np.eye(12) + f34.reshape(12, 1) * 0.01).reshape(3, 4, 3, 4), f34)",
        "np.linalg.tensorsolve((np.eye(6) * f0).reshape(2, 3, 6), f234[..., 0])",
        "np.linalg.tensorsolve((np.eye(6) * f0).reshape(6, 2, 3), f6, axes=None)",
        "np.linalg.tensorsolve((np.eye(24) * f0 + 0.01).reshape(6, 4, 2, 3, 4), f234.transpose(2, 1, 0)[:, :, :1][:, :, 0] * 1)",
        "np.linalg.tensorsolve((np.eye(24) * f0 + 0.01).reshape(2, 3, 4, 6, 4), f234.reshape(6, 4), axes=(0, 2))",
        "np.linalg.tensorsolve(f34, f34)",
    ],
    np.linalg.tensorinv: [
        "np.linalg.tensorinv((np.eye(12) * f0 + 0.1).reshape(3, 4, 3, 4))",
        "np.linalg.tensorinv((np.eye(24) * f0 + 0.1).reshape(24, 8, 3), ind=1)",
        "np.linalg.tensorinv(sq33, ind=1)",
        "np.linalg.tensorinv(sq33, 0)",
        "np.linalg.tensorinv(f34, 1)",
    ],
    np.linalg.pinv: _on(["np.linalg.pinv({a})"], ["f34", "f34.T", "c34", "f234", "g34", "d34", "sq33", "i34"])
    + _on(["np.linalg.pinv({a})"], [*_EMPTY_RECTANGLES, *_WRONG_RECTANGLES])
    + [
        "np.linalg.pinv(f34, 0.5)",
        "np.linalg.pinv(f34, rcond=[0.1])",
        "np.linalg.pinv(f234, np.array([0.1, 0.6]))",
        "np.linalg.pinv(f34, rtol=0.5)",
        "np.linalg.pinv(f34, rtol=None)",
        "np.linalg.pinv(i34, rtol=None)",
        "np.linalg.pinv(f34, 0.5, rtol=0.5)",
        "np.linalg.pinv(spd33, hermitian=True)",
        "np.linalg.pinv(f33 * 0)",
    ],
    np.linalg.lstsq: [
        "np.linalg.lstsq(f34.T, f2345[0, 0, :, 0])",
        "np.linalg.lstsq(f34.T, f2345[0, 0])",
        "np.linalg.lstsq(f34, f33)",
        "np.linalg.lstsq(f34, f33[0], rcond=None)",
        "np.linalg.lstsq(c34.T, f2345[0, 0])",
        "np.linalg.lstsq(c34.T, c34[1] * f34[0])",
        "np.linalg.lstsq(spd33, i34)",
        "np.linalg.lstsq(i34.T, u34[0])",
        "np.linalg.lstsq(f34.T, f2345[0, 0, :, 0], 0.9)",
        "np.linalg.lstsq(f34.T, f2345[0, 0, :, 0], -1)",
        "np.linalg.lstsq(f34[:1] * f34.T[:, :1], f34[0])",
        "np.linalg.lstsq(f34, f34[:, :0])",
        "np.linalg.lstsq(f34.T, f34.T[:, :0])",
        "np.linalg.lstsq(e03, e0)",
        "np.linalg.lstsq(e03.T, f33)",
        "np.linalg.lstsq(e03.T, f33[0])",
        "np.linalg.lstsq(f34, f5)",
        "np.linalg.lstsq(f34, f0)",
        "np.linalg.lstsq(sq233, f33)",
        "np.linalg.lstsq(h34, f33)",
    ],
    np.linalg.det: _on(["np.linalg.det({a})"], _SQUARES + _WRONG_SQUARES + _EMPTY_SQUARES)
    + ["np.linalg.det(sq33 * 0)"],
    np.linalg.slogdet: _on(["np.linalg.slogdet({a})"], _SQUARES + _WRONG_SQUARES + _EMPTY_SQUARES)
    + ["np.linalg.slogdet(sq33 * 0)", "np.linalg.slogdet(sq33).logabsdet"],
    np.linalg.norm: _on(
        ["np.linalg.norm({a})", "np.linalg.norm({a}, keepdims=True)", "np.linalg.norm({a}, axis=-1)"],
        ["f34", "c34", "g34", "i34", "b34", "d34", "f234", "f5", "e0", "e03", "ft34"],
    )
    + [
        f"np.linalg.norm({a}, {o}{axis})"
        for a, axis in (("f5", ""), ("f34", ", axis=0"), ("c34", ", axis=(1,), keepdims=True"), ("i234", ", -2"))
        for o in ("0", "1", "2", "3", "-1", "0.5", "np.inf", "-np.inf", "'fro'", "None", "np.float64(3)")
    ]
    + [
        f"np.linalg.norm({a}, {o}{axis})"
        for a, axis in (("f34", ""), ("c34", ", keepdims=True"), ("f234", ", axis=(0, 2)"), ("i234", ", (2, 0), True"))
        for o in ("1", "-1", "2", "-2", "3", "np.inf", "-np.inf", "'fro'", "'f'", "'nuc'", "None", "'x'")
    ]
    + [
        "np.linalg.norm(f0)",
        "np.linalg.norm(h34)",
        "np.linalg.norm(h34, 3, axis=0)",
        "np.linalg.norm(h34, 2)",
        "np.linalg.norm([3, 4] + i0)",
        "np.linalg.norm(nan34, np.inf)",
        "np.linalg.norm(e0, -np.inf)",
        "np.linalg.norm(e03, 2)",
        "np.linalg.norm(e03, -1)",
        "np.linalg.norm(e03, np.inf, axis=1)",
        "np.linalg.norm(f234, 2)",
        "np.linalg.norm(f34, axis='x')",
        "np.linalg.norm(f34, axis=[0, 1])",
        "np.linalg.norm(f34, axis=1.0)",
        "np.linalg.norm(f34, axis=(0, 0))",
        "np.linalg.norm(f34, axis=5)",
        "np.linalg.norm(f34, 2, (0, 5))",
        "np.linalg.norm(f234, axis=(0, 1, 2))",
    ],
    np.linalg.matrix_norm: [
        "np.linalg.matrix_norm(f34)",
        "np.linalg.matrix_norm(f234, ord=2)",
        "np.linalg.matrix_norm(f234, keepdims=True, ord='nuc')",
        "np.linalg.matrix_norm(c34, ord=1)",
        "np.linalg.matrix_norm(f5)",
    ],
    np.linalg.vector_norm: [
        "np.linalg.vector_norm(f34)",
        "np.linalg.vector_norm(f0)",
        "np.linalg.vector_norm(i34, ord=1)",
        "np.linalg.vector_norm(f34, axis=0)",
        "np.linalg.vector_norm(f34, axis=(0, 1), ord=np.inf)",
        "np.linalg.vector_norm(f2345, axis=(3, 1), keepdims=True, ord=3)",
        "np.linalg.vector_norm(f234, axis=(-1,), ord=0)",
        "np.linalg.vector_norm(f234, keepdims=True)",
        "np.linalg.vector_norm(c34, axis=1, ord=-np.inf)",
        "np.linalg.vector_norm(f34, axis=4)",
        "np.linalg.vector_norm(f34, axis=(0, 4))",
    ],
    np.linalg.cond: _on(
        ["np.linalg.cond({a})", "np.linalg.cond({a}, -2)", "np.linalg.cond({a}, 2)"],
        ["f34", "c34", "f234", "sq233", "i34", "g34", "e03", "f5", "h34"],
    )
    + [
        f"np.linalg.cond({a}, {p})"
        for a in ("sq33", "sq233", "cs33")
        for p in ("1", "-1", "'fro'", "np.inf", "'nuc'", "'x'")
    ]
    + [
        "np.linalg.cond(sq33.astype('f4'), 'fro')",
        "np.linalg.cond(sq33 * 0)",
        "np.linalg.cond(sq33 * 0, 1)",
        "np.linalg.cond(sq233 * np.array([0, 1]).reshape(2, 1, 1), 1)",
        "np.linalg.cond(f34, 1)",
    ],
    np.linalg.matrix_rank: _on(
        ["np.linalg.matrix_rank({a})"],
        [
            "f34",
            "f34[:1] * f34[:, :1]",
            "f234",
            "c34",
            "g34",
            "i34",
            "sq33 * 0",
            "f5",
            "e0",
            "f0",
            "i0 * 0",
            "e03",
            "h34",
        ],
    )
    + [
        "np.linalg.matrix_rank(sq33, 1.0)",
        "np.linalg.matrix_rank(sq33, tol=[1.0])",
        "np.linalg.matrix_rank(sq233, np.array([0.5, 2.0]))",
        "np.linalg.matrix_rank(spd33, hermitian=True)",
        "np.linalg.matrix_rank(sq33, rtol=0.3)",
        "np.linalg.matrix_rank(sq233, rtol=np.array([0.3, 0.9]))",
        "np.linalg.matrix_rank(sq33, 0.3, rtol=0.3)",
    ],
    np.linalg.matrix_power: [f"np.linalg.matrix_power(sq33, {n})" for n in (0, 1, 2, 3, 4, 7, 10, -1, -2, -5, 1.5)]
    + _on(["np.linalg.matrix_power({a}, 3)"], ["i34[:, :3]", "b34[:, :3]", "u34[:, :3]", "cs33", "sq233", "f34", "f5"])
    + [
        "np.linalg.matrix_power(i34[:, :3], 0)",
        "np.linalg.matrix_power(sq233, 0)",
        "np.linalg.matrix_power(sq33 * 0, -1)",
    ],
    np.linalg.multi_dot: [
        "np.linalg.multi_dot([f34, f34.T])",
        "np.linalg.multi_dot([f5, f5])",
        "np.linalg.multi_dot([f34, f34.T, sq33])",
        "np.linalg.multi_dot([sq33, f34, f34.T, f33, f34])",
        "np.linalg.multi_dot([f33[0], f34, f34.T, f33[0]])",
        "np.linalg.multi_dot([f33[0], f34, f34.T])",
        "np.linalg.multi_dot((f34, f34.T, f33[0]))",
        "np.linalg.multi_dot([f34, f34.T, i34])",
        "np.linalg.multi_dot([f34, f34.T, [[1, 2], [3, 4], [5, 6]]])",
        "np.linalg.multi_dot([f34, f34.T, sq33], out=cs33.real.copy())",
        "np.linalg.multi_dot([f34])",
        "np.linalg.multi_dot([f34, f34])",
        "np.linalg.multi_dot([f34, f34, f34])",
        "np.linalg.multi_dot([f34, sq233, f34])",
    ],
}


FACTS = _on(
    [_facts(f"np.linalg.{call}") for call in ("qr({a})", "qr({a}, 'complete')", "svd({a})", "svd({a}, False)")],
    _RECTANGLES + _EMPTY_RECTANGLES,
) + _on([_facts(f"np.linalg.{f}({{a}})") for f in ("eigh", "eig", "slogdet")], _SQUARES + _EMPTY_SQUARES)


@each("expression", {**CASES, "facts": FACTS})
def test_as_numpy(expression: str, backend: str) -> None:
    oracle.check(expression, backend)


@pytest.mark.parametrize("expression", ["np.linalg.qr(f34, 'raw')", "np.linalg.qr(c34, mode='raw')[1]"])
def test_reflectors_come_from_the_host(expression: str, backend: str) -> None:
    oracle.check(expression, backend, host=True)


def test_power_one_is_the_matrix_itself(backend: str) -> None:
    with ad.backend(backend), ad.fallback("error"):
        a = ad.asarray(np.eye(3))
        b = np.linalg.matrix_power(a, 1)
        b[0, 0] = 5
        assert a[0, 0] == 5  # as in NumPy, which returns its argument


@pytest.mark.parametrize("name", ["inv", "eigh", "eigvalsh", "solve", "slogdet", "det", "qr"])
def test_matrices_that_hold_nan(backend: str, name: str) -> None:
    """NumPy raises no error for them (what it gives depends on its LAPACK), and the others of the stack have their values."""
    good = np.array([[2.0, 1.0], [1.0, 3.0]])
    stack = np.stack([good, np.where(np.eye(2), np.nan, good), good])
    rest = (np.eye(2),) if name == "solve" else ()
    function = getattr(np.linalg, name)
    with np.errstate(invalid="ignore"):
        found = function(ad.asarray(stack, backend=backend), *rest)
    wanted = function(good, *rest)
    for x, y in zip(*((r if isinstance(r, tuple) else (r,)) for r in (found, wanted)), strict=True):
        for i in (0, 2):
            np.testing.assert_allclose(np.abs(ad.to_numpy(x)[i]), np.abs(y), rtol=1e-14, atol=1e-14)
