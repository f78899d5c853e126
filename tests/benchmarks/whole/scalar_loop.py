"""A loop over elements and scalars, as a beginner writes it."""

import numpy as np


def run():
    n = 200_000
    position, velocity = np.zeros(n), np.zeros(n)
    velocity[0] = 1.0
    for i in range(1, n):
        force = -position[i - 1] - 0.1 * velocity[i - 1] ** 3
        velocity[i] = velocity[i - 1] + 0.01 * force
        position[i] = position[i - 1] + 0.01 * velocity[i]
    found = 0.0
    for value in position:
        found += np.sqrt(abs(value)) if value > 0 else value
    return found
