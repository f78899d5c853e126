"""Transforms of the NumPy backend, which computes forward only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

Array = np.ndarray[Any, Any]
Run = Callable[[list[Array]], tuple[list[Array], list[Array]]]

REFUSALS: tuple[type[Exception], ...] = ()


def is_refusal(error: Exception) -> bool:
    return False


def differentiate(f: Run, primals: Sequence[Array], once: bool) -> NoReturn:
    raise TypeError(
        "NumPy computes forward only and has no derivatives; choose a library with arraydispatch.use('jax'), or pass "
        "arrays of one, for instance arraydispatch.asarray(x, backend='jax')."
    )


def jit(f: Run, examples: Sequence[Array]) -> Run:
    return f


def abstract(f: Any, specs: Sequence[Any], device: Any) -> NoReturn:
    raise AssertionError("NumPy computes at once")


def program(f: Any, specs: Sequence[Any], device: Any, spare: Sequence[int]) -> NoReturn:
    raise AssertionError("NumPy has no compiler")


def loop(going: Any, step: Any, state: Sequence[Array], most: int | None) -> NoReturn:
    raise AssertionError("values of NumPy's are known, so Python runs the loop")


def call_host(f: Any, natives: Sequence[Array], specs: Sequence[Any]) -> list[Array]:
    return f(list(natives))


def with_gradient(f: Run, back: Any, natives: Sequence[Array]) -> list[Array]:
    return f(list(natives))[0]


def vectorize(f: Run, natives: Sequence[Array], size: int) -> tuple[list[Array], list[Array]]:
    """Run one example after the other, on views: writes reach the caller."""
    made = [f([x[i, ...] for x in natives]) for i in range(size)]
    outs, extra = ([np.stack(values) for values in zip(*part)] for part in zip(*made))
    return outs, extra


def number(host: Array, upload: Any) -> Array:
    return host


def signature(a: Array) -> Any:
    return a.shape


def nests(traces: Sequence[Any]) -> bool:
    return False


def parameters(module: Any) -> None:
    return None


def apply(module: Any, params: Any, args: Any, kwargs: Any) -> NoReturn:
    raise TypeError("NumPy has no modules that take parameters; pass arrays of the module's library")


def stop_gradient(a: Array) -> Array:
    return a
