"""Krylov methods for many linear systems at once: one row for each system, each with its own tolerance; finished rows
stay unchanged.

Each method consists of an initial state and a step. A state is a dict with ``x`` (rows, unknowns), ``r`` (its
residual), ``k`` (steps taken), ``live`` (whether the row continues), ``broken`` (whether the method broke down), and
the method's own entries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Apply = Callable[[Any], Any]
State = dict[str, Any]

BEYOND = 1e10
"""Growth of the residual, relative to the first one, from which a method counts as diverging."""
RESTART = 30
"""Number of steps after which GMRES restarts."""


def dot(a: Any, b: Any) -> Any:
    """Return the inner product of each row of ``a`` with the same row of ``b``."""
    return np.sum((np.conj(a) if a.dtype.kind == "c" else a) * b, axis=-1)


def norm(r: Any) -> Any:
    """Return the norm of each row."""
    return np.sqrt(np.real(dot(r, r)))


def scale(r: Any) -> Any:
    """Return a divisor for each row that brings its squares within range: 1, except for very large and very small numbers."""
    largest = np.max(np.abs(r), axis=-1, initial=0)
    limits = np.finfo(largest.dtype)
    far = (largest > limits.max**0.25) | ((largest < limits.tiny**0.25) & (largest > 0))
    return np.where(far & np.isfinite(largest), largest, 1).astype(largest.dtype, copy=False)


def length(r: Any) -> Any:
    """Return :func:`norm`, also for numbers whose squares are out of range."""
    by = scale(r)
    return by * norm(r / by[:, None])


def quotient(a: Any, b: Any) -> Any:
    """Return ``a / b``, and 0 where ``b`` is 0."""
    none = b == 0
    return np.where(none, 0, a / np.where(none, 1, b))


def _scaled(k: Any, v: Any) -> Any:
    return k[:, None] * v


class Method:
    """Method applied to the systems of one call, which are rows; base class with the common code.

    ``apply`` and ``precondition`` apply the matrix, and an approximation of its inverse, to rows; right-hand sides are rows too. Each row
    has a tolerance for the norm of its residual; there are at most ``most`` steps.
    """

    each = 1
    """Number of applications of the matrix that count as one step towards ``most``."""

    def __init__(self, apply: Apply, precondition: Apply, b: Any, tolerance: Any, most: int) -> None:
        self.apply, self.precondition, self.b, self.tolerance, self.most = apply, precondition, b, tolerance, most

    def begin(self, x: Any) -> State:
        """Return the initial state."""
        r = self.b - self.apply(x)
        length = norm(r)
        none = length < 0
        state = {
            "x": x,
            "r": r,
            "k": none.astype(np.int64),
            "broken": none,
            "limit": np.maximum(length, self.tolerance),
        }
        return self._live(state | self.first(state))

    def _live(self, state: State) -> State:
        length = norm(state["r"])
        good = np.isfinite(length) & (length <= BEYOND * state["limit"]) & ~state["broken"]
        return state | {"live": good & (length > self.tolerance) & (state["k"] < self.most)}

    def going(self, state: State) -> Any:
        """Whether any row continues."""
        return np.any(state["live"])

    def advance(self, state: State) -> State:
        """Return the state after a step of the rows that continue."""
        live = state["live"]
        new = state | self.step(state)
        new["k"] = state["k"] + self.each
        if len(live) > 1:  # always true for a single row: a step is taken only while the row continues
            new |= {
                name: np.where(live.reshape(live.shape + (1,) * (value.ndim - 1)), value, state[name])
                for name, value in new.items()
                if name not in ("live", "limit")
            }
        made = self._live(new)
        return {name: made[name] for name in state}  # in the order that the traced loop expects

    def first(self, state: State) -> State:
        """Return the method's own initial entries of the state."""
        return {}

    def step(self, state: State) -> State:
        """Return the entries that a step changes, for all rows."""
        raise NotImplementedError


class Conjugate(Method):
    """Conjugate gradients, for Hermitian positive definite matrices; the same steps as SciPy's."""

    def first(self, state: State) -> State:
        """Return the method's own initial entries of the state."""
        r = state["r"]
        return {"p": np.zeros_like(r), "rho": dot(r, r)}

    def step(self, s: State) -> State:
        """Take one step of all rows."""
        z = self.precondition(s["r"])
        rho = dot(s["r"], z)
        beta = np.where(s["k"] == 0, 0, quotient(rho, s["rho"]))
        p = z + _scaled(beta, s["p"])
        q = self.apply(p)
        size = dot(p, q)
        alpha = quotient(rho, size)
        return {
            "x": s["x"] + _scaled(alpha, p),
            "r": s["r"] - _scaled(alpha, q),
            "p": p,
            "rho": rho,
            "broken": size == 0,
        }


class Adaptive(Method):
    """Conjugate gradients that measure how far a new direction is from being conjugate, for slightly asymmetric matrices."""

    def first(self, state: State) -> State:
        """Return the method's own initial entries of the state."""
        p = self.precondition(state["r"])
        return {"p": p, "q": self.apply(p)}

    def step(self, s: State) -> State:
        """Take one step of all rows."""
        p, q = s["p"], s["q"]
        size = dot(p, q)
        alpha = quotient(dot(p, s["r"]), size)
        r = s["r"] - _scaled(alpha, q)
        z = self.precondition(r)
        new = z - _scaled(quotient(dot(q, z), size), p)
        return {"x": s["x"] + _scaled(alpha, p), "r": r, "p": new, "q": self.apply(new), "broken": size == 0}


class Stabilised(Method):
    """BiCGSTAB(l) of Sleijpen and Fokkema (1993), with right preconditioning."""

    def __init__(self, *args: Any, order: int = 1) -> None:
        super().__init__(*args)
        self.order = order

    def first(self, state: State) -> State:
        """Return the method's own initial entries of the state."""
        r = state["r"]
        one = np.ones_like(dot(r, r))
        return {"shadow": r, "u": np.zeros_like(r), "rho": one, "alpha": one * 0, "omega": one}

    def step(self, s: State) -> State:
        """Take one step of all rows."""
        order, shadow = self.order, s["shadow"]
        r, u, y = [s["r"]], [s["u"]], np.zeros_like(s["x"])
        rho, alpha = -s["omega"] * s["rho"], s["alpha"]
        broken = rho == 0
        done = broken & False  # rows solved before the step ends: continuing would divide rounding errors
        for j in range(order):
            now = dot(shadow, r[j])
            beta = quotient(alpha * now, rho)
            rho = now
            u = [a - _scaled(beta, c) for a, c in zip(r, u)]
            u.append(self.apply(self.precondition(u[j])))
            gamma = dot(shadow, u[j + 1])
            alpha = np.where(done, 0, quotient(rho, gamma))
            broken = broken | (gamma == 0)
            r = [a - _scaled(alpha, c) for a, c in zip(r, u[1:])]
            r.append(self.apply(self.precondition(r[j])))
            y = y + _scaled(alpha, u[0])
            done = done | (norm(r[0]) <= self.tolerance)
        found, omega, more = self._least(r, u, done)
        return {
            "x": s["x"] + self.precondition(y + more), "r": found[0], "u": found[1], "rho": rho, "alpha": alpha,
            "omega": omega, "broken": (broken | (omega == 0)) & (norm(found[0]) > self.tolerance),
        }  # fmt: skip

    def _least(self, r: list[Any], u: list[Any], done: Any) -> tuple[tuple[Any, Any], Any, Any]:
        """Minimize the residual over ``r[1:]``; return (residual, direction), the last factor, and the update of ``y``."""
        order = self.order
        tau: dict[tuple[int, int], Any] = {}
        sizes: dict[int, Any] = {}
        parts: dict[int, Any] = {}
        for j in range(1, order + 1):
            for i in range(1, j):
                tau[i, j] = quotient(dot(r[i], r[j]), sizes[i])
                r[j] = r[j] - _scaled(tau[i, j], r[i])
            sizes[j] = dot(r[j], r[j])
            parts[j] = np.where(done, 0, quotient(dot(r[j], r[0]), sizes[j]))
        factor = dict(parts)
        for j in range(order - 1, 0, -1):
            for i in range(j + 1, order + 1):
                factor[j] = factor[j] - tau[j, i] * factor[i]
        y = _scaled(factor[1], r[0])
        for j in range(1, order):
            last = factor[j + 1]
            for i in range(j + 1, order):
                last = last + tau[j, i] * factor[i + 1]
            y = y + _scaled(last, r[j])
        residual, direction = r[0], u[0]
        for j in range(1, order + 1):
            residual = residual - _scaled(parts[j], r[j])
            direction = direction - _scaled(factor[j], u[j])
        return (residual, direction), factor[order], y


class Residual(Method):
    """GMRES with right preconditioning, restarted after :data:`RESTART` steps, which form one step here."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.each = min(RESTART, self.b.shape[-1], self.most)

    def step(self, s: State) -> State:
        """Take one step of all rows."""
        length = norm(s["r"]).astype(s["r"].dtype)
        basis = [_scaled(quotient(np.ones_like(length), length), s["r"])]
        columns = []
        for j in range(self.each):
            w = self.apply(self.precondition(basis[j]))
            column = []
            for v in basis:
                h = dot(v, w)
                w = w - _scaled(h, v)
                column.append(h)
            for i, v in enumerate(basis):  # orthogonalize again, to remove rounding errors
                h = dot(v, w)
                w = w - _scaled(h, v)
                column[i] = column[i] + h
            size = norm(w).astype(w.dtype)
            basis.append(_scaled(quotient(np.ones_like(size), size), w))
            rest = [np.zeros_like(size)] * (self.each - j - 1)
            columns.append(np.stack([*column, size, *rest], axis=-1))
        matrix = np.stack(columns, axis=-1)
        known = np.all(np.isfinite(matrix), axis=(-2, -1))  # one system with NaN would end the decomposition of all
        matrix = np.where(known[:, None, None], matrix, 0)
        weights = (np.linalg.pinv(matrix)[..., 0]) * length[:, None]
        y = sum(_scaled(weights[:, j], basis[j]) for j in range(self.each))
        x = s["x"] + self.precondition(y)
        r = self.b - self.apply(x)
        return {"x": x, "r": r, "broken": norm(r) >= norm(s["r"])}
