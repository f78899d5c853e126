"""``minimize``: SciPy's methods with the library's derivatives, and gradient descent."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..array import Array
from ..backends.base import Backend
from ..common.pytrees import tree_flatten, tree_unflatten
from ..common.signal_safety import imported
from ..transforms.derivatives import hessian, jacobian, value_and_grad
from ..transforms.flattening import is_array, library_of
from . import public

_WITHOUT = frozenset({"nelder-mead", "powell", "cobyla", "cobyqa"})
"""SciPy methods that use no derivatives."""
_SECOND = frozenset({"newton-cg", "dogleg", "trust-ncg", "trust-krylov", "trust-exact", "trust-constr"})
"""SciPy methods that use second derivatives."""
DESCENT = "gradient-descent"


def minimize(
    fun: Callable[..., Any], x0: Any, args: tuple[Any, ...] = (), method: str = "L-BFGS-B", *, bounds: Any = None,
    constraints: Any = (), tol: float | None = None, options: dict[str, Any] | None = None,
    callback: Callable[[Any], Any] | None = None, trajectory: bool = False,
) -> Any:  # fmt: skip
    """Find a minimum of a function written with NumPy.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)`` takes a pytree of real arrays with the structure of ``x0``, and returns one real number.
    x0 : pytree
        Initial guess, of floating arrays and numbers.
    args : tuple
        Further arguments of ``fun``.
    method : str
        Any method of ``scipy.optimize.minimize``, or ``"gradient-descent"``, which has the options ``learning_rate`` (0.1),
        ``maxiter`` (1000) and ``gtol`` (1e-5, for the largest element of the gradient).
    bounds : pair or pytree, optional
        ``(low, high)``: numbers or pytrees with the structure of ``x0``; or SciPy's forms, if ``x0`` is a vector.
    constraints : dict or sequence of dict
        As in SciPy; their functions take the arguments of ``fun``, and are differentiated too.
    tol : float, optional
        As in SciPy.
    options : dict, optional
        Options of the method.
    callback : callable, optional
        ``callback(x)``, called after each iteration; raising StopIteration ends the search.
    trajectory : bool
        Whether the result has ``trajectory``: the list of (``x``, ``fun``) after each iteration, beginning with ``x0``.

    Returns
    -------
    scipy.optimize.OptimizeResult
        With ``x`` and ``jac`` in the structure of ``x0``, as arrays on the backend, and ``fun``, ``success``, ``message``,
        ``nit``, ``nfev``.

    Raises
    ------
    TypeError
        If ``x0`` contains anything but real floating numbers, or ``fun`` does not return a real number; for an unknown option of gradient
        descent, and for gradient descent on the numpy backend.
    ValueError
        For an unknown method, and for bounds or constraints of gradient descent.

    Notes
    -----
    The library evaluates and differentiates ``fun``; the method runs on the host, in 64 bits. The numpy backend has no derivatives:
    SciPy uses finite differences there.
    """
    problem = _Problem(fun, x0, args)
    if method.lower() == DESCENT:
        if bounds is not None or constraints:
            raise ValueError("gradient descent takes neither bounds nor constraints; 'L-BFGS-B' and 'SLSQP' do.")
        unknown = set(options or {}) - set(_STEPS)
        if unknown:
            raise TypeError(
                f"gradient descent takes the options {', '.join(_STEPS)}, not {', '.join(sorted(unknown))}."
            )
        return problem.descend(tol, callback, trajectory, **(options or {}))
    return problem.by_scipy(method, bounds, constraints, tol, options, callback, trajectory)


_STEPS = "learning_rate", "maxiter", "gtol"


class _Problem:
    """A function of a pytree, seen as a function of a NumPy vector, with derivatives computed by the library."""

    def __init__(self, fun: Callable[..., Any], x0: Any, args: tuple[Any, ...]) -> None:
        leaves, self.structure = tree_flatten(x0)
        found = library_of([*leaves, *tree_flatten(args)[0]])
        if not any(
            isinstance(x, Array) or (is_array(x) and not isinstance(x, np.ndarray | np.generic)) for x in leaves
        ):
            found = public.default_backend() if found.native_is_ndarray else found
        self.backend: Backend = found.home
        self.leaves = [self._array(x) for x in leaves]
        self.shapes = [x.shape for x in self.leaves]
        self.dtypes = [x.dtype for x in self.leaves]
        self.sizes = [math.prod(shape) for shape in self.shapes]
        self.fun, self.args = fun, args
        self.derives = not self.backend.native_is_ndarray

    def _array(self, x: Any) -> Any:
        if not is_array(x) and not isinstance(x, int | float | list):
            raise TypeError(f"x0 of ad.minimize must contain arrays and numbers only, not a {type(x).__name__}.")
        made = x if isinstance(x, Array) else public.asarray(x, backend=self.backend)
        if made.dtype.kind in "iu":
            made = made.astype(float)
        if made.dtype.kind != "f":
            raise TypeError(f"x0 of ad.minimize must contain real floating numbers only, not an array of {made.dtype}.")
        return made if made.backend.home is self.backend else public.convert(made, self.backend)

    # -- conversion between pytrees and vectors ----------------------------------------------------------------------

    def vector(self, tree: Any) -> np.ndarray[Any, Any]:
        """Return all numbers of a pytree as a vector, in 64 bits."""
        found = tree_flatten(tree)[0]
        return (
            np.concatenate([np.asarray(public.to_numpy(x), np.float64).ravel() for x in found])
            if found
            else np.zeros(0)
        )

    def tree(self, x: Any, wide: bool = False) -> Any:
        """Convert a vector to a pytree like ``x0``; ``wide``: in 64 bits, whatever the precision of ``x0``."""
        parts = np.split(np.array(x, np.float64), np.cumsum(self.sizes)[:-1])
        made = [
            public.asarray(part.reshape(shape).astype(np.float64 if wide else dtype), backend=self.backend)
            for part, shape, dtype in zip(parts, self.shapes, self.dtypes)
        ]
        return tree_unflatten(self.structure, made)

    def _number(self, value: Any) -> float:
        if np.shape(value) != () or np.asarray(public.to_numpy(value)).dtype.kind not in "fiub":
            raise TypeError(
                f"the function of ad.minimize must return one real number, not {type(value).__name__} of shape {np.shape(value)}."
            )
        return float(value)

    def value(self, x: Any) -> float:
        """Return the function's value at a vector; in 64 bits if SciPy takes finite differences."""
        return self._number(self.fun(self.tree(x, not self.derives), *self.args))

    def value_and_gradient(self, x: Any) -> tuple[float, Any]:
        """Return the function's value and gradient at a vector."""
        value, slope = value_and_grad(self.fun)(self.tree(x), *self.args)
        return self._number(value), self.vector(slope)

    def curvature(self, x: Any) -> Any:
        """Return the Hessian matrix at a vector."""
        rows = tree_flatten(hessian(self.fun)(self.tree(x), *self.args))[0]
        count = len(self.sizes)
        blocks = [
            [
                np.asarray(public.to_numpy(rows[i * count + j]), np.float64).reshape(m, n)
                for j, n in enumerate(self.sizes)
            ]
            for i, m in enumerate(self.sizes)
        ]
        return np.block(blocks)

    def slopes(self, f: Callable[..., Any]) -> Callable[[Any], Any]:
        """Return a function of a vector that computes the Jacobian matrix of a function of the pytree."""

        def found(x: Any) -> Any:
            columns = tree_flatten(jacobian(f)(self.tree(x)))[0]
            parts = [np.asarray(public.to_numpy(c), np.float64) for c in columns]
            return np.concatenate([p.reshape(-1, n) for p, n in zip(parts, self.sizes)], axis=1)

        return found

    # -- methods -----------------------------------------------------------------------------------------------------------

    def by_scipy(
        self, method: str, bounds: Any, constraints: Any, tol: Any, options: Any, callback: Any, trajectory: bool
    ) -> Any:
        """Minimize by a SciPy method and return SciPy's result, with pytrees in place of vectors. Arguments are those of
        :func:`scipy.optimize.minimize`; ``trajectory``: whether the result gets the points of all steps.
        """
        imported("scipy.optimize")
        from scipy import optimize

        name = method.lower()
        path: list[tuple[Any, float]] = []
        start = self.vector(tree_unflatten(self.structure, self.leaves))

        def after(intermediate_result: Any) -> None:
            here = self.tree(intermediate_result.x)
            if trajectory:
                path.append((here, float(intermediate_result.fun)))
            if callback is not None:
                callback(here)

        def after_vector(x: Any, *_: Any) -> None:
            after(optimize.OptimizeResult(x=x, fun=self.value(x) if trajectory else math.nan))

        wanted: dict[str, Any] = {}
        derived = self.derives and name not in _WITHOUT
        if derived:
            wanted["jac"] = True
            if name in _SECOND:
                wanted["hess"] = self.curvature
        if trajectory:
            path.append((self.tree(start), self.value(start)))
        told = after_vector if name in ("tnc", "cobyla", "slsqp") else after
        found = optimize.minimize(
            self.value_and_gradient if derived else self.value,
            start,
            method=method,
            bounds=self._bounds(bounds),
            constraints=self._constraints(constraints),
            tol=tol,
            options=options,
            callback=told if trajectory or callback is not None else None,
            **wanted,
        )
        return self._result(found, path if trajectory else None)

    def _result(self, found: Any, path: Any) -> Any:
        found.x = self.tree(found.x)
        slope = found.get("jac")
        if slope is not None and np.shape(slope) == (sum(self.sizes),):
            found.jac = self.tree(slope)
        if path is not None:
            found.trajectory = path
        return found

    def _bounds(self, bounds: Any) -> Any:
        imported("scipy.optimize")
        from scipy.optimize import Bounds

        if bounds is None or isinstance(bounds, Bounds):
            return bounds
        if isinstance(bounds, tuple) and len(bounds) == 2:
            low, high = (self._limit(x, end) for x, end in zip(bounds, (-math.inf, math.inf)))
            return Bounds(low, high)
        return bounds

    def _limit(self, x: Any, end: float) -> Any:
        if x is None:
            return np.full(sum(self.sizes), end)
        leaves, structure = tree_flatten(x)
        if structure != self.structure:
            if len(leaves) != 1:
                raise ValueError(
                    "bounds of ad.minimize must be (low, high): numbers, or pytrees with the structure of x0."
                )
            leaves = leaves * len(self.sizes)
        return np.concatenate([np.broadcast_to(public.to_numpy(v), s).ravel() for v, s in zip(leaves, self.shapes)])

    def _constraints(self, constraints: Any) -> Any:
        if isinstance(constraints, dict):
            return self._constraint(constraints)
        return [self._constraint(c) if isinstance(c, dict) else c for c in constraints]

    def _constraint(self, given: dict[str, Any]) -> dict[str, Any]:
        f, args = given["fun"], given.get("args", ())

        def held(tree: Any) -> Any:
            return f(tree, *args)

        made = {
            "type": given["type"],
            "fun": lambda x: np.atleast_1d(np.asarray(public.to_numpy(held(self.tree(x))), np.float64)),
        }
        if self.derives:
            made["jac"] = self.slopes(held)
        return made

    def descend(
        self, tol: float | None, callback: Any, trajectory: bool, learning_rate: float = 0.1, maxiter: int = 1000,
        gtol: float = 1e-5,
    ) -> Any:  # fmt: skip
        """Minimize by gradient descent with a fixed learning rate, until the gradient is at most ``tol`` (by default ``gtol``) or after
        ``maxiter`` steps. Return a SciPy result; raise TypeError if the backend has no derivatives.
        """
        imported("scipy.optimize")
        from scipy.optimize import OptimizeResult

        if not self.derives:
            raise TypeError(
                "gradient descent needs derivatives, which the numpy backend does not have; choose a library with ad.use."
            )
        small = gtol if tol is None else tol
        x = self.vector(tree_unflatten(self.structure, self.leaves))
        value, slope = self.value_and_gradient(x)
        path = [(self.tree(x), value)]
        steps, stopped = 0, False
        while steps < maxiter and np.isfinite(value) and np.max(np.abs(slope), initial=0) > small:
            x = x - learning_rate * slope
            value, slope = self.value_and_gradient(x)
            steps += 1
            if trajectory:
                path.append((self.tree(x), value))
            if callback is not None:
                try:
                    callback(self.tree(x))
                except StopIteration:
                    stopped = True
                    break
        lost = not np.isfinite(value)
        good = not (lost or stopped) and bool(np.max(np.abs(slope), initial=0) <= small)
        message = (
            "`callback` raised `StopIteration`." if stopped
            else "The gradient is small enough." if good
            else "The function is no longer finite; take a smaller learning_rate." if lost
            else "The number of steps is used up."
        )  # fmt: skip
        found = OptimizeResult(
            x=x,
            fun=value,
            jac=slope,
            nit=steps,
            nfev=steps + 1,
            njev=steps + 1,
            success=good,
            status=99 if stopped else 0 if good else 1 + lost,
            message=message,
        )
        return self._result(found, path if trajectory else None)
