"""A subclass of ndarray that looks at an array: NumPy's own recipe, and what is written on either side."""

import numpy as np


class Info(np.ndarray):
    def __new__(cls, values, info=None):
        made = np.asarray(values).view(cls)
        made.info = info
        return made

    def __array_finalize__(self, other):
        self.info = getattr(other, "info", None)


a = np.arange(12.0).reshape(3, 4) * 2
row, back, columns, bits = a[1], a[::-1], a[:, 1:3], a.view(np.int64)
info = Info(a, "metres")
info[1] = 7
print(row, back[1], columns[1], bits[1, 0], a.sum())
row += 2
back[0, 0] = -3
columns[0, 0] = 11
bits[2, 2] = 0
print(info.tolist(), info.info, (info + 1).info, type(info[0]).__name__)
print(row.base is a.base, np.shares_memory(a, row), (a @ a.T).tolist(), type(a * 2) is np.ndarray)

whole = np.arange(10.0) + 1
Info(whole[2:5])[:] = 0
print(whole, np.cumsum(whole)[-1])
turned = np.asfortranarray(np.arange(6.0).reshape(2, 3))
under = turned.T
Info(turned)[1, 2] = -1
print(turned.flags.f_contiguous, under[2, 1], turned.ravel().tolist())
numbers = np.ones(3) * 1j
imaginary = numbers.imag
Info(numbers).imag[2] = 9
print(imaginary, numbers)
fixed = np.arange(4.0)
fixed.flags.writeable = False
kept = np.arange(4.0)[::-1]
Info(kept)[0] = 8
print(kept, Info(np.zeros((0, 2))).shape)
try:
    Info(fixed)[0] = 1
except ValueError as error:
    print(error)

x = np.arange(16.0).reshape(4, 4)
print(np.asmatrix(x[:2, :2]).sum(), np.matrix(x[1:3, 1:3]).tolist(), np.asmatrix(x.T)[0].tolist())
print((np.asmatrix(x[:2, ::2]) * x[:2, :2]).tolist(), np.bmat([[x[:1, :1], x[:1, 1:2]]]).tolist())
try:
    np.asmatrix(np.ones((2, 2, 2)))
except ValueError as error:
    print(error)
