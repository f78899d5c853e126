import collections.abc
from functools import singledispatch
from typing import Optional, Union

import numpy as np
import numpy.typing as npt


@singledispatch
def kind(x):
    return "other"


@kind.register(np.ndarray)
def _(x):
    return "array"


@kind.register
def _(x: list):
    return "list"


def f(x: np.ndarray, y: Optional[np.ndarray] = None, z: "np.ndarray | None" = None) -> Union[np.ndarray, float]:
    return x


def g(x: npt.NDArray[np.float64], y: np.ndarray[tuple[int], np.dtype[np.float64]], z: np.ndarray | None) -> np.ndarray:
    return x


x = np.arange(3.0)
print(isinstance(x, np.ndarray), isinstance(x, (list, np.ndarray)), isinstance([1], np.ndarray), isinstance(3.0, np.ndarray))
print(isinstance(x.sum(), np.ndarray), isinstance(x.sum(), float), isinstance(x[0], np.floating), np.isscalar(x[1]))
print(kind(x), kind([1]), kind("a"), issubclass(type(x), np.ndarray), issubclass(list, np.ndarray))
print(type(x) == np.ndarray, type(x) in (list, np.ndarray), {np.ndarray: 1}.get(type(x)), np.ndarray.__name__)
print(isinstance(np.add, np.ufunc), isinstance(np.mean, np.ufunc), callable(np.mean), np.mean.__name__, np.add.__name__)
print(isinstance(x, collections.abc.Iterable), isinstance(x, collections.abc.Sequence), np.ndarray is np.ndarray)
print(np.ndarray((2, 3)).shape, np.ndarray(shape=(2,), dtype=np.int32).dtype, repr(np.ndarray))
print(f(x) is x, g(x, x, None) is x, np.float64 is type(x[0]), np.dtype(float) == x.dtype)
match x:
    case np.ndarray():
        print("matched")
    case _:
        print("not matched")
