"""The largest eigenvalues of a symmetric matrix, one after the other."""

import numpy as np


def run():
    rng = np.random.default_rng(2)
    a = rng.normal(size=(2000, 2000))
    a = (a + a.T) / 2 + np.diag(np.arange(2000.0))
    found = 0.0
    for _ in range(3):
        v = np.ones(2000)
        for _ in range(60):
            w = a @ v
            v = w / np.sqrt((w * w).sum())
        value = v @ a @ v
        a = a - value * np.outer(v, v)
        found += value
    return found
