"""Host code in TensorFlow's graphs, called once for all examples of a ``tf.vectorized_map``.

``vectorized_map`` (pfor) calls a ``tf.numpy_function`` in a loop, since it cannot know whether the function handles many
examples at once. The functions here do. So pfor is given a rule for the operation, which recognizes these functions by their
tokens and leaves all others to the loop. The public API of TensorFlow does not allow such rules; if its internals change,
these functions are called in the loop as well.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

try:
    from tensorflow.python.ops.parallel_for import pfor
except ImportError:
    pfor = None

OPERATION = "PyFuncStateless"


class _HostFunction:
    """Function ``f`` that a graph calls on the host, as in :func:`call`. The graphs that call it keep this object alive."""

    __slots__ = ("__weakref__", "f", "lead", "specs")

    def __init__(self, f: Any, specs: Sequence[Any], lead: int) -> None:
        self.f, self.specs, self.lead = f, specs, lead

    def __call__(self, *values: Any) -> Any:
        return self.f(list(values), self.lead)


_functions: weakref.WeakValueDictionary[bytes, _HostFunction] = weakref.WeakValueDictionary()
"""Token of an operation -> function that it calls."""


def call(f: Any, natives: Sequence[Any], specs: Sequence[Any], lead: int = 0) -> list[Any]:
    """Call ``f(arrays, lead)`` on the host, at once or, in a graph, when the graph runs; return its results as tensors.

    ``natives``: tensors with ``lead`` leading axes of examples. ``specs``: (shape, dtype) of each result, without these axes.
    """
    held = _HostFunction(f, specs, lead)
    # Stateless: a graph runs stateful operations even if their results are unused, as here the call on one example.
    made = tf.numpy_function(held, list(natives), [tf.as_dtype(dtype) for _, dtype in specs], stateful=False)
    if made and not tf.executing_eagerly() and made[0].op.type == OPERATION:
        _functions[made[0].op.get_attr("token")] = held
    sizes = tuple(natives[0].shape[:lead]) if natives else ()
    return [tf.ensure_shape(x, (*sizes, *shape)) for x, (shape, _) in zip(made, specs)]


def _for_many(pfor_input: Any) -> Any:
    """Run the host call for all examples at once and return the stacked results: the conversion rule for ``pfor``."""
    held = _functions.get(pfor_input.op.get_attr("token"))
    if held is None or not pfor_input.num_inputs:
        return pfor._fallback_converter(pfor_input, warn=False)
    pfor_input.stack_inputs()
    values = [pfor_input.stacked_input(i) for i in range(pfor_input.num_inputs)]
    return [pfor.wrap(x, True) for x in call(held.f, values, held.specs, held.lead + 1)]


def register(pfor: Any) -> bool:
    """Register :func:`_for_many` as the conversion rule for host calls with ``pfor``, TensorFlow's module; return whether that was
    possible.
    """
    if not all(hasattr(pfor, name) for name in ("RegisterPFor", "_fallback_converter", "wrap")):
        return False
    try:
        pfor.RegisterPFor(OPERATION)(_for_many)
    except AssertionError:  # a rule has been registered before
        return False
    return True


register(pfor)
