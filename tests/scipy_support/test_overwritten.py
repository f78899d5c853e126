"""Arguments that SciPy may overwrite (``overwrite_a=True``) hold, and share with results, what they do on plain memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import linalg
from scipy.linalg import _decomp_update

import arraydispatch as ad
from tests.rows import each

RNG = np.random.default_rng(5)
M = RNG.normal(size=(4, 4))
SPD = M @ M.T + 4 * np.eye(4)
Q, R = linalg.qr(M)
GIVEN = {
    "a": SPD,
    "b": RNG.normal(size=4),
    "c": RNG.normal(size=(4, 2)),
    "q": Q,
    "r": R,
    "u": RNG.normal(size=4),
    "v": RNG.normal(size=4),
}

CALLS: dict[str, Callable[..., Any]] = {
    "inv": lambda a, **_: linalg.inv(a, overwrite_a=True),
    "inv by position": lambda a, **_: linalg.inv(a, True),
    "det": lambda a, **_: linalg.det(a, overwrite_a=True),
    "solve": lambda a, b, **_: linalg.solve(a, b, overwrite_a=True, overwrite_b=True),
    "solve into b": lambda a, c, **_: linalg.solve(a, c, overwrite_b=True),
    "solve by a": lambda a, c, **_: linalg.solve(a, c, overwrite_a=True),
    "solve of a structure": lambda a, b, **_: linalg.solve(a, b, overwrite_b=True, assume_a="pos"),
    "solve_triangular": lambda a, b, **_: linalg.solve_triangular(a, b, overwrite_b=True),
    "lstsq": lambda a, b, **_: linalg.lstsq(a, b, overwrite_a=True, overwrite_b=True),
    "cholesky": lambda a, **_: linalg.cholesky(a, overwrite_a=True),
    "cho_factor": lambda a, **_: linalg.cho_factor(a, overwrite_a=True),
    "cho_solve": lambda a, c, **_: linalg.cho_solve((a, True), c, overwrite_b=True),
    "lu_factor": lambda a, **_: linalg.lu_factor(a, overwrite_a=True),
    "lu": lambda a, **_: linalg.lu(a, overwrite_a=True),
    "qr": lambda a, **_: linalg.qr(a, overwrite_a=True),
    "svd": lambda a, **_: linalg.svd(a, overwrite_a=True)[1],
    "eigh": lambda a, **_: linalg.eigh(a, overwrite_a=True)[0],
    "eigvalsh": lambda a, **_: linalg.eigvalsh(a, overwrite_a=True),
    "hessenberg": lambda a, **_: linalg.hessenberg(a, overwrite_a=True),
    "schur": lambda a, **_: linalg.schur(a, overwrite_a=True),
    "qr_insert": lambda q, r, u, **_: linalg.qr_insert(q, r, u, 2, "col", overwrite_qru=True),
    "qr_delete": lambda q, r, **_: linalg.qr_delete(q, r, 1, overwrite_qr=True),
    "qr_update": lambda q, r, u, v, **_: linalg.qr_update(q, r, u, v, overwrite_qruv=True),
    "nothing overwritten": lambda a, b, **_: linalg.solve(a, b),
}


def parts(made: Any) -> list[Any]:
    return list(made) if isinstance(made, tuple) else [made]


def told(name: str, given: dict[str, Any]) -> tuple[list[Any], dict[str, Any], list[str]]:
    """Return what a call returns, what its arguments hold then, and which of them results share memory with."""
    made = parts(CALLS[name](**given))
    arrays = [(i, x) for i, x in enumerate(made) if np.ndim(x)]
    shared = [f"{i} {key}" for i, x in arrays for key, y in given.items() if np.shares_memory(x, y)]
    return made, given, shared


@each("name", list(CALLS))
@each("order", ["C", "F"])
@each("dtype", ["f8", "f4"])
def test_what_scipy_overwrites_is_overwritten(name: str, order: Any, dtype: str, backend: str) -> None:
    plain = {key: x.astype(dtype, order=order) for key, x in GIVEN.items()}
    ours = {key: ad.asarray(x, backend=backend, copy=True) for key, x in plain.items()}
    with ad.fallback("silent"):
        made, held, shared = told(name, ours)
    wanted, holds, shares = told(name, plain)
    assert shared == shares
    limit = 1e-10 if dtype == "f8" else 1e-3
    for x, y in [*zip(made, wanted), *((held[key], holds[key]) for key in holds)]:
        np.testing.assert_allclose(ad.to_numpy(x) if np.ndim(x) else x, y, rtol=limit, atol=limit)
    for i, x in enumerate(made):
        if np.ndim(x) and f"{i} b" in shares:
            x[1] = 7
            assert ours["b"][1] == 7


def test_what_scipy_copies_first_is_kept(backend: str) -> None:
    a, b = np.arange(1, 10).reshape(3, 3) + np.eye(3, dtype=int), np.arange(3)
    ours = [ad.asarray(x, backend=backend) for x in (a, b)]
    locked = ad.asarray(b * 1.0, backend=backend)
    locked.flags.writeable = False
    with ad.fallback("silent"):
        x = linalg.solve(*ours, overwrite_a=True, overwrite_b=True)
        linalg.solve(ours[0], locked, overwrite_b=True)
    assert not np.shares_memory(x, ours[1])
    for kept, was in zip((*ours, locked), (a, b, b)):
        np.testing.assert_array_equal(ad.to_numpy(kept), was)
    np.testing.assert_allclose(ad.to_numpy(x), linalg.solve(a, b), rtol=1e-12)


def test_a_gradient_goes_through_what_may_be_overwritten(backend: str) -> None:
    if backend == "numpy":
        pytest.skip("inapplicable: NumPy has no gradients")

    def f(x: Any) -> Any:
        return np.sum(linalg.solve(x, np.ones(4), overwrite_a=True, overwrite_b=True))

    def g(x: Any) -> Any:
        return np.sum(linalg.solve(x, np.ones(4)))

    x = ad.asarray(SPD, backend=backend)
    np.testing.assert_allclose(ad.to_numpy(ad.grad(f)(x)), ad.to_numpy(ad.grad(g)(x)), rtol=1e-9)


def test_an_overwritten_argument_is_no_fallback(backend: str) -> None:
    a, b = (ad.asarray(GIVEN[key], backend=backend) for key in "ab")
    with ad.fallback("error"):
        assert np.shares_memory(linalg.solve(a, b, overwrite_b=True), b)


def test_a_function_is_the_stand_in_where_compiled_code_defines_it(backend: str) -> None:
    """SciPy's own tests import it from there; given an array of JAX it would overwrite a copy."""
    q, r = (ad.asarray(GIVEN[key], backend=backend) for key in "qr")
    assert _decomp_update.qr_delete is linalg.qr_delete
    with ad.fallback("silent"):
        made, _ = _decomp_update.qr_delete(q, r, 1, 1, "row", True)
    assert np.shares_memory(made, q)
