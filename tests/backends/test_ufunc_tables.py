"""Every row of every backend's ufunc tables against NumPy: each loop of the ufunc, at the values where libraries differ.

Subnormal results count as zeros: XLA (JAX, and TensorFlow's compiled kernels) flushes them on the CPU.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from arraydispatch.backends.base import Unsupported
from arraydispatch.ufuncs.composed import BY_KIND
from tests import limits

from .support import (
    BOOL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    NAMES,
    call,
    check,
    load,
    need,
    nonfinite_complex,
    special_values,
    to_host,
    ulps,
)

DTYPES = BOOL + INTEGERS + FLOATS + COMPLEX
Drawn = Callable[..., list[Any]]

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # NumPy's own, at the values tested
    pytest.mark.compiles(3),
]
every_kernel = pytest.mark.compiles(2)
"""Of the table, half of them in each run."""


def rows(table: str) -> list[Any]:
    return [
        pytest.param(name, ufunc, id=f"{name}-{ufunc.__name__}")
        for name in NAMES
        if (backend := load(name)) is not None
        for ufunc in sorted(getattr(backend, table), key=lambda u: u.__name__)
    ]


def loops(backend: Any, ufunc: np.ufunc) -> list[str]:
    """The loops of a ufunc over dtypes the backend has, one for each list of input dtypes."""
    found: dict[str, str] = {}
    for loop in ufunc.types:
        inputs = loop.split("->")[0]
        if set(inputs) <= set(DTYPES) and all(backend.holds(np.dtype(c)) for c in inputs):
            found.setdefault(inputs, inputs)
    return list(found)


# Units in the last place beside those of `tests.limits`. Complex numbers' parts are sums and products of real functions; a power
# is exp(b log a), where the error of log a is multiplied by |b|, which reaches 14 here.
COMPLEX_UNITS = 8
POWERS = {"power": 128, "float_power": 128}
# Sums of terms of opposite signs: a rounding of the larger one shows in a small result, and which zero is left is chance.
SUMS = {"logaddexp", "logaddexp2"}
# Both zeros are equal: which of them is the larger is up to the order of the operands, in NumPy's own loops too.
EITHER_ZERO = {"maximum", "minimum", "fmax", "fmin"} | SUMS


def overflowing_quotient(a: Any, b: Any) -> Any:
    return np.isinf(a / b) & np.isfinite(a) & (b != 0)


# Operands for which a library's own vector code has another value, and why. They must differ there: a departure that is gone
# is to be deleted.
DEPARTURES: dict[tuple[str, str], Any] = {
    # SLEEF's fmod is NaN there (see the blend in div_floor of torch's aten/src/ATen/native/cpu/BinaryOpsKernel.cpp).
    ("torch", "fmod"): overflowing_quotient,
    ("torch", "remainder"): overflowing_quotient,
}
# Functions of complex numbers with an infinite or NaN part where C99's Annex G, which NumPy follows, gives one part a
# value and the library does not, or of the other sign.
NOT_C99: dict[str, frozenset[str]] = {
    "numpy": frozenset(),
    # Powers of infinities and NaN are composed of exp and log, and are (nan, nan) in other places than C99's.
    "jax": frozenset({"float_power", "power"}),
    "torch": frozenset(),
    # Squares are products.
    "tensorflow": frozenset({"square"}),
}


def tolerance(name: str, ufunc: np.ufunc, loop: str) -> float:
    if name == "numpy":
        return 0
    if set(loop) & set(COMPLEX):
        return POWERS.get(ufunc.__name__, COMPLEX_UNITS)
    return limits.units(f"np.{ufunc.__name__}(a)", [], name)


def scalar_code(name: str) -> bool:
    """Whether a library was told to compute without the processor's vectors."""
    return name == "torch" and os.environ.get("ATEN_CPU_CAPABILITY") == "default"


def operands(ufunc: np.ufunc, loop: str, values: Any = special_values) -> list[np.ndarray[Any, Any]]:
    """Every pair of special values, less those for which NumPy has no value."""
    inputs = [values(c) for c in loop]
    if ufunc is np.ldexp:
        inputs[1] = np.array([-2000, -30, -5, 0, 1, 5, 30, 2000], loop[1])
    if len(inputs) == 2:
        inputs = [grid.ravel() for grid in np.meshgrid(*inputs, indexing="ij")]
    if ufunc is np.power and loop[0] in INTEGERS:
        inputs = [x[keep] for keep in [inputs[1] >= 0] for x in inputs]  # raises ValueError, above the kernels
    if ufunc is np.reciprocal and loop in INTEGERS:
        inputs = [x[x != 0] for x in inputs]  # C's cast of an infinity, undefined
    return inputs


def run(backend: Any, ufunc: np.ufunc, inputs: list[Any]) -> Any:
    """What a plan does (``ufuncs/plans.py``): operands in the dtype computed in, the leanest kernel, the loop's dtype."""
    loop = ufunc.resolve_dtypes((*(x.dtype for x in inputs), *(None,) * ufunc.nout))
    return to_host(backend, call(backend, _planned, backend, ufunc, loop, [backend.from_numpy(x) for x in inputs]))


def composed(backend: Any, ufunc: np.ufunc, dtype: Any) -> Callable[..., Any] | None:
    """The kernel of a loop that is written once for all libraries."""
    body = None if backend.native_is_ndarray else BY_KIND.get((ufunc, dtype.kind))
    return None if body is None else backend.fused(body)


def _planned(backend: Any, ufunc: np.ufunc, loop: tuple[Any, ...], natives: list[Any]) -> Any:
    astype = backend.prim.astype
    computed = loop[: ufunc.nin]
    kernel = composed(backend, ufunc, computed[0])
    if kernel is None:
        computed = [backend.compute_dtype(ufunc, dtype) for dtype in computed]
        kernel = backend.kernel(ufunc, computed[0])
    result = kernel(*[astype(x, to) for x, to in zip(natives, computed, strict=True)])
    if ufunc.nout == 1:
        return astype(result, loop[-1])
    return tuple(astype(x, to) for x, to in zip(result, loop[ufunc.nin :], strict=True))


@every_kernel
@pytest.mark.parametrize(("name", "ufunc"), rows("UFUNCS"))
def test_every_loop_at_special_values(name: str, ufunc: np.ufunc, drawn: Drawn) -> None:
    backend = need(name)
    tested = left = 0
    for loop in drawn(loops(backend, ufunc), name, 8):
        inputs = operands(ufunc, loop)
        try:
            got = run(backend, ufunc, inputs)
        except Unsupported:
            left += 1
            continue
        tested += 1
        want = ufunc(*inputs)
        departs = DEPARTURES.get((name, ufunc.__name__), lambda *_: False)(*inputs) if loop[0] in "fd" else False
        if np.any(departs) and not scalar_code(name):
            assert np.any(ulps(got, want)[departs] > 1)
        try:
            check(
                got,
                want,
                ulp=tolerance(name, ufunc, loop),
                terms=inputs if ufunc.__name__ in SUMS else (),
                signed_zero=ufunc.__name__ not in EITHER_ZERO,
                inputs=inputs,
                where=~np.asarray(departs),
            )
        except AssertionError as error:
            raise AssertionError(f"loop {loop}: {error}") from None
    assert tested or left < len(loops(backend, ufunc)), "a row that supports no loop should not be there"


@pytest.mark.parametrize(
    ("name", "ufunc"), [p for p in rows("UFUNCS") if any(set(t) & set(COMPLEX) for t in p.values[1].types)]
)
def test_complex_infinities_and_nans(name: str, ufunc: np.ufunc, drawn: Drawn) -> None:
    backend = need(name)
    departs = False
    every = [loop for loop in loops(backend, ufunc) if set(loop) <= set(COMPLEX)]
    taken = drawn(every, name, 2)
    for loop in taken:
        inputs = operands(ufunc, loop, nonfinite_complex)
        want = ufunc(*inputs)
        try:
            got = run(backend, ufunc, inputs)
        except Unsupported:
            continue
        try:
            check(got, want, ulp=COMPLEX_UNITS, inputs=inputs)
        except AssertionError:
            if ufunc.__name__ not in NOT_C99[name]:
                raise
            departs = True
            invented = np.isfinite(got) & ~np.isfinite(want)
            assert not invented.any()
    assert departs == (ufunc.__name__ in NOT_C99[name]) or len(taken) < len(every), (
        "a departure that is gone is to be deleted from NOT_C99"
    )


@pytest.mark.parametrize(("name", "ufunc"), [p for p in rows("UFUNCS") if p.values[1].nin == 2])
def test_operands_broadcast_and_may_be_empty_or_0d(name: str, ufunc: np.ufunc, drawn: Drawn) -> None:
    backend = need(name)
    loop = next(loop for loop in ("dd", "ll", "di") if loop in loops(backend, ufunc))
    for left, right in drawn([((2, 1, 3), (4, 1)), ((0, 3), (3,)), ((), (2,)), ((3,), ()), ((), ())], name, 5):
        inputs = [np.full(shape, value, c) for shape, value, c in zip((left, right), (3, 2), loop, strict=True)]
        check(run(backend, ufunc, inputs), _arrays(ufunc(*inputs)), ulp=tolerance(name, ufunc, loop))


def _arrays(value: Any) -> Any:
    return tuple(np.asarray(v) for v in value) if isinstance(value, tuple) else np.asarray(value)


@pytest.mark.parametrize(("name", "ufunc"), rows("SCALARS"))
def test_a_python_scalar_is_a_0d_array_of_the_loops_dtype(name: str, ufunc: np.ufunc, drawn: Drawn) -> None:
    backend = need(name)
    every = [loop for loop in loops(backend, ufunc) if len(set(loop)) == 1 and loop[0] in "ilfdFD"]
    for loop in drawn([x for x in every if backend.compute_dtype(ufunc, np.dtype(x[0])) == np.dtype(x[0])], name, 6):
        dtype = np.dtype(loop[0])
        if composed(backend, ufunc, dtype) is not None:
            continue
        kernel = backend.kernel(ufunc, dtype, True)
        array = np.array([1, 2, 5, 7], loop[0])
        for scalar in (2, 3) if loop[0] in "il" else (2, 0.1) if loop[0] in "fd" else (2, 0.1, 0.5 - 2j):
            other = np.array(scalar, loop[0])
            for position in (0, 1):
                both = [array, other][:: 1 if position else -1]
                native = [backend.from_numpy(x) for x in both]
                native[position] = scalar if type(scalar) is float and loop[0] in "fd" else other.item()
                try:
                    got = to_host(backend, call(backend, kernel, *native))
                except Unsupported:
                    continue
                check(got, run(backend, ufunc, both))


@pytest.mark.parametrize(("name", "ufunc"), rows("INPLACE"))
def test_writing_into_an_operand_gives_the_same(name: str, ufunc: np.ufunc) -> None:
    backend = need(name)
    for loop in loops(backend, ufunc):
        inputs = operands(ufunc, loop)
        dtypes = ufunc.resolve_dtypes((*(x.dtype for x in inputs), *(None,) * ufunc.nout))
        if any(backend.compute_dtype(ufunc, dtype) != dtype for dtype in dtypes[: ufunc.nin]):
            continue  # a cast result is not written in place
        if composed(backend, ufunc, dtypes[0]) is not None:
            continue
        kernel = backend.kernel(ufunc, dtypes[0])
        natives = [backend.from_numpy(x) for x in inputs]
        want = to_host(backend, kernel(*natives)).copy()
        out = natives[0] if dtypes[-1] == dtypes[0] else backend.from_numpy(np.ones(inputs[0].shape, dtypes[-1]))
        assert kernel(*natives, out=out) is out
        check(to_host(backend, out), want)


# -- reductions and accumulations --------------------------------------------------------------------------------------

SHAPE = (2, 3, 4)
# (axes, keepdims); the later ones for one dtype of each kind: each is a program of its own to XLA.
REDUCTIONS = [((0, 1, 2), False), ((0, 2), True), ((), False), ((1,), False), ((0, 1, 2), True)]


def reducible(ufunc: np.ufunc, backend: Any) -> str:
    bitwise = ufunc in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
    return "".join(c for c in (BOOL + INTEGERS if bitwise else DTYPES) if backend.holds(np.dtype(c)))


def sample(dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    generator = np.random.default_rng(3)
    size = int(np.prod(shape))
    if dtype == BOOL:
        return generator.random(shape) < 0.7
    numbers = generator.integers(0 if dtype in "BHIL" else -4, 5, size) + (0 if dtype in INTEGERS else 0.25)
    if dtype in COMPLEX:
        numbers = numbers + 1j * generator.integers(-3, 3, size)
    return numbers.reshape(shape).astype(dtype)


def near(got: Any, want: Any, scale: float) -> None:
    """Equal for integers; sums of up to 24 terms in another order differ by their partial sums' roundings."""
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if want.dtype.kind in "fc":
        np.testing.assert_allclose(
            got, want, rtol=8 * np.finfo(want.dtype).eps, atol=8 * np.finfo(want.dtype).eps * scale
        )
    else:
        np.testing.assert_array_equal(got, want)


@every_kernel
@pytest.mark.parametrize(("name", "ufunc"), rows("REDUCE"))
def test_reduce(name: str, ufunc: np.ufunc, drawn: Drawn) -> None:
    backend = need(name)
    reference = need("numpy").REDUCE[ufunc]
    for dtype in drawn(reducible(ufunc, backend), name, 8):
        array = sample(dtype, SHAPE)
        for axes, keepdims in REDUCTIONS if dtype in "?lLdD" else REDUCTIONS[:2]:
            try:
                got = call(backend, backend.REDUCE[ufunc], backend.from_numpy(array), axes, keepdims)
            except Unsupported:
                continue
            near(to_host(backend, got), reference(array, axes, keepdims), float(np.abs(array).sum()))


@pytest.mark.parametrize(("name", "ufunc"), rows("REDUCE"))
def test_reduce_of_nothing_is_the_identity(name: str, ufunc: np.ufunc, drawn: Drawn) -> None:
    backend = need(name)
    if ufunc.identity is None:
        pytest.skip("inapplicable: NumPy refuses it, above the kernels")
    for dtype in drawn(reducible(ufunc, backend), name, 4):
        array = np.zeros((2, 0, 3), dtype)
        for axes in [(0,), (1,), (0, 1, 2)]:
            try:
                got = call(backend, backend.REDUCE[ufunc], backend.from_numpy(array), axes, False)
            except Unsupported:
                continue
            near(to_host(backend, got), need("numpy").REDUCE[ufunc](array, axes, False), 0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum, np.add])
@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
def test_reductions_propagate_nan(name: str, ufunc: np.ufunc, dtype: str) -> None:
    backend = need(name)
    array = np.array([[1, np.nan, 3], [np.nan, np.inf, 0], [5, -np.inf, 2]], dtype)
    for table, arguments in (("REDUCE", ((1,), False)), ("ACCUMULATE", (1,))):
        try:
            got = to_host(backend, call(backend, getattr(backend, table)[ufunc], backend.from_numpy(array), *arguments))
        except Unsupported:
            continue
        want = getattr(need("numpy"), table)[ufunc](array, *arguments)
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        np.testing.assert_array_equal(got[~np.isnan(want)], want[~np.isnan(want)])


@pytest.mark.parametrize("name", NAMES)
def test_a_float16_sum_is_accumulated_in_a_wider_type(name: str) -> None:
    backend = need(name)
    ones = np.ones(5000, np.float16)  # 2048 + 1 is 2048 in float16
    got = to_host(backend, call(backend, backend.REDUCE[np.add], backend.from_numpy(ones), (0,), False))
    assert got.dtype == np.float16
    assert got == 5000


@every_kernel
@pytest.mark.parametrize(("name", "ufunc"), rows("ACCUMULATE"))
def test_accumulate(name: str, ufunc: np.ufunc, drawn: Drawn) -> None:
    backend = need(name)
    reference = need("numpy").ACCUMULATE[ufunc]
    for dtype, shape in drawn(itertools.product(reducible(ufunc, backend), [SHAPE, (2, 0, 3), (1,)]), name):
        array = sample(dtype, shape)
        for axis in range(len(shape)):
            try:
                got = to_host(backend, call(backend, backend.ACCUMULATE[ufunc], backend.from_numpy(array), axis))
            except Unsupported:
                continue
            near(got, reference(array, axis), float(np.abs(array).sum()))


@pytest.mark.parametrize("name", NAMES)
def test_no_kernel_hands_back_the_buffer_it_was_given(name: str, drawn: Drawn) -> None:
    backend = need(name)
    array = np.array([[1.5, 2.0], [-3.0, 4.0]])
    for table, arguments in (("UFUNCS", ()), ("REDUCE", ((), False)), ("REDUCE", ((), True)), ("ACCUMULATE", (0,))):
        for ufunc, kernel in drawn(getattr(backend, table).items(), name, 4):
            for dtype in "dl":
                if table == "UFUNCS":
                    if ufunc.nin != 1 or dtype not in loops(backend, ufunc):
                        continue
                    kernel = composed(backend, ufunc, np.dtype(dtype)) or backend.kernel(ufunc, np.dtype(dtype))
                if table == "REDUCE" and dtype not in reducible(ufunc, backend):
                    continue
                native = backend.from_numpy(array.astype(dtype))
                out = call(backend, kernel, native, *arguments)
                for part in out if isinstance(out, tuple) else (out,):
                    assert not np.shares_memory(backend.to_numpy(part), backend.to_numpy(native)), ufunc
