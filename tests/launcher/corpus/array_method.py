import functools

import numpy as np


class F:
    def __array__(self, dtype=None, copy=None):
        return np.arange(3.0)


def tell(name, f):
    try:
        print(name, f())
    except Exception as e:
        print(name, type(e).__name__, e)


tell("add", lambda: np.ones(3) + F())
tell("radd", lambda: F() + np.ones(3))
tell("npadd", lambda: np.add(np.ones(3), F()))
tell("npadd2", lambda: np.add(F(), F()))
tell("stack", lambda: np.stack([F(), F()]))
tell("conc", lambda: np.concatenate([F(), np.ones(2)]))
tell("array2", lambda: np.array([F(), F()]))
tell("array1", lambda: np.array(F()))
tell("asarray", lambda: np.asarray(F(), dtype="f4"))


def si():
    z = np.zeros((2, 3))
    z[:] = F()
    return z


tell("setitem", si)


def ii():
    z = np.zeros(3)
    z += F()
    return z


tell("iadd", ii)
tell("where", lambda: np.where(np.array([True, False, True]), F(), 0))
tell("dot", lambda: np.dot(F(), F()))
tell("sum", lambda: np.sum(F()))
tell("isclose", lambda: np.isclose(F(), np.arange(3)))
tell("allclose", lambda: np.allclose(F(), F()))
tell("eq", lambda: np.ones(3) == F())
tell("interp", lambda: np.interp(F(), F(), F()))
tell("getitem", lambda: np.arange(10.0)[[0, 1]][np.array([0])])
tell("vstack", lambda: np.vstack([F(), F()]))
tell("append", lambda: np.append(F(), F()))
tell("r_", lambda: np.r_[F(), 1])
tell("full", lambda: np.full((2, 3), F()))
tell("fft", lambda: np.fft.fft(F()))
tell("linalg", lambda: np.linalg.norm(F()))
tell("poly", lambda: np.polyfit(F(), F(), 1).shape)
tell("rng", lambda: np.random.default_rng(0).permutation(F()))
tell("put", lambda: np.put(np.zeros(3), [0, 1, 2], F()))
tell("out", lambda: np.array([1, F()[0] if hasattr(F(), "__getitem__") else 2]))


class Held:
    """Gives what it holds: whoever makes an array of it, or a view, has that very memory."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


SAME = (np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.require, np.asarray_chkfinite, np.ravel)
for same in (*SAME, np.atleast_1d, np.squeeze, np.transpose, np.real, lambda x: np.array(x, copy=None)):
    for size in 5, 5000:
        held = Held(np.arange(float(size)))
        got = same(held)
        got[1] = 40
        held.values[2] = 50
        print(held.values[:3], got[:3], np.shares_memory(got, held.values), np.asarray(held, "i4").dtype)


# -- a function that the class is given --------------------------------------------------------------------------------


def arange(self, dtype=None, copy=None):
    return np.arange(3.0)


class Given:
    __array__ = arange


class Below(Given):
    def __array__(self, dtype=None, copy=None):
        return super().__array__(dtype) + 1


def set_whole(c):
    z = np.ones((2, 3))
    z[:] = c()
    return z


USES = {
    "add": lambda c: np.ones(3) + c(),
    "array": lambda c: np.array([c(), c()]),
    "asarray": lambda c: np.asarray(c()),
    "of a type": lambda c: np.asarray(c(), "f4"),
    "stack": lambda c: np.stack([c(), np.ones(3)]),
    "set": set_whole,
    "full": lambda c: np.full((2, 3), c()),
    "masked": lambda c: np.ma.array(c()),
    "by name": lambda c: c().__array__(),
    "sum": lambda c: np.sum(c()),
}
for cls in Given, Below:
    for use, f in USES.items():
        tell(f"{cls.__name__} {use}", functools.partial(f, cls))
