import numpy as np
from numpy import asarray

CALLS = []


def standardise(x):
    x = asarray(x, dtype=float)
    CALLS.append(x.shape)
    return (x - x.mean(axis=0)) / x.std(axis=0)


class Model:
    def __init__(self, size):
        self.weights = np.full(size, 0.5)

    def __call__(self, x):
        return np.tanh(x @ self.weights)
