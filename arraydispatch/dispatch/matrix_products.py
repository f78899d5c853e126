"""The short way of matrix products: two arrays of one floating kind and of fitting shapes, of which no rule of NumPy's decides."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..common import events
from ..memory import views
from ..memory.views import native
from ..runtime import settings
from ..runtime.settings import context_rules
from . import ufuncs, wrapping
from .fp_errors import UNTOUCHED, in_force

_defaults = settings.default
_CORES = frozenset({(2, 2), (2, 1), (1, 2)})


def product(a: Any, b: Any) -> Any:
    """``np.matmul(a, b)``, of which one is an array of ours."""
    if type(a) is type(b) and isinstance(a, Handle):
        kind = a._kind
        run = kind.product
        rules = context_rules.get() or _defaults.rules
        if run is not None and b._kind is kind and rules.precision is None and in_force() is UNTOUCHED:
            x = a._v if a._root is None else native(a)
            y = b._v if b._root is None else native(b)
            if (x.ndim, y.ndim) in _CORES and x.shape[-1] == y.shape[0]:
                made = _made(run, x, y, kind)
                if made is not None:
                    return made
    return ufuncs._slow(np.matmul, "__call__", (a, b), {})


def _made(run: Any, x: Any, y: Any, kind: Any) -> Any:
    """The product as an array; None where the library raises, which the general way has words for."""
    tap = events.tap
    start = 0.0 if tap is None else perf_counter()
    try:
        value = run(x, y)
    except Exception:  # noqa: BLE001 -- raised again, in NumPy's words, by the general way
        return None
    if tap is not None:
        tap.call(np.matmul, kind.backend.name, "native", "", perf_counter() - start, value, 1, (x, y))
    if _defaults.min_size and not kind.standard:
        return wrapping.made_of(value, kind.backend)
    return views.wrapper(value, kind, True)


ufuncs.FAST[np.matmul] = product
