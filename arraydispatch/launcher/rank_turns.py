"""Order of file changes between ranks: rank 0 changes the real file after every other rank has come to the same change.

All ranks make the same changes in the same order, at different times. If rank 0 did not wait, another rank could find a file that rank 0
has written already, although the other rank has yet to write it. Each other rank appends a number to its own log file after a change;
rank 0 reads these files. If ranks use different file names (with the time in them, say), their changes are matched by number. If another
rank has begun a program that rank 0 has not begun, that rank has passed the change without making it.
"""

from __future__ import annotations

import functools
import os
import stat
import struct
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Self

from ..backends import loader
from ..common import callers
from ..common.patching import Exchange, Exchanges
from .rank_programs import Others

__all__ = ["CHANGING", "OPENING", "PLACES", "WRITING", "Files", "FirstRankFiles", "Turns", "asked_for_program"]

CHANGING = ("chmod", "chown", "setxattr", "truncate", "utime")
"""Functions of :mod:`os` that change files."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
"""Flags that let :func:`os.open` change a file."""
_ON_BEHALF = frozenset(
    (__name__, f"{__package__}.rank_files", f"{__package__}.rank_input", *"os pathlib pathlib._local shutil glob genericpath posixpath ntpath".split())
)  # fmt: skip
"""Modules through which a program opens files: the search for the caller skips their frames."""
_CALLING = frozenset({"concurrent.futures.thread", "logging.handlers", "multiprocessing.pool"})
"""Modules with threads that call a program's functions."""
OPENING = ("builtins:open", "bz2:_builtin_open", "io:open", "tarfile:bltn_open")
"""Names under which ``open`` is found; two modules keep the function when they are imported."""
_NAMING = ("os:link", "os:rename", "os:replace", "os:symlink")
PLACES = (
    *OPENING, "os:open", "os:mkdir", "os:mkfifo", "os:remove", "os:rmdir", "os:unlink", "shutil:rmtree", *_NAMING, *(f"os:{name}" for name in CHANGING),
)  # fmt: skip

_SECONDS = 60
"""Seconds that rank 0 waits for a change. After that, rank 0 assumes that the ranks make different changes, and does not wait for changes
any more."""
_PAUSE = 0.001
_RECORD = struct.Struct("<I")
_END = 0
"""Record of a rank that has ended."""


class Turns:
    """Changes that this rank and the others have made, in a common folder. ``begun()``: number of programs that this rank has
    begun.
    """

    def __init__(self, folder: str, number: int, count: int, begun: Callable[[], int]) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._made: Counter[int] = Counter()
        self._waits = number == 0
        logs = [os.path.join(folder, f"changes-{rank}") for rank in range(1, count)]
        self._others = [_Log(os.open(path, os.O_RDONLY | os.O_CREAT, 0o600)) for path in logs] if self._waits else []
        programs = [f"{folder}/rank-{rank}-programs" for rank in range(1, count)]
        self._begun, self._programs = begun, Others(programs if self._waits else [])
        append = os.O_RDWR | os.O_CREAT | os.O_APPEND
        self._log = None if self._waits else os.open(logs[number - 1], append, 0o600)
        self._names = os.open(os.path.join(folder, "names"), append, 0o600)
        self._of_mine: set[str] = set()
        self._of_others = frozenset[str]()
        self._names_read = 0

    def wait(self, path: str) -> None:
        """Wait, in rank 0, until each other rank has made or passed the change that rank 0 is about to make; after 60 s, wait no more."""
        if not self._waits or os.getpid() != self._process:
            return
        key = _key(path)
        with self._lock:
            self._made[key] += 1
            times, total = self._made[key], self._made.total()
        limit, begun = time.monotonic() + _SECONDS, self._begun()
        while self._waits and not all(
            log.has(key, times, total) or self._programs.is_ahead(which, begun)
            for which, log in enumerate(self._others)
        ):
            if time.monotonic() > limit:
                self._waits = False
            time.sleep(_PAUSE)

    def changed(self, path: str) -> None:
        """Tell rank 0 that this rank has changed a file."""
        if self._log is not None and os.getpid() == self._process:
            os.write(self._log, _RECORD.pack(_key(path)))

    def announce(self, path: str) -> None:
        """Tell the other ranks a name that only this rank uses, before it makes a file of that name."""
        with self._lock:
            self._of_mine.add(path)
            os.write(self._names, os.fsencode(path) + b"\0")

    def of_others(self) -> frozenset[str]:
        """Return the names that other ranks chose for files of their own."""
        with self._lock:
            if (size := os.fstat(self._names).st_size) != self._names_read:
                told = os.pread(self._names, size, 0).split(b"\0")[:-1]
                self._names_read, self._of_others = size, frozenset(map(os.fsdecode, told)) - self._of_mine
            return self._of_others

    def end(self) -> None:
        """Tell rank 0 that this rank makes no more changes."""
        if self._log is not None and os.getpid() == self._process:
            os.write(self._log, _RECORD.pack(_END))


def _key(path: str) -> int:
    return zlib.crc32(os.fsencode(path)) or 1


class _Log:
    """Reader of the changes that another rank has logged. ``file``: descriptor of the log file."""

    def __init__(self, file: int) -> None:
        self._file, self._lock = file, threading.Lock()
        self._made: Counter[int] = Counter()

    def has(self, key: int, times: int, total: int) -> bool:
        """Whether the rank has changed this file often enough, or has made enough changes in all, or has ended."""
        with self._lock:
            self._made.update(each for (each,) in _RECORD.iter_unpack(os.read(self._file, 1 << 16)))
        return self._made[key] >= times or self._made.total() >= total or _END in self._made


class Files:
    """File functions that let a rank change files in turn with the others.

    Parameters
    ----------
    turns : Turns or None
        Changes of all ranks; None if they share no folder.
    """

    def __init__(self, turns: Turns | None) -> None:
        self._turns = turns
        self._own = [os.path.join(tempfile.gettempdir(), "arraydispatch-")]
        """Prefixes of paths that are not redirected."""
        self._within = threading.local()
        self._type_of, self._scan = os.stat, os.scandir

    def _path(self, file: Any, kwargs: Any = ()) -> str | None:
        """Return the absolute path of a call's argument; None if the call is not redirected."""
        if not isinstance(file, str | bytes | os.PathLike) or any(
            "dir_fd" in name and kwargs[name] is not None for name in kwargs
        ):
            return None
        path = os.path.abspath(os.fsdecode(file))
        return None if f"{path}{os.sep}".startswith(tuple(self._own)) else path

    def _type(self, path: str) -> int | None:
        try:
            return stat.S_IFMT(self._type_of(path).st_mode)
        except (OSError, ValueError):
            return None

    def _turned(self, place: str, way: Callable[[Exchange], Any]) -> Callable[[Exchange], Any]:
        return lambda exchange: self._in_turn(place, exchange.real, way(exchange))

    def _in_turn(self, place: str, real: Callable[..., Any], change: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap ``change``, the replacement of ``real``, a function that changes a file: rank 0 waits for its turn, another rank reports the
        change. ``place``: the function's module and name.
        """

        @functools.wraps(real)
        def in_turn(*args: Any, **kwargs: Any) -> Any:
            path = None if hasattr(self._within, "change") else self._changed(place, args, kwargs)
            if path is None or self._turns is None:
                return change(*args, **kwargs)
            self._within.change = path
            try:
                self._turns.wait(path)
                return change(*args, **kwargs)
            finally:
                del self._within.change
                self._turns.changed(path)

        return in_turn

    def _changed(self, place: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
        """Return the path that a call of the function ``place`` changes; None if rank 0 need not wait for it. Announce a new name that only
        this rank uses.
        """
        how = _argument(args, kwargs, 1, "flags" if place == "os:open" else "mode")
        if place in OPENING and (kwargs.get("opener") or not any(letter in str(how) for letter in "wax+")):
            return None
        if place == "os:open" and not (isinstance(how, int) and how & WRITING):
            return None
        file = _argument(args, kwargs, 1, "dst") if place in _NAMING else _argument(args, kwargs, 0, "path", "file")
        path = self._path(file, kwargs)
        if path is None:
            return None
        if place in ("os:open", "os:mkdir") and self._type(path) is None and _is_own_name(path):
            self._own.append(path + os.sep)
            if self._turns is not None:
                self._turns.announce(path)
            return None
        return path if asked_for_program() else None

    @staticmethod
    def _called(real: Callable[..., Any], place: str, path: Any, *args: Any, **kwargs: Any) -> Any:
        """Call ``real`` on ``place``, the rank's own path; errors name ``path``, which the program used."""
        try:
            return real(place, *args, **kwargs)
        except OSError as error:
            if error.filename == place:
                error.filename = os.fspath(path)
            raise

    def _names(self, path: str) -> dict[str, str]:
        """Return the names in a directory, each with the directory that has it, without names that other ranks chose for themselves."""
        others = self._of_others()
        with self._scan(path) as found:
            return {each.name: path for each in found if os.path.join(path, each.name) not in others}

    def _of_others(self) -> frozenset[str]:
        return frozenset() if self._turns is None else self._turns.of_others()

    def _is_real(self, path: str) -> bool:
        """Whether no name in a directory was chosen by another rank for itself, so that listings show all its names."""
        return all(os.path.dirname(other) != path for other in self._of_others())

    def _seen(self, path: str) -> str:
        """Return the path where the rank finds a file."""
        return path

    def _listing(self, exchange: Exchange) -> Any:
        real = exchange.real

        def listed(path: Any = ".") -> Any:
            asked = self._path("." if path is None else path)
            if asked is None or self._is_real(asked):
                return real(path)
            if self._type(self._seen(asked)) != stat.S_IFDIR:
                return self._called(real, self._seen(asked), path)
            names = list(self._names(asked))
            return [os.fsencode(name) for name in names] if isinstance(path, bytes) else names

        return listed

    def _scanning(self, exchange: Exchange) -> Any:
        real = exchange.real

        def scanned(path: Any = ".") -> Any:
            asked = self._path("." if path is None else path)
            if asked is None or isinstance(path, bytes) or self._is_real(asked):
                return real(path)
            if self._type(self._seen(asked)) != stat.S_IFDIR:
                return self._called(real, self._seen(asked), path)
            shown = "." if path is None else os.fspath(path)
            return _Entries([_Entry(name, os.path.join(shown, name), os.path.join(place, name)) for name, place in self._names(asked).items()])  # fmt: skip

        return scanned


class FirstRankFiles(Files):
    """Files of rank 0: the real ones. Rank 0 makes a change after the other ranks have come to the same change."""

    def keep(self) -> None:
        """Exchange the functions of Python that change files, for the rest of the process; do nothing if the ranks share no folder."""
        if self._turns is not None:
            exchanges = Exchanges()
            exchanges.put("os:listdir", self._listing)
            exchanges.put("os:scandir", self._scanning)
            exchanges.put("glob:_StringGlobber.scandir", self._scanning)  # pathlib's, kept since its import
            for place in PLACES:
                exchanges.put(place, self._turned(place, lambda exchange: exchange.real))


class _Entry:
    """Entry of a directory, as :func:`os.scandir` yields it. ``path``: its path for the program; ``place``: the rank's own file."""

    def __init__(self, name: str, path: str, place: str) -> None:
        self.name, self.path, self._place = name, path, place

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"

    def inode(self) -> int:
        return os.lstat(self._place).st_ino

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return os.stat(self._place, follow_symlinks=follow_symlinks)

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return os.path.isdir(self._place) and (follow_symlinks or not self.is_symlink())

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return os.path.isfile(self._place) and (follow_symlinks or not self.is_symlink())

    def is_symlink(self) -> bool:
        return os.path.islink(self._place)

    def is_junction(self) -> bool:
        return False


class _Entries:
    def __init__(self, entries: list[_Entry]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[_Entry]:
        return self._entries

    def __next__(self) -> _Entry:
        return next(self._entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def close(self) -> None:
        pass


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], position: int, *names: str) -> Any:
    return args[position] if len(args) > position else next((kwargs[name] for name in names if name in kwargs), None)


def _is_own_name(path: str) -> bool:
    """Whether the name of a new file differs between ranks: :mod:`tempfile` chose it, or a library put the process's number in it."""
    frame = callers.beyond(sys._getframe(), _ON_BEHALF)
    return frame.f_globals.get("__name__") == "tempfile" or (
        not callers.is_users(frame) and str(os.getpid()) in os.path.basename(path)
    )


def asked_for_program() -> bool:
    """Whether the program makes the call, itself or through a package such as NumPy, and not a backend's library that stores programs."""
    frame: Any = callers.beyond(sys._getframe(), _ON_BEHALF)
    asks, called = _root(frame), frame.f_globals.get("__name__") == "threading"
    if asks == _OURS:
        return False
    while frame is not None and not callers.is_users(frame):
        if _root(frame) in _libraries():
            return False
        called = called or frame.f_globals.get("__name__") in _CALLING
        frame = frame.f_back
    return frame is not None or called


_OURS = __name__.partition(".")[0]


def _root(frame: Any) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


@functools.cache
def _libraries() -> frozenset[str]:
    return frozenset(
        root for name, row in loader.KNOWN.items() if name != "numpy" for root in (*row.roots, *row.imports)
    )
