"""A program that an alarm interrupts wherever it is, and whose handler computes: ``alarms.py COUNT SECONDS``.

It imports, computes blocks, compiles, writes, reads, draws and sorts, and ends with 1 if any value is wrong or alarms are missing.
"""

import faulthandler
import importlib
import signal
import sys
import traceback

import numpy as np

from arraydispatch.engine.host_blocks import kernels

kernels.HOT = 1 << 20  # elements: most chains are compiled
MOST, SECONDS = int(sys.argv[1]), int(sys.argv[2])
APART = 0.002
"""Seconds from the end of one call of the handler to the next alarm: two calls are never within one another."""

faulthandler.dump_traceback_later(SECONDS, exit=True)
small = np.arange(1000.0)
large = np.arange(300_000.0)
kept = np.zeros(50)
calls, phase = 0, "start"
wrong, phases = [], {}


def handler(signum, frame):
    global calls
    calls += 1
    phases[phase] = phases.get(phase, 0) + 1
    kept[calls % 50] += 1
    try:
        if phase == "draws" and calls % 2:
            drawn.append(drawing.random(400_000)[-1])
        check("small", float((small * 2).sum()), 999_000.0)
        check("large", float((large * 0.5 + calls)[4]), 2.0 + calls)
        check("median", float(np.median(small[:5])), 2.0)
        check("det", float(np.linalg.det(np.eye(3) * 2)), 8.0)
        steps = small[1:] - small[:-1]
        steps[3] = 7
        check("steps", float(steps.sum()), 1005.0)
        check("kept", float(kept.sum()), calls)
    except Exception:
        wrong.append((phase, traceback.format_exc()))
    signal.setitimer(signal.ITIMER_REAL, APART)


def check(name, found, expected):
    if not np.allclose(found, expected, rtol=1e-9, atol=0):
        wrong.append((phase, name, found, expected))


signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, APART)

phase = "imports"
FIRST_USES = {
    "special": lambda m: (m.erf(np.ones(3))[0], 0.8427007929497149),
    "signal": lambda m: (m.convolve(np.ones(5), np.ones(5)).sum(), 25.0),
    "linalg": lambda m: (m.inv(np.eye(3) / 2)[0, 0], 2.0),
    "ndimage": lambda m: (m.gaussian_filter(np.full((9, 9), 2.0), 1)[4, 4], 2.0),
    "stats": lambda m: (m.norm.cdf(np.zeros(3))[0], 0.5),
    "fft": lambda m: (m.fft(np.arange(5.0))[0].real, 10.0),
    "optimize": lambda m: (m.brentq(lambda x: float((np.ones(2) * x).sum()) - 4, 0, 5), 2.0),
}
for module, use in FIRST_USES.items():
    check(module, *use(importlib.import_module(f"scipy.{module}")))

phase = "functions"
check("svd", np.linalg.svd(np.eye(4))[1].sum(), 4.0)
check("fft", np.fft.fft(np.ones(8))[0].real, 8.0)
check("matmul", (np.ones((300, 300)) @ np.ones((300, 300)))[0, 0], 300.0)
check("einsum", np.einsum("ij,jk->ik", np.ones((30, 30)), np.ones((30, 30)))[0, 0], 30.0)
check("solve", np.linalg.solve(np.eye(200) * 2, np.ones(200))[0], 0.5)

x, count, drawing = np.ones(300_000), np.zeros(300_000), np.random.default_rng(1)
drawn = []
before, rounds = calls, 0
while calls - before < MOST:
    rounds += 1
    phase = "blocks"
    for _ in range(40):
        x = x * 0.5 + 1
    check("x", x[7], 2.0 - 0.5 ** (40 * rounds))

    phase = "compiling"  # another chain each time
    y, expected, c = np.ones(300_000), 1.0, 1.0 + rounds
    for k in range(rounds % 7):
        root = rounds >> k & 1
        y = np.sqrt(y * c) if root else (y + c) / (c + 1)
        expected = (expected * c) ** 0.5 if root else (expected + c) / (c + 1)
    several = [y * c + 1 for _ in range(300 if rounds < 4 else 3)]
    check("y", several[-1][-1], expected * c + 1)

    phase = "writes"
    count += 1
    count[1:] += 1
    count[::2] *= 1
    count[10:20] = count[30:40]
    part = count[5:9]
    part += 0

    phase = "reads"
    check("first", count[0], rounds)
    check("others", count[[1, 5, 15, -1]], [2 * rounds] * 4)
    check("sum", count.sum(), 2 * rounds * 300_000 - rounds)

    phase = "draws"
    mine = drawing.random(400_000)[-1]
    drawn.append(mine)

    phase = "lines"
    check("axis", (np.ones((20_000, 16)) * rounds).sum(axis=1)[5], 16 * rounds)
    check("sort", np.sort(x.reshape(30, -1), axis=1)[3, 3], x[7])

signal.setitimer(signal.ITIMER_REAL, 0)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
again = np.random.default_rng(1)
check("drawn", np.sort(drawn), np.sort([again.random(400_000)[-1] for _ in drawn]))
check("kept", kept.sum(), calls)
print(calls, "calls", rounds, "rounds", phases)
print(f"{len(wrong)} wrong", *wrong[:5], sep="\n")
sys.exit(bool(wrong))
