"""Ranks: processes of one run that share a mesh, each of which runs the same script.

``arraydispatch run --processes N`` starts them (:mod:`arraydispatch.launcher.commands.process_group`) and watches the files that this module
writes; with ``--processes auto`` a cluster's launcher has started them, and environment variables number them. Rank 0 prints and writes
files. The others run the same lines: their output is discarded, and they write and read files in their own folder.
They get the same standard input as rank 0 (:mod:`.rank_input`).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import platform
import sys
import threading
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import TracebackType

import numpy as np

from .. import __version__
from ..backends import loader
from ..common import callers, tracing
from ..common.errors import ArrayDispatchError, OptionError
from .rank_programs import Begun

__all__ = ["ENVIRONMENT", "NUMBER", "Rank", "begin", "ended", "found", "fresh_seed", "join", "mine", "seeded", "starts"]

ENVIRONMENT = "ARRAYDISPATCH_RANK"
"""Environment variable in which the command passes a :class:`Rank` to a process."""
NUMBER = "ARRAYDISPATCH_PROCESS"
"""Environment variable with the number of this process, for scripts and from launchers."""
COUNT, ADDRESS = "ARRAYDISPATCH_PROCESSES", "ARRAYDISPATCH_COORDINATOR"
"""Environment variables from any launcher: the number of ranks, and the address at which rank 0 listens."""
SECONDS = 60
"""Seconds within which all ranks have to join."""
_BEAT = 0.25
_FIRST_BEAT = 0.01


@dataclass(eq=False)
class Rank:
    """One process of several.

    Attributes
    ----------
    number, count : int
        Number of this rank, and number of all ranks.
    address : str or None
        Address at which rank 0 listens; None: the library finds it from the cluster's variables.
    local : bool
        Whether all ranks are on this machine, started by the command.
    everywhere : bool
        Whether every rank prints and writes files.
    entropy : int
        Entropy for generators of random numbers that the program does not seed.
    folder : str or None
        Folder for files with the rank's state.
    device : int or None
        Number of the GPU for this rank; None: all GPUs, or those that the library finds from the cluster's variables.
    terminal : bool
        Whether rank 0 has a terminal as its standard input.
    """

    number: int
    count: int
    address: str | None
    local: bool = False
    everywhere: bool = False
    entropy: int = 0
    folder: str | None = None
    device: int | None = None
    terminal: bool = False

    def to_json(self) -> str:
        """Serialise for the environment of a process."""
        return json.dumps(asdict(self))

    @property
    def is_quiet(self) -> bool:
        """Whether this rank prints nothing and writes no files."""
        return self.number > 0 and not self.everywhere


mine: Rank | None = None
"""The rank that this process is."""


# -- who this process is -------------------------------------------------------------------------------------------------

_LAUNCHERS: tuple[tuple[str, str, str, str], ...] = (
    ("arraydispatch's own variables", NUMBER, COUNT, ADDRESS),
    ("torchrun", "RANK", "WORLD_SIZE", "MASTER_ADDR"),
    ("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", ""),
    ("Slurm", "SLURM_PROCID", "SLURM_NTASKS", ""),
    ("Kubernetes", "JOB_COMPLETION_INDEX", COUNT, ADDRESS),
)
"""Launchers, in the order of the search: variables with the number of a process, the number of processes, and rank 0's address.

Kubernetes gives a pod of an indexed job only its number; the job's specification must set the rest.
"""


def found(environ: Mapping[str, str], everywhere: bool = False) -> Rank:
    """Return the rank of this process from the environment variables of a cluster's launcher.

    Raises
    ------
    OptionError
        If the variables are missing or invalid.
    """
    for name, number, count, address in _LAUNCHERS:
        if number not in environ:
            continue
        lacking = [each for each in (count, address) if each and each not in environ]
        if lacking:
            remedy = "; set it in the job's specification" if name == "Kubernetes" else ""
            raise OptionError(f"{name} set {number}, but not {lacking[0]}; --processes auto needs both{remedy}.")
        try:
            rank, of = int(environ[number]), int(environ[count])
        except ValueError:
            raise OptionError(
                f"{number}={environ[number]!r} and {count}={environ[count]!r} must be numbers of processes."
            ) from None
        if not 0 <= rank < of:
            raise OptionError(f"{number}={rank} must be less than {count}={of}.")
        where = _address(name, environ, environ[address]) if address else None
        entropy = zlib.crc32(
            repr(where or environ.get("SLURM_JOB_ID") or environ.get("OMPI_MCA_ess_base_jobid")).encode()
        )
        device = environ.get("LOCAL_RANK", "") if name == "torchrun" else ""
        return Rank(rank, of, where, False, everywhere, entropy, None, int(device) if device.isdecimal() else None)
    known = ", ".join(f"{name} ({number})" for name, number, _, _ in _LAUNCHERS)
    raise OptionError(
        f"--processes auto finds no launcher's variables; it knows {known}. To start processes here, give a number."
    )


def _address(name: str, environ: Mapping[str, str], host: str) -> str:
    if name != "torchrun":
        if not host.rpartition(":")[2].isdecimal():
            raise OptionError(f"{ADDRESS}={host!r} must be HOST:PORT.")
        return host
    port = environ.get("MASTER_PORT", "")
    if not port.isdecimal():
        raise OptionError(f"torchrun set MASTER_ADDR, and MASTER_PORT={port!r} is no port.")
    return f"{host}:{int(port) + 1}"  # the launcher itself listens at the port


def begin(rank: Rank) -> None:
    """Make this process a rank, before the program and its library start."""
    global mine
    mine = rank
    os.environ.pop(ENVIRONMENT, None)  # programs that the script starts are not ranks
    os.environ[NUMBER] = str(rank.number)
    import random

    random.seed(rank.entropy)
    np.random.seed(rank.entropy % 2**32)  # noqa: NPY002 -- the program's
    if rank.is_quiet:
        os.environ["MPLBACKEND"] = "agg"  # else each rank would open a window
        nowhere = os.open(os.devnull, os.O_WRONLY)
        sys.stdout.flush()
        os.dup2(nowhere, 1)
        os.close(nowhere)
    if not rank.everywhere:
        from .rank_files import RankFiles
        from .rank_turns import FirstRankFiles, Turns

        turns = None if rank.folder is None else Turns(rank.folder, rank.number, rank.count, _watch.count)
        (RankFiles(rank.folder, turns) if rank.is_quiet else FirstRankFiles(turns)).keep()
    if rank.folder is not None:
        from . import rank_input

        rank_input.keep(rank.folder, first=rank.number == 0, terminal=rank.terminal, reads=_watch.ran)
        _watch.begin(rank)


def join(name: str) -> None:
    """Connect a backend's library with the other ranks.

    Raises
    ------
    ArrayDispatchError
        If the library cannot run in several processes, or if the ranks run different scripts.
    """
    assert mine is not None
    backend = loader.load(name)
    if backend.processes is None:
        raise ArrayDispatchError(f"backend {name!r} does not run in several processes.")
    facts = {"arraydispatch": __version__, "NumPy": np.__version__, "Python": platform.python_version()}
    backend.processes.join(
        mine.number,
        mine.count,
        mine.address,
        local=mine.local,
        device=mine.device,
        facts={**facts, **_of_program()},
        seconds=SECONDS,
    )
    if backend.meshes is not None:
        backend.meshes.follow(_watch.ran)


def _of_program() -> dict[str, str]:
    """Return a dict with the checksum of the script, which must be the same in each rank; an empty one if there is no script."""
    for word in sys.argv[1:]:
        if word.endswith(".py") and os.path.isfile(word):
            with open(word, "rb") as stream:
                return {f"the script {os.path.basename(word)} with checksum": f"{zlib.crc32(stream.read()):08x}"}
    return {}


_fresh = itertools.count()


def fresh_seed() -> np.random.SeedSequence | None:
    """Return the next seed of a generator that the program does not seed, the same in each rank; None if there is one process."""
    if mine is None:
        return None
    return np.random.SeedSequence(mine.entropy, spawn_key=(next(_fresh),))


def seeded(*seeds: object) -> None:
    """Report a seed to the command, which notices ranks that seed a generator differently and so would draw different numbers."""
    if mine is not None:
        plain = [each for each in seeds if isinstance(each, int | float | str | np.number)]
        if plain:
            _watch.ran(f"seed {plain}")


# -- how it is going -----------------------------------------------------------------------------------------------------


class _Watch:
    """Writer of this rank's state, the source line that it runs, and the programs that it has begun, to files for the command."""

    def __init__(self) -> None:
        self.begun: Begun | None = None
        self.error = self.line = self.path = ""
        self.state = "runs"
        self.code = 0

    def begin(self, rank: Rank) -> None:
        assert rank.folder is not None
        self.path = os.path.join(rank.folder, f"rank-{rank.number}")
        self.begun = Begun(f"{self.path}-programs")
        self._main = threading.main_thread().ident
        self._parent = os.getppid()
        self._lock = threading.Lock()
        before = sys.excepthook

        def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            said = str(error).splitlines()
            self.error, self.line = f"{kind.__name__}: {said[0] if said else ''}", tracing.user_line(trace)
            self.state = "failed"
            self.write()
            before(kind, error, trace)

        sys.excepthook = hook
        threading.Thread(target=self._beat, name="arraydispatch-rank", daemon=True).start()

    def ran(self, key: str) -> None:
        """Record that this rank begins a program that all ranks begin together, and on which line of the user's code."""
        if self.begun is not None:
            self.begun.add(key, tracing.user_line())

    def count(self) -> int:
        """Return the number of programs that this rank has begun."""
        return 0 if self.begun is None else self.begun.count

    def _beat(self) -> None:
        pause, seconds = threading.Event(), _FIRST_BEAT
        while self.state == "runs":
            if os.getppid() != self._parent:  # the command no longer watches
                os._exit(1)
            self.line = self._place() or self.line
            self.write()
            pause.wait(seconds)
            seconds = min(2 * seconds, _BEAT)

    def _place(self) -> str:
        found = callers.line_of_thread(self._main or 0)
        return "" if found is None else callers.shown(*found)

    def write(self) -> None:
        """Write the state of this rank to its file, atomically by a rename."""
        said = {"state": self.state, "line": self.line, "error": self.error, "count": self.count(), "code": self.code}
        with self._lock, contextlib.suppress(OSError):
            with _open(f"{self.path}.part", "w", encoding="utf-8") as stream:
                json.dump(said, stream)
            _replace(f"{self.path}.part", self.path)


_open, _replace = open, os.replace
_watch = _Watch()


def starts(program: str) -> None:
    """Note that the program starts now. Until its first line is known, the state file has the program's name as the line."""
    if mine is not None and mine.folder is not None:
        _watch.line = program
        _watch.write()


def ended(code: int) -> int:
    """Note that the program has ended, and return its exit code."""
    if mine is not None and mine.folder is not None:
        _watch.code, _watch.state = code, "failed" if code else "ended"
        _watch.write()
    return code
