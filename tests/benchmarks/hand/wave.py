"""A wave on a square plate."""

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


@jax.jit
def step(before, now):
    around = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4 * now[1:-1, 1:-1]
    after = jnp.zeros_like(now).at[1:-1, 1:-1].set(2 * now[1:-1, 1:-1] - before[1:-1, 1:-1] + 0.2 * around)
    return now, after


def run():
    n = 1200
    y, x = jnp.mgrid[0:n, 0:n] / n
    now = jnp.exp(-200 * ((x - 0.3) ** 2 + (y - 0.4) ** 2))
    before = now
    for _ in range(40):
        before, now = step(before, now)
    return float((now**2).sum())
