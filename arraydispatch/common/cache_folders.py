"""Folders in the user's cache that keep compiled code for other processes, and the removal of old files from them."""

from __future__ import annotations

import contextlib
import os
import stat
import sys

__all__ = ["folder", "prune"]

VARIABLE = "ARRAYDISPATCH_CACHE"
"""Environment variable that names a folder to use in place of the user's cache; if it is set to nothing, no code is kept."""


def _root() -> str:
    """Return the folder that the environment names, or the usual one for caches on this system; an empty string if there is none."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return named
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", "")
        return local and os.path.join(local, "arraydispatch", "Cache")
    usual = "~/Library/Caches" if sys.platform == "darwin" else os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    where = os.path.join(os.path.expanduser(usual), "arraydispatch")
    return where if os.path.isabs(where) else ""


def folder(*names: str) -> str | None:
    """Return the path of the cache's folder ``names[0]/names[1]/…``, after making it if it is missing and denying other users access.
    Return None if there is no cache, or if a folder on the path is another user's or this user cannot write it.

    Other users must not write these folders, because the files in them run as this user's code. Paths are strings here and where they are
    used: ``pathlib`` takes 6 ms to import.
    """
    where = _root()
    if not where:
        return None
    try:
        os.makedirs(where, 0o777, exist_ok=True)
        for name in names:
            where = os.path.join(where, name)
            with contextlib.suppress(FileExistsError):
                os.mkdir(where, 0o700)
            found = os.stat(where)
            if not stat.S_ISDIR(found.st_mode):
                return None
            if hasattr(os, "getuid"):
                if found.st_uid != os.getuid():
                    return None
                if stat.S_IMODE(found.st_mode) & 0o077:
                    os.chmod(where, 0o700)
    except OSError:
        return None
    return where if os.access(where, os.W_OK | os.X_OK) else None


def prune(where: str, most: int) -> None:
    """Remove files from the folder ``where`` and its subfolders until the rest has at most ``most`` bytes, the least recently used first."""
    files: list[tuple[float, int, str]] = []
    for parent, _, names in os.walk(where):
        for name in names:
            path = os.path.join(parent, name)
            with contextlib.suppress(OSError):
                found = os.lstat(path)
                files.append((max(found.st_atime, found.st_mtime), found.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= most:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
            total -= size
