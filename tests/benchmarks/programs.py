"""Whole NumPy programs, plain and under the launcher: how long the process takes, and a second run of the work inside it.

``python tests/benchmarks/programs.py [--only NAME] [--backends numpy torch jax] [--repeat 3]``. Each program is a script of its own
that knows nothing of this package; its work is a function that is called twice, and prints a digest of its result, which has to be
plain NumPy's.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]

PROGRAMS = {
    "black_scholes": """
def erf(x):
    t = 1 / (1 + 0.3275911 * np.abs(x))
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - poly * np.exp(-x * x))

def run():
    n = 1_000_000
    price, strike = np.linspace(80, 120, n), np.linspace(90, 110, n)[::-1].copy()
    years = np.linspace(0.1, 2, n)
    rate, volatility = 0.03, 0.25
    spread = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    cdf1, cdf2 = 0.5 * (1 + erf(d1 / np.sqrt(2))), 0.5 * (1 + erf(d2 / np.sqrt(2)))
    call = price * cdf1 - strike * np.exp(-rate * years) * cdf2
    return call.sum()
""",
    "stencil": """
def run():
    u = np.zeros((900, 900))
    u[300:600, 300:600] = 1.0
    for _ in range(40):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = new
    return u.sum()
""",
    "n_body": """
def run():
    n = 500
    rng = np.random.default_rng(0)
    position, velocity, mass = rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), rng.uniform(1, 2, n)
    for _ in range(8):
        between = position[None, :, :] - position[:, None, :]
        distance2 = (between**2).sum(axis=2) + 0.01
        force = between * (mass[None, :] / (distance2 * np.sqrt(distance2)))[:, :, None]
        velocity = velocity + 0.01 * force.sum(axis=1)
        position = position + 0.01 * velocity
    return (mass * (velocity**2).sum(axis=1)).sum()
""",
    "monte_carlo": """
def run():
    rng = np.random.default_rng(1)
    n, steps = 200_000, 25
    price = np.full(n, 100.0)
    highest = price.copy()
    for _ in range(steps):
        price = price * np.exp(0.0004 + 0.02 * rng.standard_normal(n))
        highest = np.maximum(highest, price)
    payoff = np.where(highest < 130, np.maximum(price - 100, 0), 0)
    return payoff.mean()
""",
    "image_filter": """
def run():
    y, x = np.mgrid[0:1000, 0:1200]
    image = (np.sin(x / 17.0) * np.cos(y / 23.0) + 1) / 2
    edges_x = image[1:-1, 2:] - image[1:-1, :-2]
    edges_y = image[2:, 1:-1] - image[:-2, 1:-1]
    edges = np.sqrt(edges_x**2 + edges_y**2)
    gamma = np.clip(edges * 3, 0, 1) ** 0.45
    vignette = 1 - 0.5 * (((x - 600) / 600) ** 2 + ((y - 500) / 500) ** 2)[1:-1, 1:-1]
    return (gamma * vignette).mean()
""",
    "k_means": """
def run():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(30_000, 4)) + rng.integers(0, 5, (30_000, 1)) * 3
    centres = points[:8].copy()
    for _ in range(10):
        distance = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = distance.argmin(axis=1)
        for k in range(8):
            centres[k] = points[nearest == k].mean(axis=0)
    return centres.sum()
""",
    "logistic_regression": """
def run():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(150_000, 20))
    y = (x @ rng.normal(size=20) + 0.3 * rng.normal(size=150_000) > 0).astype(float)
    weights = np.zeros(20)
    for _ in range(30):
        guess = 1 / (1 + np.exp(-(x @ weights)))
        weights = weights - 0.5 * (x.T @ (guess - y)) / len(y)
    loss = -(y * np.log(guess + 1e-12) + (1 - y) * np.log(1 - guess + 1e-12)).mean()
    return loss
""",
    "time_series": """
def run():
    t = np.arange(1_500_000) / 1000.0
    signal = np.sin(2 * np.pi * 1.3 * t) + 0.5 * np.sin(2 * np.pi * 7.7 * t + 1) + 0.01 * t
    trend = np.polyfit(t[::1000], signal[::1000], 1)
    flat = signal - (trend[0] * t + trend[1])
    window = 50
    total = np.cumsum(np.concatenate((np.zeros(1), flat)))
    smooth = (total[window:] - total[:-window]) / window
    rest = flat[window - 1 :] - smooth
    score = (rest - rest.mean()) / rest.std()
    return (np.abs(score) > 1.5).sum() + np.tanh(score).mean()
""",
}  # fmt: skip

_AROUND = """\
import time
import numpy as np
{body}
started = time.perf_counter()
first = run()
between = time.perf_counter()
second = run()
ended = time.perf_counter()
assert float(first) == float(second)
print(repr(float(first)), between - started, ended - between)
"""


def _measure(path: Path, options: list[str] | None) -> tuple[str, float, float, float]:
    """What the program printed; seconds of the process, of the first run and of the second."""
    command = [sys.executable, str(path)]
    if options is not None:
        command = [sys.executable, "-m", "arraydispatch", "run", *options, str(path)]
    start = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    wall = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    digest, first, second = done.stdout.split()
    return digest, wall, float(first), float(second)


def _mean(ratios: Iterable[float]) -> float:
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logs) / len(logs))


def main() -> None:
    """Run the programs in every way asked for and print how many times as fast as plain NumPy they are."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--only", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--backends", nargs="*", default=["numpy", "torch", "jax"])
    parser.add_argument(
        "--ways", nargs="*", default=["fused", "calls"], help="fused, calls (one by one), eager (the library alone)"
    )
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many")
    asked = parser.parse_args()
    options = {
        "fused": ["--execution", "fused"],
        "calls": [],
        "eager": ["--execution", "eager", "--min-size", "0"],
    }
    ratios: dict[str, list[tuple[float, float]]] = {}
    expected = 0.0
    print(f"{'program':22}{'way':18}{'process s':>11}{'first s':>10}{'again s':>10}{'process ×':>11}{'again ×':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.only:
            path = Path(folder) / f"{name}.py"
            path.write_text(_AROUND.format(body=PROGRAMS[name]), encoding="utf-8")
            plain: tuple[float, ...] = ()
            for way in ["plain", *(f"{b} {w}" for b in asked.backends for w in asked.ways)]:
                backend, _, how = way.partition(" ")
                chosen = None if way == "plain" else ["--backend", backend, *options[how]]
                runs = [_measure(path, chosen) for _ in range(asked.repeat)]
                best = tuple(map(min, zip(*[run[1:] for run in runs], strict=True)))
                if not plain:
                    plain, expected = best, float(runs[0][0])
                for run in runs:
                    found = float(run[0])
                    exact = how == "fused"
                    assert found == expected if exact else math.isclose(found, expected, rel_tol=1e-9), (
                        name,
                        way,
                        found,
                        expected,
                    )
                whole, again = plain[0] / best[0], plain[2] / best[2]
                ratios.setdefault(way, []).append((whole, again))
                print(
                    f"{name:22}{way:18}{best[0]:11.3f}{best[1]:10.3f}{best[2]:10.3f}{whole:11.2f}{again:10.2f}",
                    flush=True,
                )
    for way, pairs in ratios.items():
        print(
            f"{'geometric mean':22}{way:18}{'':31}{_mean(r for r, _ in pairs):11.2f}{_mean(r for _, r in pairs):10.2f}"
        )


if __name__ == "__main__":
    main()
