"""Host fallbacks, the fourth class of entries in the registry: NumPy runs on the host, by policy and with a reason.

Arguments become NumPy arrays (read-only, so that a function that writes and was not declared to write fails loudly),
NumPy runs, floating results get the precision in force, array results go back to the device. Functions declared to
write (``writes=``) get copies, which are written back.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends import loader
from ..backends.base import Backend
from ..backends.host_kernels import COPIES, uncopied
from ..common import events, names, tracing
from ..common.arguments import PLAIN
from ..common.pytrees import tree_leaves
from ..common.signal_safety import imported
from ..common.signatures import parameters_of
from ..common.user_warnings import reporting
from ..functions.registry import HOST, SCIENTIFIC, SPECS, Spec
from ..memory import views
from ..runtime import conversion, dtypes
from . import host_results, wrapping
from .handover import Handover, handed

name_of = names.name_of


def call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend, reason: str) -> Any:
    """Run a NumPy function (or a ufunc's bound method) on the host."""
    if func in SCIENTIFIC:
        imported("arraydispatch.dispatch.scipy_calls")
        from . import scipy_calls

        return scipy_calls.run(func, args, kwargs, backend, reason)
    host_results.allow(func, backend, reason)
    start = time.perf_counter()
    device = None if backend.hosted else wrapping.device_among([*args, *kwargs.values()], backend)
    target = getattr(func, "__self__", func) if isinstance(getattr(func, "__self__", None), np.ufunc) else func
    spec = SPECS.get(target)
    declared = HOST.get(target)
    writes: tuple[int, ...] = (0,) if spec is not None and spec.mode == "update" else ()
    if declared is not None:
        writes = declared.writes
    if isinstance(target, np.ufunc) and func is not target and func.__name__ == "at":
        writes = (0,)
    locked = spec is not None and overwrites_read_only(spec, args, kwargs)
    if spec is not None and spec.overwrites is not None and spec.overwrites.asked(args, kwargs) and not locked:
        writes = (0,)
    outs = kwargs.get("out")
    into_numpys = bool(writes) and len(args) > writes[0] and isinstance(args[writes[0]], np.ndarray)
    if spec is not None and spec.out is not None and len(args) > spec.out:
        outs, writes = args[spec.out], (*writes, spec.out)
    why = tracing.WRITTEN if into_numpys else f"{name_of(target)} runs on the host"
    hand = Handover(why, wide=True)

    def natives(x: Any) -> Any:
        if not isinstance(x, np.ndarray) and type(x) not in PLAIN and backend.is_native(x):
            return conversion.download(backend, x)
        return x

    if not hasattr(type(args[0]) if args else None, name_of(target).rpartition(".")[2]):  # NumPy would call it
        args, kwargs = (
            wrapping.asked(args),
            {key: x if key == "out" else wrapping.asked(x) for key, x in kwargs.items()},
        )
    filled = {"out"}
    if writes and kwargs and target is func:
        filled |= {name for i, name in enumerate(parameters_of(func).names) if i in writes}
    hosted = [handed(x, hand.fill if i in writes else hand.show, natives) for i, x in enumerate(args)]
    keywords = {key: handed(x, hand.fill if key in filled else hand.show, natives) for key, x in kwargs.items()}
    if isinstance(target, np.ufunc):
        name = func.__name__ if func.__name__.startswith(("reduce", "accumulate")) else target.__name__
        result = reporting(lambda: func(*hosted, **keywords), name)
    else:
        if target in COPIES:
            hosted = [x if i in writes else uncopied(target, x) for i, x in enumerate(hosted)]
            keywords = {key: x if key in filled else uncopied(target, x) for key, x in keywords.items()}
        result = func(*hosted, **keywords)
        hand.open(result)
    hand.store()
    if events.tap is not None:
        apart = isinstance(reason, dtypes.OnlyOnHost)
        plain = backend.native_is_ndarray and not backend.hosted
        kind = ("native" if plain else "hosted") if apart else "host"
        events.tap.call(
            target, backend.name, kind, "" if apart else reason, time.perf_counter() - start, result, 1, hosted
        )
    if wrapping.is_guest(result):  # a subclass of ndarray may wrap `out=` in an instance of itself, too
        return result
    if isinstance(outs, Handle | np.ndarray | tuple):  # for any other object, the result is the answer of its protocol
        return outs[0] if isinstance(outs, tuple) and len(outs) == 1 else outs
    return host_results.to_device(result, backend, device)


def overwrites_read_only(spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call lets NumPy overwrite its first argument, and this argument is a read-only `Array`."""
    if spec.overwrites is None or not spec.overwrites.asked(args, kwargs):
        return False
    first = args[0] if args else kwargs.get("a", kwargs.get("x"))
    return isinstance(first, Handle) and not views.writeable(first)


def compiled_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Implement ``__array_ufunc__`` for numba's ufuncs: they are not ``np.ufunc`` and compile loops when they are called.

    Return NotImplemented if another operand has the protocol; raise TypeError for any other object in place of the ufunc.
    """
    if not (callable(ufunc) and isinstance(getattr(ufunc, "ufunc", None), np.ufunc)):
        raise TypeError(f"argument 1 must be numpy.ufunc, not {type(ufunc).__name__}")
    for x in (*inputs, *kwargs.values()):
        if not isinstance(x, Handle | np.ndarray | np.generic) and hasattr(type(x), "__array_ufunc__"):
            return NotImplemented  # the other object may know both classes
    backend = wrapping.find_backend((*inputs, *kwargs.values()))
    if backend is None:
        return NotImplemented
    given = ufunc.ufunc.nin
    if method == "__call__" and len(inputs) > given:  # NumPy's own ufuncs hand these on by name
        outs = inputs[given:]
        inputs, kwargs = inputs[:given], {**kwargs, "out": outs if len(outs) > 1 else outs[0]}
    bound = ufunc if method == "__call__" else getattr(ufunc, method)
    return call(bound, inputs, kwargs, backend, "it is compiled for the host")


OF_THE_PROGRAM = "_arraydispatch_of_the_program"
"""Attribute that marks protocol methods of a launched program's own classes. To these classes an `Array` is an ndarray."""


def with_strangers(func: Any, method: str, args: Any, kwargs: dict[str, Any], types: Collection[Any] = ()) -> Any:
    """Run a function, or a ufunc's method, on arguments that include objects with protocols of their own, such as dask arrays.

    The methods of these objects are called first, with our arrays unchanged; if all return NotImplemented, NumPy runs with ndarrays in
    place of our arrays. For classes of a launched program NotImplemented is returned, so that NumPy calls their methods itself.
    Subclasses of ndarray get ndarrays, because they pass their arguments on to ndarray's own method. ``types``: the types that NumPy
    passed.
    """
    protocol = "__array_ufunc__" if method else "__array_function__"
    leaves = tree_leaves((args, kwargs))
    bound = getattr(func, method) if method not in ("", "__call__") else func
    if any(isinstance(x, np.ndarray) and hasattr(getattr(type(x), protocol), OF_THE_PROGRAM) for x in leaves):
        backend = wrapping.find_backend((*args, *kwargs.values()))
        return NotImplemented if backend is None else call(bound, args, kwargs, backend, wrapping.GUEST)
    strangers = [x for x in leaves if is_stranger(x, protocol)]
    if all(hasattr(getattr(type(x), protocol), OF_THE_PROGRAM) for x in strangers):
        return NotImplemented
    for x in strangers:
        ask = getattr(x, protocol)
        made = ask(func, method, *args, **kwargs) if method else ask(func, types, args, kwargs)
        if made is not NotImplemented:
            return made
    backend = wrapping.find_backend((*args, *kwargs.values()))
    if backend is None or not strangers:
        return NotImplemented
    cls = type(strangers[0])
    return call(bound, args, kwargs, backend, f"it meets a {cls.__module__.partition('.')[0]} {cls.__qualname__}")


def is_stranger(x: Any, protocol: str) -> bool:
    """Whether an object implements a NumPy protocol and is not an array of this package, of a backend's library or of NumPy."""
    if isinstance(x, Handle | np.generic) or type(x) is np.ndarray or loader.backend_of(x) is not None:
        return False
    theirs = getattr(type(x), protocol, None)
    return theirs is not None and theirs is not getattr(np.ndarray, protocol)
