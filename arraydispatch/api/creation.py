"""Implementations of NumPy's creation functions, which NumPy does not dispatch: same names and signatures, arrays on the default backend.

Large arrays are made on the device (``zeros``, ``full``, ``arange``, ``eye``, …). Arrays that need NumPy's own arithmetic to be
exact to the last bit are made by NumPy and moved.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import fastpath
from .._core.handles import Handle
from ..array import Array
from ..backends.base import Backend, LeftToNumPy
from ..common import arguments
from ..common.process_state import process
from ..common.pytrees import mapped
from ..common.sentinels import DECLINED
from ..common.signal_safety import imported
from ..common.user_warnings import real_of, reporting
from ..dispatch import functions, host_values, split_arrays, wrapping
from ..functions import creation as bodies, registry
from ..memory import ghosts, views
from ..runtime import conversion, dtypes, settings
from .arrays import asarray as _to_backend, at_host, from_protocol, from_sequence

_BY_MODULE = dict.fromkeys(("fftfreq", "rfftfreq"), "frequencies")
"""Creation function of a module that NumPy loads lazily -> module of this package that has it."""

__all__ = [  # noqa: PLE0604 -- strings all of them
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "bartlett", "blackman",
    "diag_indices", "empty", "eye", "fromfunction", "full", "geomspace", "hamming", "hanning", "identity",
    "indices", "kaiser", "linspace", "logspace", "mask_indices", "meshgrid", "ones", "tri", "tril_indices",
    "triu_indices", "zeros", *_BY_MODULE,
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _BY_MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = getattr(imported(f"{__package__}.{_BY_MODULE[name]}"), name)
    return made


def _target(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Backend, Any]:
    backend = conversion.beginning(shape, dtype)
    return backend, None if backend.hosted else conversion.default_device(backend)


def _fresh(dtype: Any) -> np.dtype[Any]:
    if isinstance(dtype, type) and issubclass(dtype, np.dtype):  # an abstract dtype: NumPy chooses the concrete one
        dtype = np.empty(0, dtype).dtype
    return conversion.precise(np.dtype(dtype))


def _filled(shape: Any, value: Any, dtype: Any, by_numpy: Callable[..., Any] | None = None) -> Any:
    if not settings.default.min_size and type(shape) is int and shape >= 0:
        made = _filled_in_library((shape,), value, dtype)
        if made is not None:
            return made
    wanted = _fresh(dtype)
    if dtypes.category(wanted) == "other" or not conversion.beginning((0,), wanted).holds(wanted):
        conversion.left_on_host(wanted)
        return np.full(shape, value, wanted) if by_numpy is None else by_numpy(shape, wanted)
    integers = isinstance(shape, tuple) and all(type(n) is int for n in shape)
    lengths = shape if integers else np.empty(shape, np.dtype([])).shape  # raises NumPy's own error
    if any(n < 0 for n in lengths):
        raise ValueError("negative dimensions are not allowed")
    if math.prod(lengths) * wanted.itemsize > sys.maxsize:
        raise ValueError("array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.")
    backend, device = _target(lengths, wanted)
    with backend.within():
        made = wrapping.beside_writers(backend.prim.full, lengths, _element(value, wanted), wanted, device)
    return process.wrapper(made, backend.kind(wanted), True)


_FILLS: dict[Any, Any] = {}
"""(backend, dtype as given, precision) -> kind of the new array, if the library has the dtype and needs no scope."""


def _filled_in_library(shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
    """Return an array that the library fills with an int; None if the general rules are needed: on the NumPy backend, on a backend with a
    scope, for other values, and for dtypes that the library lacks.
    """
    backend = settings.current_backend()
    key = backend, dtype, (settings.context_rules.get() or settings.default.rules).precision
    try:
        kind = _FILLS[key]
    except TypeError:
        return None
    except KeyError:
        wanted = conversion.precise(np.dtype(dtype)) if isinstance(dtype, type | np.dtype) else None
        plain = (
            wanted is not None and dtypes.category(wanted) != "other" and backend.holds(wanted) and not backend.scoped
        )
        kind = None
        if wanted is not None and plain and not backend.native_is_ndarray:
            kind = backend.kind(wanted)
        _FILLS[key] = kind
    if kind is None or type(value) is not int or shape[0] > sys.maxsize >> 5:
        return None
    device = settings.default.devices.get(backend.name)
    at = None if device is None else device.native
    made = wrapping.beside_writers(backend.prim.full, shape, value, kind.dtype, at)
    return process.wrapper(made, kind, True)


def _element(value: Any, dtype: np.dtype[Any]) -> Any:
    """Convert a value to an element, as NumPy does when it fills an array of this dtype."""
    if type(value) is not int and (type(value) is not float or dtype != dtypes.FLOAT64):
        element = np.empty((), dtype)
        value = real_of(np.asarray(value), dtype)
        reporting(lambda: np.copyto(element, value, casting="unsafe"), "cast")
        value = element
    return dtypes.cast_scalar(value, dtype)


def _ordered(made: Any, order: Any, source: Any = None) -> Any:
    """Return ``made``, an array or ndarray with the values of ``source``, in the requested memory order."""
    order = arguments.order_of(order)
    if not isinstance(made, Handle):
        return np.asanyarray(made, order=order) if order in ("C", "F") else made
    if made is source and order in ("K", "A"):
        return made
    shape, dtype = views.ghost(made).shape, made._kind.dtype
    if len(shape) < 2 and made is not source:
        return made
    if order in ("C", "F"):
        if made is source:
            return made if made.flags[order] else made.copy(order)
        return views.lay_out(made, ghosts.stand_in(shape, dtype, order))
    like = views.ghost(source) if isinstance(source, Handle) else source
    if made is source or not isinstance(like, np.ndarray) or like.shape != shape:
        return made
    return views.lay_out(made, ghosts.stand_in_like(like, dtype, order))


def _moved(host: Any, copy: bool = False) -> Any:
    """Move NumPy's result to the default backend, floats at the precision in force; host-only dtypes are kept on the host.

    ``copy``: whether other code may write the memory, so that it must be copied.
    """
    if isinstance(host, list | tuple):
        return mapped(_moved, host)
    if wrapping.is_guest(host):
        return host
    wanted = _fresh(host.dtype)
    if dtypes.category(wanted) == "other" or not conversion.beginning((0,), wanted).holds(wanted):
        conversion.left_on_host(wanted)
        return host
    backend, device = _target(host.shape, wanted)
    value = conversion.upload(
        backend, host.astype(wanted, copy=False), device, "made by NumPy", copy=copy or host.base is not None
    )
    return views.keep_order(process.wrapper(value, backend.kind(wanted), True), host)


@fastpath.filled_at_once(np.zeros)
def zeros(shape: Any, dtype: Any = float, order: Any = "C", *, device: Any = None, like: Any = None) -> Any:
    """Implement :func:`numpy.zeros` on the default backend."""
    made = _filled(shape, 0, float if dtype is None else dtype, np.zeros)
    return made if type(order) is str and order == "C" else _ordered(made, arguments.new_order(order))


@fastpath.filled_at_once(np.ones)
def ones(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Any:
    """Implement :func:`numpy.ones` on the default backend."""
    made = _filled(shape, 1, float if dtype is None else dtype, np.ones)
    return made if type(order) is str and order == "C" else _ordered(made, arguments.new_order(order))


@fastpath.filled_at_once(np.empty)
def empty(shape: Any, dtype: Any = float, order: Any = "C", *, device: Any = None, like: Any = None) -> Any:
    """Implement :func:`numpy.empty` on the default backend; the memory holds zeros."""
    made = _filled(shape, 0, float if dtype is None else dtype, np.empty)
    return made if type(order) is str and order == "C" else _ordered(made, arguments.new_order(order))


@fastpath.at_once(np.full)
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None
) -> Any:
    """Implement :func:`numpy.full` on the default backend."""
    if isinstance(fill_value, list | tuple):
        fill_value = array(fill_value)
    elif not isinstance(fill_value, Array) and ((seen := np.asarray(fill_value)).ndim or seen.dtype == object):
        fill_value = seen if dtype is None or seen.ndim else fill_value
    if isinstance(fill_value, Array | np.ndarray):
        dtype = fill_value.dtype if dtype is None else dtype
        if fill_value.ndim:
            made = _filled(shape, 0, dtype)
            made[...] = fill_value
            return _ordered(made, arguments.new_order(order))
        fill_value = at_host(fill_value)
    return _ordered(
        _filled(shape, fill_value, np.asarray(fill_value).dtype if dtype is None else dtype), arguments.new_order(order)
    )


def _by_body(func: Any, body: Callable[..., Any], size: Any, dtype: Any, args: tuple[Any, ...], options: Any) -> Any:
    """Run a creation function of scalars: on the device if the result is large, by NumPy if it is small or on the host."""
    wanted = np.dtype(dtype)
    if dtypes.category(wanted) == "other" or not conversion.beginning((0,), _fresh(wanted)).holds(_fresh(wanted)):
        return _moved(func(*args, **options))
    backend, device = _target((size,), wanted)
    if backend.native_is_ndarray:
        return _moved(func(*args, **options))
    try:
        with backend.within():
            made = wrapping.beside_writers(lambda: body(backend.xp, *args, device=device, **options))
            return _wrapped(made, backend)
    except LeftToNumPy:  # for example if the library would compile for each of many shapes
        return _moved(func(*args, **options))


def _wrapped(made: Any, backend: Backend) -> Any:
    if isinstance(made, tuple):
        return mapped(lambda x: _wrapped(x, backend), made)
    wanted = _fresh(backend.dtype_of(made))
    return process.wrapper(backend.prim.astype(made, wanted), backend.kind(wanted), True)


@fastpath.at_once(np.arange)
def arange(
    start_or_stop: Any = None, /, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None,
    like: Any = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """Implement :func:`numpy.arange` on the default backend."""
    start, stop, step = map(_plain, (start_or_stop, stop, step))
    if start is None and stop is None:
        raise TypeError("arange() requires stop to be specified.")
    if kwargs or start is None or not all(type(x) in _REAL for x in (start, stop, step)):
        kwargs = {k: _plain(x) for k, x in kwargs.items()}
        first: Any = () if start is None else (start,)
        made: Any = np.arange
        return _moved(made(*first, stop=stop, step=step, dtype=dtype, **kwargs))
    to = np.result_type(start, 0 if stop is None else stop, step) if dtype is None else dtype
    span = start if stop is None else stop - start
    options = {} if dtype is None else {"dtype": dtype}
    if not step or not math.isfinite(span) or not math.isfinite(step) or not -sys.maxsize < span / step < sys.maxsize:
        return _moved(np.arange(start, stop, step, **options))
    size = max(math.ceil(span / step), 0)
    begin = 0 if stop is None else start
    if (begin or step != 1) and split_arrays.is_possible() and _is_plain(wanted := np.dtype(to)):
        split = split_arrays.read((size,), wanted, _steps(begin, begin + step, wanted), "numpy.arange")
        if split is not DECLINED:
            return split
    return _by_body(np.arange, bodies.arange, size, to, (start, stop, step), options)


def _steps(first: Any, second: Any, dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    """Return a function that computes a part of ``np.arange`` by NumPy's own operations, from its ``first`` and ``second`` value."""
    begin, then = np.asarray(first).astype(dtype), np.asarray(second).astype(dtype)

    def values(box: Any) -> Any:
        made = np.arange(box[0].start, box[0].stop).astype(dtype)
        made *= then - begin
        made += begin
        return made

    return values


def _is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is an integer type, or a float type that NumPy computes in directly."""
    return dtype.kind in "iuf" and dtype != np.float16


def _plain(x: Any) -> Any:
    """Return the number in a 0-d array, any other array as an ndarray, which NumPy then refuses, and any other object itself."""
    return x if not isinstance(x, Array) else x.to_numpy() if x.ndim else x.item()


def _by_library(func: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    fastpath.is_told()
    return functions.call(func, args, options)


_REAL = frozenset({int, float, np.float64, np.int64, type(None)})


def _spaced(func: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Compute points between two ends on the backend of the ends, or on the default backend if there are many."""
    if wrapping.backend_among((*args, *options.values())) is None:
        num = args[2] if len(args) > 2 else options.get("num", 50)
        dtype = options.get("dtype") or float
        at_home = not isinstance(num, int)
        if np.dtype(dtype).kind in "iu" and func is not np.linspace:
            at_home = True  # a power just below an integer would be truncated to the integer below
        if not at_home and split_arrays.is_possible():
            split = _spaced_by_parts(func, args, options)
            if split is not DECLINED:
                return split
        if at_home or type(args[0]) not in _REAL or _target((num,), np.dtype(dtype))[0].native_is_ndarray:
            made = func(*args, **options)
            return (_moved(made[0]), made[1]) if isinstance(made, tuple) else _moved(made)
        args = (_to_backend(args[0]), *args[1:])
    return _by_library(func, args, options)


def _spaced_by_parts(func: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Compute points of a split array by NumPy's own operations, each process its part; DECLINED if NumPy makes the whole."""
    start, stop, num, endpoint, last = args if len(args) == 5 else (*args, None)
    if not all(type(x) in _REAL and x is not None for x in (start, stop)):
        return DECLINED
    if func is np.logspace and type(last) not in _REAL:
        return DECLINED
    ends = start, stop = float(start), float(stop)
    sign = math.copysign(1.0, start)
    if func is np.geomspace:
        if not start * stop > 0:
            return DECLINED
        start, stop, last = float(np.log10(start * sign)), float(np.log10(stop * sign)), 10.0
    div = num - bool(endpoint)
    step = (stop - start) / div if div > 0 else math.nan
    if not step or not math.isfinite(step) or options["axis"] not in (0, -1) or num < 2:
        return DECLINED
    to = np.dtype(options["dtype"] or float)

    def values(box: Any) -> Any:
        y = np.arange(box[0].start, box[0].stop, dtype=float)
        y *= step
        y += start
        if endpoint and box[0].stop == num:
            y[-1] = stop
        if func is not np.linspace:
            y = np.power(last, y)
        elif to.kind in "iu":
            np.floor(y, out=y)
        if func is np.geomspace:
            y *= sign
            if not box[0].start:
                y[0] = ends[0]
            if endpoint and box[0].stop == num:
                y[-1] = ends[1]
        return y.astype(to, copy=False)

    made = split_arrays.read((num,), to, values, f"numpy.{func.__name__}")
    return made if made is DECLINED or func is not np.linspace or not last else (made, np.float64(step))


@fastpath.at_once(np.linspace)
def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    """Implement :func:`numpy.linspace` on the default backend."""
    return _spaced(np.linspace, (start, stop, num, endpoint, retstep), {"dtype": dtype, "axis": axis})


@fastpath.at_once(np.logspace)
def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0,
) -> Any:  # fmt: skip
    """Implement :func:`numpy.logspace` on the default backend."""
    return _spaced(np.logspace, (start, stop, num, endpoint, base), {"dtype": dtype, "axis": axis})


@fastpath.at_once(np.geomspace)
def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """Implement :func:`numpy.geomspace` on the default backend."""
    return _spaced(np.geomspace, (start, stop, num, endpoint), {"dtype": dtype, "axis": axis})


@fastpath.at_once(np.eye, square=True)
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = float, order: Any = "C", *, device: Any = None,
    like: Any = None,
) -> Any:  # fmt: skip
    """Implement :func:`numpy.eye` on the default backend."""
    return _ordered(_by_body(np.eye, bodies.eye, _area(N, M), dtype, (N, M, k, dtype), {}), arguments.new_order(order))


def _area(rows: int, columns: int | None) -> int:
    rows = operator.index(rows)
    columns = rows if columns is None else operator.index(columns)
    if rows < 0 or columns < 0:
        raise ValueError("negative dimensions are not allowed")
    return rows * columns


@fastpath.at_once(np.identity, square=True)
def identity(n: int, dtype: Any = None, *, like: Any = None) -> Any:
    """Implement :func:`numpy.identity` on the default backend."""
    return eye(n, dtype=float if dtype is None else dtype)


@fastpath.at_once(np.tri, square=True)
def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float, *, like: Any = None) -> Any:
    """Implement :func:`numpy.tri` on the default backend."""
    if not _lengths((N, N if M is None else M)) or not isinstance(k, int | np.integer):
        return _moved(np.tri(N, M, k, dtype))
    return _by_body(np.tri, bodies.tri, _area(N, M), dtype, (N, M, k, dtype), {})


def _lengths(given: tuple[Any, ...]) -> bool:
    """Whether all objects are valid lengths of axes. NumPy's own functions handle other numbers, and raise for other objects."""
    return all(isinstance(n, int | np.integer) and n >= 0 for n in given)


@fastpath.at_once(np.indices)
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """Implement :func:`numpy.indices` on the default backend."""
    shape = tuple(dimensions)
    if not _lengths(shape):
        return _moved(np.indices(shape, dtype, sparse))  # type: ignore[call-overload]
    size = sum(shape) if sparse else math.prod(shape) * len(shape)
    return _by_body(np.indices, bodies.indices, size, dtype, (shape, dtype, sparse), {})


def grid(key: Any, sparse: bool) -> Any:
    """Return ``np.mgrid[key]``, or if ``sparse`` ``np.ogrid[key]``, on the default backend."""
    keys = key if isinstance(key, tuple) else (key,)
    sizes: list[int] = []
    starts: list[Any] = []
    steps: list[Any] = []
    numbers: list[Any] = [0]
    for one in keys:
        start: Any = one.start or 0
        step: Any = 1 if one.step is None else one.step
        if isinstance(step, complex | np.complexfloating):
            length: Any = abs(step)
            numbers += [start, one.stop, length]
            sizes.append(int(length))
            steps.append((one.stop - start) / float(sizes[-1] - 1) if sizes[-1] != 1 else 1)
        else:
            if keys is not key:
                return arange(start, one.stop, step)
            numbers += [start, one.stop, step]
            sizes.append(math.ceil((one.stop - start) / step))
            steps.append(step)
        starts.append(start)
    dtype = np.result_type(*numbers)
    if (
        keys is key
        and not sparse
        and all(type(x) is int and x == y for x, y in zip(starts + steps, [0] * len(starts) + [1] * len(steps)))
    ):
        return indices(sizes, dtype)  # into one array, because stacking lines would take the memory of two
    lines = [arange(n, dtype=dtype) * step + start for n, step, start in zip(sizes, steps, starts)]
    if keys is not key:
        return lines[0]
    laid = [line.reshape((1,) * i + (-1,) + (1,) * (len(lines) - 1 - i)) for i, line in enumerate(lines)]
    if sparse:
        return tuple(laid)
    to = np.result_type(*(line.dtype for line in laid))
    return np.stack([np.broadcast_to(line, tuple(sizes)).astype(to, copy=False) for line in laid])


# -- windows, frequencies, indices: NumPy's own formulas -----------------------------------------------------------------


def _window(func: Any, M: Any, values: Callable[[Any, Any], Any]) -> Any:
    M = np.array([0.0, M])[1]
    if dtypes.category(M.dtype) == "other":
        return _moved(func(M))
    if M < 1:
        return _filled(0, 0, float)
    return _filled(1, 1, float) if M == 1 else values(arange(1 - M, M, 2), M)


@fastpath.at_once(np.bartlett)
def bartlett(M: Any) -> Any:
    """Implement :func:`numpy.bartlett` on the default backend."""
    return _window(np.bartlett, M, lambda n, M: np.where(np.less_equal(n, 0), 1 + n / (M - 1), 1 - n / (M - 1)))


@fastpath.at_once(np.blackman)
def blackman(M: Any) -> Any:
    """Implement :func:`numpy.blackman` on the default backend."""
    return _window(
        np.blackman,
        M,
        lambda n, M: 0.42 + 0.5 * np.cos(np.pi * n / (M - 1)) + 0.08 * np.cos(2.0 * np.pi * n / (M - 1)),
    )


@fastpath.at_once(np.hamming)
def hamming(M: Any) -> Any:
    """Implement :func:`numpy.hamming` on the default backend."""
    return _window(np.hamming, M, lambda n, M: 0.54 + 0.46 * np.cos(np.pi * n / (M - 1)))


@fastpath.at_once(np.hanning)
def hanning(M: Any) -> Any:
    """Implement :func:`numpy.hanning` on the default backend."""
    return _window(np.hanning, M, lambda n, M: 0.5 + 0.5 * np.cos(np.pi * n / (M - 1)))


@fastpath.at_once(np.kaiser)
def kaiser(M: Any, beta: Any) -> Any:
    """Implement :func:`numpy.kaiser` on the default backend."""
    values = np.array([0.0, M, beta])
    if dtypes.category(values.dtype) == "other":
        made: Any = np.kaiser(M, beta)
        return _moved(made) if isinstance(made, np.ndarray) else made
    M, beta = values[1:]
    if M == 1:
        return _filled(1, 1, float)
    alpha = (M - 1) / 2.0
    n = arange(0, float(M))
    return np.i0(beta * np.sqrt(1 - ((n - alpha) / alpha) ** 2.0)) / np.i0(beta)


def diag_indices(n: Any, ndim: int = 2) -> Any:
    """Implement :func:`numpy.diag_indices` on the default backend."""
    return (arange(n),) * ndim


def mask_indices(n: int, mask_func: Any, k: Any = 0) -> Any:
    """Implement :func:`numpy.mask_indices` on the default backend."""
    return np.nonzero(mask_func(ones((n, n), int), k) != 0)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    """Implement :func:`numpy.tril_indices` on the default backend."""
    return np.nonzero(tri(n, m, k=k, dtype=bool))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    """Implement :func:`numpy.triu_indices` on the default backend."""
    return np.nonzero(~tri(n, m, k=k - 1, dtype=bool))


@fastpath.unless_foreign(np.fromfunction)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any) -> Any:
    """Implement :func:`numpy.fromfunction`: the function is called once, with index arrays on the default backend."""
    return function(*indices(shape, dtype=dtype), **kwargs)


def _lines_of_split(xi: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the lines of a grid, moved to the library if the grid is to be split: of lines on the host NumPy would make the whole grid."""
    if not all(isinstance(x, Array | np.ndarray | list | tuple) for x in xi):
        return xi
    lines = [x if isinstance(x, Array) else array(x) for x in xi]
    if not all(isinstance(x, Array) for x in lines):
        return xi
    shape, dtype = tuple([x.size for x in lines]), np.result_type(*[x.dtype for x in lines] or [float])
    found = split_arrays.target(shape, dtype)
    return xi if found is None else tuple([_to_backend(x, backend=found[0]) for x in lines])


_WITHOUT_MEMORY = (list, tuple, range, int, float, complex, np.generic)


@fastpath.unless_foreign(np.meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """Implement :func:`numpy.meshgrid` on the default backend."""
    if copy and not sparse and split_arrays.is_possible():
        xi = _lines_of_split(xi)
    at_once = fastpath.callers[np.meshgrid](xi, {"copy": copy, "sparse": sparse, "indexing": indexing})
    if at_once is not DECLINED:
        return at_once
    xi = tuple(map(from_protocol, xi))
    if wrapping.find_backend(xi) is not None:
        return _by_library(np.meshgrid, xi, {"copy": copy, "sparse": sparse, "indexing": indexing})
    if not copy and not all(isinstance(x, _WITHOUT_MEMORY) for x in xi):  # views of this memory stay views
        return np.meshgrid(*xi, copy=False, sparse=sparse, indexing=indexing)  # type: ignore[call-overload]
    return _moved(np.meshgrid(*xi, copy=True, sparse=sparse, indexing=indexing))  # type: ignore[call-overload]


# -- from data ---------------------------------------------------------------------------------------------------------


_MOST_DIMENSIONS = 64
"""NumPy's maximum number of dimensions, the default of ``ndmax``."""


@fastpath.at_once(np.array, itself=False)
def array(
    object: Any, dtype: Any = None, *, copy: bool | None = True, order: Any = "K", subok: bool = False,
    ndmin: int = 0, ndmax: int = _MOST_DIMENSIONS, like: Any = None,
) -> Any:  # fmt: skip
    """Implement :func:`numpy.array` on the default backend; an `Array` stays on its own."""
    copy = copy_mode(copy)
    if ndmax != _MOST_DIMENSIONS:
        return _moved(np.array(at_host(object), dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, ndmax=ndmax))
    if subok and wrapping.is_guest(object):
        return np.array(object, dtype, copy=copy, order=order, subok=True, ndmin=ndmin)
    if isinstance(object, Handle):
        held = object._kind.backend
        if held.hosted:  # NumPy decides whether the result is a copy, a view or the array itself
            return host_values.call(
                np.array, (object, dtype), {"copy": copy, "order": order, "subok": subok, "ndmin": ndmin}
            )
        if dtype is not None and dtypes.category(dtype := np.dtype(dtype).newbyteorder("=")) == "other":
            conversion.left_on_host(dtype)
            return np.array(at_host(object), dtype, order=order, ndmin=ndmin)
        made: Any = _to_backend(object, backend=held, dtype=dtype, copy=copy)
        if copy is False:
            np.array(views.ghost(object), copy=False, order=order)  # tells whether the order needs a copy
    elif isinstance(object, list | tuple) and (held_by := wrapping.backend_among(object)) is not None:
        wanted = None if dtype is None else np.dtype(dtype)
        options: dict[str, Any] = {"copy": copy, "order": order, "ndmin": ndmin}
        if copy is False or (wanted is not None and dtypes.category(wanted) == "other"):
            return _moved(np.array(at_host(object), dtype, **options))
        if held_by.hosted:
            return host_values.call(np.array, (object, dtype), options)
        try:
            made = wrapping.beside_writers(from_sequence, object, held_by, None, wanted)
        except (LeftToNumPy, ValueError):  # strings or objects beside the arrays, or ragged shapes: left to NumPy
            return _moved(np.array(at_host(object), dtype, **options))
        order = "F" if arguments.order_of(order) == "F" else "C"  # whatever the order of the arrays in the list
    else:
        if not isinstance(object, np.ndarray | list | tuple):
            object = from_protocol(object, dtype)
            if isinstance(object, Handle):
                return array(object, dtype, copy=copy, order=order, ndmin=ndmin)
        if copy is False and (not isinstance(object, np.ndarray) or dtypes.category(object.dtype) != "other"):
            raise ValueError("a copy is needed to move NumPy data to the backend; do not pass copy=False.")
        host = np.array(object, dtype=dtype, copy=None, ndmin=ndmin)
        if dtypes.category(host.dtype) == "other":
            made = np.array(object, dtype=dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)
            conversion.left_on_host(made.dtype)
            return made
        made = _moved(host, host is object)
    made = _ordered(made, order, object)
    if isinstance(made, Handle) and ndmin > len(made.shape):  # type: ignore[attr-defined]
        return made.reshape((1,) * (ndmin - made.ndim) + made.shape)  # type: ignore[attr-defined]
    return made


_COPIES = frozenset({bool, type(None)})


def copy_mode(copy: Any) -> bool | None:
    """Return ``copy=`` as one of True, False and None; raise NumPy's error for a string."""
    if copy.__class__ in _COPIES:
        return copy
    if isinstance(copy, str):
        raise ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    if isinstance(copy, np._CopyMode):
        return None if copy is np._CopyMode.IF_NEEDED else bool(copy)
    return bool(copy)


@fastpath.at_once(np.asarray, itself=True)
def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None, like: Any = None
) -> Any:
    """Implement :func:`numpy.asarray` on the default backend; an `Array` stays on its own, and is returned itself if nothing is to
    change.
    """
    return array(a, dtype, copy=copy, order=order)


@fastpath.at_once(np.asanyarray, itself=True)
def asanyarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None, like: Any = None
) -> Any:
    """Implement :func:`numpy.asanyarray` on the default backend."""
    return array(a, dtype, copy=copy, order=order, subok=True)


@fastpath.at_once(np.ascontiguousarray, itself=False)
def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """Implement :func:`numpy.ascontiguousarray` on the default backend."""
    return array(a, dtype, copy=None, order="C", ndmin=1)


@fastpath.at_once(np.asfortranarray, itself=False)
def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """Implement :func:`numpy.asfortranarray` on the default backend."""
    return array(a, dtype, copy=None, order="F", ndmin=1)


# -- like= (NEP 35) ------------------------------------------------------------------------------------------------------

_WITH_LIKE = "arange array asanyarray asarray ascontiguousarray asfortranarray empty eye fromfunction full identity ones tri zeros"
_HOST_WITH_LIKE = "frombuffer fromfile fromiter fromstring genfromtxt loadtxt"


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    """Implement :func:`numpy.require` on the default backend."""
    return arguments.meeting(array, a, dtype, requirements)


def _by_numpy(func: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: _moved(func(*args, **kwargs))


registry.CREATORS.update(
    {
        **{getattr(np, name): globals()[name] for name in _WITH_LIKE.split()},
        **{getattr(np, name): _by_numpy(getattr(np, name)) for name in _HOST_WITH_LIKE.split()},
        np.require: require,
    }
)
