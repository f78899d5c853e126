"""Work that a report cannot count: operators and methods of ndarrays that libraries made, and modules that
are neither the user's nor installed.

At the end of a program, its source is searched for ndarrays among its globals that were never moved to the backend.
"""

from __future__ import annotations

import ast
import dis
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from ..backends import loader
from ..common.callers import straight
from ..profiling.records import Note
from ..runtime import dtypes, settings
from .adoption import is_window
from .user_files import UserFiles


def left_to_numpy(users: UserFiles) -> list[Note]:
    """Return a note for each folder with modules that use NumPy itself although they are not installed; ``--include`` accelerates them."""
    found: dict[str, list[str]] = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if type(file) is not str or not file.endswith(".py") or np not in _modules_in(module):
            continue
        if not users.has_file(file) and not users.is_installed(file):
            folder, name = os.path.split(os.path.realpath(file))
            found.setdefault(folder, []).append(name)
    return [
        Note("module", ", ".join(sorted(names)), folder, 1, "<module>", len(names)) for folder, names in found.items()
    ]


def _modules_in(module: ModuleType) -> list[ModuleType]:
    return [value for value in vars(module).copy().values() if type(value) is ModuleType]


def _could_be_held(dtype: np.dtype[Any]) -> bool:
    """Whether the backend can hold a dtype. No library is imported for that: TensorFlow's import at Python's end kills the process."""
    name = settings.current_name()
    backend = loader.loaded_one(name) or loader.hosted(name)
    return dtypes.category(dtype) != "other" and backend.holds(dtype.newbyteorder("="))


def work_of_ndarrays(module: ModuleType, stayed: Callable[[np.ndarray[Any, Any]], bool]) -> list[Note]:
    """Return a note for each line of a module where an operator or a method of an ndarray does work that the backend could do.

    ``stayed(x)``: whether an ndarray is large enough to mention and was never moved to the backend.
    """
    values = vars(module).copy().items()
    # A writable view of another object's memory is not converted by np.asarray either.
    names = {
        name: "window" if x.flags.writeable and is_window(x) else "ndarray"
        for name, x in values
        if type(x) is np.ndarray and _could_be_held(x.dtype) and stayed(x)
    }
    if not names:
        return []
    try:
        source = inspect.getsource(module)
        found = list(_operations(source))
    except (OSError, TypeError, SyntaxError):  # the module comes from standard input, or is compiled
        return []
    lines: dict[tuple[int, str], list[str]] = {}
    for name, line in found:
        if name in names and name not in lines.setdefault((line, names[name]), []):
            lines[line, names[name]].append(name)
    return [
        Note(kind, ", ".join(found), straight(str(module.__file__)), line, "<module>", 1, 0)
        for (line, kind), found in sorted(lines.items())
    ]


def _operations(source: str) -> Iterator[tuple[str, int]]:
    """Yield (name, line) for each operator and method that is applied to a global name."""
    known = set(_global_places(compile(source, "", "exec")))
    for node in ast.walk(ast.parse(source)):
        operands: list[ast.AST] = []
        if isinstance(node, ast.BinOp):
            operands = [node.left, node.right]
        elif isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
        elif isinstance(node, ast.UnaryOp):
            operands = [node.operand]
        elif isinstance(node, ast.AugAssign):
            operands = [node.target]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            operands = [node.func.value]
        for operand in operands:
            if isinstance(operand, ast.Name) and (operand.lineno, operand.col_offset) in known:
                yield operand.id, operand.lineno


def _global_places(code: CodeType) -> Iterator[tuple[int | None, int | None]]:
    """Yield the line and the column of each place at which code, with the functions in it, reads a global name."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_NAME", "LOAD_GLOBAL") and step.positions is not None:
            yield step.positions.lineno, step.positions.col_offset
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _global_places(each)
