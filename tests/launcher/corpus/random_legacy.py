import numpy as np

np.random.seed(42)
print(np.random.rand(), type(np.random.rand()).__name__, np.random.randint(10), type(np.random.randint(10)).__name__)
for draw in (
    lambda: np.random.rand(2, 2),
    lambda: np.random.randn(3),
    lambda: np.random.normal(1.0, 2.0, 3),
    lambda: np.random.normal(np.array([1.0, 2.0]), np.array([0.1, 0.2])),
    lambda: np.random.uniform(-1, 1, size=(2, 2)),
    lambda: np.random.randint(0, 10, 5),
    lambda: np.random.random(2),
    lambda: np.random.random_sample((2,)),
    lambda: np.random.exponential(size=2),
    lambda: np.random.poisson(3.0, 4),
    lambda: np.random.binomial(10, 0.3, 4),
    lambda: np.random.beta(1, 2, 2),
    lambda: np.random.gamma(2.0, size=2),
    lambda: np.random.choice(10, 4),
    lambda: np.random.choice(np.arange(10) * 2, 4, replace=False),
    lambda: np.random.choice(np.array([1.0, 2.0, 3.0]), 5, p=np.array([0.2, 0.3, 0.5])),
    lambda: np.random.permutation(6),
    lambda: np.random.permutation(np.arange(6) * 10),
    lambda: np.random.permutation(np.arange(6).reshape(3, 2)),
    lambda: np.random.multivariate_normal(np.zeros(2), np.eye(2), 2),
    lambda: np.random.dirichlet([1, 2, 3]),
    lambda: np.random.standard_normal((2, 2)),
):
    x = draw()
    print(isinstance(x, np.ndarray), x.dtype, x.shape, x.tolist())

x = np.arange(10)
np.random.shuffle(x)
print(x, sorted(x.tolist()) == list(range(10)))
y = np.arange(12).reshape(4, 3)
np.random.shuffle(y)
print(y)
names = ["a", "b", "c", "d"]
np.random.shuffle(names)
print(names, np.random.choice(names), np.random.choice(names, 2).tolist())
state = np.random.get_state()
first = np.random.rand(3)
np.random.set_state(state)
print(state[0], (np.random.rand(3) == first).all())
rs = np.random.RandomState(7)
z = rs.rand(3)
v = np.arange(5.0)
rs.shuffle(v)
print(isinstance(rs, np.random.RandomState), z.tolist(), v.tolist(), rs.randint(100), rs.choice(v), rs.permutation(v).tolist())
