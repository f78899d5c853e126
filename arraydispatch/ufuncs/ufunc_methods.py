"""Methods of a ufunc on native arrays: ``reduce``, ``accumulate``, ``reduceat``, ``outer``.

``at`` writes, and is in :mod:`arraydispatch.functions.indexing`.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..backends.base import Backend, LeftToNumPy, Unsupported
from ..common import events, tracing
from ..common.user_warnings import warn_of_cast
from ..runtime import dtypes
from .facts import ufunc_facts
from .plans import PLANS, Plan, plan_for, shape_error

_FEW_SLICES = 8
"""Number of slices up to which ``reduceat`` reduces each slice in the library."""
_FEW_STEPS = 64
"""Number of steps up to which the library computes element by element, if it has no function for the whole."""
_EXTREMA = frozenset({np.maximum, np.minimum})
_ROUNDING = frozenset({np.add, np.multiply, np.lcm})
"""Associative ufuncs whose results depend on the grouping, by rounding or overflow; so do the results of ``heavy`` ufuncs."""

NoValue = np._NoValue

__warningregistry__ = None  # NumPy warns here, on behalf of a user's line: see arraydispatch.launcher.numpy_warnings


def mask_of(where: Any, backend: Backend, like: Any) -> Any:
    """Convert ``where=`` to a native mask on the device of ``like``. Arrays must be boolean; other objects count by their truth value."""
    if not isinstance(where, np.ndarray) and not backend.is_native(where):
        where = np.asarray(where, dtype=bool)
    mask = backend.xp.asarray(where, like=like)
    if (have := backend.dtype_of(mask)) != dtypes.BOOL:
        what = "array data" if backend.shape_of(mask) else "scalar"
        raise TypeError(f"Cannot cast {what} from {have!r} to dtype('bool') according to the rule 'safe'")
    return mask


class Bound:
    """Ufunc bound to a backend: its call and methods take and return native arrays, with NumPy's promotion and no precision policy.
    Attributes of ``xp`` are such objects.
    """

    __slots__ = ("_plans", "backend", "ufunc")

    def __init__(self, ufunc: np.ufunc, backend: Backend) -> None:
        self.ufunc = ufunc
        self.backend = backend
        self._plans = PLANS.setdefault(ufunc, {})

    def __call__(self, *operands: Any, where: Any = True, dtype: Any = None, casting: str = "same_kind") -> Any:
        """Run the ufunc; NumPy itself runs it if no operand is an array. Results are zero where ``where`` is false."""
        backend, ufunc = self.backend, self.ufunc
        kind_of, is_native = backend.kind_of, backend.is_native
        keys: list[Any] = []
        found = None
        for i, x in enumerate(operands):
            if is_native(x):
                found = x
                keys.append(kind_of(x))
            elif isinstance(x, list | tuple | np.ndarray):
                x = backend.xp.asarray(x, like=found)
                operands = (*operands[:i], x, *operands[i + 1 :])
                found = x
                keys.append(kind_of(x))
            else:
                keys.append(type(x))
        if found is None:
            return ufunc(*operands) if dtype is None else ufunc(*operands, dtype=dtype)
        plan = self._plans.get((*keys, None)) if dtype is None and casting == "same_kind" else None
        if plan is None:
            plan = self.plan(tuple(keys), dtype, casting)
        refused = None
        try:
            result = plan.run(*operands)
        except LeftToNumPy:
            raise
        except Exception:
            refused = shape_error(operands, backend)
            if refused is None:
                raise
        if refused is not None:
            raise refused
        if where is True:
            return result
        dtype_of = backend.dtype_of
        zeros = [backend.prim.full(backend.shape_of(r), 0, dtype_of(r), backend.device_of(r)) for r in _tuple(result)]
        chosen = tuple(backend.prim.where(where, r, z) for r, z in zip(_tuple(result), zeros))
        return chosen if ufunc.nout > 1 else chosen[0]

    def plan(self, keys: tuple[Any, ...], dtype: Any = None, casting: str = "same_kind") -> Plan:
        """Return the plan of a call with these operands."""
        signature = None
        if dtype is not None:
            signature = (None,) * self.ufunc.nin + (np.dtype(dtype),) * self.ufunc.nout
        return plan_for(self.ufunc, self.backend, keys, None, signature, casting)

    # -- reduce ------------------------------------------------------------------------------------------------------

    def reduce(
        self, a: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False, initial: Any = NoValue,
        where: Any = True,
    ) -> Any:  # fmt: skip
        """Implement ``ufunc.reduce``: ``axis`` is an int, a tuple or None; a 0-d native array stands for NumPy's scalar."""
        ufunc, backend = self.ufunc, self.backend
        prim = backend.prim
        _check_binary(ufunc, "reduce")
        shape = backend.shape_of(a)
        if isinstance(axis, list):
            raise TypeError(f"{type(axis).__name__!r} object cannot be interpreted as an integer")
        axes = reduction_axes(axis, len(shape))
        if ufunc is np.add and initial is NoValue and where is True and not keepdims and len(axes) == len(shape) > 0:
            known = dtype is None or (dtype == dtypes.INTP and backend.dtype_of(a) == dtypes.BOOL)
            made = backend.total(a) if known else None
            if made is not None:
                return made
        a, to = self._accumulator(a, dtype)
        facts = ufunc_facts(ufunc)
        if len(axes) > 1 and (facts.one_axis or not facts.associative):
            raise ValueError(
                f"reduction operation '{ufunc.__name__}' is not reorderable, so at most one axis may be specified"
            )
        given = initial is not NoValue and initial is not None
        if given:
            initial = _cast(initial, to)
        if where is not True:
            where = self._mask(a, where, given)
        empty = any(shape[i] == 0 for i in axes)
        kept = tuple(1 if i in axes else n for i, n in enumerate(shape))
        final = kept if keepdims else tuple(n for i, n in enumerate(shape) if i not in axes)
        if empty:
            start = ufunc.identity if initial is NoValue else initial
            if start is None:
                raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
            return prim.full(final, _element(start, to), to, backend.device_of(a))
        if 0 in final:
            return prim.full(final, 0, to, backend.device_of(a))
        if not facts.associative:
            return prim.reshape(self._fold_in_order(a, axes[0] if axes else None, initial, where, to), final)
        if where is not True:
            neutral = _element(initial if ufunc.identity is None else ufunc.identity, backend.dtype_of(a))
            a = prim.where(where, a, prim.full((), neutral, backend.dtype_of(a), backend.device_of(a)))
        result = self._reduced(a, axes, final, keepdims)
        if ufunc.identity is not None and not given and to.kind in "fc" and math.prod(shape[i] for i in axes) == 1:
            result = self(_element(ufunc.identity, to), result)  # NumPy starts with the identity: hypot of one -3 is 3
        if backend.dtype_of(result) != to:
            result = prim.astype(result, to)
        if given:
            result = self(initial, result)  # in NumPy's order: of two NaN it has the first
            if backend.dtype_of(result) != to:
                result = prim.astype(result, to)
        return result

    def _reduced(self, a: Any, axes: tuple[int, ...], final: tuple[int, ...], keepdims: bool) -> Any:
        kernel = self.backend.REDUCE.get(self.ufunc)
        if kernel is not None:
            try:
                return kernel(a, axes, keepdims)
            except Unsupported:  # the kernel lacks this dtype (extrema of complex numbers), but the ufunc has it
                pass
        return self.backend.prim.reshape(self._fold(a, axes), final)

    def _accumulator(self, a: Any, dtype: Any, method: str = "reduce") -> tuple[Any, np.dtype[Any]]:
        """Return the operand, cast to the dtype that NumPy accumulates, and the result's dtype. Only ``reduce`` may have two dtypes in
        its loop, as ``ldexp`` does.
        """
        ufunc, backend = self.ufunc, self.backend
        given = backend.dtype_of(a)
        if dtype is not None and dtypes.category(np.dtype(dtype)) == "other":
            raise Unsupported(dtypes.only_on_host(np.dtype(dtype)))
        if dtype is None and ufunc in (np.add, np.multiply):
            dtype = dtypes.default_accumulator(given)
        to, operand = dtypes.reduction_dtypes(ufunc, given, None if dtype is None else np.dtype(dtype))
        if to != operand and method != "reduce":
            raise TypeError(
                f"the resolved dtypes are not compatible with {ufunc.__name__}.{method}. Resolved {(to, operand, to)}"
            )
        warn_of_cast(given, operand)
        return (a if given == operand or ufunc_facts(ufunc).logical else backend.prim.astype(a, operand)), to

    def _mask(self, a: Any, where: Any, given: bool) -> Any:
        """Return the ``where=`` of a reduction as a mask of the operand's shape. ``given``: whether there is an initial value."""
        ufunc, backend = self.ufunc, self.backend
        if ufunc.identity is None and not given:
            raise ValueError(
                f"reduction operation '{ufunc.__name__}' does not have an identity, "
                "so to use a where mask one has to specify 'initial'"
            )
        mask, shape = mask_of(where, backend, a), backend.shape_of(a)
        if len(backend.shape_of(mask)) > len(shape):
            raise ValueError("input operand has more dimensions than allowed by the axis remapping")
        if backend.shape_of(mask) == shape:
            return mask
        refused = shape_error((a, mask), backend)
        if refused is not None:
            raise refused
        return backend.prim.broadcast_to(mask, shape)

    def _fold(self, a: Any, axes: tuple[int, ...]) -> Any:
        """Reduce by an associative ufunc without a kernel: combine neighbours, so that the first of several NaNs is kept."""
        prim, backend = self.backend.prim, self.backend
        shape = backend.shape_of(a)
        rest = tuple(i for i in range(len(shape)) if i not in axes)
        length = int(np.prod([shape[i] for i in axes]))
        if ufunc_facts(self.ufunc).logical:
            a = prim.astype(a, dtypes.BOOL)
        x = prim.reshape(prim.transpose(a, axes + rest), (length, *(shape[i] for i in rest)))
        if length == 1:
            return self._apart(_row(prim, x, 0))
        while length > 1:
            even = length - length % 2
            folded = self(_rows(prim, x, 0, even, 2), _rows(prim, x, 1, even, 2))
            if length % 2:
                folded = prim.concatenate([folded, _rows(prim, x, even, length)], 0)
            x, length = folded, (length + 1) // 2
        return _row(prim, x, 0)

    def _fold_in_order(self, a: Any, axis: int | None, initial: Any, where: Any, to: np.dtype[Any]) -> Any:
        """Reduce element by element in the dtype ``to``, from the initial value if there is one, skipping elements where ``where`` is
        False.
        """
        prim, backend = self.backend.prim, self.backend
        if axis is None:
            a, axis = prim.reshape(a, (1, *backend.shape_of(a))), 0
            where = where if where is True else prim.reshape(where, (1, *backend.shape_of(where)))
        order = (axis, *(i for i in range(len(backend.shape_of(a))) if i != axis))
        x = prim.transpose(a, order)
        mask = None if where is True else prim.transpose(where, order)
        length, *rest = backend.shape_of(x)
        self._check_steps(x, length)
        if initial is NoValue or initial is None:
            result, start = prim.astype(_row(prim, x, 0), to), 1
            result = self._apart(result) if length == 1 else result
        else:
            result, start = prim.full(tuple(rest), _element(initial, to), to, backend.device_of(a)), 0
        for i in range(start, length):
            step = prim.astype(self(result, _row(prim, x, i)), to)
            result = step if mask is None else prim.where(_row(prim, mask, i), step, result)
        return result

    def _check_steps(self, a: Any, count: int) -> None:
        """Raise :class:`LeftToNumPy` if the library would call the ufunc for many steps, except under a transform, which needs that."""
        if count > _FEW_STEPS and not tracing.entered() and (self.backend.is_concrete(a) or tracing.looked()):
            raise LeftToNumPy(f"each step needs the result of the one before: {count} calls of the library")

    def _apart(self, a: Any) -> Any:
        """Copy a result that may be a view of the operand, on backends with mutable arrays: NumPy's reductions never return views."""
        return self.backend.prim.copy(a) if self.backend.mutable else a

    # -- accumulate, reduceat, outer ---------------------------------------------------------------------------

    def accumulate(self, a: Any, axis: int = 0, dtype: Any = None) -> Any:
        """Implement ``ufunc.accumulate``."""
        prim, backend = self.backend.prim, self.backend
        _check_binary(self.ufunc, "accumulate")
        shape = backend.shape_of(a)
        axis = _one_axis("accumulate", axis, len(shape))
        a, to = self._accumulator(a, dtype, "accumulate")
        if ufunc_facts(self.ufunc).logical:
            a = prim.astype(a, dtypes.BOOL)
        if 0 in shape:
            return prim.full(shape, 0, to, backend.device_of(a))
        kernel = backend.ACCUMULATE.get(self.ufunc)
        if kernel is not None:
            try:
                made = kernel(a, axis)
                if self.ufunc in _EXTREMA and to.kind == "f" and backend.recorded(a):
                    made = self._first_equal(a, made, axis)
                if self.ufunc is np.multiply and to.kind == "c":  # libraries begin with a factor of one
                    made = prim.concatenate(
                        [_along(prim, a, axis, 0, 1), _along(prim, made, axis, 1, shape[axis])], axis
                    )
                return made
            except Unsupported:  # as in `_reduced`
                pass
        self._check_steps(a, shape[axis])
        facts = ufunc_facts(self.ufunc)
        if facts.associative and not facts.heavy and self.ufunc not in _ROUNDING:
            return self._running(a, axis)
        x = prim.transpose(a, (axis, *(i for i in range(len(shape)) if i != axis)))
        running, rows = _rows(prim, x, 0, 1), []
        for i in range(shape[axis]):
            running = self(running, _rows(prim, x, i, i + 1)) if i else running
            rows.append(prim.astype(running, to))
        back = list(range(1, len(shape)))
        back.insert(axis, 0)
        return prim.transpose(prim.concatenate(rows, 0), tuple(back))

    def _running(self, a: Any, axis: int) -> Any:
        """Accumulate by an associative ufunc without a kernel and without rounding: after each step, an element combines twice as many."""
        prim, length = self.backend.prim, self.backend.shape_of(a)[axis]
        made, reach = self._apart(a) if length == 1 else a, 1
        while reach < length:
            begin, end = _along(prim, made, axis, 0, length - reach), _along(prim, made, axis, reach, length)
            made = prim.concatenate([_along(prim, made, axis, 0, reach), self(begin, end)], axis)
            reach *= 2
        return made

    def _first_equal(self, a: Any, extrema: Any, axis: int) -> Any:
        """Return running extrema as elements of ``a``. Of equal elements the first is taken: it gets the derivative, which libraries give
        to the last one, or divide.
        """
        backend, prim, xp = self.backend, self.backend.prim, self.backend.xp
        shape = backend.shape_of(a)
        n = shape[axis]
        before, after = _along(prim, extrema, axis, 0, n - 1), _along(prim, extrema, axis, 1, n)
        other = xp.logical_and(xp.not_equal(before, after), xp.equal(before, before))  # the first NaN stays
        order = np.arange(1, n).reshape([-1 if i == axis else 1 for i in range(len(shape))])
        changes = xp.multiply(other, backend.from_numpy(order, backend.device_of(a)))
        first = prim.full((*shape[:axis], 1, *shape[axis + 1 :]), 0, dtypes.INTP, backend.device_of(a))
        places = backend.ACCUMULATE[np.maximum](prim.concatenate([first, changes], axis), axis)
        return prim.take_along_axis(a, places, axis)

    def reduceat(self, a: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
        """Implement ``ufunc.reduceat``. The indices must be concrete, because they determine which slices are reduced."""
        prim, backend = self.backend.prim, self.backend
        _check_binary(self.ufunc, "reduceat")
        shape = backend.shape_of(a)
        axis = _one_axis("reduceat", axis, len(shape))
        if not isinstance(indices, np.ndarray | np.generic) and not backend.is_native(indices):
            indices = np.array(indices, np.intp)
        known = tracing.known(indices)
        if known is None:
            known = np.asarray(backend.to_numpy(indices) if backend.is_native(indices) else indices)
        where = known
        if where.dtype.kind not in "iu":
            dtypes.check_cast(where.dtype, dtypes.INTP)
            where = where.astype(np.intp)
        if where.ndim != 1:
            raise ValueError(f"object {'too deep' if where.ndim else 'of too small depth'} for desired array")
        if where.size and (where.min() < 0 or where.max() >= shape[axis]):
            bad = where[(where < 0) | (where >= shape[axis])][0]
            raise IndexError(f"index {bad} out-of-bounds in {self.ufunc.__name__}.reduceat [0, {shape[axis]})")
        a, to = self._accumulator(a, dtype, "reduceat")
        made = self._reduced_on_host(a, where, axis, to)
        if made is not None:
            return made
        self._check_steps(a, where.size)
        stops = [*where[1:].tolist(), shape[axis]]
        parts = []
        for begin, end in zip(where.tolist(), stops):
            key = [slice(0, n, 1) for n in shape]
            key[axis] = slice(begin, max(end, begin + 1), 1)
            part = prim.slice(a, tuple(key))
            if end - begin <= 1:  # one element is the result: nothing starts with the identity
                parts.append(prim.astype(part, to))
                continue
            parts.append(
                self.reduce(part, axis=axis, dtype=None if ufunc_facts(self.ufunc).logical else to, keepdims=True)
            )
        if not parts:
            return prim.full(tuple(0 if i == axis else n for i, n in enumerate(shape)), 0, to, backend.device_of(a))
        return prim.concatenate(parts, axis)

    def _reduced_on_host(self, a: Any, where: Any, axis: int, to: np.dtype[Any]) -> Any:
        """Let NumPy run ``reduceat`` at the indices ``where``, in the dtype ``to``, if there are many and the values are in host memory: a
        library would make a call for each slice. Return None otherwise.
        """
        backend = self.backend
        values = backend.awaited(a) if where.size > _FEW_SLICES else None
        if values is None or dtypes.category(values.dtype) == "other" or dtypes.is_bfloat16(values.dtype):
            return None
        if events.tap is not None:
            events.tap.host_kernel()
        with np.errstate(all="ignore"):  # the dispatch reports errors by the result
            made = self.ufunc.reduceat(values, where, axis, None if ufunc_facts(self.ufunc).logical else to)
        return backend.from_numpy(made, backend.device_of(a), copy=False)

    def outer(self, a: Any, b: Any, **kwargs: Any) -> Any:
        """Implement ``ufunc.outer``."""
        xp = self.backend.xp
        if not xp.is_array(a):
            a = xp.asarray(a, like=b if xp.is_array(b) else None)
        if not xp.is_array(b):
            b = xp.asarray(b, like=a)
        return self(*self.spread(a, b), **kwargs)

    def spread(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Return the operands of :meth:`outer` for a call of the ufunc: the first with an axis appended for each axis of the second."""
        backend = self.backend
        shape, ones = backend.shape_of(a), (1,) * len(backend.shape_of(b))
        if (ndim := len(shape) + len(ones)) > 64:
            said = f"`{self.ufunc.__name__}.outer()` result would have {ndim}."
            raise ValueError(f"maximum supported dimension for an ndarray is 64, but {said}")
        return backend.prim.reshape(a, (*shape, *ones)), b


def reduction_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return NumPy's ``axis`` of a reduction as a sorted tuple; raise AxisError, or ValueError for a repeated axis."""
    if axis is None:
        return tuple(range(ndim))
    if ndim == 0 and isinstance(axis, int) and axis in (0, -1):
        return ()
    if isinstance(axis, tuple | list):
        axes = [checked_axis(i, ndim) for i in axis]
        if len(set(axes)) != len(axes):
            raise ValueError("duplicate value in 'axis'")
        return tuple(sorted(axes))
    return (checked_axis(axis, ndim),)


def checked_axis(axis: Any, ndim: int, said: str = "an integer is required") -> int:
    """Normalize an axis as NumPy's C functions do. They refuse booleans; ``said`` is their error."""
    if isinstance(axis, bool | np.bool):
        raise TypeError(said)
    return normalize_axis_index(operator.index(axis), ndim)


def casting_error(ufunc: np.ufunc, have: np.dtype[Any], want: np.dtype[Any], casting: str = "same_kind") -> Exception:
    """Return NumPy's own error for a result that ``casting`` does not allow into an output."""
    error: Exception = np._core._exceptions._UFuncOutputCastingError(ufunc, casting, have, want, 0)  # type: ignore[attr-defined]
    return error


def _check_binary(ufunc: np.ufunc, method: str) -> None:
    if ufunc.signature is not None:
        raise RuntimeError("Reduction not defined on ufunc with signature")
    if ufunc.nin != 2:
        raise ValueError(f"{method} only supported for binary functions")
    if ufunc.nout != 1:
        raise ValueError(f"{method} only supported for functions returning a single value")


def _one_axis(method: str, axis: Any, ndim: int) -> int:
    """Normalize the ``axis`` of a method that runs along a single axis."""
    if axis is None and ndim == 1:
        axis = 0
    if axis is None:
        raise ValueError(f"{method} does not allow multiple axes")
    if not ndim and axis in (0, -1):
        raise TypeError(f"cannot {method} on a scalar")
    return checked_axis(axis, ndim)


def _cast(initial: Any, dtype: np.dtype[Any]) -> Any:
    """Convert an initial value to the dtype of the result, with NumPy's errors for values that do not fit."""
    element = np.empty((), dtype)
    element[()] = initial
    return dtypes.cast_scalar(element[()], dtype)


def _element(value: Any, dtype: np.dtype[Any]) -> Any:
    """Convert an initial value or an identity to the form that kernels take; -1 is all bits, also for unsigned dtypes."""
    if dtype.kind == "u" and type(value) is int and value == -1:
        return np.iinfo(dtype).max
    return dtypes.cast_scalar(value, dtype)


def _rows(prim: Any, x: Any, begin: int, end: int, step: int = 1) -> Any:
    return _along(prim, x, 0, begin, end, step)


def _along(prim: Any, x: Any, axis: int, begin: int, end: int, step: int = 1) -> Any:
    key = [slice(0, n, 1) for n in x.shape]
    key[axis] = slice(begin, end, step)
    return prim.slice(x, tuple(key))


def _row(prim: Any, x: Any, i: int) -> Any:
    return prim.reshape(_rows(prim, x, i, i + 1), tuple(x.shape[1:]))


def _tuple(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)
