import json
import statistics
import sys
import time

import numpy as np

real = sys.modules["numpy"]
sizes, rounds, wall = json.loads(sys.argv[1])
clock = time.perf_counter if wall else time.process_time


def jacobi(np, a, b, c):
    b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
    a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a


def heat(np, a, b, c):
    u = a
    for _ in range(2):
        u = u + 0.1 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u)
    return u


def chain(np, a, b, c):
    return (a * b + c * 0.5 - a) * (b - c) + a * a


def short_chain(np, a, b, c):
    return a * 2.0 + b


def slope(np, a, b, c):
    x, y = a[1:-1, 2:] - a[1:-1, :-2], a[2:, 1:-1] - a[:-2, 1:-1]
    return np.sqrt(x * x + y * y)


def distance(np, a, b, c):
    return ((a - b) * (a - b) + c * c).sum()


def softmax(np, a, b, c):
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def updates(np, a, b, c):
    d = a.copy()
    for _ in range(3):
        d += b * c
        d *= 0.5
        d -= a
    return d


programs = jacobi, heat, chain, short_chain, slope, distance, softmax, updates


def given(np, n):
    rng = real.random.default_rng(n)
    return [np.array(rng.random((n, n)).tolist()) if np is not real else rng.random((n, n)) for _ in range(3)]


def timed(run, np, arrays, times):
    start = clock()
    for _ in range(times):
        made = run(np, *arrays)
    value = float(made if not made.ndim else made[1, 1])
    return (clock() - start) / times, value


rows = {}
for run in programs:
    for n in sizes:
        plain, ours = given(real, n), given(np, n)
        times = max(1, 400_000 // (n * n))
        done = 0
        while done < 1 << 25:
            one, other = timed(run, real, plain, times)[1], timed(run, np, ours, times)[1]
            assert one == other, (run.__name__, n, one, other)
            done += 3 * times * n * n
        ratios = []
        for _ in range(rounds):
            (before, one), (after, other) = timed(run, real, plain, times), timed(run, np, ours, times)
            assert one == other, (run.__name__, n, one, other)
            ratios.append(before / after)
        rows.setdefault(run.__name__, {})[n] = statistics.median(ratios)
print(json.dumps(rows))
