"""Source of a kernel in LLVM's intermediate language: a chain of elementwise calls as one loop over memory.

Each instruction is the one that NumPy's loops use, in the same order and with the same roundings (nothing here allows LLVM to
contract, reorder or approximate), so a kernel gives NumPy's bits. A kernel differs from NumPy's loops in that intermediate values stay in
registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Call", "Chain", "Pointer", "entry", "has", "source"]


class Call(NamedTuple):
    """Elementwise call in a :class:`Chain`, with its operands by number."""

    op: str
    """Name in :data:`arraydispatch.ufuncs.facts.INSTRUCTIONS`; ``cast``; ``select``, for a condition and two values."""
    ins: tuple[str, ...]
    """Dtypes of the operands and the result: ``np.dtype.str`` without the byte order."""
    out: str
    args: tuple[tuple[str, int, str], ...]
    """For each operand: where it comes from (``call``, ``pointer`` or ``scalar``), its number there, and its dtype."""

    def reading(self, pointers: list[int]) -> Call:
        """Return the call with other numbers for the pointers."""
        return self._replace(
            args=tuple((what, pointers[i] if what == "pointer" else i, dtype) for what, i, dtype in self.args)
        )


class Chain(NamedTuple):
    """Elementwise calls that one kernel computes for each element; a call may use the results of earlier calls."""

    calls: tuple[Call, ...]
    scalars: tuple[str, ...]
    """Dtypes of the scalars."""


class Pointer(NamedTuple):
    """Array that a kernel reads or writes, as far as the kernel's source depends on it."""

    dtype: str
    inner: str
    """Step along the last axis: ``one`` element, none (``stay``), or a ``stride``."""


def _llvm(dtype: str) -> str:
    """Return the LLVM type of a value."""
    kind, size = dtype[0], int(dtype[1:])
    if kind == "b":
        return "i1"
    return {4: "float", 8: "double"}[size] if kind == "f" else f"i{8 * size}"


def _bits(dtype: str) -> int:
    return 8 * int(dtype[1:])


def _in_memory(dtype: str) -> str:
    return "i8" if dtype[0] == "b" else _llvm(dtype)


class _Body:
    """Lines of a function, and names for their values.

    ``told``: whether errors must be reported. LLVM assumes that they need not, and omits a root or a quotient that is
    only compared with a known zero (``sqrt(x) != 0``, ``signbit(abs(x / y))``); so the zero is hidden from LLVM.
    """

    def __init__(self, told: bool = False) -> None:
        self.told = told
        self.zeros: dict[str, str] = {}
        self.lines: list[str] = []
        self.intrinsics: set[str] = set()
        self._count = 0

    def add(self, text: str) -> str:
        """Add a line that computes a value; return its name."""
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def intrinsic(self, name: str, dtype: str, *args: str) -> str:
        """Add a call of an LLVM intrinsic; return the name of its value."""
        t = _llvm(dtype)
        full = f"llvm.{name}.f{_bits(dtype)}"
        self.intrinsics.add(f"declare {t} @{full}({', '.join([t] * len(args))})")
        return self.add(f"call {t} @{full}({', '.join(f'{t} {x}' for x in args)})")

    def bits(self, x: str, dtype: str) -> tuple[str, str]:
        """Reinterpret a floating number as an integer; return the name of the integer and its type."""
        to = f"i{_bits(dtype)}"
        return self.add(f"bitcast {_llvm(dtype)} {x} to {to}"), to

    def zero(self, t: str) -> str:
        """Return the zero of a type, to compare with."""
        if not self.told:
            return "0.0" if t in ("float", "double") else "0"
        return self.zeros.setdefault(t, f"%zero.{t}")

    def hidden(self) -> list[str]:
        """Return the lines that compute the hidden zeros."""
        lines = []
        for t, name in self.zeros.items():
            value = "0.0" if t in ("float", "double") else "0"
            lines.append(f"  {name}.at = alloca {t}")
            lines.append(f"  store volatile {t} {value}, ptr {name}.at")
            lines.append(f"  {name} = load volatile {t}, ptr {name}.at")
        return lines

    def number(self, value: float, dtype: str) -> str:
        """Return a number as an LLVM constant of this dtype."""
        return f"{float(value):.1f}" if dtype[0] == "f" else str(int(value))

    def converted(self, x: str, given: str, to: str) -> str:
        """Convert a value from dtype ``given`` to dtype ``to``, as ``astype`` does; return the name of the result."""
        if given == to:
            return x
        a, b, t, u = given[0], to[0], _llvm(given), _llvm(to)
        if b == "b":
            return self.nonzero(x, given)
        if a == "b":
            return self.add(f"{'uitofp' if b == 'f' else 'zext'} i1 {x} to {u}")
        if a == "f":
            return self.add(f"{'fpext' if _bits(to) > _bits(given) else 'fptrunc'} {t} {x} to {u}")
        if b == "f":
            return self.add(f"{'sitofp' if a == 'i' else 'uitofp'} {t} {x} to {u}")
        if _bits(given) == _bits(to):
            return x
        how = "trunc" if _bits(to) < _bits(given) else "sext" if a == "i" else "zext"
        return self.add(f"{how} {t} {x} to {u}")

    def nonzero(self, x: str, dtype: str) -> str:
        """Compare a value with zero; return the name of the result, which is true if the value is not zero."""
        if dtype[0] == "b":
            return x
        if dtype[0] == "f":
            return self.add(f"fcmp une {_llvm(dtype)} {x}, {self.zero(_llvm(dtype))}")
        return self.add(f"icmp ne {_llvm(dtype)} {x}, 0")


_Emit = Callable[[_Body, list[str], str], str]
"""Function that emits the result for operands of one dtype; the dtype is the last argument."""


def _arithmetic(name: str, of_bools: str) -> _Emit:
    def emit(body: _Body, x: list[str], dtype: str) -> str:
        if dtype[0] == "b":
            return body.add(f"{of_bools} i1 {x[0]}, {x[1]}")
        return body.add(f"{'f' if dtype[0] == 'f' else ''}{name} {_llvm(dtype)} {x[0]}, {x[1]}")

    return emit


def _compared(name: str) -> _Emit:
    def emit(body: _Body, x: list[str], dtype: str) -> str:
        t, equal = _llvm(dtype), name in ("eq", "ne")
        if dtype[0] == "f":
            return body.add(f"fcmp {'une' if name == 'ne' else 'o' + name} {t} {x[0]}, {x[1]}")
        sign = "" if equal else "s" if dtype[0] == "i" else "u"
        return body.add(f"icmp {sign}{name} {t} {x[0]}, {x[1]}")

    return emit


def _extreme(name: str, of_bools: str) -> _Emit:
    """Make a maximum or minimum: the first operand if it is beyond the second or NaN, else the second; of two zeros, the second."""

    def emit(body: _Body, x: list[str], dtype: str) -> str:
        if dtype[0] == "b":
            return body.add(f"{of_bools} i1 {x[0]}, {x[1]}")
        t, first = _llvm(dtype), _compared(name)(body, x, dtype)
        if dtype[0] == "f":
            nan = body.add(f"fcmp uno {t} {x[0]}, {x[0]}")
            first = body.add(f"or i1 {first}, {nan}")
        return body.add(f"select i1 {first}, {t} {x[0]}, {t} {x[1]}")

    return emit


def _clipped(body: _Body, x: list[str], dtype: str) -> str:
    """Emit ``clip``: an operand beyond a bound becomes the bound; NaN stays, and a NaN bound is the result."""
    t, made = _llvm(dtype), x[0]
    for bound, beyond in ((x[1], "lt"), (x[2], "gt")):
        replaced = _compared(beyond)(body, [made, bound], dtype)
        if dtype[0] == "f":
            nan = body.add(f"fcmp uno {t} {bound}, {bound}")
            replaced = body.add(f"or i1 {replaced}, {nan}")
        made = body.add(f"select i1 {replaced}, {t} {bound}, {t} {made}")
    return made


def _logical(name: str) -> _Emit:
    def emit(body: _Body, x: list[str], dtype: str) -> str:
        made = [body.nonzero(value, dtype) for value in x]
        return body.add(f"{name} i1 {made[0]}, {made[1] if len(made) > 1 else 'true'}")

    return emit


def _bitwise(name: str) -> _Emit:
    def emit(body: _Body, x: list[str], dtype: str) -> str:
        other = x[1] if len(x) > 1 else "true" if dtype[0] == "b" else "-1"
        return body.add(f"{name} {_llvm(dtype)} {x[0]}, {other}")

    return emit


def _rounded(name: str) -> _Emit:
    def emit(body: _Body, x: list[str], dtype: str) -> str:
        return body.intrinsic(name, dtype, *x) if dtype[0] == "f" else x[0]

    return emit


def _negative(body: _Body, x: list[str], dtype: str) -> str:
    return body.add(f"fneg {_llvm(dtype)} {x[0]}" if dtype[0] == "f" else f"sub {_llvm(dtype)} 0, {x[0]}")


def _absolute(body: _Body, x: list[str], dtype: str) -> str:
    if dtype[0] == "f":
        return body.intrinsic("fabs", dtype, x[0])
    if dtype[0] in "bu":
        return x[0]
    t = _llvm(dtype)
    below, minus = body.add(f"icmp slt {t} {x[0]}, 0"), body.add(f"sub {t} 0, {x[0]}")
    return body.add(f"select i1 {below}, {t} {minus}, {t} {x[0]}")


def _sign(body: _Body, x: list[str], dtype: str) -> str:
    t, zero, one = _llvm(dtype), body.number(0, dtype), body.number(1, dtype)
    if dtype[0] == "f":
        up, down, none = (body.add(f"fcmp {how} {t} {x[0]}, {body.zero(t)}") for how in ("ogt", "olt", "oeq"))
        rest = body.add(f"select i1 {none}, {t} 0.0, {t} {x[0]}")
        rest = body.add(f"select i1 {down}, {t} -1.0, {t} {rest}")
        return body.add(f"select i1 {up}, {t} 1.0, {t} {rest}")
    up = body.add(f"icmp ne {t} {x[0]}, 0" if dtype[0] == "u" else f"icmp sgt {t} {x[0]}, 0")
    made = body.add(f"select i1 {up}, {t} {one}, {t} {zero}")
    if dtype[0] == "u":
        return made
    down = body.add(f"icmp slt {t} {x[0]}, 0")
    return body.add(f"select i1 {down}, {t} -1, {t} {made}")


_TO_INFINITY = {"isnan": "ugt", "isinf": "eq", "isfinite": "ult"}


def _of_bits(how: str) -> _Emit:
    """Make a test of a number's bits, which causes no floating-point error for NaN. ``how``: the test, ``"signbit"``, ``"isfinite"`` …"""

    def emit(body: _Body, x: list[str], dtype: str) -> str:
        if dtype[0] != "f":
            if how == "signbit":
                return body.add(f"icmp slt {_llvm(dtype)} {x[0]}, 0")
            yes = "true" if how == "isfinite" else "false"
            return body.add(f"xor i1 {yes}, false")
        value, t = body.bits(x[0], dtype)
        if how == "signbit":
            return body.add(f"icmp slt {t} {value}, {body.zero(t)}")
        infinity = {32: 0x7F800000, 64: 0x7FF0000000000000}[_bits(dtype)]
        value = body.add(f"and {t} {value}, {(1 << (_bits(dtype) - 1)) - 1}")
        return body.add(f"icmp {_TO_INFINITY[how]} {t} {value}, {infinity}")

    return emit


_EMIT: dict[str, _Emit] = {
    "add": _arithmetic("add", "or"), "sub": _arithmetic("sub", "xor"), "mul": _arithmetic("mul", "and"),
    "div": lambda body, x, dtype: body.add(f"fdiv {_llvm(dtype)} {x[0]}, {x[1]}"),
    "reciprocal": lambda body, x, dtype: body.add(f"fdiv {_llvm(dtype)} 1.0, {x[0]}"),
    "square": lambda body, x, dtype: _EMIT["mul"](body, [x[0], x[0]], dtype),
    "neg": _negative, "same": lambda body, x, dtype: x[0], "abs": _absolute, "sign": _sign,
    "sqrt": lambda body, x, dtype: body.intrinsic("sqrt", dtype, x[0]),
    "copysign": lambda body, x, dtype: body.intrinsic("copysign", dtype, *x),
    "max": _extreme("gt", "or"), "min": _extreme("lt", "and"), "clip": _clipped,
    "both": _logical("and"), "either": _logical("or"), "one": _logical("xor"), "none": _logical("xor"),
    "and": _bitwise("and"), "or": _bitwise("or"), "xor": _bitwise("xor"), "invert": _bitwise("xor"),
    **{name: _compared(name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
    **{name: _rounded(name) for name in ("floor", "ceil", "trunc", "rint")},
    **{name: _of_bits(name) for name in ("isnan", "isinf", "isfinite", "signbit")},
}  # fmt: skip
_FLOATING = frozenset({"div", "reciprocal", "sqrt", "copysign"})
"""Operations supported only for floating numbers: an integer division may cause other errors."""


def has(op: str, ins: tuple[np.dtype[Any], ...], out: np.dtype[Any]) -> bool:
    """Whether a call with operands of these dtypes can be part of a kernel."""
    every = (*ins, out)
    if any(t.kind not in "biuf" or t.itemsize > 8 or (t.kind == "f" and t.itemsize < 4) for t in every):
        return False
    if op == "cast":
        return not (ins[0].kind == "f" and out.kind in "iu")
    if op == "select":
        return ins[0].kind == "b" and all(has("cast", (t,), out) for t in ins[1:])
    if len(set(ins)) != 1 or (out != ins[0] and out.kind != "b"):
        return False
    kind = ins[0].kind
    if kind == "b":
        return op in (
            "add",
            "mul",
            "both",
            "either",
            "one",
            "none",
            "and",
            "or",
            "xor",
            "invert",
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
            "max",
            "min",
        )
    if op in _FLOATING or (op == "abs" and out != ins[0]):
        return kind == "f" and out == ins[0]
    if op in ("and", "or", "xor", "invert"):
        return kind in "iu"
    if kind == "u" and op == "signbit":
        return False
    return op in _EMIT


def _emit(body: _Body, call: Call, operands: list[str]) -> str:
    if call.op == "cast":
        return body.converted(operands[0], call.args[0][2], call.out)
    values = [body.converted(x, arg[2], to) for x, arg, to in zip(operands, call.args, call.ins)]
    if call.op == "select":
        t = _llvm(call.out)
        chosen = [body.converted(x, to, call.out) for x, to in zip(values[1:], call.ins[1:])]
        return body.add(f"select i1 {values[0]}, {t} {chosen[0]}, {t} {chosen[1]}")
    return _EMIT[call.op](body, values, call.ins[0])


# -- the loops around it -----------------------------------------------------------------------------------------------


def _load(body: _Body, dtype: str, at: str) -> str:
    value = body.add(f"load {_in_memory(dtype)}, ptr {at}, align {_bits(dtype) // 8}")
    return body.add(f"icmp ne i8 {value}, 0") if dtype[0] == "b" else value


def _store(body: _Body, dtype: str, value: str, at: str) -> None:
    if dtype[0] == "b":
        value = body.add(f"zext i1 {value} to i8")
    body.lines.append(f"  store {_in_memory(dtype)} {value}, ptr {at}, align {_bits(dtype) // 8}")


def _store_all(body: _Body, dtype: str, values: list[str], at: str) -> None:
    """Store a result at the pointer ``at``. Several results, computed only for their errors, are stored as the sum of their bits, because
    LLVM would omit a result that the next one overwrites.
    """
    if len(values) > 1 and dtype[0] in "bf":
        how = "zext" if dtype[0] == "b" else "bitcast"
        whole = f"i{_bits(dtype)}"
        values = [body.add(f"{how} {_llvm(dtype)} {value} to {whole}") for value in values]
        dtype = f"i{_bits(dtype) // 8}"
    first, *others = values
    for value in others:
        first = body.add(f"add {_llvm(dtype)} {first}, {value}")
    _store(body, dtype, first, at)


def _strides(depth: int, pointers: tuple[Pointer, ...]) -> Iterator[tuple[int, int]]:
    """Yield the pairs (number of a pointer, axis) whose strides are arguments of the kernel."""
    for i, pointer in enumerate(pointers):
        for axis in range(depth):
            if axis < depth - 1 or pointer.inner == "stride":
                yield i, axis


def entry(
    depth: int, pointers: tuple[Pointer, ...], lengths: Sequence[int], strides: Sequence[Sequence[int]], at: Sequence[tuple[int, int]]
) -> list[int]:  # fmt: skip
    """Return the description of a box for a kernel: lengths, ``at`` (for each array the factor of its address, and the offset at which the
    box begins), strides.
    """
    steps = [strides[i][axis] for i, axis in _strides(depth, pointers)]
    return [*lengths, *(word for of_one in at for word in of_one), *steps]


def source(
    chain: Chain, depth: int, pointers: tuple[Pointer, ...], results: tuple[tuple[int, int], ...], mask: int,
    kept: tuple[tuple[int, int], ...],
) -> str:  # fmt: skip
    """Return the LLVM module of a kernel ``kernel(boxes, operands)``.

    Parameters
    ----------
    chain : Chain
        Chain to compute.
    depth : int
        Number of nested loops.
    pointers : tuple of Pointer
        Arrays, no two of which overlap unless both are only read.
    results : tuple of (int, int)
        Number of a call, and of the pointer that its result is written to; unused results may share a pointer.
    mask : int
        Mask of the floating-point status that the kernel returns.
    kept : tuple of (int, int)
        Pointer that a result overwrites, and the one that its old values are copied to.

    Notes
    -----
    Both arguments are arrays of eight-byte words. ``boxes`` has the number of boxes and the :func:`entry` of each; ``operands`` has
    the address of each array, then the scalars.
    """
    body = _Body(told=mask != 0)
    parameters = [f"i64 %n{axis}" for axis in range(depth)]
    parameters += [f"ptr noalias %p{i}" for i in range(len(pointers))]
    parameters += [f"i64 %s{i}.{axis}" for i, axis in _strides(depth, pointers)]
    parameters += [f"{_llvm(dtype)} %c{i}" for i, dtype in enumerate(chain.scalars)]
    add = body.lines.append
    add("entry:")
    before = "entry"
    last = depth - 1
    for axis in range(depth):  # the outer loops, and the pointers to their current elements
        add(f"  br label %loop{axis}")
        add(f"loop{axis}:")
        add(f"  %i{axis} = phi i64 [0, %{before}], [%next{axis}, %end{axis}]")
        before = f"loop{axis}"
        if axis < last:
            for i in range(len(pointers)):
                at = f"%p{i}" if axis == 0 else f"%q{i}.{axis - 1}"
                add(f"  %o{i}.{axis} = mul i64 %i{axis}, %s{i}.{axis}")
                add(f"  %q{i}.{axis} = getelementptr i8, ptr {at}, i64 %o{i}.{axis}")
    places = []
    for i, pointer in enumerate(pointers):
        at = f"%p{i}" if last == 0 else f"%q{i}.{last - 1}"
        if pointer.inner == "one":
            at = body.add(f"getelementptr {_in_memory(pointer.dtype)}, ptr {at}, i64 %i{last}")
        elif pointer.inner == "stride":
            at = body.add(f"getelementptr i8, ptr {at}, i64 {body.add(f'mul i64 %i{last}, %s{i}.{last}')}")
        places.append(at)
    loaded: dict[int, str] = {}
    for call in chain.calls:
        for what, i, _ in call.args:
            if what == "pointer" and i not in loaded:
                loaded[i] = _load(body, pointers[i].dtype, places[i])
    values: list[str] = []
    for call in chain.calls:
        operands = [
            values[i] if what == "call" else loaded[i] if what == "pointer" else f"%c{i}" for what, i, _ in call.args
        ]
        values.append(_emit(body, call, operands))
    for i, to in kept:
        value = loaded[i] if i in loaded else _load(body, pointers[i].dtype, places[i])
        _store(body, pointers[i].dtype, value, places[to])
    written: dict[int, list[str]] = {}
    for i, to in results:
        written.setdefault(to, []).append(values[i])
    for to, found in written.items():
        _store_all(body, pointers[to].dtype, found, places[to])
    for axis in range(last, -1, -1):
        add(f"  br label %end{axis}")
        add(f"end{axis}:")
        add(f"  %next{axis} = add nuw nsw i64 %i{axis}, 1")
        add(f"  %more{axis} = icmp slt i64 %next{axis}, %n{axis}")
        add(f"  br i1 %more{axis}, label %loop{axis}, label %out{axis}")
        add(f"out{axis}:")
    add("  ret void")
    head = f"define internal void @body({', '.join(parameters)}) noinline nounwind {{"
    first, *lines = body.lines
    made = [*sorted(body.intrinsics), head, first, *body.hidden(), *lines, "}"]
    return "\n".join([*made, *_door(chain, depth, pointers, mask), ""])


def _door(chain: Chain, depth: int, pointers: tuple[Pointer, ...], mask: int) -> list[str]:
    """Return the lines of the entry function, which iterates over the boxes and checks the floating-point status. The parameters are those
    of :func:`source`.
    """
    lines = ["declare i32 @feclearexcept(i32)", "declare i32 @fetestexcept(i32)"] if mask else []
    lines += ["define i32 @kernel(ptr %boxes, ptr %operands) nounwind {", "entry:"]

    def word(base: str, at: int, to: str) -> str:
        lines.append(f"  %{to}.at = getelementptr i64, ptr %{base}, i64 {at}")
        lines.append(f"  %{to} = load i64, ptr %{to}.at")
        return f"%{to}"

    count = word("boxes", 0, "count")
    lines.append("  %first = getelementptr i64, ptr %boxes, i64 1")
    bases = [word("operands", i, f"base{i}") for i in range(len(pointers))]
    scalars = []
    for i, dtype in enumerate(chain.scalars):
        t = _llvm(dtype)
        lines.append(f"  %c{i}.at = getelementptr i64, ptr %operands, i64 {len(pointers) + i}")
        if dtype[0] == "b":
            lines += [f"  %c{i}.b = load i8, ptr %c{i}.at", f"  %c{i} = icmp ne i8 %c{i}.b, 0"]
        else:
            lines.append(f"  %c{i} = load {t}, ptr %c{i}.at")
        scalars.append(f"{t} %c{i}")
    if mask:
        lines.append(f"  %cleared = call i32 @feclearexcept(i32 {mask})")
    lines += [
        "  br label %each",
        "each:",
        "  %k = phi i64 [0, %entry], [%next, %each]",
        "  %box = phi ptr [%first, %entry], [%after, %each]",
    ]
    lengths = [f"i64 {word('box', axis, f'n{axis}')}" for axis in range(depth)]
    size = depth
    arrays = []
    for i, base in enumerate(bases):
        often, more = word("box", size, f"often{i}"), word("box", size + 1, f"more{i}")
        lines.append(f"  %from{i} = mul i64 {base}, {often}")
        lines.append(f"  %address{i} = add i64 %from{i}, {more}")
        lines.append(f"  %p{i} = inttoptr i64 %address{i} to ptr")
        arrays.append(f"ptr %p{i}")
        size += 2
    steps = []
    for i, axis in _strides(depth, pointers):
        steps.append(f"i64 {word('box', size, f's{i}.{axis}')}")
        size += 1
    lines += [
        f"  call void @body({', '.join([*lengths, *arrays, *steps, *scalars])})",
        f"  %after = getelementptr i64, ptr %box, i64 {size}",
        "  %next = add nuw nsw i64 %k, 1",
        f"  %more = icmp slt i64 %next, {count}",
        "  br i1 %more, label %each, label %done",
        "done:",
    ]
    if not mask:
        return [*lines, "  ret i32 0", "}"]
    return [*lines, f"  %status = call i32 @fetestexcept(i32 {mask})", "  ret i32 %status", "}"]
