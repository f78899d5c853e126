"""Whose a line is, and how it is named for a person: by its file, or by its cell of a notebook.

Whoever looks at callers' frames asks here: :func:`is_core` of this package and NumPy, :func:`is_library` of all that is no
program's, :func:`outside` for the first frame that is neither. A run of the launcher knows more, which folders are the
program's, and says so by :class:`arraydispatch.launcher.user_files.UserFiles`.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from types import CodeType, FrameType

__all__ = [
    "INSTALLED", "NUMPYS", "OURS", "cell_of", "is_core", "is_installed", "is_library", "is_ours", "is_users", "line_of",
    "number_cells",
    "outside", "place_of", "shown", "straight",
]  # fmt: skip

OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""The folder of this package."""
_PACKAGE = __name__.partition(".")[0]
_AS_COMPILED = f"{_PACKAGE}/", f"{_PACKAGE}{os.sep}"
"""How files of compiled modules begin to be named, wherever they are."""

_numpy = find_spec("numpy")
NUMPYS = os.path.join(os.path.dirname(os.path.abspath(str(_numpy.origin if _numpy else ""))), "")
"""The folder of NumPy, which this does not import: a process may have no use for it."""

INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Names of folders of installed packages."""

_STANDARD = sysconfig.get_path("stdlib") + os.sep
_FOLDERS = tuple(f"{os.sep}{name}{os.sep}" for name in sorted(INSTALLED))
_GENERATED = ("<frozen ", "<__array_function__")
"""How code begins to be named that Python has within itself, or NumPy makes."""


def is_ours(file: str) -> bool:
    """Whether a file is this package's."""
    return file.startswith((OURS, *_AS_COMPILED))


def is_core(file: str) -> bool:
    """Whether a file is this package's or NumPy's."""
    return file.startswith((OURS, NUMPYS, *_AS_COMPILED))


def is_installed(file: str) -> bool:
    """Whether a file is an installed package's."""
    return any(folder in file for folder in _FOLDERS)


@cache
def is_library(file: str) -> bool:
    """Whether a file belongs to this package, to an installed one, or to Python. Code without a file is a program's."""
    return file.startswith((OURS, NUMPYS, _STANDARD, *_AS_COMPILED, *_GENERATED)) or is_installed(file)


def is_users(frame: FrameType) -> bool:
    """Whether a frame runs a line of a program's. Code from a string is one where it is the program itself (``python -c``)."""
    file = frame.f_code.co_filename
    return not is_library(file) and (file != "<string>" or frame.f_globals.get("__name__") == "__main__")


def outside(frame: FrameType, inside: Callable[[str], bool]) -> tuple[FrameType, int]:
    """The first frame, going out, whose file is not ``inside``, and how many are; the outermost one if all are."""
    count = 0
    while inside(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
        count += 1
    return frame, count


_number: Callable[[str], str | None] = lambda _file: None


def place_of(code: CodeType, instruction: int) -> tuple[str, int, str]:
    """File, line and function of an instruction."""
    return straight(code.co_filename), line_of(code, instruction), code.co_qualname


def line_of(code: CodeType, instruction: int) -> int:
    """The line of an instruction."""
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return line
    return code.co_firstlineno


def straight(file: str) -> str:
    """A path without detours: that of a script started as ``../script.py`` has one."""
    return os.path.realpath(file) if os.pardir in file.split(os.sep) else file


def number_cells(number: Callable[[str], str | None]) -> None:
    """Have files that are cells named by their number; ``number`` says it of a file name, None where it is no cell."""
    global _number
    _number = number


def cell_of(file: str) -> str | None:
    """``"cell 7"``, of the file name that a notebook's cell goes by."""
    number = _number(file)
    return None if number is None else f"cell {number}"


def shown(file: str, line: int, shorten: Callable[[str], str] = os.fspath) -> str:
    """``file:line``, or ``cell 7, line 3``."""
    cell = cell_of(file)
    return f"{shorten(file)}:{line}" if cell is None else f"{cell}, line {line}"
