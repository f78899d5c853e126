"""Large arrays of shapes that were given back to the host take the thin path: the compiler gains nothing on them."""

from __future__ import annotations

from pathlib import Path

from tests.launched import Zygotes, prints_as_plainly

SCRIPT = '''
import warnings
warnings.simplefilter("error")
import numpy as np

def tell(x):
    if isinstance(x, (tuple, list)):
        return type(x).__name__, [tell(part) for part in x]
    return (x.shape, x.dtype.str, x.tolist()) if isinstance(x, np.ndarray) else (type(x).__name__, x)

b = (np.arange(400).reshape(20, 20) % 7).astype(np.int8)
for _ in range(400):  # written and read in parts: such arrays begin on the host after a while
    c = ((b + 1) % 7 | (b == 3)).astype(np.int8)
    for k in range(20):
        c[k, k] = c[k, 0] + 1
    b = c
x, y, i, m = b * 0.5, b + 1.5, np.arange(20) % 5, b > 2
o, row = np.zeros((20, 20)), np.arange(20.0)
late = None
for line in """
b + c
b == 3
b != c
b ** 2
-b
~m
m & (b < 5)
2 - x
x * row
row[:, None] + row
x[1:-1, 1:-1] + x[2:, 1:-1]
x[1:-1] @ x[:, 1:-1]
x @ row
np.sin(x)
np.abs(b)
np.divmod(b, 3)
np.modf(x)
np.add(x, y, out=o) is o, o
np.multiply(x, 2, o[:]) is None, o
x.__iadd__(y) is x, x
x.__imul__(2) is x, x
b.__iadd__(x)
np.add(x, x, x) is x, x
b.sum(), x.mean(axis=0), x.max(), b.astype(float), x.T.copy(), x.argmax(axis=1), m.any(), x.round(1)
x.reshape(400), x.reshape(400).base is x, x.ravel()[::50], x[::2]
np.roll(b, 1, 0), np.roll(np.roll(b, 1, 0), -1, 1)
np.where(m, x, y), np.where(m)[0][:5], np.nonzero(m)[1][-5:]
np.concatenate((x, y)), np.stack([x, y]).shape, np.hstack((x, y))[:2], np.tile(b, 2).sum()
np.sum(x), np.sum(x, axis=0), np.cumsum(x, axis=1), np.sort(x, axis=0), np.clip(b, 1, 3), np.diff(b)
np.minimum(x, y), np.maximum(x, 1), np.hypot(x, y), np.outer(row, row), np.dot(x, y), np.kron(b[:2], b[:2])
x[i], x[:, i], x[m], x[i, i], b[b == 3].size
x.__setitem__(m, 9), x
x.__setitem__((slice(1, -1), slice(1, -1)), 0.25 * (x[2:, 1:-1] + x[:-2, 1:-1])), x
x + row[:3]
np.linalg.norm(x), np.linalg.solve(y + 50 * np.eye(20), row), np.fft.fft(row)[:3]
b.view(np.uint8) + b, b.tobytes()[:9], np.float32(2) * x, x + 1j, x // 0.75
np.array(x), np.array([x, y]), np.copy(x), np.zeros_like(b), np.full_like(x, 2), np.asarray(x) is x
""".strip().splitlines():
    try:
        made = eval(line)
    except Exception as error:
        made = type(error).__name__, str(error)
    print(line, tell(made))
    x[:], b[:], o[:] = c * 0.5, c, 0
shown = x[2:5]
x += 1
kept = np.sin(x[3]) + shown[1]
x[3] = 7
print(kept.tolist(), shown.tolist(), float(x[3, 3]))
'''


def test_kept_shapes_compute_as_plainly(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, SCRIPT, tmp_path, ("--execution", "compiled", "--min-size", "30"))
