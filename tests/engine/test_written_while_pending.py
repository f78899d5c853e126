"""A value that is pending keeps what it was when it was asked for, whichever way the memory that it reads is written meanwhile.

The ways are those that signatures tell of: every function, method and ufunc of NumPy's with an output or an ``overwrite*`` argument,
by position and by name; a function that NumPy adds is among them, and fails here where no call of it is known.
"""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.api import creation
from arraydispatch.dispatch import host_values
from arraydispatch.engine.compiled_blocks.values import Deferred
from arraydispatch.engine.nodes import Node
from arraydispatch.fastpath import functions
from arraydispatch.functions import registry
from arraydispatch.launcher.commands import coverage
from arraydispatch.runtime.execution_policy import CPU_FROM
from tests.memory.test_mutation_fuzz import threshold

X = np.array([[0.5, -0.25, 2.0, 1.5], [-1.0, 0.75, 0.125, 3.0], [0.25, -2.0, 1.0, -0.5]])
Y = X[::-1] + 0.5
K = np.array([2, 0, 1])
TARGET: Any = object()
"""In the place of what is written."""


class Way(NamedTuple):
    """A call that writes."""

    label: str
    call: Callable[..., Any]
    args: tuple[Any, ...]
    names: dict[str, Any]
    target: np.ndarray[Any, Any]
    defined: bool = True
    """Whether it is NumPy's to say what is left there."""


SAMPLES: dict[str, tuple[Any, ...]] = {
    "busday_count": (np.array(["2024-01-01", "2024-02-01"], "M8[D]"), np.array(["2024-03-01", "2024-03-05"], "M8[D]")),
    "busday_offset": (np.array(["2024-01-01", "2024-02-01"], "M8[D]"), 3),
    "is_busday": (np.array(["2024-01-01", "2024-02-03"], "M8[D]"),),
    "choose": (np.array([0, 1, 1, 0]), [X[0], X[1]]),
    "clip": (X, -1.0, 1.0),
    "compress": (np.array([True, False, True]), X),
    "concatenate": ([X, Y],),
    "stack": ([X, Y],),
    "dot": (X, Y.T.copy()),
    "einsum": ("ij->ji", X),
    "multi_dot": ([X, Y.T.copy(), X],),
    "cumulative_sum": (X[0],),
    "cumulative_prod": (X[0],),
}
"""Arguments of functions and, but for the first, of methods; where there are none, an array, or two."""
_METHODS = {
    "choose": (K[:1] * 0, [X[0]]),
    "compress": (X, np.array([True, False, True]), 0),
    "clip": (X, -1.0, 1.0),
    "dot": SAMPLES["dot"],
}
_USUAL: tuple[tuple[Any, ...], ...] = ((X,), (X, 0.5), (X, Y), (X, K), (X[0],), (X[0], Y[0]))
_WITHOUT_NAME = {"conj": 0, "conjugate": 0}
"""Methods whose ``out`` no signature tells of, and where it stands."""


def _runs(call: Any, args: tuple[Any, ...]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(call(*args))
        except (TypeError, ValueError):
            return None


def _sample(call: Any, known: tuple[Any, ...] | None) -> tuple[tuple[Any, ...], Any]:
    for args in _USUAL if known is None else (known,):
        if (made := _runs(call, args)) is not None:
            return args, made
    raise AssertionError(f"give a call of {call} in SAMPLES")


def _is_written(name: str) -> bool:
    return name == "out" or name.startswith("overwrite")


def _ways(label: str, call: Any, known: tuple[Any, ...] | None, more: dict[str, int] | None = None) -> Iterator[Way]:
    try:
        parameters = list(inspect.signature(call).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    written = {
        p.name: at if p.kind is not p.KEYWORD_ONLY else None for at, p in enumerate(parameters) if _is_written(p.name)
    }
    written |= more or {}
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        written = dict.fromkeys(written)
    for name, at in written.items():
        args, made = _sample(call, known)
        if name.startswith("overwrite"):
            target, given, value, defined = args[0], (TARGET, *args[1:]), True, False
        else:
            target, given, value, defined = np.zeros_like(made), args, TARGET, True
        yield Way(f"{label}({name}=)", call, given, {name: value}, target, defined)
        if at is not None:
            placed = (*given, *(p.default for p in parameters[len(given) : at]), value)
            if (
                _runs(call, tuple(np.copy(target) if x is TARGET else x for x in placed)) is not None
            ):  # some take no None by position
                yield Way(f"{label}, {name} by position", call, placed, {}, target, defined)


def _of_functions() -> Iterator[Way]:
    for func in coverage.dispatched():
        yield from _ways(coverage.full_name(func), func, SAMPLES.get(func.__name__))


def _of_methods() -> Iterator[Way]:
    for name in dir(np.ndarray):
        real = getattr(np.ndarray, name)
        if name.startswith("_") or not callable(real):
            continue

        def call(x: Any, *args: Any, name: str = name, **names: Any) -> Any:
            return getattr(x, name)(*args, **names)

        try:
            call.__signature__ = inspect.signature(real)  # type: ignore[attr-defined]
        except ValueError:  # before NumPy 2.4
            call.__signature__ = inspect.signature(getattr(np, name, call))  # type: ignore[attr-defined]
        more = {"out": 1} if name in _WITHOUT_NAME else None
        for way in _ways(f"ndarray.{name}", call, _METHODS.get(name), more):
            if not (more and way.names):  # these take it by position alone
                yield way


def _of_ufuncs() -> Iterator[Way]:
    """Of numbers: of strings and dates no value is pending."""
    for ufunc in coverage.ufuncs():
        label = f"np.{ufunc.__name__}"
        for values in ((X, Y, X), (K, K, K), (X > 0, Y > 0, X > 0), (X, K[:, None]), (X, Y.T.copy()), (X[0], Y[0])):
            args = values[: ufunc.nin]
            if (made := _runs(ufunc, args)) is not None and ufunc.nout == 1 and made.dtype.kind in "biufc":
                target = np.zeros_like(made)
                yield Way(f"{label}(out=)", ufunc, args, {"out": TARGET}, target)
                yield Way(f"{label}, out by position", ufunc, (*args, TARGET), {}, target)
                if ufunc.signature is None:
                    yield Way(f"{label}(out=, where=)", ufunc, args, {"out": TARGET, "where": made > 0}, target)
                break
        else:
            continue
        if ufunc.nin != 2 or ufunc.signature is not None:
            continue
        for name, given, before in (
            ("reduce", (args[0],), (0, None)),
            ("accumulate", (args[0],), (0, None)),
            ("reduceat", (args[0], [0, 1]), (0, None)),
            ("outer", args, None),
        ):
            method = getattr(ufunc, name)
            if (made := _runs(method, given)) is not None:
                yield Way(f"{label}.{name}(out=)", method, given, {"out": TARGET}, np.zeros_like(made))
                if before is not None:
                    yield Way(
                        f"{label}.{name}, out by position", method, (*given, *before, TARGET), {}, np.zeros_like(made)
                    )
        if _runs(ufunc.at, (args[0].copy(), 0, 1)) is not None:
            yield Way(f"{label}.at", ufunc.at, (TARGET, [0, 0, 1], 1), {}, args[0])


def _in_place() -> Iterator[Way]:
    """What writes into its first argument."""
    nan = np.where(X > 0, X, np.nan)
    for func, args, names in (
        (np.copyto, (TARGET, Y), {}), (np.put, (TARGET, [1, 2], 9.0), {}), (np.place, (TARGET, X > 0, [1.0, 2.0]), {}),
        (np.putmask, (TARGET, X > 0, Y), {}), (np.fill_diagonal, (TARGET, 9.0), {}), (np.put_along_axis, (TARGET, K[:, None], 9.0, 1), {}),
        (np.nan_to_num, (TARGET, False), {}), (np.nan_to_num, (TARGET,), {"copy": False}),
    ):  # fmt: skip
        yield Way(f"{func.__name__}{args[1:]}", func, args, names, nan if func is np.nan_to_num else X)
    for label, write in {
        "fill": lambda x: x.fill(3), "sort": lambda x: x.sort(), "sort(0)": lambda x: x.sort(0), "partition": lambda x: x.partition(2),
        "put": lambda x: x.put([1], 7.0), "byteswap(True)": lambda x: x.byteswap(True), "setfield": lambda x: x.setfield(2.0, float),
        "flat": lambda x: setattr(x, "flat", 3.0), "flat[]": lambda x: x.flat.__setitem__(slice(2, 5), 3.0), "real": lambda x: setattr(x, "real", 3.0),
        "view": lambda x: x.view("i8").__setitem__(0, 3), "asarray": lambda x: np.asarray(x).fill(4), "data": lambda x: np.asarray(x.data).fill(4),
        "ctypes": lambda x: np.ctypeslib.as_array(x.ctypes.data_as(np.ctypeslib.ctypes.POINTER(np.ctypeslib.ctypes.c_double)), (2,)).fill(4),
        "as_strided": lambda x: np.lib.stride_tricks.as_strided(x, (3,), (8,)).__setitem__(0, 4.0),
        "apply_along_axis": lambda x: np.apply_along_axis(lambda row: row.__imul__(2), 0, x) is None,
        "random(out=)": lambda x: np.random.default_rng(0).random(out=np.asarray(x)) is None,
        "nditer": lambda x: [part.fill(3) for part in np.nditer(np.asarray(x), op_flags=["readwrite"])] and None,
    }.items():  # fmt: skip
        yield Way(f"x.{label}", write, (TARGET,), {}, X)


@cache
def ways() -> list[Way]:
    """All of them."""
    registry.load_topics()
    return [*_of_functions(), *_of_methods(), *_of_ufuncs(), *_in_place()]


def _mapped(x: Any, new: Any, target: Any) -> Any:
    if x is TARGET:
        return target
    if isinstance(x, list | tuple):
        return type(x)([_mapped(y, new, target) for y in x])
    return new(x) if isinstance(x, np.ndarray) and x.dtype.kind in "biufc" else x


def _new(x: np.ndarray[Any, Any]) -> Any:
    return creation.array(ad.asarray(x))  # whose memory nobody else has


def _is_pending(value: Any) -> bool:
    return type(value) is Node or (isinstance(value, Deferred) and value.tape is not None)


def _written(way: Way, new: Any, size: int, pending: bool) -> tuple[Any, ...]:
    """What was read before, what lies there after and what the call returns; the target is all of the memory, or its first part."""
    given = way.target
    whole = given.size >= size
    filled = np.array(given) if whole else np.concatenate([given.reshape(-1), np.arange(size).astype(given.dtype)])
    memory = new(filled) if filled.dtype.kind in "biufc" else filled
    target = memory if whole else memory[: given.size].reshape(given.shape)
    args, names = _mapped(way.args, new, target), _mapped(tuple(way.names.values()), new, target)
    late = memory + 0.5 if memory.dtype.kind in "biufc" else 0
    is_pending = _is_pending(getattr(late, "_v", None))
    if not pending:
        late = np.array(late)
    result = way.call(*args, **dict(zip(way.names, names)))
    return late, memory, result, target, is_pending


def _same(ours: Any, theirs: Any, exactly: bool) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.dtype == theirs.dtype
    if exactly or ours.dtype.kind not in "fc":
        np.testing.assert_array_equal(ours, theirs)
    else:
        np.testing.assert_allclose(ours, theirs, 1e-6, 1e-12)


SETTINGS: dict[str, tuple[int, Any]] = {
    "fused from 1": (1, "fused"),
    "fused from the default": (CPU_FROM, "fused"),
    "eager on the host": (1, None),
    "eager": (0, "eager"),
    "compiled": (0, "compiled"),
}
_HOSTS = {f"x.{name}" for name in ("asarray", "data", "ctypes", "as_strided", "random(out=)", "nditer")}
"""What writes to memory itself, which outside of a launcher only PyTorch shares with the host, and not while values are deferred."""
_REFUSED = {
    "x.ctypes": "has no address that C code may write to",
    "x.nditer": "operand array with iterator write flag set is read-only",
    "x.random(out=)": "Supplied output array must be contiguous, writable",
}
"""What they raise where it is not shared, in place of NumPy's "assignment destination is read-only"."""
_WITHOUT_OUT = {np.fft.hfft, np.fft.ifft2, np.fft.irfft2}
"""Functions whose ``out`` NumPy ignores; ours write there, as documented."""


def _check_refused(way: Way, pending: bool, backend: str, execution: Any) -> None:
    """What cannot be written raises, and the array, its pending values and its copies stay."""
    with threshold(0, execution), ad.backend(backend), ad.fallback("silent"):
        memory = _new(way.target)
        late, copy = memory + 0.5, np.copy(memory)
        if not pending:
            late = np.array(late)
        with pytest.raises((ValueError, AttributeError), match=_REFUSED.get(way.label, "destination is read-only")):
            way.call(memory)
        for found, value in ((memory, way.target), (copy, way.target), (late, way.target + 0.5)):
            np.testing.assert_array_equal(np.asarray(found), value)


def _check(way: Way, pending: bool, backend: str, least: int, execution: Any) -> None:
    late, memory, result, target, _ = _written(way, np.array, least, pending)
    with threshold(least, execution), ad.backend(backend), ad.fallback("silent"):
        found = _written(way, _new, least, pending)
        if execution in ("fused", "compiled") and pending and way.target.ndim and way.target.dtype.kind in "biufc":
            assert found[4], "the value was not pending: this tests nothing"
        _same(found[0], late, execution == "fused")
        if way.defined:
            _same(found[1], memory, execution == "fused")
        if isinstance(result, np.ndarray | np.generic):
            assert (found[2] is found[3]) == (result is target)
            _same(found[2], result, execution == "fused")
        else:
            assert type(found[2]) is type(result)


@pytest.mark.parametrize("setting", SETTINGS)
def test_values_are_those_from_before_the_write(
    backend: str, setting: str, drawn: Callable[..., list[Any]], nobody_listens: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    least, execution = SETTINGS[setting]
    failed = []
    rows = itertools.product(ways(), (True, False))
    shares = backend == "numpy" or (backend == "torch" and execution == "eager")
    if execution == "compiled":
        if backend == "numpy":
            pytest.skip("inapplicable: NumPy has no compiler")
        # PyTorch's own takes seconds for each.
        monkeypatch.setattr(ad.backend(backend).transforms, "compiler", "eager", raising=False)
    if least == 0:
        rows = [row for row in rows if row[0].call not in _WITHOUT_OUT]
    if least == 0 or execution is None:
        rows = drawn(rows, backend)
    elif least > 1:  # large arrays: each door once
        rows = [(way, True) for way in ways() if not isinstance(way.call, np.ufunc) or way.call is np.add]
    for way, pending in rows:
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                if least == 0 and way.label in _HOSTS and not shares:
                    _check_refused(way, pending, backend, execution)
                else:
                    _check(way, pending, backend, least, execution)
        except Exception as error:
            failed.append(f"{way.label}{'' if pending else ', not pending'}: {type(error).__name__} {error}"[:500])
    assert not failed, "\n".join([f"{len(failed)} fail:", *failed])


def test_each_function_that_writes_its_first_argument_is_a_row() -> None:
    there = {way.call for way in ways()}
    missing = [
        func for func, spec in registry.SPECS.items() if (spec.mode == "update" or spec.uncopied) and func not in there
    ]
    assert not missing


def test_what_is_not_known_to_write_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were NumPy to get a parameter by which it writes, and nobody had told us, the value would not be wrong in silence."""
    registry.load_topics()
    monkeypatch.setitem(registry.SPECS, np.median, replace(registry.SPECS[np.median], written=()))
    monkeypatch.setattr(functions, "callers", functions._Callers())
    with threshold(1, "fused"), ad.backend("numpy"), np.errstate(all="ignore"):
        x = _new(X)
        late = x + 1
        with pytest.raises(ValueError, match="read-only"):
            np.median(x, None, None, True)
        assert (x.flags.writeable, np.array(late).tolist()) == (True, (X + 1).tolist())
        assert np.median(x, None, None, True) == np.median(X)  # nothing is pending


def test_what_gives_an_argument_back_gives_the_array(monkeypatch: pytest.MonkeyPatch) -> None:
    def keep(x: Any, out: Any = None) -> Any:
        return x[0], x

    registry.load_topics()
    spec = registry.SPECS[np.median]
    monkeypatch.setitem(registry.SPECS, keep, replace(spec, func=keep, parallel=registry.Parallel()))
    with threshold(1, "fused"), ad.backend("numpy"), np.errstate(all="ignore"):
        x = _new(X)
        late = x + 1
        row, same = host_values.call(keep, (x,), {})
        assert same is x
        row[...] = 7
        assert np.array(x)[0].tolist() == [7, 7, 7, 7]
        assert np.array(late).tolist() == (X + 1).tolist()


def test_a_compiled_ufunc_that_writes_its_operand(backend: str) -> None:
    """Small operands and large ones; of a value that reads a small one too."""
    numba = pytest.importorskip("numba")

    @numba.guvectorize(["void(f8[:], f8[:])"], "(n)->(n)", writable_args=(0,))
    def taken(x: Any, out: Any) -> None:
        for i in range(x.size):
            out[i] = x[i]
            x[i] = -99

    for least, rows in ((1, 1), (40, 20)):
        with threshold(least, "fused"), ad.backend(backend), np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x, others = _new(X[0]), _new(np.ones((rows, 4)))
            late = others + x
            assert type(late._v) is Node
            made = taken.ufunc(x) if hasattr(taken, "ufunc") else taken(x)
            _same(late, np.ones((rows, 4)) + X[0], True)
            _same(made, X[0], True)
            _same(x, np.full(4, -99.0), True)
