import itertools

import numpy as np


def batches(x, size):
    for start in range(0, len(x), size):
        yield x[start : start + size]


x = np.arange(10) ** 2
print([int(np.sum(b)) for b in batches(x, 3)], [b.tolist() for b in np.array_split(x, 3)])
print(sorted({int(v) for v in x if v % 2}), list(itertools.islice(x, 2)), dict(zip("ab", x)), np.fromiter(x, float)[:2])
total = 0
for value in x:
    total += value
print(total, type(total).__name__, x[x > 10].sum(), x[-1], x[[0, 2]], x[::-1][:2], bool(x.any()), x.nbytes, range(10)[x[1]])
grid = np.meshgrid(np.arange(2), np.arange(3))
print(type(grid).__name__, [g.shape for g in grid], np.gradient(x)[:2], np.interp(2.5, np.arange(3), [0, 1, 4]))
