"""Pytrees: nested containers of arrays, flattened and rebuilt.

Containers are lists, tuples, named tuples, dicts, dataclasses, subclasses of these, and classes passed to
:func:`register`; ``None`` is a container without children; all other objects are leaves. How to flatten a class is
determined once for each class, so a walk costs one look-up for each node.

A dataclass is rebuilt from its fields without a call of its ``__init__``, which might look at values that are not there
yet. A field whose metadata say ``static=True`` (or ``pytree_node=False``) is not a child: it belongs to the structure.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

Structure = Any
"""Everything that :func:`tree_flatten` keeps of a tree except its leaves: hashable if the keys are, equal for equal trees."""

LEAF: Structure = "*"
"""Structure of a single leaf."""


class Node(NamedTuple):
    """Functions that flatten and rebuild the containers of one class, as registered for pytrees."""

    apart: Callable[[Any], tuple[Sequence[Any], Any]]
    """Returns a container's children, and the other data needed to rebuild the container (hashable)."""
    together: Callable[[Any, list[Any]], Any]
    """Rebuilds a container from that data and the children."""
    named: Callable[[Any, Any], list[str]]
    """Returns the path of each child relative to the container: ``[0]``, ``['w']``, ``.mass``."""


def exact(value: Any) -> Any:
    """Return a key that also distinguishes values that Python calls equal: 1, 1.0 and True; 0.0 and -0.0; tuples and
    slices of these.

    The key is hashable if the value is, and for slices, which Python before 3.12 does not hash.
    """
    cls = type(value)
    if isinstance(value, float | complex):
        return cls, repr(value)
    if cls is slice:
        return cls, exact((value.start, value.stop, value.step))
    return (cls, *map(exact, value)) if issubclass(cls, tuple) else (cls, value)


def _places(children: Any, _about: Any) -> list[str]:
    return [f"[{i}]" for i in range(len(children))]


def _keys(_children: Any, about: Any) -> list[str]:
    return [f"[{key!r}]" for key in about]


def _fields(_children: Any, about: Any) -> list[str]:
    return [f".{name}" for name in about]


def _named_tuple(cls: Any) -> Node:
    return Node(lambda x: (x, cls._fields), lambda _, children: cls(*children), _fields)


def _mapping(cls: Any) -> Node:
    if issubclass(cls, defaultdict):
        return Node(
            lambda x: (list(x.values()), (x.default_factory, tuple(x))),
            lambda about, children: cls(about[0], zip(about[1], children)),
            lambda _, about: [f"[{key!r}]" for key in about[1]],
        )
    return Node(lambda x: (list(x.values()), tuple(x)), lambda keys, children: cls(zip(keys, children)), _keys)


def _dataclass(cls: Any) -> Node:
    fields = dataclasses.fields(cls)
    static = tuple(f.name for f in fields if f.metadata.get("static", False) or not f.metadata.get("pytree_node", True))
    names = tuple(f.name for f in fields if f.name not in static)
    new, put = object.__new__, object.__setattr__

    def apart(x: Any) -> tuple[Sequence[Any], Any]:
        fixed = tuple(getattr(x, name) for name in static)
        return [getattr(x, name) for name in names], (fixed, exact(fixed))

    def together(about: Any, children: list[Any]) -> Any:
        made = new(cls)
        for name, value in zip(names, children):
            put(made, name, value)  # allowed for a frozen dataclass too
        for name, value in zip(static, about[0]):
            put(made, name, value)
        return made

    return Node(apart, together, lambda _, __: [f".{name}" for name in names])


_NOTHING = Node(lambda _: ((), None), lambda _, __: None, _places)
_LIST = Node(lambda x: (x, None), lambda _, children: children, _places)
_TUPLE = Node(lambda x: (x, None), lambda _, children: tuple(children), _places)
_DICT = Node(lambda x: (list(x.values()), tuple(x)), lambda keys, children: dict(zip(keys, children)), _keys)


class _Nodes(dict[type, Node | None]):
    """Class -> functions for its instances; None for a leaf."""

    def __missing__(self, cls: type) -> Node | None:
        made = self[cls] = _node_of(cls)
        return made


def _node_of(cls: type) -> Node | None:
    if issubclass(cls, tuple):
        if hasattr(cls, "_fields"):
            return _named_tuple(cls)
        return Node(lambda x: (x, None), lambda _, children: cls(children), _places)
    if issubclass(cls, list):
        return Node(lambda x: (x, None), lambda _, children: cls(children), _places)
    if issubclass(cls, dict):
        return _mapping(cls)
    return _dataclass(cls) if dataclasses.is_dataclass(cls) else None


_NODES = _Nodes({type(None): _NOTHING, list: _LIST, tuple: _TUPLE, dict: _DICT})


def register(cls: type, apart: Callable[[Any], tuple[Sequence[Any], Any]], together: Callable[..., Any]) -> None:
    """Register a class, without its subclasses, as a container.

    ``apart(x)`` returns the children and ``about``, a hashable value that distinguishes structures; ``together(about, children)`` rebuilds
    the container and must accept any objects as children.
    """
    _NODES[cls] = Node(apart, together, _places)


def tree_map(f: Callable[[Any], Any], tree: Any) -> Any:
    """Return the tree with each leaf replaced by ``f(leaf)``."""
    cls = tree.__class__
    if cls is tuple:
        return tuple([tree_map(f, x) for x in tree])
    if cls is list:
        return [tree_map(f, x) for x in tree]
    if cls is dict:
        return {key: tree_map(f, x) for key, x in tree.items()}
    node = _NODES[type(tree)]
    if node is None:
        return f(tree)
    children, about = node.apart(tree)
    return node.together(about, [tree_map(f, x) for x in children])


_PYTHONS: frozenset[type] = frozenset({bool, int, float, complex, str, bytes, type(None), slice, type(...)})


def mapped(f: Callable[[Any], Any], x: Any, skip: frozenset[type] = _PYTHONS, dicts: bool = True) -> Any:
    """Return an argument or a result with each leaf of its lists, tuples and dicts replaced by ``f(leaf)``.

    If nothing changes, ``x`` itself is returned. Other containers are leaves: to NumPy they are objects. A list or
    tuple whose items all have types in ``skip`` is returned unchanged. If ``dicts`` is false, dicts are leaves too.
    """
    cls = type(x)  # isinstance would ask an array for its __class__
    if issubclass(cls, (list, tuple)):
        if skip.issuperset(map(type, x)):
            return x
        items = [mapped(f, y, skip, dicts) for y in x]
        for new, old in zip(items, x):
            if new is not old:
                return rebuilt(x, items, f)
        return x
    if dicts and _is_dict(cls):
        values = {key: mapped(f, y, skip) for key, y in x.items()}
        for key, new in values.items():
            if new is not x[key]:
                return values if cls is dict else _filled(x, values)
        return x
    return f(x)


def _is_dict(cls: type) -> bool:
    """Whether a class is a dict with dict's own ``items``. Other dicts are leaves, as SciPy's ``dok_matrix``, which is half made in
    ``__init__``.
    """
    return issubclass(cls, dict) and cls.items in (dict.items, OrderedDict.items)


def rebuilt(like: Any, items: list[Any], f: Callable[[Any], Any] | None = None) -> Any:
    """Return a list or tuple of the class of ``like`` with these items, without calling the class's constructor; a plain tuple if a class
    of tuples refuses the items.

    ``f`` is applied to the extra fields of SciPy's result objects.
    """
    cls = type(like)
    if cls is list:
        return items
    if cls is tuple:
        return tuple(items)
    if isinstance(like, list):
        made = copy.copy(like)
        made[:] = items
        return made
    try:
        made = tuple.__new__(cls, items)
    except TypeError:  # e.g. a class written in C that takes integers only
        return tuple(items)
    held = getattr(like, "__dict__", None)
    if held:
        more = () if f is None else getattr(cls, "_extra_fields", ())
        vars(made).update({name: mapped(f, x, frozenset()) if f and name in more else x for name, x in held.items()})
    return made


def leaves(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the values; for a list or tuple, at any depth, yield its items instead."""
    for x in values:
        if issubclass(type(x), (list, tuple)):  # isinstance would ask an array for its __class__
            yield from leaves(x)
        else:
            yield x


def first(test: Callable[[Any], Any], values: Iterable[Any]) -> Any:
    """Return the first value that passes a test, or None. Each list and tuple is tested itself, then searched."""
    for x in values:
        if test(x):
            return x
        if issubclass(type(x), (list, tuple)):
            found = first(test, x)
            if found is not None:
                return found
    return None


def _filled(like: Any, values: dict[Any, Any]) -> Any:
    made = copy.copy(like)
    made.update(values)
    return made


def tree_leaves(tree: Any) -> list[Any]:
    """Return the leaves, in the order of :func:`tree_flatten`."""
    leaves: list[Any] = []
    _flatten(tree, leaves)
    return leaves


def each_leaf(tree: Any) -> Iterator[Any]:
    """Yield the leaves in the order of :func:`tree_flatten`, also of a tree nested without limit or containing itself."""
    within: dict[int, Any] = {}
    """The containers around the next leaf, by id."""
    following: list[Iterator[Any]] = [iter((tree,))]
    """First the tree, then the remaining children of each of these containers, from the outermost to the innermost."""
    while following:
        for child in following[-1]:
            children = children_of(child)
            if children is None:
                yield child
            elif id(child) not in within:
                within[id(child)] = child
                following.append(iter(children))
                break
        else:
            following.pop()
            if within:
                within.popitem()


def tree_flatten(tree: Any) -> tuple[list[Any], Structure]:
    """Return the leaves and the structure, from which :func:`tree_unflatten` rebuilds the tree."""
    if _NODES[type(tree)] is None:
        return [tree], LEAF
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree: Any, leaves: list[Any]) -> Structure:
    cls = type(tree)
    node = _NODES[cls]
    if node is None:
        leaves.append(tree)
        return LEAF
    children, about = node.apart(tree)
    parts: list[Structure] = []
    for child in children:
        if _NODES[type(child)] is None:
            leaves.append(child)
            parts.append(LEAF)
        else:
            parts.append(_flatten(child, leaves))
    return cls, about, tuple(parts)


class _Calls(dict[int, Structure]):
    """Number of arguments of a call with neither keywords nor containers -> its structure."""

    def __missing__(self, count: int) -> Structure:
        made = self[count] = tree_flatten(((0,) * count, {}))[1]
        return made


_CALLS = _Calls()


def flatten_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Structure]:
    """Return ``tree_flatten((args, kwargs))``, with a shortcut for the common call without containers."""
    if not kwargs:
        for x in args:
            if _NODES[type(x)] is not None:
                break
        else:
            return [*args], _CALLS[len(args)]
    return tree_flatten((args, kwargs))


def unflatten_call(structure: Structure, leaves: list[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """Return the positional and keyword arguments that :func:`flatten_call` flattened to this structure, with these leaves."""
    if structure is _CALLS.get(len(leaves)):
        return leaves, {}
    args, kwargs = tree_unflatten(structure, leaves)
    return args, kwargs


def tree_unflatten(structure: Structure, leaves: Sequence[Any]) -> Any:
    """Rebuild a tree of this structure from leaves, which may be any objects."""
    return leaves[0] if structure is LEAF else _build(structure, iter(leaves))


def _build(structure: Structure, leaves: Iterator[Any]) -> Any:
    if structure is LEAF:
        return next(leaves)
    cls, about, parts = structure
    children = [next(leaves) if part is LEAF else _build(part, leaves) for part in parts]
    node = _NODES[cls]
    assert node is not None
    return node.together(about, children)


def children_of(tree: Any) -> Sequence[Any] | None:
    """Return a container's children, None for a leaf."""
    node = _NODES[type(tree)]
    return None if node is None else node.apart(tree)[0]


def leaves_of(structure: Structure) -> int:
    """Return the number of leaves of a structure."""
    return 1 if structure is LEAF else sum(map(leaves_of, structure[2]))


def parts_of(structure: Structure) -> tuple[Structure, ...]:
    """Return the structures of a container's children."""
    parts: tuple[Structure, ...] = structure[2]
    return parts


def tree_paths(tree: Any, name: str = "") -> list[str]:
    """Return the Python expression of each leaf, beginning with the tree's name: ``params['w'][0]``."""
    node = _NODES[type(tree)]
    if node is None:
        return [name]
    children, about = node.apart(tree)
    parts = zip(children, node.named(children, about))
    return [path for child, part in parts for path in tree_paths(child, name + part)]


def converted(convert: Callable[[Any], Any], result: Any) -> Any:
    """Return a result with ``convert`` applied to each leaf of its lists, tuples, dicts, dataclasses and SciPy's result objects.

    A list or tuple with an ``__init__`` of its own, and without SciPy's extra fields, is returned unchanged.
    """
    if isinstance(result, list | tuple):
        own = vars(type(result))
        if "__init__" in own and "_extra_fields" not in own:
            return result  # an object with more state than its items
        items = [converted(convert, x) for x in result]
        return rebuilt(result, items, convert)
    if _is_dict(type(result)):
        return type(result)((key, converted(convert, x)) for key, x in result.items())
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        made = copy.copy(result)
        for field in dataclasses.fields(result):
            if not field.name.startswith("_"):
                object.__setattr__(made, field.name, converted(convert, getattr(result, field.name, None)))
        return made
    return convert(result)
