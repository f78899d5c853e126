"""What the handler of a signal raises comes out of the call that it interrupted, and nothing takes it for a failure of that call."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.launched import Zygotes

PROGRAM = """
import signal, time
import numpy as np


class Stop(Exception):
    pass


def stop(number, frame):
    raise Stop


signal.signal(signal.SIGALRM, stop)
np.zeros(300_000) + 1
for trial in range(6):
    w, rounds, raised = np.zeros(300_000), 0, False
    until = time.monotonic() + 20
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        while time.monotonic() < until:
            w += 1
            rounds += 1
    except Stop:
        raised = True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    print(raised, w[0] - rounds in (0, 1), w.min() == w.max())
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="inapplicable: timers of POSIX")
def test_what_a_handler_raises_ends_the_loop(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PROGRAM)
    done = zygotes.of(backend).run("script.py", cwd=tmp_path)
    assert (done.code, done.stdout) == (0, "True True True\n" * 6), done.stderr
