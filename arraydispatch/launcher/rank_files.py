"""Files of a rank that writes none: what the program writes, renames and removes is done in a folder of the rank's own.

Every path that Python code asks for is looked up there first, so that the program finds its files as rank 0 does. A file that the rank has
neither written nor removed is the real one. Directories that :mod:`tempfile` makes, or a library by the process's number (joblib's), have a
name of the rank's own, and are used as they are: the rank's child processes find their files.
C code that opens files by itself is not seen. Rank 0 may be ahead, and have made or removed a file already: to make it again, or to
remove it, is no error.
"""

from __future__ import annotations

import errno
import functools
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any, Self

from ..common import callers
from ..common.patching import Exchange, Exchanges

__all__ = ["RankFiles"]

_READING = ("access", "listxattr", "lstat", "readlink", "stat", "statvfs")
_CHANGING = ("chmod", "chown", "setxattr", "truncate", "utime")
_ON_BEHALF = frozenset({"os", "pathlib", "pathlib._local", "shutil", "glob", "genericpath", "posixpath", "ntpath"})
"""Modules for paths, by way of which a program asks."""
_ABSENT = 20
"""Seconds in which rank 0 makes a directory that this rank goes to."""


class RankFiles:
    """The files as a rank sees them.

    Parameters
    ----------
    folder : str or None
        Where the rank's own folder is made; None: where the system has its temporary files.
    """

    def __init__(self, folder: str | None) -> None:
        self._began = time.time()
        self._folder = tempfile.mkdtemp(prefix="arraydispatch-rank-", dir=folder)
        self._own = [self._folder + os.sep, os.path.join(tempfile.gettempdir(), "arraydispatch-")]
        """Beginnings of paths that are used as they are."""
        self._gone: set[str] = set()
        """Paths that the rank has removed."""
        self._emptied: set[str] = set()
        """Directories that it has removed and made again."""
        self._real: dict[str, Callable[..., Any]] = {
            name: getattr(os, name) for name in ("lstat", "stat", "makedirs", "replace", "remove", "scandir", "mkdir")
        }
        self._open, self._remove_tree = open, shutil.rmtree

    def keep(self) -> None:
        """Begin, for the rest of the process."""
        exchanges = Exchanges()
        ways: dict[str, Callable[[Exchange], Any]] = {
            "builtins:open": self._opening,
            "io:open": self._opening,
            "os:chdir": self._entering,
            "os:link": self._linking,
            "os:listdir": self._listing,
            "os:mkdir": self._making,
            "os:open": self._opening_by_number,
            "os:remove": self._removing,
            "os:rename": self._renaming,
            "os:replace": self._renaming,
            "os:rmdir": self._removing,
            "os:scandir": self._scanning,
            "os:symlink": self._linking,
            "os:unlink": self._removing,
            "shutil:rmtree": self._removing,
            **dict.fromkeys([f"os:{name}" for name in _READING], self._reading),
            **dict.fromkeys([f"os:{name}" for name in _CHANGING], self._changing),
        }
        for place, way in ways.items():
            exchanges.put(place, way)
        import atexit

        atexit.register(self._remove_tree, self._folder, ignore_errors=True)

    # -- places --------------------------------------------------------------------------------------------------------

    def _path(self, file: Any, kwargs: Any = ()) -> str | None:
        """Return the absolute path that a call asks for; None if the call is left as it is."""
        if not isinstance(file, str | bytes | os.PathLike) or any(
            "dir_fd" in name and kwargs[name] is not None for name in kwargs
        ):
            return None
        path = os.path.abspath(os.fsdecode(file))
        return None if f"{path}{os.sep}".startswith(tuple(self._own)) else path

    def _copy_of(self, path: str) -> str:
        drive, rest = os.path.splitdrive(path)
        return os.path.join(self._folder, "tree", drive.replace(":", ""), rest.lstrip("\\/"))

    def _has(self, path: str) -> bool:
        """Whether the rank has a file or a directory of its own there."""
        return self._type(self._copy_of(path)) is not None

    def _type(self, path: str) -> int | None:
        try:
            return stat.S_IFMT(self._real["stat"](path).st_mode)
        except (OSError, ValueError):
            return None

    def _is_hidden(self, path: str) -> bool:
        """Whether the rank has removed the real file, or a directory that it is in."""
        if not (self._gone or self._emptied):
            return False
        if path in self._gone:
            return True
        while (above := os.path.dirname(path)) != path:
            path = above
            if path in self._gone or path in self._emptied:
                return True
        return False

    def _seen(self, path: str) -> str:
        """Return where the rank finds a path."""
        return self._copy_of(path) if self._is_hidden(path) or self._has(path) else path

    def _is_older(self, path: str) -> bool:
        """Whether a real file is as it was before the run: no rank has touched it."""
        try:
            return bool(self._real["lstat"](path).st_ctime < self._began - 1)
        except (OSError, ValueError):
            return False

    def _for_writing(self, path: str, keeps: bool, asked: Any = None) -> str:
        """Return the rank's own place for a file, with the values of the real one if these are kept."""
        place = self._copy_of(path)
        above = os.path.dirname(path)
        if self._type(self._seen(above)) != stat.S_IFDIR:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path if asked is None else asked)
        self._real["makedirs"](os.path.dirname(place), exist_ok=True)
        if keeps and not self._has(path) and not self._is_hidden(path) and self._type(path) == stat.S_IFREG:
            self._copy(path, place)
        self._gone.discard(path)
        return place

    def _copy(self, source: str, place: str) -> None:
        with self._open(source, "rb") as values, self._open(place, "wb") as copy:
            shutil.copyfileobj(values, copy)

    @staticmethod
    def _called(real: Callable[..., Any], place: str, path: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function for the rank's own place; errors name the path that was asked for."""
        try:
            return real(place, *args, **kwargs)
        except OSError as error:
            if error.filename == place:
                error.filename = path
            raise

    # -- files ---------------------------------------------------------------------------------------------------------

    def _opening(self, exchange: Exchange) -> Any:
        real = exchange.real

        def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            path = self._path(file)
            if path is None or not isinstance(mode, str):
                return real(file, mode, *args, **kwargs)
            place = self._opened(path, any(letter in mode for letter in "wax+"), "w" not in mode, "x" in mode, file)
            return self._called(real, place, file, mode, *args, **kwargs)

        return opened

    def _opened(self, path: str, writes: bool, keeps: bool, makes: bool, asked: Any) -> str:
        if not writes:
            return self._seen(path)
        if not self._is_hidden(path) and (
            self._type(path) not in (None, stat.S_IFREG) or (makes and self._is_older(path))
        ):
            return path  # a device, a directory, or a file that must not be there
        return self._for_writing(path, keeps and not makes, asked)

    def _opening_by_number(self, exchange: Exchange) -> Any:
        real = exchange.real
        writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

        def opened(file: Any, flags: int, *args: Any, **kwargs: Any) -> Any:
            path = self._path(file, kwargs)
            if path is None:
                return real(file, flags, *args, **kwargs)
            writes = bool(flags & writing)
            if writes and not _asked_by_program():
                if (
                    _asks() == "tempfile" and self._type(path) is None
                ):  # a new one, and not the directory of one without a name
                    self._own.append(path + os.sep)
                return real(file, flags, *args, **kwargs)
            place = self._opened(path, writes, not flags & os.O_TRUNC, bool(flags & os.O_EXCL), file)
            return self._called(real, place, file, flags, *args, **kwargs)

        return opened

    def _reading(self, exchange: Exchange) -> Any:
        real = exchange.real

        def read(path: Any, *args: Any, **kwargs: Any) -> Any:
            asked = self._path(path, kwargs)
            if asked is None or (place := self._seen(asked)) == asked:
                return real(path, *args, **kwargs)
            return self._called(real, place, path, *args, **kwargs)

        return read

    def _changing(self, exchange: Exchange) -> Any:
        real = exchange.real

        def changed(path: Any, *args: Any, **kwargs: Any) -> Any:
            asked = self._path(path, kwargs)
            if asked is None or not _asked_by_program():
                return real(path, *args, **kwargs)
            if self._type(self._seen(asked)) == stat.S_IFDIR and not self._has(asked):
                return None  # rank 0 changes it
            return self._called(real, self._for_writing(asked, True, path), path, *args, **kwargs)

        return changed

    def _removing(self, exchange: Exchange) -> Any:
        real = exchange.real

        @functools.wraps(real)
        def removed(path: Any, *args: Any, **kwargs: Any) -> None:
            asked = self._path(path, kwargs)
            if asked is None or not _asked_by_program():
                real(path, *args, **kwargs)
                return
            if self._has(asked):
                self._called(real, self._copy_of(asked), path, *args, **kwargs)
            elif self._is_hidden(asked) or (self._type(asked) is None and self._is_older(os.path.dirname(asked))):
                self._called(real, self._copy_of(asked), path, *args, **kwargs)  # there is none: the error is Python's
            self._gone.add(asked)
            self._emptied.discard(asked)

        return removed

    def _renaming(self, exchange: Exchange) -> Any:
        real = exchange.real

        def renamed(src: Any, dst: Any, *args: Any, **kwargs: Any) -> None:
            target = self._path(dst, kwargs)
            if target is None or not _asked_by_program():
                real(src, dst, *args, **kwargs)
                return
            source = self._path(src, kwargs)
            if source is None:  # of a temporary file
                self._copy(os.fspath(src), self._for_writing(target, False))
                self._real["remove"](src)
                return
            if self._has(source):
                place = self._for_writing(target, False)
                self._called(real, self._copy_of(source), src, place, *args, **kwargs)
            elif not self._is_hidden(source) and self._type(source) == stat.S_IFREG:
                self._copy(source, self._for_writing(target, False))
            self._gone.add(source)

        return renamed

    def _linking(self, exchange: Exchange) -> Any:
        real = exchange.real

        def linked(src: Any, dst: Any, *args: Any, **kwargs: Any) -> None:
            target = self._path(dst, kwargs)
            if target is None or not _asked_by_program():
                real(src, dst, *args, **kwargs)
                return
            near = (
                os.path.join(os.path.dirname(target), os.fsdecode(src))
                if exchange.name == "symlink"
                else os.fsdecode(src)
            )
            source = self._seen(os.path.abspath(near))
            if self._type(source) == stat.S_IFREG:
                self._copy(source, self._for_writing(target, False))

        return linked

    # -- directories ---------------------------------------------------------------------------------------------------

    def _making(self, exchange: Exchange) -> Any:
        real = exchange.real

        def made(path: Any, *args: Any, **kwargs: Any) -> None:
            asked = self._path(path, kwargs)
            if asked is None or not _asked_by_program():
                real(path, *args, **kwargs)
                if asked is not None and (_asks() == "tempfile" or str(os.getpid()) in os.path.basename(asked)):
                    self._own.append(asked + os.sep)
                return
            if self._has(asked) or (not self._is_hidden(asked) and self._is_older(asked)):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            place = self._for_writing(asked, False, path)
            if asked in self._gone:
                self._gone.discard(asked)
                self._emptied.add(asked)
            self._real["makedirs"](place, exist_ok=True)

        return made

    def _names(self, path: str) -> dict[str, str]:
        """Return the names in a directory, each with the directory where it lies."""
        found = {}
        if not self._is_hidden(path) and path not in self._emptied and self._type(path) == stat.S_IFDIR:
            with self._real["scandir"](path) as entries:
                found = {each.name: path for each in entries if os.path.join(path, each.name) not in self._gone}
        if self._has(path):
            with self._real["scandir"](place := self._copy_of(path)) as entries:
                found.update({each.name: place for each in entries})
        return found

    def _listing(self, exchange: Exchange) -> Any:
        real = exchange.real

        def listed(path: Any = ".") -> Any:
            asked = self._path("." if path is None else path)
            if asked is None or (self._seen(asked) == asked and not self._gone):
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
            if asked is None or isinstance(path, bytes) or (self._seen(asked) == asked and not self._gone):
                return real(path)
            if self._type(self._seen(asked)) != stat.S_IFDIR:
                return self._called(real, self._seen(asked), path)
            shown = "." if path is None else os.fspath(path)
            return _Entries([_Entry(name, os.path.join(shown, name), os.path.join(place, name)) for name, place in self._names(asked).items()])  # fmt: skip

        return scanned

    def _entering(self, exchange: Exchange) -> Any:
        real = exchange.real

        def entered(path: Any) -> None:
            asked = self._path(path)
            limit = time.monotonic() + _ABSENT
            while asked is not None and self._has(asked) and self._type(asked) is None and time.monotonic() < limit:
                time.sleep(0.01)
            real(path)

        return entered


class _Entry:
    """Entry of a directory, as :func:`os.scandir` gives them."""

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


def _asks() -> str:
    """Return the module that asks a replaced function, by way of modules for paths."""
    return str(_frame().f_globals.get("__name__"))


def _asked_by_program() -> bool:
    """Whether the program itself asks, perhaps by way of the standard library's modules for paths."""
    return callers.is_users(_frame())


def _frame() -> Any:
    frame: Any = sys._getframe(3)
    while (back := frame.f_back) is not None and frame.f_globals.get("__name__") in _ON_BEHALF:
        frame = back
    return frame
