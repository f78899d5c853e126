"""The primitives of `arraydispatch.backends.base.PRIMITIVES` in JAX; those of linear algebra are in ``linalg``.

Each is one jitted function. Arguments that would make every new value a new program (the start of a window, a fill
value) are traced; shapes, axes and dtypes are static.
"""

from __future__ import annotations

import builtins
import math
import threading
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...common import tracing
from ..base import Unsupported
from . import mesh_slices, shardings
from .direct_use import is_tracing
from .host_kernels import are_complex_matrices, are_many_places, is_rare, or_numpy
from .jitted_kernels import apart, highest, kernel
from .mesh_slices import IN_BOUNDS
from .shardings import Spread, distributed, fitting

Array = Any
DType = np.dtype[Any]


# -- creation and conversion ------------------------------------------------------------------------------------------


@cache
def _on(device: Any, function: Callable[..., Array], static: tuple[int, ...]) -> Callable[..., Array]:
    if device is None:
        return jax.jit(function, static_argnums=static)
    sharding = jax.sharding.SingleDeviceSharding(device) if isinstance(device, jax.Device) else device
    return jax.jit(function, static_argnums=static, out_shardings=sharding)


def _full(value: Array, shape: tuple[int, ...]) -> Array:
    return jnp.broadcast_to(value, shape) if shape else jnp.copy(value)


def _iota(n: int, dtype: DType) -> Array:
    return lax.iota(np.uint8, n).astype(bool) if dtype == np.bool_ else lax.iota(dtype, n)


_BY_NUMPY = 1 << 16  # bytes


def _moved(x: np.ndarray[Any, Any], device: Any) -> Array:
    if isinstance(device, Spread) and not is_tracing():
        return distributed(x, device)
    return jnp.asarray(x) if device is None else jax.device_put(x, fitting(device, x.shape))


def full(shape: tuple[int, ...], value: Any, dtype: DType, device: Any) -> Array:
    if isinstance(value, jax.Array):
        value = astype(value, dtype)
    else:
        value = np.asarray(value).astype(dtype)  # not `asarray(value, dtype)`, which refuses -1 for unsigned types
        if math.prod(shape) * dtype.itemsize <= _BY_NUMPY and is_rare(tuple(shape), dtype, device):
            return _moved(np.full(shape, value), device)
    return _on(fitting(device, shape), _full, (1,))(value, tuple(shape))


def iota(n: int, dtype: DType, device: Any) -> Array:
    if n * dtype.itemsize <= _BY_NUMPY and is_rare(n, dtype, device):
        return _moved(np.arange(n).astype(dtype), device)
    return _on(fitting(device, (n,)), _iota, (0, 1))(n, dtype)


def _to_integer(a: Array, dtype: DType) -> Array:
    # XLA's conversion saturates and maps NaN to 0. NumPy's is C's, undefined outside the range; these are the values of
    # x86: the lowest signed integer of 32 bits (64 for wider types), truncated to the type's width.
    def through(wide: type[np.signedinteger[Any]]) -> Array:
        low, high = -(2.0 ** (np.dtype(wide).itemsize * 8 - 1)), 2.0 ** (np.dtype(wide).itemsize * 8 - 1)
        whole = lax.floor(lax.abs(a))
        inside = (jnp.where(a < 0, -whole, whole) >= low) & (whole <= high) & (a < high)
        return jnp.where(inside, a.astype(wide), np.iinfo(wide).min)

    if a.dtype.itemsize == 2:
        a = a.astype(np.float32)  # its range contains the bounds above
    if dtype == np.uint64:
        top = (a >= 2.0**63) & (a < 2.0**64)
        return jnp.where(top, a.astype(np.uint64), through(np.int64).astype(np.uint64))
    # uint32 is converted through int64, as scalar code does.
    return through(np.int32 if dtype.itemsize < 4 or dtype == np.int32 else np.int64).astype(dtype)


def _astype(a: Array, dtype: DType) -> Array:
    if dtype == np.bool_:
        return a != 0
    if jnp.issubdtype(a.dtype, np.complexfloating) and not jnp.issubdtype(dtype, np.complexfloating):
        a = lax.real(a)
    if jnp.issubdtype(a.dtype, jnp.floating) and jnp.issubdtype(dtype, np.integer):
        return _to_integer(a, dtype)
    # XLA treats a product with a truth value as a choice between the other factor and zero, and so loses NaN.
    if a.dtype == np.bool_:
        a = apart(a.astype(np.finfo(dtype).dtype if dtype.kind == "c" else dtype))
    return (_rounded_once(a) if a.dtype == np.float64 and dtype == np.float16 else a).astype(dtype)


_BELOW_FLOAT32 = np.uint64(2**29 - 1)  # the bits of a double's significand that a float32 has not


def _rounded_once(a: Array) -> Array:
    # XLA casts doubles to float16 through float32 on a CPU. Bits that float32 cannot hold are cut off, and set the last bit that is
    # kept, so that no number lies halfway between two by chance.
    bits = lax.bitcast_convert_type(lax.stop_gradient(a), np.uint64)
    lost = (bits & _BELOW_FLOAT32) != 0
    odd = lax.bitcast_convert_type((bits & ~_BELOW_FLOAT32) | lost.astype(np.uint64) << np.uint64(29), np.float64)
    near = lost & jnp.isfinite(odd) & (lax.abs(a) > 2.0**-40)  # smaller ones become zeros of their sign
    return jnp.where(near, a + (odd - lax.stop_gradient(a)), a)  # which has a derivative


_astype_compiled = kernel(_astype, static=(1,))


def astype(a: Array, dtype: DType) -> Array:
    return a if a.dtype == dtype else _astype_compiled(a, dtype)


copy = kernel(lambda a: a)


def _view_dtype(a: Array, dtype: DType) -> Array:
    if a.dtype == np.bool_:
        a = a.astype(np.uint8)
    if jnp.issubdtype(a.dtype, np.complexfloating):
        if jnp.issubdtype(dtype, np.complexfloating):
            return a
        if a.dtype.itemsize != 8:
            raise Unsupported("JAX has no real type of 16 bytes")
        low, high = (lax.bitcast_convert_type(part, np.uint32) for part in (lax.real(a), lax.imag(a)))
        a = low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)
    if dtype == np.bool_:
        return a != 0
    if jnp.issubdtype(dtype, np.complexfloating):
        bits = lax.bitcast_convert_type(a, np.uint64)
        parts = ((bits >> np.uint64(shift)).astype(np.uint32) for shift in (0, 32))
        return lax.complex(*[lax.bitcast_convert_type(part, np.float32) for part in parts])
    return lax.bitcast_convert_type(a, dtype)


view_dtype = kernel(_view_dtype, static=(1,))

# -- shape -----------------------------------------------------------------------------------------------------------

_reshape = jax.jit(jnp.reshape, static_argnums=1)
_transpose = jax.jit(lax.transpose, static_argnums=1)
_broadcast_to = jax.jit(jnp.broadcast_to, static_argnums=1)
_flip = kernel(lax.rev, static=(1,))


def _joined(parts: tuple[Array, ...], axis: int) -> Array:
    """Concatenate ``parts`` along an axis; on a CPU, write them into a new array if they are few.

    On a CPU XLA fuses a concatenation with its readers to a loop that tests for each element in which part it lies. With such a loop, sums
    of arrays from `np.roll` take 4 to 8 times as long (float64, 2000 x 2000, JAX 0.10.2).
    """
    if not 1 < len(parts) <= _FEW or jax.device_count() > 1 or jax.default_backend() != "cpu":
        return lax.concatenate(parts, axis)
    shape = list(parts[0].shape)
    shape[axis] = sum(part.shape[axis] for part in parts)
    made, start = lax.full(shape, np.zeros((), parts[0].dtype)), 0
    for part in parts:
        made = lax.dynamic_update_slice_in_dim(made, part, start, axis)
        start += part.shape[axis]
    return made


_FEW = 8
"""Maximum number of parts that are written one by one."""
_concatenate = kernel(_joined, static=(1,))
_pad = kernel(lambda a, widths, value: lax.pad(a, value, [(*width, 0) for width in widths]), static=(1,))


def reshape(a: Array, shape: tuple[int, ...]) -> Array:
    return _reshape(a, tuple(shape))


def transpose(a: Array, perm: tuple[int, ...]) -> Array:
    return _transpose(a, tuple(perm))


def broadcast_to(a: Array, shape: tuple[int, ...]) -> Array:
    shape = tuple(shape)
    mesh = shardings.in_force() if shardings.meshes_in_force else None
    if mesh is None or math.prod(shape) < mesh.least or a.size >= mesh.least:
        return _broadcast_to(a, shape)
    # A large array is made from a small one: split it from the start.
    return _on(mesh.sharding(shape), jnp.broadcast_to, (1,))(a, shape)


def flip(a: Array, axes: tuple[int, ...]) -> Array:
    return _flip(a, tuple(axes))


def concatenate(arrays: Sequence[Array], axis: int) -> Array:
    return _concatenate(tuple(arrays), axis)


def pad(a: Array, widths: Sequence[tuple[int, int]], value: Any) -> Array:
    value = astype(value, a.dtype) if isinstance(value, jax.Array) else np.asarray(value).astype(a.dtype)
    return _pad(a, tuple([(before, after) for before, after in widths]), value)


# -- elements --------------------------------------------------------------------------------------------------------


def _window(key: tuple[builtins.slice, ...]) -> tuple[Any, tuple[int, ...], tuple[int, ...] | None]:
    """Split a key into starts (traced) and lengths and steps (static), so that windows that differ only in their start share a program.

    Steps are None if all are 1.
    """
    starts, sizes, steps, stepped = [], [], [], False
    for part in key:
        start, stop, step = part.start, part.stop, part.step or 1
        size = max((stop - start + step - 1) // step, 0)
        starts.append(start if size else 0)
        sizes.append(size)
        steps.append(step)
        if step != 1:
            stepped = True
    return np.array(starts, np.int64), tuple(sizes), tuple(steps) if stepped else None


def _extent(sizes: tuple[int, ...], steps: tuple[int, ...]) -> list[int]:
    return [(size - 1) * step + 1 if size else 0 for size, step in zip(sizes, steps)]


def _slice(a: Array, starts: Array, sizes: tuple[int, ...], steps: tuple[int, ...] | None) -> Array:
    corner = [lax.index_in_dim(starts, axis, keepdims=False) for axis in range(a.ndim)]
    if steps is None:
        return lax.dynamic_slice(a, corner, sizes)
    extent = _extent(sizes, steps)
    return lax.slice(lax.dynamic_slice(a, corner, extent), [0] * a.ndim, extent, steps)


def _slice_update(
    a: Array, starts: Array, value: Array, sizes: tuple[int, ...], steps: tuple[int, ...] | None
) -> Array:
    corner = [starts[axis] for axis in range(a.ndim)]
    value = jnp.broadcast_to(value, sizes)
    if steps is not None:
        window = lax.dynamic_slice(a, corner, _extent(sizes, steps))
        value = window.at[tuple(builtins.slice(None, None, step) for step in steps)].set(value)
    return lax.dynamic_update_slice(a, value, corner)


_slice_compiled = jax.jit(_slice, static_argnums=(2, 3))
_update_compiled = kernel(_slice_update, static=(3, 4))
_split_slice_compiled = jax.jit(mesh_slices.read, static_argnums=1)
_split_update_compiled = kernel(mesh_slices.write, static=(2,))


def _fixed(key: tuple[builtins.slice, ...]) -> mesh_slices.Window:
    """Return the starts, lengths and steps of a key; a length of 1 gets the step 1, since XLA's partitioner fails for others."""
    return tuple(
        [
            (part.start, size := len(range(part.start, part.stop, part.step or 1)), part.step or 1 if size > 1 else 1)
            for part in key
        ]
    )


def slice(a: Array, key: tuple[builtins.slice, ...]) -> Array:
    starts, sizes, steps = _window(key)
    if sizes == a.shape:
        return a
    if mesh_slices.may_be_split(a):
        return _split_slice_compiled(a, _fixed(key))
    if _is_staged(a):  # the place is fixed in the program; XLA does not always see that from starts in an array
        extent = _extent(sizes, steps or (1,) * a.ndim)
        stops = [part + length for part, length in zip(starts.tolist(), extent)]
        return lax.slice(a, starts.tolist(), stops, steps)
    return _slice_compiled(a, starts, sizes, steps)


def _is_staged(a: Array) -> bool:
    """Whether the call becomes part of a program, which is compiled only for these arguments."""
    return isinstance(a, jax.core.Tracer) and (not tracing.entered() or tracing.is_staged())


def slice_update(a: Array, key: tuple[builtins.slice, ...], value: Array) -> Array:
    if mesh_slices.may_be_split(a):
        return _split_update_compiled(a, value, _fixed(key))
    starts, sizes, steps = _window(key)
    if _is_staged(a) and 2 * math.prod(_extent(sizes, steps or (1,) * a.ndim)) >= a.size > 0:
        # XLA fuses a selection with the code that computes the value, but copies every operand of an update.
        return mesh_slices.write(a, value, _fixed(key))
    return _update_compiled(a, starts, value, sizes, steps)


def slice_at(a: Array, starts: Sequence[Array], sizes: Sequence[int], steps: Sequence[int]) -> Array:
    """Read a slice, given its start, length and step along each axis; the starts are operands of a program."""
    if mesh_slices.may_be_split(a):
        return mesh_slices.read_at(a, starts, sizes, steps)
    return _slice(a, jnp.stack([*starts]), tuple(sizes), _strides(steps))


def slice_update_at(a: Array, starts: Sequence[Array], steps: Sequence[int], value: Array) -> Array:
    """Write a slice whose starts are operands of a program."""
    if mesh_slices.may_be_split(a):
        return mesh_slices.write_at(a, starts, steps, value)
    return _slice_update(a, jnp.stack([*starts]), value, value.shape, _strides(steps))


def _strides(steps: Sequence[int]) -> tuple[int, ...] | None:
    return None if all(step == 1 for step in steps) else tuple(steps)


rescue = threading.local()
"""Storage for ``rescue.made``: a list that holds the result of this thread's last donating call, empty while the call runs."""


_donating: dict[Any, Any] = {}
"""Key of a call (body, static and traced arguments) -> compiled JAX function that donates its first argument."""
_MOST_DONATING = 4096


def _kept(body: Callable[..., Array], static: tuple[Any, ...], *args: Any) -> Array:
    """Compute ``body(*args, *static)`` in the buffer of the first argument.

    No signal handler runs between the donation and the assignment of its successor to :data:`rescue`, provided that JAX
    finds a compiled program for the call without running Python code. JAX does not find one at the first call of a key, and at the first
    after JAX's caches have been cleared; these calls donate a copy. Each key has its own function, because JAX runs Python
    code for ever once the first compilation of a call has been interrupted.
    """
    leaves = [x for arg in args for x in (arg if isinstance(arg, tuple) else (arg,))]
    if any(isinstance(x, jax.core.Tracer) for x in leaves):  # the call is part of the user's own program
        return body(*args, *static)
    kind = (body, static, *[(x.aval, x.sharding, x.committed) if isinstance(x, jax.Array) else x.shape for x in leaves])
    call = _donating.get(kind)
    if call is None or not getattr(call, "_cache_size", int)():
        # This version of JAX does not tell whether it has a program: donate a copy each time.
        call = jax.jit(lambda *args: body(*args, *static), donate_argnums=0)
        made = call(jnp.copy(args[0]), *args[1:])
        if len(_donating) >= _MOST_DONATING:
            _donating.clear()
        _donating[kind] = call
        return made
    rescue.made = made = []
    made.extend(map(call, *[(x,) for x in args]))
    return made[0]


def slice_update_donated(a: Array, key: tuple[builtins.slice, ...], value: Array) -> Array:
    """Run `slice_update` in the buffer of ``a``, which is deleted: for a buffer that nothing else refers to."""
    if mesh_slices.may_be_split(a):
        return _kept(mesh_slices.write, (_fixed(key),), a, value)
    starts, sizes, steps = _window(key)
    return _kept(_slice_update, (sizes, steps), a, starts, value)


def _gather(a: Array, indices: tuple[Array, ...]) -> Array:
    return a.at[indices].get(mode=IN_BOUNDS, wrap_negative_indices=False)


def _last_writer(a: Array, indices: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return indices with all but the last of equal ones moved out of bounds: an accelerator's scatter has no order."""
    shape = indices[0].shape
    order = lax.iota(np.int32, indices[0].size).reshape(shape)
    newest = jnp.full(a.shape[: len(indices)], -1, np.int32).at[indices].max(order)
    return (jnp.where(newest[indices] == order, indices[0], a.shape[0]), *indices[1:])


def _scatter(a: Array, indices: tuple[Array, ...], value: Array, how: str) -> Array:
    value = jnp.broadcast_to(value, indices[0].shape + a.shape[len(indices) :])
    if how == "set":
        return lax.platform_dependent(
            a,
            indices,
            value,
            cpu=lambda a, i, v: a.at[i].set(v, mode=IN_BOUNDS, wrap_negative_indices=False),
            default=lambda a, i, v: a.at[_last_writer(a, i)].set(v, mode="drop", wrap_negative_indices=False),
        )
    if a.dtype == np.bool_:  # XLA has no arithmetic on booleans: use `or` and `and`
        bits = a.astype(np.uint8).at[indices]
        join = bits.max if how in ("add", "maximum") else bits.min
        return join(value.astype(np.uint8), mode=IN_BOUNDS, wrap_negative_indices=False).astype(bool)
    if jnp.issubdtype(a.dtype, np.complexfloating) and how in ("maximum", "minimum"):
        raise Unsupported("XLA scatters no complex maximum: complex numbers have no order there")
    target = a.at[indices]
    joins = {"add": target.add, "multiply": target.multiply, "maximum": target.max, "minimum": target.min}
    return joins[how](value, mode=IN_BOUNDS, wrap_negative_indices=False)


_gather_compiled = kernel(_gather)
_scatter_compiled = kernel(_scatter, static=(3,))


def gather(a: Array, indices: Sequence[Array]) -> Array:
    return _gather_compiled(a, tuple(indices))


def scatter(a: Array, indices: Sequence[Array], value: Array, how: str) -> Array:
    return _scatter_compiled(a, tuple(indices), value, how)


def scatter_donated(a: Array, indices: Sequence[Array], value: Array, how: str) -> Array:
    """Run `scatter` in the buffer of ``a``, to which nothing else refers; ``a`` is deleted. ``how``: as for `scatter`."""
    return _kept(_scatter, (how,), a, tuple(indices), value)


@partial(kernel, static=(2,))
def take(a: Array, indices: Array, axis: int) -> Array:
    # Not jnp.take, whose modes fill, wrap or clip: the caller has checked.
    place = (*(builtins.slice(None),) * axis, indices)
    return a.at[place].get(mode=IN_BOUNDS, wrap_negative_indices=False)


take_along_axis = kernel(lambda a, indices, axis: jnp.take_along_axis(a, indices, axis, mode=IN_BOUNDS), static=(2,))


@kernel
def where(condition: Array, x: Array, y: Array) -> Array:
    return jnp.where(condition, x, y)


# -- order -----------------------------------------------------------------------------------------------------------


def _searchsorted(a: Array, values: Array, side: str) -> Array:
    if a.dtype == np.bool_:
        a, values = a.astype(np.uint8), values.astype(np.uint8)
    return jnp.searchsorted(a, values, side=side).astype(np.int64)


_searchsorted_compiled = kernel(_searchsorted, static=(2,))


def searchsorted(a: Array, values: Array, side: str) -> Array:
    if jnp.issubdtype(a.dtype, np.complexfloating):
        raise Unsupported("JAX's searchsorted does not order complex numbers with NaN parts as NumPy does")
    return _searchsorted_compiled(a, values, side)


def _bincount(x: Array, weights: Array | None, length: int) -> Array:
    counts = jnp.zeros(length, np.int64 if weights is None else np.float64)
    return counts.at[x].add(1 if weights is None else weights, mode=IN_BOUNDS, wrap_negative_indices=False)


bincount = or_numpy(np.bincount, kernel(_bincount, static=(2,)), are_many_places)


# -- complex ---------------------------------------------------------------------------------------------------------


@kernel
def real(a: Array) -> Array:
    return lax.real(a)


@kernel
def imag(a: Array) -> Array:
    return lax.imag(a)


@kernel
def complex(re: Array, im: Array) -> Array:
    return lax.complex(*jnp.broadcast_arrays(re, im))


# -- products --------------------------------------------------------------------------------------------------------


@highest
def _matmul(a: Array, b: Array) -> Array:
    if a.dtype == np.bool_:  # XLA adds booleans by exclusive or
        return jnp.matmul(a.astype(np.float32), b.astype(np.float32)) != 0
    return jnp.matmul(_as_it_lies(a, b), b)


_BLOCK = 64
"""Number of rows and of columns of the second matrix from which copying the transposed first one costs less than reading it in place."""


def _as_it_lies(a: Array, b: Array) -> Array:
    """Return ``a``, behind a barrier if XLA on a CPU could read a transposed ``a`` in place: a product of float64 would then take 2 to 3
    times as long (JAX 0.10.2).
    """
    if a.dtype != np.float64 or a.ndim != 2 or b.ndim != 2 or min(b.shape) < _BLOCK:
        return a
    return lax.optimization_barrier(a) if jax.default_backend() == "cpu" else a


matmul = or_numpy(np.matmul, kernel(_matmul), are_complex_matrices)
