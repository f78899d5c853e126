"""Record of the programs that a rank has begun, which all ranks must begin together. It is a mapped file, which outlives a killed rank.

If ranks begin different programs, the library that connects them may end a process immediately. A rank writes to the file before it
begins a program, so that the command can still tell where the ranks differed.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib

__all__ = ["Begun", "Others", "begun"]

_SLOTS = 256
"""Number of programs that are remembered."""
_HEAD = struct.Struct("<IQIH")
"""Format of a record: checksum of the rest, number of the program, checksum of all programs so far, length of the line."""
_SIZE = 512


class Begun:
    """Programs that this rank has begun.

    Attributes
    ----------
    count : int
        Number of programs begun.
    """

    def __init__(self, path: str) -> None:
        self.count = 0
        self._sum = 0
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.truncate(file, _SLOTS * _SIZE)
        self._slots = mmap.mmap(file, _SLOTS * _SIZE)
        os.close(file)

    def add(self, key: str, line: str) -> None:
        """Record a program, and the user's line that begins it."""
        self.count += 1
        self._sum = zlib.crc32(f"{key} {line}".encode(), self._sum)
        shown = line.encode()[-(_SIZE - _HEAD.size) :]
        start = self.count % _SLOTS * _SIZE
        self._slots[start + _HEAD.size : start + _HEAD.size + len(shown)] = shown
        rest = _HEAD.pack(0, self.count, self._sum, len(shown))[4:] + shown
        _HEAD.pack_into(self._slots, start, zlib.crc32(rest), self.count, self._sum, len(shown))


class Others:
    """Reads, on rank 0, which programs the other ranks have begun.

    Parameters
    ----------
    paths : list of str
        Files that the :class:`Begun` of these ranks write; they need not exist yet.
    """

    def __init__(self, paths: list[str]) -> None:
        self._files = [os.open(path, os.O_RDONLY | os.O_CREAT, 0o600) for path in paths]

    def is_ahead(self, which: int, count: int) -> bool:
        """Whether the rank whose file is ``paths[which]`` has begun more than ``count`` programs."""
        head = os.pread(self._files[which], _HEAD.size, (count + 1) % _SLOTS * _SIZE)
        return len(head) == _HEAD.size and _HEAD.unpack(head)[1] > count


def begun(path: str) -> dict[int, tuple[int, str]]:
    """Return the programs that a rank began last: number -> (checksum of all so far, line)."""
    try:
        with open(path, "rb") as stream:
            slots = stream.read()
    except OSError:
        return {}
    found = {}
    for start in range(0, len(slots), _SIZE):
        check, number, total, length = _HEAD.unpack_from(slots, start)
        end = start + _HEAD.size + length
        if number and check == zlib.crc32(slots[start + 4 : end]):  # else the rank is about to write it
            found[number] = total, slots[start + _HEAD.size : end].decode(errors="replace")
    return found
