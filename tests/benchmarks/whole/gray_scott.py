"""Reaction and diffusion of two substances, with rolled neighbours."""

import numpy as np


def around(a):
    return np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1) - 4 * a


def run():
    n = 700
    u, v = np.ones((n, n)), np.zeros((n, n))
    u[330:370, 330:370], v[330:370, 330:370] = 0.5, 0.25
    for _ in range(40):
        reaction = u * v * v
        u = u + 0.16 * around(u) - reaction + 0.035 * (1 - u)
        v = v + 0.08 * around(v) + reaction - 0.095 * v
    return u.sum() - v.sum()
