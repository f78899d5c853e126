"""A wave on a membrane: two steps in time are kept, and swapped."""

import numpy as np


def run():
    n = 1200
    y, x = np.mgrid[0:n, 0:n] / n
    now = np.exp(-200 * ((x - 0.3) ** 2 + (y - 0.4) ** 2))
    before = now.copy()
    for _ in range(40):
        after = np.zeros_like(now)
        around = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4 * now[1:-1, 1:-1]
        after[1:-1, 1:-1] = 2 * now[1:-1, 1:-1] - before[1:-1, 1:-1] + 0.2 * around
        before, now = now, after
    return (now**2).sum()
