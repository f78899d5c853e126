import numpy as np

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
y = X @ np.array([1.0, -2.0, 0.5]) + 3 + 0.1 * rng.standard_normal(200)
A = np.c_[np.ones(len(X)), X]
beta, residuals, rank, singular = np.linalg.lstsq(A, y, rcond=None)
print(np.round(beta, 8), rank, "%.8g" % residuals[0])
w = np.zeros(4)
for epoch in range(50):
    w -= 0.1 * A.T @ (A @ w - y) / len(y)
print(np.round(w, 8), "%.8g" % np.sqrt(np.mean((A @ w - y) ** 2)))
order = rng.permutation(len(y))
train, test = order[:150], order[150:]
print(A[train].shape, "%.8g" % np.corrcoef(A[test] @ w, y[test])[0, 1])
