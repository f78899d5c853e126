"""Gradient descent on a data set of twenty features."""

import numpy as np


def run():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400_000, 20))
    y = (x @ rng.normal(size=20) + 0.3 * rng.normal(size=400_000) > 0).astype(float)
    weights = np.zeros(20)
    for _ in range(30):
        guess = 1 / (1 + np.exp(-(x @ weights)))
        weights = weights - 0.5 * (x.T @ (guess - y)) / len(y)
    return -(y * np.log(guess + 1e-12) + (1 - y) * np.log(1 - guess + 1e-12)).mean()
