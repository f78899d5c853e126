"""Laplace's equation until the largest change is small: a look at each step."""

import numpy as np


def run():
    u = np.zeros((1000, 1000))
    u[0] = 1.0
    steps = 0
    while steps < 60:
        new = u.copy()
        new[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
        change = np.max(np.abs(new - u))
        u = new
        steps += 1
        if change < 4e-3:
            break
    return u.sum() + steps
