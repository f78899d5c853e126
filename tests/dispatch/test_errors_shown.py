"""What a program shows of an error: NumPy's type and text, and no exception of the library's before it."""

from __future__ import annotations

from typing import Any

import numpy as np

import arraydispatch as ad
from tests.rows import each

ARRAYS = {"a": np.arange(12.0).reshape(3, 4), "b": np.arange(7.0), "m": np.eye(2), "i": np.arange(4)}

CASES = """
    a[6000]
    a[0, 9]
    a[[9]]
    a[1.5]
    a['x']
    a.item(99)
    a.__setitem__(9, 1)
    a.__setitem__(slice(2), b)
    np.linalg.inv(m * 0)
    np.linalg.solve(m * 0, m)
    np.linalg.cholesky(-m)
    np.linalg.svd(m * np.nan)
    np.linalg.eig(m * np.nan)
    np.linalg.inv(a)
    np.linalg.lstsq(a, b)
    a + b
    b * a
    a > b
    a @ b
    np.maximum(a, b)
    np.arctan2(a, b)
    np.logical_and(a, b)
    np.ldexp(a, i[:3])
    np.isclose(a, b)
    np.clip(a, b, b)
    np.where(a > 1, b, a)
    np.where(a > 1, a)
    np.copyto(a, b)
    np.full_like(a, b)
    np.dot(a, b)
    np.concatenate([a, m])
    np.reshape(a, 7)
    np.sum(a, axis=5)
    np.take(a, 99)
    np.power(i, -1)
    np.maximum.at(a[..., None], a > 3, a.sum(0))
    np.add.at(a[..., None], [0, 0], range(4))
    np.add.at(a, [0, 1], np.ones((3, 4)))
    np.add.at(a, [9], 1)
    np.argmax(a, axis=0, out=np.zeros(4))
    np.argmin(a, axis=0, out=np.zeros(4, 'u8'))
    a[[0.5]]
    a[[[0.5]]]
    a[0, [0.5]]
    a[['x']]
    a[[None]]
    a[np.array([0.5])]
    a[m]
    a[i[:2], i[:3]]
    a.__setitem__([0.5], 1)
    a.__setitem__(([0, 1], [0, 1, 2]), 1)
    a.flat[[99]]
    a.flat[99]
    a.flat.__setitem__([99], 1)
    a.__iadd__(b)
    a.__isub__(b[:, None])
    a.__ipow__(b)
    a.__ifloordiv__(b)
    a.__iadd__(a[None] + a[:2, None, None])
    a.__imatmul__(m)
    a[1:].__iadd__(b)
    b.__iadd__(b[:3])
    np.add(a, b, out=a)
    np.add(a, 1, out=b)
    np.multiply(a, 2, out=a, where=b > 0)
    np.clip(a, b, 2)
    np.divmod(a, b)
    a.flat.__setitem__(0, [[1, 2], [3]])
    setattr(a, 'shape', (5,))
    setattr(a[:, 1:], 'shape', (9,))
    np.array([b, a])
    np.asarray([i, b])
    np.fft.fft(b, norm='x')
    np.empty(10**15)
    np.matmul(a, b, out=a)
    a[None:'x']
    a.view('f3')
    a.take([9], axis=0)
    np.unravel_index(99, (3, 4))
    np.broadcast_to(a, 5)
    np.broadcast_arrays(a, b)
    np.einsum('ij,j', a, b)
    np.stack([a, b])
    np.interp(1.0, a[0], b)
    a.astype('x')
    float(a)
    int(b)
"""


class Handled(Exception):
    """An exception that the program handles while it makes the call."""


def fail() -> None:
    raise Handled


def shown(expression: str, make: Any) -> tuple[str, str, list[str]]:
    """The type, the text, and the exceptions that a traceback shows before it."""
    scope = {"np": np, **{name: make(x.copy()) for name, x in ARRAYS.items()}}
    try:
        try:
            fail()
        except Handled:
            eval(expression, scope)
    except Exception as error:
        before: list[str] = []
        now: BaseException | None = error
        while now is not None:
            now = now.__cause__ or (None if now.__suppress_context__ else now.__context__)
            before += [] if now is None else [type(now).__name__]
        return type(error).__name__, str(error), before
    raise AssertionError(f"{expression} raises nothing")


@each("expression", [line.strip() for line in CASES.splitlines() if line.strip()])
def test_errors_read_as_numpys(backend: str, expression: str) -> None:
    expected = shown(expression, np.asarray)
    with ad.backend(backend), ad.fallback("error"):
        *found, before = shown(expression, ad.asarray)
    assert found == [*expected[:2]]
    assert before in (["Handled"], expected[2])  # NumPy shows one of its own where it tries again without a method
