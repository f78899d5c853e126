"""Eight threads at one time, on what they share: nothing wrong, nothing lost, nothing dead.

An ordinary run does this for a moment, ``--all`` for ten minutes on each backend, ``ARRAYDISPATCH_CROWD`` for so many seconds.
"""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path

import numpy as np
import pytest

import arraydispatch as ad
from tests.crowd import scenes, writers
from tests.launched import Zygotes

SCRIPT = Path(__file__).parent.parent / "crowd" / "script.py"
HOST = scenes.World(np, ad, lambda x: x.copy(), ("settings",))
# TensorFlow's EagerTensor reads an attribute that is Python code and does not look whether that raised: what a signal handler
# raises there comes out as a SystemError about something else, or as a segmentation fault. See the test below.
NO_SIGNALS = "signals in tensorflow/python"
CANNOT = {
    "jax": ("np.nditer",),  # it takes memory, which the host cannot write there
    "tensorflow": ("np.nditer", NO_SIGNALS),
}
"""Of a library's user."""
CANNOT_LAUNCHED = {"tensorflow": (NO_SIGNALS,)}
WAYS = ((), ("--min-size", "0"), ("--execution", "eager"), ("--execution", "fused"))
"""Options of the launcher."""


@pytest.fixture
def seconds(effort: int) -> float:
    """For how long."""
    return float(os.environ.get("ARRAYDISPATCH_CROWD") or (600 if effort > 1 else 4)) / 2


# What a handler raises inside a callback of the garbage collector, Python itself shows and forgets.
@pytest.mark.filterwarnings("ignore:Exception ignored:pytest.PytestUnraisableExceptionWarning")
def test_in_the_library(backend: str, seconds: float, seed: int) -> None:
    with ad.backend(backend):
        world = scenes.World(
            np,
            ad,
            lambda x: ad.asarray(x.copy(), backend=backend),
            CANNOT.get(backend, ()),
            few=backend == "jax" and seconds < 10,
        )
        _, wrong = scenes.run(world, seed, seconds)
    assert not wrong, f"seed {seed}\n" + "\n".join(wrong)


def test_under_the_launcher(backend: str, seconds: float, seed: int, zygotes: Zygotes) -> None:
    """Program after program, each of which uses everything for the first time."""
    end = time.monotonic() + seconds
    numbers, turns = random.Random(seed), 0
    while turns < 1 or time.monotonic() < end:
        way = WAYS[turns % len(WAYS)] if seconds > 10 else numbers.choice(WAYS)
        turn, each = numbers.randrange(2**32), min(seconds, 20)
        options = ("--on-fallback", "silent", *way)
        argv = (str(SCRIPT), str(turn), str(each), *CANNOT_LAUNCHED.get(backend, ()))
        done = zygotes.of(backend).run(*argv, cwd=SCRIPT.parent, options=options)
        assert done.code == 0, f"seed {seed}, {way}, {turn}\n{done.stdout}\n{done.stderr}"
        wrong = json.loads(done.stdout)["wrong"]
        assert not wrong, f"seed {seed}, {way}, {turn}\n" + "\n".join(wrong)
        turns += 1


def test_numpy_itself_passes(seed: int) -> None:
    """What is asked for is what NumPy does."""
    for turn in range(2):
        counts, wrong = scenes.run(HOST, seed + turn, 0)
        assert not wrong
        assert counts.keys() == scenes.SCENES.keys() - {"settings"}


_TENSORFLOW_ALONE = """
import sys
import numpy as np
import tensorflow as tf

class Raised(Exception): pass

def raises(frame, event, arg):
    if event == "call" and frame.f_code.co_name == "_handle":
        sys.setprofile(None)
        raise Raised

tf.constant(np.zeros(3))
sys.setprofile(raises)
try:
    tf.constant(np.zeros(3))
except Raised:
    print("raised")
"""


@pytest.mark.parametrize("library", ["tensorflow"])
def test_a_library_alone_loses_what_is_raised_inside_it(library: str, tmp_path: Path, zygotes: Zygotes) -> None:
    """Why signals spare its code: once this fails, they need not."""
    pytest.importorskip(library)
    (tmp_path / "main.py").write_text(_TENSORFLOW_ALONE)
    done = zygotes.with_library(library).run("main.py", cwd=tmp_path)
    assert "raised" not in done.stdout
    assert done.code


@pytest.mark.parametrize("statements", [writers.SCATTERED, writers.BY_ROW], ids=["scattered", "by row"])
def test_each_writing_statement_writes_what_is_its_own(statements: list[str]) -> None:
    others = [0, *range(2, 8)]
    for statement in statements:
        x = np.add.outer(np.arange(8.0), np.arange(16) % 5) / 4
        before = x.copy()
        scenes.write(np, x, 1, [statement])
        kept = [x[:, i::8] for i in others] if statements is writers.SCATTERED else x[others]
        was = [before[:, i::8] for i in others] if statements is writers.SCATTERED else before[others]
        assert np.array_equal(kept, was), statement
