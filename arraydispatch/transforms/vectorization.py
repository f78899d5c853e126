"""``vmap``: vectorization of a function of one example over a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends.base import Backend, Native
from ..common.pytrees import children_of, flatten_call, tree_leaves, tree_paths, tree_unflatten
from ..functions.operands import moved as moved_axis
from .flattening import Body, Given, Input, Same, Traced, dressed, is_array, library_of, name_of, native_of

Axes = Any
"""An int, None, or a pytree of these that is a prefix of the arguments' or results'."""


def vmap(fun: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0) -> Callable[..., Any]:
    """Vectorize a function of one example over a batch, by the library that holds the arguments.

    Parameters
    ----------
    fun : callable
        Takes and returns pytrees of arrays, of one example.
    in_axes : int, None, or sequence of such
        Batch axis of the arguments' arrays; None: all examples share the argument. A sequence has one entry for each positional
        argument: an int, None, or a list, tuple, dict or dataclass of these that is nested as the argument.
        Keyword arguments have axis 0, numbers among the arguments are shared.
    out_axes : int, or sequence of ints
        Position of the batch axis in the arrays of the result; nested as ``in_axes``.

    Returns
    -------
    callable
        A function of arguments with that axis. A result that does not depend on the example is repeated along the axis. Writes of
        ``fun`` to an argument with the axis reach the caller's array.

    Raises
    ------
    ValueError
        Raised by the callable if the arrays have different numbers of examples, if none has any, or if an axis does not exist.
    TraceError
        Raised by the callable if a value of one example is needed (``if x > 0``, ``float(x)``, a call that runs on the host), or
        if one would be written to an array that all examples share or that is not an argument.

    Notes
    -----
    Transforms nest: ``ad.vmap(ad.grad(f))`` computes gradients by example, ``ad.vmap(ad.hessian(f))`` a batch of Hessians. NumPy,
    which has no vectorization, runs ``fun`` once for each example.
    """

    @functools.wraps(fun, updated=())
    def vectorized(*args: Any, **kwargs: Any) -> Any:
        axes = _axes_of_arguments(fun, args, kwargs, in_axes)
        backend = library_of(tree_leaves((args, kwargs)))
        with backend.within():
            return _run(fun, args, kwargs, axes, out_axes, backend)

    return vectorized


def _axes_of_arguments(fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any], in_axes: Axes) -> list[int | None]:
    """Return the axis of each leaf of ``(args, kwargs)``."""
    if isinstance(in_axes, list | tuple):
        if len(in_axes) != len(args):
            raise ValueError(
                f"in_axes of ad.vmap has {len(in_axes)} entries for the {len(args)} positional arguments of {name_of(fun)}."
            )
        found = [axis for x, axes in zip(args, in_axes) for axis in _spread(axes, x, "in_axes")]
    else:
        found = _spread(in_axes, args, "in_axes")
    return [*found, *_spread(0, kwargs, "in_axes")]


def _spread(axes: Axes, tree: Any, what: str) -> list[Any]:
    """Return the axis of each leaf of a tree; ``axes`` is a prefix of the tree, and in errors ``what``."""
    if axes is None or (isinstance(axes, int) and not isinstance(axes, bool)):
        return [axes] * len(tree_leaves(tree))
    if isinstance(axes, dict) and isinstance(tree, dict) and axes.keys() == tree.keys():
        return [axis for key, x in tree.items() for axis in _spread(axes[key], x, what)]
    if type(axes) is type(tree) or (isinstance(axes, list | tuple) and isinstance(tree, list | tuple)):
        inner, parts = children_of(axes), children_of(tree)
        if inner is not None and parts is not None and len(inner) == len(parts):
            return [axis for one, x in zip(inner, parts) for axis in _spread(one, x, what)]
    raise ValueError(
        f"{what} of ad.vmap has {axes!r} where the tree has a {type(tree).__name__}; give ints, nested as it is."
    )


def _run(
    fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any], axes: list[int | None], out_axes: Axes, backend: Backend
) -> Any:
    leaves, structure = flatten_call(args, kwargs)
    slots: list[Any] = list(leaves)
    natives: list[Native] = []
    moved: list[int] = []
    sizes: dict[int, int] = {}
    seen: dict[int, int] = {}
    for i, (leaf, axis) in enumerate(zip(leaves, axes)):
        if axis is None or not is_array(leaf):
            continue
        first = seen.setdefault(id(leaf), i)
        if first != i and axes[first] == axis:
            slots[i] = Same(first)
            continue
        value = native_of(leaf, backend)
        shape = backend.shape_of(value)
        if not -len(shape) <= axis < len(shape):
            raise ValueError(
                f"{_argument((args, kwargs), i)} of {name_of(fun)} has no axis {axis}, which ad.vmap would map; its shape is {shape}."
            )
        moved.append(axis % len(shape))
        sizes[i] = shape[axis]
        natives.append(moved_axis(backend.xp, value, axis % len(shape), 0))
        slots[i] = Input(isinstance(leaf, Handle) and leaf._kind.standard, False)
    if not sizes:
        raise ValueError(f"no argument of {name_of(fun)} is an array with an axis to map; see in_axes of ad.vmap.")
    size = next(iter(sizes.values()))
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{_argument((args, kwargs), i)} has {n}" for i, n in sizes.items())
        raise ValueError(f"ad.vmap needs one number of examples: of the arguments of {name_of(fun)}, {told}.")
    if size == 0:
        raise ValueError(f"ad.vmap has no example to run {name_of(fun)} on.")
    body = Body(fun, "ad.vmap", structure, slots, backend, True)
    outs, extra = backend.transforms.vectorize(body, natives, size)
    made = _rebuilt(body, outs, leaves, moved, out_axes, size, backend)
    if body.written:
        back = [moved_axis(backend.xp, x, 0, moved[k]) for k, x in zip(body.written, extra)]
        body.write_back(iter(back), leaves)
    return made


def _argument(tree: Any, at: int) -> str:
    """Return the name of leaf ``at`` of a tree ``(args, kwargs)``."""
    path = tree_paths(tree)[at]
    return ("args" if path.startswith("[0]") else "kwargs") + path[3:]


def _rebuilt(
    body: Body, outs: list[Native], given: list[Any], moved: list[int], out_axes: Axes, size: int, backend: Backend
) -> Any:
    structure, outputs = body.structures[0], body.outputs[0]
    places = _spread(out_axes, tree_unflatten(structure, list(range(len(outputs)))), "out_axes")
    values: Iterator[Native] = iter(outs)
    made: list[Any] = []
    for output, axis in zip(outputs, places):
        if type(output) is Traced:
            value = next(values)
            if output.same is not None and places[output.same] == axis:
                made.append(made[output.same])
            else:
                moved_back = moved_axis(backend.xp, value, 0, _place(axis, value, backend))
                if output.same is not None:
                    moved_back = backend.prim.copy(moved_back)
                made.append(dressed(moved_back, backend, False, output.standard))
        elif type(output) is Given:  # returned as it was given, or after a write to it
            argument, held = given[body.inputs[output.at]], moved[output.at]
            made.append(argument if axis % argument.ndim == held else np.moveaxis(argument, held, axis))
        elif is_array(output.value) or isinstance(output.value, int | float | complex):
            value = native_of(output.value, backend)
            many = backend.prim.broadcast_to(value, (size, *backend.shape_of(value)))
            made.append(
                dressed(moved_axis(backend.xp, backend.prim.copy(many), 0, _place(axis, many, backend)), backend, False)
            )
        else:
            made.append(output.value)
    return tree_unflatten(structure, made)


def _place(axis: Any, value: Native, backend: Backend) -> int:
    ndim = len(backend.shape_of(value))
    if axis is None or not -ndim <= axis < ndim:
        raise ValueError(
            f"out_axes of ad.vmap is {axis!r} for a result of {ndim} dimensions, the examples' axis included."
        )
    return int(axis) % ndim
