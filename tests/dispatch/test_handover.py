"""Arrays handed to code that takes ndarrays: one walk in the package, and the policies of a call on the host."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.lib.recfunctions as rfn
import pytest
from scipy import linalg

import arraydispatch as ad
from arraydispatch.api import creation
from arraydispatch.dispatch import host_fallback
from arraydispatch.dispatch.handover import Handover, handed, peek
from arraydispatch.functions.registry import spec_of

PACKAGE = Path(ad.__file__).parent

OTHER_WALKS = {
    # arrays become native arrays, or arrays of another backend: nothing goes to the host by it
    "array_api/module.py taken",
    "array_api/module.py given",
    "dispatch/subscripts.py _native_key",
    "dispatch/wrapping.py to_native",
    "scipy_support/array_api_functions.py ours",
    "scipy_support/python_functions.py _asarray",
    # nothing is replaced: they only look
    "dispatch/shortcuts.py _rest",
    "dispatch/subscripts.py _simplify",
    "dispatch/wrapping.py backend_among",
    "launcher/adoption.py holds_array",
    "launcher/adoption.py speaks",
    "scipy_support/__init__.py arrays_among",
    # results, not arguments
    "launcher/package_patches.py _own",
    # calls itself for another reason than a container
    "api/creation.py array",
    "dispatch/functions.py _view",
    "dispatch/subscripts.py getitem",
    "dispatch/shortcuts.py call",
    "engine/recording/call_nodes.py record",
    "engine/recording/writes.py inplace",
    "sparse/solvers/linear_operators.py one",
}
_ARRAYS = frozenset({"Handle", "Array", "SparseArray", "_cls"})


def _names(node: ast.AST) -> set[str]:
    return {
        n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))
    }


def _asks_for_arrays(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
        return bool(_names(node.args[1]) & _ARRAYS)
    return isinstance(node, ast.Compare) and any(isinstance(op, ast.Is) for op in node.ops) and "_cls" in _names(node)


def walks(source: str) -> Iterator[str]:
    """Yield the names of the functions that call themselves and ask of values whether they are arrays."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and any(map(_asks_for_arrays, ast.walk(node))):
            for inner in (part for statement in node.body for part in ast.walk(statement)):
                own = isinstance(inner, ast.Name) and inner.id == node.name
                method = isinstance(inner, ast.Attribute) and inner.attr == node.name
                if own or (method and isinstance(inner.value, ast.Name) and inner.value.id in ("self", "cls")):
                    yield node.name
                    break


def test_there_is_one_walk_that_gives_ndarrays() -> None:
    found = {
        f"{path.relative_to(PACKAGE).as_posix()} {name}"
        for path in PACKAGE.rglob("*.py")
        for name in walks(path.read_text("utf-8"))
    }
    assert found - OTHER_WALKS == set(), "replace arrays by arraydispatch.dispatch.handover.handed, with a policy"
    assert OTHER_WALKS - found == set(), "these walk no more"


def test_a_walk_of_its_own_would_be_found() -> None:
    source = "def hosted(x):\n    if isinstance(x, Handle):\n        return x._v\n    return [hosted(y) for y in x]\n"
    assert list(walks(source)) == ["hosted"]


class Many(list[Any]):
    """A list by another name."""


class Pair(NamedTuple):
    """A named tuple."""

    x: Any
    y: Any


@dataclass
class Box:
    """An object that holds an array: a leaf."""

    x: Any


@pytest.fixture
def x(backend: str) -> Any:
    return ad.asarray(np.arange(6.0).reshape(2, 3), backend=backend)


def test_containers_are_rebuilt_where_something_is_replaced_and_stay_themselves_elsewhere(x: Any) -> None:
    nested = Many([x, Pair(x, (1, "a")), {"k": [x]}])
    made = handed(nested, peek)
    assert type(made) is Many and type(made[1]) is Pair and made[1].y is nested[1].y
    assert [type(y) for y in (made[0], made[1].x, made[2]["k"][0])] == [np.ndarray] * 3
    for same in ([1, "a", None], {"k": (2, np.float64(1))}, Box(x), np.array([x, None], dtype=object), (), "a"):
        assert handed(same, peek) is same


def test_a_dict_in_an_array_of_objects_is_the_same_one(x: Any) -> None:
    held = {"x": x}
    for made in (
        creation.array([held, None]),
        creation.array(held, dtype=object),
        creation.array([[held, x[0, 0]]], dtype=object),
    ):
        assert made.dtype == object and made.ravel()[0] is held and held["x"] is x


def test_other_leaves_have_a_rule_of_their_own(x: Any) -> None:
    made = handed([x, np, {"k": 1}], lambda a: "array", lambda y: "module" if y is np else y)
    assert made == ["array", "module", {"k": 1}]


def test_what_is_read_cannot_be_written(x: Any) -> None:
    host = handed([x], Handover("a test").read)[0]
    assert not host.flags.writeable
    np.testing.assert_array_equal(host, np.arange(6.0).reshape(2, 3))
    assert x.flags.writeable


def test_what_is_shared_is_one_ndarray_that_may_be_written(x: Any) -> None:
    hand = Handover("a test")
    one, (other,) = handed(x, hand.share), handed([x], hand.share)
    assert one is other and one.flags.writeable


def test_what_is_filled_is_written_back(x: Any) -> None:
    hand = Handover("a test")
    part = x[:, 1:]
    host = handed(part, hand.fill)
    host[:] = -1
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    hand.store()
    assert x.tolist() == [[0, -1, -1], [3, -1, -1]]
    assert hand.target(host) is part and hand.target(np.zeros(2)) is None


def test_what_cannot_be_written_is_not_filled(x: Any) -> None:
    with pytest.raises(ValueError, match="read-only"):
        handed(np.broadcast_to(x[0], (2, 3)), Handover("a test").fill)


def test_a_look_is_no_transfer(x: Any) -> None:
    with ad.profile() as profile:
        handed([x, (x,)], peek)
    assert profile.transfers() == []


@pytest.mark.filterwarnings("ignore::arraydispatch.HostFallbackWarning")
@pytest.mark.parametrize("function", [np.median, np.nanmedian])
def test_a_function_asked_to_overwrite_its_input_may_write_it_on_the_host(x: Any, function: Any) -> None:
    spec_of(function)  # as the dispatch asks first: what a function overwrites is said where it is implemented
    kept, backend = x.copy(), x._kind.backend
    for args, kwargs in (((x, None, None, True), {}), ((), {"a": x, "overwrite_input": True})):
        assert host_fallback.call(function, args, kwargs, backend, "it is a test") == np.median(np.asarray(kept))
    assert np.sort(np.asarray(x).ravel()).tolist() == np.sort(np.asarray(kept).ravel()).tolist()


@pytest.mark.filterwarnings("ignore::arraydispatch.HostFallbackWarning")
@pytest.mark.parametrize(
    ("function", "keywords"),
    [
        (np.copyto, {"dst": None, "src": 7}),
        (np.place, {"arr": None, "mask": np.ones((2, 3), bool), "vals": [7]}),
        (np.put, {"a": None, "ind": range(6), "v": 7}),
    ],
)
def test_a_function_writes_on_the_host_to_an_argument_given_by_name(
    x: Any, function: Any, keywords: dict[str, Any]
) -> None:
    assert spec_of(function) is not None
    given = {name: x if value is None else value for name, value in keywords.items()}
    host_fallback.call(function, (), given, x._kind.backend, "it is a test")
    assert x.tolist() == [[7, 7, 7], [7, 7, 7]]


BROADCAST = [
    lambda a: a[0],
    lambda a: a[0, 1:],
    lambda a: np.sort(a, axis=1),
    lambda a: np.einsum("kij->i", a),
    lambda a: np.cov(a[0]),
    np.ascontiguousarray,
    lambda a: a.tolist(),
    lambda a: np.frombuffer(a.tobytes()),
    lambda a: np.correlate(a[0, 0], a[0, 1]),
    lambda a: np.apply_along_axis(lambda row: row + 1, 0, a),
    lambda a: linalg.eigh(a[0])[0],
    lambda a: linalg.expm_frechet(a[0], a[1])[0],
    lambda a: linalg.solve_continuous_are(*[a[0]] * 4),
]


@pytest.mark.filterwarnings("error")
def test_reading_broadcast_arrays_warns_of_nothing(backend: str) -> None:
    """NumPy warns who asks a result of ``np.broadcast_arrays`` whether it may be written."""
    theirs, _ = np.broadcast_arrays(2 * np.eye(3), np.ones((4, 3, 3)))
    ours, _ = np.broadcast_arrays(ad.asarray(2 * np.eye(3), backend=backend), np.ones((4, 3, 3)))
    with ad.fallback("silent"):
        for read in BROADCAST:
            np.testing.assert_allclose(np.asarray(read(ours)), np.asarray(read(theirs)), atol=1e-12)


@pytest.mark.parametrize("part", [np.s_[:], np.s_[1:], np.s_[:, ::-1]], ids=str)
def test_records_on_an_arrays_memory_are_written_as_numpys(part: Any, backend: str) -> None:
    expected = np.arange(6.0).reshape(3, 2)
    x = ad.asarray(expected.copy(), backend=backend)
    theirs, ours = (rfn.unstructured_to_structured(y[part]) for y in (expected, x))
    copied = not np.shares_memory(theirs, expected)
    assert ours.flags.writeable is (copied or ad.backend(backend).shares_with_host(x.native))
    if ours.flags.writeable:
        theirs["f1"], ours["f1"] = 9, 9
    np.testing.assert_array_equal(np.asarray(x), expected)
    x.flags.writeable = False
    assert rfn.unstructured_to_structured(x[part]).flags.writeable is copied
