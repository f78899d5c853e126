"""Records of a NumPy function's registration, for different parts of the package."""

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
        Whether the result depends on the dtype itself, so that NumPy gets the values in their own dtype.
    unverified : str
        Reason not to run the function a second time.
    error : {"sum", "square", "spread", "remainder", "period"} or None
        Scale of rounding errors besides the result itself. ``sum``: the result of the call on absolute values, for functions that add
        terms. ``square``, ``spread``: the largest value, squared or not. ``remainder``: the largest operand.
        ``period``: 1.
    sign : float
        For a sum or difference of two terms: the sign (1, -1) that the second absolute value gets, so that the call adds it to the first.
    jumps : {"unit", "exact", "operand"} or None
        Size of the result's discontinuities. ``unit``: about 1, or one digit; ``exact``: arbitrary; ``operand``: about that of an operand.
    defined : str
        Name of the check that tests a result by its definition, because the result is not unique; ``conditioned``: the result is unique,
        but the problem amplifies rounding errors.
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
        Whether lines along the axis, or along several axes in turn, are independent. A string also means that ``out=`` is
        supported, and gives the length of the result: ``same``: the line's, or ``n``; ``half``: half of that plus one, for real
        numbers; ``twice``: twice the line's minus two, or ``n``.
    each : int or None
        Position of the argument of which each element independently determines an element of the result.
    light : bool
        Whether the function takes about as long as reading the array, so that a second thread only helps on very large ones.
    """

    apart: bool | Lines = False
    each: int | None = None
    light: bool = False


class Views(NamedTuple):
    """Facts about a function of the mode ``view``, for the dispatch.

    Attributes
    ----------
    many : bool
        Whether all positional arguments are viewed; otherwise only the first one is.
    scalars : bool
        Whether the function calls its argument's method and so returns scalars for a scalar.
    view_if : callable or None
        ``view_if(args, kwargs)``: whether the function returns views in this call.
    part : callable or None
        ``part(xp, a, value, *args, **kwargs)``: the viewed part of ``a``, if it depends on values.
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
        Whether the result depends on the memory addresses of arrays.
    grows : bool
        Whether loops use the function to grow arrays.
    looks : bool
        Whether the function inspects arrays without computing on them.
    sequence : bool
        Whether the first argument is a sequence of arrays, or there is none.
    makes : bool
        Whether NumPy makes arrays from a file, from text, or from single Python objects.
    files : bool
        Whether the function writes files.
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
    """Parameter that can make a call write into its arguments, such as ``out`` or ``overwrite_input``."""

    name: str
    at: int
    """Position among the parameters; larger than all positions for a keyword-only one."""
    harmless: Any
    """Default value; with it the call writes nothing."""

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
        Parameter by which a NumPy function may write into its first argument: ``overwrite_input``, ``copy``.
    order, axis : int or None
        Position of ``order``, and of ``axis``, in NumPy's signature.
    kind : {"composed", "native"}
        ``native``: a front over one primitive.
    pure : bool
        Whether the shapes and dtypes of the result follow from those of the arguments and from static arguments.
    returns : {"array", "scalar", "any"}
        Whether a 0-d result is a scalar, as in NumPy's function; "any": the result is not an array.
    mode : {"function", "like", "view", "attribute", "update", "meta", "arrays", "output"}
        ``like``: the result has the memory order of the first argument, or that of ``order=``.
        ``view``: NumPy may return a view, so the ghosts decide. ``attribute``: the argument's own attribute of that name. ``update``:
        the body returns the new value of its first argument, which is written in place. ``meta``: computed only from shapes and
        dtypes. ``arrays``: the body takes `Array` objects, because it passes views of them to the caller or to a caller's function.
        ``output``: a function whose ``output=`` names a dtype, or an array that takes the result, as in ``scipy.ndimage``.
    moves : bool
        Whether the function moves values without computing new ones, so that the library is not faster on an array on the host.
    outer : bool
        Whether the result has an element for each pair of elements of the arguments, so that small arguments give a large result.
    tables : tuple of int
        Positions of arrays in which a call only looks up elements, unless an axis is given: the call's size is that of the other arguments.
    min_bits : int
        Minimum number of bits for the computation when a precision policy narrows floats (32 for linear algebra and FFT).
    into : frozenset of {"made", "accumulates", "positions", "divides", "casts", "fills", "exact"}
        NumPy's rules for ``out=``. ``made``: the result is computed in the dtype of ``out``, and ``casting=`` applies to each argument.
        ``accumulates``: the accumulator's dtype fits both the operand and ``out`` unless ``dtype=``, the parameter
        before ``out``, is given. ``positions``: ``out`` must have integers. ``divides``: the sum is stored in ``out`` before it is divided.
        ``casts``: the result is written with casting="unsafe", as it is for ``accumulates``, ``positions`` and ``divides``. ``fills``: the
        last step, a ufunc or an assignment, broadcasts the result. ``exact``: ``out`` must have the dtype of the result and be in C order.
    writer : ufunc or None
        Ufunc that NumPy uses to write ``out=``; NumPy's error for a wrong dtype names it.
    layout : Layout or None
        Memory order of NumPy's new results.
    refusal : str
        NumPy's text of its error for a read-only first argument that a function of the mode ``update`` would write.
    reported : bool
        Results are always checked for floating-point errors, because they are small compared with the operands.
    uncopied : bool
        Whether the function writes into its first argument if called with ``copy=False``, its second parameter.
    in_place : bool
        Whether SciPy computes in the memory of arguments that it may overwrite (``overwrite_a=True``), so that results share that memory.
    whole : ufunc, callable or None
        For a function that reduces a whole array if called with only that: the ufunc of the reduction, or a function that returns the plan
        for a kind.
    recorded : bool
        Whether fused execution records the function, as it does ufuncs and reductions.
    orders : bool
        Whether integer arguments may be degrees and orders. Their values are needed, so ndarrays of them are not converted.
    of_elements : bool
        Whether NumPy asks the elements of the argument, not the argument, for ``__array_function__`` (NEP 18).
    keeps : callable or None
        ``keeps(made, *args, **kwargs)``: the result, with arguments in place of results where NumPy returns the argument itself.
    views : Views
        Facts about the views of a function of the mode ``view``.
    parallel : Parallel
        Facts for sharing the work on the host among threads.
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
        """Whether the function moves whole arrays, and the result's shape follows from theirs."""
        return self.moves and self.pure and self.mode == "function" and not self.tables

    def looks_into(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[int, ...]:
        """Return the positions of the arrays in which a call only looks up elements."""
        whole = "axis" in kwargs or (self.axis is not None and len(args) > self.axis)
        return () if whole else self.tables

    def may_write(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call may write into its arguments, or allows that by returning a view of them or passing them to a callback."""
        if self.mode != "function":
            return True
        for parameter in self.written:  # noqa: SIM110 -- a third of the time of any()
            if parameter.asked(args, kwargs):
                return True
        return False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OnHost(Facts):
    """Function that NumPy runs on the host on every backend, and the reason. ``writes``: positions of the arguments it writes into."""

    reason: OnlyOnHost
    writes: tuple[int, ...] = ()


_RECORDS: dict[str, Any] = {"checks": Checks, "parallel": Parallel, "views": Views}


@cache
def _records_of(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls) if field.name in _RECORDS)


def sorted_out(cls: Any, facts: dict[str, Any]) -> dict[str, Any]:
    """Return keyword arguments for ``cls``: facts, with those of a record (:class:`Checks`, …) gathered into that record."""
    left = dict(facts)
    for name in _records_of(cls):
        given = {key: left.pop(key) for key in _RECORDS[name]._fields if key in left}
        if given:
            left[name] = _RECORDS[name](**given)
    return left
