"""Rolling mean and deviation of prices, and where they cross."""

import numpy as np


def run():
    rng = np.random.default_rng(4)
    price = 100 * np.exp(np.cumsum(rng.normal(scale=0.001, size=5_000_000)))
    total, squares = np.cumsum(price), np.cumsum(price * price)
    short, long = 20, 100
    mean_short = (total[short:] - total[:-short]) / short
    mean_long = (total[long:] - total[:-long]) / long
    spread = np.sqrt(np.maximum((squares[long:] - squares[:-long]) / long - mean_long**2, 0))
    band = (price[long:] - mean_long) / (spread + 1e-9)
    cross = np.sign(mean_short[long - short :] - mean_long)
    return (np.diff(cross) != 0).sum() + np.abs(band).mean()
