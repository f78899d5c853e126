"""Rules of ``matrix_from_function`` for NumPy functions that move elements, for sums, and for products with constants."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.lib.array_utils import normalize_axis_tuple

from ..._core.handles import Handle
from ...common.pytrees import mapped, tree_flatten
from ...functions.contractions import einsum_labels
from .affine import Affine, Run, affine, follows, holds_affine, made_of

# -- functions that move elements -----------------------------------------------------------------------------------


def _moving(func: Any, data: Sequence[int] = (0,), many: bool = False) -> Callable[..., Any]:
    """Make the rule for a function that moves elements, by running it on their positions. ``data``: positions of the
    arguments with elements (``many``: all are).
    """

    def run(*args: Any, **kwargs: Any) -> Any:
        found = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, Affine)]
        pool = _Pool(found[0])
        chosen = range(len(args)) if many else data
        given = [pool.places(x) if at in chosen else _constant(x, found[0]) for at, x in enumerate(args)]
        named = {k: pool.places(x) if k in _DATA else _constant(x, found[0]) for k, x in kwargs.items()}
        return pool.taken(func(*given, **named))

    return run


_DATA = frozenset("a m x v ary arr array arrays tup values filt vals val src choices choicelist default".split())
"""NumPy's names for arguments with elements."""


def _constant(x: Any, like: Affine) -> Any:
    if isinstance(x, Affine):
        raise like.store.run.refuse("a parameter that depends on them")
    return like.store.run.constant(x) if isinstance(x, Handle) else x


class _Pool:
    """Positions, from 1 on, of the elements of several arrays, on which NumPy's function runs in place of the arrays.

    A 0 in the function's result is a zero that the function itself put there. ``like``: one of the arrays, for constants among them.
    """

    def __init__(self, like: Affine) -> None:
        self.like = like
        self.parts: list[Affine] = []
        self.start = 1

    def places(self, x: Any) -> Any:
        """Replace elements within an argument by their positions."""
        if isinstance(x, list | tuple):
            if not holds_affine(x):
                return self._numbered(affine(np.asarray(x), self.like))
            return type(x)(self.places(y) for y in x)
        return self._numbered(affine(x, self.like))

    def _numbered(self, a: Affine) -> Any:
        made = np.arange(self.start, self.start + a.size).reshape(a.shape)
        self.parts.append(a)
        self.start += a.size
        return made

    def taken(self, made: Any) -> Any:
        """Convert ``made``, NumPy's result for positions, to the elements at these positions."""
        if isinstance(made, list | tuple):
            return mapped(self.taken, made)
        flat = np.ravel(made)
        if len(self.parts) == 1 and (not flat.size or flat.min() > 0):
            return self.parts[0]._taken(self.parts[0].places.ravel()[flat - 1].reshape(np.shape(made)))
        run = self.like.store.run
        rows = sp.vstack([sp.csr_array((1, run.columns)), *(a.rows() for a in self.parts)], format="csr")
        bias = np.concatenate([[0], *(a.bias() for a in self.parts)])
        return made_of(rows[flat], bias[flat], np.shape(made), run)


def _writing(func: Any, at: int) -> Callable[..., None]:
    """Make the rule for a NumPy function that writes its argument ``at`` into its first argument, by running it on positions."""

    def run(target: Any, *args: Any, **kwargs: Any) -> None:
        if not isinstance(target, Affine):
            raise next(x for x in tree_flatten((args, kwargs))[0] if isinstance(x, Affine)).not_into_numpys()
        pool = _Pool(target)
        written = pool.places(target)
        given = [pool.places(x) if i == at else _constant(x, target) for i, x in enumerate(args, 1)]
        named = {k: pool.places(x) if k in _DATA else _constant(x, target) for k, x in kwargs.items()}
        func(written, *given, **named)
        target[...] = pool.taken(written)

    return run


def _viewing(func: Any) -> Callable[..., Any]:
    """Make the rule for a NumPy function of one array that may return a view."""

    def run(a: Affine, *args: Any, **kwargs: Any) -> Any:
        made = func(a.places, *args, **kwargs)
        return mapped(lambda x: a._of(np.asarray(x)), made)

    return run


# -- sums ----------------------------------------------------------------------------------------------------------------


def _grouped(a: Affine, to: np.ndarray[Any, Any], shape: tuple[int, ...], factors: Any = None) -> Affine:
    """Sum elements, times their ``factors``, in groups. ``to``: for each element, the index of its result."""
    flat, run = to.ravel(), a.store.run
    ones = np.ones(flat.size) if factors is None else factors
    sums = sp.csr_array((ones, (flat, np.arange(flat.size))), shape=(math.prod(shape), flat.size))
    return made_of(sums @ a.rows(), sums @ a.bias(), shape, run)


@follows(np.sum)
def _sum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **rest: Any) -> Affine:
    rest = {key: x for key, x in rest.items() if x is not np._NoValue}
    where, initial = rest.pop("where", True), rest.pop("initial", 0)
    if out is not None or rest:
        raise a.store.run.refuse(f"np.sum with {', '.join(rest) or 'out'}=")
    a = a if dtype is None else a.astype(dtype)
    if where is not True:
        a = _where(where, a, 0)
    if initial is not None and (isinstance(initial, Affine) or initial != 0):
        return _sum(a, axis, keepdims=keepdims) + initial
    axes = tuple(range(a.ndim)) if axis is None else normalize_axis_tuple(axis, a.ndim)
    kept = tuple(1 if i in axes else n for i, n in enumerate(a.shape))
    to = np.broadcast_to(np.arange(math.prod(kept)).reshape(kept), a.shape)
    keep = keepdims is not np._NoValue and keepdims
    return _grouped(a, to, kept if keep else tuple(n for i, n in enumerate(a.shape) if i not in axes))


@follows(np.mean)
def _mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **rest: Any) -> Any:
    where = rest.get("where", np._NoValue)
    total = _sum(a, axis, dtype, out, keepdims, **rest)
    if where is np._NoValue or where is True:
        return total / (a.size / max(total.size, 1))
    counted = np.broadcast_to(_constant(where, a), a.shape)
    return total / np.sum(counted, axis, keepdims=keepdims is not np._NoValue and bool(keepdims))


def _along(a: Any, axis: int, matrix: np.ndarray[Any, Any]) -> Any:
    """Multiply each line along an axis by a matrix."""
    return np.moveaxis(np.tensordot(matrix, a, axes=([1], [axis])), 0, axis)


@follows(np.cumsum)
def _cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    if axis is None:
        a, axis = a.reshape(-1), 0
    return _along(a, axis % a.ndim, np.tril(np.ones((a.shape[axis],) * 2)))


@follows(np.einsum)
def _einsum(subscripts: str, *operands: Any, **rest: Any) -> Affine:
    """Evaluate with one affine operand and constants: the product of the constants gives the coefficients."""
    found = [i for i, x in enumerate(operands) if isinstance(x, Affine)]
    a = operands[found[0]]
    run = a.store.run
    if len(found) > 1:
        raise run.refuse("a product of two values that depend on them")
    if rest.get("out") is not None:
        raise run.refuse("np.einsum with out=")
    constants = [run.constant(x) for x in operands if not isinstance(x, Affine)]
    labels, output, sizes = einsum_labels(subscripts, tuple(map(np.shape, operands)), False)
    terms, left = list(map("".join, labels)), "".join(output)
    mine = terms[found[0]]
    others = [t for i, t in enumerate(terms) if i != found[0]]
    every = "".join(dict.fromkeys([*left, *"".join(terms)]))
    stretched = [
        np.broadcast_to(c, tuple(sizes[label] for label in term)) if len(set(term)) == len(term) else c
        for c, term in zip(constants, others)
    ]
    shared = "".join(label for label in every if any(label in t for t in others))
    coefficients = np.einsum(",".join(others) + "->" + shared, *stretched) if others else np.ones(())
    where = np.nonzero(coefficients) if coefficients.ndim else ()
    values = coefficients[where] if coefficients.ndim else np.atleast_1d(coefficients)
    at = dict(zip(shared, where))
    free = [label for label in every if label not in shared]
    grids = np.meshgrid(np.arange(len(values)), *(np.arange(sizes[label]) for label in free), indexing="ij")
    at = {label: index[grids[0].ravel()] for label, index in at.items()}
    at.update((label, g.ravel()) for label, g in zip(free, grids[1:]))
    values = values[grids[0].ravel()]
    shape = tuple(sizes[label] for label in left)
    key = tuple(at[label] if n > 1 else np.zeros_like(at[label]) for label, n in zip(mine, a.shape))
    source = a._taken(a.places[key]) if mine else a._taken(np.broadcast_to(a.places, (len(values),)))
    to = np.ravel_multi_index(tuple(at[label] for label in left), shape) if left else np.zeros(len(values), int)
    return _grouped(source, to, shape, values)


@follows(np.zeros_like, np.empty_like)
def _zeros_like(a: Affine, dtype: Any = None, *_: Any, **__: Any) -> Affine:
    kind = a.dtype if dtype is None else np.dtype(dtype)
    return made_of(
        sp.csr_array((a.size, a.store.run.columns), dtype=kind), np.zeros(a.size, kind), a.shape, a.store.run
    )


@follows(np.where)
def _where(condition: Any, x: Any, y: Any) -> Any:
    like = next(z for z in (x, y, condition) if isinstance(z, Affine))
    if isinstance(condition, Affine):
        raise like.store.run.refuse("a condition")
    a, b = affine(x, like), affine(y, like)
    return _moving(np.where, (1, 2))(condition, a, b)


@follows(np.matmul)
def _matmul(run: Run, x: Any, y: Any) -> Affine:
    a, b = (np.ndim(z) if isinstance(z, Affine) else np.ndim(run.constant(z)) for z in (x, y))
    if not a or not b:
        raise ValueError("matmul: an operand has no dimension")
    return _einsum(f"{'...i' if a > 1 else ''}k,{'...k' if b > 1 else 'k'}{'j' if b > 1 else ''}->{'...' if max(a, b) > 1 else ''}"
                   f"{'i' if a > 1 else ''}{'j' if b > 1 else ''}", x, y)  # fmt: skip


for _func in (
    np.reshape, np.ravel, np.transpose, np.moveaxis, np.rollaxis, np.swapaxes, np.squeeze, np.expand_dims, np.broadcast_to, np.flip,
    np.fliplr, np.flipud, np.rot90, np.diagonal, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.split, np.array_split, np.hsplit,
    np.vsplit, np.dsplit, np.unstack, np.permute_dims, np.matrix_transpose, np.linalg.matrix_transpose, np.linalg.diagonal,
):  # fmt: skip
    follows(_func)(_viewing(_func))
for _mover in (
    np.roll, np.take, np.repeat, np.tile, np.diag, np.tril, np.triu, np.delete, np.resize, np.copy, np.concatenate, np.stack, np.hstack,
    np.vstack, np.dstack, np.column_stack, np.block, np.diagflat, np.take_along_axis,
):  # fmt: skip
    follows(_mover)(_moving(_mover))
for _writer, _at in (
    (np.copyto, 1),
    (np.fill_diagonal, 1),
    (np.put, 2),
    (np.putmask, 2),
    (np.place, 2),
    (np.put_along_axis, 2),
):
    follows(_writer)(_writing(_writer, _at))
follows(np.append)(_moving(np.append, (0, 1)))
follows(np.insert)(_moving(np.insert, (0, 2)))
follows(np.compress)(_moving(np.compress, (1,)))
follows(np.extract)(_moving(np.extract, (1,)))
follows(np.broadcast_arrays)(_moving(np.broadcast_arrays, many=True))
follows(np.meshgrid)(_moving(np.meshgrid, many=True))
follows(np.select)(_moving(np.select, (1, 2)))


@follows(np.shape)
def _shape(a: Affine) -> tuple[int, ...]:
    return a.shape


@follows(np.ndim)
def _ndim(a: Affine) -> int:
    return a.ndim


@follows(np.size)
def _size(a: Affine, axis: Any = None) -> int:
    return int(np.size(a.places, axis))
