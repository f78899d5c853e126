"""``np.einsum``: subscripts are compiled once, for each set of shapes, into transposes, reshapes and matrix products."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..common import events
from ..common.user_warnings import warn_of_cast
from ..runtime import dtypes
from . import layouts
from .ghost_views import answered
from .operands import arrays
from .registry import XP, implements

Shape = tuple[int, ...]


# -- shared by the products ----------------------------------------------------------------------------------------------


def common_operands(xp: XP, a: Any, b: Any) -> tuple[Any, Any]:
    """Return both operands as arrays of their common dtype. In products Python scalars are not weak (``np.dot(float32,
    2.0)`` is float64).
    """
    a, b = arrays(xp, a, b)
    left, right = xp.dtype_of(a), xp.dtype_of(b)
    if left != right:
        to = dtypes.promote(left, right)
        a, b = xp.prim.astype(a, to), xp.prim.astype(b, to)
    return a, b


def conjugate(xp: XP, a: Any) -> Any:
    """Return the complex conjugate; the array itself if it is real."""
    return xp.conjugate(a) if xp.dtype_of(a).kind == "c" else a


def sum_in_dtype(xp: XP, a: Any, axes: int | Shape) -> Any:
    """Sum in the array's own dtype, as matrix products do: small integers wrap, booleans are or-ed."""
    dtype = xp.dtype_of(a)
    if dtype == dtypes.BOOL:
        return xp.logical_or.reduce(a, axis=axes)
    return xp.add.reduce(a, axis=axes, dtype=dtype)


# -- the call ------------------------------------------------------------------------------------------------------------

Labels = tuple[str, ...]
Terms = Any  # subscripts as NumPy takes them: a string, or lists of numbers, one for each operand and perhaps one for the result
Ops = tuple[tuple[str, Any], ...]  # (primitive or "sum", its argument)


class _Step(NamedTuple):
    """Contraction step: it takes operands from the list of arrays, prepares and combines them, and appends the result."""

    positions: Shape  # indices at which operands are popped from the list, one after the other
    prepare: tuple[Ops, ...]
    how: str  # "matmul", "multiply", or "" for a single operand
    finish: Ops


def _permutes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether ``np.einsum`` of a single operand sums nothing: then NumPy's result is a view."""
    if kwargs.get("out") is not None:  # NumPy then ignores dtype= and order=
        return False
    if args and isinstance(args[0], str):
        left, arrow, right = args[0].replace(" ", "").partition("->")
        return len(args) == 2 and "," not in left and set(left) == set(right if arrow else _once(left))
    if not all(isinstance(x, list | tuple) for x in args[1:]):  # a ghost has no values for axes given as arrays
        return False
    return len(args) in (2, 3) and set(args[1]) == set(args[2] if len(args) == 3 else _once(args[1]))


def _once(labels: Any) -> list[Any]:
    return [x for x in labels if x in {".", Ellipsis} or list(labels).count(x) == 1]


@implements(
    np.einsum,
    mode="view",
    many=True,
    view_if=_permutes,
    error="sum",
    sequence=True,
    layout=layouts.summed,
    returns="scalar",
)
def einsum(xp: XP, *operands: Any, optimize: Any = False, **kwargs: Any) -> Any:
    """`numpy.einsum`."""
    if unknown := kwargs.keys() - {"dtype", "order", "casting"}:
        raise TypeError(f"einsum() got an unexpected keyword argument {min(unknown)!r}")
    if not operands:
        raise ValueError("must specify the einstein sum subscripts string and at least one operand")
    subscripts: Terms = operands[0]
    given = list(operands[1:])
    if not isinstance(subscripts, str):
        if len(operands) < 2:
            raise ValueError("must provide at least an operand and a subscripts list to einsum")
        subscripts = _hashable((*operands[1::2], *operands[len(operands) // 2 * 2 :]))
        given = list(operands[: len(operands) // 2 * 2 : 2])
    like = next((x for x in given if xp.is_array(x)), None)
    arrays = [x if xp.is_array(x) else xp.asarray(x, like=like) for x in given]
    shapes = tuple(xp.shape_of(x) for x in arrays)
    how = _hashable(optimize)
    plan = _einsum_plan(subscripts, shapes, how)
    # For 16-bit floats NumPy rounds each partial sum or only the last one, depending on memory order, which a recorded block may change.
    is_half = any(xp.dtype_of(x) == np.float16 for x in arrays)
    if kwargs.get("dtype") is None and not is_half and _is_short(subscripts, shapes, how):
        made = _by_numpy(xp, arrays, lambda lent: np.einsum(*_call(subscripts, lent), optimize=optimize, **kwargs))
        if made is not None:
            return made
    if len(arrays) > 1 or any(op == "sum" for _, prepare, _, finish in plan for op, _ in (*prepare[0], *finish)):
        arrays = _einsum_cast(xp, arrays, kwargs.get("dtype"), kwargs.get("casting", "safe"))
    for positions, prepare, how, finish in plan:
        taken = [_run(xp, arrays.pop(i), ops) for i, ops in zip(positions, prepare)]
        if how == "matmul":
            x = xp.prim.matmul(*taken)
        else:
            x = xp.multiply(*taken) if how else taken[0]
        arrays.append(_run(xp, x, finish))
    result = arrays[0]
    # NumPy returns a view here. On backends whose arrays cannot alias, two arrays must not share one value.
    return xp.prim.copy(result) if result is like and not xp.backend.mutable else result


def _by_numpy(xp: XP, arrays: list[Any], run: Callable[[list[Any]], Any]) -> Any:
    """Return the result of ``run`` on the arrays as ndarrays if all are in host memory; None if the library should compute."""
    backend = xp.backend
    lent = [backend.lent(x) for x in arrays]
    if any(x is None or dtypes.category(x.dtype) == "other" or dtypes.is_bfloat16(x.dtype) for x in lent):
        return None
    if events.tap is not None:
        events.tap.host_kernel()
    with np.errstate(all="ignore"):  # the libraries report no floating-point errors of products either
        return backend.from_numpy(np.asarray(run(lent)), backend.device_of(arrays[0]), copy=False)


_FEW_PRODUCTS = 1 << 16
_SHORT = 16


@lru_cache(maxsize=1024)
def _is_short(subscripts: Terms, shapes: tuple[Shape, ...], optimize: Any) -> bool:
    """Whether there are at most 65,536 products, or 16 for each element of the largest array. (One operand: 65,536, and a sum.)

    Short sums are often meant to cancel, as in the cross product of parallel vectors. NumPy rounds each product and adds the products
    in memory order, so they cancel. Matrix products of libraries round a product and a sum only once, so the result is 1e-13 instead
    of 0. For short sums NumPy's loop is as fast.
    """
    _, output, sizes = einsum_labels(subscripts, shapes, optimize)
    products = math.prod(sizes.values())
    if len(shapes) == 1:
        return len(output) < len(sizes) and products <= _FEW_PRODUCTS
    largest = max(*map(math.prod, shapes), math.prod(sizes[s] for s in output))
    return products <= max(_FEW_PRODUCTS, _SHORT * largest)


def _run(xp: XP, x: Any, ops: Ops) -> Any:
    for op, argument in ops:
        x = sum_in_dtype(xp, x, argument) if op == "sum" else getattr(xp.prim, op)(x, argument)
    return x


def _einsum_cast(xp: XP, arrays: list[Any], dtype: Any, casting: Any) -> list[Any]:
    given = [xp.dtype_of(x) for x in arrays]
    to = dtypes.promote(*given) if dtype is None else np.dtype(dtype)
    if dtype is not None:
        for i, one in enumerate(given):
            if not np.can_cast(one, to, casting):
                raise TypeError(
                    f"Iterator operand {i} dtype could not be cast from {one!r} to {to!r} "
                    f"according to the rule '{casting}'"
                )
        any(warn_of_cast(one, to) for one in given)
    return [x if one == to else xp.prim.astype(x, to) for x, one in zip(arrays, given)]


def _hashable(optimize: Any) -> Any:
    if isinstance(optimize, list | tuple):
        return tuple(_hashable(x) for x in optimize)
    return optimize


def _call(subscripts: Terms, arrays: Sequence[Any]) -> list[Any]:
    """Return arguments for ``np.einsum`` from parsed subscripts."""
    if isinstance(subscripts, str):
        return [subscripts, *arrays]
    return [*(x for pair in zip(arrays, map(list, subscripts)) for x in pair), *map(list, subscripts[len(arrays) :])]


def einsum_labels(
    subscripts: Terms, shapes: tuple[Shape, ...], optimize: Any
) -> tuple[list[Labels], Labels, dict[str, int]]:
    """Return the labels of each operand, those of the result, and the size of each label; axes of an ellipsis get letters."""
    few = [_ghost(tuple(min(n, 2) for n in shape)) for shape in shapes]
    how = _path_asked(optimize)
    np.einsum(*_call(subscripts, few), optimize=how)
    left, right, _ = _by_numpys_parser(_call(subscripts, few))
    inputs: list[Labels] = [tuple(term) for term in left.split(",")]
    sizes: dict[str, int] = {}
    for labels, shape in zip(inputs, shapes):
        here: dict[str, int] = {}
        for s, n in zip(labels, shape):
            if here.setdefault(s, n) != n or (sizes.setdefault(s, n) != n and 1 not in (n, sizes[s])):
                np.einsum(*_call(subscripts, [_ghost(each) for each in shapes]), optimize=how)
            sizes[s] = n if sizes[s] == 1 else sizes[s]
    return inputs, tuple(right), sizes


_by_numpys_parser: Callable[..., Any] = np._core.einsumfunc._parse_einsum_input  # type: ignore[attr-defined]


def _path_asked(optimize: Any) -> Any:
    """Return ``optimize=`` as NumPy takes it: a path, which callers keep as a tuple, becomes a list."""
    return list(optimize) if isinstance(optimize, tuple) and optimize[:1] == ("einsum_path",) else optimize


def _ghost(shape: Shape) -> np.ndarray[Any, Any]:
    return np.broadcast_to(np.empty(()), shape)


@lru_cache(maxsize=1024)
def _einsum_plan(subscripts: Terms, shapes: tuple[Shape, ...], optimize: Any) -> tuple[_Step, ...]:
    inputs, output, sizes = einsum_labels(subscripts, shapes, optimize)
    terms: list[tuple[Labels, Shape]] = list(zip(inputs, shapes))
    steps: list[_Step] = []
    for chosen in _einsum_path(inputs, output, shapes, optimize):
        positions = sorted(chosen, reverse=True)
        while True:
            now = tuple(positions[:2])
            taken = [terms.pop(i) for i in now]
            last = not terms
            needed = set(output).union(*(labels for labels, _ in terms))
            step, labels, shape = _einsum_step(now, taken, needed, output if last else None, sizes)
            steps.append(step)
            terms.append((labels, shape))
            positions = [len(terms) - 1, *positions[2:]]
            if len(positions) == 1:
                break
    return tuple(steps)


def _einsum_path(inputs: list[Labels], output: Labels, shapes: tuple[Shape, ...], optimize: Any) -> list[Shape]:
    if len(inputs) <= 2 and not isinstance(optimize, tuple):
        return [tuple(range(len(inputs)))]
    text = ",".join(map("".join, inputs))
    how = "greedy" if optimize is False or optimize is True or optimize is None else optimize
    path = np.einsum_path(text + "->" + "".join(output), *map(_ghost, shapes), optimize=_path_asked(how))[0]
    return [tuple(positions) for positions in path[1:]]


def _einsum_step(
    positions: Shape, terms: list[tuple[Labels, Shape]], needed: set[str], final: Labels | None,
    sizes: dict[str, int],
) -> tuple[_Step, Labels, Shape]:  # fmt: skip
    ready = []
    for i, (labels, shape) in enumerate(terms):
        # An axis of length 1 that broadcasts is dropped.
        others = {s for j, x in enumerate(terms) if j != i for s, n in zip(*x) if n == sizes[s]}
        ready.append(_einsum_prepare(labels, shape, needed | others, sizes))
    if len(ready) == 1:
        ops, labels, shape = ready[0]
        order = labels if final is None else tuple(s for s in final if s in labels)
        ops += _permuted(labels, order)
        return _Step(positions, (ops,), "", ()), order, tuple(shape[labels.index(s)] for s in order)
    (ops_a, a, shape_a), (ops_b, b, shape_b) = ready
    size = dict(zip(b, shape_b)) | dict(zip(a, shape_a))
    batch = tuple(s for s in (final or a) if s in a and s in b and s in needed)
    summed = tuple(s for s in a if s in b and s not in needed)
    only_a = tuple(s for s in (final or a) if s in a and s not in b)
    only_b = tuple(s for s in (final or b) if s in b and s not in a)
    labels = batch + only_a + only_b
    order = labels if final is None else final
    result = tuple(size[s] for s in order)
    if not summed:
        there = tuple(_permuted(x, tuple(s for s in order if s in x)) for x in (a, b))
        spread = tuple((("reshape", tuple(size[s] if s in x else 1 for s in order)),) for x in (a, b))
        return (
            _Step(positions, (ops_a + there[0] + spread[0], ops_b + there[1] + spread[1]), "multiply", ()),
            order,
            result,
        )
    n_batch = [math.prod(size[s] for s in batch)] if batch else []
    rows, k, columns = (math.prod(size[s] for s in group) for group in (only_a, summed, only_b))
    ops_a += _permuted(a, batch + only_a + summed)
    ops_b += _permuted(b, batch + summed + only_b)
    ops_a += _reshaped(tuple(size[s] for s in batch + only_a + summed), (*n_batch, rows, k))
    ops_b += _reshaped(tuple(size[s] for s in batch + summed + only_b), (*n_batch, k, columns))
    finish = _reshaped((*n_batch, rows, columns), tuple(size[s] for s in labels)) + _permuted(labels, order)
    return _Step(positions, (ops_a, ops_b), "matmul", finish), order, result


def _permuted(labels: Labels, order: Labels) -> Ops:
    return () if labels == order else (("transpose", tuple(labels.index(s) for s in order)),)


def _reshaped(shape: Shape, to: Shape) -> Ops:
    return () if shape == to else (("reshape", to),)


def _einsum_prepare(labels: Labels, shape: Shape, keep: set[str], sizes: dict[str, int]) -> tuple[Ops, Labels, Shape]:
    """Simplify one operand alone: take diagonals, drop axes that broadcast, sum axes that no other operand or result has."""
    ops: Ops = ()
    for s in dict.fromkeys(labels):
        where = [i for i, x in enumerate(labels) if x == s]
        if len(where) > 1:
            rest = tuple(i for i, x in enumerate(labels) if x != s)
            n, outer = shape[where[0]], tuple(shape[i] for i in rest)
            perm = (*rest, *where)
            if perm != tuple(range(len(perm))):
                ops += (("transpose", perm),)
            stride = sum(n**i for i in range(len(where)))
            key = (*(slice(0, m, 1) for m in outer), slice(0, n ** len(where), stride) if n else slice(0, 0, 1))
            ops += (("reshape", (*outer, n ** len(where))), ("slice", key))
            labels, shape = (*(labels[i] for i in rest), s), (*outer, n)
    kept = tuple(i for i, (s, n) in enumerate(zip(labels, shape)) if n == sizes[s])
    if len(kept) < len(labels):
        labels, shape = tuple(labels[i] for i in kept), tuple(shape[i] for i in kept)
        ops += (("reshape", shape),)
    alone = tuple(i for i, s in enumerate(labels) if s not in keep)
    if alone:
        ops += (("sum", alone),)
        kept = tuple(i for i in range(len(labels)) if i not in alone)
        labels, shape = tuple(labels[i] for i in kept), tuple(shape[i] for i in kept)
    return ops, labels, shape


implements(np.einsum_path, mode="meta", returns="any")(answered(np.einsum_path))
