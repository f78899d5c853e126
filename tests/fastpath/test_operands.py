"""Lists, ranges, text and numbers of other classes beside arrays, and ufuncs with keywords: values, dtypes, errors and warnings are NumPy's."""

from __future__ import annotations

from pathlib import Path

from tests.fastpath.test_short_ways import HEAD
from tests.launched import Zygotes, prints_as_plainly

OPERANDS = (
    HEAD
    + """
import decimal, enum, fractions

class Level(enum.IntEnum):
    HIGH = 2

class Metres(float):
    pass

class Signed(int):
    def __radd__(self, other):
        return "Signed.__radd__"

class Above(float):
    __array_priority__ = 100
    def __radd__(self, other):
        return "Above.__radd__"
    def __rmul__(self, other):
        return "Above.__rmul__"

class Declines(int):
    __array_ufunc__ = None
    def __radd__(self, other):
        return "Declines.__radd__"

asked = []

class Asked(int):
    def __pow__(self, other, modulo=None):
        asked.append(isinstance(other, np.ndarray))
        return NotImplemented
    __add__ = __divmod__ = __pow__

others = [
    [1, 2, 3], (1.5, 2, 3), [True, False, True], (1j, 2, 3), [[1], [2]], [], [1, 2], [1, [2, 3]], [2**63, 1, 2], [1, "a", 2],
    [None, 1, 2], [1, 2, float("nan")], ((1, 2, 3), [4, 5, 6]), range(3), range(0), Level.HIGH, Metres(2.5), Signed(3), Above(2.0), Declines(1), Asked(2),
    fractions.Fraction(1, 2), decimal.Decimal(1), None, "a", b"a", Ellipsis, int, np.array([1, 2, 3]), [np.array([1.0, 2.0, 3.0])], [np.float32(1)] * 3,
]
ufuncs = [getattr(np, name) for name in "add multiply divide power maximum less equal bitwise_and logical_or hypot floor_divide copysign".split()]
operators = "add sub mul truediv floordiv mod pow and_ xor lshift lt ge eq ne matmul".split()
arrays = [
    np.array([1.5, -2.0, 0.0]), np.array([3, -5, 0]), np.array(2.5), np.array([True, False, True]), np.arange(6.0).reshape(2, 3),
    np.array([1.5, 2.5, 0], np.float32), np.array([1 + 2j, 0, 1]), np.array(["a", "b", "c"]), np.arange(3, dtype=np.uint8),
]
for i, x in enumerate(arrays):
    for n, other in enumerate(others):
        for func in ufuncs:
            run((func.__name__, i, n), lambda: func(x, other))
            run((func.__name__, n, i), lambda: func(other, x))
        for name in operators:
            func = getattr(operator, name)
            run((name, i, n), lambda: func(x, other))
            run((name, n, i), lambda: func(other, x))
        for name in operators[:9]:
            func, y = getattr(operator, "i" + name.rstrip("_")), x.copy()
            run(("i" + name, i, n), lambda: func(y, other))
            run(("left", i, n), lambda: y)
print(len(asked), all(asked))
for n, other in enumerate(others):
    for func in (np.sqrt, np.abs, np.isnan, np.logical_not, np.exp):
        run((func.__name__, n), lambda: func(other))
    for m, more in enumerate(others[:12]):
        run(("add", n, m), lambda: np.add(other, more))
        run(("arctan2", n, m), lambda: np.arctan2(other, more))
x, i = np.arange(6.0).reshape(2, 3), np.arange(6)
for line in \"\"\"
x.take([0, 5])
x.take((0, 1), axis=1)
x.take([9])
x.transpose([1, 0])
x.reshape([3, 2])
x.sum([0])
x.sum((0, 1))
x.repeat([1, 2, 3, 1, 2, 3])
x.repeat([1])
i.searchsorted([1, 2.5])
i.dot([1, 2, 3, 4, 5, 6])
x.clip([1, 2, 3], 4)
x.swapaxes([0], 1)
x.astype([("a", float)])
x.argsort([0])
i.item([1])
x.item((1, 2))
x.tobytes()
x.T.tobytes("F")
x.T.tobytes(order="A")
x.tobytes("Z")
i[::2].tobytes()
np.array(x, copy=True)
np.array(x, copy=True, dtype="f4")
np.array(x, copy=False)
np.array(x, copy=None) is x
np.array(x, order="F", copy=True)
np.array([1, 2], copy=True)
np.asarray(x, copy=True)
np.array(x[:, ::2])
np.array(x).base is None
\"\"\".strip().splitlines():
    run(line, lambda: eval(line))
"""
)

KEYWORDS = (
    HEAD
    + '''
x, y, m, i = np.array([1.5, -2.0, 0.0]), np.array([2.0, 0.0, -1.0]), np.array([True, False, True]), np.array([3, 0, 1])
A, z = np.arange(6.0).reshape(2, 3), np.array(2.5)
for line in """
np.add(x, y, dtype="f4")
np.add(i, i, dtype=float)
np.add(x, x, dtype=int)
np.add(x, x, dtype=int, casting="unsafe")
np.add(x, 1, dtype=complex)
np.add(1, 2, dtype=float)
np.sqrt(i, dtype="f4")
np.sqrt(x)
np.sqrt(x, where=m, out=np.zeros(3))
np.sqrt(x, where=x > 0, out=np.full(3, -1.0))
np.divide(x, y, where=y != 0, out=np.zeros(3))
np.divide(x, y, out=np.zeros(3), where=False)
np.divide(x, y)
np.divide(x, y, out=np.zeros(2), where=m)
np.divide(x, y, out=np.zeros(3, int), where=m)
np.divide(x, y, out=np.zeros(3, int), where=m, casting="unsafe")
np.divide(x, y, where=m, out=(np.zeros(3),))
np.divide(x, y, where=m, out=None)[0]
np.add(A, x, order="F")
np.add(A, x, order="F").flags.f_contiguous
np.add(A, x, where=[[True], [False]], out=A * 0)
np.add(A, x, where=m, out=A * 0)
np.add(A, A, subok=False)
np.add(A, A, signature="dd->d")
np.add(A, A, wrong=1)
np.add(A, A, dtype="nonsense")
np.add(A, A, casting="nonsense")
np.less(x, y, dtype=object)
np.modf(x, dtype="f4")
np.divmod(x, y, where=m, out=(np.zeros(3), np.zeros(3)))
np.clip(x, 0, 1, dtype="f4")
np.multiply(z, 2, dtype="f4")
np.multiply(z, 2, where=True)
np.maximum(x, y, where=m, out=x)
np.negative(x, where=m, out=x[::-1])
np.matmul(A, x, dtype="f4")
np.add(x, [1, 2, 3], dtype="f4")
np.add([1, 2, 3], [1, 2, 3], dtype="f4")
""".strip().splitlines():
    run(line, lambda: eval(line))
    print(x.tolist(), y.tolist(), A.tolist())
'''
)


def test_operands_of_other_kinds(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, OPERANDS, tmp_path, ())


def test_keywords_of_ufuncs(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, KEYWORDS, tmp_path, ())
