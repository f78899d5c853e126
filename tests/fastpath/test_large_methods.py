"""Methods of large arrays that are computed at once under fused execution: values, dtypes, types, errors, and warnings with their lines."""

from __future__ import annotations

from pathlib import Path

from tests.fastpath.test_short_ways import HEAD
from tests.launched import Zygotes, prints_as_plainly

METHODS = (
    HEAD
    + """
import hashlib

def tell(x):
    if isinstance(x, tuple):
        return [tell(part) for part in x]
    if not isinstance(x, np.ndarray):
        return type(x).__name__, repr(x)
    return x.shape, x.dtype.str, x.strides, hashlib.sha256(x.tobytes()).hexdigest()

rng = np.random.default_rng(0)
whole = rng.integers(0, 100, (600, 500))
arrays = {code: whole.astype(code) for code in ("f8", "f4", "i8", "i4", "u1")}
arrays |= {"b": whole < 50, "none": whole < 0, "F": whole.T / 7, "apart": (whole / 3)[:, ::2], "inf": np.where(whole < 50, 1e308, 0.0)}
arrays |= {"more": rng.integers(0, 100, 3_000_000).astype("u1").reshape(1500, 2000)}
for label, x in arrays.items():
    x[0, 0]
    for name in "max min sum mean all any argmax argmin prod nonzero cumprod cumsum round trace std".split():
        for given in (), (0,), (1,), (-1,), (None,), (5,), ((0, 1),), (1.5,), ("0",):
            run((name, label, given), lambda: getattr(x, name)(*given))
        for keywords in {"axis": 1}, {"axis": 0, "keepdims": True}, {"dtype": "f4"}, {"nothing": 1}, {"out": np.zeros(600)}:
            run((name, label, keywords.keys()), lambda: getattr(x, name)(**keywords))
    run(("pending", label), lambda: ((x + x).any(), (x * x).argmax(), (x + x).max(axis=1), (x + x).trace()))
"""
)


def test_methods_of_large_arrays(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, METHODS, tmp_path, ("--execution", "fused"))
