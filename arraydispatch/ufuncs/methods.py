"""The methods of a ufunc on native arrays, written once: ``reduce``, ``accumulate``, ``reduceat``, ``outer`` (``at`` writes, and is in :mod:`arraydispatch.functions.indexing`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from .. import dtypes
from ..backends.base import Backend, Unsupported
from .plans import Plan, check_shapes, plan_for

NoValue = np._NoValue

_ASSOCIATIVE = frozenset({
    np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.logical_and, np.logical_or, np.logical_xor,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.gcd, np.lcm, np.logaddexp, np.logaddexp2, np.hypot,
})  # fmt: skip
_LOGICAL = frozenset({np.logical_and, np.logical_or, np.logical_xor})


class Bound:
    """A ufunc bound to a backend, on native arrays and scalars, with NumPy's promotion and no precision policy."""

    __slots__ = ("backend", "ufunc")

    def __init__(self, ufunc: np.ufunc, backend: Backend) -> None:
        self.ufunc = ufunc
        self.backend = backend

    def __call__(self, *operands: Any, where: Any = True, dtype: Any = None, casting: str = "same_kind") -> Any:
        """Run the ufunc; NumPy itself runs it if no operand is an array."""
        backend, ufunc = self.backend, self.ufunc
        dtype_of, kind, is_native = backend.dtype_of, backend.kind, backend.is_native
        keys: list[Any] = []
        found = None
        for i, x in enumerate(operands):
            if is_native(x):
                found = x
                keys.append(kind(dtype_of(x)))
            elif isinstance(x, list | tuple | np.ndarray):
                x = backend.xp.asarray(x, like=found)
                operands = (*operands[:i], x, *operands[i + 1 :])
                found = x
                keys.append(kind(dtype_of(x)))
            else:
                keys.append(type(x))
        if found is None:
            return ufunc(*operands) if dtype is None else ufunc(*operands, dtype=dtype)
        plan = self.plan(tuple(keys), dtype, casting)
        try:
            result = plan.run(*operands)
        except Unsupported:
            raise
        except Exception:
            check_shapes(operands, backend)
            raise
        if where is True:
            return result
        zeros = [backend.prim.full(backend.shape_of(r), 0, dtype_of(r), backend.device_of(r)) for r in _tuple(result)]
        chosen = tuple(backend.prim.where(where, r, z) for r, z in zip(_tuple(result), zeros))
        return chosen if ufunc.nout > 1 else chosen[0]

    def plan(self, keys: tuple[Any, ...], dtype: Any = None, casting: str = "same_kind") -> Plan:
        """The plan of a call with these operands."""
        signature = None
        if dtype is not None:
            signature = (None,) * self.ufunc.nin + (np.dtype(dtype),) * self.ufunc.nout
        return plan_for(self.ufunc, self.backend, keys, None, signature, casting)

    # -- reduce ------------------------------------------------------------------------------------------------------

    def reduce(
        self,
        a: Any,
        axis: Any = 0,
        dtype: Any = None,
        keepdims: bool = False,
        initial: Any = NoValue,
        where: Any = True,
    ) -> Any:
        """As ``ufunc.reduce``: ``axis`` an int, a tuple or None; a 0-d native array where NumPy gives a scalar."""
        ufunc, backend = self.ufunc, self.backend
        prim = backend.prim
        _check_binary(ufunc, "reduce")
        shape = backend.shape_of(a)
        axes = reduction_axes(axis, len(shape))
        if len(axes) > 1 and ufunc not in _ASSOCIATIVE:
            raise ValueError(
                f"reduction operation '{ufunc.__name__}' is not reorderable, so at most one axis may be specified"
            )
        a, to = self._accumulator(a, dtype)
        if where is not True:
            a = self._masked(a, where, initial)
        empty = any(shape[i] == 0 for i in axes)
        kept = tuple(1 if i in axes else n for i, n in enumerate(shape))
        final = kept if keepdims else tuple(n for i, n in enumerate(shape) if i not in axes)
        if empty:
            start = ufunc.identity if initial is NoValue else initial
            if start is None:
                raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
            return prim.full(final, dtypes.cast_scalar(start, to), to, backend.device_of(a))
        if 0 in final:
            return prim.full(final, 0, to, backend.device_of(a))
        kernel = backend.REDUCE.get(ufunc)
        if kernel is not None:
            result = kernel(a, axes, keepdims)
        else:
            result = prim.reshape(self._fold(a, axes), final)
        if backend.dtype_of(result) != to:
            result = prim.astype(result, to)
        if initial is not NoValue and initial is not None:
            result = self(result, initial)
            if backend.dtype_of(result) != to:
                result = prim.astype(result, to)
        return result

    def _accumulator(self, a: Any, dtype: Any) -> tuple[Any, np.dtype[Any]]:
        """The operand in the dtype it is accumulated in, and the result's dtype."""
        ufunc, backend = self.ufunc, self.backend
        given = backend.dtype_of(a)
        if ufunc in _LOGICAL:
            return a, dtypes.BOOL
        if dtype is not None:
            to = np.dtype(dtype)
            if dtypes.category(to) == "other":
                raise Unsupported(f"dtype {to} exists only on the host")
        elif ufunc is np.add or ufunc is np.multiply:
            to = dtypes.default_accumulator(given)
        else:
            to = given
        loop = dtypes.loop_dtypes(ufunc, (to, to))
        to = loop[-1] if loop[0] == loop[-1] or dtype is None else to
        return (backend.prim.astype(a, to) if given != to else a), to

    def _masked(self, a: Any, where: Any, initial: Any) -> Any:
        ufunc, backend = self.ufunc, self.backend
        identity = ufunc.identity
        if identity is None:
            if initial is NoValue or initial is None:
                raise ValueError(
                    f"reduction operation '{ufunc.__name__}' does not have an identity, "
                    "so to use a where mask one has to specify 'initial'"
                )
            identity = initial
        mask = backend.xp.asarray(where, like=a)
        fill = dtypes.cast_scalar(identity, backend.dtype_of(a))
        neutral = backend.prim.full((), fill, backend.dtype_of(a), backend.device_of(a))
        return backend.prim.where(mask, a, neutral)

    def _fold(self, a: Any, axes: tuple[int, ...]) -> Any:
        """Reduce without a kernel: halves for an associative ufunc, element by element along the axis otherwise."""
        prim, backend = self.backend.prim, self.backend
        shape = backend.shape_of(a)
        rest = tuple(i for i in range(len(shape)) if i not in axes)
        length = int(np.prod([shape[i] for i in axes]))
        x = prim.reshape(prim.transpose(a, axes + rest), (length, *(shape[i] for i in rest)))
        if self.ufunc not in _ASSOCIATIVE:
            result = _row(prim, x, 0)
            for i in range(1, length):
                result = self(result, _row(prim, x, i))
            return result
        while length > 1:
            half = length // 2
            folded = self(_rows(prim, x, 0, half), _rows(prim, x, half, 2 * half))
            if length % 2:
                folded = prim.concatenate([folded, _rows(prim, x, length - 1, length)], 0)
            x, length = folded, half + length % 2
        if self.ufunc in _LOGICAL and backend.dtype_of(x) != dtypes.BOOL:
            x = prim.astype(x, dtypes.BOOL)
        return _row(prim, x, 0)

    # -- accumulate, reduceat, outer ---------------------------------------------------------------------------

    def accumulate(self, a: Any, axis: int = 0, dtype: Any = None) -> Any:
        """As ``ufunc.accumulate``."""
        prim, backend = self.backend.prim, self.backend
        _check_binary(self.ufunc, "accumulate")
        shape = backend.shape_of(a)
        if not shape:
            raise TypeError("cannot accumulate on a scalar")
        axis = normalize_axis_index(axis, len(shape))
        a, to = self._accumulator(a, dtype)
        if self.ufunc in _LOGICAL:
            a = prim.astype(a, dtypes.BOOL)
        if 0 in shape:
            return prim.full(shape, 0, to, backend.device_of(a))
        kernel = backend.ACCUMULATE.get(self.ufunc)
        if kernel is not None:
            return kernel(a, axis)
        x = prim.transpose(a, (axis, *(i for i in range(len(shape)) if i != axis)))
        running, rows = _rows(prim, x, 0, 1), []
        for i in range(shape[axis]):
            running = self(running, _rows(prim, x, i, i + 1)) if i else running
            rows.append(prim.astype(running, to))
        back = list(range(1, len(shape)))
        back.insert(axis, 0)
        return prim.transpose(prim.concatenate(rows, 0), tuple(back))

    def reduceat(self, a: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
        """As ``ufunc.reduceat``; the indices must be known now, since they decide which slices are reduced."""
        prim, backend = self.backend.prim, self.backend
        _check_binary(self.ufunc, "reduceat")
        shape = backend.shape_of(a)
        axis = normalize_axis_index(axis, len(shape))
        where = np.asarray(backend.to_numpy(indices) if backend.is_native(indices) else indices)
        if where.dtype.kind not in "iu":
            where = where.astype(np.intp, casting="same_kind")
        if where.size and (where.min() < 0 or where.max() >= shape[axis]):
            bad = where[(where < 0) | (where >= shape[axis])][0]
            raise IndexError(f"index {bad} out-of-bounds in {self.ufunc.__name__}.reduceat [0, {shape[axis]})")
        a, to = self._accumulator(a, dtype)
        stops = [*where[1:].tolist(), shape[axis]]
        parts = []
        for begin, end in zip(where.tolist(), stops):
            key = [slice(0, n, 1) for n in shape]
            key[axis] = slice(begin, max(end, begin + 1), 1)
            part = prim.slice(a, tuple(key))
            parts.append(self.reduce(part, axis=axis, dtype=None if self.ufunc in _LOGICAL else to, keepdims=True))
        if not parts:
            return prim.full(tuple(0 if i == axis else n for i, n in enumerate(shape)), 0, to, backend.device_of(a))
        return prim.concatenate(parts, axis)

    def outer(self, a: Any, b: Any, **kwargs: Any) -> Any:
        """As ``ufunc.outer``."""
        xp = self.backend.xp
        if not xp.is_array(a):
            a = xp.asarray(a, like=b if xp.is_array(b) else None)
        if not xp.is_array(b):
            b = xp.asarray(b, like=a)
        ones = (1,) * xp.ndim_of(b)
        return self(xp.prim.reshape(a, (*xp.shape_of(a), *ones)), b, **kwargs)


def reduction_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """NumPy's ``axis`` of a reduction as a sorted tuple; raises AxisError, or ValueError for a repeated axis."""
    if axis is None:
        return tuple(range(ndim))
    if ndim == 0 and isinstance(axis, int) and axis in (0, -1):
        return ()
    if isinstance(axis, tuple | list):
        return tuple(sorted(normalize_axis_tuple(tuple(axis), ndim)))
    return (normalize_axis_index(axis, ndim),)


def casting_error(ufunc: np.ufunc, have: np.dtype[Any], want: np.dtype[Any], casting: str = "same_kind") -> Exception:
    """NumPy's own error for a result that ``casting`` does not allow into an output."""
    error: Exception = np._core._exceptions._UFuncOutputCastingError(ufunc, casting, have, want, 0)  # type: ignore[attr-defined]
    return error


def _check_binary(ufunc: np.ufunc, method: str) -> None:
    if ufunc.signature is not None:
        raise RuntimeError("Reduction not defined on ufunc with signature")
    if ufunc.nin != 2:
        raise ValueError(f"{method} only supported for binary functions")
    if ufunc.nout != 1:
        raise ValueError(f"{method} only supported for functions returning a single value")


def _rows(prim: Any, x: Any, begin: int, end: int) -> Any:
    return prim.slice(x, (slice(begin, end, 1), *(slice(0, n, 1) for n in x.shape[1:])))


def _row(prim: Any, x: Any, i: int) -> Any:
    return prim.reshape(_rows(prim, x, i, i + 1), tuple(x.shape[1:]))


def _tuple(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)
