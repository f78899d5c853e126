"""The memory order of new arrays, on backends whose native arrays have none of their own.

NumPy keeps the order of the operands (``order="K"``), so ``(x.T * 2).ravel()`` copies. Values lie here in whatever order
the library has; the ghost of a new array says which one NumPy would have given it. C order needs no ghost: the common
case costs one look at the operands.

A library whose arrays have an order gives most results NumPy's by itself; those of :data:`OTHERWISE` are put into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..common.pytrees import first, mapped
from ..functions.registry import SPECS, Layout
from ..memory import ghosts, views
from ..memory.ghosts import Ghost
from ..memory.views import Handle

__all__ = [
    "OTHERWISE",
    "all_in_c_order",
    "of_function",
    "of_index",
    "of_method",
    "of_ufunc",
    "ordered",
    "slowest_first",
]

Rule = Callable[[Any, list[Any], dict[str, Any]], Ghost | None]
"""What gives an ndarray whose memory order is the result's, of a result, and the call's arguments as ghosts; None: C order."""


def all_in_c_order(operands: Iterable[Any]) -> bool:
    """Whether no operand, sequences searched, is known to lie in memory in another order than C."""

    def otherwise(x: Any) -> bool:
        if isinstance(x, Handle):
            return not _lies_in_c_order(x)
        return isinstance(x, np.ndarray) and not x.flags.c_contiguous

    return first(otherwise, operands) is None


def _stand_in(x: Any) -> Any:
    if isinstance(x, Handle):
        return views.ghost(x)
    return mapped(_stand_in, x) if isinstance(x, list | tuple) else x


def _together(operands: Iterable[Any], order: Any = "K") -> Ghost:
    """What NumPy's iterator allocates for operands that are broadcast against each other."""
    arrays = [x if isinstance(x, np.ndarray) else np.asarray(x) for x in operands if isinstance(x, np.ndarray | list)]
    try:
        return _allocated(arrays, order)
    except MemoryError:
        whole = np.broadcast_shapes(*(x.shape for x in arrays))
    as_strided = np.lib.stride_tricks.as_strided
    few = [as_strided(x, tuple(min(n, 2) for n in x.shape), x.strides, writeable=False) for x in arrays]
    return ghosts.stand_in_like(_allocated(few, order), shape=whole)


def _allocated(arrays: list[Ghost], order: Any) -> Ghost:
    access: Any = [*[["readonly"]] * len(arrays), ["writeonly", "allocate"]]
    iterator = np.nditer(
        [*arrays, None],
        ["zerosize_ok", "refs_ok"],
        access,
        [*(x.dtype for x in arrays), bool],
        order,
    )
    return iterator.operands[-1]


def slowest_first(g: Ghost) -> Ghost:
    """The array with its axes in the order in which NumPy walks through its memory (``order="K"``)."""
    kept = _together([g])
    return g.transpose(sorted(range(g.ndim), key=lambda i: -kept.strides[i]))


def of_ufunc(made: Any, operands: Sequence[Any]) -> Any:
    """Lay out the new results of an elementwise call; gives them back."""
    for each in made if isinstance(made, tuple) else (made,):
        if isinstance(each, Handle) and each.ndim > 1 and not _is_so_already(each, operands):  # type: ignore[attr-defined]
            views.lay_out(each, _together(map(_stand_in, operands)))
    return made


def _is_so_already(made: Any, operands: Sequence[Any]) -> bool:
    """Whether the new result lies in memory as NumPy's does."""
    backend = made._kind.backend
    if not backend.mutable:
        return all_in_c_order(operands)
    if backend.keeps_order is None:
        return True
    natives = [views.native(x) if isinstance(x, Handle) else x for x in operands]
    if any(isinstance(x, np.ndarray) and x.ndim > 1 and not x.flags.c_contiguous for x in natives):
        return False
    return backend.keeps_order(*natives)


def ordered(made: Any, operands: Sequence[Any], order: Any) -> Any:
    """The new results of an elementwise call with ``order=``, on every backend; gives them back."""
    for each in made if isinstance(made, tuple) else (made,):
        if isinstance(each, Handle) and each.ndim > 1:  # type: ignore[attr-defined]
            views.lay_out(each, _together(map(_stand_in, operands), order))
    return made


# -- reductions and functions ------------------------------------------------------------------------------------------


def _reduced(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """What NumPy's iterator allocates for the axes that stay."""
    g, axis = args[0], args[1] if len(args) > 1 else kwargs.get("axis")
    axes = tuple(range(g.ndim)) if axis is None else tuple({i % g.ndim for i in np.atleast_1d(axis).tolist()})
    few = np.lib.stride_tricks.as_strided(g, tuple(min(n, 2) for n in g.shape), g.strides, writeable=False)
    kept = iter(range(g.ndim))
    places = [-1 if i in axes else next(kept) for i in range(g.ndim)]
    flags: Any = ["zerosize_ok", "refs_ok", "reduce_ok"]
    access: Any = [["readwrite", "allocate"], ["readonly"]]
    walks = np.nditer([None, few], flags, access, [bool, g.dtype], "K", op_axes=[places, list(range(g.ndim))])
    small = walks.operands[0]
    return ghosts.stand_in_like(np.expand_dims(small, axes) if made.ndim == g.ndim else small, shape=made.shape)


def _first(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    return ghosts.stand_in_like(args[0], shape=made.shape)


def _walked(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """As the iterator walks through the first array, which of repeated elements is another order than a copy's."""
    return ghosts.stand_in_like(_together(args[:1]), shape=made.shape)


def _copied(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """Of reductions of a copy: without NaNs, as booleans, partly sorted."""
    return _reduced(made, [ghosts.stand_in_like(args[0]), *args[1:]], kwargs)


def _rolled(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    axis = args[2] if len(args) > 2 else kwargs.get("axis")
    return None if axis is None else _first(made, args, kwargs)


def _fortran(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """Fortran order of an array in it, C order of any other."""
    return ghosts.stand_in_like(args[0], order="A", shape=made.shape)


def _rounded(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    decimals = args[1] if len(args) > 1 else kwargs.get("decimals", 0)
    return _fortran(made, args, kwargs) if decimals else _walked(made, args, kwargs)


def _broadcast(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    return _together(x for x in (*args, *kwargs.values()) if isinstance(x, np.ndarray))


def _triangular(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    return _together([args[0], ghosts.stand_in(made.shape[-2:], bool)])  # np.where with a mask in C order


def _joined(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """What ``np.concatenate`` gives of small arrays with strides in the order of the parts'."""
    parts = [x for x in args[0] if isinstance(x, np.ndarray) and x.ndim == made.ndim]
    if not parts:  # each got new axes on the way
        return ghosts.stand_in(made.shape, bool)
    few = tuple(1 if n == 1 else 2 for n in np.max([x.shape for x in parts], axis=0))
    axis = next((i for i, n in enumerate(made.shape) if n != parts[0].shape[i]), 0)
    return ghosts.stand_in_like(np.concatenate([_ranked(x, few) for x in parts], axis), shape=made.shape)


def _ranked(g: Ghost, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """A small array with strides in the order of an array's: 0 where they are, 1 for the least other one, and so on."""
    ranks = {s: i for i, s in enumerate(sorted({0, *map(abs, g.strides)}))}
    strides = tuple(ranks[abs(s)] for s in g.strides)
    memory = np.zeros(1 + sum(strides), bool)  # for two items an axis
    return np.lib.stride_tricks.as_strided(memory, shape, strides, writeable=False)


def _stacked(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    axis = args[1] if len(args) > 1 else kwargs.get("axis", 0)
    new = (slice(None),) * (axis % made.ndim) + (None,)
    return _joined(made, [[x[new] if isinstance(x, np.ndarray) else x for x in args[0]]], {})


def _deep(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """Parts of at least three axes."""
    return _joined(made, [[np.atleast_3d(x) for x in args[0]]], {})


def _blocks(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """``np.block`` itself, of small arrays; large ones are not joined but copied, to Fortran order if all parts are in it."""
    blocks, depth, part = args[0], 0, args[0]
    while isinstance(part, list):
        part, depth = part[0] if part else None, depth + 1
    if depth * made.size > 2 * 512 * 512:
        in_fortran = first(lambda x: isinstance(x, np.ndarray) and not x.flags.f_contiguous, blocks) is None
        return ghosts.stand_in(made.shape, bool, "F" if in_fortran and not all_in_c_order(blocks) else "C")
    return ghosts.stand_in_like(np.block(mapped(_small, blocks)), shape=made.shape)


def _appended(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    return _joined(made, [args[:2]], kwargs)


def _columns(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """Of one array for each column."""
    return ghosts.stand_in(made.shape, bool, "F")


def _tiled(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """A copy of what is taken once."""
    a, reps = args[0], np.ravel(args[1] if len(args) > 1 else kwargs["reps"])
    return ghosts.stand_in_like(np.array(_small(a), ndmin=made.ndim), shape=made.shape) if (reps == 1).all() else None


def _spaced(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """``np.linspace`` and its like compute samples along the first axis, and move it."""
    names = ("num", "endpoint", "retstep", "dtype", "axis")  # logspace has its base third
    axis = (dict(zip(names, args[2:])) | kwargs).get("axis", 0)
    if not any(isinstance(x, np.ndarray) for x in args[:2]):
        return None
    ends = _together(args[:2])
    line = ghosts.stand_in((made.shape[axis], *(1,) * ends.ndim), bool)
    return np.moveaxis(_together([line, ends]), 0, axis)


def _under_curves(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """Of ``np.trapezoid``: the sum along an axis of products of means and widths."""
    names = ("y", "x", "dx", "axis")
    given = dict(zip(names, args)) | kwargs
    y, x, axis = given["y"], given.get("x"), given.get("axis", -1)
    before = (slice(None),) * (axis % y.ndim)
    means = _together([y[(*before, slice(1, None))], y[(*before, slice(-1))]])
    if isinstance(x, np.ndarray) and x.ndim > 1:
        before = (slice(None),) * (axis % x.ndim)
        means = _together([_together([x[(*before, slice(1, None))], x[(*before, slice(-1))]]), means])
    return _reduced(made, [means], {"axis": axis})


def _second(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """As the second argument."""
    x = args[1] if len(args) > 1 else kwargs["x"]
    return ghosts.stand_in_like(x, shape=made.shape) if isinstance(x, np.ndarray) and x.ndim == made.ndim else None


def _c(made: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """Whatever the order of the operands."""


def _normed(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """``np.linalg.norm`` and ``vector_norm``: of one axis as any reduction, of others from a copy in C order."""
    axis = args[2] if len(args) > 2 else kwargs.get("axis")
    if axis is None or np.ndim(axis):
        return None
    return _reduced(made, args[:1], {"axis": axis})


def _mirrored(made: Any) -> Ghost:
    """Of stacked matrices each in Fortran order."""
    *stack, m, n = made.shape
    return ghosts.stand_in((*stack, n, m), bool).swapaxes(-1, -2)


def _factor(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """The first result of ``np.linalg.qr``: LAPACK's own matrix in mode "raw", the triangular one in mode "r"."""
    mode = args[1] if len(args) > 1 else kwargs.get("mode")
    if mode == "raw":
        return _together(args[:1]).swapaxes(-1, -2)
    return _triangle(made, args, kwargs) if mode == "r" else None


def _triangle(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """The second one."""
    a = args[0]
    return _triangular(made, [_together([a])[..., : made.shape[-2], :]], kwargs) if a.ndim == made.ndim else None


def _adjoint(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """The last of ``np.linalg.svd(a, hermitian=True)``, which are the first ones transposed."""
    return _mirrored(made) if (args[3] if len(args) > 3 else kwargs.get("hermitian", False)) else None


def _power(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    return None if (args[1] if len(args) > 1 else kwargs["n"]) else _first(made, args, kwargs)


def _crossed(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """The axis of the components is the last one, moved."""
    names = ("axisa", "axisb", "axisc", "axis")
    given = dict(zip(names, args[2:])) | kwargs
    axis = given.get("axisc", -1) if given.get("axis") is None else given["axis"]
    shape = [*made.shape]
    shape.append(shape.pop(axis))
    return np.moveaxis(ghosts.stand_in(tuple(shape), bool), -1, axis) if shape[-1] == 3 else None


def _small(x: Any) -> Ghost:
    """An operand of at most two items an axis."""
    shape = tuple(min(n, 2) for n in np.shape(x))
    return _ranked(x, shape) if isinstance(x, np.ndarray) else np.empty(shape, bool)


def _summed(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """``np.einsum`` itself, of arrays of at most two items an axis."""
    by_word = isinstance(args[0], str)  # else each operand is followed by its axes, and the result's may come last
    small = [_small(x) if (i > 0 if by_word else i % 2 == 0 and i + 1 < len(args)) else x for i, x in enumerate(args)]
    told = np.einsum(*small, optimize=kwargs.get("optimize", False), order=kwargs.get("order", "K"))
    return ghosts.stand_in_like(told, shape=made.shape)


_RULES: dict[Layout, Rule | tuple[Rule, ...]] = {
    "reduced": _reduced, "first": _first, "broadcast": _broadcast, "joined": _joined, "appended": _appended,
    "triangular": _triangular, "rounded": _rounded, "fortran": _fortran, "c": _c, "spectrum": _first, "normed": _normed,
    "factors": (_factor, _triangle), "singular": (_c, _c, _adjoint), "power": _power, "crossed": _crossed, "summed": _summed,
    "walked": _walked, "copied": _copied, "rolled": _rolled, "stacked": _stacked,
    "deep": _deep, "blocks": _blocks, "columns": _columns, "tiled": _tiled, "spaced": (_spaced, _broadcast),
    "trapezoid": _under_curves, "second": _second,
}  # fmt: skip

OTHERWISE: frozenset[Layout | None] = frozenset(
    {"c", "spectrum", "normed", "factors", "singular", "power", "crossed", "columns", "spaced"}
)
"""The rules of functions whose results a library with an order of its own, LAPACK's say, gives another one."""

_NOT_IN_C = frozenset({"factors", "singular", "crossed", "summed", "columns", "spaced"})
"""The rules by which operands in C order may give a result in another one."""

_OF_LATER = frozenset({"spaced", "second"})
"""The rules that need no array as their first argument."""


def of_function(func: Any, args: Sequence[Any], kwargs: dict[str, Any], made: Any) -> Any:
    """Lay out the new results of a NumPy function; gives them back."""
    spec = SPECS.get(func)
    if spec is None or spec.layout is None:
        return made
    rules = _RULES[spec.layout]
    if spec.layout not in _NOT_IN_C and all_in_c_order((*args, *kwargs.values())):
        rules = _c
    given: list[Any] | None = None
    parts = made if isinstance(made, tuple) else (made,)
    for each, rule in zip(parts, rules if isinstance(rules, tuple) else (rules,) * len(parts)):
        shape = each.shape if isinstance(each, Handle) else ()  # type: ignore[attr-defined]
        if len(shape) < 2:
            continue
        like = None
        if rule is not _c:
            if given is None:
                given = [_stand_in(x) for x in args]
                keywords = {name: _stand_in(x) for name, x in kwargs.items()}
            if spec.layout in _OF_LATER or _has_array(given):
                like = rule(each, given, keywords)
        if like is None and not _lies_in_c_order(each):
            like = ghosts.stand_in(shape, bool)
        if like is not None and like.shape == shape:
            views.lay_out(each, like)
    return made


def _lies_in_c_order(a: Any) -> bool:
    """Whether an array does, as its library says, where that has an order, or else its ghost."""
    backend = a._kind.backend
    if backend.native_is_ndarray:
        return bool(a._v.flags.c_contiguous)
    if a._ghost is not None and (a._root is not None or not backend.mutable):  # a view may be a copy there
        return bool(a._ghost.flags.c_contiguous)
    strides = backend.strides_of(a._v) if backend.mutable else None
    step = 1
    for n, s in zip(reversed(a.shape), reversed(strides or ())):
        if n > 1 and s != step:
            return not a.size
        step *= n
    return True


def _has_array(given: list[Any]) -> bool:
    first = given[0] if given else None
    return isinstance(first, np.ndarray | str) or (isinstance(first, list) and _has_array(first))


def of_method(method: str, inputs: Sequence[Any], options: dict[str, Any], made: Any) -> Any:
    """Lay out the new result of a ufunc's ``reduce``, ``accumulate``, ``reduceat`` or ``outer``; gives it back."""
    if isinstance(made, Handle) and made.ndim > 1 and not all_in_c_order(inputs):  # type: ignore[attr-defined]
        ghosts = [_stand_in(x) for x in inputs]
        if method == "outer":
            a, b = ghosts if all(isinstance(g, np.ndarray) for g in ghosts) else map(np.asarray, ghosts)
            like = _together([a[(..., *(None,) * b.ndim)], b])
        elif method == "reduce":
            like = _reduced(made, ghosts, {"axis": options.get("axis", 0)})
        else:
            like = _walked(made, ghosts, {})
        if like.shape == made.shape:  # type: ignore[attr-defined]
            views.lay_out(made, like)
    return made


# -- indexing ----------------------------------------------------------------------------------------------------------


def of_index(made: Any, a: Handle, key: Any) -> Any:
    """Lay out what index arrays picked from ``a``; gives it back. NumPy says how, of an array of at most two items an axis."""
    items = key if type(key) is tuple else (key,)
    g = views.ghost(a)
    if made.ndim < 2 or 0 in g.shape or (len(items) == 1 and g.flags.c_contiguous):
        return made
    small = _ranked(g, tuple(min(n, 2) for n in g.shape))
    like = small[tuple(y for x in items for y in _first_items(_stand_in(x)))]
    return views.lay_out(made, ghosts.stand_in_like(like, shape=made.shape))


def _first_items(x: Any) -> list[Any]:
    """An item of a key as what picks first items only, with as many dimensions."""
    if x is None or x is Ellipsis:
        return [x]
    if isinstance(x, slice):
        return [slice(None)]
    array = np.asarray(x) if isinstance(x, list | tuple | range) or not hasattr(x, "shape") else x
    if array.dtype == bool:
        return [np.zeros(2, int)] * array.ndim if array.ndim else [True]
    return [np.zeros((2,) * array.ndim, int) if array.ndim else 0]
