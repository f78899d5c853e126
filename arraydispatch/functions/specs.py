"""The records of which the registration of a NumPy function consists, each for those who read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple

import numpy as np

from ..runtime.dtypes import OnlyOnHost
from ..ufuncs.facts import Error, Jumps
from .layouts import Layout

__all__ = [
    "Body", "Checks", "Error", "Facts", "Into", "Jumps", "Layout", "Mode", "OnHost", "Parallel", "Returns", "Spec", "Views", "Written",
    "sorted_out",
]  # fmt: skip

Body = Callable[..., Any]

Returns = Literal["array", "scalar", "any"]
Mode = Literal["function", "like", "view", "attribute", "update", "meta", "arrays", "output"]
Into = Literal["made", "accumulates", "positions", "divides", "casts", "fills"]
Lines = Literal["same", "half", "twice"]


class Checks(NamedTuple):
    """Facts for :mod:`arraydispatch.profiling.verification`, which runs a function a second time to check it.

    Attributes
    ----------
    raw : bool
        Its result says something about the dtype itself, so NumPy gets the values as they are.
    unverified : str
        Why it is not run a second time.
    error : {"sum", "square", "spread", "remainder", "period"} or None
        What rounding errors are relative to, besides the result. ``sum``: it adds terms, so to the same call on absolute
        values. ``square``, ``spread``: to the largest value, squared or not. ``remainder``: to the largest operand.
        ``period``: to 1.
    sign : float
        Of a sum of two terms: the sign with which the second one's absolute value adds to that of the first.
    jumps : {"unit", "exact", "operand"} or None
        Its result changes by more than a little where an argument changes by a little: by about 1 or a digit, to another
        value altogether, by about an operand.
    defined : str
        The check that holds a result that is not unique against what defines it.
    """

    raw: bool = False
    unverified: str = ""
    error: Error | None = None
    sign: float = 0.0
    jumps: Jumps | None = None
    defined: str = ""


class Parallel(NamedTuple):
    """Facts for :mod:`arraydispatch.engine.along_axis`, which runs NumPy on parts of an array in threads.

    Attributes
    ----------
    apart : bool or {"same", "half", "twice"}
        Each line along its axis, or axes one after the other, is computed for itself. Not a bool: and written to where ``out=`` says.
        ``same``: it is as long as it was, or as ``n`` says. ``half``: of real numbers, half of that and one more. ``twice``: twice as
        long as it was, but for two, or as ``n`` says.
    each : int or None
        The position of the argument each element of which gives an element of the result, whatever its other elements are.
    """

    apart: bool | Lines = False
    each: int | None = None


class Views(NamedTuple):
    """Facts about a function of the mode ``view``, for the dispatch.

    Attributes
    ----------
    many : bool
        All positional arguments are arrays to view; of the other functions the first one is.
    scalars : bool
        It calls the method of its argument, so of a scalar it makes scalars.
    view_if : callable or None
        ``view_if(args, kwargs)``: whether it returns views in this call.
    part : callable or None
        ``part(xp, a, value, *args, **kwargs)``: the part of ``a`` that the values say is viewed.
    """

    many: bool = False
    scalars: bool = False
    view_if: Callable[[tuple[Any, ...], dict[str, Any]], bool] | None = None
    part: Callable[..., Any] | None = None


_CHECKS, _PARALLEL, _VIEWS = Checks(), Parallel(), Views()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is true of a function wherever it runs.

    Attributes
    ----------
    memory : bool
        It tells where arrays are in memory.
    grows : bool
        Loops grow arrays by it.
    looks : bool
        It tells something about arrays without computing on them.
    sequence : bool
        Its first argument is a sequence of arrays, or none at all.
    makes : bool
        NumPy makes its arrays, of a file, of text, or of Python's objects one by one.
    files : bool
        It writes files.
    checks : Checks
        How verification judges its results.
    """

    memory: bool = False
    grows: bool = False
    looks: bool = False
    sequence: bool = False
    makes: bool = False
    files: bool = False
    checks: Checks = _CHECKS


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec(Facts):
    """What is registered for one NumPy function, whatever the backend.

    Attributes
    ----------
    func : callable
        The NumPy function object.
    body : callable
        ``body(xp, *args, **kwargs)`` on native arrays.
    out : int or None
        Position of ``out`` in NumPy's signature.
    written : tuple of Written
        Parameters of NumPy's signature by which a call may write into its arguments.
    order : int or None
        Position of ``order`` in NumPy's signature.
    kind : {"composed", "native"}
        ``native``: a front over one primitive.
    pure : bool
        Whether the shapes and dtypes of the result follow from those of the arguments and from static arguments.
    returns : {"array", "scalar", "any"}
        Whether a 0-d result is a scalar, as NumPy has it for this function; "any": it is not an array.
    mode : {"function", "like", "view", "attribute", "update", "meta", "arrays", "output"}
        ``like``: the result has the memory order of the first argument, or as ``order=`` says.
        ``view``: NumPy may return a view, so the ghosts decide. ``attribute``: the argument's own, of the same name. ``update``: the body returns the new value of its first
        argument, which is written in place. ``meta``: answered from shapes and dtypes alone. ``arrays``: the body takes
        arrays of ours as they are, since it hands views of them on, to the caller or to a function of the caller's.
        ``output``: a function whose ``output=`` names a dtype, or an array that takes the result, as in ``scipy.ndimage``.
    moves : bool
        It moves values and makes no new ones, so a library gains nothing by it on an array that the host holds.
    min_bits : int
        Compute at no fewer bits than this when a precision policy narrows floats (32 for linear algebra and FFT).
    into : frozenset of {"made", "accumulates", "positions", "divides", "casts", "fills"}
        What NumPy does for ``out=``. ``made``: it makes the result in its dtype, and ``casting=`` holds for each argument.
        ``accumulates``: it accumulates in a dtype for both operand and ``out=`` if no ``dtype=`` is given, which stands
        before it. ``positions``: it wants integers. ``divides``: it keeps a sum there before it divides it. ``casts``: it
        writes the result there with casting="unsafe", as it does in the last three cases. ``fills``: its last step, a ufunc
        or an assignment, broadcasts the result.
    layout : Layout or None
        The memory order that NumPy gives new results.
    reported : bool
        Floating-point errors are looked for always: the results are small beside the operands.
    uncopied : bool
        It writes into its first argument if called with ``copy=False``, which is its second parameter.
    whole : ufunc, callable or None
        If the function with nothing but an array reduces all of it: the ufunc that does, or what gives the plan for a kind.
    orders : bool
        Integers among its arguments may be degrees and orders, whose values it needs: of NumPy's own arrays it gets them as they are.
    keeps : callable or None
        ``keeps(made, *args, **kwargs)``: the result with those of the arguments in it that NumPy itself returns.
    views : Views
        What is viewed, of a function of the mode ``view``.
    parallel : Parallel
        How its work on the host is shared among threads.
    """

    func: Any
    body: Body
    out: int | None
    written: tuple[Written, ...]
    order: int | None
    kind: Literal["native", "composed"] = "composed"
    pure: bool = True
    returns: Returns = "array"
    mode: Mode = "function"
    moves: bool = False
    min_bits: int = 16
    into: frozenset[Into] = frozenset()
    layout: Layout | None = None
    reported: bool = False
    uncopied: bool = False
    whole: np.ufunc | Callable[[Any], Any] | None = None
    orders: bool = False
    keeps: Callable[..., Any] | None = None
    views: Views = _VIEWS
    parallel: Parallel = _PARALLEL

    @property
    def computes(self) -> bool:
        """Whether the function makes new values of its arguments', and does more than move, view or write them."""
        return self.mode in ("function", "output") and not self.moves

    def may_write(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call may write into its arguments, or give what can: a view of them, or they themselves to a callback."""
        if self.mode != "function":
            return True
        for parameter in self.written:  # noqa: SIM110 -- a third of the time of any()
            if parameter.asked(args, kwargs):
                return True
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
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


_RECORDS: dict[str, Any] = {"checks": Checks, "parallel": Parallel, "views": Views}


def sorted_out(cls: type[Facts], facts: dict[str, Any]) -> dict[str, Any]:
    """Put the facts that a registration lists into the records of a class that hold them."""
    left = dict(facts)
    for name in [field.name for field in fields(cls) if field.name in _RECORDS]:
        given = {key: left.pop(key) for key in _RECORDS[name]._fields if key in left}
        if given:
            left[name] = _RECORDS[name](**given)
    return left
