"""Records that make up the registration of a NumPy function; each is for another part of the package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
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
Into = Literal["made", "accumulates", "positions", "divides", "casts", "fills", "exact"]
Lines = Literal["same", "half", "twice"]


class Checks(NamedTuple):
    """Facts for :mod:`arraydispatch.profiling.verification`, which runs a function a second time to check it.

    Attributes
    ----------
    raw : bool
        The result depends on the dtype itself, so NumPy gets the values in their own dtype.
    unverified : str
        Reason not to run it a second time.
    error : {"sum", "square", "spread", "remainder", "period"} or None
        Scale of rounding errors, besides the result. ``sum``: the same call on absolute values, because it adds terms.
        ``square``, ``spread``: the largest value, squared or not. ``remainder``: the largest operand.
        ``period``: 1.
    sign : float
        For a sum of two terms: the sign with which the second one's absolute value adds to that of the first.
    jumps : {"unit", "exact", "operand"} or None
        Size of discontinuities of the result: about 1 or a digit, arbitrary, or about an operand.
    defined : str
        Check of a result that is not unique against its definition; ``conditioned``: it is unique, and the problem amplifies
        rounding.
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
        Lines along the axis, or along several axes one after the other, are independent. A string also means that ``out=`` is
        supported, and gives the length of the result: ``same`` as the line, or ``n``; ``half`` of that and one more, of real
        numbers; ``twice`` the line less two, or ``n``.
    each : int or None
        Position of the argument whose elements give the elements of the result independently.
    light : bool
        It takes about as long as to read the array, so that a second thread gains nothing but on very large ones.
    """

    apart: bool | Lines = False
    each: int | None = None
    light: bool = False


class Views(NamedTuple):
    """Facts about a function of the mode ``view``, for the dispatch.

    Attributes
    ----------
    many : bool
        All positional arguments are arrays to view; otherwise the first one is.
    scalars : bool
        It calls the method of its argument, so for a scalar it returns scalars.
    view_if : callable or None
        ``view_if(args, kwargs)``: whether it returns views in this call.
    part : callable or None
        ``part(xp, a, value, *args, **kwargs)``: the part of ``a`` that is viewed, which depends on values.
    """

    many: bool = False
    scalars: bool = False
    view_if: Callable[[tuple[Any, ...], dict[str, Any]], bool] | None = None
    part: Callable[..., Any] | None = None


_CHECKS, _PARALLEL, _VIEWS = Checks(), Parallel(), Views()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Facts:
    """Facts about a function on every backend.

    Attributes
    ----------
    memory : bool
        Its result depends on the memory addresses of arrays.
    grows : bool
        Loops use it to grow arrays.
    looks : bool
        It inspects arrays without computing on them.
    sequence : bool
        Its first argument is a sequence of arrays, or none at all.
    makes : bool
        NumPy makes its arrays from a file, from text, or from Python objects one by one.
    files : bool
        It writes files.
    checks : Checks
        Rules for verification of its results.
    """

    memory: bool = False
    grows: bool = False
    looks: bool = False
    sequence: bool = False
    makes: bool = False
    files: bool = False
    checks: Checks = _CHECKS


class Written(NamedTuple):
    """Parameter by which a call may write into its arguments: ``out``, ``overwrite_input``."""

    name: str
    at: int
    """Position among the parameters; larger than all positions for a keyword-only one."""
    harmless: Any
    """Default value, with which the call writes nothing."""

    def asked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call passes a value other than the default."""
        value = args[self.at] if len(args) > self.at else kwargs.get(self.name, self.harmless)
        return value is not self.harmless


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spec(Facts):
    """Registration of one NumPy function, for all backends.

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
    overwrites : Written or None
        The one by which a function of NumPy's may write into its first argument: ``overwrite_input``, ``copy``.
    order, axis : int or None
        Position of ``order``, and of ``axis``, in NumPy's signature.
    kind : {"composed", "native"}
        ``native``: a front over one primitive.
    pure : bool
        Whether the shapes and dtypes of the result follow from those of the arguments and from static arguments.
    returns : {"array", "scalar", "any"}
        Whether a 0-d result is a scalar, as NumPy has it for this function; "any": it is not an array.
    mode : {"function", "like", "view", "attribute", "update", "meta", "arrays", "output"}
        ``like``: the result has the memory order of the first argument, or that of ``order=``.
        ``view``: NumPy may return a view, so the ghosts decide. ``attribute``: the argument's own attribute of that name. ``update``:
        the body returns the new value of its first argument, which is written in place. ``meta``: computed from shapes and dtypes
        alone. ``arrays``: the body takes `Array` objects, since it passes views of them to the caller or to a function of the caller's.
        ``output``: a function whose ``output=`` names a dtype, or an array that takes the result, as in ``scipy.ndimage``.
    moves : bool
        It moves values without computing new ones, so the library is no faster on an array held by the host.
    outer : bool
        Its result has an element for each pair of elements of its arguments, so it is large where they are small.
    tables : tuple of int
        Positions of the arrays that a call only looks into, unless it is given an axis: its size is that of the other arguments.
    min_bits : int
        Compute at no fewer bits than this when a precision policy narrows floats (32 for linear algebra and FFT).
    into : frozenset of {"made", "accumulates", "positions", "divides", "casts", "fills", "exact"}
        NumPy's rules for ``out=``. ``made``: the result is made in its dtype, and ``casting=`` applies to each argument.
        ``accumulates``: the accumulation has a dtype for both operand and ``out=`` unless ``dtype=``, the parameter
        before it, is given. ``positions``: it must have integers. ``divides``: the sum is kept there before it is divided.
        ``casts``: the result is written there with casting="unsafe", as in the last three cases. ``fills``: the last step, a
        ufunc or an assignment, broadcasts the result. ``exact``: it must have the dtype of the result and lie in C order.
    writer : ufunc or None
        The ufunc by which NumPy writes ``out=``, which its error for a dtype names.
    layout : Layout or None
        Memory order of NumPy's new results.
    refusal : str
        NumPy's text of its error for a read-only first argument that a function of the mode ``update`` would write.
    reported : bool
        Results are always checked for floating-point errors, because they are small compared with the operands.
    uncopied : bool
        It writes into its first argument if called with ``copy=False``, which is its second parameter.
    in_place : bool
        SciPy computes it in the memory of arguments that it may overwrite (``overwrite_a=True``), so that they share it with results.
    whole : ufunc, callable or None
        If the function of an array alone reduces all of it: the ufunc of the reduction, or a function that returns the plan for a kind.
    recorded : bool
        Fused execution records it, as ufuncs and reductions.
    orders : bool
        Integers among its arguments may be degrees and orders, whose values it needs: ndarrays of them are not converted.
    of_elements : bool
        NumPy asks the elements of its argument, not the argument, who implements it (NEP 18).
    keeps : callable or None
        ``keeps(made, *args, **kwargs)``: the result with the arguments in it that NumPy itself returns.
    views : Views
        Facts about the views of a function of the mode ``view``.
    parallel : Parallel
        Facts for sharing its work on the host among threads.
    """

    func: Any
    body: Body
    out: int | None
    written: tuple[Written, ...]
    overwrites: Written | None
    order: int | None
    axis: int | None
    kind: Literal["native", "composed"] = "composed"
    pure: bool = True
    returns: Returns = "array"
    mode: Mode = "function"
    moves: bool = False
    outer: bool = False
    tables: tuple[int, ...] = ()
    min_bits: int = 16
    into: frozenset[Into] = frozenset()
    writer: np.ufunc | None = None
    layout: Layout | None = None
    refusal: str = "assignment destination is read-only"
    reported: bool = False
    uncopied: bool = False
    in_place: bool = False
    whole: np.ufunc | Callable[[Any], Any] | None = None
    recorded: bool = False
    orders: bool = False
    of_elements: bool = False
    keeps: Callable[..., Any] | None = None
    views: Views = _VIEWS
    parallel: Parallel = _PARALLEL

    @property
    def computes(self) -> bool:
        """Whether the function computes new values, rather than moving, viewing or writing those of its arguments."""
        return self.mode in ("function", "output") and not self.moves

    @property
    def is_moved_by_blocks(self) -> bool:
        """Whether the function moves whole arrays, and its result's shape follows from theirs."""
        return self.moves and self.pure and self.mode == "function" and not self.tables

    def looks_into(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[int, ...]:
        """Return the positions of the arrays that a call only looks into."""
        whole = "axis" in kwargs or (self.axis is not None and len(args) > self.axis)
        return () if whole else self.tables

    def may_write(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call may write into its arguments, or make that possible by a view of them or by passing them to a callback."""
        if self.mode != "function":
            return True
        for parameter in self.written:  # noqa: SIM110 -- a third of the time of any()
            if parameter.asked(args, kwargs):
                return True
        return False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OnHost(Facts):
    """Function that NumPy runs on the host on every backend, and the reason; it writes into the arguments at the positions ``writes``."""

    reason: OnlyOnHost
    writes: tuple[int, ...] = ()


_RECORDS: dict[str, Any] = {"checks": Checks, "parallel": Parallel, "views": Views}


@cache
def _records_of(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls) if field.name in _RECORDS)


def sorted_out(cls: Any, facts: dict[str, Any]) -> dict[str, Any]:
    """Distribute the facts of a registration to the records of a class."""
    left = dict(facts)
    for name in _records_of(cls):
        given = {key: left.pop(key) for key in _RECORDS[name]._fields if key in left}
        if given:
            left[name] = _RECORDS[name](**given)
    return left
