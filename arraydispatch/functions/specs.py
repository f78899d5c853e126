"""What is said of a NumPy function where it is implemented, and all that others ask about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ..runtime.dtypes import OnlyOnHost

__all__ = ["Body", "Error", "Facts", "Into", "Jumps", "Layout", "Mode", "OnHost", "Returns", "Spec", "Written"]

Body = Callable[..., Any]

Returns = Literal["array", "scalar", "any"]
Mode = Literal["function", "like", "view", "attribute", "update", "meta", "arrays", "output"]
Into = Literal["made", "accumulates", "positions", "divides", "casts", "fills"]
Layout = Literal[
    "reduced", "first", "broadcast", "joined", "appended", "triangular", "rounded", "fortran",
    "c", "spectrum", "normed", "factors", "singular", "power", "crossed", "summed",
    "walked", "copied", "rolled", "stacked", "deep", "blocks", "columns", "tiled", "spaced", "trapezoid", "second",
]  # fmt: skip
Error = Literal["sum", "square", "spread", "remainder", "period"]
Lines = Literal["same", "half", "twice"]
Jumps = Literal["unit", "exact", "operand"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is true of a function wherever it runs.

    Attributes
    ----------
    memory : bool
        It tells where arrays are in memory.
    grows : bool
        Loops grow arrays by it.
    raw : bool
        Its result says something about the dtype itself, so who checks it gives NumPy the values as they are.
    looks : bool
        It tells something about arrays without computing on them.
    sequence : bool
        Its first argument is a sequence of arrays, or none at all.
    makes : bool
        NumPy makes its arrays, of a file, of text, or of Python's objects one by one.
    files : bool
        It writes files.
    unverified : str
        Why it is not run a second time to be checked.
    error : {"sum", "square", "spread", "remainder", "period"} or None
        What rounding errors are relative to, besides the result. ``sum``: it adds terms, so to the same call on absolute
        values. ``square``, ``spread``: to the largest value, squared or not. ``remainder``: to the largest operand.
        ``period``: to 1.
    sign : float
        Of a sum of two terms: the sign with which the second one's absolute value adds to that of the first.
    jumps : {"unit", "exact", "operand"} or None
        Its result changes by more than a little where an argument changes by a little: by about 1 or a digit, to another
        value altogether, by about an operand.
    apart : bool or {"same", "half", "twice"}
        Each line along its axis, or axes one after the other, is computed for itself. Not a bool: and written to where ``out=`` says.
        ``same``: it is as long as it was, or as ``n`` says. ``half``: of real numbers, half of that and one more. ``twice``: twice as
        long as it was, but for two, or as ``n`` says.
    each : int or None
        The position of the argument each element of which gives an element of the result, whatever its other elements are.
    defined : str
        Which check of :mod:`arraydispatch.profiling.verification` holds a result that is not unique against what defines it.
    """

    memory: bool = False
    grows: bool = False
    raw: bool = False
    looks: bool = False
    sequence: bool = False
    makes: bool = False
    files: bool = False
    unverified: str = ""
    error: Error | None = None
    sign: float = 0.0
    jumps: Jumps | None = None
    apart: bool | Lines = False
    each: int | None = None
    defined: str = ""


class Written(NamedTuple):
    """A parameter by which a call may write into its arguments: ``out``, ``overwrite_input``."""

    name: str
    at: int
    """Its position; beyond all of them, where it is given by name alone."""
    harmless: Any
    """Its default, with which nothing is written."""

    def asked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call gives another value than the default."""
        value = args[self.at] if len(args) > self.at else kwargs.get(self.name, self.harmless)
        return value is not self.harmless


@dataclass(frozen=True, slots=True)
class Spec(Facts):
    """What is registered for one NumPy function, whatever the backend.

    Attributes
    ----------
    func : callable
        The NumPy function object.
    body : callable
        ``body(xp, *args, **kwargs)`` on native arrays.
    kind : {"native", "composed"}
        ``native``: a front over one primitive.
    pure : bool
        Whether the shapes and dtypes of the result follow from those of the arguments and from static arguments.
    returns : {"scalar", "array", "any"}
        Whether a 0-d result is a scalar, as NumPy has it for this function; "any": it is not an array.
    mode : {"function", "like", "view", "attribute", "update", "meta", "arrays", "output"}
        ``like``: the result has the memory order of the first argument, or as ``order=`` says.
        ``view``: NumPy may return a view, so the ghosts decide. ``attribute``: the argument's own, of the same name. ``update``: the body returns the new value of its first
        argument, which is written in place. ``meta``: answered from shapes and dtypes alone. ``arrays``: the body takes
        arrays of ours as they are, since it hands views of them on, to the caller or to a function of the caller's.
        ``output``: a function whose ``output=`` names a dtype, or an array that takes the result, as in ``scipy.ndimage``.
    min_bits : int
        Compute at no fewer bits than this when a precision policy narrows floats (32 for linear algebra and FFT).
    out : int or None
        Position of ``out`` in NumPy's signature.
    written : tuple of Written
        Parameters of NumPy's signature by which a call may write into its arguments.
    order : int or None
        Position of ``order`` in NumPy's signature.
    into : frozenset of {"made", "accumulates", "positions", "divides", "casts", "fills"}
        What NumPy does for ``out=``. ``made``: it makes the result in its dtype, and ``casting=`` holds for each argument.
        ``accumulates``: it accumulates in a dtype for both operand and ``out=`` if no ``dtype=`` is given, which stands
        before it. ``positions``: it wants integers. ``divides``: it keeps a sum there before it divides it. ``casts``: it
        writes the result there with casting="unsafe", as it does in the last three cases. ``fills``: its last step, a ufunc
        or an assignment, broadcasts the result.
    layout : str or None
        The rule that NumPy has for the memory order of new results, in :mod:`arraydispatch.dispatch.memory_order`.
    reported : bool
        Floating-point errors are looked for always: the results are small beside the operands.
    uncopied : bool
        It writes into its first argument if called with ``copy=False``, which is its second parameter.
    many : bool
        Of a view function: all positional arguments are arrays to view; of the others the first one is.
    scalars : bool
        Of a view function: it calls the method of its argument, so of a scalar it makes scalars.
    view_if : callable or None
        ``view_if(args, kwargs)``: whether a view function returns views in this call.
    part : callable or None
        ``part(xp, a, value, *args, **kwargs)``: of a view function, the part of ``a`` that the values say is viewed.
    whole : ufunc, callable or None
        If the function with nothing but an array reduces all of it: the ufunc that does, or what gives the plan for a kind.
    orders : bool
        Integers among its arguments may be degrees and orders, whose values it needs: of NumPy's own arrays it gets them as they are.
    keeps : callable or None
        ``keeps(made, *args, **kwargs)``: the result with those of the arguments in it that NumPy itself returns.
    """

    func: Any
    body: Body
    kind: Literal["native", "composed"]
    pure: bool
    returns: Returns
    mode: Mode
    min_bits: int
    out: int | None
    written: tuple[Written, ...]
    order: int | None
    whole: np.ufunc | Callable[[Any], Any] | None = None
    keeps: Callable[..., Any] | None = None
    into: frozenset[Into] = frozenset()
    layout: Layout | None = None
    reported: bool = False
    uncopied: bool = False
    many: bool = False
    scalars: bool = False
    view_if: Callable[[tuple[Any, ...], dict[str, Any]], bool] | None = None
    part: Callable[..., Any] | None = None
    orders: bool = False

    @property
    def computes(self) -> bool:
        """Whether the function makes new values of its arguments', and does more than move, view or write them."""
        return self.mode in ("function", "output") and self.body.__module__.rpartition(".")[2] not in _MOVING

    def may_write(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call may write into its arguments, or give what can: a view of them, or they themselves to a callback."""
        if self.mode != "function":
            return True
        for parameter in self.written:  # noqa: SIM110 -- a third of the time of any()
            if parameter.asked(args, kwargs):
                return True
        return False


_MOVING = frozenset({"manipulation", "joining", "indexing", "creation", "padding", "advanced_index"})
"""Topics whose functions move values."""


@dataclass(frozen=True, slots=True)
class OnHost(Facts):
    """A function that NumPy runs on the host on every backend.

    Attributes
    ----------
    reason : str
        Why it does.
    writes : tuple of int
        Positions of the arguments that it writes into.
    """

    reason: OnlyOnHost
    writes: tuple[int, ...] = ()
