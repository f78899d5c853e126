import numpy as np
from numpy.polynomial import chebyshev


def try_all(a):
    np.copyto(a, 1.5, where=np.arange(6) > 3)
    print(a.tolist())
    np.put(a, [0, -1], [7, 8])
    np.putmask(a, a > 7.5, -1)
    np.place(a, a < 0, [42])
    np.put_along_axis(a, np.array([1]), 5, axis=0)
    print(np.round(a, 6).tolist())
    m = a.reshape(2, 3)
    np.fill_diagonal(m[:, :2], 0)
    np.add.at(a, [2, 2], 1)
    np.cumsum(a, out=a)
    a += np.ones(6)
    np.clip(a, 0, 9, out=a)
    np.nan_to_num(a, copy=False)
    print(np.round(a, 6).tolist(), np.round(m, 6).tolist())


try_all(np.zeros(6))
try_all(np.round(chebyshev.chebpts1(6), 3))
library = chebyshev.chebpts1(4)
np.transpose(library)[0] = 3
np.reshape(library, (2, 2))[1, 1] = 4
np.atleast_2d(library)[0, 1] = 5
np.split(library, 2)[1][0] = 6
np.ravel(library)[:] *= 2
np.squeeze(library)[...] += 1
print(library)
other = np.zeros(4)
np.add(library, 1, out=other)
np.multiply(other, other, out=library)
print(other, library)
