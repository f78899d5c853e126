"""Files as the ranks see them: rank 0 works on the real files; each other rank writes, renames and removes copies in its own folder.

A path in Python code is looked up in that folder first, so that each rank sees the files that rank 0 sees. A file that the rank has
neither written nor removed is the real one. Directories that :mod:`tempfile` makes, or a library by the process's number (joblib's), have
different names in each rank, and are not redirected, so that the rank's child processes find their files.
C code that opens files itself is not redirected. Rank 0 makes a change after the others have made theirs (:mod:`.rank_turns`), so that no
rank finds a file that it has yet to write. Ranks that a cluster's launcher started share no folder, so rank 0 may be ahead of them. There,
making a file that exists, or removing one that is gone, is not an error.
"""

from __future__ import annotations

import errno
import importlib.machinery
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..common.patching import Exchange, Exchanges
from .rank_turns import CHANGING, OPENING, PLACES, WRITING, Files, Turns, asked_for_program

__all__ = ["RankFiles"]

_READING = ("access", "listxattr", "lstat", "readlink", "stat", "statvfs")
_ABSENT = 20
"""Seconds to wait until rank 0 has made a directory to which this rank changes."""


class RankFiles(Files):
    """Files as a rank other than 0 sees them. The rank's folder is made in ``folder``, or in the system's folder for temporary files.
    ``turns``: changes of all ranks; None if they share no folder.
    """

    def __init__(self, folder: str | None, turns: Turns | None) -> None:
        super().__init__(turns)
        self._began = time.time()
        self._folder = tempfile.mkdtemp(prefix="arraydispatch-rank-", dir=folder)
        self._own.append(self._folder + os.sep)
        self._gone: set[str] = set()
        """Paths that the rank has removed."""
        self._emptied: set[str] = set()
        """Directories that the rank has removed and made again."""
        self._links: dict[str, Any] = {}
        """Path of a symbolic link that the rank has made -> target."""
        self._real: dict[str, Callable[..., Any]] = {
            name: getattr(os, name) for name in ("lstat", "makedirs", "remove")
        }
        self._open, self._remove_tree = open, shutil.rmtree

    def keep(self) -> None:
        """Exchange the functions of Python that work on files, for the rest of the process."""
        exchanges = Exchanges()
        ways: dict[str, Callable[[Exchange], Any]] = {
            **dict.fromkeys(OPENING, self._opening),
            "os:chdir": self._entering,
            "os:link": self._linking,
            "os:listdir": self._listing,
            "os:mkdir": self._making,
            "os:mkfifo": self._making,
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
            "glob:_StringGlobber.lstat": self._reading,
            "glob:_StringGlobber.scandir": self._scanning,
            **dict.fromkeys([f"os:{name}" for name in CHANGING], self._changing),
        }
        for place, way in ways.items():
            exchanges.put(place, self._turned(place, way) if place in PLACES else way)
        sys.meta_path.insert(0, _Modules(self))
        import atexit

        atexit.register(self._end)

    def _end(self) -> None:
        if self._turns is not None:
            self._turns.end()
        self._remove_tree(self._folder, ignore_errors=True)

    # -- places --------------------------------------------------------------------------------------------------------

    def _copy_of(self, path: str) -> str:
        drive, rest = os.path.splitdrive(path)
        return os.path.join(self._folder, "tree", drive.replace(":", ""), rest.lstrip("\\/"))

    def _has(self, path: str) -> bool:
        """Whether the rank has its own file or directory at a path."""
        return self._type(self._copy_of(path)) is not None

    def _is_hidden(self, path: str) -> bool:
        """Whether the rank has removed the real file or a directory above it."""
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
        return self._copy_of(path) if self._is_hidden(path) or self._has(path) else path

    def _is_older(self, path: str) -> bool:
        """Whether a real file exists that this rank would have found in its turn: any file, if rank 0 changes files after this rank, else
        one not changed since the run began.
        """
        if self._turns is not None:
            return self._type(path) is not None
        try:
            return bool(self._real["lstat"](path).st_ctime < self._began - 1)
        except (OSError, ValueError):
            return False

    def _for_writing(self, path: str, keeps: bool, asked: Any = None) -> str:
        """Return the rank's own path for a file to be written, with a copy of the real file if ``keeps``. Raise FileNotFoundError if there
        is no such directory.
        """
        place = self._copy_of(path)
        above = os.path.dirname(path)
        if self._type(self._seen(above)) != stat.S_IFDIR:
            raise FileNotFoundError(
                errno.ENOENT, os.strerror(errno.ENOENT), path if asked is None else os.fspath(asked)
            )
        self._real["makedirs"](os.path.dirname(place), exist_ok=True)
        if keeps and not self._has(path) and not self._is_hidden(path) and self._type(path) == stat.S_IFREG:
            self._copy(path, place)
        self._gone.discard(path)
        return place

    def _copy(self, source: str, place: str) -> None:
        with self._open(source, "rb") as values, self._open(place, "wb") as copy:
            shutil.copyfileobj(values, copy)

    # -- files ---------------------------------------------------------------------------------------------------------

    def _opening(self, exchange: Exchange) -> Any:
        real = exchange.real

        def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            path = self._path(file)
            if path is None or not isinstance(mode, str):
                return real(file, mode, *args, **kwargs)
            place = self._opened(path, any(letter in mode for letter in "wax+"), "w" not in mode, "x" in mode, file)
            stream = self._called(real, place, file, mode, *args, **kwargs)
            if place != path:
                buffer = getattr(stream, "buffer", stream)
                getattr(buffer, "raw", buffer).name = file
            return stream

        return opened

    def _opened(self, path: str, writes: bool, keeps: bool, makes: bool, asked: Any) -> str:
        if not writes:
            return self._seen(path)
        if not self._is_hidden(path) and (
            self._type(path) not in (None, stat.S_IFREG) or (makes and self._is_older(path))
        ):
            return path  # a device, a directory, or a file that must not exist
        return self._for_writing(path, keeps and not makes, asked)

    def _opening_by_number(self, exchange: Exchange) -> Any:
        real = exchange.real

        def opened(file: Any, flags: int, *args: Any, **kwargs: Any) -> Any:
            path = self._path(file, kwargs)
            if path is None:
                return real(file, flags, *args, **kwargs)
            writes = bool(flags & WRITING)
            if writes and not asked_for_program():
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
            if exchange.name == "readlink" and asked in self._links:
                return self._links[asked]
            return self._called(real, place, path, *args, **kwargs)

        return read

    def _changing(self, exchange: Exchange) -> Any:
        real = exchange.real

        def changed(path: Any, *args: Any, **kwargs: Any) -> Any:
            asked = self._path(path, kwargs)
            if asked is None or not asked_for_program():
                return real(path, *args, **kwargs)
            if self._type(self._seen(asked)) == stat.S_IFDIR and not self._has(asked):
                return None  # rank 0 changes it
            return self._called(real, self._for_writing(asked, True, path), path, *args, **kwargs)

        return changed

    def _removing(self, exchange: Exchange) -> Any:
        real = exchange.real

        def removed(path: Any, *args: Any, **kwargs: Any) -> None:
            asked = self._path(path, kwargs)
            if asked is None or not asked_for_program():
                real(path, *args, **kwargs)
                return
            if self._has(asked):
                self._called(real, self._copy_of(asked), path, *args, **kwargs)
            elif self._is_missing(asked):
                self._called(real, self._copy_of(asked), path, *args, **kwargs)  # there is none: the error is Python's
            self._gone.add(asked)
            self._emptied.discard(asked)

        return removed

    def _renaming(self, exchange: Exchange) -> Any:
        real = exchange.real

        def renamed(src: Any, dst: Any, *args: Any, **kwargs: Any) -> None:
            target = self._path(dst, kwargs)
            if target is None or not asked_for_program():
                real(src, dst, *args, **kwargs)
                return
            source = self._path(src, kwargs)
            if source is None:  # a temporary file
                self._copy(os.fspath(src), self._for_writing(target, False))
                self._real["remove"](src)
                return
            if self._is_missing(source):
                self._called(real, self._copy_of(source), src, dst, *args, **kwargs)  # the error is Python's
            if self._type(self._seen(source)) == stat.S_IFDIR:
                if target.startswith(source + os.sep):
                    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), os.fspath(src), None, os.fspath(dst))
                if target != source:
                    self._carry(source, target)
            elif self._has(source):
                place = self._for_writing(target, False)
                self._called(real, self._copy_of(source), src, place, *args, **kwargs)
            elif self._type(source) == stat.S_IFREG:
                self._copy(source, self._for_writing(target, False))
            self._gone.add(source)

        return renamed

    def _is_missing(self, path: str) -> bool:
        """Whether a file does not exist for the rank: removed, or made only by the change that rank 0 makes after this rank."""
        if self._has(path):
            return False
        if self._is_hidden(path):
            return True
        return self._type(path) is None and (self._turns is not None or self._is_older(os.path.dirname(path)))

    def _check_absent(self, path: str, *asked: Any) -> None:
        if self._has(path) or (not self._is_hidden(path) and self._is_older(path)):
            raise FileExistsError(
                errno.EEXIST, os.strerror(errno.EEXIST), *(each and os.fspath(each) for each in asked)
            )

    def _carry(self, source: str, target: str) -> None:
        """Copy a directory, as the rank sees it, to another path in the rank's folder."""
        place = self._for_writing(target, False)
        self._real["makedirs"](place, exist_ok=True)
        for name in self._names(source):
            seen = self._seen(inner := os.path.join(source, name))
            if self._type(seen) == stat.S_IFDIR:
                self._carry(inner, os.path.join(target, name))
            else:
                self._copy(seen, self._for_writing(os.path.join(target, name), False))
        if self._has(source):
            self._remove_tree(self._copy_of(source))

    def _linking(self, exchange: Exchange) -> Any:
        real = exchange.real

        def linked(src: Any, dst: Any, *args: Any, **kwargs: Any) -> None:
            target = self._path(dst, kwargs)
            if target is None or not asked_for_program():
                real(src, dst, *args, **kwargs)
                return
            near = (
                os.path.join(os.path.dirname(target), os.fsdecode(src))
                if exchange.name == "symlink"
                else os.fsdecode(src)
            )
            source = os.path.abspath(near)
            if exchange.name == "link" and self._is_missing(source):
                self._called(real, self._copy_of(source), src, dst, *args, **kwargs)  # the error is Python's
            self._check_absent(target, src, None, dst)
            place, kind = self._for_writing(target, False), self._type(self._seen(source))
            if exchange.name == "symlink":
                real(self._for_writing(source, True) if kind == stat.S_IFREG else self._seen(source), place)
                self._links[target] = src
            elif kind == stat.S_IFREG:
                real(self._for_writing(source, True), place)

        return linked

    # -- directories ---------------------------------------------------------------------------------------------------

    def _making(self, exchange: Exchange) -> Any:
        real = exchange.real

        def made(path: Any, *args: Any, **kwargs: Any) -> None:
            asked = self._path(path, kwargs)
            if asked is None or not asked_for_program():
                real(path, *args, **kwargs)
                return
            self._check_absent(asked, path)
            was_removed = asked in self._gone
            place = self._for_writing(asked, False, path)
            if exchange.name == "mkfifo":
                real(place, *args, **kwargs)
                return
            if was_removed:
                self._emptied.add(asked)
            self._real["makedirs"](place, exist_ok=True)

        return made

    def _names(self, path: str) -> dict[str, str]:
        found = {}
        if not self._is_hidden(path) and path not in self._emptied and self._type(path) == stat.S_IFDIR:
            found = {name: path for name in super()._names(path) if os.path.join(path, name) not in self._gone}
        if self._has(path):
            with self._scan(place := self._copy_of(path)) as entries:
                found.update({each.name: place for each in entries})
        return found

    def _is_real(self, path: str) -> bool:
        return self._seen(path) == path and not self._gone and super()._is_real(path)

    def _entering(self, exchange: Exchange) -> Any:
        real = exchange.real

        def entered(path: Any) -> None:
            asked = self._path(path)
            limit = time.monotonic() + _ABSENT
            while asked is not None and self._has(asked) and self._type(asked) is None and time.monotonic() < limit:
                time.sleep(0.01)
            real(path)

        return entered

    # -- modules -------------------------------------------------------------------------------------------------------

    def own_module(self, name: str, folders: Sequence[str]) -> tuple[str, str, bool] | None:
        """Return the file of a module that the rank has written, its own path for the file, and whether it is a package; else None."""
        last = name.rpartition(".")[2]
        for folder in folders:
            path = os.path.abspath(folder)
            if self._type(self._copy_of(path)) == stat.S_IFDIR:
                for file, is_package in (
                    (os.path.join(path, last, "__init__.py"), True),
                    (os.path.join(path, f"{last}.py"), False),
                ):
                    if self._type(place := self._copy_of(file)) == stat.S_IFREG:
                        return file, place, is_package
        return None


class _Modules:
    """Finder of modules that the rank has written, which Python's own finders do not see."""

    def __init__(self, files: RankFiles) -> None:
        self._files = files

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        found = self._files.own_module(name, sys.path if path is None else path)
        if found is None:
            return None
        file, place, is_package = found
        spec = importlib.machinery.ModuleSpec(name, _OwnLoader(name, file, place), origin=file, is_package=is_package)
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(file)]
        return spec

    def invalidate_caches(self) -> None:
        pass


class _OwnLoader(importlib.machinery.SourceFileLoader):
    """Loader of a module from ``place``, the rank's own copy of a file; the module names ``file``, which rank 0 has."""

    def __init__(self, name: str, file: str, place: str) -> None:
        super().__init__(name, file)
        self._place = place

    def path_stats(self, path: Any) -> Any:
        raise OSError  # so nothing compiled is kept

    def get_data(self, path: Any) -> bytes:
        return super().get_data(self._place if path == self.path else path)
