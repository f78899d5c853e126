"""Where an array comes to the host for one of its views, the others come with it."""

from __future__ import annotations

from pathlib import Path

from tests.launched import Zygotes

PROGRAM = """
import numpy as np
for made in (lambda x: x[1], lambda x: x[::-1][3], lambda x: x[:, ::-1], lambda x: x[2:4].T):
    for asked in (False, True):
        x = np.arange(64.0).reshape(8, 8) + 0
        view, other = made(x), x[5]
        if asked:
            view.strides, view.T.base
        for y in np.nditer(other, op_flags=["readwrite"]):
            y[...] = y + 1
        print(view.sum())
        np.sum([view.copy(), view.copy()], axis=0, out=view)
        view[...] += 1
        np.add(view, 1, out=view)
        view.T[0] = 7
        view.sort()
        view.setfield(3, view.dtype)
        view[0:1] = -1
        print(x.sum(), np.shares_memory(x, view), view.base is x)
"""


def test_views_of_what_comes_to_the_host(tmp_path: Path, zygotes: Zygotes, backend: str) -> None:
    (tmp_path / "main.py").write_text(PROGRAM.replace("view.base is x", "view.base is not None"))
    plain = zygotes.plain.run("main.py", cwd=tmp_path)
    assert plain.code == 0, plain.stderr
    for least in ("0", "16"):
        done = zygotes.of(backend).run("main.py", cwd=tmp_path, options=("--min-size", least))
        assert (done.code, done.stdout) == (0, plain.stdout), done.stderr
