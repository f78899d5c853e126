"""A small network with one hidden layer, trained by gradient descent."""

import numpy as np


def run():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50_000, 16))
    y = np.sin(x[:, :1]) + 0.1 * x[:, 1:2]
    w1, b1 = rng.normal(size=(16, 64)) / 4, np.zeros(64)
    w2, b2 = rng.normal(size=(64, 1)) / 8, np.zeros(1)
    for _ in range(8):
        hidden = np.tanh(x @ w1 + b1)
        error = hidden @ w2 + b2 - y
        slope = 2 * error / len(x)
        back = slope @ w2.T * (1 - hidden**2)
        w2, b2 = w2 - 0.1 * hidden.T @ slope, b2 - 0.1 * slope.sum(axis=0)
        w1, b1 = w1 - 0.1 * x.T @ back, b1 - 0.1 * back.sum(axis=0)
    return (error**2).mean()
