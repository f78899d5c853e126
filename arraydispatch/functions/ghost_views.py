"""Bodies of functions that NumPy computes from shapes, strides and dtypes: NumPy itself is called, on ghosts.

The dispatch itself calls NumPy on ghosts before it looks up a body, so these bodies run only inside other bodies, and for lists of
arrays.
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
    """Return the body of a function that depends only on shapes and dtypes."""

    def body(xp: XP, *args: Any, **kwargs: Any) -> Any:
        return func(*[_ghost(xp, x) if xp.is_array(x) else x for x in args], **kwargs)

    body.__wrapped__ = func  # type: ignore[attr-defined]
    return body


def viewed(func: Any) -> Body:
    """Return the body of a function that returns a view of its first argument, or a list of them."""
    first = next(iter(parameters_of(func).names))

    def body(xp: XP, *args: Any, **kwargs: Any) -> Any:
        (a,) = arrays(xp, args[0] if args else kwargs.pop(first))
        rest = [to_host(xp, x) if xp.is_array(x) else x for x in args[1:]]
        options = {name: to_host(xp, x)[()] if xp.is_array(x) else x for name, x in kwargs.items()}
        ghost = _ghost(xp, a)
        seen = func(ghost, *rest, **options)
        return [_read(xp, a, ghost, x) for x in seen] if isinstance(seen, list) else _read(xp, a, ghost, seen)

    body.__wrapped__ = func  # type: ignore[attr-defined]
    return body


def viewed_each(func: Any) -> Body:
    """Return the body of a function that returns views of its positional arguments."""

    def body(xp: XP, *args: Any, **kwargs: Any) -> Any:
        natives = arrays(xp, *args)
        ghosts = [_ghost(xp, a) for a in natives]
        roots = {id(g): (a, g) for a, g in zip(natives, ghosts)}
        return mapped(lambda g: _read(xp, *roots[id(memory_of(g))], g), func(*ghosts, **kwargs))

    body.__wrapped__ = func  # type: ignore[attr-defined]
    return body


def _read(xp: XP, a: Native, ghost: Ghost, seen: Any) -> Native:
    if seen is ghost or isinstance(seen, np.generic):  # a 0-d array
        return a
    return compile_view(ghost.shape, *placement_of(seen, ghost)).read(xp.backend, a)
