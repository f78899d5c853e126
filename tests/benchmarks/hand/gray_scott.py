"""Reaction and diffusion of two substances, with rolled neighbours."""

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def around(a):
    return jnp.roll(a, 1, 0) + jnp.roll(a, -1, 0) + jnp.roll(a, 1, 1) + jnp.roll(a, -1, 1) - 4 * a


@jax.jit
def step(u, v):
    reaction = u * v * v
    return (
        u + 0.16 * around(u) - reaction + 0.035 * (1 - u),
        v + 0.08 * around(v) + reaction - 0.095 * v,
    )


def run():
    n = 700
    u = jnp.ones((n, n)).at[330:370, 330:370].set(0.5)
    v = jnp.zeros((n, n)).at[330:370, 330:370].set(0.25)
    for _ in range(40):
        u, v = step(u, v)
    return float(u.sum() - v.sum())
