import numpy as np


@np.vectorize
def step(x, y=2):
    return x if x > y else y


a = np.arange(6).reshape(2, 3)
print(step(a), step(a, 3).dtype, step(5), np.vectorize(lambda s: s + 1, otypes=[float])(a))
print([(i, int(v)) for i, v in np.ndenumerate(a)], [int(v) for v in np.nditer(a)])
with np.nditer(a, op_flags=["readwrite"]) as it:
    for x in it:
        x[...] = 2 * x
print(a)
b = np.zeros(3)
for x in np.nditer(b, op_flags=["readwrite"]):
    x += 1
print(b, np.piecewise(b, [b < 1, b >= 1], [lambda v: -v, lambda v: v * 3]))
print([row.tolist() for row in a], len(a), list(zip(a[0], a[1])), sum(b), max(b), 2 in a, a.tolist())
print(np.fromfunction(lambda i, j: i * 10 + j, (2, 2)), np.apply_over_axes(np.sum, a, [0, 1]), sorted(b))
