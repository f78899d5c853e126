"""Functions along one axis, run on parts of the other axes in several threads: transforms, sorts, sums of columns.

A function registered as ``apart`` computes each line along its axis independently, so parts of the lines give NumPy's bits. If a part
meets a floating-point error, or raises, its result is dropped and NumPy runs the whole call itself, with its own warnings and errors.
"""

from __future__ import annotations

import contextvars
import inspect
import itertools
from functools import cache
from math import prod
from typing import Any

import numpy as np

from ..common.sentinels import DECLINED
from ..common.signal_safety import of_handler
from ..functions.registry import Spec, spec_of
from ..ufuncs import lanes
from .host_blocks import blocks
from .recording import tape

__all__ = ["Parts", "call"]

_ndarray = np.ndarray
_PART = 1 << 17
"""Number of elements of a part, for functions of single elements: the part's result is copied while it is in the cache."""


def call(spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a function on parts of its ndarray in threads; return DECLINED if the call is small or cannot be divided.

    ``spec`` describes the function.
    """
    func = spec.func
    if args and type(args[0]) is _ndarray and (name := lanes.name_of(func)):
        made = lanes.called(name, args[0], args[1:], kwargs)
        if made is not None:
            return made
    if not spec.parallel.apart:
        each = spec.parallel.each
        return DECLINED if each is None else _by_elements(func, args, kwargs, each)
    x = args[0] if args else None
    least = tape.IN_THREADS * 2 if spec.parallel.light else tape.IN_THREADS >> 4
    if type(x) is not _ndarray or x.ndim < 2 or x.size < least or not x.flags.c_contiguous:
        return DECLINED
    if x.dtype.kind not in "biufc":
        return DECLINED
    if any(isinstance(y, _ndarray | type | np.dtype) for y in (*args[1:], *kwargs.values())):  # NumPy warns about casts
        return DECLINED
    if kwargs.keys() & {"out", "where", "dtype"} or len(args) > _last(func):
        return DECLINED
    steps = _steps(func, args, kwargs)
    if steps is None or (threads := blocks.thread_count()) < 2:
        return DECLINED
    if isinstance(steps, int):
        if any(isinstance(y, list | tuple) for y in (*args[1:], *kwargs.values())):  # quantiles along an axis
            return DECLINED
        return _in_parts(func, x, args[1:], kwargs, steps % x.ndim, threads)
    ours = False  # whether we own `x`, so a transform may overwrite it
    for each, axis in steps:
        alike = spec_of(each).parallel.apart == "same" and x.dtype.kind == "c"  # type: ignore[union-attr]
        over = x if ours and alike else None
        made = _in_parts(each, x, (), {"axis": axis, **kwargs}, axis % x.ndim, threads, over)
        if made is DECLINED and over is not None:
            return DECLINED
        ours = made is not DECLINED
        x = made if ours else each(x, axis=axis, **kwargs)
    return x


@cache
def _axis_word(func: Any) -> str:
    """Return the name of the parameter for the axis or the axes."""
    return "axis" if "axis" in inspect.signature(func).parameters else "axes"


@cache
def _last(func: Any) -> int:
    """Return the number of positional arguments before ``dtype``."""
    names = list(inspect.signature(func).parameters)
    return names.index("dtype") if "dtype" in names else len(names)


@cache
def _parameter(func: Any, name: str) -> tuple[int, Any]:
    """Return the position and the default of a parameter."""
    parameters = inspect.signature(func).parameters
    return list(parameters).index(name), parameters[name].default


def _steps(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the axis of a call. For a transform along several axes, remove ``axes`` from ``kwargs`` and return the list of (transform,
    axis) that NumPy runs in turn. Return None for other calls.
    """
    name = _axis_word(func)
    at, usual = _parameter(func, name)
    axis = args[at] if len(args) > at else kwargs.get(name, usual)
    ndim = args[0].ndim
    if name == "axis":
        return axis if type(axis) is int and -ndim <= axis < ndim else None
    if len(args) > 1 or kwargs.keys() - {"axes", "norm"}:
        return None
    axes = tuple(range(ndim)) if axis is None else axis
    if not isinstance(axes, tuple | list) or not axes or any(type(i) is not int or not -ndim <= i < ndim for i in axes):
        return None
    kwargs.pop("axes", None)
    real, inverse = func.__name__.startswith(("r", "ir")), func.__name__.startswith("i")
    many = np.fft.ifft if inverse else np.fft.fft
    if real and inverse:
        return [*((many, i) for i in axes[:-1]), (np.fft.irfft, axes[-1])]
    first = np.fft.rfft if real else many
    return [(first, axes[-1]), *((many, i) for i in reversed(axes[:-1]))]


@cache
def _dtype(func: Any, dtype: Any) -> Any:
    """Return the dtype of a function's result for an array of this dtype."""
    return func(np.zeros(2, dtype)).dtype


def _room(func: Any, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any], axis: int) -> Any:
    """Allocate the result of a function that supports ``out=``; return None for other functions, and if NumPy should raise an error."""
    lines = spec_of(func).parallel.apart  # type: ignore[union-attr]
    if lines is True or (lines == "half" and x.dtype.kind == "c"):
        return None
    length, n = x.shape[axis], None
    if "n" in inspect.signature(func).parameters:
        n = args[0] if args else kwargs.get("n")
    if n is None:
        n = 2 * (length - 1) if lines == "twice" else length
    if type(n) is not int or n < 1 or length < 1:
        return None
    made = n // 2 + 1 if lines == "half" else n
    return np.empty((*x.shape[:axis], made, *x.shape[axis + 1 :]), _dtype(func, x.dtype))


class Parts:
    """Call of ``run`` on each of ``parts`` of an array, in several threads; their results are in ``results``."""

    def __init__(self, parts: list[Any], run: Any = None) -> None:
        self.done = blocks.Done()
        self.results: list[Any] = [None] * len(parts)
        self.failed = False
        self._parts, self._run = parts, run
        self._next, self._ended = itertools.count().__next__, itertools.count(1).__next__
        self._context = contextvars.copy_context()

    def help(self, kept: list[Any] | None = None) -> None:
        """Compute parts in this thread until all have been begun. ``kept``, a thread's scratch memory, is not used."""
        while (i := self._next()) < len(self._parts):
            try:
                if not self.failed:
                    self.results[i] = self._context.copy().run(self._do, self._parts[i])
            except BaseException:  # noqa: BLE001 -- NumPy raises its own error when it runs the whole call
                self.failed = True
            if self._ended() == len(self._parts):
                self.done.set()

    def _do(self, part: Any) -> Any:
        """Compute one part."""
        return self._run(part)


def _in_parts(
    func: Any, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any], axis: int, threads: int, over: Any = None
) -> Any:
    others = [i for i in range(x.ndim) if i != axis]
    # An axis along which the parts are contiguous, if it is long enough; else the longest.
    along = next((i for i in others if x.shape[i] >= 8 * threads), max(others, key=lambda i: x.shape[i]))
    length = x.shape[along]
    if length < 2 * threads:  # NumPy may add the elements of a single line in another order
        return DECLINED
    bounds = [length * i // threads for i in range(threads + 1)]
    parts = [(slice(None),) * along + (slice(*ends),) for ends in itertools.pairwise(bounds)]
    modes = {kind: "ignore" if mode == "ignore" else "raise" for kind, mode in np.geterr().items()}
    result = _room(func, x, args, kwargs, axis) if over is None else over

    def run(part: Any) -> Any:
        with np.errstate(**modes):  # type: ignore[arg-type]
            into = {} if result is None else {"out": result[part]}
            return func(x[part], *args, **kwargs, **into)

    work = Parts(parts, run)
    blocks.run_in_threads(work, threads)
    work.done.wait()
    if work.failed:
        return DECLINED
    if result is not None:
        return result
    first = work.results[0]
    if type(first) is not _ndarray or first.ndim < x.ndim - 1:
        return DECLINED
    at = along - (first.ndim < x.ndim and axis < along)
    if prod(first.shape) and first.shape[at] == bounds[1]:
        return np.concatenate(work.results, axis=at)
    return DECLINED


def _by_elements(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], at: int) -> Any:
    """Run a search or interpolation on parts of argument ``at``, 0 or 1; return DECLINED if the table (the other one) is not sorted."""
    x = args[at] if len(args) > 1 else None
    if (
        type(x) is not _ndarray
        or x.dtype.kind not in "iuf"
        or x.size < tape.IN_THREADS >> 4
        or (threads := blocks.thread_count()) < 2
    ):
        return DECLINED
    if not all(type(y) is _ndarray and y.ndim == 1 and y.dtype == x.dtype for y in args):
        return DECLINED
    if "period" in kwargs or not all(type(y) in (str, int, float) for y in kwargs.values()):
        return DECLINED
    many = threads * max(1, round(x.size / _PART / threads))
    # in an interpolation NumPy reads the whole table for each part
    longest = x.size // (8 * many) if at == 0 else x.size
    searched = args[1 - at]
    if searched.size > longest or not (searched[1:] >= searched[:-1]).all():
        return DECLINED
    parts = [slice(x.size * i // many, x.size * (i + 1) // many) for i in range(many)]

    def run(part: slice) -> Any:
        return func(*args[:at], x[part], *args[at + 1 :], **kwargs)

    try:
        result = np.empty(x.size, run(slice(0, 1)).dtype)
    except Exception as error:  # NumPy raises its own error for the whole call
        if of_handler(error):
            raise
        return DECLINED

    def write(part: slice) -> None:
        result[part] = run(part)

    work = Parts(parts, write)
    blocks.run_in_threads(work, threads)
    work.done.wait()
    return DECLINED if work.failed else result
