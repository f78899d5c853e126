"""Names in the advice about ndarrays are resolved in their scope."""

from __future__ import annotations

import pytest

from arraydispatch.launcher.uncounted_work import _operations


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("f * 2", [1]),
        ("def g(f):\n    return f + 1", []),
        ("def g(*f):\n    return f + 1", []),
        ("def g():\n    f = 3\n    return f * 2", []),
        ("def g():\n    return f - 1", [2]),
        ("def g():\n    global f\n    f += 1", [3]),
        ("def g(f):\n    def inner():\n        return f * 3\n    return inner", []),
        ("def g():\n    import f\n    return -f", []),
        ("[f * 2 for f in x]", []),
        ("q = lambda f: f.sum()", []),
        ("class C:\n    def f(self):\n        return f * 5", [3]),
        ("for f in x:\n    f.mean()", [2]),
    ],
)
def test_a_name_of_a_functions_own_is_not_the_modules(source: str, lines: list[int]) -> None:
    assert list(_operations(source)) == [("f", line) for line in lines]
