"""Memory orders of NumPy's new results, one rule for each group of functions; registrations choose a rule with ``layout=``.

A rule gets the result, and the call's arguments with stand-ins (:mod:`arraydispatch.memory.ghosts`) for the arrays. It returns an ndarray
with the memory order of the result, or None for C order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ..common.pytrees import first as first_of, mapped
from ..memory import ghosts
from ..memory.ghosts import Ghost

Rule = Callable[[Any, list[Any], dict[str, Any]], Ghost | None]


class Layout(NamedTuple):
    """Rules for the memory order of the results of a function (``layout=`` of its registration)."""

    rules: tuple[Rule, ...]
    """One rule for each result; the last one applies to all further results."""
    differs: bool = False
    """Whether a library whose arrays have a memory order returns another order than NumPy, for example that of LAPACK."""
    from_c_order: bool = False
    """Whether operands in C order may give a result in another order."""
    without_first: bool = False
    """Whether the rules also apply if the first argument is no array."""


def together(operands: Iterable[Any], order: Any = "K") -> Ghost:
    """Return a stand-in with the memory order that NumPy's iterator allocates for operands broadcast against each other."""
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


def _reduced(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """Return the order that NumPy's iterator allocates for the axes that are kept."""
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
    """Return the order in which NumPy's iterator traverses the first array. (A copy of an array with strides of 0 has another order.)"""
    return ghosts.stand_in_like(together(args[:1]), shape=made.shape)


def _copied(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """Return the order of a reduction that works on a copy: with NaNs removed, of booleans, or partly sorted."""
    return _reduced(made, [ghosts.stand_in_like(args[0]), *args[1:]], kwargs)


def _rolled(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    axis = args[2] if len(args) > 2 else kwargs.get("axis")
    return None if axis is None else _first(made, args, kwargs)


def _fortran(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """Return Fortran order for an array in Fortran order, C order for any other."""
    return ghosts.stand_in_like(args[0], order="A", shape=made.shape)


def _rounded(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    decimals = args[1] if len(args) > 1 else kwargs.get("decimals", 0)
    return _fortran(made, args, kwargs) if decimals else _walked(made, args, kwargs)


def _broadcast(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    arrays = [x for x in (*args, *kwargs.values()) if isinstance(x, np.ndarray)]
    return together(arrays) if arrays else None


def _triangular(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    # NumPy computes it as np.where with a mask in C order.
    return together([args[0], ghosts.stand_in(made.shape[-2:], bool)])


def _joined(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """Return the order that ``np.concatenate`` gives for small arrays whose strides are ordered like those of the arrays to join."""
    parts = [x for x in args[0] if isinstance(x, np.ndarray) and x.ndim == made.ndim]
    if not parts:  # every array to join gets new leading axes
        return ghosts.stand_in(made.shape, bool)
    few = tuple(1 if n == 1 else 2 for n in np.max([x.shape for x in parts], axis=0))
    axis = next((i for i, n in enumerate(made.shape) if n != parts[0].shape[i]), 0)
    return ghosts.stand_in_like(np.concatenate([ranked(x, few) for x in parts], axis), shape=made.shape)


def ranked(g: Ghost, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return a small array whose strides are the ranks of an array's strides: 0 for a stride of 0, 1 for the smallest other, and so on."""
    ranks = {s: i for i, s in enumerate(sorted({0, *map(abs, g.strides)}))}
    strides = tuple(ranks[abs(s)] for s in g.strides)
    memory = np.zeros(1 + sum(s * max(n - 1, 0) for s, n in zip(strides, shape)), bool)
    return np.lib.stride_tricks.as_strided(memory, shape, strides, writeable=False)


def _stacked(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    axis = args[1] if len(args) > 1 else kwargs.get("axis", 0)
    new = (slice(None),) * (axis % made.ndim) + (None,)
    return _joined(made, [[x[new] if isinstance(x, np.ndarray) else x for x in args[0]]], {})


def _deep(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """Return the memory order of ``np.dstack``."""
    return _joined(made, [[np.atleast_3d(x) for x in args[0]]], {})


def _blocks(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """Return the order of ``np.block``, by calling it on small arrays; large blocks are copied, to Fortran order if all of them have it."""
    blocks, depth, part = args[0], 0, args[0]
    while isinstance(part, list):
        part, depth = part[0] if part else None, depth + 1
    if depth * made.size > 2 * 512 * 512:
        in_fortran = first_of(lambda x: isinstance(x, np.ndarray) and not x.flags.f_contiguous, blocks) is None
        in_c = first_of(lambda x: isinstance(x, np.ndarray) and not x.flags.c_contiguous, blocks) is None
        return ghosts.stand_in(made.shape, bool, "F" if in_fortran and not in_c else "C")
    return ghosts.stand_in_like(np.block(mapped(_small, blocks)), shape=made.shape)


def _appended(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    return _joined(made, [args[:2]], kwargs)


def _columns(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """Return the order of a result that consists of one array for each column."""
    return ghosts.stand_in(made.shape, bool, "F")


def _tiled(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """Return the order of ``np.tile``: that of a plain copy if nothing is repeated, else None (C order)."""
    a, reps = args[0], np.ravel(args[1] if len(args) > 1 else kwargs["reps"])
    return ghosts.stand_in_like(np.array(_small(a), ndmin=made.ndim), shape=made.shape) if (reps == 1).all() else None


def _spaced(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """Return the order of ``np.linspace`` and similar functions: samples are computed along the first axis, which is then moved."""
    names = ("num", "endpoint", "retstep", "dtype", "axis")  # logspace has `base` before `dtype`
    axis = (dict(zip(names, args[2:])) | kwargs).get("axis", 0)
    if not any(isinstance(x, np.ndarray) for x in args[:2]):
        return None
    ends = together(args[:2])
    line = ghosts.stand_in((made.shape[axis], *(1,) * ends.ndim), bool)
    return np.moveaxis(together([line, ends]), 0, axis)


def _under_curves(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost:
    """Return the order of ``np.trapezoid``: a sum along an axis of products of means and widths."""
    names = ("y", "x", "dx", "axis")
    given = dict(zip(names, args)) | kwargs
    y, x, axis = given["y"], given.get("x"), given.get("axis", -1)
    before = (slice(None),) * (axis % y.ndim)
    means = together([y[(*before, slice(1, None))], y[(*before, slice(-1))]])
    if isinstance(x, np.ndarray) and x.ndim > 1:
        before = (slice(None),) * (axis % x.ndim)
        means = together([together([x[(*before, slice(1, None))], x[(*before, slice(-1))]]), means])
    return _reduced(made, [means], {"axis": axis})


def _second(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """Return the order of the second argument."""
    x = args[1] if len(args) > 1 else kwargs["x"]
    return ghosts.stand_in_like(x, shape=made.shape) if isinstance(x, np.ndarray) and x.ndim == made.ndim else None


def in_c_order(made: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """Return None, for C order whatever the order of the operands."""


def _multiplied(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """Return the order of ``np.dot`` and ``np.inner``; for a 0-d operand and an array that of ``np.multiply``, unless BLAS computes it."""
    arrays = [x for x in args if isinstance(x, np.ndarray) and x.ndim]
    if len(arrays) != 1 or arrays[0].ndim != made.ndim or (made.ndim == 2 and made.dtype.char in "fdFD"):
        return None
    return together(arrays)


def _normed(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """Return the order of a result of ``np.linalg.norm`` or ``vector_norm``: a reduction's if there is one axis, else None (C order)."""
    axis = args[2] if len(args) > 2 else kwargs.get("axis")
    if axis is None or np.ndim(axis):
        return None
    return _reduced(made, args[:1], {"axis": axis})


def _mirrored(made: Any) -> Ghost:
    """Return the order of stacked matrices that are each in Fortran order."""
    *stack, m, n = made.shape
    return ghosts.stand_in((*stack, n, m), bool).swapaxes(-1, -2)


def _factor(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """Return the order of the first result of ``np.linalg.qr``: LAPACK's matrix in mode "raw", the triangular one in mode "r"."""
    mode = args[1] if len(args) > 1 else kwargs.get("mode")
    if mode == "raw":
        return together(args[:1]).swapaxes(-1, -2)
    return _triangle(made, args, kwargs) if mode == "r" else None


def _triangle(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """Return the order of the second result of ``np.linalg.qr``."""
    a = args[0]
    return _triangular(made, [together([a])[..., : made.shape[-2], :]], kwargs) if a.ndim == made.ndim else None


def _adjoint(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """Return the order of the last result of ``np.linalg.svd(a, hermitian=True)``: the first result, transposed."""
    return _mirrored(made) if (args[3] if len(args) > 3 else kwargs.get("hermitian", False)) else None


def _power(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    return None if (args[1] if len(args) > 1 else kwargs["n"]) else _first(made, args, kwargs)


def _crossed(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """Return the order of a cross product: it is computed with the components on the last axis, which is then moved."""
    names = ("axisa", "axisb", "axisc", "axis")
    given = dict(zip(names, args[2:])) | kwargs
    axis = given.get("axisc", -1) if given.get("axis") is None else given["axis"]
    shape = [*made.shape]
    shape.append(shape.pop(axis))
    return np.moveaxis(ghosts.stand_in(tuple(shape), bool), -1, axis) if shape[-1] == 3 else None


def _small(x: Any, lengths: dict[int, int] | None = None) -> Ghost:
    """Return an operand cut to at most two items per axis, or to other ``lengths`` of axes."""
    shape = tuple((lengths or {}).get(n, min(n, 2)) for n in np.shape(x))
    return ranked(x, shape) if isinstance(x, np.ndarray) else np.empty(shape, bool)


def _summed(made: Any, args: list[Any], kwargs: dict[str, Any]) -> Ghost | None:
    """Return the order of ``np.einsum``, by calling it on arrays of few items per axis; None if axes are given as arrays."""
    # Without a string of subscripts, each operand is followed by its axes, and the result's axes may come last.
    by_word = isinstance(args[0], str)
    if not by_word and any(isinstance(x, np.ndarray) for x in (*args[1::2], *args[len(args) - len(args) % 2 :])):
        return None
    optimize, lengths = kwargs.get("optimize", False), {}
    operands = [i for i in range(len(args)) if (i > 0 if by_word else i % 2 == 0 and i + 1 < len(args))]
    if optimize:  # einsum's order depends on the lengths of axes, and on which of two is longer
        optimize = np.einsum_path(*args, optimize=optimize)[0]
        longer = {n for i in operands for n in np.shape(args[i]) if n > 1}
        lengths = {n: 2 + rank for rank, n in enumerate(sorted(longer))}
    small = [_small(x, lengths) if i in operands else x for i, x in enumerate(args)]
    told = np.einsum(*small, optimize=optimize, order=kwargs.get("order", "K"))
    return ghosts.stand_in_like(told, shape=made.shape)


reduced = Layout((_reduced,))
first = Layout((_first,))
broadcast = Layout((_broadcast,), without_first=True)
joined = Layout((_joined,))
appended = Layout((_appended,))
triangular = Layout((_triangular,))
rounded = Layout((_rounded,))
fortran = Layout((_fortran,))
c = Layout((in_c_order,), differs=True)
multiplied = Layout((_multiplied,), without_first=True)
spectrum = Layout((_first,), differs=True)
normed = Layout((_normed,), differs=True)
factors = Layout((_factor, _triangle), differs=True, from_c_order=True)
singular = Layout((in_c_order, in_c_order, _adjoint), differs=True, from_c_order=True)
power = Layout((_power,), differs=True)
crossed = Layout((_crossed,), differs=True, from_c_order=True)
summed = Layout((_summed,), differs=True, from_c_order=True)
walked = Layout((_walked,))
copied = Layout((_copied,))
rolled = Layout((_rolled,))
stacked = Layout((_stacked,))
deep = Layout((_deep,))
blocks = Layout((_blocks,))
columns = Layout((_columns,), differs=True, from_c_order=True)
tiled = Layout((_tiled,))
spaced = Layout((_spaced, _broadcast), differs=True, from_c_order=True, without_first=True)
trapezoid = Layout((_under_curves,))
second = Layout((_second,), without_first=True)
