"""Affine arrays: ``matrix_from_function`` calls a function with them to find its matrix.

The function runs on :class:`Affine` arrays. Each element is a row of a sparse matrix (coefficients of the
elements of the arguments) and a number. NumPy itself moves elements (slices, ``reshape``, ``roll``, ``concatenate``,
``pad``, …), on arrays with the positions of the elements. So none of NumPy's rules is repeated here, and views share
memory as NumPy's do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._core.handles import Handle
from ...backends import loader
from ...backends.base import Backend
from ...common import tracing
from ...common.errors import TraceError
from ...common.pytrees import first
from ...memory import views
from ...runtime import conversion
from ...transforms.flattening import name_of

__all__ = ["Affine", "Run", "Store"]


class Run:
    """One run of the function ``f`` of which a matrix is made: its name, the number of columns of the matrix, and the backend of arrays
    among the coefficients.
    """

    def __init__(self, f: Any, columns: int, real: bool) -> None:
        self.name, self.columns = name_of(f), columns
        self.real = real
        """Whether all arguments are real, so that real and imaginary parts and conjugates are linear in them."""
        self.held: Backend | None = None

    def constant(self, x: Any) -> np.ndarray[Any, Any]:
        """Return coefficients as an ndarray; if they are a library's array, set ``held`` to the library."""
        if isinstance(x, Handle):
            backend = x._kind.backend
            if not backend.home.native_is_ndarray:
                self.held = backend.home
            return conversion.download(backend, views.expose(x), "ad.matrix_from_function")
        backend_of_x = None if isinstance(x, np.ndarray) else loader.backend_of(x)
        if backend_of_x is not None:
            self.held = backend_of_x
            return backend_of_x.to_numpy(x)
        return np.asarray(x)

    def refuse(self, what: str) -> TraceError:
        """Return the error for a call that is not linear. ``what``: the call."""
        return TraceError(
            f"{what} is not linear in the arguments of {self.name}, at {tracing.user_line()}; ad.matrix_from_function follows sums, "
            "differences, scaling by constants, matrix products with constants, and what moves elements."
        )


class Store:
    """Memory of affine arrays: each element is an affine function of the arguments of ``run``, by a row of coefficients (``rows``) and a
    constant (``bias``).
    """

    __slots__ = ("bias", "fixed", "rows", "run")

    def __init__(self, rows: Any, bias: np.ndarray[Any, Any], run: Run) -> None:
        self.rows, self.bias, self.run = rows, bias, run
        self.fixed = ""
        """Reason why the memory must not be written: NumPy would write to other memory."""


class Affine(np.lib.mixins.NDArrayOperatorsMixin):
    """Array of affine functions of the arguments, stored in ``store`` at the positions ``places``; a view wherever NumPy's
    array would be.
    """

    __slots__ = ("places", "store")
    __array_priority__ = 200.0

    def __init__(self, store: Store, places: np.ndarray[Any, Any]) -> None:
        self.store, self.places = store, places

    # -- attributes --------------------------------------------------------------------------------------------------

    shape = property(lambda self: self.places.shape)
    ndim = property(lambda self: self.places.ndim)
    size = property(lambda self: self.places.size)
    dtype = property(lambda self: np.result_type(self.store.rows.dtype, self.store.bias.dtype))
    T = property(lambda self: Affine(self.store, self.places.T))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)
    real = property(np.real, lambda self, value: self._real_is(value))
    imag = property(np.imag, lambda self, value: self._imag_is(value))
    flat = property(lambda self: _Flat(self.store, self.places.ravel()), lambda self, value: self._flat_is(value))

    def rows(self) -> Any:
        """Coefficients of each element, in C order."""
        return self.store.rows[self.places.ravel()]

    def bias(self) -> Any:
        """Constant term of each element, in C order."""
        return self.store.bias[self.places.ravel()]

    def __repr__(self) -> str:
        return f"Affine({self.dtype}{list(self.shape)} of {self.store.run.name})"

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self.places)))

    def _no_value(self, *_: Any) -> Any:
        raise self.store.run.refuse("a value that is looked at")

    __bool__ = __float__ = __int__ = __complex__ = __index__ = item = tolist = _no_value

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise self.store.run.refuse("an ndarray of it (np.array; np.stack and np.concatenate join arrays)")

    # -- elements --------------------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Affine:
        return self._of(np.asarray(self.places[_key(key, self)]))

    def _of(self, places: np.ndarray[Any, Any]) -> Affine:
        """Return the elements at positions of the store: a view if ``places`` is a view of this array's positions, otherwise a copy."""
        if np.may_share_memory(places, self.places):
            return Affine(self.store, places)
        return self._taken(places)

    def _taken(self, places: np.ndarray[Any, Any]) -> Affine:
        flat = places.ravel()
        store = Store(self.store.rows[flat], self.store.bias[flat], self.store.run)
        return Affine(store, np.arange(flat.size).reshape(places.shape))

    def _real_is(self, value: Any) -> None:
        self[...] = value + 1j * np.imag(self) if self.dtype.kind == "c" else value

    def _imag_is(self, value: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self[...] = np.real(self) + 1j * value

    def _flat_is(self, value: Any) -> None:
        given = np.ravel(affine(value, self))
        self.flat[...] = given[np.arange(self.size) % given.size]

    def __copy__(self) -> Affine:
        return self._taken(self.places)

    def __deepcopy__(self, _memo: Any) -> Affine:
        return self._taken(self.places)

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.store.fixed:
            raise self.store.run.refuse(f"a write to {self.store.fixed}")
        chosen = self.places[_key(key, self)]
        given = affine(value, self)
        if not np.can_cast(given.dtype, self.dtype, "same_kind"):
            raise self.store.run.refuse(f"a cast to {self.dtype}")
        rows, bias = spread(given, np.shape(chosen))
        store, flat = self.store, np.ravel(chosen)
        order = np.arange(store.bias.size)
        # for repeated positions the last value is kept, as in NumPy
        order[flat] = store.bias.size + np.arange(flat.size)
        store.rows = sp.vstack([store.rows, rows], format="csr")[order]
        store.bias = np.concatenate([store.bias, bias])[order]

    # -- arithmetic ------------------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out, dtype = kwargs.pop("out", None), kwargs.pop("dtype", None) if method == "__call__" else None
        rule = UFUNCS.get(ufunc)
        if ufunc is np.add and method == "reduce":
            made = FUNCTIONS[np.sum](*inputs, **{"axis": 0, **kwargs})
        elif ufunc is np.add and method == "accumulate":
            made = FUNCTIONS[np.cumsum](*inputs, **{"axis": 0, **kwargs})
        elif ufunc is np.add and method == "reduceat":
            made = self._sums_between(*inputs, **kwargs)
        elif rule is not None and method == "outer" and not kwargs:
            return ufunc(*_outer(self.store.run, *inputs))
        elif method == "at" and ufunc in (np.add, np.subtract):
            return self._added_at(ufunc, *inputs)
        elif rule is None or kwargs or method != "__call__":
            raise self.store.run.refuse(f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}"))
        else:
            made = rule(self.store.run, *inputs)
            made = made if dtype is None else made.astype(dtype)
        if out is None:
            return made
        if not isinstance(out[0], Affine):
            raise self.not_into_numpys()
        out[0][...] = made
        return out[0]

    def _sums_between(self, a: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
        """Evaluate ``np.add.reduceat``, by applying it to an identity."""
        if not isinstance(a, Affine):
            raise self.store.run.refuse("np.add.reduceat by indices that depend on them")
        a = a if dtype is None else a.astype(dtype)
        return np.moveaxis(np.tensordot(np.add.reduceat(np.eye(a.shape[axis]), indices), a, ([1], [axis])), 0, axis)

    def _added_at(self, ufunc: np.ufunc, target: Any, indices: Any, values: Any) -> None:
        """Evaluate ``np.add.at``: all values for repeated positions are added."""
        if not isinstance(target, Affine):
            raise self.not_into_numpys()
        chosen = np.arange(target.size).reshape(target.shape)[_key(indices, target)]
        added = affine(values, self)
        flat = np.broadcast_to(added.places, chosen.shape).ravel()
        ones = np.ones(flat.size, int)
        sums = sp.csr_array((ones, (chosen.ravel(), np.arange(flat.size))), shape=(target.size, flat.size))
        total = made_of(sums @ added.store.rows[flat], sums @ added.store.bias[flat], target.shape, self.store.run)
        target[...] = ufunc(target, total)

    def not_into_numpys(self) -> TraceError:
        """Return the error for a write to an ndarray."""
        return TraceError(
            f"what depends on the arguments of {self.store.run.name} would be written to an array of NumPy's, at "
            f"{tracing.user_line()}; make that with np.zeros_like of an argument, or join the parts by np.concatenate."
        )

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        rule = FUNCTIONS.get(func)
        if rule is None:
            raise self.store.run.refuse(f"np.{getattr(func, '__name__', func)}")
        return rule(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        method = METHODS.get(name)
        if method is not None:
            return lambda *args, **kwargs: method(self, *args, **kwargs)
        if not name.startswith("_") and callable(getattr(np.ndarray, name, None)):
            return lambda *_, **__: self._refuse(f"the method {name}")
        raise AttributeError(
            f"an array traced by ad.matrix_from_function has no attribute {name!r}, used at {tracing.user_line()}"
        )

    def _refuse(self, what: str) -> Any:
        raise self.store.run.refuse(what)

    def __round__(self, *_: Any) -> Any:
        return self._refuse("round()")

    def __format__(self, spec: str) -> str:
        return self._refuse("formatting") if spec else repr(self)

    def astype(self, dtype: Any, **_: Any) -> Affine:
        """Cast: real numbers may become complex or change precision; other casts raise TraceError."""
        if np.dtype(dtype).kind not in ("c" if self.dtype.kind == "c" else "fc"):
            raise self.store.run.refuse(f"a cast to {np.dtype(dtype)}")
        store = Store(self.rows().astype(dtype), self.bias().astype(dtype), self.store.run)
        return Affine(store, np.arange(self.size).reshape(self.shape))

    def reshape(self, *shape: Any, order: Any = "C") -> Affine:
        """Reshape as ``ndarray.reshape``."""
        return self._of(self.places.reshape(*shape, order=order))

    def flatten(self, order: Any = "C") -> Affine:
        """Flatten as ``ndarray.flatten``."""
        return self._taken(self.places.flatten(order))

    def transpose(self, *axes: Any) -> Affine:
        """Transpose as ``ndarray.transpose``."""
        return self._of(self.places.transpose(*axes))


class _Flat(Affine):
    """Iterator ``x.flat``: writes go to the memory, reads return copies."""

    __slots__ = ()

    def _of(self, places: np.ndarray[Any, Any]) -> Affine:
        return self._taken(places)


# -- rules -----------------------------------------------------------------------------------------------------------

UFUNCS: dict[np.ufunc, Callable[..., Affine]] = {}
"""Ufunc -> ``rule(run, *operands)``."""
FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""NumPy function -> its implementation for affine arrays."""
METHODS: dict[str, Callable[..., Any]] = {}
"""Name of a method -> its implementation."""

Rule = Callable[..., Any]


def follows(*funcs: Any) -> Callable[[Rule], Rule]:
    """Register a rule for NumPy functions and ufuncs, and for the ndarray method of a function's name."""

    def register(rule: Rule) -> Rule:
        for func in funcs:
            if isinstance(func, np.ufunc):
                UFUNCS[func] = rule
            else:
                FUNCTIONS[func] = rule
                if callable(getattr(np.ndarray, func.__name__, None)):
                    METHODS.setdefault(func.__name__, rule)
        return rule

    return register


def _key(key: Any, a: Affine) -> Any:
    parts = key if isinstance(key, tuple) else (key,)
    if any(isinstance(k, Affine) for k in parts):
        raise a.store.run.refuse("an index")
    made = tuple(a.store.run.constant(k) if isinstance(k, Handle) else k for k in parts)
    return made if isinstance(key, tuple) else made[0]


def holds_affine(x: Any) -> bool:
    """Whether a nested sequence contains an affine array."""
    return first(lambda y: isinstance(y, Affine), x) is not None


def affine(x: Any, like: Affine) -> Affine:
    """Convert a constant, or a nested sequence that contains affine arrays, to an affine array of the same run as ``like``."""
    if isinstance(x, Affine):
        return x
    run = like.store.run
    if isinstance(x, list | tuple) and holds_affine(x):
        return FUNCTIONS[np.stack]([affine(y, like) for y in x])
    values = run.constant(x)
    store = Store(sp.csr_array((values.size, run.columns)), values.ravel(), run)
    return Affine(store, np.arange(values.size).reshape(values.shape))


def spread(a: Affine, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return the rows and numbers of an array broadcast to a shape."""
    flat = np.broadcast_to(a.places, shape).ravel()
    return a.store.rows[flat], a.store.bias[flat]


def _outer(run: Run, x: Any, y: Any) -> tuple[Any, Any]:
    """Convert the operands of ``ufunc.outer`` to those of the ufunc."""
    y = y if isinstance(y, Affine) else run.constant(y)
    x = x if isinstance(x, Affine) else run.constant(x)
    return x.reshape(x.shape + (1,) * y.ndim), y


def made_of(rows: Any, bias: Any, shape: tuple[int, ...], run: Run) -> Affine:
    return Affine(Store(sp.csr_array(rows), bias, run), np.arange(math.prod(shape)).reshape(shape))


# -- ufuncs --------------------------------------------------------------------------------------------------------------


@follows(np.add)
def _sum_of_two(run: Run, x: Any, y: Any, sign: int = 1) -> Affine:
    like = x if isinstance(x, Affine) else y
    a, b = affine(x, like), affine(y, like)
    shape = np.broadcast_shapes(a.shape, b.shape)
    (rows, bias), (more, number) = spread(a, shape), spread(b, shape)
    return (
        made_of(rows + more, bias + number, shape, run) if sign > 0 else made_of(rows - more, bias - number, shape, run)
    )


def settled(x: Any) -> Any:
    """Return the ndarray of an affine array that depends on no argument; other objects unchanged."""
    if isinstance(x, Affine):
        rows = x.rows()
        if not rows.nnz or not np.any(rows.data):
            return x.bias().reshape(x.shape)
    return x


@follows(np.multiply)
def _product(run: Run, x: Any, y: Any) -> Affine:
    if isinstance(x, Affine) and isinstance(y, Affine):
        y = settled(y)
        if isinstance(y, Affine):
            x = settled(x)
        if isinstance(x, Affine) and isinstance(y, Affine):
            raise run.refuse("a product of two values that depend on them")
    a, c = (x, run.constant(y)) if isinstance(x, Affine) else (y, run.constant(x))
    shape = np.broadcast_shapes(a.shape, c.shape)
    rows, bias = spread(a, shape)
    factors = np.broadcast_to(c, shape).ravel()
    return made_of(_scaled(rows, factors, np.multiply), bias * factors, shape, run)


def _scaled(rows: Any, factors: Any, ufunc: np.ufunc) -> Any:
    """Multiply, or divide, each row by its own factor."""
    data = ufunc(rows.data, np.repeat(factors, np.diff(rows.indptr)))
    return sp.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


@follows(np.true_divide)
def _quotient(run: Run, x: Any, y: Any) -> Affine:
    y = settled(y)
    if isinstance(y, Affine):
        raise run.refuse("a division by a value that depends on them")
    c = run.constant(y)
    if not isinstance(x, Affine):
        x = affine(x, Affine(Store(sp.csr_array((0, run.columns)), np.zeros(0), run), np.arange(0)))
    shape = np.broadcast_shapes(x.shape, c.shape)
    rows, bias = spread(x, shape)
    divisors = np.broadcast_to(c, shape).ravel()
    return made_of(_scaled(rows, divisors, np.true_divide), bias / divisors, shape, run)


@follows(np.subtract)
def _difference(run: Run, x: Any, y: Any) -> Affine:
    return _sum_of_two(run, x, y, -1)


@follows(np.negative)
def _negative(run: Run, x: Affine) -> Affine:
    return made_of(-x.rows(), -x.bias(), x.shape, run)


@follows(np.positive)
def _positive(run: Run, x: Affine) -> Affine:
    return x._taken(x.places)


@follows(np.deg2rad, np.radians)
def _radians(run: Run, x: Affine) -> Affine:
    return _product(run, x, np.pi / 180)


@follows(np.rad2deg, np.degrees)
def _degrees(run: Run, x: Affine) -> Affine:
    return _product(run, x, 180 / np.pi)
