"""Hand-written steps of twelve of the programs in ``whole/``, for ``jax.jit`` and ``torch.compile``; run by ``accelerator.py``.

``python tests/benchmarks/accelerator_steps.py LIBRARY PROGRAM DTYPE SIZE DEVICE`` runs one program twice and prints, as JSON, its digest, the
seconds of both runs, and bytes and operations of a run by the compiler's cost analysis. With ``bandwidth`` for PROGRAM it measures what
the device can do.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["CASES", "Case"]

State = tuple[Any, ...]
ERF = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)


class Case(NamedTuple):
    """A program, as one writes it for a compiler.

    Attributes
    ----------
    start : callable
        Of the size, returns the arrays that a run begins with, as NumPy makes them.
    step : callable
        Of the library's NumPy-like module, its update of a slice, and the arrays: returns the next arrays, of which those that do not
        change are left out. They are the last.
    steps : int
        Number of steps in a run.
    read : callable
        Returns the digest.
    """

    start: Callable[[int], State]
    step: Callable[..., State]
    steps: int
    read: Callable[..., Any]
    until: float = 0.0
    """Value below which the last array of a step ends the run; 0 for none."""


INNER = (slice(1, -1), slice(1, -1))


def _neighbours(u: Any) -> Any:
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]


def _plate(n: int) -> State:
    u = np.zeros((n, n))
    u[n // 3 : n // 3 * 2, n // 3 : n // 3 * 2] = 1.0
    return (u,)


def _stencil(xp: Any, update: Any, u: Any) -> State:
    return (update(u, INNER, 0.25 * _neighbours(u)),)


def _membrane(n: int) -> State:
    y, x = np.mgrid[0:n, 0:n] / n
    now = np.exp(-200 * ((x - 0.3) ** 2 + (y - 0.4) ** 2))
    return now, now


def _wave(xp: Any, update: Any, before: Any, now: Any) -> State:
    around = _neighbours(now) - 4 * now[INNER]
    return now, update(xp.zeros_like(now), INNER, 2 * now[INNER] - before[INNER] + 0.2 * around)


def _substances(n: int) -> State:
    u, v = np.ones((n, n)), np.zeros((n, n))
    part = slice(n * 330 // 700, n * 370 // 700)
    u[part, part], v[part, part] = 0.5, 0.25
    return u, v


def _gray_scott(xp: Any, update: Any, u: Any, v: Any) -> State:
    def around(a: Any) -> Any:
        return xp.roll(a, 1, 0) + xp.roll(a, -1, 0) + xp.roll(a, 1, 1) + xp.roll(a, -1, 1) - 4 * a

    reaction = u * v * v
    return u + 0.16 * around(u) - reaction + 0.035 * (1 - u), v + 0.08 * around(v) + reaction - 0.095 * v


def _options(n: int) -> State:
    return np.zeros(()), np.linspace(80, 120, n), np.linspace(90, 110, n)[::-1].copy(), np.linspace(0.1, 2, n)


def _black_scholes(xp: Any, update: Any, _: Any, price: Any, strike: Any, years: Any) -> State:
    def erf(x: Any) -> Any:
        t = 1 / (1 + 0.3275911 * xp.abs(x))
        poly = t * (ERF[0] + t * (ERF[1] + t * (ERF[2] + t * (ERF[3] + t * ERF[4]))))
        return xp.sign(x) * (1 - poly * xp.exp(-x * x))

    rate, volatility = 0.03, 0.25
    spread = volatility * xp.sqrt(years)
    d1 = (xp.log(price / strike) + (rate + 0.5 * volatility**2) * years) / spread
    cdf1, cdf2 = 0.5 * (1 + erf(d1 / 2**0.5)), 0.5 * (1 + erf((d1 - spread) / 2**0.5))
    return (xp.sum(price * cdf1 - strike * xp.exp(-rate * years) * cdf2),)


def _bodies(n: int) -> State:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), rng.uniform(1, 2, n)


def _n_body(xp: Any, update: Any, position: Any, velocity: Any, mass: Any) -> State:
    between = position[None, :, :] - position[:, None, :]
    distance2 = xp.sum(between**2, axis=2) + 0.01
    force = between * (mass[None, :] / (distance2 * xp.sqrt(distance2)))[:, :, None]
    velocity = velocity + 0.01 * xp.sum(force, axis=1)
    return position + 0.01 * velocity, velocity


def _plane(n: int) -> State:
    cx, cy = np.meshgrid(np.linspace(-2, 0.6, n * 6 // 5), np.linspace(-1.2, 1.2, n))
    return np.zeros_like(cx), np.zeros_like(cx), np.zeros_like(cx), cx, cy


def _mandelbrot(xp: Any, update: Any, x: Any, y: Any, count: Any, cx: Any, cy: Any) -> State:
    xx, yy = x * x, y * y
    inside = xx + yy < 4
    return xp.where(inside, xx - yy + cx, x), xp.where(inside, 2 * x * y + cy, y), count + inside


def _picture(n: int) -> State:
    y, x = np.mgrid[0 : n * 5 // 6, 0:n].astype(float)
    return np.zeros(()), y, x


def _image_filter(xp: Any, update: Any, _: Any, y: Any, x: Any) -> State:
    height, width = y.shape
    image = (xp.sin(x / 17.0) * xp.cos(y / 23.0) + 1) / 2
    edges = xp.sqrt((image[1:-1, 2:] - image[1:-1, :-2]) ** 2 + (image[2:, 1:-1] - image[:-2, 1:-1]) ** 2)
    gamma = xp.clip(edges * 3, 0, 1) ** 0.45
    half, middle = width / 2, height / 2
    vignette = 1 - 0.5 * (((x - half) / half) ** 2 + ((y - middle) / middle) ** 2)[INNER]
    return (xp.mean(gamma * vignette),)


def _hot_side(n: int) -> State:
    u = np.zeros((n, n))
    u[0] = 1.0
    return u, np.zeros(())


def _jacobi(xp: Any, update: Any, u: Any, _: Any) -> State:
    new = update(u, INNER, _neighbours(u) / 4)
    return new, xp.abs(new - u).max()


def _minus_laplacian(update: Any, u: Any) -> Any:
    out = 4 * u
    out = update(out, (slice(1, None),), out[1:] - u[:-1])
    out = update(out, (slice(None, -1),), out[:-1] - u[1:])
    out = update(out, (slice(None), slice(1, None)), out[:, 1:] - u[:, :-1])
    return update(out, (slice(None), slice(None, -1)), out[:, :-1] - u[:, 1:])


def _poisson(n: int) -> State:
    b = np.ones((n, n)) / n**2
    return np.zeros_like(b), b, b, (b * b).sum()


def _conjugate_gradient(xp: Any, update: Any, x: Any, r: Any, p: Any, rr: Any) -> State:
    ap = _minus_laplacian(update, p)
    step = rr / xp.sum(p * ap)
    x, r = x + step * p, r - step * ap
    new = xp.sum(r * r)
    return x, r, r + new / rr * p, new


def _data(n: int) -> State:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(n, 20))
    y = (x @ rng.normal(size=20) + 0.3 * rng.normal(size=n) > 0).astype(float)
    return np.zeros(20), np.zeros(n), x, y


def _logistic(xp: Any, update: Any, weights: Any, _: Any, x: Any, y: Any) -> State:
    guess = 1 / (1 + xp.exp(-(x @ weights)))
    return weights - 0.5 * (x.T @ (guess - y)) / len(y), guess


def _heads(n: int) -> State:
    return tuple(np.random.default_rng(1).normal(size=(3, 8, n, 64)))


def _attention(xp: Any, update: Any, q: Any, k: Any, v: Any) -> State:
    scores = q @ k.swapaxes(1, 2) / 8.0
    scores = xp.exp(scores - xp.amax(scores, axis=-1, keepdims=True))
    return ((scores / xp.sum(scores, axis=-1, keepdims=True)) @ v,)


def _torus(n: int) -> State:
    k = np.fft.fftfreq(n, 1 / n)
    u = np.zeros((n, n))
    u[n * 300 // 768 : n * 450 // 768, n * 240 // 768 : n * 570 // 768] = 1
    return u, np.exp(-1e-4 * (k[:, None] ** 2 + k[None, :] ** 2))


def _spectral(xp: Any, update: Any, u: Any, decay: Any) -> State:
    u = xp.fft.ifft2(xp.fft.fft2(u) * decay).real
    return (xp.clip(u + 0.01 * u * (1 - u), 0, 1),)


def _loss(xp: Any, weights: Any, guess: Any, x: Any, y: Any) -> Any:
    return -xp.mean(y * xp.log(guess + 1e-12) + (1 - y) * xp.log(1 - guess + 1e-12))


CASES: dict[str, Case] = {
    "stencil": Case(_plate, _stencil, 40, lambda xp, u: xp.sum(u)),
    "wave": Case(_membrane, _wave, 40, lambda xp, before, now: xp.sum(now**2)),
    "gray_scott": Case(_substances, _gray_scott, 40, lambda xp, u, v: xp.sum(u) - xp.sum(v)),
    "black_scholes": Case(_options, _black_scholes, 1, lambda xp, value, *_: value),
    "n_body": Case(_bodies, _n_body, 8, lambda xp, _, velocity, mass: xp.sum(mass * xp.sum(velocity**2, axis=1))),
    "mandelbrot_real": Case(_plane, _mandelbrot, 40, lambda xp, x, y, count, *_: xp.sum(count)),
    "image_filter": Case(_picture, _image_filter, 1, lambda xp, value, *_: value),
    "jacobi_until": Case(_hot_side, _jacobi, 60, lambda xp, u, _: xp.sum(u), until=4e-3),
    "conjugate_gradient": Case(_poisson, _conjugate_gradient, 60, lambda xp, x, *_: xp.sum(x)),
    "logistic_regression": Case(_data, _logistic, 30, _loss),
    "softmax_attention": Case(_heads, _attention, 3, lambda xp, q, *_: xp.sum(q)),
    "spectral_heat": Case(_torus, _spectral, 20, lambda xp, u, _: xp.sum(u)),
}
"""Name of a program -> how it is written by hand."""


# -- the two compilers -------------------------------------------------------------------------------------------------


class Jax:
    """Steps compiled by ``jax.jit``, with donated state."""

    def __init__(self, device: str, dtype: str) -> None:
        import jax

        jax.config.update("jax_enable_x64", dtype == "float64")
        self.jax, self.xp, self.dtype = jax, jax.numpy, dtype
        self.device = jax.devices("cpu" if device == "cpu" else None)[0]

    def array(self, x: Any) -> Any:
        return self.jax.device_put(np.asarray(x, self.dtype), self.device)

    def update(self, x: Any, key: Any, value: Any) -> Any:
        return x.at[key].set(value)

    def compiled(self, step: Callable[..., State], state: State) -> tuple[Callable[..., State], dict[str, float]]:
        """Return the compiled step, with its bytes and operations."""
        program = self.jax.jit(lambda *arrays: step(self.xp, self.update, *arrays))
        costs = program.lower(*state).compile().cost_analysis()
        costs = costs[0] if isinstance(costs, list) else costs
        return program, {"bytes": costs.get("bytes accessed", 0.0), "flops": costs.get("flops", 0.0)}

    def wait(self, x: Any) -> None:
        self.jax.block_until_ready(x)


class Torch:
    """Steps compiled by ``torch.compile``; it has no cost analysis, so the bytes are those of a step's operands and results."""

    def __init__(self, device: str, dtype: str) -> None:
        import torch

        self.torch, self.xp, self.dtype = torch, torch, getattr(torch, dtype)
        self.device = "cpu" if device == "cpu" else torch.accelerator.current_accelerator()

    def array(self, x: Any) -> Any:
        return self.torch.tensor(np.asarray(x), dtype=self.dtype, device=self.device)

    def update(self, x: Any, key: Any, value: Any) -> Any:
        x = x.clone()
        x[key] = value
        return x

    def compiled(self, step: Callable[..., State], state: State) -> tuple[Callable[..., State], dict[str, float]]:
        """Return the compiled step, with its bytes."""
        program = self.torch.compile(lambda *arrays: step(self.xp, self.update, *arrays))
        touched = (*state, *program(*state))
        return program, {"bytes": float(sum(x.numel() * x.element_size() for x in touched)), "flops": 0.0}

    def wait(self, x: Any) -> None:
        if self.device != "cpu":
            self.torch.accelerator.synchronize()


LIBRARIES: dict[str, Any] = {"jax": Jax, "torch": Torch}


def run_by_hand(library: Any, case: Case, size: int) -> dict[str, float]:
    """Run a program twice; return its digest, the seconds, and what a run costs."""
    first = [library.array(x) for x in case.start(size)]
    program, costs = library.compiled(case.step, tuple(first))
    seconds, digest, steps = [], 0.0, 0
    for _ in range(2):
        begun = time.perf_counter()
        state, steps = [library.array(x) for x in case.start(size)], 0
        while steps < case.steps:
            made = program(*state)
            state[: len(made)] = made
            steps += 1
            if case.until and float(state[-1]) < case.until:
                break
        digest = float(case.read(library.xp, *state)) + (steps if case.until else 0)
        seconds.append(time.perf_counter() - begun)
    total = {name: value * steps for name, value in costs.items()}
    return {"digest": digest, "first": seconds[0], "again": seconds[1], "steps": steps, **total}


def measure(library: Any, size: int) -> dict[str, float]:
    """Return bytes per second of a copy with an addition, and operations per second of a matrix product."""
    x = library.array(np.ones(size * size * 16))
    m = library.array(np.ones((size, size)))
    add, _ = library.compiled(lambda xp, update, x: (x + 1,), (x,))
    product, _ = library.compiled(lambda xp, update, m: (m @ m,), (m,))

    def best(program: Any, operand: Any) -> float:
        found = float("inf")
        for _ in range(8):
            begun = time.perf_counter()
            library.wait(program(operand))
            found = min(found, time.perf_counter() - begun)
        return found

    itemsize = 8 if "64" in str(x.dtype) else 4
    return {
        "bytes_per_second": 2 * size * size * 16 * itemsize / best(add, x),
        "flops_per_second": 2 * size**3 / best(product, m),
    }


def main(name: str, program: str, dtype: str, size: str, device: str) -> None:
    """Run one program, or measure the device, and print the result as JSON."""
    library = LIBRARIES[name](device, dtype)
    found = measure(library, int(size)) if program == "bandwidth" else run_by_hand(library, CASES[program], int(size))
    print(json.dumps({**found, "device": str(library.device)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
