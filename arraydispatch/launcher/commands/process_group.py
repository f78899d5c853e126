"""``arraydispatch run --processes N``: start the ranks of a run on this machine, watch them, and end all when one fails.

The ranks write their state to a folder (:mod:`arraydispatch.launcher.ranks`). If a rank dies, raises or runs other programs than the
others, the command names it with its line, and ends the others.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import IO, Any

from ...runtime.resources import available
from ..rank_programs import begun
from ..ranks import ENVIRONMENT, NUMBER, Rank

__all__ = ["run"]

_LOOK = 0.1
_GRACE = 5.0
"""Seconds that a failed rank, or one that was asked to end, has to end."""
_PARTED = 15.0
"""Seconds that a rank may wait in a program that another rank, which has ended, did not run; then the command reports that they differ."""
_TAIL = 30
"""Lines of a quiet rank's messages that are shown if it fails."""


def run(count: int, options: Sequence[str], program: Sequence[str], *, everywhere: bool, threads: bool) -> int:
    """Run a program in ``count`` processes and return its exit code.

    ``options``: options of ``arraydispatch run`` for each process; ``program``: the script and its arguments, or ``-m MODULE`` and its
    arguments. ``everywhere``: whether every process prints and writes files, not only rank 0. ``threads``: whether the options set the
    number of threads; else the processors are divided among the processes.
    """
    folder = tempfile.mkdtemp(prefix="arraydispatch-ranks-")
    address = f"127.0.0.1:{_free_port()}"
    entropy = secrets.randbits(96)
    share = [] if threads else ["--threads", str(max(1, available() // count))]
    seed = str(secrets.randbelow(2**32))
    children: list[_Child] = []
    terminal = sys.stdin is not None and sys.stdin.isatty()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        for number in range(count):
            rank = Rank(number, count, address, True, everywhere, entropy, folder, number, terminal)
            env = {**os.environ, ENVIRONMENT: rank.to_json(), NUMBER: str(number)}
            env.setdefault("PYTHONHASHSEED", seed)  # the order of sets of words
            own = options if number == 0 else _of_others(options)
            command = [sys.executable, "-m", "arraydispatch", "run", *share, *own, *program]
            children.append(_Child(rank, command, env, everywhere))
        return _watched(children)
    finally:
        _end(children)
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _of_others(options: Sequence[str]) -> list[str]:
    """Return the options without those for reports: only one rank writes them."""
    kept: list[str] = []
    skip = False
    for word in options:
        if skip:
            skip = False
        elif word == "--trace":
            skip = True
        elif word == "--verify" or not word.startswith(("--report", "--trace=", "--compare")):
            kept.append(word)
    return kept


class _Child:
    """Process of one rank, with threads that read its output. ``everywhere``: whether the output of rank 0 is read too."""

    def __init__(self, rank: Rank, command: list[str], env: dict[str, str], everywhere: bool) -> None:
        self.rank = rank
        self.tail: deque[str] = deque(maxlen=_TAIL)
        piped = rank.number > 0 or everywhere
        self.process = subprocess.Popen(  # noqa: S603 -- this command, by this interpreter
            command,
            env=env,
            stdin=None if rank.number == 0 else subprocess.DEVNULL,
            stdout=subprocess.PIPE if everywhere else None,
            stderr=subprocess.PIPE if piped else None,
            text=True,
            errors="replace",
        )
        self._readers = []
        for stream, to in ((self.process.stdout, sys.stdout), (self.process.stderr, sys.stderr)):
            if stream is not None:
                reader = threading.Thread(target=self._read, args=(stream, to if everywhere else None), daemon=True)
                reader.start()
                self._readers.append(reader)

    def _read(self, stream: IO[str], to: IO[str] | None) -> None:
        for line in stream:
            if stream is self.process.stderr:
                self.tail.append(line)
            if to is not None:
                with contextlib.suppress(OSError, ValueError):
                    to.write(f"[{self.rank.number}] {line}")
                    to.flush()

    def drain(self) -> None:
        """Wait until everything that the process wrote has been read."""
        for reader in self._readers:
            reader.join(1)

    @property
    def code(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        return self.process.poll()

    def told(self) -> dict[str, Any]:
        """Return the state that the process wrote last; an empty dict if there is none."""
        assert self.rank.folder is not None
        try:
            with open(os.path.join(self.rank.folder, f"rank-{self.rank.number}"), encoding="utf-8") as stream:
                found: dict[str, Any] = json.load(stream)
                return found
        except (OSError, ValueError):
            return {}

    def begun(self) -> dict[int, tuple[int, str]]:
        """Return the programs that the process began last, by number: the checksum of all so far, and the line."""
        assert self.rank.folder is not None
        return begun(os.path.join(self.rank.folder, f"rank-{self.rank.number}-programs"))


def _watched(children: list[_Child]) -> int:
    """Wait for all ranks and return the exit code. If one fails, or they run different programs, report it."""
    parted_since: float | None = None
    while True:
        codes = [child.code for child in children]
        if all(code == 0 for code in codes):
            return 0
        killed = next((child for child in children if (child.code or 0) < 0), None)
        if killed is not None:
            places = _parted(children)
            return _failed(killed, children) if places is None else _say_parted(places)
        told = [child.told() for child in children]
        failing = [child for child, said in zip(children, told) if child.code or said.get("state") == "failed"]
        if failing:
            culprit = _culprit(failing, children)
            places = _parted(children) if _of_network(culprit.told().get("error", "")) else None
            return _failed(culprit, children) if places is None else _say_parted(places)
        places = _parted(children)
        if places is not None:
            return _say_parted(places)
        places = _left_alone(told)
        if places is None:
            parted_since = None
        elif parted_since is None:
            parted_since = time.monotonic()
        elif time.monotonic() - parted_since > _PARTED:
            return _say_parted(places)
        time.sleep(_LOOK)


def _culprit(failing: list[_Child], children: list[_Child]) -> _Child:
    """Return a rank that failed by itself: a network error of a rank is often caused by the end of another, for which this function waits.

    If there is none after some seconds, return the first rank that failed.
    """
    limit = time.monotonic() + _GRACE
    while True:
        killed = next((child for child in children if (child.code or 0) < 0), None)
        if killed is not None:
            return killed
        own = next((child for child in failing if not _of_network(child.told().get("error", ""))), None)
        if own is not None or time.monotonic() > limit:
            return own or failing[0]
        time.sleep(_LOOK)
        failing = [child for child in children if child.code or child.told().get("state") == "failed"]


def _of_network(error: str) -> bool:
    return any(word in error for word in ("Gloo", "gloo", "Connection", "coordination", "UNAVAILABLE", "heartbeat"))


def _failed(child: _Child, children: list[_Child]) -> int:
    limit = time.monotonic() + _GRACE
    while child.code is None and time.monotonic() < limit:
        time.sleep(_LOOK)
    said = child.told()
    code = child.code if child.code is not None else int(said.get("code") or 1)
    _end(children)
    child.drain()
    if child.tail and child.process.stdout is None:
        sys.stderr.write("".join(child.tail))
    where = f" at {said['line']}" if said.get("line") else ""
    if code < 0:
        what = f"was killed by {_signal(-code)}" + (", last seen" if where else "")
    elif code == 2 and not said:
        return 2  # the message about the command line suffices
    else:
        what = f"ended with exit code {code}" + (f" ({said['error']})" if said.get("error") else "")
    print(
        f"arraydispatch: rank {child.rank.number} of {child.rank.count} {what}{where}; the others were ended.",
        file=sys.stderr,
    )
    return 128 - code if code < 0 else code or 1


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _parted(children: list[_Child]) -> list[str] | None:
    """Return a text for each of two ranks that have begun different programs: the rank's number and line; None if there are none."""
    begun = [child.begun() for child in children]
    for number, own in enumerate(begun[1:], 1):
        for at in sorted(begun[0].keys() & own.keys()):
            if begun[0][at][0] != own[at][0]:
                return [f"rank 0 is at {begun[0][at][1]}", f"rank {number} is at {own[at][1]}"]
    return None


def _left_alone(told: list[dict[str, Any]]) -> list[str] | None:
    """Return a text for a rank that has ended and one for a rank that runs a further program, or None. (The second rank may end soon, too.)

    ``told``: for each rank, the state it has reported.
    """
    for number, said in enumerate(told):
        for other, theirs in enumerate(told):
            if said.get("state") == "ended" and theirs.get("state") == "runs" and theirs["count"] > said["count"]:
                return [f"rank {number} has ended", f"rank {other} is at {theirs['line']}"]
    return None


def _say_parted(places: list[str]) -> int:
    print(
        f"arraydispatch: the ranks part ways: {' and '.join(places)}. What decides which calls run must be the same in each rank: "
        "not the time, a process's number, an unordered set or threads that compute at once.",
        file=sys.stderr,
    )
    return 1


def _end(children: list[_Child]) -> None:
    """Terminate the processes that are still running."""
    for child in children:
        if child.code is None:
            child.process.terminate()
    limit = time.monotonic() + _GRACE
    for child in children:
        try:
            child.process.wait(max(0.0, limit - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.process.kill()
            child.process.wait()
