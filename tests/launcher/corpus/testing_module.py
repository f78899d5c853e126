import numpy as np
from numpy import testing
from numpy.testing import assert_allclose, assert_array_equal

x = np.linspace(0, 1, 4)
assert_allclose(x, [0, 1 / 3, 2 / 3, 1], rtol=1e-12)
assert_array_equal(x > 0.5, [False, False, True, True])
np.testing.assert_almost_equal(x.sum(), 2)
testing.assert_equal(np.arange(3), [0, 1, 2])
try:
    assert_allclose(x, x + 1)
except AssertionError as error:
    print("Mismatched elements" in str(error))
print(np.ma.masked_less(x, 0.5).sum().round(8), np.polynomial.Polynomial([1, 2])(x).round(6), np.poly1d([1, 0])(2))


def half(a, where):
    a[where] /= 2
    raise ValueError(type(a) is np.ndarray)


testing.assert_raises(ValueError, half, x, 0)
with testing.assert_raises_regex(ValueError, "True"):
    half(x, slice(1, 2))
testing.assert_raises_regex(ValueError, "True", half, x, [2, 3])
testing.assert_raises(TypeError, np.add, x, 1, out=np.zeros(4, int))
print(x.round(6))
