"""A call of JAX that a signal's handler has ended keeps no later call waiting, whatever it was doing."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

if (
    importlib.util.find_spec("jax") is None
):  # not imported here: other tests of this process are to have it imported as we import it
    pytest.skip("JAX is not installed", allow_module_level=True)
ROOT = Path(__file__).parents[2]


def _interrupted(script: str, folder: Path, seed: int, *more: str) -> int:
    """How often a script says that it was interrupted."""
    path = folder / "script.py"
    path.write_text(script, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(path), str(seed), *more], env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stdout)


# The handler's exception is raised where a function of Python's begins, which is where Python calls handlers.
SCRIPT = """
import os, random, sys, threading
import numpy as np
import arraydispatch as ad
seed = int(sys.argv[1])
x = ad.asarray(np.ones((8, 16)), backend="jax")
import jax

class Raised(Exception):
    pass

def program(k):
    y = x[:, : k % 11 + 2] * k
    y[1] = y.sum(0)
    return np.concatenate([y, y])[k % 16]

def calls(k, raises_at):
    found = []
    jax.clear_caches()
    def trace(frame, event, arg):
        code = frame.f_code
        if event == "call" and "/jax/" in code.co_filename:
            found.append(code.co_name)
            if len(found) - 1 == raises_at:
                raise Raised
    sys.settrace(trace)
    try:
        program(k)
    except BaseException:  # JAX tells of it in words of its own here and there
        pass
    finally:
        sys.settrace(None)
    return found

def ends(k):
    done = threading.Event()
    threading.Thread(target=lambda: (program(k), done.set()), daemon=True).start()
    return done.wait(60)

numbers = random.Random(seed)
calls(2, -1)
every = calls(2, -1)
places = [i for i, name in enumerate(every) if name == "<lambda>"][:6] + numbers.sample(range(len(every)), 6)
reached = 0
for at in places:
    reached += len(calls(2, at)) > at  # another time the collector of garbage calls, and it is another call
    if not ends(2):
        print(f"waits for ever after an exception in call {at}, {every[at]}", flush=True)
        os._exit(1)
print(reached, flush=True)
os._exit(0)
"""


def test_no_later_call_waits(tmp_path: Path, seed: int) -> None:
    assert _interrupted(SCRIPT, tmp_path, seed) >= 6


# A handler's exception in the middle of a write in place.
WRITES = """
import random, sys
import numpy as np
import arraydispatch as ad
if sys.argv[2] == "theirs":
    import jax
x = ad.asarray(np.zeros(3), backend="jax")
import jax

class Raised(Exception):
    pass

def interrupted(write, raises_at, clear):
    x = ad.asarray(np.arange(5000.0), backend="jax") + 0  # its own buffer
    for _ in range(0 if clear == "first" else 2):
        exec(write, {"x": x})
    if clear == "cleared":
        jax.clear_caches()
    names = []
    def trace(frame, event, arg):
        if event == "call":
            names.append(frame.f_code.co_qualname)
            if len(names) - 1 == raises_at:
                raise Raised
    sys.settrace(trace)
    try:
        exec(write, {"x": x})
    except BaseException:  # JAX tells of it in words of its own here and there
        pass
    finally:
        sys.settrace(None)
    for more in (0.0, 1.0):  # alive, each element as it was or as it was to be, and written again
        found = np.asarray(x)
        assert found[0] == 0 + more and found[9] == 9 and found[1] in (1, 7), (write, raises_at, clear, found[:3])
        x[0] = 1.0
        if before == "ours":
            assert np.asarray(x * 2)[9] == 18  # JAX is not left tracing
    return names

before = sys.argv[2]
numbers, tried = random.Random(int(sys.argv[1])), 0
WRITTEN = "x[1] = 7", "x[[1, 3]] = 7", "x[1:4] = 7", "x[[1, 3]] = x[[1, 3]] * 0 + 7"
for write in numbers.sample(WRITTEN, int(sys.argv[3])):
    for clear in ("", "cleared", "first"):
        names = interrupted(write, -1, clear)
        count = len(names)
        last = range(max(0, count - 30), count)  # where the buffer is given away
        ends = [i for i, name in enumerate(names) if "CurrentTrace" in name and name.endswith("__exit__")]
        for at in {*numbers.sample(range(count), min(count, 8)), *last, *ends[:6]}:
            interrupted(write, at, clear)
            tried += 1
print(tried)
"""


@pytest.mark.one_backend("interrupted writes")
@pytest.mark.parametrize("imported", ["ours", "theirs"])  # whether JAX is there before us
def test_no_array_is_dead_after_it(imported: str, tmp_path: Path, seed: int, pytestconfig: pytest.Config) -> None:
    assert _interrupted(WRITES, tmp_path, seed, imported, "4" if pytestconfig.option.whole else "1") >= 50
