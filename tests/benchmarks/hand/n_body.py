"""Bodies that attract each other."""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


@jax.jit
def step(position, velocity, mass):
    between = position[None, :, :] - position[:, None, :]
    distance2 = (between**2).sum(axis=2) + 0.01
    force = between * (mass[None, :] / (distance2 * jnp.sqrt(distance2)))[:, :, None]
    velocity = velocity + 0.01 * force.sum(axis=1)
    return position + 0.01 * velocity, velocity


def run():
    n = 900
    rng = np.random.default_rng(0)
    position, velocity, mass = map(
        jnp.asarray, (rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), rng.uniform(1, 2, n))
    )
    for _ in range(8):
        position, velocity = step(position, velocity, mass)
    return float((mass * (velocity**2).sum(axis=1)).sum())
