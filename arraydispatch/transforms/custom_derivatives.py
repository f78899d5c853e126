"""``custom_gradient``: a function with a user-defined derivative."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..backends.base import Backend, Native
from ..common import tracing
from ..common.pytrees import tree_flatten, tree_leaves, tree_paths, tree_unflatten
from .constants import is_traced
from .flattening import Body, Given, Input, Traced, dressed, is_array, library_of, name_of, native_of


def custom_gradient(fun: Callable[..., Any], gradient: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function a user-defined derivative, in place of the library's.

    Parameters
    ----------
    fun : callable
        Takes and returns pytrees of arrays.
    gradient : callable
        ``gradient(args, result, cotangent)`` gets the tuple of ``fun``'s arguments, the result, and the cotangent, a pytree like the
        result. It returns a tuple with the gradient for each argument: a pytree like the argument, or None if there is none.

    Returns
    -------
    callable
        A function of the same positional arguments. Outside of derivatives it is ``fun``.

    Raises
    ------
    TypeError
        When a derivative is taken, if ``gradient`` does not return a tuple of that length, or arrays of the arguments' shapes.

    Notes
    -----
    Arguments that are neither arrays nor numbers are passed on unchanged. Cotangents and gradients of complex numbers follow the
    convention of :func:`arraydispatch.grad`. The result may be differentiated again, through ``gradient``.
    """

    @functools.wraps(fun, updated=())
    def run(*args: Any) -> Any:
        leaves, structure = tree_flatten((args, {}))
        backend = library_of(leaves)
        if backend.native_is_ndarray or not (tracing.entered() or is_traced(leaves)):
            return fun(*args)
        with backend.within():
            return _Call(fun, gradient, args, leaves, structure, backend)()

    return run


class _Call:
    """Call of a function with a user-defined derivative while a transform runs."""

    def __init__(
        self, fun: Any, gradient: Any, args: tuple[Any, ...], leaves: list[Any], structure: Any, backend: Backend
    ) -> None:
        self.gradient, self.args, self.leaves, self.backend = gradient, args, leaves, backend
        slots = [Input.of(x) if is_array(x) or isinstance(x, float | complex) else x for x in leaves]
        self.body = Body(fun, "ad.custom_gradient", structure, slots, backend, _is_staged())
        self.body.ends = False  # the values are needed until the enclosing derivative ends, perhaps the library's own
        self.natives = self.body.natives_of(leaves)

    def __call__(self) -> Any:
        outs = self.backend.transforms.with_gradient(self._forward, self._back, self.natives)
        return self._result(outs)

    def _forward(self, natives: list[Native]) -> tuple[list[Native], list[Native]]:
        """Run the function; return its native results, including arguments that it returns unchanged, and an empty list of writes.

        A write to an argument raises.
        """
        outs, written = self.body(natives)
        if self.body.written:
            raise TypeError(
                f"{self.body.name} under ad.custom_gradient must not write to its arguments; copy them first."
            )
        values = iter(outs)
        return [
            next(values) if type(output) is Traced else natives[output.at]
            for output in self.body.outputs[0]
            if type(output) in (Traced, Given)
        ], written

    def _result(self, values: Sequence[Native]) -> Any:
        structure, outputs = self.body.structures[0], self.body.outputs[0]
        rest = iter(values)
        made = []
        for output in outputs:
            if type(output) is Traced:
                made.append(dressed(next(rest), self.backend, output.scalar, output.standard))
            elif type(output) is Given:
                slot = self.body.slots[self.body.inputs[output.at]]
                made.append(dressed(next(rest), self.backend, slot.scalar, slot.standard))
            else:
                made.append(output.value)
        return tree_unflatten(structure, made)

    def _back(self, natives: list[Native], outs: list[Native], cotangents: list[Native]) -> list[Native]:
        backend, body = self.backend, self.body
        given = list(self.leaves)
        for i, x in zip(body.inputs, natives):
            given[i] = dressed(x, backend, body.slots[i].scalar, body.slots[i].standard)
        args = tree_unflatten(tree_flatten(self.args)[1], given)
        made = self.gradient(args, self._result(outs), self._result(cotangents))
        if not isinstance(made, tuple) or len(made) != len(args):
            raise TypeError(
                f"{name_of(self.gradient)} of ad.custom_gradient must return a tuple of {len(args)}, a gradient for each argument."
            )
        flat: list[Any] = []
        for x, g in zip(args, made):
            count = len(tree_leaves(x))
            found = [None] * count if g is None else tree_leaves(g)
            if len(found) != count:
                raise TypeError(
                    f"{name_of(self.gradient)} of ad.custom_gradient must return a gradient with the structure of its argument."
                )
            flat += found
        paths = tree_paths(args, "args")
        return [self._one(flat[i], x, paths[i]) for i, x in zip(body.inputs, natives)]

    def _one(self, g: Any, x: Native, path: str) -> Native:
        backend = self.backend
        dtype, shape = backend.dtype_of(x), backend.shape_of(x)
        if g is None:
            return backend.prim.full(shape, 0, dtype, backend.device_of(x))
        value = native_of(g, backend)
        if backend.shape_of(value) != shape:
            raise TypeError(
                f"{name_of(self.gradient)} of ad.custom_gradient returns a gradient of shape {backend.shape_of(value)} for {path} of "
                f"shape {shape}."
            )
        if np.can_cast(backend.dtype_of(value), dtype, "same_kind"):
            return backend.prim.astype(value, dtype)
        return backend.prim.astype(backend.prim.real(value), dtype)


def _is_staged() -> bool:
    trace = tracing.current()
    return trace is None or trace.staged
