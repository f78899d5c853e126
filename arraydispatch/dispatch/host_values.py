"""Calls on values in the host state: NumPy runs them immediately on the ndarrays inside, and results stay on the host.

Nothing is composed here and no rule of NumPy is repeated. A result in an argument's memory becomes a view of that
argument, every other result a new array. Size decides at each call: the library computes on arrays of ``--min-size`` elements or
more (the dispatch moves them); NumPy moves, views or writes values at any size.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from math import prod
from time import perf_counter
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends import loader
from ..backends.base import Backend
from ..common import buffers, events
from ..common.arguments import SCALARS
from ..common.process_state import process
from ..common.pytrees import first, leaves, mapped
from ..common.sentinels import DECLINED
from ..common.signal_safety import imported
from ..engine import along_axis
from ..engine.recording import call_nodes
from ..functions.registry import SCIENTIFIC, spec_of
from ..memory import views
from ..memory.roots import memory_of
from ..runtime import conversion, dtypes, settings
from ..runtime.execution_policy import are_few, shapes
from . import host_results, split_arrays, wrapping
from .handover import handed

__warningregistry__ = None  # NumPy warns here, for a line of the user's: see arraydispatch.launcher.numpy_warnings


def large(values: Any) -> bool:
    """Whether an array among the values, or in sequences among them, is so large that the library computes with it.

    Return False under fused execution: NumPy runs the calls that are not recorded. Under compiled execution an array is not large if
    its shape does not recur, or if it is a small part of an array whose shape was given back to the host.
    """
    least = settings.default.min_size
    if call_nodes.are_of_any_size():
        return False
    on_cpu = settings.on_cpu(settings.current_name())
    counted, one_by_one = (
        on_cpu and settings.default.execution == "compiled",
        on_cpu and settings.default.execution is None,
    )

    def is_large(x: Any) -> bool:
        if not isinstance(x, Handle) or type(x._v) is not np.ndarray or x._v.size < least:
            return False
        if not counted:
            return not (one_by_one and are_few(x._v, least))
        if shapes.given_back and x._base is not None:
            whole = views.ghost(x._base)
            if whole.shape in shapes.given_back and (2 * x._v.size < whole.size or not shapes.recurs(whole.shape)):
                return False
        return shapes.recurs(x._v.shape)

    return first(is_large, values) is not None


def spreads(inputs: tuple[Any, ...], outer: bool) -> bool:
    """Whether a call broadcasts small arrays to a large result, as ``x[:, None] - x`` and ``outer`` do, or to a result split over a mesh.

    The library runs such a call, as others with large results: under compiled execution the result may never be stored.
    """
    least = settings.default.min_size
    computes = bool(least) and not call_nodes.are_of_any_size()
    splits = split_arrays.is_possible()
    if not (computes or splits):
        return False
    sizes: list[tuple[int, ...]] = []
    for x in inputs:
        if issubclass(type(x), (list, tuple)):
            return False
        held = x._v if isinstance(x, Handle) else x
        if type(held) is np.ndarray:
            sizes.append(held.shape)
    if len(sizes) < 2 or (not outer and sizes.count(sizes[0]) == len(sizes)):
        return False
    try:
        shape = sum(sizes, ()) if outer else np.broadcast_shapes(*sizes)
    except ValueError:  # NumPy raises its error
        return False
    if splits and split_arrays.target(shape, dtypes.FLOAT64) is not None:
        return True
    if not computes or prod(shape) < least:
        return False
    return settings.default.execution != "compiled" or shapes.recurs(shape)


def product(func: Any, a: Any, b: Any) -> Any:
    """Multiply a matrix by a vector, in either order, with NumPy; return :data:`DECLINED` if the library should do it.

    NumPy multiplies if the matrix is small for the library, the matrix's values are computed and in host memory, and the result has so
    few elements that it would move to the host anyway. The vector may be pending if it has few elements.
    """
    if not isinstance(a, Handle) or not isinstance(b, Handle) or a._kind.standard or b._kind.standard:
        return DECLINED
    if a._kind.dtype.kind != "f" or b._kind.dtype.kind != "f":
        return DECLINED
    pair: tuple[Any, Any] = (a, b)
    matrix, vector = pair[::-1] if pair[1].ndim == 2 else pair
    least = settings.default.min_size
    if (matrix.ndim, vector.ndim) != (2, 1) or matrix.shape[0 if matrix is a else 1] >= least:
        return DECLINED
    least_of_library = max(_multiplies_from(a._kind.backend), _multiplies_from(b._kind.backend))
    if least_of_library and min(matrix.shape) <= _NARROW:
        least_of_library = max(least_of_library, _NARROW_FROM)
    if matrix.size >= least_of_library:
        return DECLINED
    if not settings.leaves_to_numpy(settings.current_name()):
        return DECLINED
    left = _in_memory(matrix, False)
    right = None if left is None else _in_memory(vector, vector.size < least)
    if left is None or right is None:
        return DECLINED
    held = a._kind.backend
    start = perf_counter()
    result = func(left, right) if matrix is a else func(right, left)
    if events.tap is not None:
        events.tap.call(
            func, held.name, CLASS[held.name == "numpy"], "", perf_counter() - start, result, 1, (left, right)
        )
    return host_results.placed(result, held) if type(result) is np.ndarray else dressed(result, [])


_NARROW = 256
"""Number of rows or columns up to which a matrix is narrow: libraries take three to fifteen times NumPy's time for its product with a vector."""
_NARROW_FROM = 3 << 20
"""Number of elements from which the library multiplies a narrow matrix."""


def _multiplies_from(backend: Backend) -> int:
    """Return the size from which a backend's matrices are not left to NumPy, if they are deferred or in the host state; else 0."""
    if backend.hosted:
        return backend.home.MULTIPLIES_FROM
    return backend.MULTIPLIES_FROM if backend.defers else 0


def _in_memory(a: Handle, pending: bool) -> np.ndarray[Any, Any] | None:
    """Return an array's values without a copy; None if they are not in host memory. ``pending``: whether to compute them if they are pending."""
    if a._root is not None and not a._kind.backend.mutable:
        kind, value = views.held(views.owner(a))
        whole = None if kind.backend.peek(value) is None else kind.backend.awaited(value)
        seen = None if whole is None else views.located(a, whole)
        if seen is not None or not pending:
            return seen
    kind, value = views.held(a)
    return None if not pending and kind.backend.peek(value) is None else kind.backend.awaited(value)


def computes(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a function computes new values and writes into no ``out=``; :func:`belongs_to_library` also considers sizes."""
    spec = spec_of(func)
    if spec is None or not spec.computes:
        return spec is None and kwargs.get("out") is None
    return not any(parameter.name == "out" and parameter.asked(args, kwargs) for parameter in spec.written)


def belongs_to_library(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the library runs a call although its values are on the host: the call computes with a large array.

    Under compiled execution the library also runs functions that only move elements, because a later call would upload their result.
    """
    spec = spec_of(func)
    moved = spec is not None and spec.is_moved_by_blocks and settings.default.execution == "compiled"
    if call_nodes.are_of_any_size() or not (moved or computes(func, args, kwargs)):
        return False
    if spec is not None and (tables := spec.looks_into(args, kwargs)):
        args = tuple([x for i, x in enumerate(args) if i not in tables])
    if spec is not None and spec.outer and not kwargs and spreads(args, True):
        return True
    return large(args) or large(kwargs.values())


def call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a NumPy function, a ufunc or its bound method on the ndarrays inside the arguments."""
    if func in SCIENTIFIC:
        imported("arraydispatch.dispatch.scipy_calls")
        from . import scipy_calls

        backend = wrapping.find_backend((*args, *kwargs.values())) or loader.hosted(settings.current_name())
        return scipy_calls.run(func, args, kwargs, backend, "")
    start = perf_counter()
    found: list[Handle] = []
    spec = None if isinstance(func, np.ufunc) else spec_of(func)
    writes = spec is None or spec.may_write(args, kwargs)  # a function without a spec is assumed to write
    copies = spec is not None and "positions" in spec.into  # NumPy first copies an array that is read-only
    lent: dict[int, np.ndarray[Any, Any]] | None = None if writes or copies or not views.waiting else {}
    inside, called = _inside(found, _WRITTEN, lent)
    hosts = [handed(x, inside, called) for x in args]
    keywords = {key: handed(x, inside, called) for key, x in kwargs.items()} if kwargs else kwargs
    if "where" in keywords and type(func) is np.ufunc:
        keywords.setdefault("out", (None,) * func.nout)  # where= without out= would cause a warning of NumPy's
    if writes and views.waiting:
        for a in found:
            views.run_readers(a)
    result = (
        DECLINED
        if spec is None or not call_nodes.are_of_any_size()
        else along_axis.call(spec, tuple(hosts), dict(keywords))
    )
    if result is DECLINED:
        try:
            result = func(*hosts, **keywords)
        finally:  # np.put writes the elements before the index that it refuses
            if writes:
                for a in found:
                    views.owner(a)._writes += 1
    if lent:
        result = _given_back(result, found, lent)
    seconds = perf_counter() - start
    given = (*args, *kwargs.values())
    made = dressed(result, found, given)
    if events.tap is not None:
        owner = getattr(func, "__self__", None)
        named = owner if isinstance(owner, np.ufunc) else func
        held = found[0]._kind.backend.name if found else "numpy"
        seen = spec is not None and spec.mode == "view" and spec.views.part is None and only_views(made, given)
        events.tap.call(named, held, "view" if seen else CLASS[held == "numpy"], "", seconds, result, 1, hosts)
    return made


def computed(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """Run a ufunc with one result on arrays in the host state and numbers; return :data:`DECLINED` for other calls, which :func:`call` runs."""
    if ufunc.nout != 1 or views.waiting:
        return DECLINED
    start = perf_counter()
    values = []
    held: Backend | None = None
    for x in inputs:
        if isinstance(x, Handle) and type(x._v) is np.ndarray and not x._kind.standard:
            held = x._kind.backend
            values.append(x._v)
        elif type(x) in SCALARS:
            values.append(x)
        else:
            return DECLINED
    if held is None:
        return DECLINED
    result = ufunc(*values)
    if events.tap is not None:
        events.tap.call(ufunc, held.name, CLASS[held.name == "numpy"], "", perf_counter() - start, result, 1, values)
    return host_results.placed(result, held) if type(result) is np.ndarray else dressed(result, [])


def tell(func: Any, found: list[Handle], result: Any, hosts: Any, seconds: float) -> None:
    """Report a call of the thin path on large arrays. ``found``: arrays among its arguments; ``hosts``: arguments with ndarrays in place of
    these arrays.
    """
    if events.tap is not None:
        held = found[0]._kind.backend.name
        events.tap.call(func, held, CLASS[held == "numpy"], "", seconds, result, 1, hosts)


def take(a: Handle, key: Any) -> Any:
    """Return ``a[key]`` of an array in the host state."""
    start = perf_counter()
    result = a._v[_given(key, _INDEX)]
    if events.tap is not None and not _is_view(result, a):
        name = "__getitem__" if type(result) is np.ndarray else events.ELEMENT
        held = a._kind.backend.name
        events.tap.call(name, held, CLASS[held == "numpy"], "", perf_counter() - start, result)
    return dressed(result, [a])


def assign(a: Handle, key: Any, value: Any) -> None:
    """Assign ``a[key] = value`` to an array in the host state."""
    start = perf_counter()
    place, given = _given(key, _INDEX), _given(value)
    if views.waiting:
        views.run_readers(a)
    a._v[place] = given
    views.owner(a)._writes += 1
    if events.tap is not None:
        whole = type(key) is tuple and len(key) == a._v.ndim and all(isinstance(k, int) for k in key)
        name = events.ELEMENT_SET if whole or (type(key) is int and a._v.ndim == 1) else "__setitem__"
        held, size = a._kind.backend.name, int(getattr(given, "size", 1))
        events.tap.call(name, held, CLASS[held == "numpy"], "", perf_counter() - start, None, 1, size)


def only_views(made: Any, given: tuple[Any, ...]) -> bool:
    """Whether a call computed nothing: its result ``made`` consists of views and of arrays in ``given``, its arguments."""
    return all(isinstance(x, Handle) and (x._base is not None or any(x is y for y in given)) for x in leaves((made,)))


def _is_view(result: Any, a: Handle) -> bool:
    """Whether an ndarray lies in the memory of an array's value: making a view is not counted as a call."""
    return type(result) is np.ndarray and result.base is not None and memory_of(result) is memory_of(a._v)


CLASS = "hosted", "native"
"""Entry classes of a call that NumPy runs on values in the host state: for other backends, and for the numpy backend itself."""
_WRITTEN = "written into a value on the host"
_INDEX = "the index of a value on the host"
_FUNCTIONS = frozenset({FunctionType, MethodType, partial})


def _inside(
    found: list[Handle], why: str = _WRITTEN, lent: dict[int, np.ndarray[Any, Any]] | None = None
) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return two policies for a call on values in the host state: one replaces arrays by the ndarrays inside, the other wraps functions.

    ``found`` collects the arrays in the host state. ``why``: reason for downloading another array. ``lent``: see :func:`_lend`; None if the
    call may write.
    """

    def array(a: Handle) -> np.ndarray[Any, Any]:
        backend = a._kind.backend
        if backend.native_is_ndarray:
            found.append(a)
            return a._v if lent is None else _lend(a._v, lent)
        return conversion.download(backend, views.expose(a), why)

    def other(x: Any) -> Any:
        return _called_with_arrays(x, found, why) if type(x) in _FUNCTIONS else x

    return array, other


def _given(x: Any, why: str = _WRITTEN) -> Any:
    """Return a key, or a value to assign, with ndarrays in place of arrays. ``why``: reason in the report of a download.

    A list that contains itself is returned unchanged, so that NumPy raises its own error.
    """
    try:
        return handed(x, *_inside([], why))
    except RecursionError:
        return x


def _called_with_arrays(func: Any, found: list[Handle], why: str) -> Any:
    """Wrap a user's function that NumPy calls, so that the function gets arrays, not ndarrays, and may return arrays.

    ``found``: arrays whose ndarrays NumPy has got. ``why``: reason in the report of a download.
    """

    @wraps(func)
    def called(*args: Any, **kwargs: Any) -> Any:
        given = [dressed(x, found) for x in args]
        return handed(func(*given, **{key: dressed(x, found) for key, x in kwargs.items()}), *_inside([], why))

    return called


def _lend(value: np.ndarray[Any, Any], lent: dict[int, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Return the value, or a read-only view of it (kept in ``lent``) if a pending call reads the value: a function that writes then raises.

    The flag of the value itself is not changed: views made meanwhile would inherit it, and ``x.flags`` would show it.
    """
    if id(memory_of(value)) not in views.waiting:
        return value
    seen = lent.get(id(value))
    if seen is None:
        seen = lent[id(value)] = value.view()
        seen.flags.writeable = False
    return seen


def _given_back(result: Any, found: list[Handle], lent: dict[int, np.ndarray[Any, Any]]) -> Any:
    """Return a result without the effect of :func:`_lend` on the values of the arrays ``found``: a lent view is replaced by its value; a
    view of a lent view gets the value's flag.
    """
    if isinstance(result, list | tuple):
        return mapped(lambda x: _given_back(x, found, lent), result)
    if type(result) is not np.ndarray or result.base is None:
        return result
    for a in found:
        seen = lent.get(id(a._v))
        if result is seen:
            return a._v
        if seen is not None and memory_of(result) is memory_of(seen):
            result.flags.writeable = buffers.is_writeable(a._v)
    return result


def dressed(result: Any, found: list[Handle], given: tuple[Any, ...] = ()) -> Any:
    """Convert NumPy's results for the caller: to views of the arrays ``found`` (whose ndarrays NumPy had got), new arrays, scalars. Ndarrays
    that are in ``given`` stay unchanged.
    """
    if type(result) is np.ndarray:
        for a in found:
            if result is a._v:
                return a
        if result.base is not None:
            memory = memory_of(result)
            for a in found:
                if memory_of(a._v) is memory:
                    if result.dtype is a._v.dtype or a._kind.backend.holds(result.dtype):
                        return views.derive(a, result)
                    # A view of a dtype that exists only on the host is an ndarray; the program may write through it.
                    views.expose(a)
                    return result
        if any(result is x or (type(x) is tuple and any(result is y for y in x)) for x in given):
            return result
        return host_results.placed(result, found[0]._kind.backend if found else None)
    if type(result) is tuple:
        return tuple([dressed(x, found, given) for x in result])
    if isinstance(result, list | tuple):
        return mapped(lambda x: dressed(x, found, given), result)
    if isinstance(result, np.inexact) and settings.current_precision() is not None:
        return result.astype(dtypes.apply_precision(result.dtype, settings.current_precision()))
    return result


def sharing(host: np.ndarray[Any, Any]) -> Any:
    """Return an array in the host state on the memory of an ndarray that other code holds.

    Return None if the backend has no such dtype, if the precision in force requires another one, or if the array is so large that it
    belongs on an accelerator.
    """
    name, dtype = settings.current_name(), host.dtype
    held = loader.hosted(name)
    if (
        not dtype.isnative
        or not held.holds(dtype)
        or not (host.size < settings.default.min_size or settings.on_cpu(name))
    ):
        return None
    if settings.current_precision() in (16, "bf16") or conversion.precise(dtype) != dtype:
        return None
    return process.wrapper(host, held.kind(dtype))


def lifted(inputs: tuple[Any, ...], backend: Backend) -> tuple[Any, ...]:
    """Move operands in the host state to the library; return ``inputs`` itself if there are none."""
    held = [isinstance(x, Handle) and x._kind.backend.hosted and backend.holds(x._kind.dtype) for x in inputs]
    if not any(held):
        return inputs
    device = wrapping.device_among(inputs, backend)
    return tuple(_lifted(x, backend, device) if hosted else x for x, hosted in zip(inputs, held))


def _lifted(x: Handle, backend: Backend, device: Any) -> Any:
    made = process.wrapper(views.lifted(x, device), backend.kind(x._kind.dtype))
    if not backend.mutable and not x._v.flags.c_contiguous:
        made._ghost = x._v  # unlike a new array's ghost, it shows that a broadcast axis has no order
    return made
