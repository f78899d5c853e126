"""``__array_function__``: NumPy functions on arrays, by the registry's one rule."""

from __future__ import annotations

from collections.abc import Callable, Collection
from time import perf_counter
from typing import Any

import numpy as np

from .. import conversion, dtypes, events, settings, views
from ..backends import loader
from ..backends.base import Backend, Unsupported
from ..errors import HostFallbackError
from ..registry import IN_PLACE_IF_NOT_COPIED, Entry, Spec, resolve
from ..settings import PLAIN, context_rules
from ..ufuncs.plans import WholePlan, whole_plan
from ..views import Handle, native
from . import floating, host, indexing, layout, small, wrapping
from .floating import TOTALS, UNTOUCHED, in_force

_defaults = settings.default
_context_rules = context_rules.get
_NUMPY_FUNCTION = np.ndarray.__array_function__

creators: dict[Any, Callable[..., Any]] = {}
"""NumPy function with ``like=`` (NEP 35) -> what makes an array of ours; handed in by the creation layer."""
CREATED = object()
"""What :func:`call` answers for those: only the array that was passed as ``like=`` knows the backend."""


def create(func: Any, like: Handle, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``func(..., like=like)``: made on the backend and the device of ``like``."""
    backend = like._kind.backend
    with backend:
        made = creators[func](*args, **kwargs)
    if not isinstance(made, Handle) or made._kind.backend is not backend:
        return made
    device, value = backend.device_of(native(like)), native(made)
    if device is None or backend.device_of(value) == device:
        return made
    return made.to_device(like.device)  # type: ignore[attr-defined]


def array_function(func: Any, types: Collection[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``Array.__array_function__`` does (NEP 18)."""
    guest = False
    for cls in types:
        if cls is np.ndarray or cls is np.memmap or issubclass(cls, Handle):
            continue
        if cls.__array_function__ is not _NUMPY_FUNCTION:
            return NotImplemented
        guest = True
    if guest:
        backend = wrapping.find_backend((*args, *kwargs.values())) or settings.current_backend()
        return host.call(func, args, kwargs, backend, wrapping.GUEST)
    return call(func, args, kwargs)


def call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a NumPy function on arguments of which at least one is an array of ours."""
    first = args[0] if args else None
    backend = first._kind.backend if isinstance(first, Handle) else _backend_of_all(first)
    if backend is not None and _plain(args, kwargs) and (_context_rules() or _defaults.rules).precision is None:
        entry = backend.entries.get(func)
        if (
            entry is not None
            and entry.plain
            and len(args) <= entry.most
            and (entry.spec.mode != "like" or _like_c_order(first, args, kwargs))
        ):
            return _plainly(entry, func, args, kwargs, backend)
    return _general(func, args, kwargs)


def _like_c_order(first: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether ``np.zeros_like(first, …)`` is laid out as any new array is."""
    return (
        len(args) == 1 and "order" not in kwargs and isinstance(first, Handle) and views.ghost(first).flags.c_contiguous
    )


def _backend_of_all(first: Any) -> Backend | None:
    """The backend of a list or tuple of nothing but arrays of one backend (``np.concatenate((a, b))``), else None."""
    if type(first) not in (list, tuple) or not first or not isinstance(first[0], Handle):
        return None
    backend = first[0]._kind.backend
    for x in first:
        if not isinstance(x, Handle) or x._kind.backend is not backend:
            return None
    return backend


def _reducer(func: Any, plan: WholePlan) -> Callable[[Handle], Any]:
    """``np.sum(a)`` and its like, for arrays of the kind that has this plan."""
    run, out, finite = plan
    backend, scalar = out.backend, out.scalar
    entry = backend.entries[func].kind

    def reduce_all(a: Handle) -> Any:
        if (_context_rules() or _defaults.rules) is not PLAIN or in_force() is not UNTOUCHED:
            return call(func, (a,), {})
        tap = events.tap
        if tap is None:
            value = run(a._v if a._root is None else native(a))
        else:
            start = perf_counter()
            value = run(a._v if a._root is None else native(a))
            tap.call(func, backend.name, entry, "", perf_counter() - start, value, 2)
        made = scalar(value)
        if made is None:
            return wrapping.device_scalar(value, out)
        if finite is not None and not finite(made):
            floating.look_at_function(func, (a,), {}, value, backend)
        return made

    return reduce_all


def join(arrays: Any) -> Any:
    """``np.concatenate(arrays)`` of nothing but arrays of one kind that fit: no rule of NumPy's has anything to decide."""
    if (type(arrays) is not tuple and type(arrays) is not list) or not arrays:
        return call(np.concatenate, (arrays,), {})
    first = arrays[0]
    cls = type(first)
    if not issubclass(cls, Handle) or (_context_rules() or _defaults.rules) is not PLAIN:
        return call(np.concatenate, (arrays,), {})
    kind = first._kind
    run = kind.join
    tap = events.tap
    start = 0.0 if tap is None else perf_counter()
    values: list[Any] = []
    ndim, rest = 0, ()
    for x in arrays:
        if type(x) is not cls or x._kind is not kind:
            break
        value = x._v if x._root is None else native(x)
        if ndim == 0:
            ndim = value.ndim
            if ndim == 0 or run is None:
                break
            rest = value.shape[1:] if ndim > 1 else ()
        elif value.ndim != ndim or (ndim > 1 and value.shape[1:] != rest):
            break
        values.append(value)
    else:
        made = run(values)
        if tap is not None:
            tap.call(np.concatenate, kind.backend.name, "native", "", perf_counter() - start, made, 2)
        joined = views.wrapper(made, kind)
        if kind.backend.mutable:
            return joined
        views.keep_apart(arrays, made)
        return layout.of_function(np.concatenate, (arrays,), {}, joined)
    return call(np.concatenate, (arrays,), {})


def _plainly(entry: Entry, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    """A call of which the first argument is the only one with arrays, under NumPy's own precision."""
    spec: Spec = entry.spec  # type: ignore[assignment]
    first = args[0]
    if isinstance(first, Handle):
        if spec.whole is not None:
            plan = whole_plan(spec.whole, first._kind)
            if plan is not None:
                first._kind.whole[func] = _reducer(func, plan)
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
    except backend.REFUSALS as refused:
        reason = host.refusal(refused)
    else:
        if func in TOTALS or in_force() is not UNTOUCHED:
            floating.look_at_function(func, args, kwargs, result, backend)
        return _finish(entry, func, args, kwargs, result, backend, start)
    return host.call(func, args, kwargs, backend, reason)  # outside `except`: what NumPy raises has no context of ours


def _finish(
    entry: Entry,
    func: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    result: Any,
    backend: Backend,
    start: float,
) -> Any:
    spec: Spec = entry.spec  # type: ignore[assignment]
    if events.tap is not None:
        events.tap.call(func, backend.name, entry.kind, "", perf_counter() - start, result)
    first = args[0]
    standard = first._kind.standard if isinstance(first, Handle) else first[0]._kind.standard
    made = wrapping.wrap_result(result, backend, spec.returns, None, standard)
    if backend.mutable:
        return made
    views.keep_apart(args[:1], result)
    return layout.of_function(func, args, kwargs, made)


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
    if func in creators:
        return CREATED
    if backend.small:
        return small.call(func, args, kwargs)
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
    except backend.REFUSALS as refused:
        reason = host.refusal(refused)
    else:
        if tap is not None and mode != "meta":
            seen = mode == "view" and func not in _BY_VALUES and _only_views(result, args)
            tap.call(func, backend.name, "view" if seen else entry.kind, "", perf_counter() - start, result)
        return result
    return host.call(func, args, kwargs, backend, reason)


# -- the modes of a spec -------------------------------------------------------------------------------------------------


def _function(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    args, kwargs, out = _without_out(spec, args, kwargs)
    if out is not None and spec.func in _MADE_AS_OUT:
        kwargs = _as_out(spec, kwargs, out)
    elif out is not None and spec.func in _ACCUMULATES:
        args, kwargs = _promoted_with_out(spec, args, kwargs, out)
    if _on_host_only(kwargs.get("dtype")):
        raise Unsupported(f"dtype {np.dtype(kwargs['dtype'])} exists only on the host")
    precision = settings.current_precision() if out is None else None
    natives, keywords = _natives(args, kwargs, backend, precision, spec.min_bits)
    result = entry.run(backend.xp, *natives, **keywords)  # type: ignore[misc]
    if spec.func in TOTALS or in_force() is not UNTOUCHED:
        floating.look_at_function(spec.func, args, kwargs, result, backend)
    if not backend.mutable:
        views.keep_apart((*args, *kwargs.values()), result)
    if out is not None:
        if spec.func is np.clip and kwargs.get("where", True) is not True:  # a ufunc's keyword
            result = _where_asked(result, kwargs["where"], out, backend)
        return _write(spec.func, out, result, backend, kwargs.get("casting", "same_kind"))
    standard = wrapping.is_standard((*args, *kwargs.values()))
    made = wrapping.wrap_result(result, backend, spec.returns, precision, standard)
    return made if backend.mutable else layout.of_function(spec.func, args, kwargs, made)


_MADE_AS_OUT = frozenset({np.concatenate, np.stack})
"""Functions that make their result in the dtype of ``out=``: ``casting=`` holds for each of the arrays."""
_ACCUMULATES = frozenset(
    {
        np.sum, np.prod, np.cumsum, np.cumprod, np.cumulative_sum, np.cumulative_prod, np.trace, np.mean,
        np.nansum, np.nanprod, np.nancumsum, np.nancumprod,
    }
)  # fmt: skip
"""Functions that accumulate in a dtype for both operand and ``out=`` if no ``dtype=`` is given, which stands before it."""
_POSITIONS = frozenset({np.argmax, np.argmin, np.nanargmax, np.nanargmin})
"""Functions that want integers for ``out=``."""
_DIVIDES = frozenset({np.mean, np.std, np.var, np.nanmean, np.nanstd, np.nanvar, np.median})
"""Functions that keep a sum in ``out=`` before they divide it."""
_CASTS_FREELY = _ACCUMULATES | _POSITIONS | _DIVIDES | {
    np.max, np.min, np.nanmax, np.nanmin, np.choose, np.compress, np.take,
}  # fmt: skip
"""Functions whose result, or its last division, NumPy writes into ``out=`` with casting="unsafe"."""
_FILLS_OUT = frozenset(
    {
        np.clip, np.fix, np.isneginf, np.isposinf, np.nanmedian, np.nanpercentile, np.nanquantile, np.outer,
        np.percentile, np.quantile,
    }
)  # fmt: skip
"""Functions whose last step, a ufunc or an assignment, broadcasts the result to ``out=``."""


def _as_out(spec: Spec, kwargs: dict[str, Any], out: Any) -> dict[str, Any]:
    if kwargs.get("dtype") is not None:
        raise TypeError(f"{spec.func.__name__}() only takes `out` or `dtype` as an argument, but both were provided.")
    return {**kwargs, "dtype": out.dtype} if _takes_results(out) else kwargs


def _promoted_with_out(spec: Spec, args: Any, kwargs: dict[str, Any], out: Any) -> tuple[Any, dict[str, Any]]:
    """The arguments with the dtype in which NumPy accumulates because of ``out=``."""
    a, at = args[0] if args else kwargs["a"], len(args) if spec.out is None else spec.out - 1
    if spec.func is np.mean and (a.dtype.kind not in "fc" or a.dtype.itemsize == 2):
        return args, kwargs  # for which NumPy names a dtype itself
    positional = len(args) > at
    if (args[at] if positional else kwargs.get("dtype")) is not None or not (_takes_results(a) and _takes_results(out)):
        return args, kwargs
    dtype = dtypes.promote(a.dtype, out.dtype)
    return ((*args[:at], dtype, *args[at + 1 :]), kwargs) if positional else (args, {**kwargs, "dtype": dtype})


def _takes_results(out: Any) -> bool:
    return isinstance(out, Handle | np.ndarray)


def _write(func: Any, out: Any, result: Any, backend: Backend, casting: str) -> Any:
    outs = out if isinstance(out, tuple) else (out,)
    results = result if isinstance(result, tuple) else (result,)
    xp = backend.xp
    for o, r in zip(outs, results):
        if not _takes_results(o):
            raise TypeError("return arrays must be of ArrayType")
        value = r if backend.is_native(r) else xp.asarray(r)
        if o.shape != (shape := xp.shape_of(value)):
            wide = np.broadcast_shapes(o.shape, shape) if func in _FILLS_OUT else shape
            if o.shape != wide:
                raise ValueError(f"output array has wrong shape {o.shape}, the result has shape {shape}")
            value = xp.prim.broadcast_to(value, wide)
        if func in _POSITIONS and not np.can_cast(o.dtype, dtypes.INTP, "safe"):
            raise TypeError(f"Cannot cast array data from {o.dtype!r} to {dtypes.INTP!r} according to the rule 'safe'")
        if func in _DIVIDES and not np.can_cast(backend.dtype_of(value), o.dtype, "same_kind"):
            raise Unsupported("NumPy keeps the sum in out=, in whose dtype it is another one")
        wrapping.write_out(o, value, backend, "unsafe" if func in _CASTS_FREELY else casting)
    return out


def _where_asked(result: Any, where: Any, out: Any, backend: Backend) -> Any:
    """The result where the mask is True, and elsewhere what ``out`` held."""
    xp, device = backend.xp, backend.device_of(result)
    mask = xp.asarray(wrapping.to_native(where, backend, device), like=result)
    before = xp.prim.astype(wrapping.to_native(out, backend, device), backend.dtype_of(result))
    return xp.where(mask, result, before)


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
    return args, kwargs, None if out is Ellipsis else out


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
    if wanted == have:
        return x
    if events.tap is not None:
        events.tap.cast(have, wanted)
    return backend.prim.astype(x, wanted)


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
        looked = conversion.download(x._kind.backend, native(x), "axes or a shape given as an array")
        return looked.copy()  # what is downloaded is read-only, and rot90 writes into its k
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


_OF_MANY = frozenset({np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_arrays, np.einsum, np.meshgrid})
"""View functions whose positional arguments are all arrays to view; the others' first one is."""
_METHODS = frozenset({np.reshape, np.squeeze, np.swapaxes, np.transpose})
"""View functions that call the method of their argument: of a scalar they make scalars."""
_VIEWED = frozenset({"a", "m", "x", "v", "ary", "array", "arr", "matrix"})
"""NumPy's names of the argument that is viewed."""


def _einsum_permutes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether ``np.einsum`` sums nothing of its one operand: then NumPy's result is a view."""
    if any(x is not None for name, x in kwargs.items() if name != "optimize"):
        return False
    if args and isinstance(args[0], str):
        left, arrow, right = args[0].replace(" ", "").partition("->")
        return len(args) == 2 and "," not in left and set(left) == set(right if arrow else _once(left))
    return len(args) in (2, 3) and set(args[1]) == set(args[2] if len(args) == 3 else _once(args[1]))


def _once(labels: Any) -> list[Any]:
    return [x for x in labels if x in {".", Ellipsis} or list(labels).count(x) == 1]


_VIEW_IF: dict[Any, Callable[[tuple[Any, ...], dict[str, Any]], bool]] = {
    np.einsum: _einsum_permutes,
    np.meshgrid: lambda args, kwargs: not kwargs.get("copy", True),
}
"""Functions that return views in some calls only."""


def _view(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    if args and isinstance(args[0], wrapping.scalar_class) and spec.func not in _OF_MANY:
        made = _view(entry, spec, (wrapping.zero_d(args[0]), *args[1:]), kwargs, backend)
        method = spec.func in _METHODS and not views.ghost(made).shape
        return wrapping.scalar_class(native(made), made._kind) if method else made
    if spec.func in _BY_VALUES:
        return _BY_VALUES[spec.func](args, kwargs, backend)
    may_view = _VIEW_IF.get(spec.func)
    if may_view is not None and not may_view(args, kwargs):
        return _function(entry, spec, args, kwargs, backend)
    found: list[Handle] = []
    many = len(args) if spec.func in _OF_MANY else 1
    stand_ins = [ghosts(x, found) if at < many else _looked_at(x) for at, x in enumerate(args)]
    keywords = {key: ghosts(x, found) if key in _VIEWED else _looked_at(x) for key, x in kwargs.items()}
    result = spec.func(*stand_ins, **keywords)
    made = views.through_ghost(found, result, lambda: _copied(entry, spec, args, kwargs, backend))
    if isinstance(result, np.generic) and isinstance(made, Handle):  # np.flip of a 0-d array
        return indexing.getitem(made, ())
    return made


def _only_views(result: Any, args: tuple[Any, ...]) -> bool:
    """Whether nothing was computed: all arrays of a result are views, or arguments."""
    if isinstance(result, list | tuple):
        return all(_only_views(x, args) for x in result)
    return not isinstance(result, Handle) or result._base is not None or any(result is x for x in args)


_ORDER_OF_VIEW = {np.ravel: 1, np.reshape: 2}


def _copied(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    """Where NumPy copies: ``order="A"`` and ``"K"`` ask about memory, which the ghost knows and the native value may not."""
    at = _ORDER_OF_VIEW.get(spec.func)
    a = args[0] if args else kwargs.get("a")
    if at is not None and isinstance(a, Handle):
        order = args[at] if len(args) > at else kwargs.get("order", "C")
        if order in ("A", "a", "K", "k"):
            rest = {name: x for name, x in kwargs.items() if name not in ("a", "order")}
            if order in ("A", "a"):
                order = "F" if views.ghost(a).flags.fnc else "C"
            elif spec.func is np.ravel:
                a, order = views.derive(a, layout.slowest_first(views.ghost(a))), "C"
            return _function(entry, spec, (a, *args[1:at]), {**rest, "order": order}, backend)
    return _function(entry, spec, args, kwargs, backend)


def _update(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    names = list(kwargs)
    target = args[0] if args else kwargs[names[0]]
    if not isinstance(target, Handle):
        if isinstance(target, np.ndarray):
            return host.call(spec.func, args, kwargs, backend, "the array written to is a NumPy array")
        raise TypeError(f"{host.name_of(spec.func)} writes into its first argument, which is a {type(target).__name__}")
    if target._kind.backend.small:
        return small.call(spec.func, args, kwargs)
    if target._kind.backend is not backend:
        return host.call(spec.func, args, kwargs, backend, "the array written to is held by NumPy")
    wrapping.check_writeable(target)
    natives, keywords = _natives(args, kwargs, backend, None, 16)
    new = entry.run(backend.xp, *natives, **keywords)  # type: ignore[misc]
    if not backend.mutable:
        views.keep_apart((*args, *kwargs.values()), new)
    views.assign(target, new)
    return None


_ORDER_AT = {np.copy: 1, np.empty_like: 2, np.zeros_like: 2, np.ones_like: 2, np.full_like: 3}


def _like(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    made = _function(entry, spec, args, kwargs, backend)
    a, at = args[0] if args else next(iter(kwargs.values())), _ORDER_AT[spec.func]
    order = args[at] if len(args) > at else kwargs.get("order", "K")
    if not isinstance(a, Handle) or not isinstance(made, Handle) or order == "C":
        return made
    g = views.ghost(a)
    shape = views.ghost(made).shape
    if len(shape) < 2 or (order != "F" and (g.ndim < 2 or g.flags.c_contiguous)):
        return made
    return views.lay_out(made, np.empty_like(g, made._kind.dtype, order, shape=shape))


def _trimmed(args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    """``np.trim_zeros``."""
    from ..functions.manipulation import trimmed

    a, *options = args or (kwargs["filt"],)
    rest = {name: x for name, x in kwargs.items() if name != "filt"}
    a = _array(a, backend)
    return indexing.getitem(a, trimmed(backend.xp, native(a), *options, **rest) or ...)  # a 0-d array stays one


def _real_if_close(args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    """``np.real_if_close``: the real parts, or the argument itself."""
    from ..functions.elementwise import nearly_real

    a, *options = args or (kwargs["a"],)
    rest = {name: x for name, x in kwargs.items() if name != "a"}
    a = _array(a, backend)
    return a.real if nearly_real(backend.xp, native(a), *options, **rest) else a


def _as_dtype(args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    """``np.astype``: the method, whose ``copy=False`` gives the array itself where nothing changes."""
    x, dtype = args
    rest = {key: value for key, value in kwargs.items() if key != "device"}
    if not isinstance(x, Handle):
        raise TypeError(f"Input should be a NumPy array. It is of type {type(x)}.")
    if kwargs.get("device") not in (None, "cpu"):
        raise ValueError(f"Device not understood. Only 'cpu' is allowed, but received: {kwargs['device']}")
    return x.astype(dtype, **rest)  # type: ignore[attr-defined]


_BY_VALUES = {np.trim_zeros: _trimmed, np.real_if_close: _real_if_close, np.astype: _as_dtype}
"""View functions of which the values say what is viewed, or none is."""


def _array(x: Any, backend: Backend) -> Any:
    """An argument as an array of ours."""
    if isinstance(x, Handle):
        return x
    return wrapping.wrap_result(backend.xp.asarray(wrapping.to_native(x, backend, None)), backend, "array", None)


def _attribute(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    (value,) = args or kwargs.values()
    return getattr(_array(value, backend), spec.func.__name__)


_MODES = {
    "function": _function,
    "meta": _meta,
    "view": _view,
    "like": _like,
    "attribute": _attribute,
    "update": _update,
}
