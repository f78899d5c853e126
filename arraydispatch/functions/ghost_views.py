"""Bodies of functions that NumPy computes from shapes, strides and dtypes: NumPy itself is called, on ghosts.

The dispatch asks ghosts before it looks for a body, so these run inside other bodies, and for a list of arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..common.pytrees import mapped
from ..common.signatures import parameters_of
from ..memory.ghosts import Ghost, stand_in
from ..memory.roots import memory_of
from ..memory.view_programs import compile_view
from ..memory.views import placement_of
from .operands import arrays, to_host
from .registry import XP, Body

Native = Any


def _ghost(xp: XP, a: Native) -> Ghost:
    return stand_in(xp.shape_of(a), xp.dtype_of(a))


def answered(func: Any) -> Body:
    """Return the body of a function of shapes and dtypes alone."""

    def body(xp: XP, *args: Any, **kwargs: Any) -> Any:
        return func(*[_ghost(xp, x) if xp.is_array(x) else x for x in args], **kwargs)

    body.__wrapped__ = func  # type: ignore[attr-defined]
    return body


def viewed(func: Any, many: bool = False) -> Body:
    """Return the body of a function that returns views of its first argument, or of all positional ones (``many``)."""
    first = next(iter(parameters_of(func).names), "")

    def body(xp: XP, *args: Any, **kwargs: Any) -> Any:
        given = len(args) if many else 1
        natives = arrays(xp, *args[:given], *([kwargs[first]] if first in kwargs else []))
        ghosts = [_ghost(xp, a) for a in natives]
        roots = {id(g): (g, a) for g, a in zip(ghosts, natives)}

        def read(g: Any) -> Native:
            if isinstance(g, np.generic):  # of a 0-d array
                return natives[0]
            ghost, a = roots[id(memory_of(g))]
            if g is ghost:
                return a
            return compile_view(ghost.shape, *placement_of(g, ghost)).read(xp.backend, a)

        options = {
            name: ghosts[-1] if name == first else to_host(xp, x)[()] if xp.is_array(x) else x
            for name, x in kwargs.items()
        }
        rest = [to_host(xp, x) if xp.is_array(x) else x for x in args[given:]]
        return mapped(read, func(*ghosts[: len(args)], *rest, **options))

    body.__wrapped__ = func  # type: ignore[attr-defined]
    return body
