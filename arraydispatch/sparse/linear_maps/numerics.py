"""Rules of ``matrix_from_function`` for NumPy's differences, integrals, interpolation, averages and further products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ...common.pytrees import tree_flatten
from .affine import METHODS, Affine, Run, affine, follows, made_of
from .functions import _constant, _einsum, _grouped, _line, _moving, _sum, _viewing


def _known(x: Any, like: Affine) -> Any:
    """Return a parameter that must be constant as an ndarray."""
    return like.store.run.constant(_constant(x, like))


def _first(*values: Any) -> Any:
    return next(x for x in tree_flatten(values)[0] if isinstance(x, Affine))


# -- differences and integrals -------------------------------------------------------------------------------------------


def _combined(a: Affine, axis: int, columns: np.ndarray[Any, Any], factors: np.ndarray[Any, Any]) -> Affine:
    """Combine along an axis: ``result[i] = sum over k of factors[i, k] * a[columns[i, k]]``."""
    moved = a.transpose(tuple(i for i in range(a.ndim) if i != axis) + (axis,))
    lead, (count, terms) = moved.shape[:-1], columns.shape
    source = moved[..., columns.ravel()]
    to = np.repeat(np.arange(int(np.prod(lead)) * count), terms)
    weights = np.broadcast_to(factors.ravel(), (*lead, count * terms)).ravel()
    made = _grouped(source, to, (*lead, count), weights)
    return made.transpose(tuple(range(axis)) + (a.ndim - 1,) + tuple(range(axis, a.ndim - 1)))


@follows(np.gradient)
def _gradient(f: Any, *spacings: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Apply ``np.gradient`` to three arrays of zeros and ones, one for each column colour: no row uses two columns of
    one colour.
    """
    like = _first(f, spacings)
    known = [_known(x, like) for x in spacings]
    axes = tuple(range(f.ndim)) if axis is None else normalize_axis_tuple(axis, f.ndim)
    if len(known) == 1:
        known *= len(axes)
    elif known and len(known) != len(axes):
        raise TypeError("invalid number of arguments")
    made = []
    for i, at in enumerate(axes):
        n = f.shape[at]
        colours = np.arange(n)[:, None] % 3 == np.arange(3)
        spacing: Any = known[i : i + 1]
        order: Any = edge_order
        found = np.gradient(colours.astype(float), *spacing, axis=0, edge_order=order)
        start = np.clip(np.arange(n) - 1, 0, max(n - 3, 0))[:, None]
        columns = start + (np.arange(3) - start) % 3  # of each colour that column among the three about a row
        there = columns < n
        made.append(_combined(f, at, np.where(there, columns, 0), np.where(there, found, 0.0)))
    return made[0] if len(axes) == 1 else tuple(made)


@follows(np.trapezoid)
def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    like = _first(y, x, dx)
    y = affine(y, like) if isinstance(y, Affine) else _known(y, like)
    axis = normalize_axis_index(axis, y.ndim)
    step: Any = dx
    if x is not None:
        step = np.diff(x if isinstance(x, Affine) else _known(x, like))
        if step.ndim == 1:
            step = step.reshape([-1 if i == axis else 1 for i in range(y.ndim)])
    lead = (slice(None),) * axis
    return np.sum(step * (y[(*lead, slice(1, None))] + y[(*lead, slice(None, -1))]) / 2.0, axis)


@follows(np.ediff1d)
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    parts = [to_begin, np.diff(_line(ary)), to_end]
    return np.concatenate([_line(x) for x in parts if x is not None])


@follows(np.cumulative_sum)
def _cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    if axis is None:
        if x.ndim > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    made = np.cumsum(x, axis, dtype, out)
    if not include_initial:
        return made
    ahead = [(int(i == axis % x.ndim), 0) for i in range(x.ndim)]
    return np.pad(made, ahead)


# -- averages, interpolation, polynomials --------------------------------------------------------------------------------


@follows(np.average)
def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    like = _first(a, weights)
    keep = keepdims is not np._NoValue and bool(keepdims)
    if weights is None:
        made = np.mean(a, axis, keepdims=keep)
        total: Any = np.full(made.shape, a.size / max(made.size, 1))
    else:
        w = _known(weights, like)
        if w.shape != a.shape:
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            axes = normalize_axis_tuple(axis, a.ndim)
            w = w.transpose(np.argsort(axes)).reshape([n if i in axes else 1 for i, n in enumerate(a.shape)])
        total = np.sum(np.broadcast_to(w, a.shape), axis, keepdims=keep)
        made = np.sum(a * w, axis, keepdims=keep) / total
    return (made, total) if returned else made


@follows(np.interp)
def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    like = _first(x, xp, fp, left, right)
    if not isinstance(fp, Affine) or period is not None:
        raise like.store.run.refuse("np.interp of other than the values that it interpolates between")
    at, nodes = _known(x, like), _known(xp, like).astype(float)
    if nodes.shape != fp.shape:
        raise ValueError("fp and xp are not of the same length.")
    flat = at.ravel().astype(float)
    low = np.clip(np.searchsorted(nodes, flat, "right") - 1, 0, max(len(nodes) - 2, 0))
    high = np.minimum(low + 1, len(nodes) - 1)
    gap = np.where(high > low, nodes[high] - nodes[low], 1.0)
    share = np.clip((flat - nodes[low]) / gap, 0.0, 1.0)
    made: Any = _combined(fp, 0, np.stack([low, high], 1), np.stack([1 - share, share], 1))
    for outside, value in ((flat < nodes[0], left), (flat > nodes[-1], right)):
        if value is not None:
            made = np.where(outside, value, made)
    return made.reshape(at.shape)


@follows(np.polyval)
def _polyval(p: Any, x: Any) -> Any:
    """Evaluate Horner's rule, which refuses nonlinear polynomials."""
    coefficients = list(p) if isinstance(p, Affine) else list(np.asarray(_known(p, _first(p, x))))
    if len(coefficients) < 2:
        zeros = np.multiply(0, x if isinstance(x, Affine) else _known(x, p))
        return sum(coefficients) + zeros
    made = coefficients[0]
    for c in coefficients[1:]:
        made = made * x + c
    return made


# -- products ------------------------------------------------------------------------------------------------------------


@follows(np.kron)
def _kron(a: Any, b: Any) -> Any:
    like = _first(a, b)
    a, b = (x if isinstance(x, Affine) else _known(x, like) for x in (a, b))
    ndim = max(a.ndim, b.ndim)
    left = a.reshape((1,) * (ndim - a.ndim) + a.shape)
    right = b.reshape((1,) * (ndim - b.ndim) + b.shape)
    shapes = list(zip(left.shape, right.shape))
    spread = left.reshape([n for k, _ in shapes for n in (k, 1)]) * right.reshape(
        [n for _, k in shapes for n in (1, k)]
    )
    return spread.reshape([k * n for k, n in shapes])


@follows(np.cross, np.linalg.cross)
def _cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    like = _first(a, b)
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    a, b = (x if isinstance(x, Affine) else _known(x, like) for x in (a, b))
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError("incompatible dimensions for cross product: both arrays must have 3 elements")
    one, two = [1, 2, 0], [2, 0, 1]
    return np.moveaxis(a[..., one] * b[..., two] - a[..., two] * b[..., one], -1, axisc)


def _conjugated(run: Run, x: Any) -> Any:
    """Conjugate the first operand of a scalar product."""
    if isinstance(x, Affine):
        return _conjugate(run, x)
    return np.conj(run.constant(x))


@follows(np.conjugate)
def _conjugate(run: Run, x: Affine) -> Affine:
    return _part(x, np.conjugate, "the conjugate") if x.dtype.kind == "c" else x._taken(x.places)


for _name in ("conj", "conjugate"):
    METHODS[_name] = lambda a: _conjugate(a.store.run, a)


def _part(a: Affine, take: Callable[..., Any], what: str) -> Affine:
    """Take a part of complex numbers, or their conjugates; these are linear in real arguments."""
    run = a.store.run
    if not run.real:
        raise run.refuse(f"{what} of complex arguments")
    rows = sp.csr_array(a.rows())
    return made_of(
        sp.csr_array((take(rows.data), rows.indices, rows.indptr), shape=rows.shape), take(a.bias()), a.shape, run
    )


@follows(np.vecdot)
def _vecdot(run: Run, x: Any, y: Any) -> Any:
    return _einsum("...i,...i->...", _conjugated(run, x), y)


@follows(np.matvec)
def _matvec(run: Run, x: Any, y: Any) -> Any:
    return _einsum("...ij,...j->...i", x, y)


@follows(np.vecmat)
def _vecmat(run: Run, x: Any, y: Any) -> Any:
    return _einsum("...i,...ij->...j", _conjugated(run, x), y)


@follows(np.linalg.vecdot)
def _linalg_vecdot(a: Any, b: Any, *, axis: int = -1) -> Any:
    like = _first(a, b)
    one: Any = a if isinstance(a, Affine) else _known(a, like)
    two: Any = b if isinstance(b, Affine) else _known(b, like)
    return np.vecdot(np.moveaxis(one, axis, -1), np.moveaxis(two, axis, -1))


@follows(np.linalg.trace)
def _linalg_trace(x: Affine, *, offset: int = 0, dtype: Any = None) -> Any:
    return _sum(_viewing(np.linalg.diagonal)(x, offset=offset), -1, dtype)


@follows(np.linalg.multi_dot)
def _multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    made = arrays[0]
    for x in arrays[1:]:
        made = np.dot(made, x)
    return made


# -- selecting, counting, writing --------------------------------------------------------------------------------------


@follows(np.bincount)
def _bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    like = _first(x, weights)
    at = _known(x, like)
    return _grouped(weights, at, (len(np.bincount(at, minlength=minlength)),))


@follows(np.full_like)
def _full_like(a: Any, fill_value: Any, dtype: Any = None, *_: Any, **rest: Any) -> Any:
    like = _first(a, fill_value)
    shape = rest.get("shape")
    if not isinstance(a, Affine) and dtype is None:
        dtype = np.asarray(a).dtype
    made = np.zeros_like(like, dtype) if isinstance(a, Affine) and shape is None else None
    if made is None:
        return np.broadcast_to(affine(fill_value, like), np.shape(a) if shape is None else shape).copy()
    made[...] = fill_value
    return made


@follows(np.ones_like)
def _ones_like(a: Affine, dtype: Any = None, *rest: Any, **more: Any) -> Any:
    return _full_like(a, 1, dtype, *rest, **more)


@follows(np.real)
def _real(val: Affine) -> Affine:
    if val.dtype.kind != "c":
        return Affine(val.store, val.places)
    made = _part(val, np.real, "the real part")
    made.store.fixed = "the real part of a complex array"
    return made


@follows(np.imag)
def _imag(val: Affine) -> Affine:
    if val.dtype.kind != "c":
        zeros: Any = np.zeros_like(val)
        return zeros
    made = _part(val, np.imag, "the imaginary part")
    made.store.fixed = "the imaginary part of a complex array"
    return made


follows(np.lib.stride_tricks.sliding_window_view)(_viewing(np.lib.stride_tricks.sliding_window_view))
follows(np.choose)(_moving(np.choose, (1,)))
for _alias, _func in ((np.linalg.matmul, np.matmul), (np.linalg.outer, np.outer), (np.linalg.tensordot, np.tensordot)):
    follows(_alias)(_func)
