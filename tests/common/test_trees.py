"""Pytrees: containers come apart and together, and a class is looked at once."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

from arraydispatch.common import pytrees
from arraydispatch.common.pytrees import LEAF, tree_flatten, tree_leaves, tree_map, tree_paths, tree_unflatten


class Point(NamedTuple):
    x: Any
    y: Any


class State(NamedTuple):
    position: Any
    velocity: Any = None


@dataclass
class Particle:
    mass: Any
    charge: Any = 0.0
    name: str = field(default="", metadata={"static": True})

    def __post_init__(self) -> None:
        if not isinstance(self.mass, float):
            raise TypeError("looked at")


@dataclass(frozen=True, slots=True)
class Frozen:
    a: Any
    b: Any


class MyList(list):
    pass


TREES = [
    1.0, None, [], (), {}, [1, 2], (1, [2, (3,)]), {"b": 1, "a": [2, None, 3]}, Point(1, Point(2, 3)), State(1),
    Particle(1.5, [2, 3], "p"), Frozen(1, {"k": Frozen(2, 3)}), OrderedDict(b=1, a=2), MyList([1, MyList()]),
    defaultdict(list, {"q": [1]}), [np.arange(3)], "text", {1: {2: {3: 4}}},
]  # fmt: skip


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_round_trip(tree):
    leaves, structure = tree_flatten(tree)
    made = tree_unflatten(structure, leaves)
    assert type(made) is type(tree)
    assert repr(made) == repr(tree)
    assert leaves == tree_leaves(tree)
    assert len(tree_paths(tree, "t")) == len(leaves)
    hash(structure)


def test_leaves_are_in_the_order_of_the_containers():
    assert tree_leaves({"b": 1, "a": (2, [3, None])}) == [1, 2, 3]


def test_equal_trees_have_equal_structures():
    def structure(tree):
        return tree_flatten(tree)[1]

    assert structure([1, {"a": 2}]) == structure([8, {"a": 9}])
    assert structure([1]) != structure((1,))
    assert structure({"a": 1}) != structure({"b": 1})
    assert structure(None) != structure(1) == LEAF
    assert structure(Particle(1.0, name="p")) != structure(Particle(1.0, name="q"))
    assert structure(Point(1, 2)) != structure(State(1, 2))


def test_unflatten_takes_whatever_stands_for_a_leaf():
    _, structure = tree_flatten(Particle(1.0))
    made = tree_unflatten(structure, [object(), None])
    assert type(made) is Particle
    assert made.charge is None


def test_map_visits_every_leaf_and_keeps_the_containers():
    tree = {"p": Particle(1.0, (2, 3)), "q": [Point(4, None)]}
    made = tree_map(lambda x: x * 10, tree)
    assert made == {"p": Particle(10.0, (20, 30)), "q": [Point(40, None)]}
    assert tree["p"].charge == (2, 3)


def test_map_of_a_leaf_is_the_function():
    assert tree_map(str, 3) == "3"


def test_types_of_dataclasses_are_leaves():
    assert tree_leaves([Particle, Point]) == [Particle, Point]


def test_default_factories_survive():
    made = tree_map(lambda x: x, defaultdict(list, {"q": 1}))
    assert made["new"] == []


def test_paths_read_as_python():
    tree = [{"w": 1}, Point(2, 3), Particle(4.0, (5,))]
    assert tree_paths(tree, "x") == ["x[0]['w']", "x[1].x", "x[1].y", "x[2].mass", "x[2].charge[0]"]


def test_registered_classes_are_containers():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    assert tree_leaves(Pair(1, 2))[0].__class__ is Pair
    pytrees.register(Pair, lambda p: ((p.a, p.b), "about"), lambda about, children: Pair(*children))
    made = tree_map(lambda x: x + 1, [Pair(1, (2, 3))])
    assert (made[0].a, made[0].b) == (2, (3, 4))


def test_a_dict_with_items_of_its_own_is_a_leaf():
    class Table(dict):
        def items(self):
            return self.made  # by an `__init__` that has yet to run

    table, ordered = Table(), OrderedDict(a=1, b=(2,))
    assert pytrees.mapped(lambda x: x, table) is table
    assert pytrees.mapped(lambda x: x + 1, ordered, frozenset()) == {"a": 2, "b": (3,)}
    assert pytrees.converted(lambda x: x, table) is table
