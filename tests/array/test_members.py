"""The members of ndarray are listed once, in :mod:`arraydispatch.common.members`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch import fastpath
from arraydispatch._core import handles
from arraydispatch.common.members import FORMED, MEMBERS, OPERATORS, REDUCTIONS, operator_of, reflected_name
from arraydispatch.engine.recording import reductions

PACKAGE = Path(ad.__file__).parent
TABLE = "common/members.py"
OTHER_LISTS = {
    "array/general_forms.py": "methods that NumPy has written with ufuncs",
    "engine/compiled_blocks/values.py": "properties of an abstract value",
    "engine/host_blocks/kernel_source.py": "instructions",
    "fastpath/__init__.py": "builders of the members that have one of their own",
    "fastpath/recorded.py": "builders of the members that have one of their own",
    "interop/scipy_stand_ins.py": "methods of SciPy's matrices",
    "launcher/numpy_classes.py": "members of the class itself",
    "launcher/package_patches.py": "methods of any class",
    "testing/backend.py": "calls that the kit tries",
    "ufuncs/lanes.py": "reductions that are computed by columns",
}
"""Files with a list that looks like one of ndarray's members, and what it lists."""
LEAST = 4
"""Names that make a list."""

_WORDS = {name for name in MEMBERS if not name.startswith("__")} | {name.strip("_") for name in MEMBERS}


def _names(node: ast.AST) -> list[str]:
    """Return the names that a literal lists: of a collection, or of a text that is split."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"[\w\s]+", node.value):
        return node.value.split()
    listed = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
    return [str(getattr(x, "value", "?")) if isinstance(x, ast.Constant) else getattr(x, "attr", "?") for x in listed]


def lists(source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the names of each list of members; one that names what its statement assigns is none."""
    tree = ast.parse(source)
    defines: dict[ast.AST, set[str]] = {}
    for statement in ast.walk(tree):
        if isinstance(statement, ast.Assign):
            parts = [x for target in statement.targets for x in ast.walk(target)]
            targets = {getattr(x, "id", getattr(x, "attr", "")).strip("_") for x in parts}
            defines |= dict.fromkeys([*ast.walk(statement.value), *parts], targets)
    for node in ast.walk(tree):
        names = [name.strip("_") for name in _names(node)]
        known = _WORDS.intersection(names)
        if len(known) >= LEAST and len(known) >= 0.7 * len(names) and not known <= defines.get(node, set()):
            yield getattr(node, "lineno", 0), names


def test_members_are_listed_once() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): made
        for path in sorted(PACKAGE.rglob("*.py"))
        if (made := list(lists(path.read_text("utf-8"))))
    }
    assert found.keys() - OTHER_LISTS.keys() == {TABLE}, found
    assert not OTHER_LISTS.keys() - found.keys(), "no longer a list"


@pytest.mark.parametrize(
    "source",
    [
        'x = "add sub mul truediv".split()',
        'x = {"__add__": 1, "__sub__": 2, "__mul__": 3, "__matmul__": 4}',
        "x = map(f, (operator.eq, operator.ne, operator.lt, operator.le))",
        'for x in ("sum", "mean", "var", "std"): pass',
    ],
)
def test_a_list_is_found(source: str) -> None:
    assert list(lists(source))


def test_what_a_class_defines_is_no_list() -> None:
    assert not list(lists('astype, copy, conj, view = map(f, ("astype", "copy", "conj", "view"))'))


def test_each_member_has_a_row() -> None:
    ndarrays = {name for name in dir(np.ndarray) if getattr(np.ndarray, name) is not getattr(object, name, None)}
    assert MEMBERS.keys() - ndarrays <= {"__buffer__"}  # from Python 3.12 on
    assert ndarrays <= MEMBERS.keys()
    absent = {name for name, row in MEMBERS.items() if row.form == "absent"}
    assert {name for name in MEMBERS if not hasattr(ad.Array, name)} - {"__buffer__"} == absent - {"__array_wrap__"}
    assert all(MEMBERS[name].reason for name in absent)


def test_each_form_is_of_the_table() -> None:
    general, recorded, thin = (set(forms) for forms in (handles.general, *fastpath._FORMS[1:]))
    assert general == handles.SLOTS | FORMED
    assert recorded == {name for name, row in MEMBERS.items() if row.recorded}
    assert thin == recorded | {name for name, row in MEMBERS.items() if row.thin}
    for name in thin - recorded:
        assert fastpath._FORMS[2][name] is not handles.general[name]
    for name in REDUCTIONS:
        x = ad.asarray(np.ones(3))
        assert reductions.reduced(name, x, (3, 4, 5, 6, 7, 8), {}, False) is None  # it knows the name, and declines


@pytest.mark.parametrize("ufunc", OPERATORS, ids=lambda ufunc: ufunc.__name__)
def test_operators_call_their_ufunc(ufunc: np.ufunc) -> None:
    row = OPERATORS[ufunc]
    x, y = np.array([[7, 2], [9, 4]]), np.array([[3, 2], [1, 2]])
    operands = (x,) if row.form == "unary" else (x, y)
    expected = ufunc(*operands)
    np.testing.assert_array_equal(getattr(np.ndarray, row.name)(*operands), expected)
    ours = [ad.asarray(operand) for operand in operands]
    np.testing.assert_array_equal(getattr(ours[0], row.name)(*ours[1:]), expected)
    if row.form != "unary":
        np.testing.assert_array_equal(operator_of(ufunc)(*operands), expected)
        np.testing.assert_array_equal(getattr(ours[1], reflected_name(ufunc))(ours[0]), expected)
