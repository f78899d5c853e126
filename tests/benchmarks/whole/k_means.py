"""Lloyd's algorithm on points in four dimensions."""

import numpy as np


def run():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(100_000, 4)) + rng.integers(0, 5, (100_000, 1)) * 3
    centres = points[:8].copy()
    for _ in range(10):
        distance = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = distance.argmin(axis=1)
        for k in range(8):
            centres[k] = points[nearest == k].mean(axis=0)
    return centres.sum()
