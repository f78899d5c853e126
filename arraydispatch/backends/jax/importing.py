"""How JAX is imported: so that a call which a signal's handler has ended keeps no later one waiting.

JAX's caches have an entry for a call before its value is there; who asks for the same waits until it is. In between they call a
function of Python's, ``explain``, outside of what makes an entry done whatever comes (jaxlib 0.10: ``WeakrefLRUCacheBase::Call``).
What a handler raises there, as Ctrl-C does, leaves an entry that never is, and every later call of that program, in any thread, waits
for ever. So where the process has not imported JAX yet, its caches are made without, unless somebody wants the explanations.

And what JAX traces it traces for one of these caches. It says so in a variable of the thread, and takes it back in a function of
Python's, ``__exit__``; what a handler raises where that begins leaves the thread tracing, and every later value a tracer. So the
functions behind these caches set it as they found it, where nothing of Python's runs in between.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["jax"]


def _imported() -> Any:
    if "jax" in sys.modules or os.environ.get("JAX_EXPLAIN_CACHE_MISSES"):
        return importlib.import_module("jax")
    try:
        caches: Any = importlib.import_module("jaxlib.weakref_lru_cache")
        make = caches.weakref_lru_cache
    except (ImportError, AttributeError):  # of another version, laid out otherwise
        return importlib.import_module("jax")

    def unexplained(context: Any, call: Any, *args: Any, **kwargs: Any) -> Any:
        return make(context, _restoring(call), *args, **{**kwargs, "explain": None} if "explain" in kwargs else kwargs)

    caches.weakref_lru_cache = unexplained
    try:
        return importlib.import_module("jax")
    finally:
        caches.weakref_lru_cache = make


def _restoring(call: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which leaves the thread in the trace where it found it, or in none, whatever came."""

    @functools.wraps(call)
    def restoring(*args: Any, **kwargs: Any) -> Any:
        core = sys.modules.get("jax._src.core")
        weak, strong = getattr(core, "trace_state", None), getattr(core, "trace_state_strong_ref", None)
        if weak is None or strong is None:  # JAX is being imported, or is laid out otherwise
            return call(*args, **kwargs)
        reference, trace = weak.get_local(), strong.get_local()
        try:
            return call(*args, **kwargs)
        finally:
            try:
                weak.set_local(reference)
            finally:  # a handler may have been called in between
                strong.set_local(trace)

    return restoring


jax = _imported()
