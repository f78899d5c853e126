"""Views of a dtype that is NumPy's own: an array and they are one memory, and each sees what is written to the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import arraydispatch as ad
from tests.launched import Zygotes

PROGRAM = """
import numpy as np


def both_ways(x, dtype, value):
    view = x.view(dtype)
    view[-1:] = value
    print(type(view).__name__, x.ravel().tolist())
    x += x.dtype.type(1)
    x[..., -1] = 3
    print(view.tolist(), x.sum())
    np.add(x, x, out=x)
    y = x * 2
    x[0] = 9
    view[0:1] = view[1:2]
    print(view.tolist(), x.ravel().tolist(), y.ravel().tolist(), (x + 1).sum())


for many in (1, 300):
    both_ways(np.tile(np.array([[3., 1], [1, 2], [2, 0]]), (many, 1)), "f8,f8", (5, 6))
    both_ways(np.zeros((4, 2 * many), "f4").T[:, :1].copy(), [("x", "f4")], 4)
    both_ways(np.zeros(8 * many, "u1"), ">u4", 258)
    both_ways(np.zeros(8 * many, "u1"), "S4", b"abcd")
    both_ways(np.arange(2 * many), "M8[s]", 5)
    both_ways(np.arange(6 * many)[2:], "m8[D]", 5)
    both_ways(np.arange(6 * many)[::-1], "m8[D]", 5)
    both_ways((np.arange(6.0 * many) * 2).reshape(2, -1)[1], [("x", "f8")], 5)
    both_ways(np.arange(4 * many, dtype="i4"), ">i4", 5)

    a = np.tile(np.array([[3., 1], [1, 2], [2, 0]]), (many, 1))
    a.view("f8,f8").sort(order=["f1"], axis=0)
    print(a.tolist())
    p = np.zeros((4 * many, 2), "f4")
    fields, half = p.view([("x", "f4"), ("y", "f4")]), p[::2]
    fields["x"] = 5
    print(p.tolist(), half.sum(), np.shares_memory(p, fields))
    half *= 2
    fields["y"] += fields["x"]
    print(fields.tolist(), half.sum(axis=0), np.cumsum(p, axis=0)[-1])
    i = np.arange(2 * many, dtype="i4")
    swapped = i.view(">i4")
    swapped += 1
    print(i.tolist(), swapped.tolist(), swapped.view("i4").tolist())
    rows = np.ndarray(2 * many, "M8[s]", buffer=np.arange(2 * many))
    n = np.arange(2 * many)
    window = np.ndarray(n.shape, "M8[s]", buffer=n)
    window[1] = 7
    print(n.tolist(), rows.tolist() == np.ndarray(2 * many, "M8[s]", buffer=np.arange(2 * many)).tolist())
    n.flags.writeable = False
    print(n.view("M8[s]").flags.writeable, n[1:].view("M8[s]").flags.writeable)
    for wanted in ("S3", "f8,f8,f8", "O"):
        try:
            np.arange(2 * many).view(wanted)
        except (TypeError, ValueError) as error:
            print(type(error).__name__, error)
"""


@pytest.mark.parametrize("least", ["0", "64", "default"])
def test_writes_reach_both(tmp_path: Path, zygotes: Zygotes, backend: str, least: str) -> None:
    (tmp_path / "main.py").write_text(PROGRAM)
    plain = zygotes.plain.run("main.py", cwd=tmp_path)
    assert plain.code == 0, plain.stderr
    done = zygotes.of(backend).run("main.py", cwd=tmp_path, options=() if least == "default" else ("--min-size", least))
    assert (done.code, done.stdout) == (0, plain.stdout), done.stderr


def test_where_no_memory_is_shared_it_is_read_only(backend: str) -> None:
    x = ad.asarray(np.arange(4), backend=backend)
    view = x.view("M8[s]")
    assert view.tolist() == np.arange(4).view("M8[s]").tolist()
    shared = ad.to_numpy(x).flags.writeable
    assert view.flags.writeable == shared == (backend in ("numpy", "torch"))
    if shared:
        view[1] = 7
        assert x.tolist() == [0, 7, 2, 3]
        x[2] = 9
        assert view.astype(int).tolist() == [0, 7, 9, 3]
    else:
        with pytest.raises(ValueError, match="read-only"):
            view[1] = 7
