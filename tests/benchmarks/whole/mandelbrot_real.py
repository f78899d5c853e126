"""The same with real and imaginary parts apart."""

import numpy as np


def run():
    cx, cy = np.meshgrid(np.linspace(-2, 0.6, 1200), np.linspace(-1.2, 1.2, 1000))
    x, y = np.zeros_like(cx), np.zeros_like(cx)
    count = np.zeros(cx.shape, int)
    for _ in range(40):
        xx, yy = x * x, y * y
        inside = xx + yy < 4
        x, y = np.where(inside, xx - yy + cx, x), np.where(inside, 2 * x * y + cy, y)
        count += inside
    return count.sum()
