"""The Mandelbrot set in real arithmetic."""

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


@jax.jit
def step(x, y, count, cx, cy):
    xx, yy = x * x, y * y
    inside = xx + yy < 4
    return jnp.where(inside, xx - yy + cx, x), jnp.where(inside, 2 * x * y + cy, y), count + inside


def run():
    cx, cy = jnp.meshgrid(jnp.linspace(-2, 0.6, 1200), jnp.linspace(-1.2, 1.2, 1000))
    x, y, count = jnp.zeros_like(cx), jnp.zeros_like(cx), jnp.zeros(cx.shape, int)
    for _ in range(40):
        x, y, count = step(x, y, count, cx, cy)
    return float(count.sum())
