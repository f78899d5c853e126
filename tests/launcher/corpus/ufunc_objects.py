import functools
import operator

import numpy as np

n = np.arange(1, 5)
print(np.add.reduce(n), np.multiply.accumulate(n), np.add.outer(n, n).tolist(), np.add.reduceat(n, [0, 2]).tolist())
np.add.at(n, [0, 0, 1], 10)
print(n, np.add.nin, np.add.nout, np.add.identity, np.divmod.nout, len(np.add.types) > 5)
print(functools.reduce(np.add, [n, n, n]), list(map(np.sqrt, [1.0, 4.0])), np.maximum(3, 4), np.hypot(3, 4))
out = np.zeros(4)
print(np.multiply(n, 2, out=out) is out, np.add(n, n, out) is out, out, np.divmod(n, 3)[1], np.modf(np.array([1.5, -2.25]))[0])
print(np.add(n, 1, where=n > 3, out=np.zeros(4, dtype=n.dtype)), np.sin(np.zeros((2, 2))).sum(), np.negative(n, dtype=float))
table = {np.add: operator.add, np.multiply: operator.mul}
print(table[np.add](2, 3), np.add in table, np.add == np.add, np.add != np.multiply, np.sin == np.cos)
times = np.frompyfunc(lambda a, b: a * b, 2, 1)
print(times(np.arange(3), 2).tolist(), np.vectorize(np.add)(n, 1), np.apply_along_axis(np.sum, 0, np.ones((2, 3))))


class Operators:
    plus = np.add
    average = staticmethod(np.mean)


print(Operators().plus(1, 2), Operators().average(n))
