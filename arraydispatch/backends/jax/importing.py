"""Import of JAX so that a call interrupted by a signal handler does not block later calls.

JAX's caches contain an entry for a call before its value exists, and other callers of the same program wait for the value.
Meanwhile the cache calls a Python function, ``explain``, outside of the code that completes an entry in all cases (jaxlib
0.10: ``WeakrefLRUCacheBase::Call``). If a signal handler raises an exception there, as Ctrl-C does, the entry is never
completed, and every later call of that program waits forever, in any thread. Therefore, if the process has not imported JAX
yet, its caches are created without ``explain``, unless the explanations are enabled.

JAX traces functions to fill one of these caches. It records the trace in a variable of the thread, and resets the variable in a
Python function, ``__exit__``. If a signal handler raises an exception when that function begins, the thread remains in the
trace, and every later value is a tracer. So the functions behind these caches restore the variable without running Python
code in between.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
import sys
from collections.abc import Callable
from typing import Any

THREADS = "PJRT_NPROC", "NPROC"
"""Environment variables that XLA reads when it starts; there is no option for it (xla/pjrt/utils.cc, DefaultThreadPoolSize)."""


def threads_of_devices() -> int:
    """Return the number of threads that devices simulated on a CPU need; 0 if there is one.

    In a collective each device's thread waits for the others, and a program's parallel loops need further threads meanwhile. With one
    thread for each device, XLA (JAX 0.10) waits for 40 s and ends the process.
    """
    found = re.findall(r"host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", ""))
    count = int((found or [os.environ.get("JAX_NUM_CPU_DEVICES") or "1"])[-1])
    return 4 * count if count > 1 else 0


if threads_of_devices() and not any(name in os.environ for name in THREADS):
    os.environ[THREADS[0]] = str(threads_of_devices())


def _imported() -> Any:
    if "jax" in sys.modules or os.environ.get("JAX_EXPLAIN_CACHE_MISSES"):
        return importlib.import_module("jax")
    try:
        caches: Any = importlib.import_module("jaxlib.weakref_lru_cache")
        make = caches.weakref_lru_cache
    except (ImportError, AttributeError):  # another version of JAX has another layout
        return importlib.import_module("jax")

    def unexplained(context: Any, call: Any, *args: Any, **kwargs: Any) -> Any:
        return make(context, _restoring(call), *args, **{**kwargs, "explain": None} if "explain" in kwargs else kwargs)

    caches.weakref_lru_cache = unexplained
    try:
        return importlib.import_module("jax")
    finally:
        caches.weakref_lru_cache = make


def _restoring(call: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function to restore the thread's trace (or the absence of one) after each call, also after an exception."""

    @functools.wraps(call)
    def restoring(*args: Any, **kwargs: Any) -> Any:
        core = sys.modules.get("jax._src.core")
        weak, strong = getattr(core, "trace_state", None), getattr(core, "trace_state_strong_ref", None)
        if weak is None or strong is None:  # JAX is still being imported, or this version has another layout
            return call(*args, **kwargs)
        reference, trace = weak.get_local(), strong.get_local()
        try:
            return call(*args, **kwargs)
        finally:
            try:
                weak.set_local(reference)
            finally:  # a signal handler may have run in between
                strong.set_local(trace)

    return restoring


jax = _imported()
