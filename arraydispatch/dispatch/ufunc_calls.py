"""Calls of ufuncs on a known backend: elementwise, on stacks of matrices, or methods such as ``reduce``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends import loader
from ..backends.base import Backend, LeftToNumPy, Unsupported
from ..backends.kinds import Kind
from ..common import buffers, events, tracing
from ..common.user_warnings import reporting
from ..engine.recording.call_nodes import fits
from ..functions.indexing import ufunc_at
from ..functions.registry import GUFUNCS, load
from ..memory import writing
from ..memory.views import native
from ..runtime import conversion, dtypes, settings
from ..ufuncs.facts import ufunc_facts
from ..ufuncs.plans import describe, plan_for
from ..ufuncs.ufunc_methods import Bound, casting_error
from . import fp_errors, outputs, subscripts, wrapping
from .fp_errors import UNTOUCHED, in_force

__warningregistry__ = None  # NumPy warns here, for a line of the user's: see arraydispatch.launcher.numpy_warnings


def operands_of(inputs: tuple[Any, ...], backend: Backend) -> tuple[list[Any], list[Any]]:
    """Return native operands and plan keys; ndarrays and sequences move to the device of the others. Raise Unsupported for an operand that
    only NumPy can compute with.
    """
    device = wrapping.device_among(inputs, backend)
    natives: list[Any] = []
    keys: list[Any] = []
    for x in inputs:
        if isinstance(x, Handle) and x._kind.backend is backend:
            natives.append(native(x))
            keys.append(x._kind)
            continue
        if issubclass(type(x), (list, tuple)):
            value = _from_sequence(x, backend, device)
        elif type(x) is np.ndarray and not x.shape and x.dtype.kind in "?biufc":
            natives.append(x[()])  # NumPy passes its own scalar like this when it is compared with an array
            keys.append(x.dtype.type)
            continue
        elif isinstance(x, Handle | np.ndarray):
            if wrapping.is_guest(x):
                raise Unsupported(wrapping.GUEST)
            if isinstance(x, np.ndarray) and dtypes.category(x.dtype) == "other":
                raise Unsupported(dtypes.only_on_host(x.dtype))
            value = wrapping.to_native(x, backend, device)
        elif isinstance(x, np.generic | int | float | complex):
            natives.append(x)
            keys.append(type(x))
            continue
        else:
            other = loader.backend_of(x)
            if backend.is_native(x) or (other is not None and other is backend.home):
                value = x
            elif other is not None:
                value = conversion.upload(backend, other.to_numpy(x), device)
            elif (seen := buffers.seen(x)) is not x:
                value = _from_sequence(seen, backend, device)
            else:
                raise Unsupported(f"an operand is a {type(x).__name__}")
        natives.append(value)
        keys.append(backend.kind(backend.dtype_of(value)))
    return natives, keys


def _from_sequence(x: Any, backend: Backend, device: Any) -> Any:
    if wrapping.find_backend(x) is not None:
        return backend.xp.asarray(wrapping.to_native(x, backend, device))
    made = np.asarray(x)
    if dtypes.category(made.dtype) == "other":
        raise Unsupported(dtypes.only_on_host(made.dtype))
    return wrapping.to_native(made, backend, device)


def elementwise(
    ufunc: np.ufunc, inputs: tuple[Any, ...], options: dict[str, Any], where: Any, outs: tuple[Any, ...],
    backend: Backend, precision: settings.Precision,
) -> tuple[Any, str]:  # fmt: skip
    """Run an elementwise call; return the native result and the class of the entry, such as ``"native"``.

    ``where``, ``outs``: arguments ``where=`` and ``out=``; ``options``: all other keyword arguments.
    """
    natives, keys = operands_of(inputs, backend)
    casting = options.pop("casting", "same_kind")
    signature = _signature(ufunc, options)
    if options:
        raise TypeError(f"{ufunc.__name__}() got an unexpected keyword argument {next(iter(options))!r}")
    if not any(isinstance(k, Kind) for k in keys):  # only out= or where= is an array: nothing to run on but scalars
        like = wrapping.first_array((*outs, where), backend)
        natives = [conversion.upload(backend, np.asarray(x), backend.device_of(like)) for x in natives]
        keys = [backend.kind(backend.dtype_of(x)) for x in natives]
    plan = plan_for(ufunc, backend, tuple(keys), precision, signature, casting)
    if plan.cast is not None and events.tap is not None:
        events.tap.cast(*plan.cast)
    for out, k in zip(outs, plan.kinds):
        if out is not None and not np.can_cast(k.dtype, out.dtype, casting):
            raise casting_error(ufunc, k.dtype, out.dtype, casting)
    refused = None
    try:
        if plan.run is ufunc:  # warns at the line that calls it
            natives = [_converted(x, dtype) for x, dtype in zip(natives, plan.loops)]
            result = reporting(lambda: ufunc(*natives), ufunc.__name__)
        else:
            result = plan.run(*natives)
    except LeftToNumPy:
        raise
    except Exception:
        refused = wrapping.operand_error(tuple(natives), backend, *_other_shapes(outs, where))
        if refused is None:
            raise
    if refused is not None:
        raise refused
    mask = outputs.mask_of(where, backend, result[0] if ufunc.nout > 1 else result)
    scalar = ufunc.nout == 1 and not result.ndim
    if plan.reported or scalar or in_force() is not UNTOUCHED:
        fp_errors.look(ufunc, plan, tuple(natives), result, mask, scalar)
    if mask is not True or any(out is not None for out in outs):
        try:
            result = outputs.masked(result, mask, outs, backend)
        except ValueError:
            refused = wrapping.operand_error(tuple(natives), backend, *_other_shapes(outs, where))
            if refused is None:
                raise
        if refused is not None:
            raise refused
    return result, plan.kind


def _converted(x: Any, dtype: np.dtype[Any]) -> Any:
    """Return an operand, but a Python number that the loop's dtype cannot hold as an ndarray of that dtype, because NumPy's warning has to name
    the cast.
    """
    if type(x) not in (int, float) or dtype.char not in "ef" or fits(x, dtype):
        return x
    return reporting(lambda: np.asarray(float(x)).astype(dtype), "cast")


def _other_shapes(outs: tuple[Any, ...], where: Any) -> list[tuple[int, ...]]:
    """Return the shapes that NumPy's error lists after those of the operands: of ``outs``, and of the mask ``where``."""
    given = [x for x in outs if x is not None]
    return [np.shape(x) for x in (given if where is True else (*given, where))]


def _signature(ufunc: np.ufunc, options: dict[str, Any]) -> tuple[Any, ...] | None:
    """Remove ``dtype=`` and ``signature=`` from the options. Return the signature that they describe, a dtype or None for each input and
    output; None if neither option is given. Raise NumPy's errors.
    """
    dtype, signature = options.pop("dtype", None), options.pop("signature", options.pop("sig", None))
    nin, nout = ufunc.nin, ufunc.nout
    if dtype is not None:
        if signature is not None:
            raise TypeError("cannot specify both 'signature' and 'dtype'")
        return (None,) * nin + (np.dtype(dtype),) * nout
    if signature is None:
        return None
    if isinstance(signature, bytes):
        signature = signature.decode()
    if not isinstance(signature, str | tuple):
        raise TypeError("the signature object to ufunc must be a string or a tuple.")
    if len(signature) == 1:
        raise TypeError("Use `dtype` or  fill the tuple with more than one 'None'.")
    if isinstance(signature, str):
        left, _, right = signature.partition("->")
        if (len(left), len(right)) != (nin, nout):
            said = f"{nin} typecode(s) before and {nout} after the -> sign"
            raise ValueError(f"a type-string for {ufunc.__name__}, {said}")
        signature = (*left, *right)
    elif len(signature) != nin + nout:
        raise ValueError(f"a type-tuple must be specified of length {nin + nout} for ufunc '{ufunc.__name__}'")
    return tuple(None if t is None else np.dtype(t) for t in signature)


def generalized(
    ufunc: np.ufunc, inputs: tuple[Any, ...], options: dict[str, Any], backend: Backend, precision: settings.Precision
) -> tuple[Any, str]:
    """Run a call on stacks of vectors and matrices, such as ``np.matmul``; return the native result and the class of the entry."""
    load("products")

    body = GUFUNCS.get(ufunc)
    if body is None:
        raise Unsupported("it has no kernel on devices yet")
    natives, keys = operands_of(inputs, backend)
    if not all(isinstance(k, Kind) for k in keys):
        given = [backend.dtype_of(x) if isinstance(k, Kind) else np.asarray(x).dtype for x, k in zip(natives, keys)]
        ufunc.resolve_dtypes((*given, *[None] * ufunc.nout))  # raises NumPy's error first if no loop has the dtype
        body_shapes = [backend.shape_of(x) if isinstance(k, Kind) else () for x, k in zip(natives, keys)]
        which = next(i for i, s in enumerate(body_shapes) if s == ())
        raise ValueError(
            f"{ufunc.__name__}: Input operand {which} does not have enough dimensions "
            f"(has 0, gufunc core with signature {ufunc.signature} requires 1)"
        )
    natives = [precise(x, backend, precision) for x in natives]
    options.pop("casting", None)
    return body(backend.xp, *natives, **options), "native"


def precise(x: Any, backend: Backend, precision: settings.Precision, min_bits: int = 16) -> Any:
    """Convert a floating operand to the dtype in which the precision policy computes."""
    if precision is None:
        return x
    have = backend.dtype_of(x)
    wanted = dtypes.apply_precision(have, precision)
    if min_bits == 32:
        wanted = dtypes.widen_half(wanted)
    if wanted == have:
        return x
    if events.tap is not None:
        events.tap.cast(have, wanted)
    return backend.prim.astype(x, wanted)


def spread(ufunc: np.ufunc, inputs: tuple[Any, ...], backend: Backend) -> tuple[Any, ...]:
    """Return the operands of ``ufunc.outer`` as the ufunc takes them: with as many axes appended to the first as the second has."""
    if len(inputs) != 2 or ufunc.nin != 2:
        raise TypeError(f"outer() takes exactly 2 positional arguments ({len(inputs)} given)")
    natives, keys = operands_of(inputs, backend)
    like = wrapping.first_array(inputs, backend)
    a, b = (x if isinstance(k, Kind) else backend.xp.asarray(np.asarray(x), like=like) for x, k in zip(natives, keys))
    return Bound(ufunc, backend).spread(a, b)


def of_method(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any], where: Any, outs: tuple[Any, ...],
    backend: Backend, precision: settings.Precision,
) -> tuple[Any, str]:  # fmt: skip
    """Run ``reduce``, ``accumulate``, ``reduceat`` or ``at``; return the native result and the class of the entry.

    ``where``, ``outs``: arguments ``where=`` and ``out=``; ``options``: all other keyword arguments.
    """
    bound = Bound(ufunc, backend)
    kind = "native" if ufunc in backend.REDUCE else "composed"
    if describe(ufunc, backend)[0] == "host" and ufunc not in backend.REDUCE:
        raise Unsupported(describe(ufunc, backend)[1])
    heard = fp_errors.heard_of(ufunc, method, backend)
    asked = {**options, "where": where} if heard and where is not True else dict(options)
    if method == "at":
        return _at(ufunc, inputs, backend, heard), "composed"
    natives, _ = operands_of(inputs[:1] if method in ("reduce", "accumulate", "reduceat") else inputs, backend)
    device = wrapping.device_among(inputs, backend)
    x = natives[0] if backend.is_native(natives[0]) else conversion.upload(backend, np.asarray(natives[0]), device)
    natives[0] = precise(x, backend, precision)
    if outs and outs[0] is not None and options.get("dtype") is None:
        # NumPy then uses out= as the first operand of the loop.
        to = outs[0].dtype
        loop = ufunc.resolve_dtypes((to, backend.dtype_of(x), None), casting="unsafe", reduction=True)
        if not ufunc_facts(ufunc).logical:
            options["dtype"] = loop[0]
    positional = [wrapping.to_native(v, backend, device) for v in inputs[1:]]
    if method != "reduce" and isinstance(axis := options.get("axis"), tuple):  # NumPy's functions refuse it
        if len(axis) != 1:
            raise ValueError(f"{method} does not allow multiple axes")
        options["axis"] = axis[0]
    if where is not True:
        options["where"] = wrapping.to_native(where, backend, device)
    initial = options.get("initial")
    if isinstance(initial, Handle | np.ndarray):
        options["initial"] = initial.item() if isinstance(initial, np.ndarray) else backend.item(native(initial))
    run = getattr(bound, method)
    result = run(natives[0], *positional, **options)
    if heard:
        fp_errors.look_at_method(ufunc, method, inputs, asked, result, backend)
    if options.get("keepdims") is None and outs and outs[0] is not None and outs[0].shape != backend.shape_of(result):
        raise ValueError(
            f"output parameter for reduction operation {ufunc.__name__} has the wrong shape {outs[0].shape}"
        )
    return result, kind


def _at(ufunc: np.ufunc, inputs: tuple[Any, ...], backend: Backend, heard: bool) -> Any:
    target, indices, *rest = inputs
    if not isinstance(target, Handle):
        raise Unsupported(tracing.WRITTEN)
    wrapping.check_writeable(target)
    device = backend.device_of(native(target))
    known = subscripts.known_places(indices, target) if tracing.entered() else None
    key = wrapping.to_native(indices, backend, device) if known is None else None
    values = [wrapping.to_native(v, backend, device) for v in rest]
    if values and target._kind.dtype.kind in "iu" and type(values[0]) is not int:
        given = backend.xp.asarray(values[0], like=native(target))
        if backend.dtype_of(given).kind == "f":
            fp_errors.look_at_cast(given, target._kind.dtype, backend, "at")
    new = ufunc_at(backend.xp, ufunc, native(target), key, values[0] if values else None, known)
    if heard:
        fp_errors.look_at_method(ufunc, "at", (target, *inputs[1:]), {}, new, backend)
    writing.assign(target, wrapping.as_held(target, new, backend))
    return new
