"""Handwritten digits: principal components, then softmax regression on them."""

import numpy as np
from sklearn.datasets import load_digits

COMPONENTS = 20
CLASSES = 10
ITERATIONS = 400
LEARNING_RATE = 0.5
PENALTY = 1e-3


def standardize(X):
    """Columns with zero mean and unit variance; columns that never change are dropped."""
    varies = X.std(axis=0) > 0.0
    X = X[:, varies]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def principal_components(X, k):
    """The k directions of largest variance, and the share of the variance that each explains."""
    covariance = X.T @ X / (len(X) - 1)
    values, vectors = np.linalg.eigh(covariance)
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order[:k]]
    # the sign of an eigenvector is arbitrary: make its largest entry positive
    largest = np.argmax(np.abs(vectors), axis=0)
    vectors *= np.sign(vectors[largest, np.arange(k)])
    return vectors, values[:k] / np.sum(values)


def softmax(scores):
    """Probabilities, row by row."""
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def train(X, y):
    """Softmax regression by gradient descent."""
    n, d = X.shape
    onehot = np.zeros((n, CLASSES))
    onehot[np.arange(n), y] = 1.0
    W = np.zeros((d, CLASSES))
    b = np.zeros(CLASSES)
    for it in range(ITERATIONS):
        P = softmax(X @ W + b)
        if it % 100 == 0:
            loss = -np.mean(np.log(P[np.arange(n), y])) + 0.5 * PENALTY * np.sum(W**2)
            print(f"iteration {it:4d}   loss {loss:.10e}")
        error = (P - onehot) / n
        W -= LEARNING_RATE * (X.T @ error + PENALTY * W)
        b -= LEARNING_RATE * error.sum(axis=0)
    return W, b


def main():
    digits = load_digits()
    X = np.asarray(digits.data, dtype=float)
    y = np.asarray(digits.target)

    X = standardize(X)
    print(f"{X.shape[0]} images, {X.shape[1]} pixels that vary")

    vectors, explained = principal_components(X, COMPONENTS)
    for i, share in enumerate(explained[:8]):
        print(f"component {i + 1}: {share:.10e} of the variance")
    print(f"the first {COMPONENTS}: {np.sum(explained):.10e}")
    Z = X @ vectors
    Z /= Z.std(axis=0)

    rng = np.random.default_rng(42)
    shuffled = rng.permutation(len(y))
    cut = 3 * len(y) // 4
    train_rows, test_rows = shuffled[:cut], shuffled[cut:]

    W, b = train(Z[train_rows], y[train_rows])
    P = softmax(Z[test_rows] @ W + b)
    guess, truth = np.argmax(P, axis=1), y[test_rows]

    print(f"accuracy on {len(truth)} unseen images: {np.mean(guess == truth):.10f}")
    print(f"mean confidence: {np.mean(np.max(P, axis=1)):.10e}")
    print(f"mean confidence where wrong: {np.mean(np.max(P, axis=1)[guess != truth]):.10e}")
    print(f"norm of the weights: {np.linalg.norm(W):.10e}")
    for digit in range(CLASSES):
        mask = truth == digit
        print(f"digit {digit}: {np.count_nonzero(guess[mask] == digit)} of {np.count_nonzero(mask)} found")


if __name__ == "__main__":
    main()
