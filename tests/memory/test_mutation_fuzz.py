"""Random programs over a family of arrays leave on every backend, after every step, what NumPy leaves.

A program is Python source, one statement a step, drawn while NumPy runs it, so that most steps fit the arrays there are.
Then it runs on a backend. After each step every array of the family is compared: value, dtype, shape, strides, whether it
is writeable, which members share one owner of their memory, and the exception's type if there was one.

``python tests/memory/test_mutation_fuzz.py --backend jax --programs 10000 --seed 1`` runs as many as asked for. A program that
fails is printed with its seed, cut down to the steps it needs.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.api import creation
from arraydispatch.array import Array
from arraydispatch.array.scalar import Scalar
from arraydispatch.engine import nodes
from arraydispatch.engine.host_blocks import block_plans, blocks, kernels
from arraydispatch.engine.recording import call_nodes, tape
from arraydispatch.memory import views
from arraydispatch.runtime.settings import default, kept, set_execution

STEPS = 20
MEMBERS = 6
SHAPES = ((), (1,), (3,), (4,), (4,), (2, 2), (2, 3), (3, 2), (2, 1, 2))
DTYPES = ("float64",) * 5 + ("int32",) * 2 + ("bool", "complex128")
"""Few shapes and dtypes: on JAX each new one compiles for some 50 ms."""

_REREAD = {"complex128": "float64"}
"""What memory is viewed as. Of other dtypes values make NaNs of many bits, which a sort may change."""

Scope = dict[str, Any]


def _values(shape: tuple[int, ...], dtype: str, start: int, order: str = "C") -> np.ndarray[Any, Any]:
    """Small numbers, all different where the dtype has enough of them."""
    line = np.arange(start, start + int(np.prod(shape))) % 23 - 9
    made = line.reshape(shape).astype(dtype)
    if dtype == "complex128":
        made.imag = -2 * made.real
    return np.array(made, order=order)


# -- drawing a program -------------------------------------------------------------------------------------------------


class _Author:
    """Draws statements for the arrays that a scope holds now."""

    def __init__(self, rng: random.Random, scope: Scope) -> None:
        self.rng, self.scope = rng, scope
        self.names = 0

    def pick(self, *choices: Any) -> Any:
        return choices[self.rng.randrange(len(choices))]

    def chance(self, one_in: int) -> bool:
        return self.rng.randrange(one_in) == 0

    def arrays(self) -> list[str]:
        return [name for name, x in self.scope.items() if name[0] == "a" and isinstance(x, np.ndarray)]

    def array(self) -> str:
        return str(self.pick(*self.arrays()))

    def shape(self, name: str) -> tuple[int, ...]:
        found: tuple[int, ...] = self.scope[name].shape
        return found

    def fresh(self) -> str:
        """A name for a new member: the seventh takes the place of the first."""
        self.names += 1
        return f"a{self.names % MEMBERS}"

    # -- keys

    def slice(self, n: int) -> str:
        ends = [*(str(i) for i in range(-n - 1, n + 2)), "", "", ""]
        step = self.pick("", "", "", ":2", ":-1", ":-1", ":-2")
        return f"{self.pick(*ends)}:{self.pick(*ends)}{step}"

    def index(self, n: int) -> str:
        return str(self.rng.randrange(-n - (self.chance(12)), n + (self.chance(12)) or 1))

    def basic(self, shape: tuple[int, ...], integers: bool = True) -> str:
        items: list[str] = []
        axes = list(shape)
        while axes and not self.chance(3 + 2 * (not items)):
            n = axes.pop(0)
            items.append(self.index(n) if integers and self.chance(3) else self.slice(n))
        if self.chance(5):
            items.insert(self.rng.randrange(len(items) + 1), "None")
        if self.chance(4) or not items:
            items.insert(self.rng.randrange(len(items) + 1) if self.chance(3) else len(items), "...")
        return ", ".join(items)

    def integers(self, n: int) -> str:
        """An integer array: as a list, as an array of ours, two-dimensional now and then."""
        count = self.pick(1, 2, 2, 3)
        line = [self.rng.randrange(-n, n) if n else 0 for _ in range(count)]
        if self.chance(15):
            line[0] = n
        if self.chance(5):
            return f"new([{line}, {line[::-1]}])"
        return str(line) if self.chance(2) else f"new({line})"

    def mask(self, shape: tuple[int, ...], name: str) -> str:
        if shape and self.chance(3):
            bits = [bool(self.rng.randrange(2)) for _ in range(shape[0] + (self.chance(10)))]
            return str(bits) if bits else "[True]"
        return f"{name} > {self.rng.randrange(-5, 6)}"

    def advanced(self, name: str) -> str:
        shape = self.shape(name)
        if self.chance(2) or not shape:
            return self.mask(shape, name)
        items = [self.pick(self.integers(n), self.integers(n), self.slice(n), self.index(n)) for n in shape]
        return ", ".join(items[: 1 + self.rng.randrange(len(items))])

    def key(self, name: str) -> str:
        return self.advanced(name) if self.chance(3) else self.basic(self.shape(name))

    # -- values

    def scalar(self) -> str:
        return str(self.pick("3", "-2", "True", "2.0", "-1.5", "np.float32(2)", "np.int64(4)", "(1+2j)", "0"))

    def value(self) -> str:
        """What is assigned: a scalar, an array of the family or a part of one, a list."""
        kind = self.rng.randrange(8)
        if kind < 3:
            return self.scalar()
        if kind < 7:
            name = self.array()
            return name if kind < 5 else f"{name}[{self.basic(self.shape(name))}]"
        return str([self.rng.randrange(9) for _ in range(self.pick(1, 2, 3, 4))])

    def operand(self, name: str) -> str:
        """An operand that often fits the array."""
        if self.chance(3):
            return self.scalar()
        alike = [other for other in self.arrays() if self.shape(other) == self.shape(name)]
        return str(self.pick(*alike)) if not self.chance(4) else self.value()

    # -- statements

    def statement(self) -> str:
        if not self.arrays():
            return self.create()
        write, read = (self.assign, self.inplace, self.ufunc, self.function), (self.view, self.view, self.reshape)
        pure = (self.compute,) * 12 if default.execution in RECORDS else ()
        return str(self.pick(*write, *write, *read, *read, *pure, self.create, self.copy, self.look, self.flag)())

    def compute(self) -> str:
        """What fused execution records."""
        name = self.array()
        x, y = name, self.operand(name)
        if not self.scope[name].ndim:  # a ufunc of it is NumPy's scalar, which would make an ndarray of a list
            y = self.array()
        how = self.pick(
            "{} + {}", "{} * {}", "{} - {}", "{} < {}", "np.maximum({}, {})", "np.where({} > np.zeros(1), {}, 2)", "-{}", "abs({}) ** 0.5",
            "{} ** 2", "np.sin({})", "np.exp({}) / {}", "1 - {}", "np.clip({}, -2, 3)", "{}.astype('float64')", "{}.astype('int32')",
            "({} + {}) * 2 + 1", "{} - np.sqrt(np.abs({} * 3))", "{}[::2] + 1", "{}[..., None] * {}",
            "({} * 2).sum(axis=-1, keepdims=True)", "np.max({}, axis=-1)", "({} + {}).mean()", "np.sum({}, axis=-1)",
            "{}.std()", "np.multiply({}, {}, out={}[...])",
        )  # fmt: skip
        made = how.format(*(x, y, self.array())[: how.count("{}")])
        if self.chance(4):
            return f"{name} {self.pick('+=', '-=')} {made}"
        if self.chance(4):
            return f"{self.array()}[{self.key(name)}] {self.pick('=', '=', '+=')} {made}"
        return f"{self.fresh()} = {made}"

    def create(self) -> str:
        shape, dtype = self.pick(*SHAPES), self.pick(*DTYPES)
        order = ", 'F'" if len(shape) > 1 and self.chance(3) else ""
        return f"{self.fresh()} = make({shape}, {dtype!r}, {self.rng.randrange(20)}{order})"

    def copy(self) -> str:
        how = self.pick(
            "{}.copy()",
            "{} + {}",
            "{} * 2",
            "{}.flatten()",
            "hold({})",
            "{}.astype('float64')",
            "{}.copy('K')",
            "{}.copy('F')",
        )
        name = self.array()
        made = how.format(name, name)
        if how.startswith("hold"):
            return f"h{self.rng.randrange(2)} = {made}"
        return f"{self.fresh()} = {made}"

    def view(self) -> str:
        name = self.array()
        shape = self.shape(name)
        if self.chance(8):
            part = self.pick("real", "imag") if self.scope[name].dtype.kind == "c" else "T"
            return f"{self.fresh()} = {name}.{part}"
        if self.chance(12):
            return f"{self.fresh()} = {name}.view('{_REREAD.get(self.scope[name].dtype.name, self.scope[name].dtype.name)}')"
        key = self.basic(shape)
        taken = self.scope[name][eval(f"np.s_[{key}]")] if self.fits(name, key) else None
        target = self.fresh() if isinstance(taken, np.ndarray) else "s"
        return f"{target} = {name}[{key}]"

    def fits(self, name: str, key: str) -> bool:
        try:
            self.scope[name][eval(f"np.s_[{key}]")]
        except IndexError:
            return False
        return True

    def reshape(self) -> str:
        name = self.array()
        shape = self.shape(name)
        size, ndim = int(np.prod(shape)), len(shape)
        axis = self.rng.randrange(-ndim, ndim) if ndim else 0
        fitting = [s for s in SHAPES if int(np.prod(s)) == size] or [(size,)]
        perm = tuple(self.rng.sample(range(ndim), ndim))
        how = self.pick(
            f"{name}.reshape({self.pick(*fitting)})", f"{name}.reshape({self.pick(*fitting)})", f"{name}.reshape(-1)",
            f"{name}.ravel()", f"{name}.T", f"{name}.transpose({perm})", f"np.swapaxes({name}, 0, {axis})",
            f"np.moveaxis({name}, {axis}, 0)", f"np.expand_dims({name}, {axis})", f"{name}.squeeze()",
            f"np.flip({name}, {axis})", f"np.broadcast_to({name}, (2, *{shape}))", f"np.diagonal({name})",
            f"np.split({name}, 2)[1]", f"np.atleast_2d({name})",
        )  # fmt: skip
        return f"{self.fresh()} = {how}"

    def assign(self) -> str:
        name = self.array()
        if self.chance(10):
            return f"{name}.{self.pick('real', 'imag', 'T[...]')} = np.copy({self.value()})"
        if self.chance(8):  # NumPy's flat iterators do not look whether the value overlaps
            key = self.pick("", f"[{self.slice(4)}]", f"[{self.index(3)}]")
            return f"{name}.flat{key} = np.copy({self.value()})"
        key, value = self.key(name), self.value()
        if ">" in key or "True" in key or "False" in key:  # NumPy does not look whether values under a mask overlap
            value = f"np.copy({value})"
        return f"{name}[{key}] = {value}"

    def inplace(self) -> str:
        name = self.array()
        operator = self.pick("+=", "+=", "-=", "*=", "//=", "&=", "|=")
        operand = self.pick("2", "True", "-1") if operator in ("*=", "//=") else self.operand(name)
        if self.chance(2):
            return f"{name} {operator} {operand}"
        return f"{name}[{self.key(name)}] {operator} {operand if operator in ('*=', '//=') else self.value()}"

    def ufunc(self) -> str:
        out = self.array()
        x, y = self.operand(out), self.operand(out)
        if self.chance(2):
            key = self.basic(self.shape(out), integers=False)
            parts = [n if n not in self.scope else f"{n}[{key}]" for n in (x, y)]
            x, y, target = *parts, f"{out}[{key}]"
        else:
            target = out
        name = self.pick("add", "add", "subtract", "maximum", "square", "less", "copysign", "logical_and")
        given = x if name == "square" else f"{x}, {y}"
        # Where NumPy casts into `out`, what it keeps of it goes through the loop's dtype, or not, as the memory lies.
        alike = name in ("add", "subtract", "maximum") and out in (x, y)
        where = f", where={out} > 0" if self.chance(3) and target == out and alike else ""
        return f"np.{name}({given}, out={target}{where})"

    def function(self) -> str:
        name = self.array()
        shape = self.shape(name)
        size = int(np.prod(shape))
        return str(
            self.pick(
                # To itself even what is read-only may be copied: NumPy looks at that first.
                f"np.copyto({name}, np.copy({self.value()}))",
                f"np.copyto({name}, np.copy({self.value()}), where={name} > 0)",
                f"np.put({name}, {self.integers(size)}, {self.pick(self.scalar(), '[1, 2]')})",
                f"np.fill_diagonal({name}, {self.scalar()})",
                f"np.place({name}, {name} > 0, [1, 2])",
                f"np.putmask({name}, {name} > 0, {self.scalar()})",
                f"{name}.fill({self.scalar()})",
                f"{name}.sort()" if self.scope[name].dtype.kind != "c" else f"{name}.sort(axis=0)",
                f"np.add.at({name}, {self.integers(shape[0] if shape else 0)}, True)"
                if self.scope[name].flags.writeable  # where NumPy does not look
                else f"{name} += 1",
                f"np.cumsum({name}, axis=0, out={name})" if self.scope[name].dtype.kind == "c" else f"{name}.fill(1)",
                f"{name}[...], {self.array()}[...] = {self.array()}.copy(), {self.array()}.copy()",
            )
        )

    def look(self) -> str:
        name = self.array()
        return str(
            self.pick(
                f"s = {name}.sum()", f"s = [v.tolist() for v in {name}]", f"s = {name}[{self.advanced(name)}].copy()",
                f"s = {name}.tolist()", f"s = ({name} * 2).sum()", f"s = [v for v in {name}.flat]",
                f"s = np.where({name} > 0, {name}, 1).copy()", f"s = {name}.flat[1:3]", f"h0 = hold({name})",
            )
        )  # fmt: skip

    def flag(self) -> str:
        if not self.chance(3):
            return self.view()
        name = self.array()
        # What is broadcast can be made writeable in NumPy, and a write to it depends on the order of the elements.
        return f"{name}.setflags(write={self.pick(False, True, True) if 0 not in self.scope[name].strides else False})"


# -- running one -------------------------------------------------------------------------------------------------------


class Failure(NamedTuple):
    """What differed, and after how many steps."""

    step: int
    what: str


@lru_cache(maxsize=4096)
def _compiled(line: str) -> CodeType:
    return compile(line, "<program>", "exec")


def _run(line: str, scope: Scope) -> Exception | None:
    try:
        exec(_compiled(line), scope)
    except Exception as error:
        return error
    return None


def _numpy_scope() -> Scope:
    return {
        "np": np, "make": _values, "new": np.array, "hold": lambda x: x.copy(),
    }  # fmt: skip


def _scope_of(backend: ad.Backend) -> Scope:
    def make(shape: tuple[int, ...], dtype: str, start: int, order: str = "C") -> Any:
        where = {"backend": backend} if not default.min_size else {}
        return creation.array(ad.asarray(_values(shape, dtype, start), **where), order=order)

    def hold(x: Any) -> Any:
        # Somebody else's hold on a buffer: where arrays are immutable it keeps its value for ever.
        return x.copy() if backend.mutable or not isinstance(x, Array) else ad.wrap(x.native)

    return {"np": np, "make": make, "new": creation.array, "hold": hold}


def _read(x: Array) -> np.ndarray[Any, Any]:
    """The value, without telling the array that anybody looked: it stays free to be updated in place."""
    return np.array(x._kind.backend.to_numpy(views.native(x)))


def _difference(ours: Any, theirs: Any) -> str | None:
    if not isinstance(theirs, np.ndarray):
        if isinstance(theirs, list):
            same = (
                isinstance(ours, list)
                and np.shape(ours) == np.shape(theirs)
                and _equal(np.array(ours), np.array(theirs))
            )
        else:
            if isinstance(ours, Scalar) and isinstance(theirs, np.generic):
                ours = np.asarray(ours)[()]
            same = type(ours) is type(theirs) and (
                _equal(ours, theirs)
                if isinstance(theirs, np.generic)
                else ours == theirs or (ours != ours and theirs != theirs)
            )
        return None if same else f"{ours!r}, NumPy has {theirs!r}"
    if not isinstance(ours, Array):
        return f"a {type(ours).__name__}, NumPy has an array"
    for what in ("dtype", "shape"):
        if getattr(ours, what) != getattr(theirs, what):
            return f"{what} {getattr(ours, what)}, NumPy's is {getattr(theirs, what)}"
    if ours.flags.writeable != theirs.flags.writeable:
        return f"writeable is {ours.flags.writeable}, NumPy's is {theirs.flags.writeable}"
    if theirs.size and any(n > 1 and s != t for n, s, t in zip(theirs.shape, ours.strides, theirs.strides)):
        return f"strides {ours.strides}, NumPy's are {theirs.strides}"
    value = _read(ours)
    if not _equal(value, theirs):
        return f"value\n{value!r}, NumPy's is\n{theirs!r}"
    return None


def _equal(ours: Any, theirs: Any) -> bool:
    """Bit for bit; what a library's compiler makes of several calls may round otherwise."""
    if theirs.dtype.kind not in "fc":
        return np.array_equal(ours, theirs)
    if default.execution == "compiled":
        near = 1e-10 if theirs.dtype.itemsize >= 8 and theirs.dtype != np.complex64 else 1e-6
        return np.allclose(ours, theirs, rtol=near, atol=near, equal_nan=True)
    return np.array_equal(ours, theirs, equal_nan=True)


def _owner(x: Any) -> Any:
    if isinstance(x, Array):
        return views.owner(x)
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x


def _compare(ours: Scope, theirs: Scope) -> str | None:
    names = [name for name in theirs if name[0] in "ash" and len(name) <= 2]
    for name in names:
        found = _difference(ours.get(name), theirs[name])
        if found is not None:
            return f"{name}: {found}"
    members = [name for name in names if name[0] == "a" and isinstance(theirs[name], np.ndarray)]
    for i, one in enumerate(members):
        for other in members[:i]:
            related = _owner(ours[one]) is _owner(ours[other])
            expected = _owner(theirs[one]) is _owner(theirs[other])
            if related != expected:
                return f"{one} and {other} {'have' if related else 'have not'} one owner, in NumPy it is otherwise"
    return None


def play(lines: Iterator[str] | list[str], backend: ad.Backend, author_scope: Scope | None = None) -> Failure | None:
    """Run a program on NumPy and on a backend, comparing after each step; the lines may be drawn as it runs.

    Where calls are recorded, a comparison ends what is pending, so there it comes after each fifth step, and at the end.
    """
    theirs = _numpy_scope() if author_scope is None else author_scope
    ours = _scope_of(backend)
    with warnings.catch_warnings(), ad.backend(backend.name), ad.fallback("silent"), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for step, line in enumerate(lines):
            expected, error = _run(line, theirs), _run(line, ours)
            if not _alike(error, expected):
                return Failure(step, f"{line}\nraises {error!r}, NumPy {expected!r}")
            if default.execution in RECORDS and step % 5 != 4:
                continue
            what = _compare(ours, theirs)
            if what is not None:
                return Failure(step, f"{line}\nleaves {what}")
        what = _compare(ours, theirs)
        return None if what is None else Failure(step, f"{line}\nleaves {what}")


def _alike(ours: Exception | None, theirs: Exception | None) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    if isinstance(ours, type(theirs)) or isinstance(theirs, type(ours)):
        return True
    # Where an index is out of bounds and the value is wrong as well, NumPy says one or the other.
    return {type(ours), type(theirs)} in ({IndexError, ValueError}, {IndexError, TypeError})


def run_random(rng: random.Random, backend: ad.Backend) -> str | None:
    """Draw a program and run it; if it fails, its shortest form and what differs."""
    scope = _numpy_scope()
    author = _Author(rng, scope)
    lines: list[str] = []

    def drawn() -> Iterator[str]:
        for step in range(STEPS):
            line = author.create() if step < 2 else author.statement()
            lines.append(line)
            yield line

    failure = play(drawn(), backend, scope)
    if failure is None:
        return None
    lines = lines[: failure.step + 1]
    lines, failure = _shortest(lines, failure, lambda program: play(program, backend))
    return "\n".join(["", *lines, "", f"after step {failure.step}: {failure.what}"])


def _shortest(
    lines: list[str], failure: Failure, fails: Callable[[list[str]], Failure | None]
) -> tuple[list[str], Failure]:
    """Leave out every line without which the program fails still."""
    i = len(lines) - 2
    while i >= 0:
        fewer = lines[:i] + lines[i + 1 :]
        found = fails(fewer)
        if found is not None:
            lines, failure = fewer[: found.step + 1], found
            i = min(i, len(lines) - 1)
        i -= 1
    return lines, failure


# -- in the suite, and alone -------------------------------------------------------------------------------------------


PROGRAMS = {"jax": 5, "tensorflow": 40}
"""Programs of a backend in the suite, where not 150, all others in the next run: JAX compiles kernels for each of the first."""
COMPILED = 10
"""Programs of a backend in the suite whose blocks its library compiles, at most."""


THRESHOLDS = (0, 1, 8, 4096)
"""Elements from which on the library computes: at 0 it has every value, at 1 the host has each until a call, at 8 values of
these programs go to and fro."""


@contextmanager
def threshold(least: int, execution: Any = None, most: int = 100, below: bool = False) -> Iterator[None]:
    """The threshold in force for a block; ``most``: how many kernels are compiled; ``below``: whether calls on fewer elements are recorded."""
    with kept(), pytest.MonkeyPatch.context() as patch:
        if below:
            patch.setattr(call_nodes, "CPU_FROM", least)
            patch.setattr(call_nodes, "RECORDED_FROM", 1)
        default.min_size = least
        set_execution(execution)
        patch.setattr(nodes, "ALONE", 1 << 60)  # each call is recorded, however little comes of it
        if least == 1 or below:  # threads, pieces of two elements, and kernels of all chains but those that come late
            patch.setattr(kernels, "HOT", 0)
            patch.setattr(kernels, "BESIDE", False)
            patch.setattr(kernels, "MOST", most)
            patch.setattr(tape, "IN_THREADS", 0)
            patch.setattr(blocks, "_plans", {})
            patch.setattr(block_plans, "STEP", 1)
            patch.setattr(block_plans, "PIECE", 16)
            patch.setattr(block_plans, "LONGEST", 2)
        yield


RECORDS = "fused", "compiled"
FUSED = 1, 5
"""Thresholds of fused execution: at 1 every call is recorded, at 5 few of a program's are."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("least", "execution", "below"),
    [
        *((n, None, False) for n in THRESHOLDS),
        *((n, "fused", False) for n in FUSED),
        (0, "compiled", False),
        (5, None, True),
        (5, "compiled", True),
    ],
)
def test_random_programs(backend: str, least: int, execution: Any, below: bool, seed: int, effort: int) -> None:
    with threshold(least, execution, below=below):
        many = PROGRAMS.get(backend, 150)
        if execution == "compiled" and backend != "numpy":
            many = min(many, COMPILED)
        for i in range(effort * many):
            drawn_by = f"{seed}/{backend}/{least}/{execution}/{below}/{i}"
            found = run_random(random.Random(drawn_by), ad.backend(backend))
            assert found is None, f"the program of random.Random({drawn_by!r}):{found}"


def main() -> int:
    """Run the programs asked for and print their number and seed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--backend", default="jax")
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep-going", type=int, default=1, help="how many failing programs to show")
    parser.add_argument("--threshold", type=int, default=0, help="elements from which on the library computes")
    parser.add_argument("--below", action="store_true", help="record calls on fewer elements than the threshold")
    parser.add_argument("--kernels", type=int, default=200, help="how many kernels are compiled at threshold 1")
    parser.add_argument("--execution", choices=("eager", "fused", "compiled"), help="how calls run")
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which no further program is begun")
    options = parser.parse_args()
    backend = ad.backend(options.backend)
    with threshold(options.threshold, options.execution, options.kernels, options.below):
        return _many(options, backend)


def _resident() -> int:
    """Bytes of memory that this process has now; 0 where it cannot be told."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _many(options: argparse.Namespace, backend: ad.Backend) -> int:
    start, failed = time.perf_counter(), 0
    for i in range(options.programs):
        found = run_random(random.Random(f"{options.seed}/{i}"), backend)
        if found is not None:
            failed += 1
            print(f"program {i} of seed {options.seed} on {options.backend}:{found}\n", flush=True)
            if failed >= options.keep_going:
                break
        if (i + 1) % 500 == 0:
            rate = (i + 1) / (time.perf_counter() - start)
            kept = f"{_resident() >> 20} MiB, {len(blocks._plans)} plans, {len(call_nodes._forms)} forms, {len(kernels._kernels)} kernels"
            print(f"{options.backend}: {i + 1} programs, {failed} failed, {rate:.0f} programs/s; {kept}", flush=True)
        if time.perf_counter() - start > 60 * options.minutes:
            break
    spent = time.perf_counter() - start
    print(f"{options.backend}: {i + 1} programs of {STEPS} steps, seed {options.seed}, {failed} failed, {spent:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
