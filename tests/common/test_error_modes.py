"""Calls in which NumPy raises each floating-point error, and the handlers of signals that come in the middle of one."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest

from arraydispatch.common.error_modes import as_users, raising
from tests.launched import Zygotes, prints_as_plainly


def _divide() -> bool:
    try:
        np.ones(1) / np.zeros(1)
    except FloatingPointError:
        return True
    return False


def test_raising_changes_nothing() -> None:
    """Raise errors within a call only, also if the call fails."""
    with np.errstate(all="ignore"):
        assert raising(_divide)
        with pytest.raises(FloatingPointError):
            raising(np.divide, np.ones(1), np.zeros(1))
        assert not _divide()
        assert not raising(as_users, _divide)
        assert not raising(raising, as_users, _divide)
        assert raising(as_users, raising, _divide)
        assert not as_users(_divide)


HANDLER = """
import signal, time, warnings
import numpy as np

raised, one, zero = [], np.ones(5), np.zeros(5)

def handler(*_):
    try:
        one / zero
    except FloatingPointError as error:
        raised.append(error)

warnings.simplefilter("ignore")
x = np.random.default_rng(0).normal(size=(60_000, 3))
wanted = (x - x[0]).sum(), x.sum(axis=1).sum(), x.max(axis=1).sum()
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.0007, 0.0007)
end, same = time.time() + 1, True
while time.time() < end:
    same &= wanted == ((x - x[0]).sum(), x.sum(axis=1).sum(), x.max(axis=1).sum())
signal.setitimer(signal.ITIMER_REAL, 0)
print(same, len(raised), np.geterr())
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="inapplicable: no timers here")
def test_handlers_compute_in_the_users_modes(zygotes: Zygotes, tmp_path: Path) -> None:
    """Divide by zero in a handler, in the middle of calls that look for errors."""
    prints_as_plainly(zygotes, "numpy", HANDLER, tmp_path, ())
