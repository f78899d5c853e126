"""Arrays as nests of their tensors, which TensorFlow's transforms flatten and rebuild.

``tf.nest`` uses ``__tf_flatten__`` and ``__tf_unflatten__`` (``tensorflow/python/util/custom_nest_protocol.py``, from
2.13), and with it ``GradientTape``, ``vectorized_map``, ``while_loop`` and ``tf.data``. ``tf.function`` first uses
``__tf_tracing_type__``; without it, it would convert anything with ``__array__`` to a tensor.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.core.function.trace_type.custom_nest_trace_type import CustomNestTraceType


def receive(wrapper: Any, backend: Any) -> None:
    """Register the class of arrays and its subclasses with TensorFlow."""

    def apart(a: Any) -> tuple[Any, tuple[Any, ...]]:
        return a._kind.home, (a.native,)

    def together(cls: Any, kind: Any, leaves: tuple[Any, ...]) -> Any:
        (leaf,) = leaves
        if isinstance(leaf, wrapper):  # in a Jacobian, the array of each result holds an array shaped as the argument
            return leaf
        if not backend.is_native(leaf):  # a transform may put any object there
            return cls._holding(leaf, kind)
        # A scalar keeps its class too, even if TensorFlow has stacked it: TensorFlow compares the classes before and after.
        return wrapper._holding(leaf, backend.kind(backend.dtype_of(leaf)))

    def traced(a: Any, context: Any) -> Any:
        value = a.native
        if not backend.is_native(value):
            return tf.TensorSpec(a.shape, tf.as_dtype(a.dtype))
        return CustomNestTraceType(type(a), a._kind.home, (value.__tf_tracing_type__(context),))

    wrapper.__tf_flatten__, wrapper.__tf_unflatten__ = apart, classmethod(together)
    wrapper.__tf_tracing_type__ = traced


def leave(wrapper: Any) -> None:
    """Unregister arrays as nests; TensorFlow then treats them as ndarrays, through ``__array__``."""
    for name in ("__tf_flatten__", "__tf_unflatten__", "__tf_tracing_type__"):
        if name in vars(wrapper):
            delattr(wrapper, name)
