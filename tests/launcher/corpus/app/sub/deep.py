import numpy as np

from ..core import scale


def total(values):
    return float(np.sum(scale(values)))
