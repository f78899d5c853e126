"""A barrier option, by simulated paths."""

import numpy as np


def run():
    rng = np.random.default_rng(1)
    n, steps = 1_000_000, 25
    price = np.full(n, 100.0)
    highest = price.copy()
    for _ in range(steps):
        price = price * np.exp(0.0004 + 0.02 * rng.standard_normal(n))
        highest = np.maximum(highest, price)
    payoff = np.where(highest < 130, np.maximum(price - 100, 0), 0)
    return payoff.mean()
