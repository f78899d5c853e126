"""``__array_function__``: NumPy functions on arrays, by the registry's one rule."""

from __future__ import annotations

from collections.abc import Collection
from time import perf_counter
from typing import Any

import numpy as np

from .. import conversion, dtypes, events, settings, views
from ..backends import loader
from ..backends.base import Backend, Unsupported
from ..errors import HostFallbackError
from ..registry import IN_PLACE_IF_NOT_COPIED, Entry, Spec, resolve
from ..settings import PLAIN, context_rules
from ..ufuncs.plans import whole_plan
from ..views import Handle, native
from . import host, wrapping

_defaults = settings.default
_NUMPY_FUNCTION = np.ndarray.__array_function__


def array_function(func: Any, types: Collection[type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``Array.__array_function__`` does (NEP 18)."""
    for cls in types:
        if not issubclass(cls, Handle) and getattr(cls, "__array_function__", _NUMPY_FUNCTION) is not _NUMPY_FUNCTION:
            return NotImplemented
    return call(func, args, kwargs)


def call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a NumPy function on arguments of which at least one is an array of ours."""
    first = args[0] if args else None
    backend = first._kind.backend if isinstance(first, Handle) else _backend_of_all(first)
    if backend is not None and _plain(args, kwargs) and (context_rules.get() or _defaults.rules).precision is None:
        entry = backend.entries.get(func)
        if entry is not None and entry.plain and len(args) <= entry.most:
            return _plainly(entry, func, args, kwargs, backend)
    return _general(func, args, kwargs)


def _backend_of_all(first: Any) -> Backend | None:
    """The backend of a list or tuple of nothing but arrays of one backend (``np.concatenate((a, b))``), else None."""
    if type(first) not in (list, tuple) or not first or not isinstance(first[0], Handle):
        return None
    backend = first[0]._kind.backend
    for x in first:
        if not isinstance(x, Handle) or x._kind.backend is not backend:
            return None
    return backend


def reduce_all(func: Any, a: Handle) -> Any:
    """``np.sum(a)`` and its like, for which ``a`` 's kind has a plan."""
    if events.tap is not None or (context_rules.get() or _defaults.rules) is not PLAIN:
        return call(func, (a,), {})
    run, out = a._kind.whole[func]
    value = run(a._v if a._root is None else native(a))
    made = out.scalar(value)
    return wrapping.scalar_class(value, out) if made is None else made


def _plainly(entry: Entry, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    """A call of which the first argument is the only one with arrays, under NumPy's own precision."""
    spec: Spec = entry.spec  # type: ignore[assignment]
    first = args[0]
    if isinstance(first, Handle):
        if spec.whole is not None:
            whole_plan(func, spec.whole, first._kind)
        first = first._v if first._root is None else native(first)
    else:
        first = [native(x) for x in first]
    start = perf_counter()
    scope = backend.scope if backend.scoped else None
    try:
        if scope is None:
            result = entry.bound(first, *args[1:], **kwargs)  # type: ignore[misc]
        else:
            with scope():
                result = entry.bound(first, *args[1:], **kwargs)  # type: ignore[misc]
    except Unsupported as unsupported:
        reason = str(unsupported)
    else:
        return _finish(entry, func, args, result, backend, start)
    return host.call(func, args, kwargs, backend, reason)  # outside `except`: what NumPy raises has no context of ours


def _finish(entry: Entry, func: Any, args: tuple[Any, ...], result: Any, backend: Backend, start: float) -> Any:
    spec: Spec = entry.spec  # type: ignore[assignment]
    if events.tap is not None:
        events.tap.call(func, backend.name, entry.kind, "", perf_counter() - start)
    if not backend.mutable:
        views.keep_apart(args[:1], result)
    return wrapping.wrap_result(result, backend, spec.returns, None)


def _plain(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the first argument is the only one that can hold an array."""
    if len(args) > 1:
        for x in args[1:]:
            if type(x) not in wrapping.PLAIN:
                return False
    if kwargs:
        for x in kwargs.values():
            if type(x) not in wrapping.PLAIN:
                return False
        return "out" not in kwargs and not _on_host_only(kwargs.get("dtype"))
    return True


def _general(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    backend = wrapping.find_backend((*args, *kwargs.values()))
    if backend is None:
        backend = settings.current_backend()
    entry = resolve(func, backend)
    if entry.kind == "refused":
        raise HostFallbackError(f"{host.name_of(func)} is refused on {backend.name}: {entry.reason}.")
    if entry.run is None or entry.spec is None:
        return host.call(func, args, kwargs, backend, entry.reason)
    tap = events.tap
    start = perf_counter() if tap is not None else 0.0
    mode = entry.spec.mode
    try:
        with_scope = backend.scope
        if with_scope is None:
            result = _MODES[mode](entry, entry.spec, args, kwargs, backend)
        else:
            with with_scope():
                result = _MODES[mode](entry, entry.spec, args, kwargs, backend)
    except Unsupported as unsupported:
        reason = str(unsupported)
    else:
        if tap is not None and mode != "meta":
            tap.call(func, backend.name, "view" if mode == "view" else entry.kind, "", perf_counter() - start)
        return result
    return host.call(func, args, kwargs, backend, reason)


# -- the modes of a spec -------------------------------------------------------------------------------------------------


def _function(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    args, kwargs, out = _without_out(spec, args, kwargs)
    if _on_host_only(kwargs.get("dtype")):
        raise Unsupported(f"dtype {np.dtype(kwargs['dtype'])} exists only on the host")
    precision = settings.current_precision() if out is None else None
    natives, keywords = _natives(args, kwargs, backend, precision, spec.min_bits)
    result = entry.run(backend.xp, *natives, **keywords)  # type: ignore[misc]
    if not backend.mutable:
        views.keep_apart((*args, *kwargs.values()), result)
    if out is not None:
        return _write(
            out, result, backend, "unsafe" if spec.func in _CASTS_FREELY else kwargs.get("casting", "same_kind")
        )
    return wrapping.wrap_result(result, backend, spec.returns, precision)


_CASTS_FREELY = frozenset({np.mean, np.std, np.var})
"""Functions whose last division NumPy writes into ``out=`` with casting="unsafe"."""


def _write(out: Any, result: Any, backend: Backend, casting: str) -> Any:
    outs = out if isinstance(out, tuple) else (out,)
    results = result if isinstance(result, tuple) else (result,)
    xp = backend.xp
    for o, r in zip(outs, results):
        if not isinstance(o, Handle | np.ndarray):
            raise TypeError("return arrays must be of ArrayType")
        value = r if backend.is_native(r) else xp.asarray(r)
        wrapping.write_out(o, value, backend, casting)
    return out


def _on_host_only(dtype: Any) -> bool:
    """Whether a ``dtype=`` exists only on the host."""
    return dtype is not None and dtypes.category(np.dtype(dtype)) == "other"


def _without_out(spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any], Any]:
    out = None
    if "out" in kwargs:
        kwargs = dict(kwargs)
        out = kwargs.pop("out")
    elif spec.out is not None and len(args) > spec.out:
        out = args[spec.out]
        args = args[: spec.out] + args[spec.out + 1 :]
    if spec.func in IN_PLACE_IF_NOT_COPIED and not (args[1] if len(args) > 1 else kwargs.get("copy", True)):
        out = args[0]
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    return args, kwargs, out


def _natives(
    args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend, precision: settings.Precision, min_bits: int
) -> tuple[Any, Any]:
    device = wrapping.device_among((*args, *kwargs.values()), backend)
    natives = [wrapping.to_native(x, backend, device) for x in args]
    keywords = {key: wrapping.to_native(x, backend, device) for key, x in kwargs.items()}
    if precision is not None:
        natives = [_precise(x, backend, precision, min_bits) for x in natives]
        keywords = {key: _precise(x, backend, precision, min_bits) for key, x in keywords.items()}
    return natives, keywords


def _precise(x: Any, backend: Backend, precision: settings.Precision, min_bits: int) -> Any:
    """Floating arrays in the dtype the precision policy computes in; sequences are searched."""
    if type(x) in wrapping.PLAIN:
        return x
    if isinstance(x, list | tuple) and type(x) in (list, tuple):
        return type(x)(_precise(y, backend, precision, min_bits) for y in x)
    if not backend.is_native(x):
        return x
    have = backend.dtype_of(x)
    wanted = dtypes.apply_precision(have, precision)
    if min_bits == 32:
        wanted = dtypes.widen_half(wanted)
    return x if wanted == have else backend.prim.astype(x, wanted)


def ghosts(x: Any, found: list[Handle]) -> Any:
    """Arguments with a ghost for each array; the arrays are collected in ``found``."""
    if isinstance(x, Handle):
        found.append(x)
        return views.ghost(x)
    if isinstance(x, list | tuple):
        items = [ghosts(y, found) for y in x]
        return type(x)(items) if type(x) in (list, tuple) else type(x)(*items)
    if not isinstance(x, np.ndarray | np.generic) and type(x) not in wrapping.PLAIN:
        backend = loader.backend_of(x)
        if backend is not None:
            return np.empty(backend.shape_of(x), backend.dtype_of(x))
    return x


def _looked_at(x: Any) -> Any:
    """Axes, shapes and the like that are arrays: their values are needed now."""
    if isinstance(x, Handle):
        return conversion.download(x._kind.backend, native(x), "axes or a shape given as an array")
    if isinstance(x, list | tuple) and wrapping.find_backend(x) is not None:
        return type(x)(_looked_at(y) for y in x)
    return x


def _meta(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    if spec.func in _MEMORY and any(isinstance(x, np.ndarray) for x in (*args, *kwargs.values())):
        # An ndarray may share the memory of a native array (np.asarray of it does): the ghost knows nothing of that.
        hosts = [_in_memory(x) for x in args]
        return spec.func(*hosts, **{key: _in_memory(x) for key, x in kwargs.items()})
    found: list[Handle] = []
    stand_ins = [ghosts(x, found) for x in args]
    keywords = {key: ghosts(x, found) for key, x in kwargs.items()}
    return spec.func(*stand_ins, **keywords)


_MEMORY = frozenset({np.shares_memory, np.may_share_memory})


def _in_memory(x: Any) -> Any:
    return x._kind.backend.to_numpy(views.expose(x)) if isinstance(x, Handle) else x


_OF_MANY = frozenset({np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_arrays})
"""View functions whose positional arguments are all arrays to view; the others' first one is."""
_VIEWED = frozenset({"a", "m", "x", "v", "ary", "array", "arr", "matrix"})
"""NumPy's names of the argument that is viewed."""


def _view(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    found: list[Handle] = []
    many = len(args) if spec.func in _OF_MANY else 1
    stand_ins = [ghosts(x, found) if at < many else _looked_at(x) for at, x in enumerate(args)]
    keywords = {key: ghosts(x, found) if key in _VIEWED else _looked_at(x) for key, x in kwargs.items()}
    result = spec.func(*stand_ins, **keywords)
    return views.through_ghost(found, result, lambda: _function(entry, spec, args, kwargs, backend))


def _update(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    names = list(kwargs)
    target = args[0] if args else kwargs[names[0]]
    if not isinstance(target, Handle):
        if isinstance(target, np.ndarray):
            return host.call(spec.func, args, kwargs, backend, "the array written to is a NumPy array")
        raise TypeError(f"{host.name_of(spec.func)} writes into its first argument, which is a {type(target).__name__}")
    if target._kind.backend is not backend:
        return host.call(spec.func, args, kwargs, backend, "the array written to is held by NumPy")
    wrapping.check_writeable(target)
    natives, keywords = _natives(args, kwargs, backend, None, 16)
    new = entry.run(backend.xp, *natives, **keywords)  # type: ignore[misc]
    if not backend.mutable:
        views.keep_apart((*args, *kwargs.values()), new)
    views.assign(target, new)
    return None


_MODES = {"function": _function, "meta": _meta, "view": _view, "update": _update}
