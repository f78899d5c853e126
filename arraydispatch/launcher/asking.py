"""Which ndarray asks: an operation between one and an array of ours reaches nothing of the array's but ``__array__``.

``labels[mask]`` is one of them. Python does not tell what stands on the other side, but the line does: a name, and what it holds.
"""

from __future__ import annotations

import ast
import linecache
from types import FrameType
from typing import Any

import numpy as np

from .adoption import movable

__all__ = ["could_compute"]

_MISSING = object()


def could_compute(frame: FrameType) -> bool:
    """Whether the backend could do what a line does that asks for an ndarray: not where the line's own are of strings, say.

    Where the line does not tell, an index only moves values, and a call may compute.
    """
    node = _expression(frame)
    if isinstance(node, ast.Subscript):
        asker = _value(node.value, frame)
        return isinstance(asker, np.ndarray) and movable(asker)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        asker = _value(node.func.value, frame)
        return not isinstance(asker, np.ndarray) or movable(asker)
    return True


def _expression(frame: FrameType) -> ast.expr | None:
    """What the frame is about to have evaluated."""
    code = frame.f_code
    positions = list(code.co_positions())
    first, last, begin, end = positions[frame.f_lasti // 2]
    lines = linecache.getlines(code.co_filename, frame.f_globals)
    if first is None or last is None or begin is None or end is None or len(lines) < last:
        return None
    rows = [line.encode() for line in lines[first - 1 : last]]
    rows[-1] = rows[-1][:end]
    rows[0] = rows[0][begin:]
    try:
        return ast.parse(b"(" + b"".join(rows) + b")", mode="eval").body
    except SyntaxError:
        return None


def _value(node: ast.expr, frame: FrameType) -> Any:
    """What an expression holds that runs no code: names, their instances' attributes, items of dicts."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id, _MISSING))
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, frame), "__dict__", {}).get(node.attr, _MISSING)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        held = _value(node.value, frame)
        return held.get(node.slice.value, _MISSING) if type(held) is dict else _MISSING
    return _MISSING
