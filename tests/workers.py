"""Which of pytest-xdist's workers runs which tests.

A worker takes the tests of one library after the other. So one worker compiles what the tests of a library have in common, starts
the process that scripts run in forks of, and keeps what those did. What a file has for one library, or for none in particular,
goes to one worker whole.

pytest-xdist's own way, ``--dist loadgroup`` and a mark for each group, has no effect from pytest 9.2 on: it writes the group to
``item._nodeid``, which nobody reads any more (seen with pytest-xdist 3.8.0).
"""

from __future__ import annotations

import re
from typing import Any

from xdist.scheduler import LoadScopeScheduling

from tests.compiled import looks_at_last_bits

LIBRARIES = ("jax", "tensorflow", "torch", "numpy")
"""What takes longest comes first, and what belongs to none fills the gaps at the end."""


def library_of(nodeid: str) -> str:
    """The library that a test is of, the first that its parameters name; empty if they name none."""
    return next((part for part in re.split(r"[-\[\]]", nodeid)[1:] if part in LIBRARIES), "")


class ByLibrary(LoadScopeScheduling):
    """Gives a worker all that a file has for a library; another library's when there is no more of those that it has run."""

    def _split_scope(self, nodeid: str) -> str:
        return f"{library_of(nodeid)} {nodeid.partition('::')[0]}"

    def _assign_work_unit(self, node: Any) -> None:
        """Of a library that this worker has; of one that no worker has; of none; of another worker's."""
        has = {worker: {scope.partition(" ")[0] for scope in units} for worker, units in self.assigned_work.items()}

        def turn(scope: str) -> tuple[int, int, bool]:
            library, _, file = scope.partition(" ")
            if not library:
                return 2, 0, looks_at_last_bits(file)
            place = 0 if library in has[node] else 3 if any(library in some for some in has.values()) else 1
            return place, LIBRARIES.index(library), looks_at_last_bits(file)  # JAX changes once how it compiles

        self.workqueue.move_to_end(min(self.workqueue, key=turn), last=False)
        super()._assign_work_unit(node)
