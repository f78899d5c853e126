import numba
import numpy as np
from numba import guvectorize, njit, prange, stencil, vectorize
from numba.experimental import jitclass
from numba.extending import overload
from numba.typed import List
from numpy import cos

WEIGHTS = np.array([1.0, 2.0, 3.0])
SCALE = 3.0


@njit
def total(x):
    return np.sum(x * WEIGHTS) * SCALE + cos(0.0)


@njit
def fill(a):
    for i in range(a.shape[0]):
        a[i] = i
    return a


@njit("float64(float64[:])")
def signed(x):
    s = 0.0
    for v in x:
        s += v
    return s


@njit(parallel=True)
def roots(x):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = np.sqrt(x[i])
    return out


@njit
def both(pair, named=None):
    return pair[0] + pair[1]


@njit
def changed(arrays):
    arrays.append(arrays[0] * 2)


@njit
def in_python(x):
    with numba.objmode(y="float64[:]"):
        y = np.cumsum(x)
    return y[-1]


@vectorize
def product(a, b):
    return a * b + np.sin(0.0)


@vectorize(["float64(float64, float64)"])
def difference(a, b):
    return a - b


@guvectorize(["void(float64[:], float64[:])"], "(n)->()")
def add_up(x, result):
    result[0] = 0.0
    for v in x:
        result[0] += v


@stencil
def mean(a):
    return 0.5 * (a[-1] + a[1])


@jitclass([("values", numba.float64[:])])
class Bag:
    def __init__(self, values):
        self.values = values

    def double(self):
        self.values *= 2


@overload(np.busday_count)
def _count(a, b):
    return lambda a, b: b - a


@njit
def days(a, b):
    return np.busday_count(a, b)


def closure():
    module, local = np, np.array([5.0])

    @njit
    def inner(v):
        return module.sum(v) + local[0]

    return inner


x = np.array([1.0, 4.0, 9.0])
print(total(x), total(x=x), total.py_func(x))
y = np.zeros(4)
part = y[1:]
print(fill(part).tolist(), y.tolist())
part[0] = 7
print(y.tolist(), y.sum(), (y * 2).tolist())
print(signed(x), roots(x).tolist(), both((x, x)).tolist(), isinstance(roots(x), np.ndarray))
arrays = [x]
changed(arrays)
print(len(arrays), np.asarray(arrays[1]).tolist())
print(in_python(x), days(1, 3), closure()(x))
print(product(x, x).tolist(), product(2.0, 3.0), np.asarray(product(x, 2)).tolist())
out = np.zeros(3)
print(product(x, 2.0, out=out[:]) is not None, out.tolist(), difference(x, 1.0).tolist(), difference.reduce(x))
difference(x, 2.0, out)
print(out.tolist(), add_up(np.ones((2, 3))).tolist())
print(np.asarray(mean(x)).tolist(), numba.typeof(x))
bag = Bag(x)
bag.double()
print(x.tolist(), np.asarray(bag.values).tolist())
typed = List()
typed.append(x)
print(np.sqrt(typed[0]).tolist(), np.vectorize(njit(lambda a: a + 1))(x).tolist())
frozen = np.arange(3.0)
frozen.flags.writeable = False
try:
    fill(frozen)
except Exception as error:
    print(type(error).__name__)
