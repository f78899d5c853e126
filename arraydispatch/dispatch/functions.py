"""``__array_function__``: calls of NumPy functions on arrays, run by the entries of the registry."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from time import perf_counter
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends import loader
from ..backends.base import Backend, Unsupported
from ..backends.host_kernels import LEFT_FROM, goes_along_short_lanes
from ..backends.kinds import Kind
from ..common import events, tracing
from ..common.arguments import PLAIN
from ..common.errors import HostFallbackError
from ..common.process_state import process
from ..common.pytrees import leaves, mapped
from ..common.sentinels import DECLINED
from ..common.signal_safety import imported
from ..functions.registry import CREATORS, INTEGERS, Entry, Into, Spec, left_to_numpy, resolve
from ..memory import views, writing
from ..memory.ghosts import shown, stand_in, stand_in_like
from ..memory.views import native
from ..runtime import conversion, dtypes, settings
from ..runtime.settings import context_rules
from ..ufuncs.plans import whole_plan
from . import (
    fp_errors,
    host_fallback,
    host_results,
    host_values,
    matrix_products,
    memory_order,
    parts,
    repeating_views,
    scipy_calls,
    shortcuts,
    subscripts,
    wrapping,
)
from .fp_errors import UNTOUCHED, in_force
from .handover import handed
from .ufunc_calls import precise

_defaults = settings.default
_context_rules = context_rules.get
_NUMPY_FUNCTION = np.ndarray.__array_function__

settings.defer_by(lambda backend: imported("arraydispatch.engine.compiled_blocks.variant").of(backend))


def create(func: Any, like: Handle, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call ``func(..., like=like)``: the array is created on the backend and the device of ``like``."""
    backend = like._kind.backend
    with backend:
        made = CREATORS[func](*args, **kwargs)
    if not isinstance(made, Handle) or made._kind.backend is not backend:
        return made
    device, value = backend.device_of(native(like)), native(made)
    if device is None or backend.device_of(value) == device:
        return made
    return made.to_device(like.device)  # type: ignore[attr-defined]


def array_function(func: Any, types: Collection[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Implement ``Array.__array_function__`` (NEP 18)."""
    guest = False
    for cls in types:
        if cls is np.ndarray or cls is np.memmap or issubclass(cls, Handle):
            continue
        if cls.__array_function__ is not _NUMPY_FUNCTION:
            return host_fallback.with_strangers(func, "", args, kwargs, types)
        guest = True
    if guest:
        backend = wrapping.find_backend((*args, *kwargs.values())) or settings.current_backend()
        return host_fallback.call(func, args, kwargs, backend, wrapping.GUEST)
    return call(func, args, kwargs)


def call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a NumPy function; at least one argument is or contains an `Array`."""
    try:
        return _run(func, args, kwargs)
    except Exception as error:
        if not wrapping.overtaken(error):
            raise
    with views.exchange:  # no other thread writes now
        return _run(func, args, kwargs)


def _is_left(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str, backend: Backend) -> bool:
    """Whether a call is left to NumPy for ``reason``: the reason is not empty, the settings allow it, and the call is not one for which the
    reason does not hold (along short axes).
    """
    return bool(reason) and settings.leaves_to_numpy(backend.name) and not goes_along_short_lanes(func, args, kwargs)


def _lie_in_memory(values: Iterable[Any]) -> bool:
    """Wait for pending large arrays. Return whether there are large arrays and NumPy may read all of them without a copy."""
    large = [x for x in values if isinstance(x, Handle) and x.size >= LEFT_FROM]  # type: ignore[attr-defined]
    return bool(large) and all(x._kind.backend.awaited(native(x)) is not None for x in large)


def _listed(x: Any) -> Any:
    """Return the items of a sequence of arrays, such as a deque or an array of objects, as a list; anything else unchanged."""
    known = isinstance(x, np.ndarray) and (x.dtype != object or not x.ndim)
    if known or isinstance(x, Handle | list | tuple | dict | str | bytes | np.generic):
        return x
    return list(x) if hasattr(x, "__getitem__") and hasattr(x, "__len__") else x


def _run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a dispatched NumPy function: choose the backend, look up its entry, call it in the entry's mode, report the call.

    Return DECLINED for a creation function with ``like=``. Raise HostFallbackError if the entry refuses the call.
    """
    shortcuts.bring((*args, *kwargs.values()) if kwargs else args)
    backend = shortcuts.backend_of(args, kwargs)
    if backend is None:
        backend = wrapping.find_backend((*args, *kwargs.values()) if kwargs else args)
    if backend is None and func not in CREATORS:
        args, kwargs = tuple(map(_listed, args)), {name: _listed(x) for name, x in kwargs.items()}
        backend = wrapping.find_backend((*args, *kwargs.values()))
        if backend is None and args and isinstance(args[0], Iterable) and not hasattr(args[0], "__getitem__"):
            return func._implementation(*args, **kwargs)  # NumPy's own code raises for most iterators
    if backend is None:
        backend = settings.current_backend()
    if func in CREATORS:
        return DECLINED  # only the array that was passed as `like=` knows the backend
    if func is np.dot and len(args) == 2 and not kwargs:
        made = host_values.product(func, *args)
        if made is not DECLINED:
            return made
        if backend.copies_columns and isinstance(args[0], Handle) and isinstance(args[1], Handle):
            args = matrix_products.by_rows(*args)
    if backend.hosted:
        home = backend.home if host_values.belongs_to_library(func, args, kwargs) else backend
        if home.hosted or _is_left(func, args, kwargs, left_to_numpy(func, home), backend):
            return host_values.call(func, args, kwargs)
        shares = backend.writes_at_home and settings.on_cpu(backend.name)
        backend = home
    else:
        shares = False
    backend = settings.computing(backend)
    entry = backend.entries.get(func) or resolve(func, backend)
    if entry.kind == "refused":
        raise HostFallbackError(f"{host_fallback.name_of(func)} is refused on {backend.name}: {entry.reason}.")
    spec = entry.spec
    if entry.run is None or spec is None:
        return host_fallback.call(func, args, kwargs, backend, entry.reason)
    left = entry.left
    if left and _is_left(func, args, kwargs, left, backend) and _lie_in_memory((*args, *kwargs.values())):
        return host_fallback.call(func, args, kwargs, backend, dtypes.FasterOnHost(left))
    if spec.tables and settings.default.min_size and _is_looked_up_on_host(spec, args, kwargs):
        return host_values.call(func, args, kwargs)
    perform = _MODES[spec.mode]
    if perform is _function and args and isinstance(args[0], Handle) and args[0]._root is not None:
        made = repeating_views.computed(func, args, kwargs, backend)
        if made is not DECLINED:
            return made
    tap = events.tap
    start = 0.0 if tap is None else perf_counter()
    try:
        scope = backend.scope if backend.scoped else None
        reads = shares and perform is _function and spec.keeps is None and not spec.may_write(args, kwargs)
        given = shortcuts.on_memory(args, backend) if reads else args
        if scope is None:
            result = perform(entry, spec, given, kwargs, backend)
        else:
            with scope():
                result = perform(entry, spec, given, kwargs, backend)
        if backend.deferred:
            wrapping.obtained(result, backend)
    except backend.REFUSALS as refused:
        reason = host_results.refusal(refused)
    else:
        if tap is not None and perform is not _meta:
            seen = perform is _view and spec.views.part is None and host_values.only_views(result, args)
            known = scipy_calls.known_as(func, args)
            tap.call(known, backend.name, "view" if seen else entry.kind, "", perf_counter() - start, result, 1, args)
        return result
    # Outside `except`, so that NumPy's error has no context of ours.
    return host_fallback.call(func, args, kwargs, backend, reason)


join = shortcuts.joiner(call)


def _is_looked_up_on_host(spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Move the tables in which a call looks up small arrays to the host, if the host should run the call. Return whether it should."""
    at = spec.looks_into(args, kwargs)
    tables = [args[i] for i in at if i < len(args) and isinstance(args[i], Handle) and not args[i]._kind.backend.hosted]
    others = [x for i, x in enumerate(args) if i not in at]
    if not tables or not all(parts.is_for_host(x) for x in (*others, *kwargs.values())):
        return False
    if not all(parts.is_looked_into_on_host(table) for table in tables):
        return False
    for table in tables:
        parts.settle(table, "small arrays are looked up in it")
    return True


# -- the modes of a spec -------------------------------------------------------------------------------------------------


def _function(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    if len(args) > entry.typed and isinstance(dtype := args[entry.typed], Handle | np.ndarray):
        np.dtype(dtype)  # type: ignore[arg-type]  # raises for an array; a body would take the native array's dtype
    if spec.overwrites is not None and host_fallback.overwrites_read_only(spec, args, kwargs):
        raise Unsupported(_READ_ONLY)
    plain = _unwrapped(entry, args, kwargs, backend) if entry.plain else None
    if plain is None:
        return _by_every_rule(entry, spec, args, kwargs, backend)
    natives, keywords, standard = plain
    result = entry.bound(*natives, **keywords)  # type: ignore[misc]
    return _made(entry, spec, args, kwargs, result, backend, None, standard)


def _unwrapped(
    entry: Entry, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend
) -> tuple[list[Any], dict[str, Any], bool] | None:
    """Return the native arguments, the native keywords, and whether one of the arrays is of an array-API namespace.

    Return None if unwrapping is not enough: there is an ``out=``, an array of another library, an array in place of an integer, a
    host-only dtype or a precision policy. A call on one array alone also makes its short path (:func:`_remember`).
    """
    if (_context_rules() or _defaults.rules).precision is not None or len(args) > entry.most:
        return None
    natives: list[Any] = []
    arrays: list[Handle] = []
    for x in args:
        cls = type(x)
        if cls in PLAIN:
            natives.append(x)
        elif isinstance(x, Handle):
            if x._kind.backend is not backend:
                return None
            arrays.append(x)
            natives.append(x._v if x._root is None else native(x))
        elif cls is list or cls is tuple:
            items = []
            for y in x:
                if isinstance(y, Handle) and y._kind.backend is backend:
                    arrays.append(y)
                    items.append(y._v if y._root is None else native(y))
                elif type(y) in PLAIN:
                    items.append(y)
                else:
                    return None
            natives.append(cls(items))
        else:
            return None
    keywords = kwargs
    if kwargs:
        if "out" in kwargs or ("dtype" in kwargs and _on_host_only(kwargs["dtype"])):
            return None
        for name, x in kwargs.items():
            if type(x) not in PLAIN:
                if not isinstance(x, Handle) or x._kind.backend is not backend:
                    return None
                if keywords is kwargs:
                    keywords = dict(kwargs)
                arrays.append(x)
                keywords[name] = native(x)
    alone = len(arrays) == 1 and bool(args) and arrays[0] is args[0]
    if entry.integers and arrays and not alone and _has_array_of_integers(entry, args, kwargs):
        return None
    standard = False
    for a in arrays:
        if a._kind.standard:
            standard = True
    whole = entry.spec.whole  # type: ignore[union-attr]
    if whole is not None and len(args) == 1 and not kwargs and arrays and arrays[0] is args[0] and not backend.defers:
        # Not if calls are recorded: the first call must be recorded like the next ones, or a loop's first block would differ.
        _remember(entry.func, whole, arrays[0]._kind)
    return natives, keywords, standard


def _has_array_of_integers(entry: Entry, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an array is passed as an axis, or as another integer."""
    count = len(args)
    for at in entry.integers:
        if at < count and isinstance(args[at], Handle):
            return True
    return any(isinstance(x, Handle) and name in INTEGERS for name, x in kwargs.items())


def _remember(func: Any, whole: Any, kind: Kind) -> None:
    """Store the short path of a full reduction in ``kind.whole``, if there is a plan for arrays of this kind."""
    plan = whole_plan(whole, kind) if isinstance(whole, np.ufunc) else whole(kind)
    if plan is not None:
        kind.whole[func] = shortcuts.reducer(func, plan, call)


def _made(
    entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, backend: Backend,
    precision: settings.Precision, standard: bool,
) -> Any:  # fmt: skip
    """Report a body's floating-point errors, and return its result as the caller gets it: wrapped, in NumPy's memory order.

    ``standard``: whether 0-d results are arrays, as in the array-API standard.
    """
    if spec.reported or in_force() is not UNTOUCHED:
        fp_errors.look_at_function(spec.func, args, kwargs, result, backend)
    made = wrapping.wrap_result(result, backend, spec.returns, precision, standard)
    by_numpy = backend.native_is_ndarray and entry.kind == "native"
    if not backend.mutable:
        if not backend.defers:  # a deferred value never changes
            views.keep_apart((*args, *kwargs.values()), result)
        made = memory_order.of_function(spec.func, args, kwargs, made)
    elif (spec.layout is not None and spec.layout.differs) or not (
        by_numpy or memory_order.all_in_c_order((*args, *kwargs.values()))
    ):
        made = memory_order.of_function(spec.func, args, kwargs, made)
    return made if spec.keeps is None else spec.keeps(made, *args, **kwargs)


def _by_every_rule(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    """Run a function by all rules: ``out=`` and its promotion, precision, arrays of other libraries."""
    for x in (*args, *kwargs.values()):
        if type(x) not in PLAIN and host_fallback.is_stranger(x, "__array_function__"):
            raise Unsupported(f"it meets a {type(x).__qualname__}, which NumPy's own code asks")
    if spec.in_place and scipy_calls.may_overwrite(spec.func, args, kwargs) and _all_in_host_memory(args, kwargs):
        raise Unsupported(_IN_PLACE)
    count = len(args)
    args, kwargs, out = _without_out(spec, args, kwargs)
    integers = entry.integers if len(args) == count else [at - (at > spec.out) for at in entry.integers]  # type: ignore[operator]
    args, kwargs = wrapping.asked(args), {name: wrapping.asked(x) for name, x in kwargs.items()}
    if out is not None and "made" in spec.into:
        kwargs = _as_out(spec, kwargs, out)
    elif out is not None and "accumulates" in spec.into:
        args, kwargs = _promoted_with_out(spec, args, kwargs, out)
    if _on_host_only(kwargs.get("dtype")):
        raise Unsupported(dtypes.only_on_host(np.dtype(kwargs["dtype"])))
    precision = settings.current_precision() if out is None else None
    natives, keywords = _natives(args, kwargs, backend, precision, spec.min_bits, spec.orders, integers)
    result = entry.run(backend.xp, *natives, **keywords)  # type: ignore[misc]
    if out is None:
        standard = wrapping.is_standard((*args, *kwargs.values()))
        return _made(entry, spec, args, kwargs, result, backend, precision, standard)
    if spec.reported or in_force() is not UNTOUCHED:
        fp_errors.look_at_function(spec.func, args, kwargs, result, backend)
    if not backend.mutable:
        views.keep_apart((*args, *kwargs.values()), result)
    if spec.func is np.clip and kwargs.get("where", True) is not True:  # a ufunc's keyword
        result = _where_asked(result, kwargs["where"], out, backend)
    return _write(spec, out, result, backend, kwargs.get("casting", "same_kind"))


_READ_ONLY = dtypes.OnlyOnHost("it may overwrite an array that is read-only, which NumPy refuses for some layouts")
_IN_PLACE = dtypes.OnlyOnHost("it may overwrite its arguments, in whose memory SciPy computes")


def _all_in_host_memory(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Compute pending arrays among the arguments. Return whether all arrays are in host memory, and none is under a trace."""

    def there(kind: Kind, value: Any) -> bool:
        return kind.backend.native_is_ndarray or kind.backend.on_cpu(kind.backend.settled(value))

    return all(there(*views.held(x)) for x in leaves((*args, *kwargs.values())) if isinstance(x, Handle))


def _as_out(spec: Spec, kwargs: dict[str, Any], out: Any) -> dict[str, Any]:
    if kwargs.get("dtype") is not None:
        raise TypeError(f"{spec.func.__name__}() only takes `out` or `dtype` as an argument, but both were provided.")
    return {**kwargs, "dtype": out.dtype} if _takes_results(out) else kwargs


def _promoted_with_out(spec: Spec, args: Any, kwargs: dict[str, Any], out: Any) -> tuple[Any, dict[str, Any]]:
    """Return ``args`` and ``kwargs`` with the dtype in which NumPy accumulates because of ``out=``; unchanged if a dtype is given or NumPy
    chooses one itself.
    """
    a, at = args[0] if args else kwargs["a"], len(args) if spec.out is None else spec.out - 1
    if spec.func is np.mean and _takes_results(a) and (a.dtype.kind not in "fc" or a.dtype.itemsize == 2):
        return args, kwargs  # NumPy chooses a dtype itself
    positional = len(args) > at
    if (args[at] if positional else kwargs.get("dtype")) is not None or not (_takes_results(a) and _takes_results(out)):
        return args, kwargs
    dtype = dtypes.promote(a.dtype, out.dtype)
    return ((*args[:at], dtype, *args[at + 1 :]), kwargs) if positional else (args, {**kwargs, "dtype": dtype})


def _takes_results(out: Any) -> bool:
    return isinstance(out, Handle | np.ndarray)


_CASTS: frozenset[Into] = frozenset({"accumulates", "positions", "divides", "casts"})


def _write(spec: Spec, out: Any, result: Any, backend: Backend, casting: str) -> Any:
    into = spec.into
    outs = out if isinstance(out, tuple) else (out,)
    results = result if isinstance(result, tuple) else (result,)
    xp = backend.xp
    for o, r in zip(outs, results):
        if not _takes_results(o):
            raise TypeError("return arrays must be of ArrayType")
        value = r if backend.is_native(r) else xp.asarray(r)
        have = backend.dtype_of(value)
        if "exact" in into and (o.dtype != have or o.ndim != len(xp.shape_of(value)) or not o.flags.c_contiguous):
            raise ValueError(_NOT_EXACT)
        if o.shape != (shape := xp.shape_of(value)):
            filled = np.broadcast_shapes(o.shape, shape) if "fills" in into else shape
            if o.shape != filled:
                raise ValueError(f"output array has wrong shape {o.shape}, the result has shape {shape}")
            value = xp.prim.broadcast_to(value, filled)
        if "positions" in into:
            dtypes.check_cast(o.dtype, dtypes.INTP)
        if "divides" in into and not np.can_cast(have, o.dtype, "same_kind"):
            raise Unsupported("NumPy keeps the sum in out=, in whose dtype it is another one")
        casting = casting if _CASTS.isdisjoint(into) else "unsafe"
        wrapping.write_out(o, value, backend, casting, by=spec.writer)
    return out


_NOT_EXACT = (
    "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"  # NumPy's
)


def _where_asked(result: Any, where: Any, out: Any, backend: Backend) -> Any:
    """Return the result where the mask ``where`` is True, and the old value of ``out`` elsewhere."""
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
    if spec.uncopied and not (args[1] if len(args) > 1 else kwargs.get("copy", True)):
        out = args[0]
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    return args, kwargs, None if out is Ellipsis else out


def _natives(
    args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend, precision: settings.Precision, min_bits: int,
    orders: bool = False, integers: Collection[int] = (),
) -> tuple[Any, Any]:  # fmt: skip
    device = wrapping.device_among((*args, *kwargs.values()), backend)

    def taken(x: Any) -> Any:
        known = orders and isinstance(x, np.ndarray) and x.dtype.kind in "iu"
        return x if known else wrapping.to_native(x, backend, device)

    natives = [_known(x) if at in integers else taken(x) for at, x in enumerate(args)]
    keywords = {key: _known(x) if integers and key in INTEGERS else taken(x) for key, x in kwargs.items()}
    if precision is not None:
        natives = [_precise(x, backend, precision, min_bits) for x in natives]
        keywords = {key: _precise(x, backend, precision, min_bits) for key, x in keywords.items()}
    return natives, keywords


def _known(x: Any) -> Any:
    """Return an argument that is one or several integers, with ndarrays in place of arrays, and NumPy scalars in place of 0-d arrays.

    So NumPy's rules decide which arrays count as integers; those of the libraries differ.
    """
    looked = _looked_at(x)
    return looked[()] if isinstance(looked, np.ndarray) else looked


def _precise(x: Any, backend: Backend, precision: settings.Precision, min_bits: int) -> Any:
    """Return a value with its floating arrays, also in sequences and dicts, in the dtype in which the precision policy computes."""
    if type(x) in PLAIN:
        return x
    if isinstance(x, list | tuple | dict):
        return mapped(lambda y: _precise(y, backend, precision, min_bits), x)
    if not backend.is_native(x):
        return x
    return precise(x, backend, precision, min_bits)


def ghosts(x: Any, found: list[Handle]) -> Any:
    """Return an argument with the ghost in place of each `Array`, and a stand-in in place of each native array. ``found`` collects the
    `Array` objects.
    """

    def ghost(a: Handle) -> Any:
        found.append(a)
        return views.ghost(a)

    def ghost_of_native(y: Any) -> Any:
        if not isinstance(y, np.ndarray | np.generic) and type(y) not in PLAIN:
            backend = loader.backend_of(y)
            if backend is not None:
                return stand_in(backend.shape_of(y), backend.dtype_of(y))
        return y

    return handed(x, ghost, ghost_of_native)


def _looked_at(x: Any) -> Any:
    """Return an argument, such as an axis or a shape, with a copy of the values in place of each `Array`."""
    return handed(x, _copied_values)


def _copied_values(a: Handle) -> np.ndarray[Any, Any]:
    kind, value = views.held(a)
    looked = conversion.download(kind.backend, value, "axes or a shape given as an array")
    return looked.copy()  # the downloaded array is read-only, and rot90 writes into its k


def _meta(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    if spec.memory and any(isinstance(x, np.ndarray) for x in (*args, *kwargs.values())):
        # An ndarray may share the memory of a native array (np.asarray's result does); the ghost does not.
        hosts = [_in_memory(x) for x in args]
        return spec.func(*hosts, **{key: _in_memory(x) for key, x in kwargs.items()})
    found: list[Handle] = []
    stand_ins = [ghosts(x, found) for x in args]
    keywords = {key: ghosts(x, found) for key, x in kwargs.items()}
    return spec.func(*stand_ins, **keywords)


def _in_memory(x: Any) -> Any:
    return x._kind.backend.to_numpy(views.expose(x)) if isinstance(x, Handle) else x


_VIEWED = frozenset({"a", "m", "x", "v", "ary", "array", "arr", "matrix"})
"""NumPy's names for the argument of which a function returns a view."""


def _view(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    if args and isinstance(args[0], wrapping.scalar_class) and not spec.views.many:
        made = _view(entry, spec, (wrapping.zero_d(args[0]), *args[1:]), kwargs, backend)
        method = spec.views.scalars and not views.ghost(made).shape
        return wrapping.scalar_class._holding(native(made), made._kind) if method else made
    if spec.views.part is not None:
        return spec.views.part(backend.xp, *(_array(x, backend) for x in args[:1]), *args[1:], **kwargs)
    if spec.views.view_if is not None and not spec.views.view_if(args, kwargs):
        return _function(entry, spec, args, kwargs, backend)
    found: list[Handle] = []
    many = len(args) if spec.views.many else 1
    if many > 1 and spec.func is not np.einsum:  # a list or a scalar becomes a new array
        args = tuple(x if isinstance(x, Handle) else _array(x, backend) for x in args)
    with views.exchange:  # so that no thread moves the array and its views to the host before this view is registered
        stand_ins = [ghosts(x, found) if at < many else _looked_at(x) for at, x in enumerate(args)]
        keywords = {key: ghosts(x, found) if key in _VIEWED else _looked_at(x) for key, x in kwargs.items()}
        result = shown(spec.func, stand_ins, keywords)
        made = views.through_ghost(found, result, lambda: _copied(entry, spec, args, kwargs, backend))
    if isinstance(result, np.generic) and isinstance(made, Handle):  # np.flip of a 0-d array
        return subscripts.getitem(made, ())
    return made


def _copied(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    """Run a function such as ``np.reshape``, which returns views, for an array that it has to copy. ``order="A"``, and ``"K"`` of
    ``np.ravel``, follow the ghost's memory order.
    """
    at = spec.order
    a = args[0] if args else kwargs.get("a")
    if at is not None and isinstance(a, Handle):
        order = args[at] if len(args) > at else kwargs.get("order", "C")
        if order in ("A", "a", "K", "k"):
            rest = {name: x for name, x in kwargs.items() if name not in ("a", "order")}
            if order in ("A", "a"):
                order = "F" if views.ghost(a).flags.fnc else "C"
            elif spec.func is np.ravel:
                a, order = views.derive(a, memory_order.slowest_first(views.ghost(a))), "C"
            return _function(entry, spec, (a, *args[1:at]), {**rest, "order": order}, backend)
    return _function(entry, spec, args, kwargs, backend)


def _update(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    names = list(kwargs)
    target = args[0] if args else kwargs[names[0]]
    if not isinstance(target, Handle):
        if isinstance(target, np.ndarray):
            return host_fallback.call(spec.func, args, kwargs, backend, tracing.WRITTEN)
        raise TypeError(
            f"{host_fallback.name_of(spec.func)} writes into its first argument, which is a {type(target).__name__}"
        )
    if process.admit is not None:
        process.admit(target, (*args[1:], *kwargs.values()))
    if target._kind.backend.native_is_ndarray:  # NumPy writes only the elements it is asked to
        return host_values.call(spec.func, args, kwargs)
    with views.exchange:  # no other thread may read between reading and writing
        return _updated(entry, spec, args, kwargs, backend, target)


def _updated(
    entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend, target: Handle
) -> None:
    wrapping.check_writeable(target, spec.refusal)
    if target._kind.backend is not backend:
        return host_fallback.call(spec.func, args, kwargs, backend, "the array written to is held by NumPy")
    dtype = target._kind.dtype
    args, kwargs = wrapping.asked(args), {name: wrapping.asked(x) for name, x in kwargs.items()}
    given = tuple([x if x is target else wrapping.numbers(x, dtype) for x in args])
    named = {name: x if x is target else wrapping.numbers(x, dtype) for name, x in kwargs.items()}
    natives, keywords = _natives(given, named, backend, None, 16)
    new = entry.run(backend.xp, *natives, **keywords)  # type: ignore[misc]
    if not backend.mutable:
        views.keep_apart((*args, *kwargs.values()), new)
    writing.assign(target, new)
    return None


def _like(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    made = _function(entry, spec, args, kwargs, backend)
    a, at = args[0] if args else next(iter(kwargs.values())), spec.order
    order = args[at] if at is not None and len(args) > at else kwargs.get("order", "K")
    if not isinstance(a, Handle) or not isinstance(made, Handle) or order == "C":
        return made
    g = views.ghost(a)
    if order != "F" and (g.ndim < 2 or g.flags.c_contiguous):
        return made
    shape = views.ghost(made).shape
    if len(shape) < 2:
        return made
    return views.lay_out(made, stand_in_like(g, made._kind.dtype, order, shape))


def _array(x: Any, backend: Backend) -> Any:
    """Convert an argument to an `Array`."""
    if isinstance(x, Handle):
        return x
    return wrapping.wrap_result(backend.xp.asarray(wrapping.to_native(x, backend, None)), backend, "array", None)


def _arrays(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    with events.Body():
        made = entry.run(backend.xp, *args, **kwargs)  # type: ignore[misc]
    return wrapping.wrap_result(made, backend, spec.returns, settings.current_precision())


def _attribute(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    (value,) = args or kwargs.values()
    return getattr(_array(value, backend), spec.func.__name__)


def _output(entry: Entry, spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    """Run a SciPy function. If ``output=`` is an array, write the result to it, with that array's dtype, and return the array."""
    at, _ = scipy_calls.filled_by(spec.func)
    place = min(at, default=len(args))
    positional = len(args) > place
    out: Any = args[place] if positional else kwargs.get("output")
    if not _takes_results(out):
        return _function(entry, spec, args, kwargs, backend)
    args = (*args[:place], out.dtype, *args[place + 1 :]) if positional else args
    kwargs = kwargs if positional else {**kwargs, "output": out.dtype}
    made = _function(entry, spec, args, kwargs, backend)
    if made.shape != out.shape:  # SciPy may use the shape of the output as that of the result
        raise Unsupported("output= has a different shape from the result")
    wrapping.write_out(out, wrapping.to_native(made, backend, None), backend, "unsafe")
    return out


_MODES = {
    "function": _function, "output": _output, "meta": _meta, "view": _view, "like": _like, "attribute": _attribute,
    "update": _update, "arrays": _arrays,
}  # fmt: skip
