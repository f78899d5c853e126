"""The value of a million European options."""

import numpy as np


def erf(x):
    t = 1 / (1 + 0.3275911 * np.abs(x))
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - poly * np.exp(-x * x))


def run():
    n = 4_000_000
    price, strike = np.linspace(80, 120, n), np.linspace(90, 110, n)[::-1].copy()
    years = np.linspace(0.1, 2, n)
    rate, volatility = 0.03, 0.25
    spread = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    cdf1, cdf2 = 0.5 * (1 + erf(d1 / np.sqrt(2))), 0.5 * (1 + erf(d2 / np.sqrt(2)))
    call = price * cdf1 - strike * np.exp(-rate * years) * cdf2
    return call.sum()
