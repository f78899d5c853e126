"""Who asks an array of ours for what an ndarray is asked.

An operation between an ndarray and an array of ours reaches nothing of the array's but ``__array__``: ``labels[mask]`` is one. Python
does not tell what stands on the other side, but the line does: a name, and what it holds.

A library that asks ``isinstance(x, np.ndarray)`` looks at ``x.__class__``.
"""

from __future__ import annotations

import ast
import linecache
from types import FrameType
from typing import Any

import numpy as np

from ..common.callers import is_core, is_installed, is_library
from ..common.process_state import process
from .adoption import movable

__all__ = ["TAKE_ARRAYS", "could_compute", "expects_ndarrays"]

TAKE_ARRAYS = frozenset(
    "IPython _pytest array_api_compat array_api_extra cloudpickle cv2 dask dill h5py jax jaxlib joblib keras matplotlib mpl_toolkits"
    " numba numexpr pandas PIL pytest scipy sklearn tensorflow torch xarray".split()
)
"""Libraries that take an ``Array`` for what it is: they have a door here (``interop/scipy_stand_ins.py``), know arrays of many kinds, or ask
``np.asarray`` of whatever is no ndarray, before it gets to code that takes nothing else."""
_MISSING = object()


def expects_ndarrays(frame: FrameType) -> bool:
    """Whether to the code of a frame an ``Array`` is an ndarray where it asks ``isinstance``: that of any other library.

    Many take what is none for a scalar or for a sequence of several things, and compute something else without a word. What they ask
    of an ndarray then an ``Array`` has too. To programs it is an instance of their own ``np.ndarray``; Python's library goes by types.
    """
    file, name = frame.f_code.co_filename, frame.f_globals.get("__name__")
    return (
        process.users is not None
        and type(name) is str
        and name.partition(".")[0] not in TAKE_ARRAYS
        and "array_api" not in name
        and not file.startswith("<")
        and not is_core(file)
        and (is_installed(file) or not is_library(file))
        and not process.users.has_file(file)
    )


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
