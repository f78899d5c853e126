"""Common foundations of this backend: dtypes, raw operations, cheap constants.

``tf.add`` takes twice as long as the operation that it calls, and a Python list given as an axis or a shape takes three times
as long again (15 µs to become a tensor). So kernels call the generated functions behind ``tf.raw_ops``, with constants that
are created once.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import ml_dtypes
import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops  # the public API has no optimization barrier
from tensorflow.python.eager import record  # the public API does not tell whether a GradientTape is recording
from tensorflow.python.ops import control_flow_util  # the public API does not tell whether a graph is traced for XLA
from tensorflow.python.util import dispatch  # the public API does not tell which types its functions have met

Tensor = Any
DType = np.dtype[Any]

EagerTensor: Any = tf.__internal__.EagerTensor

BFLOAT16: DType = np.dtype(ml_dtypes.bfloat16)

_TYPES: tuple[Any, ...] = (
    *(np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    *(np.float16, np.float32, np.float64, np.complex64, np.complex128, BFLOAT16),
)

ENUM: dict[DType, int] = {np.dtype(t): tf.as_dtype(np.dtype(t)).as_datatype_enum for t in _TYPES}
"""NumPy's dtype -> TensorFlow's number for it, as its C functions take it."""

FROM_ENUM: dict[int, DType] = {number: dtype for dtype, number in ENUM.items()}

for _alias in (np.longlong, np.ulonglong, np.intc, np.uintc, np.long, np.ulong):
    # NumPy's aliases of one size have different hashes.
    ENUM.setdefault(np.dtype(_alias), ENUM[np.dtype(np.dtype(_alias).str)])

INT64_ENUM = ENUM[np.dtype(np.int64)]
INT32_ENUM = ENUM[np.dtype(np.int32)]

BOOL = tf.bool
UNSIGNED = frozenset({tf.uint8, tf.uint16, tf.uint32, tf.uint64})
INTEGERS = UNSIGNED | {tf.int8, tf.int16, tf.int32, tf.int64}
COMPLEX = frozenset({tf.complex64, tf.complex128})
HALVES = frozenset({tf.float16, tf.bfloat16})

BITS: dict[Any, Any] = {tf.float16: tf.int16, tf.bfloat16: tf.int16, tf.float32: tf.int32, tf.float64: tf.int64}
"""Floating type -> signed integer type of the same size."""

UNSIGNED_TWIN: dict[Any, Any] = {
    tf.int8: tf.uint8, tf.int16: tf.uint16, tf.int32: tf.uint32, tf.int64: tf.uint64,
    tf.uint8: tf.uint8, tf.uint16: tf.uint16, tf.uint32: tf.uint32, tf.uint64: tf.uint64,
}  # fmt: skip

REAL: dict[Any, Any] = {tf.complex64: tf.float32, tf.complex128: tf.float64}
"""Complex type -> type of the real and imaginary parts."""

PYTHON = frozenset({bool, int, float, complex})


def raw(name: str) -> Callable[..., Any]:
    """Return the generated function behind a ``tf.raw_ops`` name; it takes its arguments by position.

    The public function only checks that the arguments are given by keyword (0.4 µs).
    """
    return inspect.unwrap(getattr(tf.raw_ops, name))


_starting = threading.RLock()


@cache
def host() -> str:
    """Return the full name of the host's device; the first call creates TensorFlow's first tensor."""
    with _starting, tf.init_scope(), tf.device("CPU:0"):
        first = tf.constant(0)
        # A public function tests a new type in Python code, and keeps its arguments meanwhile where another thread's
        # call overwrites them (a segmentation fault). So the test is made here, before threads have tensors.
        met: tuple[Any, ...] = (
            first,
            np.zeros(1),
            np.float64(0),
            True,
            0,
            0.0,
            0j,
            "",
            [],
            (),
            None,
            tf.float32,
            first.shape,
        )
        for checker in getattr(dispatch, "_is_instance_checker_cache", {}).values():
            for value in met:
                checker.Check(value)
        return str(first.device)


@cache
def accelerated() -> bool:
    """Whether operations may run anywhere but on a single CPU device."""
    return len(tf.config.list_logical_devices()) > 1


@lru_cache(maxsize=8192)
def ints(values: tuple[int, ...]) -> Tensor:
    """Return a constant int64 vector in host memory: an axis, a shape, the start of a slice.

    Inside a ``tf.function`` too the vector is an eager tensor; ``tf.function`` embeds small eager tensors as constants.
    """
    return EagerTensor(values, host(), INT64_ENUM)


@lru_cache(maxsize=1024)
def axes_of(values: tuple[int, ...]) -> Tensor:
    """Return a constant int32 vector of axes in host memory: the derivative of a vectorized reduction requires that type."""
    return EagerTensor(values, host(), INT32_ENUM)


@lru_cache(maxsize=1024)
def axis_of(value: int) -> Tensor:
    """Return a constant int32 scalar in host memory: the derivative of ``ConcatV2`` in a graph accepts no other for the
    axis.
    """
    return EagerTensor(value, host(), INT32_ENUM)


@lru_cache(maxsize=8192)
def integer(value: int) -> Tensor:
    """Return a constant int64 scalar in host memory."""
    return EagerTensor(value, host(), INT64_ENUM)


def scalar(value: Any, like: Tensor) -> Tensor:
    """Return a 0-d tensor of a Python number, in the dtype of the tensor ``like``. (In a graph, a bare number as first operand would get a
    default dtype.)
    """
    if value == 0 or type(value) is complex:
        # A separate ndarray: the constructor keeps one memory for equal Python numbers, 0.0 and -0.0 among them.
        return EagerTensor(np.asarray(value, like.dtype.as_numpy_dtype), host(), None)
    return EagerTensor(value, host(), like.dtype.as_datatype_enum)


def dims(a: Tensor) -> tuple[int, ...]:
    """Return the shape; dimensions unknown while tracing are None."""
    return a._shape_tuple() if type(a) is EagerTensor else tuple(a.shape.as_list())


def on_host(a: Tensor) -> bool:
    """Whether the value is concrete and in host memory."""
    return type(a) is EagerTensor and ":CPU:" in a.device


def taped() -> bool:
    """Whether a gradient tape is recording. A tape keeps operands, so their memory must not be written."""
    return bool(record.could_possibly_record())


def derived() -> bool:
    """Whether a derivative of the values computed here may be taken, now or later."""
    return taped() or not tf.executing_eagerly()


_complex, _not_equal = raw("Complex"), raw("NotEqual")


def join(re: Tensor, im: Tensor) -> Tensor:
    """Combine real and imaginary parts to complex numbers."""
    return _complex(re, im, tf.complex128 if re.dtype is tf.float64 else tf.complex64)


def truth(a: Tensor) -> Tensor:
    """Return whether each element is not zero; the tensor itself if it is of bools."""
    return a if a.dtype is BOOL else _not_equal(a, 0)


_placeholder = raw("PlaceholderWithDefault")


@tf.custom_gradient  # type: ignore[untyped-decorator]
def apart(a: Tensor) -> Any:
    """Return an operand of a graph with its origin hidden from XLA and Grappler.

    See ``apart`` in ``backends/jax/jitted_kernels.py``. Instead of dividing by a constant or a root, Grappler multiplies by the
    reciprocal.
    """
    if control_flow_util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph()):
        return gen_xla_ops.xla_optimization_barrier([a])[0], lambda upstream: upstream
    return _placeholder(a, a.shape), lambda upstream: upstream


def hidden(value: Any, like: Tensor) -> Tensor:
    """Return a 0-d tensor of a Python number, in the dtype of ``like``, that a graph does not optimize as a constant if it is a float."""
    made = scalar(value, like)
    return apart(tf.convert_to_tensor(made)) if like.dtype in BITS else made


_deep_copy, identity, _neg = raw("DeepCopy"), raw("Identity"), raw("Neg")


def fresh(a: Tensor) -> Tensor:
    """Copy the values of an eager tensor to a private buffer.

    In a graph, which has no buffers to write to, return the value itself, also for a constant: XLA lacks
    DeepCopy, and DeepCopy has no gradient.
    """
    if type(a) is not EagerTensor or not tf.executing_eagerly():
        return identity(a)
    if a.dtype.is_integer or a.dtype is BOOL or not taped():
        return _deep_copy(a)
    return _neg(_neg(a))
