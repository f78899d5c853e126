"""Operators between arrays and what other classes make of them."""

import operator

import numpy as np


class Both:
    def __mul__(self, other):
        return "mul"

    def __rmul__(self, other):
        return "rmul"

    def __getitem__(self, key):
        return key


class Apart:
    __array_ufunc__ = None

    def __mul__(self, other):
        return "mul"

    def __add__(self, other):
        return "add"

    def __matmul__(self, other):
        return "matmul"

    def __mod__(self, other):
        return "mod"

    def __radd__(self, other):
        return "radd"

    def __rmul__(self, other):
        return "rmul"

    def __rmatmul__(self, other):
        return "rmatmul"

    def __rtruediv__(self, other):
        return "rtruediv"


class Neither:
    pass


class Own(np.ndarray):
    def __add__(self, other):
        return "own add"

    def __radd__(self, other):
        return "own radd"


def said(of):
    try:
        print(of())
    except Exception as error:
        print(type(error).__name__, error)


b = np.arange(3.0)
m = np.ones((3, 3))
s = b[1]
own = np.zeros(3).view(Own)
for x in (Both(), Apart(), Neither(), own, s, np.float32(2), 2, 2.5, 1j, True, [1, 2, 3], (1, 2, 3), None, "x"):
    print(type(x).__name__)
    said(lambda: b * x)
    said(lambda: x * b)
    said(lambda: b + x)
    said(lambda: x + b)
    said(lambda: b / x)
    said(lambda: m @ x)
    said(lambda: x @ m)
    said(lambda: b - x)
    said(lambda: b // x)
    said(lambda: b**x)
    said(lambda: x % b)
    said(lambda: b == x)
    said(lambda: x != b)
    said(lambda: b < x)
    said(lambda: b.astype(int) & x)
    said(lambda: b.copy().__iadd__(x))
said(lambda: b @ 2)
said(lambda: pow(b, 2, 3))
said(lambda: pow(2, b))
said(lambda: (len(b), len(m), -b, -m[0], b > 1, 1 > b, b <= b, b != b))
said(lambda: len(np.array(1.0)))
said(lambda: bool(b == b))
said(lambda: b[None:2, 0])
said(lambda: b["x"])
said(lambda: b[5])
said(lambda: b.__setitem__(7, 1))
said(lambda: b.__setitem__(0, "x"))
y = b.copy()
y += 1
y -= s
y *= y
y /= 2
print(y)
try:
    del y[0]
except Exception as error:
    print(type(error).__name__, error)


class Declines(np.ndarray):
    """Has its say first, and leaves it to NumPy."""

    def __rsub__(self, other):
        return NotImplemented

    __rpow__ = __rdivmod__ = __rand__ = __gt__ = __eq__ = __rsub__
    __hash__ = None

    def __rmatmul__(self, other):
        return "Declines.__rmatmul__"


class Weighted(float):
    """What is asked of it reaches arrays once it has declined."""

    __array_priority__ = 100


class Given:
    """An array by protocol, with one operator of its own."""

    __array_priority__ = 100

    def __array__(self, dtype=None, copy=None):
        return np.arange(4.0).reshape(2, 2)

    def __mul__(self, other):
        return "Given.__mul__"


square = np.arange(4.0).reshape(2, 2)
whole = square.astype(int)
for x in (square.view(Declines), whole.view(Declines), np.matrix("1 2; 3 4"), Weighted(2), Given()):
    print(type(x).__name__)
    for op in (operator.sub, operator.mul, operator.pow, operator.matmul, divmod, operator.lt, operator.eq):
        said(lambda: op(square, x))
        said(lambda: op(x, square))
    said(lambda: whole & x)
for left in (square, square[0], whole):
    for right in (None, 2, 2.5, "s", [1, 2], square[0], square[:, :1], np.ones((3, 3)), square + 1j):
        try:
            print(operator.imatmul(left.copy(), right))
        except Exception as error:
            print(isinstance(error, TypeError), isinstance(error, ValueError), left.shape, np.shape(right))
