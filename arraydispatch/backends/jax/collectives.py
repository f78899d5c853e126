"""Collectives in a compiled program, that is the data that its devices exchange, read from the text of the program."""

from __future__ import annotations

import re
from math import prod
from typing import Any

__all__ = ["of_program"]

_KINDS = "all-gather|all-reduce|all-to-all|collective-permute|collective-broadcast|reduce-scatter"
_INSTRUCTION = re.compile(rf"= (\(?[^=]*?) ({_KINDS})(?:-start)?\(")
_SHAPE = re.compile(r"\b(pred|bf16|[a-z]+\d+[a-z0-9]*)\[([\d,]*)\]")


def of_program(text: str) -> list[dict[str, Any]]:
    """Return the kind of each collective of a program, and the bytes that each device receives from it.

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
