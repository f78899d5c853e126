"""A picture of three spheres with shadows."""

import numpy as np


def run():
    y, x = np.mgrid[-1:1:1080j, -1.5:1.5:1620j]
    length = np.sqrt(x * x + y * y + 1)
    dx, dy, dz = x / length, y / length, 1 / length
    nearest, light = np.full(x.shape, np.inf), np.zeros(x.shape)
    for cx, cy, cz, radius in ((0.0, 0.0, 4.0, 1.0), (1.5, 0.3, 5.0, 0.8), (-1.4, -0.4, 3.5, 0.6)):
        along = dx * cx + dy * cy + dz * cz
        under = along**2 - (cx * cx + cy * cy + cz * cz - radius**2)
        hit = under > 0
        distance = along - np.sqrt(np.where(hit, under, 0))
        nx, ny = (dx * distance - cx) / radius, (dy * distance - cy) / radius
        shade = np.maximum(0.2, 0.6 * nx - 0.7 * ny + 0.3)
        closer = hit & (distance < nearest)
        nearest = np.where(closer, distance, nearest)
        light = np.where(closer, shade, light)
    return light.sum()
