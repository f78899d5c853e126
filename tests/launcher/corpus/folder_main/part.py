import numpy as np


def twice(x):
    return np.add(x, x)
