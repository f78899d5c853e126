"""Containers that functions return, taken apart and put together: lists, named tuples, and what SciPy has for them."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

from .trees import rebuilt


def converted(convert: Callable[[Any], Any], result: Any) -> Any:
    """A result with ``convert`` of each array in it, in containers and in SciPy's result objects."""
    if isinstance(result, list | tuple):
        own = vars(type(result))
        if "__init__" in own and "_extra_fields" not in own:
            return result  # an object that is more than its items
        items = [converted(convert, x) for x in result]
        return rebuilt(result, items, convert)
    if isinstance(result, dict):
        return type(result)((key, converted(convert, x)) for key, x in result.items())
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        made = copy.copy(result)
        for field in dataclasses.fields(result):
            if not field.name.startswith("_"):
                object.__setattr__(made, field.name, converted(convert, getattr(result, field.name, None)))
        return made
    return convert(result)
