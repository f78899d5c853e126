"""Poisson's equation by conjugate gradients, without a matrix."""

import numpy as np


def minus_laplacian(u):
    out = 4 * u
    out[1:] -= u[:-1]
    out[:-1] -= u[1:]
    out[:, 1:] -= u[:, :-1]
    out[:, :-1] -= u[:, 1:]
    return out


def run():
    n = 800
    b = np.ones((n, n)) / n**2
    x = np.zeros_like(b)
    r = b - minus_laplacian(x)
    p, rr = r, (r * r).sum()
    for _ in range(60):
        ap = minus_laplacian(p)
        step = rr / (p * ap).sum()
        x = x + step * p
        r = r - step * ap
        rr, last = (r * r).sum(), rr
        p = r + rr / last * p
    return x.sum()
