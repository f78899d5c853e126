"""Rules of ``matrix_from_function`` for interpolation, products, real and imaginary parts, counts, equations and loops over an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ...common.pytrees import tree_flatten
from .affine import METHODS, Affine, Run, affine, follows, made_of
from .functions import _constant, _einsum, _grouped, _moving, _viewing


def _known(x: Any, like: Affine) -> Any:
    """Convert a parameter to an ndarray; raise if it depends on the argument of the map. ``like``: affine array of the same run."""
    return like.store.run.constant(_constant(x, like))


def _first(*values: Any) -> Any:
    return next(x for x in tree_flatten(values)[0] if isinstance(x, Affine))


# -- interpolation -------------------------------------------------------------------------------------------------------


def _combined(a: Affine, axis: int, columns: np.ndarray[Any, Any], factors: np.ndarray[Any, Any]) -> Affine:
    """Combine along an axis: ``result[i] = sum over k of factors[i, k] * a[columns[i, k]]``."""
    moved = a.transpose(tuple(i for i in range(a.ndim) if i != axis) + (axis,))
    lead, (count, terms) = moved.shape[:-1], columns.shape
    source = moved[..., columns.ravel()]
    to = np.repeat(np.arange(int(np.prod(lead)) * count), terms)
    weights = np.broadcast_to(factors.ravel(), (*lead, count * terms)).ravel()
    made = _grouped(source, to, (*lead, count), weights)
    return made.transpose(tuple(range(axis)) + (a.ndim - 1,) + tuple(range(axis, a.ndim - 1)))


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


# -- products ------------------------------------------------------------------------------------------------------------


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
    """Return real parts, imaginary parts or conjugates (``take``, in an error ``what``); refuse complex arguments, in which these are not
    linear.
    """
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


# -- selecting, counting, writing --------------------------------------------------------------------------------------


@follows(np.bincount)
def _bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    like = _first(x, weights)
    at = _known(x, like)
    return _grouped(weights, at, (len(np.bincount(at, minlength=minlength)),))


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


# -- systems of equations ----------------------------------------------------------------------------------------------------


@follows(np.linalg.solve)
def _solve(a: Any, b: Any) -> Any:
    like = _first(a, b)
    if isinstance(a, Affine):
        raise like.store.run.refuse("np.linalg.solve of a matrix that depends on them")
    return np.matmul(np.linalg.inv(_known(a, like)), b)


# -- loops over an axis --------------------------------------------------------------------------------------------------------


@follows(np.apply_along_axis)
def _apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    axis = normalize_axis_index(axis, arr.ndim)
    lines = np.moveaxis(arr, axis, -1)
    lead = lines.shape[:-1]
    made = [func1d(lines[i], *args, **kwargs) for i in np.ndindex(lead)]
    if not made:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    whole = np.stack([affine(x, arr) for x in made])
    shape = whole.shape[1:]
    whole = whole.reshape(lead + shape)
    return np.moveaxis(whole, tuple(range(len(lead), whole.ndim)), tuple(range(axis, axis + len(shape))))


@follows(np.apply_over_axes)
def _apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    made = a
    for axis in normalize_axis_tuple(axes, a.ndim):
        found = func(made, axis)
        made = found if found.ndim == made.ndim else np.expand_dims(found, axis)
    return made


def _fill(a: Affine, value: Any) -> None:
    a[...] = value


METHODS["fill"] = _fill


follows(np.lib.stride_tricks.sliding_window_view)(_viewing(np.lib.stride_tricks.sliding_window_view))
follows(np.choose)(_moving(np.choose, (1,)))
for _alias, _func in ((np.linalg.matmul, np.matmul), (np.linalg.outer, np.outer), (np.linalg.tensordot, np.tensordot)):
    follows(_alias)(_func)
