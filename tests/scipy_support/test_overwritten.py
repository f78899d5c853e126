"""Arguments that SciPy may overwrite (``overwrite_a=True``) hold, and share with results, what they do on plain memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import linalg, signal
from scipy.linalg import _decomp_update

import arraydispatch as ad
from arraydispatch import scipy_support
from arraydispatch.functions.registry import SPECS
from tests.rows import each

RNG = np.random.default_rng(5)
M = RNG.normal(size=(4, 4))
SPD = M @ M.T + 4 * np.eye(4)
Q, R = linalg.qr(M)
GIVEN = {
    "a": SPD,
    "b": RNG.normal(size=4),
    "c": RNG.normal(size=(4, 2)),
    "p": np.array([[9.0] * 4, [1.0] * 4]),
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
    "lu_solve": lambda a, b, **_: linalg.lu_solve((a, np.arange(4, dtype=np.int32)), b, overwrite_b=True),
    "solve_banded": lambda a, b, **_: linalg.solve_banded((1, 1), a[:3], b, overwrite_ab=True, overwrite_b=True),
    "solveh_banded": lambda p, c, **_: linalg.solveh_banded(p, c, overwrite_ab=True, overwrite_b=True, lower=True),
    "cholesky_banded": lambda p, **_: linalg.cholesky_banded(p, overwrite_ab=True, lower=True),
    "eigvals_banded": lambda a, **_: linalg.eigvals_banded(a[:2], overwrite_a_band=True),
    "eigvals": lambda a, **_: np.sort(linalg.eigvals(a, overwrite_a=True).real),
    "svdvals": lambda a, **_: linalg.svdvals(a, overwrite_a=True),
    "ldl": lambda a, **_: linalg.ldl(a, overwrite_a=True),
    "rq": lambda a, **_: linalg.rq(a, overwrite_a=True),
    "qr_multiply": lambda a, c, **_: linalg.qr_multiply(a, c, "left", overwrite_a=True, overwrite_c=True),
    "qz": lambda a, r, **_: linalg.qz(a, r, overwrite_a=True, overwrite_b=True)[:2],
    "matrix_balance": lambda a, **_: linalg.matrix_balance(a, overwrite_a=True),
    "detrend": lambda a, **_: signal.detrend(a, overwrite_data=True),
    "detrend, constant": lambda c, **_: signal.detrend(c, 0, "constant", overwrite_data=True),
    "axpy": lambda u, b, **_: linalg.get_blas_funcs("axpy", (u, b))(u, b, a=2.0),
    "scal": lambda u, **_: linalg.get_blas_funcs("scal", (u,))(2.0, u),
    "gesv": lambda a, b, **_: linalg.get_lapack_funcs("gesv", (a, b))(a, b, overwrite_a=1, overwrite_b=1)[2],
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


def _among(x: Any, part: Any) -> Any:
    """Return an array that has ``x`` in a part of it, and that part."""
    whole = np.full(tuple(3 * n + 2 for n in x.shape), 0.125, x.dtype)
    whole[part(x)] = x
    return whole, part(x)


LAYOUTS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "C": lambda x: (x.copy(), ...),
    "F": lambda x: (x.copy("F"), ...),
    "rows of a larger one": lambda x: _among(x, lambda x: tuple(slice(1, n + 1) for n in x.shape)),
    "every other element": lambda x: _among(x, lambda x: tuple(slice(1, 2 * n + 1, 2) for n in x.shape)),
    "columns, one after the other": lambda x: (
        np.pad(x.T, [(1, 2)] + [(0, 0)] * (x.ndim - 1)),
        (slice(1, x.shape[-1] + 1),),
    ),
    "backwards": lambda x: (x[::-1].copy(), np.s_[::-1]),
}
"""Arrays on whose layout it depends what is overwritten: the memory, and the part of it that is given."""


@each("name", list(CALLS))
@each("layout", list(LAYOUTS))
@each("dtype", ["f8", "f4"])
def test_what_scipy_overwrites_is_overwritten(name: str, layout: str, dtype: str, backend: str) -> None:
    laid = {key: LAYOUTS[layout](x.astype(dtype)) for key, x in GIVEN.items()}
    part = lambda key, whole: whole[laid[key][1]].T if layout.startswith("columns") else whole[laid[key][1]]
    wholes = {key: ad.asarray(x, backend=backend, copy=True) for key, (x, _) in laid.items()}
    with ad.fallback("silent"):
        made, held, shared = told(name, {key: part(key, x) for key, x in wholes.items()})
    wanted, holds, shares = told(name, {key: part(key, x) for key, (x, _) in laid.items()})
    assert shared == shares
    limit = 1e-10 if dtype == "f8" else 1e-3
    pairs = [
        *zip(made, wanted),
        *((held[key], holds[key]) for key in laid),
        *((wholes[key], laid[key][0]) for key in laid),
    ]
    for x, y in pairs:
        np.testing.assert_allclose(ad.to_numpy(x) if np.ndim(x) else x, y, rtol=limit, atol=limit)
    for i, x in enumerate(made):
        for key in GIVEN:
            if f"{i} {key}" in shares:  # what is written to the result is in the argument
                assert x.flags.writeable == wanted[i].flags.writeable
                if x.flags.writeable:
                    x[...] = wanted[i][...] = 7
                np.testing.assert_allclose(ad.to_numpy(wholes[key]), laid[key][0], rtol=limit, atol=limit)


@each("order", ["C", "F"])
def test_arguments_that_overlap(order: Any, backend: str) -> None:
    plain = np.asarray(SPD, order=order).copy("K")
    ours = ad.asarray(plain, backend=backend, copy=True)
    with ad.fallback("silent"):
        made = linalg.solve(ours, ours[:, 1], overwrite_b=True)
        again = linalg.cho_solve((ours, True), ours[:, 2], overwrite_b=True)
    wanted = linalg.solve(plain, plain[:, 1], overwrite_b=True)
    twice = linalg.cho_solve((plain, True), plain[:, 2], overwrite_b=True)
    for x, y in ((made, wanted), (again, twice), (ours, plain)):
        np.testing.assert_allclose(ad.to_numpy(x), y, rtol=1e-9, atol=1e-9)


def test_what_is_overwritten_before_an_error_is(backend: str) -> None:
    plain = np.array([[2.0, 2.0], [2.0, 1.0]], order="F")
    ours = ad.asarray(plain, backend=backend, copy=True)
    for a in (plain, ours):
        with pytest.raises(linalg.LinAlgError, match="2-th leading minor"), ad.fallback("silent"):
            linalg.cholesky(a, overwrite_a=True)
    assert plain[0, 0] != 2
    np.testing.assert_array_equal(ad.to_numpy(ours), plain)


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


def test_every_function_that_may_overwrite_arguments_does() -> None:
    """But those of ``scipy.fft``, of which a program learns nothing: what ``overwrite_x`` leaves there is "destroyed"."""
    for topic in sorted(set(scipy_support.MODULES.values())):
        scipy_support.load(topic)
    public = [f"{module.__name__}.{name}" for module in (linalg, signal) for name in scipy_support.public(module)]
    made = [scipy_support.stand_in(name) for name in public]
    specs = [spec for spec in map(SPECS.get, made) if spec is not None]
    may = {spec.func.__name__ for spec in specs if any(each.name.startswith("overwrite_") for each in spec.written)}
    assert {"solve", "lu_factor", "detrend"} <= may
    assert {spec.func.__name__ for spec in specs if spec.in_place and spec.written} == may


@each("name", list(CALLS))
@each("order", ["C", "F"])
def test_what_is_read_only_is_refused_as_scipy_does(name: str, order: Any, backend: str) -> None:
    outcomes: list[Any] = []
    for take in (lambda x: x.copy(order), lambda x: ad.asarray(x.copy(order), backend=backend, copy=True)):
        given = {key: take(x) for key, x in GIVEN.items()}
        for x in given.values():
            x.setflags(write=False)
        try:
            with ad.fallback("silent"):
                outcomes.append(parts(CALLS[name](**given)))
        except ValueError as error:
            outcomes.append(str(error))
    wanted, made = outcomes
    assert isinstance(made, str) == isinstance(wanted, str)
    if isinstance(wanted, str):
        assert made == wanted
        return
    for x, y in zip(made, wanted):
        np.testing.assert_allclose(ad.to_numpy(x) if np.ndim(x) else x, y, rtol=1e-9, atol=1e-9)
