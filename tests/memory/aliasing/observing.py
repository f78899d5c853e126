"""Which results of a call share memory with which of its arguments, found out by writing to the one and looking at the other.

This runs in several worlds: on NumPy itself, on arrays of ours as a library has them, and as a part of a script under the
launcher. So it imports nothing of ours, and ``np`` is what the world calls so; NumPy's own module only makes values.
"""

from __future__ import annotations

import copy
import itertools
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

_numpy: Any = sys.modules["numpy"]
"""NumPy's own, under the launcher too."""


class Case(NamedTuple):
    """One call on one kind of operands: an expression over ``np`` and the names of :func:`operands`."""

    call: str
    dtype: str = "d"
    shape: tuple[int, ...] = (3, 4)
    layout: str = "whole"
    values: str = "any"

    def __str__(self) -> str:
        return f"{self.call} with {self.dtype}{list(self.shape)} {self.layout}"


@dataclass(frozen=True)
class World:
    """Where calls run.

    Parameters
    ----------
    np : module
        What expressions call ``np``.
    make : callable
        An array of this world with the values and the memory order of an ndarray.
    kinds : tuple of type
        What arrays are instances of.
    """

    np: Any
    make: Callable[[Any], Any]
    kinds: tuple[type, ...]


# -- operands ------------------------------------------------------------------------------------------------------------


def _values(dtype: str, shape: tuple[int, ...], values: str, salt: int) -> Any:
    """Values that any function takes: no two neighbours are equal, none is odd."""
    size = math.prod(shape)
    line = (_numpy.arange(size) * 7 + salt * 3) % 11
    kind = _numpy.dtype(dtype).kind
    if values == "definite":
        n = shape[-1]
        base = (line.reshape(shape) - 5.0) / 7
        made = base @ _numpy.swapaxes(base, -1, -2) + (n + 1) * _numpy.eye(n)
        return made.astype(dtype)
    if kind == "b":
        return (line % 2 == 0).reshape(shape)
    if values == "count" or kind == "u":
        line = line % 5
    elif values == "unit":
        line = (line - 5) / 6
    elif values == "positive":
        line = line + 0.5 if kind in "fc" else line + 1
    else:
        line = line - 4 + (0.25 if kind in "fc" else 0)
    made = line + 1j * (line[::-1] + 1) if kind == "c" else line
    return made.astype(dtype).reshape(shape)


def _strided(x: Any) -> Any:
    return _numpy.repeat(x, 2, axis=-1)


def _window(x: Any) -> Any:
    return _numpy.concatenate([x[-1:], x, x[:1]])


def _pair(x: Any) -> Any:
    return x + 1j * (x + 1)


def _read_only(root: Any, world: World) -> Any:
    seen = root[...]
    seen.flags.writeable = False
    return seen


def _same(x: Any) -> Any:
    return x


LAYOUTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, World], Any], str]] = {
    "whole": (_numpy.ascontiguousarray, lambda root, world: root, ""),
    "fortran": (_numpy.asfortranarray, lambda root, world: root, ""),
    "strided": (_strided, lambda root, world: root[..., ::2], "n"),
    "window": (_window, lambda root, world: root[1:-1], "n"),
    "transposed": (lambda x: _numpy.ascontiguousarray(x.T), lambda root, world: root.T, ""),
    "reversed": (lambda x: _numpy.ascontiguousarray(x[::-1]), lambda root, world: root[::-1], "n"),
    "reshaped": (lambda x: x.ravel(), None, ""),
    "read-only": (_numpy.ascontiguousarray, _read_only, ""),
    "broadcast": (lambda x: _numpy.ascontiguousarray(x[:1]), None, "n"),
    "part": (_pair, lambda root, world: root.real, "f"),
    "row": (lambda x: _numpy.stack([x, x]), lambda root, world: root[1], "n"),
}  # type: ignore[assignment]
"""Name -> what owns the memory for given values, the operand of what owns it, and what it needs: rank (n) or floats (f)."""


def _laid(root: Any, layout: str, shape: tuple[int, ...], world: World) -> Any:
    if layout == "reshaped":
        return root.reshape(shape)
    if layout == "broadcast":
        return world.np.broadcast_to(root, shape)
    return LAYOUTS[layout][1](root, world)


def operands(case: Case) -> dict[str, tuple[Any, tuple[int, ...], str]]:
    """Name -> what owns the memory, as an ndarray; shape and layout of the operand.

    ``a`` and ``b`` are of the case's dtype and shape; ``r`` is a row that broadcasts against them, ``v`` a sorted line, ``m`` a
    mask, ``w`` positive weights, ``k`` indices into the first axis, ``out`` an array for a result of their shape, ``o`` one of
    the shape of a row.
    """
    shape = case.shape
    line = shape[-1:]
    made = {
        "a": _values(case.dtype, shape, case.values, 0),
        "b": _values(case.dtype, shape, case.values, 1),
        "r": _values(case.dtype, line, "any" if case.values == "definite" else case.values, 2),
        "v": _numpy.sort(_values(case.dtype, (6,), "any" if case.values == "definite" else case.values, 3)),
        "m": _values("?", shape, "any", 1),
        "w": _values("d", shape, "positive", 2),
        "k": _numpy.arange(3) % max(shape[0], 1) if shape else _numpy.zeros(1, int),
        "out": _values(case.dtype, shape, "any", 4),
        "o": _values(case.dtype, line, "any", 5),
    }
    found = {}
    for name, x in made.items():
        layout = case.layout
        need = LAYOUTS[layout][2]
        if (
            (name in ("out", "o") and layout in ("read-only", "broadcast"))
            or (need == "n" and not (x.ndim and x.size))
            or (need == "f" and x.dtype.kind != "f")
        ):
            layout = "whole"
        found[name] = LAYOUTS[layout][0](x), x.shape, layout
    return found


# -- looking and writing -------------------------------------------------------------------------------------------------


def _flat(values: Any) -> list[Any]:
    """The elements of what ``tolist`` gave."""
    found = [values]
    while any(type(x) is list for x in found):
        found = list(itertools.chain.from_iterable(x if type(x) is list else [x] for x in found))
    return found


def _look(x: Any) -> list[Any]:
    if x.size == 0:
        return []
    return _flat(x.tolist())


def _changed(before: list[Any], after: list[Any]) -> str:
    """Which elements are others now: "" none, "all" all, or a digit for each."""
    bits = ["0" if x == y or (x != x and y != y) else "1" for x, y in zip(before, after, strict=True)]
    if "1" not in bits:
        return ""
    return "all" if "0" not in bits else "".join(bits)


def _other(x: Any) -> Any:
    """For each element of an ndarray another value."""
    kind = x.dtype.kind
    if kind == "b":
        return ~x
    if kind in "iu":
        return x + x.dtype.type(1)
    if kind in "fc":
        near = abs(x) < 1000
        return _numpy.where(near, x + x.dtype.type(1), _numpy.where(_numpy.isfinite(x), -x, x.dtype.type(3)))
    if kind in "OSU":
        return _numpy.full(x.shape, "other", x.dtype)
    made = x.copy()
    made.view("u1")[...] ^= 1
    return made


def _leaves(result: Any, world: World, path: str = "") -> Iterator[tuple[str, Any]]:
    """The arrays in a result."""
    if isinstance(result, world.kinds):
        if not isinstance(result, _numpy.generic):
            yield path, result
    elif isinstance(result, list | tuple):
        for i, part in enumerate(result):
            yield from _leaves(part, world, f"{path}[{i}]")


class _Scene:
    """The operands of a case in a world, and what the expression makes of them."""

    def __init__(self, case: Case, names: list[str], world: World) -> None:
        self.start: dict[str, Any] = {}
        self.roots: dict[str, Any] = {}
        self.arrays: dict[str, Any] = {}
        for name, (held, shape, layout) in operands(case).items():
            if name in names:
                self.start[name], self.roots[name] = held, world.make(held)
                self.arrays[name] = _laid(self.roots[name], layout, shape, world)
        self.result = eval(case.call, {"np": world.np, "copy": copy, **self.arrays})
        self.leaves = dict(_leaves(self.result, world))


def names_in(call: str) -> list[str]:
    """The operands that an expression names."""
    words = "".join(c if c.isalnum() or c in "_." else " " for c in call).split()
    heads = {word.partition(".")[0] for word in words if not word.startswith(".")}
    return [name for name in ("a", "b", "r", "v", "m", "w", "k", "out", "o") if name in heads]


def _as_host(x: Any) -> Any:
    return _numpy.array(x.tolist(), x.dtype).reshape(x.shape)


def observe(case: Case, world: World) -> dict[str, Any]:
    """What writing shows; or the exception's type.

    Of each operand, which of its memory's elements the call itself wrote. Of each array in the result: which operand it is; flags;
    by operand, which of its elements change when that operand's memory is written; and what changes, of the memory of each
    operand and of the other results, when it is written itself, or that it refuses to be.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = names_in(case.call)
        try:
            first = _Scene(case, names, world)
            before = {path: _look(leaf) for path, leaf in first.leaves.items()}
            memory = {name: _as_host(root) for name, root in first.roots.items()}
            # Nothing of a second call is looked at before it is written: a look takes away the right to reuse a buffer.
            scene = _Scene(case, names, world)
        except Exception as error:
            return {"raises": type(error).__name__}
        return _observed(scene, before, memory)


_FLAGS = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA")


def _observed(scene: _Scene, before: dict[str, list[Any]], memory: dict[str, Any]) -> dict[str, Any]:
    """``before``, ``memory``: what the results and the operands' memory are after the call."""
    seen: dict[str, dict[str, str]] = {path: {} for path in scene.leaves}
    kept = {name: _look(x) for name, x in memory.items()}
    for name, root in scene.roots.items():
        root[...] = _other(memory[name])
        for path, leaf in scene.leaves.items():
            seen[path][name] = _changed(before[path], _look(leaf))
        root[...] = memory[name]
    found: dict[str, Any] = {}
    for path, leaf in scene.leaves.items():
        now = {other: _look(x) for other, x in scene.leaves.items()}
        reaches: dict[str, str] = {}
        try:
            leaf[...] = _other(_as_host(leaf))
        except (ValueError, TypeError) as error:
            reaches = {"refused": type(error).__name__}
        else:
            for name, root in scene.roots.items():
                reaches[name] = _changed(kept[name], _look(root))
            for other, x in scene.leaves.items():
                changed = _changed(now[other], _look(x))
                if other == path:
                    reaches["itself"] = "" if changed == "all" or not leaf.size else f"changed: {changed or 'nothing'}"
                else:
                    reaches[other] = changed
        for name, root in scene.roots.items():
            root[...] = memory[name]
        found[path] = {
            "is": [name for name, x in scene.arrays.items() if x is leaf],
            "sees": {name: what for name, what in seen[path].items() if what},
            "reaches": {name: what for name, what in reaches.items() if what},
            "flags": [name for name in _FLAGS if leaf.flags[name]],
        }
    written = {name: _changed(_look(scene.start[name]), kept[name]) for name in scene.roots}
    return {"leaves": found, "written": {name: what for name, what in written.items() if what}}


# -- comparing -----------------------------------------------------------------------------------------------------------


_WORDS = {"is": "is", "sees": "sees writes to", "reaches": "when written changes", "flags": "has the flags"}


def difference(ours: dict[str, Any], theirs: dict[str, Any], without: tuple[str, ...] = ("flags",)) -> str:
    """What differs from NumPy's, in words; empty if nothing does. ``without``: what of a result is not compared, ``"is"`` for
    whether it is an operand itself."""
    if "raises" in theirs or "raises" in ours:
        one, other = ours.get("raises", "nothing"), theirs.get("raises", "nothing")
        return "" if one == other else f"raises {one}, NumPy: {other}"
    if ours["written"] != theirs["written"]:
        return f"the call writes {ours['written'] or 'nothing'}, NumPy's {theirs['written'] or 'nothing'}"
    for path, leaf in theirs["leaves"].items():
        mine = ours["leaves"].get(path)
        which = f"result{path}"
        if mine is None:
            return f"{which} is no array"
        for key, word in _WORDS.items():
            if mine[key] != leaf[key] and key not in without:
                return f"{which} {word} {mine[key] or 'nothing'}, NumPy's {leaf[key] or 'nothing'}"
    return ""
