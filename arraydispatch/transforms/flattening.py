"""Conversion of a user's function on pytrees of arrays to a function of native arrays for a library's transform."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from .._core.handles import Handle
from ..array import Array
from ..array.scalar import Scalar
from ..backends import loader
from ..backends.base import Backend, Native
from ..backends.kinds import Kind
from ..common import tracing
from ..common.errors import TraceError
from ..common.process_state import process
from ..common.pytrees import Structure, tree_flatten, tree_unflatten, unflatten_call
from ..common.tracing import name_of
from ..dispatch import wrapping
from ..memory import views, writing
from ..runtime import conversion, settings
from .trace_context import Inside

__all__ = ["Body", "Fixed", "Given", "Input", "Same", "Traced", "is_array", "library_of", "name_of", "native_of"]


def is_array(x: Any) -> bool:
    """Whether a leaf is an `Array`, an array of NumPy or of a library, or a NumPy scalar."""
    return isinstance(x, Handle | np.ndarray | np.generic) or loader.backend_of(x) is not None


def library_of(leaves: Sequence[Any]) -> Backend:
    """Return the backend that transforms a call on these arguments: that of the arrays; the default one if they are all NumPy's."""
    found = wrapping.find_backend(leaves)
    if found is None or found.home.native_is_ndarray:
        found = settings.current_backend()
    return found.home


def native_of(x: Any, backend: Backend) -> Native:
    """Convert a leaf to a native array of the backend; NumPy arrays and numbers are moved there."""
    if isinstance(x, Array):
        held = x._kind.backend
        if held.home is backend:
            return x.native if held.hosted else views.expose(x)
        x = x.to_numpy()
    elif backend.is_native(x):
        return x
    host = np.asarray(x)
    precise = conversion.precise(host.dtype)
    return conversion.upload(backend, host.astype(precise, copy=False), None, "an argument of a transform")


def _own(x: Array) -> Native:
    """Return the library's own array, for reading."""
    return x.native if x._kind.backend.hosted else views.expose(x)


class Input(NamedTuple):
    """An argument's leaf that becomes a traced array."""

    standard: bool
    """Whether the array was made by an array-API namespace."""
    scalar: bool
    """Whether the leaf is a scalar: Python's, NumPy's, or one on a device."""
    make: Callable[[Native, Kind], Any] | None = None
    """Function that wraps the native array, if not the class of arrays or of scalars."""

    @classmethod
    def of(cls, x: Any) -> Input:
        """Describe a leaf as the function sees it."""
        if isinstance(x, Handle):
            # Test this first and alone: other isinstance checks of an array look up which class it presents.
            return cls(x._kind.standard, isinstance(x, Scalar))
        return cls(False, isinstance(x, np.generic | int | float | complex))


class Same(NamedTuple):
    """An argument's leaf that is the same array as leaf number ``at``, an earlier one."""

    at: int


class Traced(NamedTuple):
    """A leaf of a result that is a native array."""

    standard: bool
    scalar: bool
    same: int | None = None
    """Number of an earlier leaf of the result with the same array."""


class Given(NamedTuple):
    """A leaf of a result that is an argument's leaf itself."""

    at: int
    counts: bool = False
    """Whether the argument's native array is also among the results."""


class Fixed(NamedTuple):
    """A leaf of a result that does not depend on the trace."""

    value: Any


class Body:
    """User's function as a function of native arrays.

    ``what``: public name of the transform. ``structure``: structure of ``(args, kwargs)``. ``slots``: for each leaf an :class:`Input`,
    a :class:`Same`, or the leaf itself, which the function gets unchanged. ``inputs``: positions of the inputs among the slots, if known.
    ``staged``: see :class:`arraydispatch.common.tracing.Trace`. ``parts``: number of parts in the tuple that the function returns; the
    first is the main one (1: the result itself is the only part). ``among``: leaves of the arguments to differentiate: if the function
    returns one, its array is treated like any other result.
    """

    def __init__(
        self, fun: Callable[..., Any], what: str, structure: Structure, slots: Sequence[Any], backend: Backend,
        staged: bool, parts: int = 1, among: Sequence[int] = (), inputs: list[int] | None = None,
    ) -> None:  # fmt: skip
        self.fun = fun
        self.what = what
        self.structure = structure
        self.slots = list(slots)
        self.inputs = [i for i, slot in enumerate(slots) if type(slot) is Input] if inputs is None else inputs
        self.backend = backend
        self.staged = staged
        self.parts = parts
        self.among = among
        self.ends = True
        """Whether values can no longer be read after the function has returned."""
        self.written: list[int] = []
        """Inputs that the function wrote in the last run."""
        self.structures: list[Structure] = []
        """Structure of each part of the last run's result; the first part is the main one."""
        self.outputs: list[list[Any]] = []
        """Description of each leaf of these parts."""

    @property
    def name(self) -> str:
        """Name of the function in messages."""
        return name_of(self.fun)

    def natives_of(self, leaves: Sequence[Any]) -> list[Native]:
        """Return the native arrays of a call's leaves that are inputs."""
        return [native_of(leaves[i], self.backend) for i in self.inputs]

    # -- running ---------------------------------------------------------------------------------------------------------

    def __call__(self, natives: Sequence[Native]) -> tuple[list[Native], list[Native]]:
        """Run the function; return the native arrays of its main result, and those of the rest and of the arguments it wrote."""
        inner = self.backend.traced
        with Inside(self.what, self.fun, self.backend, self.staged, self.ends):
            leaves, handles = list(self.slots), []
            for i, value in zip(self.inputs, natives):
                handle = leaves[i] = self._wrapped(leaves[i], value, inner)
                handles.append(handle)
            if len(handles) != len(leaves):
                for i, slot in enumerate(leaves):
                    if type(slot) is Same:
                        leaves[i] = leaves[slot.at]
            args, kwargs = unflatten_call(self.structure, leaves)
            made = self.fun(*args, **kwargs)
            results = (made,) if self.parts == 1 else self._in_parts(made)
            self.structures, self.outputs = [], []
            made_of: list[list[Native]] = []
            for part in results:
                out, structure = tree_flatten(part)
                values: list[Native] = []
                outputs = [self._output(x, handles, values, not self.outputs) for x in out]
                if len(out) > 1:
                    _mark_repeated(out, outputs)
                self.outputs.append(outputs)
                self.structures.append(structure)
                made_of.append(values)
            self.written = []
            written: list[Native] = []
            for k, handle in enumerate(handles):
                if handle._writes and not isinstance(handle, Scalar):
                    if (handle.shape, handle.dtype) != (inner.shape_of(natives[k]), inner.dtype_of(natives[k])):
                        raise TraceError(
                            f"{self.name} changes the shape or the dtype of an argument in place, which does not reach the "
                            f"caller through {self.what}; return the array instead."
                        )
                    self.written.append(k)
                    written.append(_own(handle))
            if self.backend.mutable:
                self._take_apart(made_of, [*natives, *written], inner)
            return made_of[0], [*chain.from_iterable(made_of[1:]), *written]

    def _take_apart(self, results: list[list[Native]], others: list[Native], inner: Backend) -> None:
        """Copy results that share memory with one of ``others`` (arguments, arrays from outside) or with each other, because the caller may
        write them.

        While a transform runs, arrays are never written, so the array itself serves as a copy.
        """
        traced = any(map(inner.recorded, others))
        for values in results:
            for i, x in enumerate(values):
                if (traced and not inner.recorded(x)) or any(map(inner.may_share, repeat(x), others)):
                    values[i] = self.backend.prim.copy(x)
                others.append(values[i])

    @staticmethod
    def _wrapped(slot: Input, value: Native, inner: Backend) -> Any:
        standard, scalar, make = slot
        kind = inner.standard_kind(inner.dtype_of(value)) if standard else inner.kind_of(value)
        if make is not None:
            return make(value, kind)
        return Scalar._holding(value, kind) if scalar else process.wrapper(value, kind)

    def _in_parts(self, made: Any) -> tuple[Any, ...]:
        if not isinstance(made, tuple) or len(made) != self.parts:
            raise TypeError(
                f"{self.name} must return a pair (result, auxiliary data) for has_aux=True; it returned "
                f"{_described(made)}."
            )
        return made

    def _output(self, x: Any, handles: list[Any], values: list[Native], main: bool) -> Any:
        if isinstance(x, Array):
            for k, handle in enumerate(handles):
                if x is handle:
                    counts = main and self.inputs[k] in self.among
                    if counts:
                        values.append(_own(x))
                    return Given(k, counts)
            if x._kind.backend.home is self.backend:
                values.append(_own(x))
                return Traced(x._kind.standard, isinstance(x, Scalar))
            return Fixed(x)
        if self.backend.is_native(x):
            values.append(x)
            return Traced(False, False)
        return Fixed(x)

    # -- putting together ------------------------------------------------------------------------------------------------

    def rebuilt(self, part: int, values: Iterator[Native], given: Sequence[Any]) -> Any:
        """Rebuild a part of the result from its native arrays ``values`` and the arguments' leaves ``given``."""
        leaves: list[Any] = []
        for output in self.outputs[part]:
            if type(output) is Traced:
                value = next(values)
                leaves.append(
                    dressed(value, self.backend, output.scalar, output.standard)
                    if output.same is None
                    else leaves[output.same]
                )
            elif type(output) is Given:
                leaves.append(given[self.inputs[output.at]])
                if output.counts:
                    next(values)
            else:
                leaves.append(output.value)
        return tree_unflatten(self.structures[part], leaves)

    def write_back(self, values: Iterator[Native], given: Sequence[Any]) -> None:
        """Copy ``values``, which the function wrote to its arguments, into the caller's arrays, among the leaves ``given``."""
        places = [self.inputs[k] for k in self.written]
        _check_apart(places, given, self)
        for i, value in zip(places, values):
            write(given[i], value, self.backend)


def _mark_repeated(leaves: list[Any], outputs: list[Any]) -> None:
    """Mark repeated arrays in the description of a result's leaves, so that the caller's result repeats them too."""
    first: dict[int, int] = {}
    for i, (x, output) in enumerate(zip(leaves, outputs)):
        if type(output) is Traced:
            at = first.setdefault(id(x), i)
            if at != i:
                outputs[i] = output._replace(same=at)


_BACKEND = attrgetter("backend")


def dressed(value: Native, backend: Backend, scalar: bool, standard: bool = False) -> Any:
    """Wrap a native array for the caller. ``scalar``, ``standard``: as in :class:`Input`."""
    inner = backend.traced if backend in map(_BACKEND, tracing.entered()) else backend
    kind = inner.standard_kind(inner.dtype_of(value)) if standard else inner.kind_of(value)
    return wrapping.scalar(value, kind) if scalar else process.wrapper(value, kind)


def write(target: Any, value: Native, backend: Backend) -> None:
    """Write a native array over a caller's array."""
    if isinstance(target, Handle):
        if process.admit is not None:
            process.admit(target, (value,))
        wrapping.check_writeable(target)
        held = target._kind.backend
        with held.within():
            writing.assign(
                target, value if held.home is backend else conversion.download(backend, value, "written back")
            )
    elif isinstance(target, np.ndarray):
        np.copyto(target, conversion.download(backend, value, "written back"))
    elif backend.mutable:
        backend.fill(target, value)


def _check_apart(places: list[int], given: Sequence[Any], body: Body) -> None:
    """Raise if an array at one of ``places`` in ``given`` (the arguments), which is written, is or shares memory with another argument: that
    argument would not see the write.
    """
    for i in places:
        for j, other in enumerate(given):
            slot = body.slots[j]
            if j == i or (type(slot) is Same and slot.at == i):
                continue
            if other is given[i] or _overlap(given[i], other):
                raise TraceError(
                    f"{body.name} writes to an argument that shares memory with another; {body.what} passes them separately, "
                    "so pass a copy of one."
                )


def _overlap(a: Any, b: Any) -> bool:
    if isinstance(a, Handle) and isinstance(b, Handle):
        if views.owner(a) is not views.owner(b):
            return False
        return a is b or bool(np.may_share_memory(views.ghost(a), views.ghost(b)))
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and bool(np.may_share_memory(a, b))


def _described(made: Any) -> str:
    return f"a tuple of {len(made)}" if isinstance(made, tuple) else f"a {type(made).__name__}"


def finished(body: Body, outs: list[Native], extra: list[Native], leaves: list[Any]) -> Any:
    """Return the function's result, from the native arrays ``outs``, after copying its writes (``extra``) into the caller's arguments, among
    ``leaves``.
    """
    made = body.rebuilt(0, iter(outs), leaves)
    if body.written:
        rest: Iterator[Native] = iter(extra)
        body.write_back(rest, leaves)
    return made
