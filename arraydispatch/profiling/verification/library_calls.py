"""Calls that a library computes: only these need a comparison, because the results of other calls are NumPy's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._core.handles import Handle
from ...common.process_state import process
from ...common.pytrees import first
from ...dispatch import host_values
from ...memory import views
from ...runtime import settings


def library_computes(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], writes: bool, made: bool) -> bool:
    """Whether a library computes a call, as far as that is known before it runs.

    If values are on the host, NumPy computes calls on small arrays, and moves, views and writes values of any size.

    Parameters
    ----------
    func : callable or str
        The function, or the name of a method.
    args, kwargs
        Its arguments.
    writes : bool
        Whether it writes to an argument.
    made : bool
        Whether it creates an array.
    """
    if not process.min_size:
        return True
    values = (*args, *kwargs.values())
    held = []

    def is_held_elsewhere(x: Any) -> bool:
        if not isinstance(x, Handle):
            return False
        kind, value = views.held(x)
        held.append(value)
        return not kind.backend.hosted and kind.backend.name != "numpy"

    if first(is_held_elsewhere, values) is not None:
        return True
    if not held:
        return not (made and settings.begins_on_host(settings.current_name()))
    if writes or process.backend == "numpy" or not host_values.large(values):
        return False
    if type(func) is str:
        func = getattr(np, func, None)
    return func is not None and host_values.computes(func, args, dict(kwargs))
