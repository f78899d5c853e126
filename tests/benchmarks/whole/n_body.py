"""Five hundred bodies that attract each other."""

import numpy as np


def run():
    n = 900
    rng = np.random.default_rng(0)
    position, velocity, mass = rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), rng.uniform(1, 2, n)
    for _ in range(8):
        between = position[None, :, :] - position[:, None, :]
        distance2 = (between**2).sum(axis=2) + 0.01
        force = between * (mass[None, :] / (distance2 * np.sqrt(distance2)))[:, :, None]
        velocity = velocity + 0.01 * force.sum(axis=1)
        position = position + 0.01 * velocity
    return (mass * (velocity**2).sum(axis=1)).sum()
