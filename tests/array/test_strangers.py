"""What methods of arrays ask of an object that has NumPy's protocols: what ndarray's own methods ask of it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad


class Quantity:
    """A class that answers ufuncs, refuses all functions, and keeps what it was asked."""

    def __init__(self, values: Any, asked: list[Any]) -> None:
        self.values, self.asked = np.asarray(values), asked

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        self.asked.append((ufunc.__name__, method, sorted(kwargs), [type(x) is Quantity for x in inputs]))
        names = {
            name: tuple(y.values if type(y) is Quantity else y for y in x) if name == "out" else x
            for name, x in kwargs.items()
        }
        plain = [x.values if type(x) is Quantity else np.asarray(x) for x in inputs]
        return Quantity(getattr(ufunc, method)(*plain, **names), self.asked)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        self.asked.append(func.__name__)
        return NotImplemented

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.asked.append("__array__")
        return self.values if dtype is None else self.values.astype(dtype)


WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "clip": lambda x, q: x.clip(0, q),
    "clip from below": lambda x, q: x.clip(q),
    "clip(max=)": lambda x, q: x.clip(max=q),
    "clip(out=)": lambda x, q: x.clip(0, 1, out=q),
    "sum(out=)": lambda x, q: x.sum(out=q),
    "sum, out by position": lambda x, q: x.sum(0, None, q),
    "prod(initial=)": lambda x, q: x.prod(initial=q),
    "max(out=)": lambda x, q: x.max(out=q),
    "mean(out=)": lambda x, q: x.mean(out=q),
    "mean(where=)": lambda x, q: x.mean(where=q),
    "std(out=)": lambda x, q: x.std(out=q),
    "var(mean=)": lambda x, q: x.var(mean=q),
    "any(out=)": lambda x, q: x.any(out=q),
    "cumsum(out=)": lambda x, q: x.cumsum(out=q),
    "argmax(out=)": lambda x, q: x.argmax(out=q),
    "round(out=)": lambda x, q: x.round(out=q),
    "conj(out=)": lambda x, q: x.conj(q),
    "dot": lambda x, q: x.dot(q),
    "take": lambda x, q: x.take(q),
    "choose": lambda x, q: np.argsort(x).choose([x, q, x]),
    "searchsorted": lambda x, q: x.searchsorted(q),
    "compress": lambda x, q: x.compress(q),
    "put": lambda x, q: x.put([0, 2], q),
    "flat": lambda x, q: setattr(x, "flat", q),
    "flat[]": lambda x, q: operator.setitem(x.flat, slice(0, 2), q),
    "flat[q]": lambda x, q: x.flat[q],
    "@=": operator.imatmul,
    "@= of matrices": lambda x, q: operator.imatmul(x.reshape(1, 3).repeat(3, 0), q),
}


def _outcome(way: Callable[[Any, Any], Any], x: Any, values: Any) -> Any:
    asked: list[Any] = []
    try:
        made = way(x, Quantity(values, asked))
    except Exception as error:
        made = type(error)
    if type(made) is Quantity:
        made = "a quantity", made.values
    elif not isinstance(made, type):
        made = np.asarray(made)
    return repr(made), repr(np.asarray(x)), asked


@pytest.mark.parametrize("values", [[1.0, 2.0, 1.0], [1, 2, 1]], ids=["floats", "integers"])
@pytest.mark.parametrize("name", WAYS)
@pytest.mark.filterwarnings("ignore::arraydispatch.HostFallbackWarning")
def test_methods_ask_what_ndarrays_ask(name: str, values: list[float], backend: str) -> None:
    host = np.array([0.0, 3.0, 1.0])
    with ad.backend(backend):
        ours = ad.asarray(host.copy())
        found = _outcome(WAYS[name], ours, values)
    made, left, asked = _outcome(WAYS[name], host, values)
    assert found[:2] == (made, left)
    # NumPy converts some twice, and for a dtype.
    assert [x for x in found[2] if x != "__array__"] == [x for x in asked if x != "__array__"]
