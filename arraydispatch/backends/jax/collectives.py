"""Collectives in compiled programs: the data that devices send each other, read from the text of a program."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from math import prod
from typing import Any

import jax
from jax.sharding import NamedSharding

from ...common import events, tracing

__all__ = ["Collectives", "follow", "met", "of_program", "programs"]

_KINDS = "all-gather|all-reduce|all-to-all|collective-permute|collective-broadcast|reduce-scatter"
_INSTRUCTION = re.compile(rf" = (.*?) ({_KINDS})(?:-start)?\(")
_SHAPE = re.compile(r"\b(pred|bf16|[a-z]+\d+[a-z0-9]*)\[([\d,]*)\]")


def of_program(text: str) -> list[dict[str, Any]]:
    """Return a dict for each collective of a program: its ``kind``, and the number of ``bytes`` that each device receives from it.

    Parameters
    ----------
    text : str
        Program after XLA's partitioner, one instruction in each line.
    """
    found = []
    for line in text.splitlines():
        match = _INSTRUCTION.search(line)
        if match is not None:
            shapes = _SHAPE.findall(match[1])
            if f"{match[2]}-start(" in line and len(shapes) > 1:  # operands and results
                shapes = shapes[len(shapes) // 2 :] if match[2] != "collective-permute" else shapes[1:2]
            found.append({"kind": match[2], "bytes": sum(_bytes(dtype, shape) for dtype, shape in shapes)})
    return found


def _bytes(dtype: str, shape: str) -> int:
    bits = re.search(r"\d+", dtype)
    size = 1 if bits is None else -(-int(bits[0]) // 8)
    return size * prod(int(n) for n in shape.split(",") if n)


_noted: list[Collectives] = []
_numbers = count()
_follower: Callable[[str], None] | None = None


def follow(ran: Callable[[str], None]) -> None:
    """Set the function to call before each program that runs on a mesh, with a key that is the same in each process."""
    global _follower
    _follower = ran


def met(key: str) -> None:
    """Call the function set by :func:`follow` with the key of an operation that all processes perform together."""
    if _follower is not None:
        _follower(key)


_MOST_NOTED = 512


class Collectives:
    """Collectives of a program, for the operands of its first call on a mesh. Calling this object compiles the program once more to read
    them.

    Parameters
    ----------
    compiled : callable
        Function that JAX has jitted.
    """

    def __init__(self, compiled: Any) -> None:
        self.compiled = compiled
        self._specs: list[Any] | None = None
        self._found: list[dict[str, Any]] | None = None
        self.bytes_per_device = 0
        self.line = ""
        self.runs = 0
        self._number = next(_numbers)
        self._key = ""

    def _checksum(self, natives: Sequence[Any]) -> int:
        """Return a checksum of the program's text; 0 if the text is not known. By the checksum, processes that run different programs
        (because one keeps more results of a block) notice it; otherwise they would wait for each other forever.
        """
        if not hasattr(self.compiled, "lower") or any(isinstance(x, jax.core.Tracer) for x in natives):
            return 0
        return zlib.crc32(self.compiled.lower(*natives).as_text().encode())

    def note(self, natives: Sequence[Any]) -> None:
        """Count a call, pass its key to the follower, and keep shapes, dtypes and shardings of the first call's operands."""
        self.runs += 1
        if _follower is not None:
            if not self._key:
                self._key = f"{self._number}: {[x.shape for x in natives]} {self._checksum(natives)}"
            _follower(self._key)
        if self._specs is None and not any(isinstance(x, jax.core.Tracer) for x in natives):
            self._specs = [
                jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding) if isinstance(x, jax.Array) else x
                for x in natives
            ]
            if events.tap is not None and len(_noted) < _MOST_NOTED:
                self.line = tracing.user_line()
                _noted.append(self)

    def __call__(self) -> list[dict[str, Any]]:
        """Return the dicts of :func:`of_program`, and set ``bytes_per_device``; an empty list for a program that has not run on a mesh."""
        if self._found is None:
            if self._specs is None:
                return []
            with jax.enable_x64(True):
                program = self.compiled.lower(*self._specs).compile()
            self._found = of_program(program.as_text())
            sizes = program.memory_analysis()
            if sizes is not None:  # of one device
                held = sizes.argument_size_in_bytes + sizes.output_size_in_bytes + sizes.temp_size_in_bytes
                self.bytes_per_device = held - sizes.alias_size_in_bytes
        return self._found

    def operands(self) -> list[dict[str, Any]]:
        """Return a dict for each group of like operands on a mesh: ``shape``, ``dtype``, split axes (``split``) and ``count``."""
        found: Counter[tuple[tuple[int, ...], str, tuple[int, ...]]] = Counter()
        for x in self._specs or ():
            sharding = getattr(x, "sharding", None)
            if isinstance(sharding, NamedSharding) and sharding.mesh.size > 1 and x.shape:
                axes = tuple(axis for axis, part in enumerate(sharding.spec) if part not in (None, ()))
                found[x.shape, str(x.dtype), axes] += 1
        return [
            {"shape": list(shape), "dtype": dtype, "split": list(axes), "count": count}
            for (shape, dtype, axes), count in found.items()
        ]


def programs() -> list[dict[str, Any]]:
    """Return a dict for each program that has run on a mesh under a listener: line, runs, operands, bytes per device and collectives."""
    made = []
    for each in _noted:
        counts = Counter((one["kind"], one["bytes"]) for one in each())
        made.append(
            {
                "line": each.line,
                "runs": each.runs,
                "operands": each.operands(),
                "bytes_per_device": each.bytes_per_device,
                "collectives": [
                    {"kind": kind, "bytes": nbytes, "count": count} for (kind, nbytes), count in counts.items()
                ],
            }
        )
    return made
