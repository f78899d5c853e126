from abc import ABC, abstractmethod

import numpy as np


class Tagged(np.ndarray):
    """The example of NumPy's manual."""

    def __new__(cls, values, tag=None):
        self = np.asarray(values, dtype=float).view(cls)
        self.tag = tag
        return self

    def __array_finalize__(self, other):
        if other is None:
            return
        self.tag = getattr(other, "tag", None)

    def plain(self):
        return self.view(np.ndarray)


class Shape(ABC):
    @abstractmethod
    def area(self): ...


class Field(np.ndarray, Shape):
    def __new__(cls, n):
        return super().__new__(cls, (n,), dtype=np.int64)

    def area(self):
        return int(self.sum())


t = Tagged([1, 2, 3], tag="metres")
print(type(t).__name__, t.tag, t[1:].tag, (t + 1).tag, np.sqrt(t * t).tag, t.sum())
print(isinstance(t, np.ndarray), issubclass(Tagged, np.ndarray), [c.__name__ for c in Tagged.__mro__], t.plain())
field = Field(3)
field[:] = np.arange(3)
print(field.area(), isinstance(field, Shape), field.tolist())
