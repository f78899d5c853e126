"""An array is a nest of its tensor to TensorFlow: its transforms take it apart and put it together.

``__tf_flatten__`` and ``__tf_unflatten__`` are what ``tf.nest`` asks (``tensorflow/python/util/custom_nest_protocol.py``, 2.13 on), by which
go ``GradientTape``, ``vectorized_map``, ``while_loop`` and ``tf.data``. ``tf.function`` asks ``__tf_tracing_type__`` first, without which it
would take whatever has ``__array__`` for a tensor.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.core.function.trace_type.custom_nest_trace_type import CustomNestTraceType

__all__ = ["leave", "receive"]


def receive(wrapper: Any, backend: Any) -> None:
    """Teach TensorFlow the class of arrays and those derived from it."""

    def apart(a: Any) -> tuple[Any, tuple[Any, ...]]:
        return a._kind.home, (a.native,)

    def together(cls: Any, kind: Any, leaves: tuple[Any, ...]) -> Any:
        (leaf,) = leaves
        if isinstance(leaf, wrapper):  # a jacobian: for the array of each result one as the argument is
            return leaf
        if not backend.is_native(leaf):  # whatever a transform puts there
            return cls._holding(leaf, kind)
        # Of a scalar too, which TensorFlow may have stacked meanwhile: it compares the classes before and after.
        return wrapper._holding(leaf, backend.kind(backend.dtype_of(leaf)))

    def traced(a: Any, context: Any) -> Any:
        value = a.native
        if not backend.is_native(value):
            return tf.TensorSpec(a.shape, tf.as_dtype(a.dtype))
        return CustomNestTraceType(type(a), a._kind.home, (value.__tf_tracing_type__(context),))

    wrapper.__tf_flatten__, wrapper.__tf_unflatten__ = apart, classmethod(together)
    wrapper.__tf_tracing_type__ = traced


def leave(wrapper: Any) -> None:
    """Have arrays be no nests: TensorFlow then takes them for ndarrays, by ``__array__``."""
    for name in ("__tf_flatten__", "__tf_unflatten__", "__tf_tracing_type__"):
        if name in vars(wrapper):
            delattr(wrapper, name)
