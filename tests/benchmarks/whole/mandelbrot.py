"""How fast numbers escape, on a grid of complex ones."""

import numpy as np


def run():
    x, y = np.meshgrid(np.linspace(-2, 0.6, 1200), np.linspace(-1.2, 1.2, 1000))
    c = x + 1j * y
    z = np.zeros_like(c)
    count = np.zeros(c.shape, int)
    for _ in range(25):
        inside = np.abs(z) < 2
        z = np.where(inside, z * z + c, z)
        count += inside
    return count.sum()
