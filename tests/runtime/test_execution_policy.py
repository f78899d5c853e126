"""The policy of execution: one function for each question, every outcome, and the one switch of the default."""

from __future__ import annotations

import re
from typing import Any

import pytest

import arraydispatch as ad
from arraydispatch.backends import loader
from arraydispatch.runtime import settings
from arraydispatch.runtime.execution_policy import ACCELERATOR_FROM, CPU_FROM, Policy, Shapes, defaults
from tests.launched import Zygotes

LARGE = 1 << 20


def test_a_library_compiles_and_numpy_fuses() -> None:
    assert defaults(True, True) == Policy("compiled", CPU_FROM)
    assert defaults(True, False) == Policy("compiled", ACCELERATOR_FROM)
    assert defaults(True, True, compiles=False) == Policy(None, CPU_FROM)
    assert defaults(True, False, compiles=False) == Policy("compiled", ACCELERATOR_FROM)
    assert defaults(False, True) == Policy("fused", CPU_FROM)


def test_what_is_asked_for_overrides_the_defaults() -> None:
    assert defaults(True, True, min_size=7) == Policy(None, 7)
    assert defaults(True, True, "fused", 7) == Policy("fused", 7)
    assert defaults(True, True, "eager", 7) == Policy("eager", 0)
    assert defaults(True, True, calls=True) == defaults(False, True, calls=True) == Policy(None, CPU_FROM)


@pytest.mark.one_backend
def test_use_under_the_policy_takes_the_librarys_defaults(backend: str) -> None:
    before = settings.default.backend
    with settings.kept():
        settings.default.change(by_policy=True, min_size=CPU_FROM)
        settings.set_execution("fused")
        ad.use(backend)
        library = backend != "numpy"
        compiled = "compiled" if loader.compiles_on_cpu(backend) else None
        assert settings.default.execution == (compiled if library else "fused")
        assert settings.default.min_size == CPU_FROM
        ad.use(execution="fused")
        ad.use(before)
        assert settings.default.execution == "fused"


@pytest.mark.one_backend
def test_a_named_library_computes_large_arrays(backend: str, zygotes: Zygotes, tmp_path: Any) -> None:
    (tmp_path / "main.py").write_text(
        f"import numpy as np\nx = np.ones({CPU_FROM} + 4_000)\nfor _ in range(20):\n    x = x * 0.5 + 1\n"
        "y = np.ones(9)\nfor _ in range(30):\n    y = y * 0.5 + 1\nprint(x[0], y[0])\n"
    )
    done = zygotes.of(backend).run("main.py", cwd=tmp_path)
    assert done.code == 0, done.stderr
    first = done.stderr.splitlines()[0]
    if backend == "numpy":
        assert first.startswith("arraydispatch: NumPy computed everything: ")
    else:
        assert re.match(f"arraydispatch: {backend} computed (more than )?(9|100 %)", first)
        assert "NumPy computed " in first and f"calls on arrays of fewer than {CPU_FROM:,} elements" in first


def test_shapes_that_come_again_are_told_from_those_that_change() -> None:
    shapes = Shapes()
    first = [(1000 + n, 7) for n in range(Shapes.FIRST)]
    assert all(map(shapes.recurs, first))
    assert not any(shapes.recurs((2000 + n, 7)) for n in range(30_000))
    assert shapes.changing == 30_000
    assert all(map(shapes.recurs, first))
    assert shapes.recurs((3000,))  # of another number of dimensions
    again = [(5000 + n, 7) for n in range(20)]
    for _ in range(Shapes.OFTEN - 1):  # a loop over them, which begins anew each time
        assert not any(map(shapes.recurs, again))
    assert all(map(shapes.recurs, again))
    shapes.refused([*first, *again[:5]])
    assert not any(map(shapes.recurs, again[:5]))
    assert all(map(shapes.recurs, [*first, *again[5:]]))


def test_a_shape_is_the_hosts_where_its_arrays_move_there_again_and_again() -> None:
    shapes = Shapes()
    assert all(map(shapes.recurs, [(500, 400), (600, 400)]))
    for _ in range(Shapes.MOVES):
        shapes.computed([((500, 400), Shapes.PAYS - 1), ((600, 400), Shapes.PAYS + 1)], 20)
        assert shapes.recurs((500, 400))
        shapes.moved((500, 400))
        shapes.moved((600, 400))  # of which the library computes a lot between two moves
    assert shapes.recurs((600, 400))
    waits = []
    for _ in range(3):  # asked about often enough it is the library's again, and each time it takes longer
        waits.append(0)
        while not shapes.recurs((500, 400)):
            waits[-1] += 1
        assert not shapes.given_back
        for _ in range(Shapes.MOVES):
            shapes.moved((500, 400))
    assert waits[0] >= Shapes.OFTEN
    assert waits[1] > 3 * waits[0]
    assert waits[2] > 3 * waits[1]
    shapes.moved((7, 7))  # which was never the library's
    assert list(shapes.given_back) == [(500, 400)]


def test_a_shape_that_is_computed_with_no_more_is_given_back_all_the_same() -> None:
    shapes = Shapes()
    assert shapes.recurs((500, 400))
    shapes.computed([((500, 400), 10_000)], 20_000)
    for _ in range(100):
        shapes.moved((500, 400))
    assert (500, 400) in shapes.given_back


def test_shapes_that_values_decide_do_not_recur() -> None:
    shapes = Shapes()
    shapes.decided_by_values((1000,))
    assert not any(shapes.recurs((1000,)) for _ in range(200))
    assert shapes.recurs((1001,))
    shapes.decided_by_values((1001,))
    assert shapes.recurs((1001,))  # other arrays have it
    for n in range(5000):
        shapes.decided_by_values((n, 2))
    assert len(shapes._by_values) <= 1024


def test_there_is_a_bound_on_the_shapes_of_one_number_of_dimensions() -> None:
    shapes = Shapes()
    many = [(n,) for n in range(1000)]
    for _ in range(3):
        for shape in many:
            shapes.recurs(shape)
    assert sum(map(shapes.recurs, many)) <= Shapes.MOST


def test_a_shape_that_is_copied_to_the_library_for_little_work_is_the_hosts() -> None:
    shapes = Shapes()
    little, enough, never = (400, 400), (400, 500), (7, 7)
    assert shapes.recurs(little) and shapes.recurs(enough)
    for _ in range(Shapes.TAKEN):
        assert not shapes.given_back
        for shape, work in ((little, 1), (enough, 2 * Shapes.COPIED)):
            shapes.taken(shape, 8 * 160_000)
            shapes.computed([(shape, 10)], work * 160_000)
        shapes.taken(never, 8)  # which was never the library's
    shapes.taken(little, 8 * 160_000)
    assert set(shapes.given_back) == {little}
