"""Edges, gamma and vignette of a picture."""

import numpy as np


def run():
    y, x = np.mgrid[0:2500, 0:3000]
    image = (np.sin(x / 17.0) * np.cos(y / 23.0) + 1) / 2
    edges_x = image[1:-1, 2:] - image[1:-1, :-2]
    edges_y = image[2:, 1:-1] - image[:-2, 1:-1]
    edges = np.sqrt(edges_x**2 + edges_y**2)
    gamma = np.clip(edges * 3, 0, 1) ** 0.45
    vignette = 1 - 0.5 * (((x - 1500) / 1500) ** 2 + ((y - 1250) / 1250) ** 2)[1:-1, 1:-1]
    return (gamma * vignette).mean()
