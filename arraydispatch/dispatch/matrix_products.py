"""Short path of matrix products: two arrays of one floating kind with matching shapes, which need none of NumPy's other rules."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..common import events
from ..common.process_state import process
from ..common.sentinels import DECLINED
from ..common.signal_safety import of_handler
from ..memory import views
from ..memory.views import native
from ..runtime import settings
from ..runtime.settings import context_rules
from . import host_values, ufuncs, wrapping
from .fp_errors import UNTOUCHED, in_force

_defaults = settings.default
_CORES = frozenset({(2, 2), (2, 1), (1, 2)})


def product(a: Any, b: Any) -> Any:
    """Return ``np.matmul(a, b)``; at least one operand is an `Array`."""
    if type(a) is type(b) and isinstance(a, Handle):
        kind = a._kind
        if type(a._v) is np.ndarray is type(b._v) and kind.backend.hosted and not host_values.large((a, b)):
            made = host_values.computed(np.matmul, (a, b))
            if made is not DECLINED:
                return made
        made = host_values.product(np.matmul, a, b)
        if made is not DECLINED:
            return made
        if kind.backend.copies_columns and b._kind is kind:
            a, b = by_rows(a, b)
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


def by_rows(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the operands of a product, exchanged if it is of a vector and a matrix ``M`` that is stored by columns.

    The library then reads the matrix by rows: ``M @ v`` becomes ``v @ M.T``, and ``v @ M`` becomes ``M.T @ v``.
    """
    shapes = a.shape, b.shape
    cores = len(shapes[0]), len(shapes[1])
    if cores == (2, 1) and shapes[0][1] == shapes[1][0] and _is_by_columns(a):
        return b, a.T
    if cores == (1, 2) and shapes[0] == shapes[1][:1] and _is_by_columns(b):
        return b.T, a
    return a, b


def _is_by_columns(a: Any) -> bool:
    if a._root is None:
        return False
    flags = views.ghost(a).flags
    return bool(flags.f_contiguous and not flags.c_contiguous)


def _made(run: Any, x: Any, y: Any, kind: Any) -> Any:
    """Return the product ``run(x, y)`` as an array; None if the library raises. Then the general path translates the error."""
    tap = events.tap
    start = 0.0 if tap is None else perf_counter()
    try:
        value = run(x, y)
    except Exception as error:  # the general path raises it again, as NumPy's
        if of_handler(error):
            raise
        return None
    if tap is not None:
        tap.call(np.matmul, kind.backend.name, "native", "", perf_counter() - start, value, 1, (x, y))
    if _defaults.min_size and not kind.standard:
        return wrapping.made_of(value, kind.backend)
    return process.wrapper(value, kind, True)


ufuncs.FAST[np.matmul] = product
