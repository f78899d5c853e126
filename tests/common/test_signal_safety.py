"""What an exception from a signal's handler finds in our code."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "arraydispatch"


def test_loops_that_are_guarded_have_no_condition() -> None:
    """On Python 3.13 the jump back of ``while condition:`` inside ``try`` or ``with`` is in no range of the exception table, and handlers of
    signals run there: a lock would stay held (https://github.com/python/cpython/issues/130279).
    """
    found = []

    def look(node: ast.AST, guarded: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.While) and guarded and not isinstance(child.test, ast.Constant):
                found.append(f"{path.relative_to(PACKAGE)}:{child.lineno}")
            inside = not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda)
            look(child, inside and (guarded or isinstance(child, ast.Try | ast.TryStar | ast.With | ast.AsyncWith)))

    for path in PACKAGE.rglob("*.py"):
        look(ast.parse(path.read_text(encoding="utf-8")), guarded=False)
    assert found == []
