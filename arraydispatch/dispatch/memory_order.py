"""Memory order of new arrays, on backends whose native arrays have none of their own.

NumPy keeps the order of the operands (``order="K"``), so ``(x.T * 2).ravel()`` copies. The library stores values in its own
order; the ghost of a new array has the order that NumPy would have chosen. C order needs no ghost: the common
case costs one look at the operands.

A library whose arrays have an order mostly chooses NumPy's itself; results with a :class:`~arraydispatch.functions.layouts.Layout`
that ``differs`` are reordered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..common.arguments import PLAIN
from ..common.buffers import axes_by_stride
from ..common.pytrees import first
from ..functions import layouts
from ..functions.layouts import ranked, together
from ..functions.registry import SPECS
from ..memory import ghosts, views
from ..memory.ghosts import Ghost
from .handover import handed


def all_in_c_order(operands: Iterable[Any]) -> bool:
    """Whether all operands, also in sequences, are in C order, as far as their memory order is known without reading values."""

    def otherwise(x: Any) -> bool:
        if isinstance(x, Handle):
            return not _lies_in_c_order(x)
        return isinstance(x, np.ndarray) and not x.flags.c_contiguous

    return first(otherwise, operands) is None


def is_walked_otherwise(x: Any) -> bool:
    """Whether NumPy may traverse an operand in another order than C. (It traverses slices of an array in C order in C order.)"""
    seen = x._ghost if isinstance(x, Handle) else x
    if not isinstance(seen, np.ndarray) or seen.flags.c_contiguous:
        return isinstance(x, Handle) and seen is None and not _lies_in_c_order(x)
    last = np.inf
    for n, step in zip(seen.shape, seen.strides):
        if n > 1:
            if not 0 < step < last:
                return True
            last = step
    return False


def _stand_in(x: Any) -> Any:
    return handed(x, views.ghost)


def slowest_first(g: Ghost) -> Ghost:
    """Return a ghost, transposed so that its axes are in the order in which NumPy traverses its memory (``order="K"``)."""
    return g.transpose(axes_by_stride(together([g]).strides))


def of_ufunc(made: Any, operands: Sequence[Any]) -> Any:
    """Give ``made``, the new result or results of an elementwise call, NumPy's memory order; return ``made``."""
    for each in made if isinstance(made, tuple) else (made,):
        if isinstance(each, Handle) and each.ndim > 1 and not _is_so_already(each, operands):  # type: ignore[attr-defined]
            views.lay_out(each, together(map(_stand_in, operands)))
    return made


def _is_so_already(made: Any, operands: Sequence[Any]) -> bool:
    """Whether ``made``, a library's new result, has the memory order of NumPy's."""
    backend = made._kind.backend
    if backend.hosted:  # where the library's result was put
        backend = backend.home
    if not backend.mutable:
        return first(is_walked_otherwise, operands) is None
    if backend.keeps_order is None:
        return True
    natives = [views.native(x) if isinstance(x, Handle) else x for x in operands]
    if any(isinstance(x, np.ndarray) and x.ndim > 1 and not x.flags.c_contiguous for x in natives):
        return False
    return backend.keeps_order(*natives)


def ordered(made: Any, operands: Sequence[Any], order: Any) -> Any:
    """Give ``made``, the new result or results of an elementwise call, the memory order ``order=``, on every backend; return ``made``."""
    for each in made if isinstance(made, tuple) else (made,):
        if isinstance(each, Handle) and each.ndim > 1:  # type: ignore[attr-defined]
            views.lay_out(each, together(map(_stand_in, operands), order))
    return made


# -- reductions and functions ------------------------------------------------------------------------------------------


def of_function(func: Any, args: Sequence[Any], kwargs: dict[str, Any], made: Any) -> Any:
    """Give ``made``, the new result or results of a NumPy function, NumPy's memory order; return ``made``."""
    spec = SPECS.get(func)
    if spec is None or spec.layout is None or (not spec.layout.from_c_order and _is_so_anyway(args, kwargs, made)):
        return made
    in_c_order = not spec.layout.from_c_order and all_in_c_order((*args, *kwargs.values()))
    rules = layouts.c.rules if in_c_order else spec.layout.rules
    given: list[Any] | None = None
    parts = made if isinstance(made, tuple) else (made,)
    for each, rule in zip_longest(parts, rules[: len(parts)], fillvalue=rules[-1]):
        shape = each.shape if isinstance(each, Handle) else ()  # type: ignore[attr-defined]
        if len(shape) < 2:
            continue
        like = None
        if rule is not layouts.in_c_order:
            if given is None:
                given = [_stand_in(x) for x in args]
                keywords = {name: _stand_in(x) for name, x in kwargs.items()}
            if spec.layout.without_first or _has_array(given):
                like = rule(each, given, keywords)
        if like is None and not _lies_in_c_order(each):
            like = ghosts.stand_in(shape, bool)
        if like is not None and like.shape == shape:
            views.lay_out(each, like)
    return made


def _is_so_anyway(args: Sequence[Any], kwargs: dict[str, Any], made: Any) -> bool:
    """Whether the result ``made`` and all arrays among the arguments have no ghost and belong to a library without memory orders."""
    if not isinstance(made, Handle):
        return False
    for x in (made, *args, *kwargs.values()):
        if isinstance(x, Handle):
            if x._ghost is not None or x._kind.backend.mutable:
                return False
        elif type(x) is tuple:
            if not PLAIN.issuperset(map(type, x)):
                return False
        elif type(x) not in PLAIN:
            return False
    return True


def _lies_in_c_order(a: Any) -> bool:
    """Whether an array is in C order, by its library if that has memory orders, else by its ghost."""
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
    """Give ``made``, the new result of a ufunc's ``reduce``, ``accumulate``, ``reduceat`` or ``outer``, NumPy's memory order; return it."""
    if isinstance(made, Handle) and made.ndim > 1 and not all_in_c_order(inputs):  # type: ignore[attr-defined]
        ghosts = [_stand_in(x) for x in inputs]
        like: Ghost | None
        if method == "outer":
            a, b = ghosts if all(isinstance(g, np.ndarray) for g in ghosts) else map(np.asarray, ghosts)
            like = together([a[(..., *(None,) * b.ndim)], b])
        elif method == "reduce":
            like = layouts.reduced.rules[0](made, ghosts, {"axis": options.get("axis", 0)})
        else:
            like = layouts.walked.rules[0](made, ghosts, {})
        if like is not None and like.shape == made.shape:  # type: ignore[attr-defined]
            views.lay_out(made, like)
    return made


# -- indexing ----------------------------------------------------------------------------------------------------------


def of_index(made: Any, a: Handle, key: Any) -> Any:
    """Give ``made``, the result of indexing ``a`` by arrays, NumPy's memory order; return ``made``. The order is read from NumPy's result on
    a small array with at most two elements per axis.
    """
    items = key if type(key) is tuple else (key,)
    g = views.ghost(a)
    if made.ndim < 2 or 0 in g.shape or (len(items) == 1 and g.flags.c_contiguous):
        return made
    small = ranked(g, tuple(min(n, 2) for n in g.shape))
    like = small[tuple(y for x in items for y in _first_items(_stand_in(x)))]
    return views.lay_out(made, ghosts.stand_in_like(like, shape=made.shape))


def _first_items(x: Any) -> list[Any]:
    """Return the items that stand for one item of a key on the small array: of the same dimensions, but selecting only first elements."""
    if x is None or x is Ellipsis:
        return [x]
    if isinstance(x, slice):
        return [slice(None)]
    array = np.asarray(x) if isinstance(x, list | tuple | range) or not hasattr(x, "shape") else x
    if array.dtype == bool:
        return [np.zeros(2, int)] * array.ndim if array.ndim else [True]
    return [np.zeros((2,) * array.ndim, int) if array.ndim else 0]
