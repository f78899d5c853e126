"""Arrays in containers of the caller's own classes: whatever NumPy takes for a sequence, a shape or axes."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.common import pytrees
from arraydispatch.launcher import adoption
from arraydispatch.runtime import settings
from tests import differential
from tests.launched import Zygotes
from tests.rows import each

if TYPE_CHECKING:
    from typing import Self


class Many(list[Any]):
    """A list by another name, which wants to be told more."""

    def __init__(self, items: Any, label: str = "") -> None:
        super().__init__(items)
        self.label = label


class Shape(tuple[int, ...]):
    """A tuple that is made of one sequence of integers, as torch.Size is."""

    __slots__ = ()

    def __new__(cls, items: Any) -> Self:
        if not all(isinstance(x, int) for x in items):
            raise TypeError("a shape is made of integers")
        return super().__new__(cls, items)


class Pair(NamedTuple):
    """A named tuple."""

    x: Any
    y: Any


class Doubled(Pair):
    """A named tuple that is made of one value."""

    __slots__ = ()

    def __new__(cls, x: Any) -> Self:
        return super().__new__(cls, x, x)


NAMES = {"Many": Many, "Shape": Shape, "Pair": Pair, "Doubled": Doubled}

PROGRAMS = [
    "r = np.concatenate(Many([x, x]))", "r = np.stack(Pair(x, x))", "r = np.vstack(Doubled(x))", "r = np.block(Many([x, x]))",
    "r = np.concatenate(Many([x, x]), axis=None, out=np.tile(x.ravel(), 2))", "r = np.hstack([Many(x), x])",
    "r = np.reshape(x, Shape((4, 3)))", "r = x.reshape(Shape((4, 3)))", "r = np.sum(x, axis=Shape((0, 1)))",
    "r = np.transpose(x, Shape((1, 0)))", "r = np.add(x, Many([1, 2, 3, 4]))", "r = x + Pair(x[:1], x[1:2])[0]",
    "r = x[Shape((1, 2))]", "r = x[Many([0, 2])]", "r = x[Pair(1, 2)]", "x[Pair(1, slice(None))] = Many([1, 2, 3, 4])",
    "r = np.select(Many([x > 3, x > 1]), Pair(x, -x))", "r = np.linalg.multi_dot(Many([x, x.T, x]))",
    "r = [v + 0 for v in np.broadcast_arrays(*Pair(x, x[0]))]", "r = np.split(x, Many([1, 2]))", "r = np.zeros_like(x, shape=Shape((2,)))",
    "r = np.pad(x, Pair((1, 1), (0, 2)))", "r = np.tile(x, Shape((2, 1)))", "r = np.roll(x, Shape((1, 2)), Shape((0, 1)))",
    "r = np.einsum('ij,kj', *Doubled(x))", "r = np.tensordot(x, x, axes=Pair(Many([0]), Many([0])))",
    "r = np.stack(Many(Doubled(x)))", "r = np.ix_(Many([0, 1]), i)",
    "r = np.moveaxis(t, Shape((0, 1)), Shape((1, 2)))",
    "r = np.histogramdd(Many([x[0], x[1]]), bins=Shape((2, 2)))", "r = np.lexsort(Doubled(i))",
    "r = np.unravel_index(i, Shape((2, 3)))", "r = np.choose(i[:2], Many([i[:2], i[2:4]]))",
    "r = np.ravel_multi_index(Pair(i, i), Shape((6, 6)))", "r = np.array2string(x).count('.')", "np.put(x, Many([0, 1]), Pair(7, 8))",
    "r = np.insert(x, Many([0, 1]), Many([9, 9, 9, 9]), axis=0)", "r = np.median(x, axis=Shape((0, 1)))",
]  # fmt: skip


@each("program", PROGRAMS)
def test_program(backend: str, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differential, "MODULES", {**differential.MODULES, **NAMES})
    differential.check(program, backend)


@each("program", PROGRAMS)
def test_program_on_the_host(backend: str, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On values in the host state."""
    monkeypatch.setattr(settings.default, "min_size", 1 << 20)

    def run(make: Any) -> tuple[Any, Any]:
        scope = {"np": np, **NAMES, **{name: make(value) for name, value in differential.arrays().items()}}
        exec(program, scope)
        return scope.get("r"), scope["x"]

    theirs = run(lambda value: value)
    with ad.backend(backend), ad.fallback("silent"):
        ours = run(ad.asarray)
    for found, expected in zip(ours, theirs):
        parts = zip(found, expected, strict=True) if isinstance(expected, list | tuple) else [(found, expected)]
        for a, b in parts:
            assert np.array_equal(np.asarray(a), np.asarray(b), equal_nan=np.asarray(b).dtype.kind == "f"), program


BUNCHES: list[Any] = [
    [1, [2, 3]], (1, (2, 3)), Many([1, 2], "a"), Shape((1, 2)), Pair(1, [2]), Doubled(1), {"a": 1, "b": (2, 3)}, [], (), 5,
]  # fmt: skip


@each("x", BUNCHES)
def test_what_does_not_change_stays_itself(x: Any) -> None:
    assert pytrees.mapped(lambda leaf: leaf, x, frozenset()) is x


@each("x", BUNCHES)
def test_what_changes_is_of_its_class(x: Any) -> None:
    made = pytrees.mapped(lambda leaf: leaf + 1, x, frozenset())
    assert type(made) is type(x)
    assert made == pytrees.tree_map(lambda leaf: leaf + 1, x) if type(x) is not Doubled else made == (2, 2)
    assert getattr(made, "label", None) == getattr(x, "label", None)


def test_shape_with_something_else() -> None:
    """A tuple that may not hold what comes in becomes a plain one."""
    size = pytest.importorskip("torch").Size((1, 2))
    assert pytrees.mapped(int, size, frozenset()) is size
    assert pytrees.mapped(str, size, frozenset()) == ("1", "2")


def test_results_of_scipy() -> None:
    """A named tuple that holds more than its items."""
    bunch = pytest.importorskip("scipy._lib._bunch")
    cls = bunch._make_tuple_bunch("Result", ["x", "y"], ["z"])
    made = pytrees.mapped(lambda leaf: leaf * 2, cls(1, 2, z=3), frozenset())
    assert (type(made), tuple(made), made.z) == (cls, (2, 4), 6)


@each(
    "make",
    [Many, Pair._make, lambda items: defaultdict(int, enumerate(items)), lambda items: OrderedDict(enumerate(items))],
)
def test_libraries_get_ndarrays_in_whatever_holds_them(backend: str, make: Any) -> None:
    with ad.backend(backend):
        given = make([ad.asarray(np.arange(3.0)), Pair(1, ad.asarray(np.ones(2)))])
    made = adoption.to_host(given)
    first, second = made.values() if isinstance(made, dict) else made
    assert type(made) is type(given)
    assert (type(first), first.tolist(), type(second), second.y.tolist()) == (np.ndarray, [0, 1, 2], Pair, [1, 1])
    assert adoption.to_host(made) is made


_ENDLESS = [
    "x + y", "y - x", "np.add(x, y)", "np.concatenate([x, y])", "np.where(x > 1, x, y)", "x.__setitem__(0, y)", "x.__setitem__(slice(None), y)",
    "x[y]", "np.stack([x, y])", "np.dot(x, y)", "np.isin(x, y)", "x == y", "np.take(x, y)", "np.put(x, [0], y)", "np.insert(x, 0, y)",
    "np.meshgrid(x, y)", "x.__setitem__(y, 1)",
]  # fmt: skip


@pytest.mark.parametrize("call", _ENDLESS)
def test_a_list_that_holds_itself(call: str, backend: str) -> None:
    """Is NumPy's error, not the end of the stack."""
    alone: list[Any] = []
    alone.append(alone)
    beside: list[Any] = [1]
    beside.append(beside)
    for y in (alone, beside):
        with pytest.raises(ValueError, match="setting an array element with a sequence"):
            eval(call, {"np": np, "x": np.arange(3.0), "y": y})
        with pytest.raises(ValueError, match="setting an array element with a sequence"):
            eval(call, {"np": np, "x": ad.asarray([0.0, 1.0, 2.0], backend=backend), "y": y})


LAUNCHED = """\
import sys
import numpy as np

for call in sys.argv[1:]:
    for items in ([], [1]):
        x, y = np.arange(3.0), items
        y.append(y)
        try:
            eval(call)
        except ValueError as error:
            print(call, str(error)[:44])
"""


def test_a_list_that_holds_itself_under_the_launcher(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """The compiled core calls itself without a look at the stack, so it has a depth of its own."""
    (tmp_path / "main.py").write_text(LAUNCHED)
    plain = zygotes.plain.run("main.py", *_ENDLESS, cwd=tmp_path)
    assert plain.stdout.count("setting an array element with a sequence") == 2 * len(_ENDLESS)
    done = zygotes.of(backend).run("main.py", *_ENDLESS, cwd=tmp_path)
    assert (done.code, done.stdout) == (0, plain.stdout), done.stderr


DEEP = """\
import numpy as np

x = np.arange(3.0)
for kind in (tuple, list):
    deep = 1.0
    for _ in range(200_000):
        deep = kind((deep,))
    for call in (lambda: np.sum(x, axis=deep), lambda: np.array(deep), lambda: x + deep, lambda: np.full(3, deep), lambda: x[deep]):
        try:
            call()
        except (ValueError, TypeError, IndexError, RecursionError):
            print("an error")
"""


def test_what_is_nested_deeper_than_the_stack(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    """Is an error, not the end of the process."""
    (tmp_path / "main.py").write_text(DEEP)
    for least in ("0", "262144"):
        done = zygotes.of(backend).run("main.py", cwd=tmp_path, options=("--min-size", least))
        assert (done.code, done.stdout) == (0, "an error\n" * 10), done.stderr
