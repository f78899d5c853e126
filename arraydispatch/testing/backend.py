"""Check a backend against the contract and against NumPy: ``python -m arraydispatch.testing.backend NAME``.

The contract is :mod:`arraydispatch.backends.base`. NumPy computes each expected result: value, dtype and shape. A primitive or a
kernel that raises :class:`arraydispatch.backends.base.Unsupported` is counted, but not as a failure: the call runs on the host.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import arraydispatch as ad

from ..backends import loader
from ..backends.base import PRIMITIVES, Backend, Unsupported
from ..common.errors import ArrayDispatchError, HostFallbackError

_DTYPES = [
    np.dtype(name) for name in "bool int8 int16 int32 int64 uint8 uint32 float32 float64 complex64 complex128".split()
]
_ULPS = 64
"""Largest accepted error of a floating result, in units in the last place of the largest expected value."""


class Result(NamedTuple):
    """Outcome of one check."""

    check: str
    said: str
    """Empty if the check passed; otherwise ``"unsupported: …"`` or a description of the fault."""

    @property
    def failed(self) -> bool:
        """Whether the backend breaks the contract in this check."""
        return bool(self.said) and not self.said.startswith("unsupported: ")


def _array(*shape: int, dtype: Any = float) -> np.ndarray[Any, Any]:
    """Return distinct values, of both signs if the dtype has them."""
    n = int(np.prod(shape))
    dtype = np.dtype(dtype)
    ramp = (np.arange(n) * 7 % 23).reshape(shape)
    if dtype.kind == "b":
        return (ramp % 2).astype(dtype)
    if dtype.kind == "u":
        return ramp.astype(dtype)
    if dtype.kind == "c":
        return (ramp / 4 - 2 + 1j * (ramp % 5 - 2.0)).astype(dtype)
    return ((ramp - 9) / (4 if dtype.kind == "f" else 1)).astype(dtype)


def _primitives() -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield names and arguments of calls of primitives. Ndarrays among the arguments stand for native arrays."""
    x, v, i = _array(3, 4), _array(5), np.array([2, 0, 1, 2])
    sound = x[:3, :3] @ x[:3, :3].T + 9 * np.eye(3)
    yield "full", ((2, 3), 1.5, np.dtype(float), None)
    yield "iota", (5, np.dtype(np.int64), None)
    for dtype in _DTYPES:
        yield "astype", (_array(2, 3, dtype=np.int32), dtype)
        yield "concatenate", ([_array(2, 3, dtype=dtype), _array(1, 3, dtype=dtype)], 0)
        yield "slice", (_array(5, 4, dtype=dtype), (slice(1, 5, 2), slice(0, 4, 1)))
        yield "where", (_array(2, 3, dtype=bool), _array(2, 3, dtype=dtype), _array(3, dtype=dtype))
    yield from (("copy", (x,)), ("reshape", (x, (2, 6))), ("transpose", (x, (1, 0))), ("flip", (x, (0, 1))))
    yield from (
        ("view_dtype", (x, np.dtype(np.int64))),
        ("broadcast_to", (v, (2, 5))),
        ("pad", (x, [(1, 0), (0, 2)], 7.0)),
    )
    yield "slice_update", (x, (slice(0, 2, 1), slice(1, 4, 2)), np.array([[1.0, 2.0]]))
    yield "gather", (x, (i, np.array([3, 0, 1, 1])))
    for how in ("set", "add", "multiply", "maximum", "minimum"):
        yield "scatter", (x, (i[:3], np.array([3, 0, 1])), np.array([5.0, 6.0, 7.0]), how)
    yield from (("take", (x, i, 0)), ("take_along_axis", (x, np.array([[2, 0, 1, 2]]), 0)))
    yield from (("nonzero", (_array(3, 4, dtype=bool),)), ("mask", (x, _array(3, 4, dtype=bool))))
    for name in ("sort", "argsort", "argmax", "argmin"):
        yield name, (x, 1)
        yield name, (np.array([2.0, np.nan, 1.0, np.nan]), 0)
    yield "searchsorted", (np.sort(v), np.array([0.0, 1.0, -9.0]), "right")
    yield "bincount", (np.array([0, 2, 2, 4]), None, 6)
    z = _array(2, 3, dtype=complex)
    yield from (("real", (z,)), ("imag", (z,)), ("complex", (x, x + 1)), ("matmul", (x, x.T)))
    yield from (
        ("cholesky", (sound,)),
        ("svdvals", (x,)),
        ("eigvalsh", (sound, True)),
        ("inv", (sound,)),
        ("det", (sound,)),
    )
    yield from (("slogdet", (sound,)), ("solve", (sound, x)))
    yield from (
        ("fftn", (z, (0, 1))),
        ("ifftn", (z, (1,))),
        ("rfft", (x, 1)),
        ("irfft", (_array(2, 3, dtype=complex), 4, 1)),
    )


CALLS: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda x: (x + 1) * x - x / 3,
    "comparison": lambda x: (x > 0.5) & (x <= 2),
    "negative step": lambda x: x[::-1, 1::2],
    "index arrays": lambda x: x[[2, 0, 1]],
    "mask": lambda x: x[x > 0],
    "broadcast": lambda x: x - x[:, :1],
    "sum": lambda x: np.sum(x, axis=0, keepdims=True),
    "mean": np.mean,
    "std": lambda x: np.std(x, axis=1, ddof=1),
    "median": lambda x: np.median(x, axis=0),
    "cumsum": lambda x: np.cumsum(x, axis=1),
    "sort": lambda x: np.sort(x, axis=0),
    "argmax": lambda x: np.argmax(x, axis=1),
    "where": lambda x: np.where(x > 0, x, -x),
    "concatenate": lambda x: np.concatenate([x, x], axis=1),
    "stack": lambda x: np.stack([x, 2 * x]),
    "matmul": lambda x: x @ x.T,
    "einsum": lambda x: np.einsum("ij,kj->ik", x, x),
    "solve": lambda x: np.linalg.solve(x @ x.T + 9 * np.eye(3), x),
    "clip": lambda x: np.clip(x, -1, 1),
    "unique": np.unique,
    "sin": np.sin,
    "integer division": lambda x: np.floor(x) // 2,
    "astype": lambda x: x.astype(np.float32),
    "fft": lambda x: np.fft.fft(x, axis=1),
    "pad": lambda x: np.pad(x, 1, mode="reflect"),
    "write": lambda x: _written(x),  # noqa: PLW0108 -- defined below
    "write in place": lambda x: _added(x),  # noqa: PLW0108
    "argsort": lambda x: np.argsort(x, axis=None, kind="stable"),
    "histogram": lambda x: np.histogram(x, bins=4)[0],
}
"""Name of a check -> function of an array of shape (3, 4), as users might call it."""


def _written(x: Any) -> Any:
    x = x.copy()
    x[1:, ::2] = 7
    x[x < 0] = 0
    return x


def _added(x: Any) -> Any:
    x = x.copy()
    x.T[0] += 1
    return x


def _natives(backend: Backend, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return backend.from_numpy(value)
    return type(value)(_natives(backend, part) for part in value) if type(value) in (list, tuple) else value


def _differs(got: Any, expected: Any, value_of: Callable[[Any], Any]) -> str:
    """Return a description of how a result differs from NumPy's; empty if it does not."""
    if isinstance(expected, tuple | list):
        if len(got) != len(expected):
            return f"{len(got)} results instead of {len(expected)}"
        return next(filter(None, (_differs(a, b, value_of) for a, b in zip(got, expected))), "")
    got, expected = np.asarray(value_of(got)), np.asarray(expected)
    if got.dtype != expected.dtype:
        return f"dtype {got.dtype} instead of {expected.dtype}"
    if got.shape != expected.shape:
        return f"shape {got.shape} instead of {expected.shape}"
    if expected.dtype.kind in "fc" and expected.size:
        finite = np.abs(expected[np.isfinite(expected)])
        near = _ULPS * np.finfo(expected.dtype).eps * max(float(finite.max(initial=0.0)), 1.0)
        same = np.allclose(got, expected, rtol=0, atol=near, equal_nan=True)
    else:
        same = np.array_equal(got, expected)
    return "" if same else f"values differ: {got.tolist()!r:.80} instead of {expected.tolist()!r:.80}"


def _said(run: Callable[[], str]) -> str:
    try:
        with np.errstate(all="ignore"):
            return run()
    except (Unsupported, HostFallbackError) as reason:
        return f"unsupported: {reason}"
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is said
        return f"{type(error).__name__}: {error!s:.200}"


def _identity(backend: Backend) -> Iterator[Result]:
    x = _array(2, 3)
    a = backend.from_numpy(x)
    facts: dict[str, Callable[[], bool]] = {
        "is_native": lambda: backend.is_native(a) and not backend.is_native(object()),
        "shape_of": lambda: backend.shape_of(a) == (2, 3),
        "dtype_of": lambda: backend.dtype_of(a) == np.dtype(float),
        "devices": lambda: bool(backend.devices()) and str(backend.devices()[0].backend) == backend.name,
        "version": lambda: isinstance(backend.version, str),
        "on_cpu": lambda: isinstance(backend.on_cpu(a), bool),
        "shows_scalars": lambda: isinstance(backend.shows_scalars(a), bool),
        "item": lambda: isinstance(backend.item(backend.from_numpy(np.array(1.5))), np.float64),
        "capabilities": lambda: isinstance(backend.capabilities, frozenset),
        "copies": lambda: _is_copied(backend),
    }
    for name, holds in facts.items():
        yield Result(f"identity: {name}", _said(lambda holds=holds: "" if holds() else "does not hold"))  # type: ignore[misc]
    missing = sorted(set(PRIMITIVES) - set(vars(backend.prim)))
    yield Result("primitives are there", f"missing: {', '.join(missing)}" if missing else "")
    for dtype in filter(backend.holds, _DTYPES):
        for shape in ((2, 3), (), (0, 2)):
            y = _array(*shape, dtype=dtype)
            run = partial(_differs, backend.from_numpy(y), y, backend.to_numpy)
            yield Result(f"conversion of {dtype} {shape}", _said(run))


def _is_copied(backend: Backend) -> bool:
    x = _array(4)
    a = backend.from_numpy(x, copy=True)
    x[0] = 99
    return bool(backend.to_numpy(a)[0] != 99)


def check(backend: Backend) -> Iterator[Result]:
    """Yield the result of each check of a backend: its identity, primitives, ufuncs, and NumPy calls on its arrays."""
    yield from _identity(backend)
    oracle = loader.load("numpy")
    for name, args in _primitives():
        expected = getattr(oracle.prim, name)(*(np.copy(a) if isinstance(a, np.ndarray) else a for a in args))

        def primitive(name: str = name, args: Any = args, expected: Any = expected) -> str:
            with backend.within():
                device = backend.device_of(backend.from_numpy(np.zeros(1)))
                given = _natives(backend, args)
                if name in ("full", "iota"):
                    given = (*given[:-1], device)
                return _differs(getattr(backend.prim, name)(*given), expected, backend.to_numpy)

        yield Result(f"primitive {name}", _said(primitive))
    # SciPy's ufuncs are registered or not, depending on earlier calls in the process.
    numpys: list[Any] = [ufunc for ufunc in backend.UFUNCS if getattr(np, ufunc.__name__, None) is ufunc]
    for ufunc in numpys:
        for dtype in filter(backend.holds, map(np.dtype, ("bool", "int64", "float32", "float64", "complex128"))):
            found = _loop(ufunc, dtype)
            if found is not None:
                run = partial(_ufunc, backend, ufunc, dtype, found)
                yield Result(f"ufunc {ufunc.__name__} of {dtype}", _said(run))
    x = _array(3, 4)
    for name, call in CALLS.items():
        with np.errstate(all="ignore"):
            expected = call(np.copy(x))

        def by_user(call: Callable[[Any], Any] = call, expected: Any = expected) -> str:
            with ad.fallback("silent"):
                return _differs(call(ad.asarray(x, backend=backend)), expected, ad.to_numpy)

        yield Result(f"call: {name}", _said(by_user))


def _loop(ufunc: Any, dtype: np.dtype[Any]) -> Any:
    """Return NumPy's result if the ufunc has a loop for operands of this dtype itself, else None."""
    if ufunc.nin > 2:
        return None
    try:
        resolved = ufunc.resolve_dtypes((dtype,) * ufunc.nin + (None,) * ufunc.nout)
    except TypeError:
        return None
    if any(each != dtype for each in resolved[: ufunc.nin]):
        return None
    with np.errstate(all="ignore"):
        return ufunc(*_operands(ufunc, dtype))


def _operands(ufunc: Any, dtype: np.dtype[Any]) -> list[Any]:
    first = _array(6, dtype=dtype)
    second = np.abs(first[::-1]).astype(dtype) + np.ones(1, dtype) if dtype.kind != "b" else first[::-1]
    return [first, np.ascontiguousarray(second)][: ufunc.nin]


def _ufunc(backend: Backend, ufunc: Any, dtype: np.dtype[Any], expected: Any) -> str:
    with ad.fallback("error"):
        got = ufunc(*(ad.asarray(x, backend=backend) for x in _operands(ufunc, dtype)))
    return _differs(got, expected, ad.to_numpy)


def main(argv: list[str] | None = None) -> int:
    """Check the backend that the command line names; return the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m arraydispatch.testing.backend NAME", file=sys.stderr)
        return 2
    try:
        backend = loader.load(arguments[0])
    except ArrayDispatchError as error:
        print(f"arraydispatch: {error}", file=sys.stderr)
        return 2
    results = list(check(backend))
    failed = [result for result in results if result.failed]
    unsupported = sum(result.said.startswith("unsupported: ") for result in results)
    for result in failed:
        print(f"{result.check}: {result.said}")
    print(f"{backend.name} {backend.version}: {len(results)} checks, {len(failed)} failed, {unsupported} unsupported")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
