"""The English of the docstrings as a test: none begins with a question word or with "of"."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "arraydispatch"

PACKAGES = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))

_OPENING = re.compile(r"(What|Who|Whose|Whom|Where|Which|How|Of|As of)\b")

_CONTAINERS = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring: of modules, classes, functions, and of the names assigned in them."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _CONTAINERS):
            before: ast.stmt | None = None
            for statement in node.body:
                value = statement.value if isinstance(statement, ast.Expr) else None
                documented = before is None or isinstance(before, ast.Assign | ast.AnnAssign)
                if documented and isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield statement.lineno, value.value.strip()
                before = statement


def offences(source: str) -> list[tuple[int, str]]:
    """Return the line and the first line of each docstring that begins with a word of :data:`_OPENING`."""
    return [(line, text.splitlines()[0]) for line, text in docstrings(source) if _OPENING.match(text)]


@pytest.mark.parametrize("package", [*PACKAGES, "."])
def test_docstrings_begin_with_a_verb_or_a_noun(package: str) -> None:
    files = sorted((PACKAGE / package).rglob("*.py") if package != "." else PACKAGE.glob("*.py"))
    assert files
    found = [
        f"{file.relative_to(PACKAGE.parent)}:{line}: {text}"
        for file in files
        for line, text in offences(file.read_text("utf-8"))
    ]
    assert not found, "\n".join(["begin with a verb (function) or a noun (class, constant, module):", *found])


OFFENDING = '''"""What a module holds."""
x = 1
"""Of a number."""

class A:
    """Whose class this is."""

    y: int = 2
    """As of ``x``."""

    def __init__(self):
        """Who makes one."""
        self.z = 3
        """Where it is."""

    async def f(self):
        """
        How it waits.
        """
'''


def test_each_kind_of_docstring_is_found() -> None:
    assert [line for line, _ in sorted(offences(OFFENDING))] == [1, 3, 6, 9, 12, 14, 17]


@pytest.mark.parametrize(
    "text", ["Whether it is", "Offset of a view", "However it is", "As ``ndarray.sum``", "Whatever"]
)
def test_other_words_that_begin_alike_are_allowed(text: str) -> None:
    assert not offences(f'"""{text}."""\n')


def test_other_strings_are_no_docstrings() -> None:
    assert not offences('"""A module."""\nx = "What"\nprint("Who")\n"Where"\n')
