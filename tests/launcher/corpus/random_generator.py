import copy
import pickle

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence

rng = np.random.default_rng(12345)
print(isinstance(rng, np.random.Generator), type(rng).__name__, type(rng.random()).__name__, rng.integers(5))
for draw in (
    lambda: rng.random(3),
    lambda: rng.random((2, 2), dtype=np.float32),
    lambda: rng.normal(size=3),
    lambda: rng.standard_normal((2, 2)),
    lambda: rng.uniform(-1, 1, 3),
    lambda: rng.integers(0, 10, size=4),
    lambda: rng.integers(0, 255, size=4, dtype=np.uint8, endpoint=True),
    lambda: rng.exponential(2.0, 2),
    lambda: rng.poisson(4, 3),
    lambda: rng.choice(10, 3, replace=False),
    lambda: rng.choice(np.arange(5) * 1.5, 3),
    lambda: rng.choice(np.arange(12).reshape(4, 3), 2),
    lambda: rng.choice(np.arange(12).reshape(4, 3), 2, axis=1),
    lambda: rng.permutation(np.arange(5)),
    lambda: rng.permutation(np.arange(12).reshape(4, 3)),
    lambda: rng.permutation(np.arange(12).reshape(4, 3), axis=1),
    lambda: rng.permuted(np.arange(12).reshape(4, 3), axis=1),
    lambda: rng.multivariate_normal(np.zeros(2), np.eye(2), size=2, method="cholesky"),
):
    x = draw()
    print(isinstance(x, np.ndarray), x.dtype, x.shape, x.tolist())
x = np.arange(8.0)
rng.shuffle(x)
print(x)
y = np.arange(12).reshape(3, 4)
rng.shuffle(y, axis=1)
print(y)
rows = y[1:]
rng.shuffle(rows)
print(y)
out = np.zeros(4)
same = rng.random(out=out)
print(same is out, out.tolist())
rng.permuted(y, axis=0, out=y)
print(y)
print(rng.choice(np.array([4, 5, 6])), rng.bytes(4))
children = rng.spawn(2)
print([child.random(2).tolist() for child in children], type(children[0]).__name__)
other = pickle.loads(pickle.dumps(rng))
third = copy.deepcopy(rng)
print(other.random() == rng.random() == third.random())
print(Generator(PCG64(SeedSequence(1))).random(2), np.random.default_rng(rng) is rng)
for out in (np.zeros((4, 6)).T, np.zeros(12)[::2], np.zeros((3, 2, 4)).transpose(1, 0, 2), np.broadcast_to(np.zeros(3), (2, 3))):
    try:
        print(rng.standard_normal(out=out) is out, out)
    except Exception as error:
        print(type(error).__name__, error)
