"""Policy of execution: decides by library, device, execution mode and number of elements which engine computes a call.

No other module decides it. The launcher, and ``arraydispatch.use`` under a launcher, take their defaults from :func:`defaults`.
Reports and ``--verify`` use :func:`tier` to explain why NumPy or the library computed.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal, NamedTuple

Execution = Literal["eager", "fused", "compiled"] | None

FUSED_FROM = 1 << 18
"""Default number of elements from which fused execution records a call."""

LIBRARY_FROM = 1 << 16
"""Number of elements from which a library computes calls under eager and compiled execution; docs/explanation/small-arrays.md has the
measurement. ``--min-size`` overrides it.
"""

NAMED_ON_CPU: Execution = "fused"
"""Default execution of a library that is named, on a CPU. Library calls one by one (None) are slower there than NumPy for most
programs, so blocks on the host stay the default until the library's compiler can run whole blocks.
"""


class Tier(Enum):
    """Engine that computes a call; the value is its name in reports."""

    NUMPY = "NumPy"
    HOST_BLOCK = "host block"
    LIBRARY = "library"
    COMPILED = "compiled block"


class Policy(NamedTuple):
    """Execution, and the number of elements from which it replaces NumPy's immediate calls (``min_size``)."""

    execution: Execution
    min_size: int


def defaults(
    library: bool, cpu: bool, execution: Execution | None = None, min_size: int | None = None, *, calls: bool = False
) -> Policy:
    """Return the policy of a run.

    Parameters
    ----------
    library : bool
        Whether a library is in force: it was named, or chosen for an accelerator. Without one, NumPy computes.
    cpu : bool
        Whether its arrays are on a CPU.
    execution : {"eager", "fused", "compiled", None}, optional
        Execution that the user asked for.
    min_size : int, optional
        ``--min-size``, if given.
    calls : bool
        Whether an option concerns the library's own calls (``--precision``, ``--device``, ``--verify``).
    """
    if execution is None and cpu and not calls and min_size is None:
        execution = NAMED_ON_CPU if library else "fused"
    if execution == "eager":
        return Policy(execution, 0)
    if min_size is None:
        min_size = FUSED_FROM if execution == "fused" else LIBRARY_FROM
    return Policy(execution, min_size)


def tier(library: bool, cpu: bool, policy: Policy, elements: int) -> Tier:
    """Return the engine that computes a call on ``elements`` elements, if nothing else about the call prevents it."""
    if elements < policy.min_size:
        return Tier.NUMPY
    if policy.execution == "fused" and cpu:
        return Tier.HOST_BLOCK
    if not library:
        return Tier.NUMPY
    return Tier.COMPILED if policy.execution == "compiled" else Tier.LIBRARY
