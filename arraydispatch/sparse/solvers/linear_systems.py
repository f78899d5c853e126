"""``linear_solve``: the methods by name, on the host and in the library, and the derivative of a solution."""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ...api import public
from ...backends.base import Backend
from ...common import tracing
from ...common.errors import ConvergenceError, ConvergenceWarning
from ...common.pytrees import tree_map
from ...common.signal_safety import imported
from ...common.user_warnings import warn
from ...dispatch import host_results
from ...transforms.constants import is_traced, stop_gradient
from ...transforms.control_flow import host_call, while_loop
from ...transforms.custom_derivatives import custom_gradient
from ...transforms.flattening import is_array
from ..sparse_array import SparseArray
from . import krylov
from .linear_operators import Preconditioner, System

METHODS: dict[str, Callable[..., krylov.Method]] = {
    "cg": krylov.Conjugate,
    "cg-adaptive": krylov.Adaptive,
    "gmres": krylov.Residual,
}
_SLACK = 10
"""Factor by which the true residual may exceed the tolerance in a system that a method considers solved."""


@dataclasses.dataclass
class SolveResult:
    """Solution of linear systems, with convergence information.

    Attributes
    ----------
    solution : Array
        The solution, of the shape of ``b`` (and of the batch of ``A``).
    residual : Array
        Norm of ``b - A x`` for each system.
    iterations : Array
        Steps taken for each system; a step of BiCGSTAB(l) is 2 l products with the matrix, a step of GMRES is one product.
    converged : Array of bool
        Whether each system is solved to its tolerance.
    diverged : Array of bool
        Whether the method failed on each system: its residual grew without bounds, or the method broke down.
    method : str
        Name of the method used.
    """

    solution: Any
    residual: Any
    iterations: Any
    converged: Any
    diverged: Any
    method: str = dataclasses.field(default="", metadata={"static": True})

    @property
    def message(self) -> str:
        """Summary in words. If the values are traced, it only says so."""
        if is_traced((self.converged, self.iterations)):
            return f"{self.method}: not known before the program runs"
        good, bad = (np.atleast_1d(public.to_numpy(x)) for x in (self.converged, self.diverged))
        steps = int(np.max(public.to_numpy(self.iterations), initial=0))
        if good.all():
            return f"{self.method} converged after {steps} iterations"
        which = f"{int((~good).sum())} of {good.size} systems" if good.size > 1 else "the system"
        worst = float(
            np.max(
                np.atleast_1d(public.to_numpy(self.residual))[
                    ~good.reshape(np.shape(np.atleast_1d(public.to_numpy(self.residual))))
                ]
            )
        )
        how = "diverged or broke down" if bad.any() else "did not reach the tolerance"
        return (
            f"{self.method} has not solved {which}: it {how} after {steps} iterations, with a residual of {worst:.3g}"
        )


def linear_solve(
    A: Any, b: Any, method: str = "auto", *, x0: Any = None, args: tuple[Any, ...] = (), rtol: Any = 1e-5,
    atol: Any = 0.0, max_iter: int | None = None, preconditioner: Any = None, batch_dims: int | None = None,
    on_failure: Literal["warn", "raise", "ignore"] = "warn",
) -> SolveResult:  # fmt: skip
    """Solve ``A x = b``.

    Parameters
    ----------
    A : array, SparseArray, scipy.sparse array, or callable
        A square matrix, or several (with leading axes); or a linear function, written with NumPy, of an array of the shape of ``b``.
    b : array
        Right-hand sides: the last axis is that of the unknowns, axes before it count systems. For a function all axes are
        unknowns except the first ``batch_dims``.
    method : str
        ``"cg"``: conjugate gradients, for Hermitian positive definite matrices. ``"cg-adaptive"``: the same, tolerating slight
        asymmetry. ``"bicgstab"``, ``"bicgstab(l)"`` and ``"gmres"``: for any matrix. ``"direct"``: by factorization; of sparse
        matrices on the host. ``"scipy-cg"``, ``"scipy-gmres"``, …: the function of ``scipy.sparse.linalg`` with that name, on
        the host. ``"auto"``: ``"direct"`` for dense matrices, otherwise ``"bicgstab(2)"``.
    x0 : array, optional
        Initial guess; 0 by default.
    args : tuple of pytree
        Further arguments of a function. Derivatives are taken with respect to these, not to values that the function closes over.
    rtol, atol : float or array
        A system counts as solved when the norm of its residual is at most ``max(rtol * norm(b), atol)``; arrays have one
        element for each system.
    max_iter : int, optional
        Largest number of steps; by default ten times the number of unknowns.
    preconditioner : {"jacobi", "ilu"}, array, SparseArray or callable, optional
        Approximate inverse of ``A``: from the diagonal; by an incomplete LU factorization, on the host; a matrix; a function.
    batch_dims : int, optional
        For a function, the number of leading axes of ``b`` that count independent systems.
    on_failure : {"warn", "raise", "ignore"}
        Reaction to an unsolved system, if its values are concrete. In a traced program only the result reports it.

    Returns
    -------
    SolveResult
        ``solution`` is differentiable with respect to the matrix, ``args`` and ``b``, by another solve with the adjoint matrix
        (for ``"cg"`` and ``"cg-adaptive"``, with the function itself).

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular, with ``"direct"``.
    ConvergenceError
        With ``on_failure="raise"``, if a system is not solved.
    ValueError, TypeError
        If shapes do not fit, or for an unknown method or preconditioner.

    Warns
    -----
    ConvergenceWarning
        If a system is not solved.

    Notes
    -----
    A solved row does not change while others continue. The reported residual is ``b - A x``, computed anew.
    """
    if on_failure not in ("warn", "raise", "ignore"):
        raise ValueError(f"on_failure is 'warn', 'raise' or 'ignore', not {on_failure!r}.")
    if not isinstance(method, str):
        raise TypeError(f"the method of ad.linear_solve is a name, not a {type(method).__name__}.")
    for name, given_ in (("rtol", rtol), ("atol", atol)):
        if not is_traced(given_) and not np.all(public.to_numpy(given_) >= 0):
            raise ValueError(f"{name} of ad.linear_solve is {given_}; it must be a non-negative number.")
    system = System(A, b, args, batch_dims)
    if method == "auto":
        method = "direct" if system.function is None and not isinstance(system.params, SparseArray) else "bicgstab(2)"
    method = method.lower()
    most = 10 * system.size if max_iter is None else operator.index(max_iter)
    if most < 0:
        raise ValueError(f"max_iter of ad.linear_solve is {max_iter}; it must not be negative.")
    with system.backend.within():
        pre = Preconditioner(preconditioner, system)
        run = _chosen(method, system, pre, most)
        start = system.rows(0 if x0 is None else x0)
        lead = system.lead
        given = [np.broadcast_to(system.array(x).astype(start.real.dtype), lead).reshape(-1) for x in (rtol, atol)]
        x, told = _differentiable(run, system)(system.params, pre.params, system.b, start, *given)
        told = stop_gradient(told).reshape(4, *lead)
        result = SolveResult(
            x.reshape(lead + system.unknowns), told[0], told[1].astype(np.int64), told[2] > 0.5, told[3] > 0.5, method
        )
    _report(result, on_failure, system)
    return result


def _report(result: SolveResult, on_failure: str, system: System) -> None:
    """Warn or raise, by ``on_failure``, if a system is unsolved; raise LinAlgError if a direct method failed on finite numbers (a singular
    matrix). Do nothing if the values are traced.
    """
    if is_traced((result.converged, result.residual)) or _staged(result.solution.backend):
        return
    if np.all(public.to_numpy(result.converged)):
        return
    if result.method.endswith("direct") and system.is_finite():
        raise np.linalg.LinAlgError("Singular matrix")
    if on_failure == "raise":
        raise ConvergenceError(f"{result.message}; try another method, a preconditioner, or a larger tolerance.")
    if on_failure == "warn":
        warn(f"{result.message}.", ConvergenceWarning)


def _staged(backend: Backend) -> bool:
    return any(t.staged and t.backend is backend.home for t in tracing.entered())


Run = Callable[..., Any]
"""Function of (parameters of the matrix and of the preconditioner, b, x0, rtol, atol, adjoint) that returns x and the convergence
information of :func:`_told`. ``b``, ``x0`` and x have a row for each system."""


def _differentiable(run: Run, system: System, adjoint: bool = False) -> Callable[..., Any]:
    """Return ``run``, a solver of the system or of its adjoint, with a derivative, by the implicit rule: for ``A x = b`` it is
    ``A dx = db - dA x``.
    """

    def solve(params: Any, own: Any, b: Any, x0: Any, rtol: Any, atol: Any) -> Any:
        return run(params, own, b, x0, rtol, atol, adjoint)

    def gradient(args: Any, result: Any, cotangent: Any) -> Any:
        params, own, _, _, rtol, atol = args
        b = cotangent[0]
        start = np.zeros_like(b)
        if system.function is None:
            left, told = _differentiable(run, system, not adjoint)(params, own, b, start, rtol, atol)
        else:  # the adjoint of a function is a derivative itself
            left, told = run(params, own, b, start, rtol, atol, not adjoint)
        if not (is_traced(told) or _staged(system.backend)) and not np.all(public.to_numpy(told)[2]):
            warn("ad.linear_solve has not solved the system of a derivative.", ConvergenceWarning)
        factors = (result[0], left) if adjoint else (left, result[0])
        return system.gradient(params, *factors), None, left, None, None, None

    return custom_gradient(solve, gradient)


def _chosen(method: str, system: System, pre: Preconditioner, most: int) -> Run:
    if method == "direct":
        return _Direct(system)
    if method.startswith("scipy-"):
        return _Host(method, system, pre, most)
    stabilised = re.fullmatch(r"bi-?cg-?stab(?:\((\d+)\))?", method)
    if stabilised is not None and stabilised[1] != "0":
        order = int(stabilised[1] or 1)
        return _Iterative(lambda *given: krylov.Stabilised(*given, order=order), system, pre, most, False)
    if method in METHODS:
        return _Iterative(METHODS[method], system, pre, most, method.startswith("cg"))
    raise ValueError(
        f"unknown method {method!r}; choose one of 'auto', 'direct', {', '.join(map(repr, METHODS))}, 'bicgstab', "
        "'bicgstab(2)' and others with a whole number from 1 on, and those of scipy.sparse.linalg, as 'scipy-gmres'."
    )


def _told(b: Any, ax: Any, tolerance: Any, steps: Any, solved: Any, broken: Any) -> Any:
    """Return the convergence information of each right-hand side: residual (from ``ax``, the matrix times the solution), steps, whether
    solved, whether the method failed (``broken``).
    """
    length = krylov.length(b - ax)
    solved = solved & np.isfinite(length) & (length <= _SLACK * tolerance)
    kind = length.dtype
    return np.stack([length, steps.astype(kind), solved.astype(kind), (broken & ~solved).astype(kind)])


class _Iterative:
    """Solver by a method of :mod:`arraydispatch.sparse.solvers.krylov`, which ``make`` makes, in at most ``most`` steps."""

    def __init__(
        self, make: Callable[..., krylov.Method], system: System, pre: Preconditioner, most: int, hermitian: bool
    ) -> None:
        self.make, self.system, self.pre, self.most, self.hermitian = make, system, pre, most, hermitian

    def __call__(self, params: Any, own: Any, b: Any, x0: Any, rtol: Any, atol: Any, adjoint: bool) -> Any:
        backend = self.system.backend
        if not backend.unrolls or not _staged(backend):
            return self.solved(params, own, b, x0, rtol, atol, adjoint)

        # The library's programs unroll loops, and the number of steps is unknown beforehand.
        def when_it_runs(*given: Any) -> Any:
            moved = tree_map(lambda v: public.asarray(v, backend=backend) if is_array(v) else v, given)
            params, own, b, x0, rtol, atol = moved
            with backend.within():
                return tree_map(public.to_numpy, self.solved(params, own, b, x0, rtol, atol, adjoint))

        like = (np.empty(b.shape, b.dtype), np.empty((4, b.shape[0]), b.real.dtype))
        return host_call(when_it_runs, like, params, own, b, x0, rtol, atol)

    def solved(self, params: Any, own: Any, b: Any, x0: Any, rtol: Any, atol: Any, adjoint: bool) -> Any:
        """Solve by a loop of the library, or of Python; return the solutions and the convergence information of each right-hand side.

        ``params``, ``own``: parameters of the system and of the preconditioner; ``adjoint``: whether for the adjoint matrix.
        """
        system, turned = self.system, adjoint and not self.hermitian

        def apply(x: Any) -> Any:
            return system.apply(params, x, turned)

        by = stop_gradient(krylov.scale(b))[:, None]
        # if b is zero, so is the solution, as in SciPy
        x0 = np.where(np.any(b != 0, axis=-1)[:, None], x0 / by, 0)
        b = b / by
        tolerance = np.maximum(rtol * krylov.norm(b), atol / by[:, 0])
        method = self.make(apply, self.pre.of(params, own, turned), b, tolerance, self.most)
        end = while_loop(method.going, method.advance, method.begin(x0))
        length = krylov.norm(end["r"])
        lost = end["broken"] | ~np.isfinite(length) | (length > krylov.BEYOND * end["limit"])
        told = _told(b, apply(end["x"]), tolerance, end["k"], length <= tolerance, lost)
        return end["x"] * by, np.concatenate([told[:1] * by[:, 0], told[1:]])


class _Direct:
    """Solver by factorization: the library's for dense matrices, SciPy's for sparse ones."""

    def __init__(self, system: System) -> None:
        if system.function is not None:
            raise ValueError("a function has no matrix to factorize; make one with ad.matrix_from_function.")
        self.system = system

    def __call__(self, params: Any, own: Any, b: Any, x0: Any, rtol: Any, atol: Any, adjoint: bool) -> Any:
        system = self.system
        if isinstance(params, SparseArray):
            host_results.allow(
                "ad.linear_solve", system.backend, "no library factorizes sparse matrices on all its devices"
            )

            def solve(params: Any, b: Any) -> Any:
                return self._factorized(params, b, adjoint)

            x = host_call(solve, np.empty(b.shape, b.dtype), params, b)
        else:
            matrix = np.conj(np.swapaxes(params, -1, -2)) if adjoint else params
            x = np.linalg.solve(matrix, b.T).T if matrix.ndim == 2 else self._each(matrix, b)
        tolerance = np.maximum(rtol * krylov.length(b), atol)
        known = np.all(np.isfinite(x), axis=-1)
        made = np.where(known[:, None], system.apply(params, x, adjoint), x)
        return x, _told(b, made, tolerance, known * 1, known, ~known)

    def _each(self, matrix: Any, b: Any) -> Any:
        system = self.system
        return np.linalg.solve(matrix, b.reshape(*system.lead, system.size, 1)).reshape(b.shape)

    def _factorized(self, params: Any, b: Any, adjoint: bool) -> Any:
        imported("scipy.sparse.linalg")
        from scipy.sparse.linalg import splu

        x = np.empty_like(b)
        factors: Any = None
        for i, line in enumerate(b):
            try:
                if factors is None or params.ndim > 2:
                    factors = splu(sp.csc_array(self.system.one(params, i, adjoint)))
                x[i] = factors.solve(np.array(line))
            except RuntimeError:  # a factor is singular
                x[i] = np.nan
        return x


class _Host:
    """Solver by a function of ``scipy.sparse.linalg``, in at most ``most`` steps, one right-hand side (a row of b) at a time."""

    def __init__(self, method: str, system: System, pre: Preconditioner, most: int) -> None:
        imported("scipy.sparse.linalg")
        import scipy.sparse.linalg as theirs

        self.name = method.removeprefix("scipy-")
        self.direct = _Direct(system) if self.name == "direct" else None
        known = ("bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr", "tfqmr")
        if self.direct is None and self.name not in known:
            raise ValueError(f"scipy.sparse.linalg has no method {self.name!r}; there are {', '.join(known)}.")
        self.solver = getattr(theirs, self.name, None)
        self.system, self.pre, self.most = system, pre, most

    def __call__(self, params: Any, own: Any, b: Any, x0: Any, rtol: Any, atol: Any, adjoint: bool) -> Any:
        if self.direct is not None:
            return self.direct(params, own, b, x0, rtol, atol, adjoint)
        system = self.system
        host_results.allow(f"scipy.sparse.linalg.{self.name}", system.backend, "it is asked for by name")
        if adjoint and system.function is not None and self.name not in ("cg", "minres"):
            return _Iterative(lambda *given: krylov.Stabilised(*given, order=2), system, self.pre, self.most, False)(
                params, own, b, x0, rtol, atol, True
            )
        like = (np.empty(b.shape, b.dtype), np.empty((2, b.shape[0])))

        def solve(params: Any, own: Any, b: Any, x0: Any, rtol: Any, atol: Any) -> Any:
            return self._solved(params, own, b, x0, rtol, atol, adjoint)

        x, counted = host_call(solve, like, params, own, b, x0, rtol, atol)
        tolerance = np.maximum(rtol * krylov.length(b), atol)
        solved = counted[1] == 0
        return x, _told(b, system.apply(params, x, adjoint), tolerance, counted[0], solved, counted[1] < 0)

    def _solved(self, params: Any, own: Any, b: Any, x0: Any, rtol: Any, atol: Any, adjoint: bool) -> Any:
        imported("scipy.sparse.linalg")
        from scipy.sparse.linalg import LinearOperator

        system = self.system
        x, counted = np.empty_like(b), np.zeros((2, len(b)))
        for i, line in enumerate(b):
            steps: list[int] = []

            def near(r: Any, i: int = i) -> Any:
                rows = np.zeros_like(b)
                rows[i] = r
                with public.backend("numpy"):
                    matrix, inverse = tree_map(_hosted, (params, own))
                    return public.to_numpy(self.pre.of(matrix, inverse, adjoint)(public.asarray(rows)))[i]

            def count(_: Any, steps: list[int] = steps) -> None:
                steps.append(1)

            if not self.most:
                x[i], counted[1, i] = x0[i], np.linalg.norm(line) > 0
                continue
            matrix = system.one(params, i, adjoint)
            options: dict[str, Any] = {"x0": np.array(x0[i]), "maxiter": self.most, "callback": count}
            if self.pre.kind is not None:
                options["M"] = LinearOperator(matrix.shape, matvec=near, dtype=b.dtype)
            if self.name == "gmres":
                options["callback_type"] = "pr_norm"
            if self.name == "minres":
                options["rtol"] = float(rtol[i])
            else:
                options |= {"rtol": float(rtol[i]), "atol": float(atol[i])}
            assert self.solver is not None
            with np.errstate(all="ignore"):  # a breakdown shows in the result
                x[i], counted[1, i] = self.solver(matrix, np.array(line), **options)
            counted[0, i] = len(steps)
        return x, counted


def _hosted(x: Any) -> Any:
    return public.wrap(np.array(x)) if isinstance(x, np.ndarray) else x
