"""The primitives of TensorFlow: see ``PRIMITIVES`` in ``backends/base.py`` for their contracts.

Tensors are immutable, so an update is a new tensor. ``slice_update_donated`` and ``scatter_donated`` write into the
tensor they are given, whose buffer nothing else refers to.
"""

from __future__ import annotations

import builtins
import math
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from ...common import tracing
from ..base import Unsupported
from . import host_kernels
from .core import (
    BITS,
    BOOL,
    COMPLEX,
    ENUM,
    INT64_ENUM,
    EagerTensor,
    accelerated,
    axis_of,
    derived,
    dims,
    fresh,
    host,
    integer,
    ints,
    join,
    on_host,
    raw,
    taped,
    truth,
)

Tensor = Any
Shape = tuple[int, ...]
DType = np.dtype[Any]
Key = tuple[builtins.slice, ...]

_add, _sub, _mul, _less, _equal, _not_equal, _and, _not, _or = map(
    raw, "AddV2 Sub Mul Less Equal NotEqual LogicalAnd LogicalNot LogicalOr".split()
)
_invert, _select, _cast, _bitcast, _fill, _range, _reshape, _transpose, _broadcast_to = map(
    raw, "Invert SelectV2 Cast Bitcast Fill Range Reshape Transpose BroadcastTo".split()
)
_reverse, _concat, _pad, _slice, _strided_slice, _slice_update, _gather, _gather_nd, _where = map(
    raw, "ReverseV2 ConcatV2 PadV2 Slice StridedSlice TensorStridedSliceUpdate GatherV2 GatherNd Where".split()
)
_unpack, _pack = map(raw, "Unpack Pack".split())
_SCATTER = {
    "set": raw("TensorScatterUpdate"),
    "add": raw("TensorScatterAdd"),
    "maximum": raw("TensorScatterMax"),
    "minimum": raw("TensorScatterMin"),
}
_segment_max, _segment_prod, _top_k, _arg_max, _arg_min, _any, _max, _min, _lower_bound = map(
    raw, "UnsortedSegmentMax UnsortedSegmentProd TopKV2 ArgMax ArgMin Any Max Min LowerBound".split()
)
_upper_bound, _bincount, _real, _imag = map(raw, "UpperBound DenseBincount Real Imag".split())

# -- creation and conversion ------------------------------------------------------------------------------------------


def _placed(device: Any) -> AbstractContextManager[Any]:
    return nullcontext() if device is None or not accelerated() else tf.device(device)


def full(shape: Shape, value: Any, dtype: DType, device: Any) -> Tensor:
    if isinstance(value, tf.Tensor):
        item = astype(value, dtype)
    elif type(value) is float and value != 0 and dtype.kind == "f":
        item = EagerTensor(value, host(), ENUM[dtype])
    else:
        # A separate ndarray: the constructor keeps one memory for equal Python numbers, 0.0 and -0.0 among them.
        item = EagerTensor(np.asarray(value).astype(dtype), host(), None)
    if not accelerated():
        return _fill(ints(tuple(shape)), item) if shape else item
    with _placed(device):
        return _fill(ints(tuple(shape)), item)


_RANGES = frozenset(np.dtype(t) for t in (np.int32, np.int64, np.float32, np.float64))


def iota(n: int, dtype: DType, device: Any) -> Tensor:
    """Return 0, 1, … n-1, cast from int64 for the types for which TensorFlow has no range."""
    with _placed(device):
        if dtype not in _RANGES:
            return astype(_range(integer(0), integer(n), integer(1)), dtype)
        number = ENUM[dtype]
        return _range(*(EagerTensor(x, host(), number) for x in (0, n, 1)))


_THROUGH = dict.fromkeys((np.dtype(t) for t in (np.int8, np.int16, np.uint8, np.uint16)), ENUM[np.dtype(np.int32)])
_THROUGH[np.dtype(np.uint32)] = INT64_ENUM
"""Narrow integer type -> wider type to which a float is cast first, as x86-64 does; TensorFlow's own cast may saturate."""


def astype(a: Tensor, dtype: DType) -> Tensor:
    """Cast as C does; complex to bool tests real and imaginary part. A tensor of the dtype is returned itself."""
    number = ENUM[dtype]
    current = a.dtype
    if current.as_datatype_enum == number:
        return a
    if dtype.kind == "b" and current in COMPLEX:
        return _not_equal(a, 0)
    if not (current.is_integer or current is BOOL) and dtype.kind in "iu":
        a = _truncated(a, _THROUGH.get(dtype, number))
    if dtype.kind == "c" and a.dtype not in COMPLEX and taped():  # the gradient of a cast warns about imaginary parts
        part = _cast(a, tf.float64 if number == ENUM[_COMPLEX128] else tf.float32)
        return complex(part, tf.zeros_like(part))
    if current is BOOL and dtype.kind in "fc" and not tf.executing_eagerly():
        # XLA treats a product with a cast bool as a choice between the other factor and zero, and so loses NaN.
        return _select(a, tf.ones((), dtype), tf.zeros((), dtype))
    if number == _FLOAT16 and current in _DOUBLES and not taped():
        a = _rounded_once(a if current is tf.float64 else _real(a, tf.float64))
    return _cast(a, number)


_FLOAT16 = ENUM[np.dtype(np.float16)]
_DOUBLES = frozenset({tf.float64, tf.complex128})


def _rounded_once(a: Tensor) -> Tensor:
    """Return doubles changed so that TensorFlow's cast to float16, which rounds to float32 first, gives the result of a single rounding.

    Bits that float32 cannot hold are cut off, and set the last bit that is kept, so that no number lies halfway between two by chance.
    """
    bits = _bitcast(a, tf.int64)
    lost = _cast(_not_equal(tf.bitwise.bitwise_and(bits, _BELOW_FLOAT32), 0), INT64_ENUM)
    kept = tf.bitwise.bitwise_and(bits, ~_BELOW_FLOAT32)
    return _bitcast(tf.bitwise.bitwise_or(kept, lost * (_BELOW_FLOAT32 + 1)), tf.float64)


_BELOW_FLOAT32 = 2**29 - 1
"""Bits of a double's significand that float32 lacks."""


def _truncated(a: Tensor, number: int) -> Tensor:
    """Cast floats to integers as x86-64 does, also in a graph, where XLA's cast saturates and makes a NaN 0."""
    limit = _LIMITS.get(number)
    if limit is None or tf.executing_eagerly():
        return _cast(a, number)
    part = tf.math.real(a) if a.dtype in COMPLEX else a
    fits = tf.logical_and(part >= tf.cast(-limit, part.dtype), part < tf.cast(limit, part.dtype))
    return tf.where(fits, _cast(part, number), tf.cast(-int(limit), number))


_LIMITS = {ENUM[np.dtype(np.int32)]: 2.0**31, INT64_ENUM: 2.0**63}
_COMPLEX128 = np.dtype(np.complex128)


def copy(a: Tensor) -> Tensor:
    return fresh(a)


def view_dtype(a: Tensor, dtype: DType) -> Tensor:
    """Reinterpret the bits, also of booleans, for which TensorFlow has no bitcast."""
    if a.dtype is BOOL:
        a = _cast(a, tf.uint8)
    if dtype.kind == "b":
        return _not_equal(_bitcast(a, tf.uint8), 0)
    return fresh(_bitcast(a, ENUM[dtype]))


# -- shape -----------------------------------------------------------------------------------------------------------


def reshape(a: Tensor, shape: Shape) -> Tensor:
    return _reshape(a, ints(tuple(shape)))


def transpose(a: Tensor, perm: Shape) -> Tensor:
    return _transpose(a, ints(tuple(perm)))


def broadcast_to(a: Tensor, shape: Shape) -> Tensor:
    try:
        return _broadcast_to(a, ints(tuple(shape)))
    except tf.errors.UnimplementedError:
        # TensorFlow refuses many axes if some are repeated: transform one at a time.
        a = reshape(a, (1,) * (len(shape) - a.ndim) + tuple(a.shape))
        for i, n in enumerate(shape):
            if a.shape[i] != n:
                a = _broadcast_to(a, ints((*a.shape[:i], n, *a.shape[i + 1 :])))
        return a


MOST_AXES = 8
"""Number of axes up to which TensorFlow slices and reverses arrays; arrays of more are moved one axis after the other."""


def flip(a: Tensor, axes: Shape) -> Tensor:
    if len(a.shape) > MOST_AXES:
        for axis in axes:
            a = _with_one_axis(axis, a, lambda three: _reverse(three, ints((1,))))
        return a
    return _reverse(a, ints(tuple(axes))) if axes else fresh(a)


def _with_one_axis(axis: int, a: Tensor, move: Callable[[Tensor], Tensor]) -> Tensor:
    """Apply ``move`` along one axis of an array with many; the axes before it are merged into one, and so are those behind it."""
    shape = dims(a)
    before, behind = shape[:axis], shape[axis + 1 :]
    moved = move(_reshape(a, ints((math.prod(before), shape[axis], math.prod(behind)))))
    return _reshape(moved, ints((*before, dims(moved)[1], *behind)))


def concatenate(arrays: Sequence[Tensor], axis: int) -> Tensor:
    return _concat(list(arrays), axis_of(axis)) if len(arrays) > 1 else fresh(arrays[0])


def pad(a: Tensor, widths: Sequence[tuple[int, int]], value: Any) -> Tensor:
    flat = tuple([width for pair in widths for width in pair])
    if not any(flat):
        return fresh(a)
    widths_ = _reshape(ints(flat), ints((len(widths), 2)))
    if type(a) is not EagerTensor and (isinstance(value, tf.Tensor) or value != 0):
        # The rule of `tf.vectorized_map` (2.21) omits the value.
        inside = pad(tf.ones(a.shape, tf.bool), widths, False)
        return tf.where(inside, _pad(a, widths_, tf.zeros((), a.dtype)), tf.cast(value, a.dtype))
    if not isinstance(value, tf.Tensor):
        value = EagerTensor(np.asarray(value).astype(a.dtype.as_numpy_dtype), host(), None)
    return _pad(a, widths_, value)


# -- elements --------------------------------------------------------------------------------------------------------


def slice(a: Tensor, key: Key) -> Tensor:
    """Slice; unit steps by ``Slice``, which costs two thirds of ``StridedSlice``."""
    if len(key) > MOST_AXES:
        for axis, part in enumerate(key):
            if range(part.start, part.stop, part.step or 1) != range(dims(a)[axis]):
                a = _with_one_axis(axis, a, partial(_middle, part=part))
        return a
    starts, sizes = [], []
    for part in key:
        if part.step != 1 and part.step is not None:
            return _stepped(a, key)
        start, size = part.start, part.stop - part.start
        if size <= 0:
            start = size = 0
        starts.append(start)
        sizes.append(size)
    return _slice(a, ints(tuple(starts)), ints(tuple(sizes)))


def _middle(three: Tensor, part: builtins.slice) -> Tensor:
    """Return a slice of the second of three axes."""
    first, _, last = dims(three)
    return slice(three, (builtins.slice(0, first, 1), part, builtins.slice(0, last, 1)))


def _bounds(key: Key) -> tuple[Tensor, Tensor, Tensor]:
    starts = tuple([part.start for part in key])
    stops = tuple([part.stop for part in key])
    return ints(starts), ints(stops), ints(tuple([part.step or 1 for part in key]))


def _stepped(a: Tensor, key: Key) -> Tensor:
    return _strided_slice(a, *_bounds(key))


def slice_update(a: Tensor, key: Key, value: Tensor) -> Tensor:
    """Return a tensor with a slice replaced. TensorFlow's operation broadcasts and takes steps; its gradient and XLA's version do
    neither.
    """
    if len(key) > MOST_AXES:
        places = np.arange(math.prod(dims(a))).reshape(dims(a))[key]
        flat = _reshape(broadcast_to(value, places.shape), ints((-1,)))
        written = _SCATTER["set"](_reshape(a, ints((-1,))), EagerTensor(places.reshape(-1, 1), host(), None), flat)
        return _reshape(written, ints(dims(a)))
    if type(a) is not EagerTensor or taped():
        ranges = [range(part.start, part.stop, part.step or 1) for part in key]
        shape = tuple(map(len, ranges))
        if dims(value) != shape:
            value = _broadcast_to(value, ints(shape))
        if any(part.step not in (1, None) for part in key):
            places = np.stack(np.meshgrid(*ranges, indexing="ij"), -1).astype(_index_type(a))
            return _SCATTER["set"](a, EagerTensor(places, host(), None), value)
        if type(a) is not EagerTensor and a.dtype.is_floating and 2 * math.prod(shape) >= math.prod(dims(a)) > 0:
            return _chosen(a, ranges, value)
    return _slice_update(a, *_bounds(key), value)


def _chosen(a: Tensor, ranges: Sequence[range], value: Tensor) -> Tensor:
    """Return an array with a value written to most of it, by selecting each element from the value or the array.

    XLA fuses the selection with the code that computes the value; the two take a third of the time of an update.
    """
    inside = None
    for axis, (part, n) in enumerate(zip(ranges, dims(a))):
        if len(part) < n:
            here = np.zeros([n if i == axis else 1 for i in range(len(ranges))], bool)
            here.reshape(-1)[part.start : part.stop] = True
            chosen = EagerTensor(here, host(), None)
            inside = chosen if inside is None else _and(inside, chosen)
    if inside is None:
        return value
    edges = [(part.start, n - part.stop) for part, n in zip(ranges, dims(a))]
    return _select(_and(inside, _numbers_read()), pad(value, edges, tf.constant(0, a.dtype)), a)


_met: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
"""Graph -> number of its inputs at the last write."""


def _numbers_read() -> Tensor:
    """Return True, in a form that makes XLA read the numbers given to the graph since the last write.

    XLA reads a number that only the inner elements need in the loop itself, which LLVM then does not vectorize; that takes twice
    as long.
    """
    graph = tf.compat.v1.get_default_graph()
    inputs = getattr(graph, "inputs", ())
    met, _met[graph] = _met.get(graph, 0), len(inputs)
    made = EagerTensor(True, host(), None)
    for i, x in enumerate(inputs):
        if x.shape.rank == 0 and x.dtype.is_floating and (i >= met or x.op.type == "Placeholder"):
            made = _or(made, _equal(x, x))
    return made


class _Memory:
    """Memory of a tensor as NumPy's array interface, writable."""

    __slots__ = ("__array_interface__", "tensor")

    def __init__(self, a: Tensor) -> None:
        interface: dict[str, Any] = np.asarray(memoryview(a)).__array_interface__
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface
        self.tensor = a


def _writable(a: Tensor) -> bool:
    # A 0-d tensor may be the one TensorFlow keeps for all equal Python numbers; NumPy has no buffers of bfloat16.
    return on_host(a) and a.shape.rank > 0 and a.dtype is not tf.bfloat16 and not taped()


def slice_update_donated(a: Tensor, key: Key, value: Tensor) -> Tensor:
    """Run `slice_update` in the buffer of ``a``, to which nothing else refers. TensorFlow would copy the whole buffer."""
    if not _writable(a) or not on_host(value):
        return slice_update(a, key, value)
    np.asarray(_Memory(a))[key] = np.asarray(memoryview(value))
    return a


def gather(a: Tensor, indices: Sequence[Tensor]) -> Tensor:
    if len(indices) == 1:
        return _gather(a, indices[0], integer(0))
    return _gather_nd(a, _pack(list(indices), -1))


def take(a: Tensor, indices: Tensor, axis: int) -> Tensor:
    return _gather(a, indices, integer(axis))


def _swapped(rank: int, axis: int) -> Shape:
    """Return the permutation that swaps an axis with the last."""
    perm = list(range(rank))
    perm[axis], perm[-1] = perm[-1], perm[axis]
    return tuple(perm)


def _take_last(a: Tensor, indices: Tensor) -> Tensor:
    last = a.shape.rank - 1
    return _gather(a, indices, integer(last), last)


def take_along_axis(a: Tensor, indices: Tensor, axis: int) -> Tensor:
    rank = a.shape.rank
    if axis in (-1, rank - 1):
        return _take_last(a, indices)
    perm = ints(_swapped(rank, axis))
    return _transpose(_take_last(_transpose(a, perm), _transpose(indices, perm)), perm)


def nonzero(a: Tensor) -> tuple[Tensor, ...]:
    rank = a.shape.rank
    if rank == 0:
        a, rank = _reshape(a, ints((1,))), 1
    _check_known(a)
    if (made := host_kernels.positions(a)) is not None:
        return tuple(_unpack(made, rank, 0))
    places = _where(truth(a))
    return (_reshape(places, ints((-1,))),) if rank == 1 else tuple(_unpack(places, rank, 1))


def _check_known(a: Tensor) -> None:
    """Raise TraceError if values in a graph would decide the shape of a result: a graph supports unknown shapes, NumPy's functions do
    not.
    """
    if type(a) is not EagerTensor and not tf.executing_eagerly():
        raise tracing.refusal(tracing.SHAPE)


def mask(a: Tensor, mask: Tensor) -> Tensor:
    flat = ints((-1,))
    _check_known(mask)
    places = _reshape(_where(_reshape(mask, flat)), flat)
    return _gather(_reshape(a, flat), places, integer(0))


def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return _select(condition, x, y)


# -- scatter ---------------------------------------------------------------------------------------------------------


def _flat_index(indices: Sequence[Tensor], lead: Shape) -> Tensor:
    flat = indices[0]
    for n, index in zip(lead[1:], indices[1:]):
        flat = _add(_mul(flat, integer(n)), index)
    return flat


def scatter(a: Tensor, indices: Sequence[Tensor], value: Tensor, how: str) -> Tensor:
    """Scatter to a new tensor, by the operation ``how``. With "set", the last value for an index is kept; TensorFlow writes in order on the
    CPU only. Raise Unsupported for extrema of complex numbers.
    """
    k, shape = len(indices), dims(a)
    if 0 in shape:
        return fresh(a)
    count = dims(indices[0])
    if not count:  # TensorFlow requires a list of places
        count, one = (1,), ints((1,))
        indices = [_reshape(index, one) for index in indices]
    updates = count + shape[k:]
    if dims(value) != updates:
        value = _broadcast_to(value, ints(updates))
    if a.dtype is BOOL and how != "set":
        joined = "maximum" if how in ("add", "maximum") else "minimum"
        return _cast(scatter(_cast(a, tf.uint8), indices, _cast(value, tf.uint8), joined), tf.bool)
    if how == "multiply":
        return _scatter_multiply(a, indices, value, shape)
    if how in ("maximum", "minimum"):
        if a.dtype in COMPLEX:
            raise Unsupported("TensorFlow does not order complex numbers")
        if a.dtype in BITS:
            return _scatter_extremum(a, indices, value, how)
    elif how == "set" and math.prod(count) > 1 and (derived() or accelerated()):
        value = _last_values(indices, value, shape[:k])
    return _SCATTER[how](a, _places(a, indices), value)


def _places(a: Tensor, indices: Sequence[Tensor]) -> Tensor:
    """Return the indices of a scatter as one tensor, of the dtype that :func:`_index_type` returns."""
    places = _pack(list(indices), -1)
    return _cast(places, tf.int32) if _index_type(a) is np.int32 else places


def _index_type(a: Tensor) -> Any:
    """Return the dtype of scatter positions: int32 in a graph or under a tape if they fit, else int64.

    ``tf.vectorized_map`` concatenates the positions with int32 indices of the examples, also in derivatives.
    """
    return np.int32 if (type(a) is not EagerTensor or taped()) and math.prod(dims(a)) < 1 << 31 else np.int64


def _last_values(indices: Sequence[Tensor], value: Tensor, lead: Shape) -> Tensor:
    """Return the values of a scatter, with all that are written to one place replaced by the last one, so that only the last gets the
    derivative; in TensorFlow each would get it.
    """
    flat = _flat_index(indices, lead)
    count, tail = dims(flat), dims(value)[len(dims(flat)) :]
    n = math.prod(count)
    order = _range(integer(0), integer(n), integer(1))
    newest = _gather(_segment_max(order, _reshape(flat, ints((-1,))), integer(math.prod(lead))), flat, integer(0))
    last = _gather(_reshape(tf.stop_gradient(value), ints((n, *tail))), newest, integer(0))
    if not derived():
        return last
    ours = _equal(newest, _reshape(order, ints(count)))
    return _select(_reshape(ours, ints(count + (1,) * len(tail))), value, last)


def _scatter_multiply(a: Tensor, indices: Sequence[Tensor], value: Tensor, shape: Shape) -> Tensor:
    """Multiply by the product of the values for each place (1 if there is none)."""
    k = len(indices)
    factors = _segment_prod(value, _flat_index(indices, shape[:k]), integer(math.prod(shape[:k])))
    out = _mul(a, _reshape(factors, ints(shape)))
    if a.dtype not in COMPLEX:
        return out
    # 1 + 0j times infinity is NaN: keep the other elements unchanged.
    touched = _SCATTER["set"](tf.zeros(shape[:k], BOOL), _places(a, indices), tf.ones(dims(indices[0]), BOOL))
    return _select(_reshape(touched, ints(shape[:k] + (1,) * (len(shape) - k))), out, a)


def _scatter_extremum(a: Tensor, indices: Sequence[Tensor], value: Tensor, how: str) -> Tensor:
    """Scatter by the extremum ``how``; TensorFlow's function loses NaN, so a second scatter marks the places to which a NaN was written."""
    places = _places(a, indices)
    out = _SCATTER[how](a, places, value)
    lost = _SCATTER["maximum"](_cast(_not_equal(a, a), tf.uint8), places, _cast(_not_equal(value, value), tf.uint8))
    nan = EagerTensor(np.array(np.nan, a.dtype.as_numpy_dtype), host(), None)
    return _select(_cast(lost, tf.bool), nan, out)


_NUMPY_SCATTER = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}


def scatter_donated(a: Tensor, indices: Sequence[Tensor], value: Tensor, how: str) -> Tensor:
    """Run `scatter` in the buffer of ``a``, to which nothing else refers, if that is possible; else run it to a new tensor."""
    if not _writable(a) or not on_host(value) or not all(map(on_host, indices)):
        return scatter(a, indices, value, how)
    out = np.asarray(_Memory(a))
    key = tuple([np.asarray(memoryview(index)) for index in indices])
    if how == "set":
        out[key] = np.asarray(memoryview(value))
    else:
        _NUMPY_SCATTER[how].at(out, key, np.asarray(memoryview(value)))
    return a


# -- order -----------------------------------------------------------------------------------------------------------


def _order(a: Tensor) -> Tensor:
    """Return integers in the order of the elements: NaN last and all equal, -0.0 equal to 0.0."""
    dtype = a.dtype
    if dtype is BOOL:
        return _cast(a, tf.uint8)
    integers = BITS.get(dtype)
    if integers is None:
        return a
    bits = _bitcast(a, integers)
    lowest = EagerTensor(integers.min, host(), integers.as_datatype_enum)
    highest = EagerTensor(integers.max, host(), integers.as_datatype_enum)
    return _select(_not_equal(a, a), highest, _select(_less(bits, 0), _sub(lowest, bits), bits))


def _argsort_last(a: Tensor, n: int) -> Tensor:
    """Return the indices that sort the last axis, stably: for equal elements ``TopKV2`` gives the lower index first. ~x reverses the
    order.
    """
    return _top_k(_invert(_order(a)), integer(n), True, INT64_ENUM)[1]


def _complex_argsort_last(a: Tensor, n: int) -> Tensor:
    """Return the indices that sort the last axis by the positions of NaNs, then by real, then by imaginary part: NumPy's order."""
    re, im = real(a), imag(a)
    nans = [_cast(_not_equal(part, part), tf.int32) for part in (re, im)]
    order = _argsort_last(im, n)
    for key in (re, _add(_add(nans[0], nans[0]), nans[1])):
        order = _take_last(order, _argsort_last(_take_last(key, order), n))
    return order


def _sort_last(a: Tensor, n: int) -> Tensor:
    if a.dtype in BITS or a.dtype in COMPLEX:
        return _take_last(a, argsort(a, -1))
    down = _top_k(_invert(_order(a)), integer(n), True, INT64_ENUM)[0]
    return _cast(_invert(down), tf.bool) if a.dtype is BOOL else _invert(down)


def _along(function: Any, a: Tensor, axis: int) -> Tensor:
    """Apply a function of the last axis (and its length) to another axis."""
    shape = dims(a)
    rank = len(shape)
    if axis in (-1, rank - 1):
        return function(a, shape[-1])
    perm = ints(_swapped(rank, axis))
    return _transpose(function(_transpose(a, perm), shape[axis]), perm)


def sort(a: Tensor, axis: int) -> Tensor:
    made = host_kernels.sort(a, axis)
    return made if made is not None else _along(_sort_last, a, axis)


def argsort(a: Tensor, axis: int, stable: bool = True) -> Tensor:
    if (made := host_kernels.argsort(a, axis, stable)) is not None:
        return made
    return _along(_complex_argsort_last if a.dtype in COMPLEX else _argsort_last, a, axis)


def _arg_extremum(a: Tensor, axis: int, find: Any, reduce: Any, worst: float) -> Tensor:
    dtype = a.dtype
    place = integer(axis)
    if dtype in COMPLEX:
        # Take the elements with the best real part, and of these the first with the best imaginary part.
        re, im = real(a), imag(a)
        nan = _not_equal(a, a)
        low = EagerTensor(worst, host(), re.dtype.as_datatype_enum)
        re = _select(nan, low, re)
        best = _and(_equal(re, reduce(re, place, True)), _not(nan))
        im = _select(best, im, low)
        best = _and(best, _equal(im, reduce(im, place, True)))
        return _arg_max(_select(_any(nan, place, True), nan, best), place)
    if dtype not in BITS:
        return find(a, place)
    nan = _not_equal(a, a)
    return _select(_any(nan, place), _arg_max(nan, place), find(a, place))


def argmax(a: Tensor, axis: int) -> Tensor:
    """Return the index of the maximum or of the first NaN; TensorFlow's function skips a NaN or not, depending on its position."""
    return _arg_extremum(a, axis, _arg_max, _max, -math.inf)


def argmin(a: Tensor, axis: int) -> Tensor:
    return _arg_extremum(a, axis, _arg_min, _min, math.inf)


_SEARCHED = 64
"""Number of sorted elements from which TensorFlow's own kernel is faster than XLA's, which compares each value with all elements: searching a
million values among a thousand takes 40 ms, XLA 450 and 7 s to compile."""


def searchsorted(a: Tensor, values: Tensor, side: str) -> Tensor:
    if a.dtype in COMPLEX:
        raise Unsupported("TensorFlow does not order complex numbers")
    if type(a) is not EagerTensor and (a.shape.rank is None or (a.shape[0] or _SEARCHED) >= _SEARCHED):
        tracing.is_quicker_on_host()
    row = ints((1, -1))
    bound = _lower_bound if side == "left" else _upper_bound
    places = bound(_reshape(_order(a), row), _reshape(_order(values), row), INT64_ENUM)
    return _reshape(places, ints(dims(values)))


def bincount(x: Tensor, weights: Tensor | None, length: int) -> Tensor:
    if (counted := host_kernels.counts(x, weights, length)) is not None:
        return counted
    if weights is None:
        weights = EagerTensor(np.empty(0, np.int64), host(), None)
    return _bincount(x, integer(length), weights)


# -- complex ---------------------------------------------------------------------------------------------------------


def real(a: Tensor) -> Tensor:
    return _real(a, tf.float64 if a.dtype is tf.complex128 else tf.float32)


def imag(a: Tensor) -> Tensor:
    return _imag(a, tf.float64 if a.dtype is tf.complex128 else tf.float32)


complex = join
