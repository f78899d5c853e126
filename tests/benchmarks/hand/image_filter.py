"""Edges of an image, with gamma and a vignette."""

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


@jax.jit
def run_once():
    y, x = jnp.mgrid[0:2500, 0:3000]
    image = (jnp.sin(x / 17.0) * jnp.cos(y / 23.0) + 1) / 2
    edges_x = image[1:-1, 2:] - image[1:-1, :-2]
    edges_y = image[2:, 1:-1] - image[:-2, 1:-1]
    edges = jnp.sqrt(edges_x**2 + edges_y**2)
    gamma = jnp.clip(edges * 3, 0, 1) ** 0.45
    vignette = 1 - 0.5 * (((x - 1500) / 1500) ** 2 + ((y - 1250) / 1250) ** 2)[1:-1, 1:-1]
    return (gamma * vignette).mean()


def run():
    return float(run_once())
