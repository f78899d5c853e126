"""Prices of European calls, with an error function of its own."""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def erf(x):
    t = 1 / (1 + 0.3275911 * jnp.abs(x))
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return jnp.sign(x) * (1 - poly * jnp.exp(-x * x))


@jax.jit
def value(price, strike, years):
    rate, volatility = 0.03, 0.25
    spread = volatility * jnp.sqrt(years)
    d1 = (jnp.log(price / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    cdf1, cdf2 = 0.5 * (1 + erf(d1 / np.sqrt(2))), 0.5 * (1 + erf(d2 / np.sqrt(2)))
    return (price * cdf1 - strike * jnp.exp(-rate * years) * cdf2).sum()


def run():
    n = 4_000_000
    return float(value(jnp.linspace(80, 120, n), jnp.linspace(90, 110, n)[::-1], jnp.linspace(0.1, 2, n)))
