"""Reports of blocks. A listener gets the engine, the lines that recorded the block, the reason for its end, and NumPy's time for it; the
user gets warnings of floating-point errors.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from math import prod
from time import perf_counter
from types import FunctionType
from typing import Any

from ...common import events
from ...common.user_warnings import FLOATING_ERRORS
from ..host_blocks.blocks import Block, Planned, Short

__all__ = ["ANOTHER", "END", "LOOKED", "MEMORY", "PLACE", "SHARED", "heeded", "measured", "tell", "warn"]

LOOKED = "a value was read"
PLACE = "it was computed into its place"
MEMORY = "memory that it has to do with was to be written, or let out"
SHARED = "others may write what it reads"
ANOTHER = "another thread's call read it"
END = "a fork, or the end of the program"


TIMES = 3
"""Number of times that the calls of a plan are run one by one for a measurement."""


def measured(block: Block) -> float:
    """Run a block's calls one by one in NumPy and note the seconds in its plan, up to :data:`TIMES` times for a plan. Return the seconds
    spent, 0.0 if nothing is run.
    """
    if not isinstance(block, Planned) or len(block.plan.by_numpy) >= TIMES:
        return 0.0
    start = perf_counter()
    try:
        Short(block.nodes).values()
    except MemoryError:  # plain NumPy may have had enough memory, because it does not keep what the block reads
        return perf_counter() - start
    block.plan.by_numpy.append(perf_counter() - start)
    return block.plan.by_numpy[-1]


def tell(block: Block, why: str, seconds: float, lines: Mapping[int, Any]) -> None:
    """Report a computed block. ``why``: reason why it ended; ``lines``: number of a node -> its line."""
    tap = events.every
    if tap is None or not block.nodes:
        return
    size = sum(prod(node.form.span) for node in block.nodes)
    tap.call(events.BLOCK, block.nodes[0].form.held.backend.name, "block", "", seconds, operands=size)
    tier, by_numpy = "NumPy, call by call", seconds
    if isinstance(block, Planned):
        how = "NumPy's loops, in pieces"
        if block.plan.kernels:
            how = "kernels and NumPy's loops" if block.plan.numpys else "kernels"
        tier = f"{how}, {block.helpers} threads" if block.helpers > 1 else how
        by_numpy = min(block.plan.by_numpy, default=seconds)
    known = [(line, node.form.work) for node in block.nodes if (line := lines.get(node.number)) is not None]
    whole = sum(work for _, work in known)
    if not whole:  # the block was recorded before anybody listened
        known, whole = [(tap.place(), 1)], 1
    tap.block(tier, why, seconds, by_numpy, [(line, work / whole) for line, work in known if line is not None])


# -- floating-point errors -----------------------------------------------------------------------------------------------

heeded = True
"""Whether recording respects that the program turns warnings into errors, or collects or shows them itself; tests turn it off."""
_warnings = vars(warnings)
_shown: Any = _warnings.get("_showwarnmsg_impl")
"""Function that shows warnings outside of any ``warnings.catch_warnings(record=True)``; None if unknown."""
if type(_shown) is not FunctionType:
    _shown = None
_ORDER = {kind: i for i, kind in enumerate(("divide by zero", "overflow", "underflow", "invalid value"))}
"""Floating-point error -> its rank: NumPy reports the errors of one call in this order."""


def warn(block: Block) -> None:
    """Issue NumPy's warning for each error of a block, for the line that recorded the call and with the filters in force at that time.

    A ``warnings.catch_warnings(record=True)`` that has begun since does not get these earlier warnings.
    """
    later = heeded and _shown is not None and _warnings.get("_showwarnmsg_impl") is not _shown
    for i, kind in sorted(block.errors, key=lambda error: (error[0], _ORDER[error[1]])):
        node = block.nodes[i]
        if node.told is None or node.place is None or node.told[FLOATING_ERRORS[kind]] != "warn":
            continue
        text = f"{kind} encountered in {getattr(node.form.func, '__name__', 'reduce')}"
        file, line, names, filters = node.place.code.co_filename, node.place.line, node.place.names, node.place.filters
        said = (
            text,
            RuntimeWarning,
            file,
            line,
            names.get("__name__", "<string>"),
            names.setdefault("__warningregistry__", {}),
        )
        if tuple(warnings.filters) == filters and not later:
            warnings.warn_explicit(*said)
        else:
            with warnings.catch_warnings():
                warnings.filters[:] = filters  # type: ignore[index]
                if later:
                    _warnings["_showwarnmsg_impl"] = _shown
                warnings.warn_explicit(*said)
