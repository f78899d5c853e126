import functools
import pickle
from dataclasses import dataclass

import numpy as np

x = np.arange(4.0)
print(type(x), type(x) is np.ndarray, type(x) == np.ndarray, type(x).__name__, {np.ndarray: "array"}[type(x)])
print([type(y) is np.ndarray for y in (x + 1, x[1:], x.reshape(2, 2), np.sort(x), x.astype(int), x.copy(), np.array([x, x]))])
print(isinstance(x, np.ndarray), isinstance(x[0], np.floating), isinstance(x[0], float), type(x.sum()).__name__)
print(np.ndarray.sum(x), np.ndarray.__getitem__(x, 2), np.ndarray((2, 3)).shape, np.ndarray.__name__)


@functools.singledispatch
def describe(value):
    return "something"


@describe.register(np.ndarray)
def _(value):
    return f"array of {value.size}"


@describe.register(np.generic)
def _(value):
    return "scalar"


print(describe(x), describe(x[0]), describe([1]))


@dataclass
class Model:
    weights: np.ndarray
    make = np.array
    activation = np.tanh


m = Model(np.zeros(2))
print(m, m.make([1, 2]), m.activation(0.0))


class Tagged(np.ndarray):
    def __new__(cls, values, tag=None):
        made = np.asarray(values).view(cls)
        made.tag = tag
        return made

    def __array_finalize__(self, other):
        self.tag = getattr(other, "tag", None)

    def __getitem__(self, key):
        return np.ndarray.__getitem__(self, key)


t = Tagged([1, 2, 3], "mm")
print(type(t + 1).__name__, (t * 2).tag, t[1], t.view(np.ndarray).tolist(), isinstance(t, np.ndarray), t.sum())
copy = pickle.loads(pickle.dumps({"x": x, "f": np.sqrt, "c": np.ndarray, "g": np.random.default_rng(1)}))
print(copy["x"].tolist(), copy["f"](4.0), copy["c"] is np.ndarray, copy["g"].integers(9))
print("sin" in vars(np) or "sin" in dir(np), hasattr(np, "linalg"), set(np.__all__) <= set(dir(np)))
match x:
    case np.ndarray(shape=(n,)):
        print("matched", n)
