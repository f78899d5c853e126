"""A program's classes that inherit from NumPy's, and views as ``np.ndarray`` of what stays NumPy's own, are what they are in plain Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.launched import Zygotes, prints_as_plainly

CLASSES = """
import abc, typing
import numpy as np


class Meta(type):
    def __new__(mcls, name, bases, names, **more):
        names["made_by"] = mcls.__name__, [base.__name__ for base in bases], more
        return super().__new__(mcls, name, bases, names)

    def __init__(cls, name, bases, names, **more):
        super().__init__(name, bases, names)

    def __prepare__(name, bases, **more):
        return {"prepared": [base.__module__ for base in bases]}


class Closed(type):
    def __setattr__(cls, name, value):
        raise TypeError("its classes do not change")


class Base(metaclass=Meta):
    pass


class Sums(typing.Protocol):
    def sum(self): ...


class Own(np.ndarray, metaclass=Meta, more=1):
    pass


class Sealed(np.ndarray, metaclass=Closed):
    pass


class Before(Base, np.ndarray):
    pass


class After(np.ndarray, Base):
    pass


class Summed(np.ndarray, Sums):
    pass


class Abstract(np.ndarray, metaclass=abc.ABCMeta):
    @abc.abstractmethod
    def unit(self): ...


class Metres(Abstract):
    def unit(self):
        return "m"


class Viewing:
    def view(self, *args):
        return "mine"


class Mixed(Viewing, np.ndarray):
    pass


class Plain(np.ndarray):
    pass


class Vectorized(np.vectorize, metaclass=Meta):
    pass


class Walked(np.ndenumerate, abc.ABC):
    pass


class Drawing(np.random.Generator, metaclass=Meta):
    pass


class Legacy(np.random.RandomState, abc.ABC):
    pass


for cls in (Own, Sealed, Before, After, Summed, Abstract, Metres, Mixed, Plain, Vectorized, Walked, Drawing, Legacy):
    print(cls.__name__, type(cls).__name__, [each.__name__ for each in cls.__mro__], cls.__abstractmethods__ if cls is Abstract else "")
print(Own.made_by, Own.prepared, Before.made_by, Metres.unit(np.ones(2).view(Metres)))
for cls in (Own, Sealed, Before, After, Summed, Metres, Plain):
    x = np.arange(4.0).view(cls)
    print(type(x + 1).__name__, type(x[1:]).__name__, (x * 2).sum(), isinstance(x, np.ndarray), issubclass(cls, np.ndarray))
print(type(np.ones(2).view(Plain).view(np.ndarray)).__name__, np.ndarray.view(np.ones(2), Mixed).view(np.ndarray))
new = np.ndarray.__new__
print(new == Plain.__new__, type(new(Plain, (0,))).__name__, new(np.ndarray, (2, 0), "b").dtype, type(new(np.ndarray, 3)) is np.ndarray)
values = np.arange(4.0)
new(np.ndarray, (2,), float, values, 8)[:] = 7
print(values, new(np.ndarray, shape=2, buffer=values, strides=(16,)))
for given in ((), (int, 2), (np.ndarray,), (np.ndarray, -1)):
    try:
        print(new(*given))
    except Exception as error:
        print(type(error).__name__, error)
print(Vectorized(lambda v: v + 1)(np.arange(3)), list(Walked(np.arange(2))), Drawing(np.random.PCG64(3)).integers(9), Legacy(3).randint(9))
for base in (np.nditer, np.ufunc):
    try:
        class Never(base, metaclass=Meta):
            pass
    except TypeError as error:
        print(error)
"""

VIEWS = """
import tempfile
import numpy as np

mapped = np.memmap(tempfile.TemporaryFile(), "f8", "w+", shape=(4,))
masked = np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
for x in (mapped, np.matrix([[1, 2]]), masked, np.rec.array([(1, 2.0)], names="a,b"), np.char.array(["a ", "b"])):
    for seen in (x.view(np.ndarray), x.view(type=np.ndarray), x.view(x.dtype, np.ndarray), x.view(), x.view(type(x)), x.view(x.dtype)):
        print(type(seen).__name__, isinstance(seen, np.ndarray), seen.dtype, seen.tolist(), np.shares_memory(seen, x))
mapped.view(np.ndarray)[1] = 5
masked.view(np.ndarray)[0, 1] = 7
print(mapped, masked.data, masked.view(fill_value=3).fill_value)
for x in (np.matrix([[1.0, 2.0, 3.0]] * 2), np.matrix(np.ones((9, 400000))), masked, np.matrix([[True, False]]), np.matrix([[2, 1], [0, 3]])[::-1, 1:]):
    for convert in (np.asarray, np.ascontiguousarray, lambda x: np.array(x, copy=None), lambda x: np.asarray(x, x.dtype)):
        seen = convert(x)
        print(type(seen) is np.ndarray, seen.dtype, np.shares_memory(seen, x), seen[0, 0])
        seen[0, 0] = 5
        y = seen * 2 + 1
        x[0, -1] = 7
        print(x[0, 0], x[0, -1], seen[0, -1], y.sum(), seen.sum(), type(seen + x).__name__)
"""


@pytest.mark.parametrize("script", [CLASSES, VIEWS], ids=["classes", "views"])
def test_what_inherits_from_numpys_classes(backend: str, script: str, zygotes: Zygotes, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, script, tmp_path, ())


ITERATORS = """
import numpy as np


def attempt(what, *args):
    try:
        what(*args)
    except Exception as error:
        print(type(error).__name__, error)


for b in (np.arange(6.0).reshape(2, 3), np.arange(400000.0).reshape(2, -1)):
    it = np.nditer(b, flags=["c_index"])
    it.iterindex = 3
    print(it.index, it.value, it.iterindex)
    it.index = 4
    print(it.value)
    it = np.nditer(b, flags=["multi_index"])
    it.multi_index = 1, 1
    print(it.value, it.multi_index, it.iterindex)
    it = np.nditer(b, flags=["ranged"])
    it.iterrange = 2, 4
    print([float(x) for x in it])
    attempt(delattr, np.nditer(b), "index")
    attempt(setattr, np.nditer(b), "nope", 1)
    attempt(setattr, np.nditer(b), "iterindex", 1 << 40)
    attempt(setattr, np.nditer(b), "index", 1)
    print(b.__dlpack_device__())
"""


def test_an_iterator_is_moved_by_what_is_set_on_it(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, ITERATORS, tmp_path, (), ("--min-size", "0"))


SHAPES = """
import numpy as np

for call in (
    "np.zeros((2, 2.5))", "np.ones((300000, 2.0))", "np.empty((3e5, 2))", "np.full((2, 3e5), 1)", "np.zeros((2, '3'))", "np.zeros((2, None))",
    "np.zeros((True, np.int8(2)))", "np.ones((np.array(2), 1))", "np.arange(1e30)", "np.arange(0, 1, 1e-300)", "np.arange(-1e30, 0)",
    "np.searchsorted([1, 2], 1, sorter=[0])", "np.ndarray.sum", "np.ndarray.reshape",
):
    try:
        print(call, eval(call))
    except Exception as error:
        print(call, type(error).__name__, error)
"""


def test_a_length_is_an_integer(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, SHAPES, tmp_path, (), ("--min-size", "0"))
