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

for make in (np.zeros, np.array, np.eye, np.arange):
    for like in ([1], object(), 1, None, np.ones(2)):
        try:
            print(make.__name__, make(2, like=like))
        except TypeError as error:
            print(make.__name__, error)
rows = [np.ones(2), np.arange(2.0)]
for order in "CFAK":
    made = [np.array(rows, order=order), np.asarray(rows, "f4", order=order), np.array([rows[0], [3, "4"]], object, order=order)]
    print(order, [(m.dtype, m.flags.f_contiguous, m.tolist()) for m in made])
try:
    np.array(rows, copy=False)
except ValueError as error:
    print(type(error).__name__)

c = np.array([1 + 0j, 2])
for part in (np.real_if_close(c), np.real_if_close(c[::-1]), np.real_if_close(c + 1j), np.real(c), np.imag(c), c.view("f8")):
    other = np.empty(part.shape, part.dtype)
    part[:1] = 5
    print(part.dtype, part.nbytes, part.T.dtype, np.iscomplexobj(part), np.result_type(part, 1.0), other.dtype, c)
