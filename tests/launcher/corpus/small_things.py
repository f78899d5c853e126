"""Little things that broke once, each by itself."""

import operator
import pickle

import numpy as np

mask = np.arange(5) > 2
for name in "eq ne lt le gt ge add mul and_ or_ xor".split():
    print(name, getattr(operator, name)(mask, True), getattr(operator, name)(False, mask))
print(mask.dtype, (mask + True).dtype, (np.arange(3) * True).dtype, (np.linspace(0, 1, 3) == True).tolist())  # noqa: E712


def twice(x):
    return 2 * x


print(pickle.loads(pickle.dumps(np.vectorize(twice)))(np.arange(3)))


class Apart:
    """What arrays leave operators to."""

    __array_ufunc__ = None

    def __eq__(self, other):
        return "apart"

    __hash__ = None


print(np.arange(3) == Apart(), Apart() in np.arange(3))

rng = np.random.default_rng(0)
x = np.arange(6.0).reshape(2, 3)
for axis in (5, -3):
    try:
        rng.shuffle(x, axis=axis)
    except Exception as error:
        print(type(error).__name__, error)
print(x, np.asfortranarray(np.array(3.0)).shape)
x[:, [0, 1]] = np.float64(7.9)
whole = np.zeros(3, np.int64)
whole[[0, 1]] = np.float64(1e10)
print(x, whole, np.where(whole > 0, whole, range(3)))
