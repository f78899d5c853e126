"""Operators of linear systems: a matrix, dense or sparse, or a function, applied to rows of unknowns."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...api import public
from ...array import Array
from ...backends.base import Backend
from ...common.pytrees import tree_leaves, tree_map
from ...common.signal_safety import imported
from ...runtime import conversion, dtypes
from ...transforms.control_flow import host_call
from ...transforms.derivatives import grad
from ...transforms.flattening import is_array, library_of
from ..construction import csr_array, from_scipy
from ..sparse_array import SparseArray

Shape = tuple[int, ...]


class System:
    """System of one call: its parameters, the conversion between unknowns and rows, and the operator.

    ``A`` is an array, a sparse array of ours or SciPy's, or a function with further arguments ``args``. ``batch_dims``: number of leading
    axes of ``b`` that are batch axes.
    """

    def __init__(self, A: Any, b: Any, args: tuple[Any, ...], batch_dims: int | None) -> None:
        self.function: Callable[..., Any] | None = None
        matrix: Any
        if isinstance(A, SparseArray) or is_array(A) or sp.issparse(A):
            matrix = A
        elif callable(A) or hasattr(A, "matvec"):
            matrix, self.function = None, A if callable(A) and not hasattr(A, "matvec") else A.matvec
        else:
            matrix = np.asarray(A)
            if matrix.dtype == object:
                raise TypeError(f"ad.linear_solve takes a matrix or a function, not a {type(A).__name__}.")
        if args and self.function is None:
            raise TypeError("args= is for functions; a matrix takes none.")
        given = [b, *tree_leaves((matrix, args))] if not sp.issparse(matrix) else [b]
        backend = library_of(given)
        if backend.native_is_ndarray or not any(
            is_array(x) and not isinstance(x, np.ndarray | np.generic) for x in given
        ):
            backend = public.default_backend() if not any(isinstance(x, Array) for x in given) else backend
        self.backend: Backend = backend.home
        if sp.issparse(matrix):
            matrix = from_scipy(matrix, self.backend)
        elif matrix is not None and not isinstance(matrix, SparseArray):
            matrix = self.array(matrix)
        elif isinstance(matrix, SparseArray) and matrix.backend.home is not self.backend:
            matrix = matrix.convert(self.backend)
        self.params: Any = matrix if self.function is None else args
        self._shapes(self.array(b), matrix, batch_dims)

    def array(self, x: Any) -> Any:
        """Convert to an array on the backend of the system."""
        made = x if isinstance(x, Array) else public.asarray(x, backend=self.backend)
        return made if made.backend.home is self.backend else public.convert(made, self.backend)

    def _shapes(self, b: Any, matrix: Any, batch_dims: int | None) -> None:
        kind = np.result_type(b.dtype, *([matrix.dtype] if matrix is not None else []))
        if kind.kind not in "fc":
            kind = conversion.precise(np.dtype(np.float64))
        self.dtype = np.dtype(np.float32) if kind.itemsize < 4 or dtypes.is_bfloat16(kind) else kind
        if matrix is None:
            if batch_dims is not None and not 0 <= batch_dims <= b.ndim:
                raise ValueError(f"batch_dims of ad.linear_solve is {batch_dims}; b has {b.ndim} axes.")
            lead = b.shape[: batch_dims or 0]
            self.unknowns: Shape = b.shape[batch_dims or 0 :]
        else:
            if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2]:
                raise ValueError(f"the matrix of a linear system must be square, not of shape {matrix.shape}.")
            if b.ndim == 0 or b.shape[-1] != matrix.shape[-1]:
                raise ValueError(
                    f"b of shape {b.shape} does not fit a matrix of shape {matrix.shape}: its last axis is that of the unknowns, "
                    "axes before it count systems."
                )
            lead = np.broadcast_shapes(b.shape[:-1], matrix.shape[:-2])
            self.unknowns = b.shape[-1:]
            if self.params.dtype != self.dtype:
                self.params = self.params.astype(self.dtype)
        self.lead: Shape = lead
        self.count, self.size = math.prod(lead), math.prod(self.unknowns)
        self.b = np.broadcast_to(b, lead + self.unknowns).astype(self.dtype).reshape(self.count, self.size)

    # -- operator ----------------------------------------------------------------------------------------------------

    def rows(self, x: Any) -> Any:
        """Broadcast an array to the shape of the result and reshape it to rows of unknowns; raise ValueError if it does not fit."""
        given, shape = self.array(x), self.lead + self.unknowns
        try:
            whole = np.broadcast_to(given, shape)
        except ValueError:
            raise ValueError(f"x0 of shape {given.shape} does not fit a solution of shape {shape}.") from None
        return whole.astype(self.dtype).reshape(self.count, self.size)

    def apply(self, params: Any, x: Any, adjoint: bool = False) -> Any:
        """Multiply rows by the matrix, or by its adjoint."""
        if self.function is None:
            return self._times(_adjoint(params) if adjoint else params, x)
        if not adjoint:
            return self._called(params, x)
        weights = x

        def height(v: Any) -> Any:
            return np.sum(np.real(np.conj(weights) * self._called(params, v)))

        return grad(height)(np.zeros_like(x))

    def _called(self, args: Any, x: Any) -> Any:
        assert self.function is not None
        made = self.function(x.reshape(self.lead + self.unknowns), *args)
        if np.shape(made) != self.lead + self.unknowns:
            raise ValueError(
                f"the function of a linear system got an array of shape {self.lead + self.unknowns} and returned shape "
                f"{np.shape(made)}; the shapes must be equal."
            )
        if self.dtype.kind != "c" and np.result_type(made).kind == "c":
            raise ValueError("the function of a linear system returns complex numbers; pass a complex b.")
        return made.reshape(self.count, self.size).astype(self.dtype, copy=False)

    def is_finite(self) -> bool:
        """Whether the matrix and all right-hand sides are finite."""
        return all(np.isfinite(public.to_numpy(x)).all() for x in tree_leaves((self.params, self.b)))

    def _times(self, matrix: Any, x: Any) -> Any:
        if matrix.ndim == 2:
            return (matrix @ x.T).T if isinstance(matrix, SparseArray) else x @ matrix.T
        made = matrix @ x.reshape(*self.lead, self.size, 1)
        return made.reshape(self.count, self.size)

    def gradient(self, params: Any, adjoint: Any, x: Any) -> Any:
        """Return the gradient of ``-<adjoint, A x>`` with respect to the parameters."""
        if self.function is not None:
            if not params:
                return ()
            return grad(lambda args: -np.sum(np.real(np.conj(adjoint) * self._called(args, x))))(params)
        lead, left, right = self.lead, adjoint, np.conj(x)
        if isinstance(params, SparseArray):
            terms = -(left[:, params.row] * right[:, params.col]).reshape(*lead, params.nnz)
            return params.with_data(_reduced(terms, params.data.shape))
        if params.ndim == 2:
            return -(left.T @ right)
        terms = -(left[:, :, None] * right[:, None, :]).reshape(*lead, self.size, self.size)
        return _reduced(terms, params.shape)

    # -- on the host ---------------------------------------------------------------------------------------------------------

    def one(self, params: Any, i: int, adjoint: bool) -> Any:
        """Return the matrix of one system, made of ndarrays, in the form that ``scipy.sparse.linalg`` takes."""
        if self.function is not None:
            imported("scipy.sparse.linalg")
            from scipy.sparse.linalg import LinearOperator

            def times(v: Any) -> Any:
                return self.function(v.reshape(self.unknowns), *params).reshape(-1)  # type: ignore[misc]

            return LinearOperator((self.size, self.size), matvec=times, dtype=self.dtype)
        data = params.data if isinstance(params, SparseArray) else params
        inner = 1 if isinstance(params, SparseArray) else 2
        lead = np.broadcast_to(data, self.lead + data.shape[data.ndim - inner :])
        one = lead.reshape(self.count, *lead.shape[lead.ndim - inner :])[i]
        if isinstance(params, SparseArray):
            matrix = params._places.scipy(one)
            return matrix.conj().T.tocsr() if adjoint else matrix.tocsr()
        return one.conj().T if adjoint else one


def _adjoint(matrix: Any) -> Any:
    return matrix.transpose().conj() if isinstance(matrix, SparseArray) else np.conj(np.swapaxes(matrix, -1, -2))


def _reduced(x: Any, shape: Shape) -> Any:
    """Sum over the axes along which an array of that shape was broadcast."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    repeated = tuple(i for i, (n, m) in enumerate(zip(x.shape, shape)) if n != m)
    return x.sum(axis=repeated, keepdims=True) if repeated else x


# -- preconditioners -------------------------------------------------------------------------------------------------


class Preconditioner:
    """Approximate inverse of a system's matrix, applied to rows of residuals: ``"jacobi"``, ``"ilu"``, a matrix or a
    function of the user.
    """

    def __init__(self, kind: Any, system: System) -> None:
        self.system, self.kind = system, kind
        self.params: Any = None
        if isinstance(kind, str):
            if kind not in ("jacobi", "ilu"):
                raise ValueError(f"unknown preconditioner {kind!r}; choose 'jacobi', 'ilu', a function or a matrix.")
            if system.function is not None:
                raise ValueError(
                    f"the preconditioner {kind!r} needs the elements of a matrix, and the system is a function; pass a function as the preconditioner."
                )
            if kind == "ilu":
                self.factors = self._incomplete()
        elif kind is not None and not callable(kind):
            self.params = (
                kind if isinstance(kind, SparseArray) else csr_array(kind) if sp.issparse(kind) else system.array(kind)
            )
            if self.params.shape[-2:] != (system.size, system.size):
                raise ValueError(f"a preconditioner of shape {self.params.shape} does not fit {system.size} unknowns.")

    def _incomplete(self) -> list[Any]:
        imported("scipy.sparse.linalg")
        from scipy.sparse.linalg import spilu

        system, made = self.system, []
        params = tree_map(public.to_numpy, system.params)
        for i in range(1 if params.ndim == 2 else system.count):
            try:
                made.append(spilu(sp.csc_array(system.one(params, i, False))))
            except RuntimeError as error:
                raise np.linalg.LinAlgError(f"the incomplete LU factorization failed: {error}.") from None
        return made

    def of(self, params: Any, own: Any, adjoint: bool = False) -> Callable[[Any], Any]:
        """Return the function that applies the preconditioner to rows. ``params``, ``own``: the system's parameters and its own."""
        if self.kind is None:
            return lambda r: r
        if own is not None:
            matrix = _adjoint(own) if adjoint else own
            return lambda r: self.system._times(matrix, r)
        if self.kind == "jacobi":
            diagonal = self._diagonal(params, adjoint)
            return lambda r: r / diagonal
        if self.kind == "ilu":
            return lambda r: host_call(partial(self._solved, "H" if adjoint else "N"), np.empty(r.shape, r.dtype), r)
        return self._called

    def _diagonal(self, params: Any, adjoint: bool) -> Any:
        """Return the diagonal for each system, with 0 replaced by 1."""
        diagonal = params.diagonal() if isinstance(params, SparseArray) else np.diagonal(params, axis1=-2, axis2=-1)
        diagonal = np.broadcast_to(diagonal, (*self.system.lead, self.system.size)).reshape(self.system.b.shape)
        return np.where(diagonal == 0, 1, np.conj(diagonal) if adjoint else diagonal)

    def _solved(self, way: str, r: Any) -> Any:
        """Solve for the right-hand sides ``r`` with the incomplete factors, on the host. ``way``: argument ``trans`` of
        SciPy's ``solve``.
        """
        if len(self.factors) == 1:
            return np.ascontiguousarray(self.factors[0].solve(np.array(r.T), way).T)
        return np.stack([lu.solve(np.array(line), way) for lu, line in zip(self.factors, r)])

    def _called(self, r: Any) -> Any:
        """Call the user's function."""
        shape = self.system.lead + self.system.unknowns
        made = self.kind(r.reshape(shape))
        if np.shape(made) != shape:
            raise ValueError(
                f"the preconditioner got an array of shape {shape} and returned shape {np.shape(made)}; the shapes must be equal."
            )
        return self.system.array(made).reshape(r.shape).astype(r.dtype, copy=False)
