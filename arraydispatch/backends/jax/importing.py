"""How JAX is imported: so that a call which a signal's handler has ended keeps no later one waiting.

JAX's caches have an entry for a call before its value is there; who asks for the same waits until it is. In between they call a
function of Python's, ``explain``, outside of what makes an entry done whatever comes (jaxlib 0.10: ``WeakrefLRUCacheBase::Call``).
What a handler raises there, as Ctrl-C does, leaves an entry that never is, and every later call of that program, in any thread, waits
for ever. So where the process has not imported JAX yet, its caches are made without, unless somebody wants the explanations.
"""

from __future__ import annotations

import importlib
import os
import sys
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

    def unexplained(*args: Any, **kwargs: Any) -> Any:
        return make(*args, **{**kwargs, "explain": None} if "explain" in kwargs else kwargs)

    caches.weakref_lru_cache = unexplained
    try:
        return importlib.import_module("jax")
    finally:
        caches.weakref_lru_cache = make


jax = _imported()
