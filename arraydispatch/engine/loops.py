"""Ufunc loops of recorded calls: which calls are recorded, and the dtypes of their loops.

NumPy itself resolves the dtypes (``ufunc.resolve_dtypes``), once for the operands' dtypes of a call. Calls that depend on values before
the first element is computed (a Python integer that does not fit, integers to negative powers) are not recorded: NumPy runs them at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..common.arguments import HELD
from ..ufuncs.facts import CLIP, ufunc_facts
from .nodes import Shift

__all__ = ["PYTHON", "SELECTED", "Loop", "cast", "in_place", "loop_of", "select"]

PYTHON = frozenset({int, float, complex, bool})
"""Python's own types in :data:`arraydispatch.common.arguments.SCALARS`, which take the dtype of the call."""
_WEAK = (int, float, complex)


class Loop(NamedTuple):
    """Loop of a ufunc for operands of certain dtypes, with the facts by which the engine records it; :func:`loop_of` makes it."""

    out: np.dtype[Any]
    ins: tuple[np.dtype[Any], ...]
    weak: tuple[int, ...]
    """Positions of operands that are Python scalars and whose values must be checked to fit the loop's dtype."""
    reports: bool
    """Whether an element may raise a floating-point error."""
    weight: float
    """Time per element, relative to a sum of eight-byte numbers."""
    pinned: bool
    """Whether an element's bits depend on its position: the last few of a loop are computed differently."""


@cache
def loop_of(ufunc: np.ufunc, keys: tuple[Any, ...]) -> Loop | None:
    """Return the loop for operands of these dtypes, or types of scalars; None if the call is not recorded."""
    if ufunc.signature is not None or ufunc.nout != 1 or ufunc.nin != len(keys) or ufunc is np.isnat:
        return None
    if ufunc is not CLIP and getattr(np, ufunc.__name__, None) is not ufunc:
        return None
    # By identity: a dtype equals its Python type.
    weak = tuple(i for i, key in enumerate(keys) if any(key is each for each in _WEAK))
    given = tuple(key if i in weak else np.dtype(key) for i, key in enumerate(keys))
    try:
        loops = ufunc.resolve_dtypes((*given, None))
    except (TypeError, ValueError, NotImplementedError):
        return None  # NumPy raises the error when it runs
    if any(t.char not in HELD for t in loops):
        return None
    facts = ufunc_facts(ufunc)
    if facts.values_decide and any(t.kind in "iu" for t in loops):
        return None
    integers = all(t.kind in "iub" for t in loops)
    quiet = facts.reports == "never"
    reports = facts.reports == "divisors" if integers else not quiet
    kinds = {t.kind for t in loops}
    heavy = facts.heavy and not (facts.by_inverse and integers and 1 in weak)
    weight = 8 if heavy else max(t.itemsize for t in loops) / (16 if loops[-1].kind == "b" else 8)
    # clipping between numbers has a loop of its own
    between_numbers = ufunc is CLIP and all(isinstance(key, type) for key in keys[1:])
    pinned = (facts.last_differ and "f" in kinds and not between_numbers) or (
        "c" in kinds and not quiet and not facts.by_parts
    )
    weak = tuple([i for i in weak if (keys[i], loops[i].char) not in _FIT])
    return Loop(loops[-1], loops[:-1], weak, reports, weight, pinned)


_FIT = frozenset({(float, "d"), (float, "D"), (complex, "D")})
"""Types of Python scalars with dtypes that hold all their values."""


# -- what is recorded and is no ufunc: called as one with out= -----------------------------------------------------------


def cast(x: Any, out: Any) -> None:
    """Compute ``x.astype(out.dtype)``."""
    np.copyto(out, x, casting="unsafe")


SELECTED = 8
"""NumPy's time for selecting an element by a mask, in sums."""


def select(condition: Any, x: Any, y: Any, out: Any) -> None:
    """Compute ``np.where(condition, x, y)``."""
    np.copyto(out, np.where(condition, x, y), casting="unsafe")


_NOT_IN_PLACE: frozenset[Callable[..., Any]] = frozenset({cast, select})


def in_place(func: Callable[..., Any]) -> bool:
    """Whether a call may write its result over an operand."""
    return func not in _NOT_IN_PLACE and not isinstance(func, Shift)
