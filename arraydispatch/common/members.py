"""Table of the members of ndarray, one row each. All forms of a member are made from its row.

``Array`` has the general form of each member. The recorder, the thin path (:mod:`arraydispatch.fastpath`), ``--verify``, linear tracing
and sparse arrays make their forms from the rows, and the table of coverage lists the rows. A test fails if NumPy adds a member without a
row.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np

Form = Literal[
    "binary", "reflected", "inplace", "comparison", "unary",
    "value", "shape", "item", "protocol", "method", "reduction", "writer", "view", "host", "other", "absent",
]  # fmt: skip
"""The way in which a member is called.

The first five are operators. ``value``: Python asks for the value, as ``float(x)`` does. ``shape``: known without the values.
``item``: elements by subscripts. ``reduction`` and ``writer`` (in place, without a result) are methods. ``view``: an attribute that
is a view. ``host``: a method that hands values to Python, a file or C code. ``absent``: ``Array`` does not have it.
"""

_OPERATORS = ("binary", "reflected", "inplace", "comparison", "unary")


class Member(NamedTuple):
    """Facts about one member of ndarray: how it is called, and which forms it has. :data:`MEMBERS` has one for each member."""

    name: str
    form: Form
    func: Any = None
    """The ufunc of an operator; for the form ``value``, the Python function that asks for the value."""
    operator: Any = None
    """The function that the thin path calls for an operator: the ufunc if NumPy's operator does nothing but call the ufunc."""
    word: str = ""
    """The name of an operator without its underscores and its ``r`` or ``i``."""
    thin: bool = False
    """Whether the thin path has a form of the member."""
    recorded: bool = False
    """Whether the recorder has a form of the member."""
    computes: bool = False
    """Whether a method computes with the array, so that the library runs it on large arrays."""
    operand: bool = False
    """Whether the first argument of a method may be an array."""
    writes: bool = False
    """Whether the member writes the array."""
    replaces: Literal["", "all", "nonempty", "integers"] = ""
    """The small arrays for which the method may be called in place of NumPy's function of the same name. (For others, a warning that
    NumPy issues would name another source line.)
    """
    reason: str = ""
    """Why the member is absent."""

    @property
    def compared(self) -> bool:
        """Whether ``--verify`` compares the member's result with NumPy's."""
        return (
            self.form in (*_OPERATORS, "method", "reduction", "writer", "view", "item") and self.name not in _UNCOMPARED
        )


_UNCOMPARED = ("__delitem__", "__iter__")
_IN_C = "C code would read memory that the library owns and moves: it gets a copy by __array__"
_OF_SUBCLASSES = "a hook of subclasses of ndarray, which an Array is not"


def _operators(word: str, ufunc: np.ufunc, *, recorded: bool = True, inplace: bool = True, op: Any = None) -> Iterator[Member]:  # fmt: skip
    """Yield the rows of an operator of two operands; ``inplace``: whether its in-place form is thin and recorded where the others are."""
    for side, form in ("", "binary"), ("r", "reflected"), ("i", "inplace"):
        name, short = f"__{side}{word}__", inplace or side != "i"
        if hasattr(np.ndarray, name):
            yield Member(
                name, form, ufunc, op or ufunc, word, short, recorded and short, writes=side == "i"  # type: ignore[arg-type]
            )  # fmt: skip


def _operator(word: str, form: Form, ufunc: np.ufunc, op: Any = None) -> Member:
    return Member(f"__{word}__", form, ufunc, op or ufunc, word, thin=True, recorded=True)


def _values(*asking: Callable[[Any], Any]) -> Iterator[Member]:
    return (Member(f"__{func.__name__}__", "value", func, thin=True) for func in asking)


def _named(names: str, form: Form, **facts: Any) -> Iterator[Member]:
    return (Member(name, form, **facts) for name in names.split())


_ROWS = (
    *_operators("add", np.add), *_operators("sub", np.subtract), *_operators("mul", np.multiply),
    *_operators("truediv", np.divide), *_operators("floordiv", np.floor_divide), *_operators("mod", np.remainder),
    *_operators("and", np.bitwise_and), *_operators("or", np.bitwise_or), *_operators("xor", np.bitwise_xor),
    *_operators("lshift", np.left_shift), *_operators("rshift", np.right_shift),
    *_operators("pow", np.power, inplace=False, op=operator.pow),  # NumPy's operator has shorter ways for some powers
    *_operators("matmul", np.matmul, recorded=False, inplace=False),
    *_operators("divmod", np.divmod, recorded=False),
    _operator("lt", "comparison", np.less), _operator("le", "comparison", np.less_equal),
    _operator("gt", "comparison", np.greater), _operator("ge", "comparison", np.greater_equal),
    _operator("eq", "comparison", np.equal, operator.eq), _operator("ne", "comparison", np.not_equal, operator.ne),  # of anything
    _operator("neg", "unary", np.negative), _operator("pos", "unary", np.positive),
    _operator("abs", "unary", np.absolute), _operator("invert", "unary", np.invert),
    # Values and shapes
    *_values(float, int, bool, complex, operator.index),
    Member("__len__", "shape", len, thin=True, recorded=True),
    *_named("shape ndim size", "shape", thin=True, recorded=True),
    Member("dtype", "other", thin=True),
    *_named("strides flags base itemsize nbytes device flat", "other"),
    # Elements
    Member("__getitem__", "item", thin=True, recorded=True),
    Member("__setitem__", "item", thin=True, recorded=True, writes=True),
    Member("__iter__", "item", thin=True),
    *_named("__delitem__ __contains__", "item"),
    # Methods that a NumPy function does
    *_named("max min", "reduction", thin=True, recorded=True, computes=True, replaces="all"),
    *_named("mean std var", "reduction", thin=True, recorded=True, computes=True, replaces="nonempty"),
    *_named("sum", "reduction", thin=True, recorded=True, computes=True, replaces="integers"),
    *_named("all any argmax argmin", "reduction", thin=True, computes=True, replaces="all"),
    *_named("prod", "reduction", thin=True, computes=True, replaces="integers"),
    *_named("astype", "method", thin=True, recorded=True, computes=True),
    *_named("clip", "method", thin=True, recorded=True, computes=True, operand=True, replaces="all"),
    *_named("argsort nonzero", "method", thin=True, computes=True, replaces="all"),
    *_named("cumprod cumsum round trace", "method", thin=True, computes=True, replaces="integers"),
    Member("dot", "method", thin=True, computes=True, operand=True),
    *_named("copy flatten", "method", thin=True),
    *_named("diagonal ravel reshape squeeze swapaxes transpose", "method", thin=True, replaces="all"),
    *_named("repeat searchsorted take", "method", thin=True, operand=True, replaces="all"),
    *_named("argpartition choose compress getfield", "method"),
    Member("view", "method", thin=True),
    *_named("conj conjugate", "method", thin=True, computes=True),
    Member("byteswap", "method", writes=True),
    *_named("sort partition", "writer", thin=True, computes=True, writes=True),
    *_named("fill", "writer", thin=True, writes=True),
    *_named("put setfield", "writer", writes=True),
    *_named("T mT real imag", "view", thin=True),
    # What leaves the library
    *_named("item tobytes tolist", "host", thin=True),
    *_named("tofile dump dumps data ctypes", "host"),
    *_named("__array__ __buffer__ __format__ __reduce__ __reduce_ex__ __repr__ __str__", "host"),
    *_named("__array_ufunc__ __array_function__", "protocol", thin=True, recorded=True),
    *_named("__array_namespace__ __array_priority__ __dlpack__ __dlpack_device__ to_device", "other"),
    *_named("resize setflags __copy__ __deepcopy__ __doc__ __hash__ __init_subclass__ __new__ __sizeof__ __subclasshook__", "other"),
    *_named("__array_finalize__ __array_wrap__", "absent", reason=_OF_SUBCLASSES),
    *_named("__array_interface__ __array_struct__", "absent", reason=_IN_C),
    Member("__class_getitem__", "absent", reason="the notation np.ndarray[shape, dtype] is ndarray's own"),
    Member("__setstate__", "absent", reason="an Array is rebuilt by the function that __reduce__ names"),
)  # fmt: skip

MEMBERS: dict[str, Member] = {row.name: row for row in _ROWS}
"""Name of a member -> row."""
FORMED = frozenset(row.name for row in _ROWS if row.thin or row.recorded or row.compared)
"""Members that have several forms, one of them in force."""
REDUCTIONS = frozenset(row.name for row in _ROWS if row.form == "reduction" and row.recorded)
"""Methods that are recorded reductions."""
OPERATORS: dict[np.ufunc, Member] = {row.func: row for row in _ROWS if row.form in ("binary", "comparison", "unary")}
"""Ufunc -> the row of its operator."""
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def row_of(word: str) -> Member:
    """Return the row of an operator; ``word`` is the ``add`` of ``__add__``."""
    return MEMBERS[f"__{word}__"]


def operator_of(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    """Return the function of :mod:`operator` that calls a ufunc of two operands."""
    word = OPERATORS[ufunc].word
    return divmod if word == "divmod" else getattr(operator, f"__{word}__")


def reflected_name(ufunc: np.ufunc) -> str:
    """Return the name of the method that Python calls on the second operand of the ufunc's operator, as ``__radd__``."""
    row = OPERATORS[ufunc]
    return f"__{_MIRRORED.get(row.word, row.word) if row.form == 'comparison' else f'r{row.word}'}__"
