"""Calls on views with many more elements than their root: sliding windows, and broadcast arrays.

A library would store all of these elements, perhaps gigabytes, before it computes; NumPy reads the root's own memory. So NumPy
computes, as a host kernel.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from ..backends.base import Backend
from ..common import events
from ..common.sentinels import DECLINED
from ..common.user_warnings import reporting
from ..memory import views
from ..memory.views import ghost, native
from ..runtime import settings
from . import host_fallback, host_results
from .handover import Handover, handed

_LARGE = 1 << 24
"""Size in bytes from which a view that repeats elements is not copied for the library."""


def computed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> Any:
    """Run a function, a ufunc's method, or ``ndarray.astype`` on the host if its first argument is a large view that outgrows its root, and
    NumPy can read the root in place. Return the result on the root's device; DECLINED in all other cases, with ``out``, and while a
    precision is in force.
    """
    a = args[0]
    if ghost(a).nbytes < _LARGE or not views.outgrows(a) or kwargs.get("out") is not None:
        return DECLINED
    if a._kind.standard or settings.current_precision() is not None:
        return DECLINED
    root = native(views.owner(a))
    seen = None if not backend.is_concrete(root) or backend.lent(root) is None else views.of_root_on_host(a)
    if seen is None:
        return DECLINED
    seen.flags.writeable = False
    start = perf_counter()
    read = Handover(host_fallback.name_of(func)).read
    rest = [handed(x, read) for x in args[1:]]
    keywords = {key: handed(x, read) for key, x in kwargs.items()}
    ufunc = getattr(func, "__self__", None)
    if isinstance(ufunc, np.ufunc):
        result = reporting(lambda: func(seen, *rest, **keywords), func.__name__)
    elif func is np.ndarray.astype:
        result = reporting(lambda: func(seen, *rest, **keywords), "cast")
    else:
        result = func(seen, *rest, **keywords)
    made = host_results.to_device(result, backend, backend.device_of(root))
    if events.tap is not None:
        events.tap.host_kernel()
        named = ufunc if isinstance(ufunc, np.ufunc) else "ndarray.astype" if func is np.ndarray.astype else func
        events.tap.call(named, backend.name, "native", "", perf_counter() - start, made)
    return made
