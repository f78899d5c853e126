"""Count the way of three calls through the package: ``python -m tests.walks``.

Calls are calls of Python functions of the package, counted by ``sys.setprofile`` in a copy without compiled modules. Files are those
that the functions stand in, moves the changes of file from one call to the next, and returns the moves to a file that was left before.
A call that is repeated is counted on its second time; the launched script up to its first line, import of modules apart. Modules that
are imported meanwhile run class bodies, decorators and the functions that fill their tables: a second count has these too.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PROFILE = """
import os, sys
HOME = os.path.join(sys.path[0] or os.getcwd(), "arraydispatch") + os.sep
walk, whole, importing = [], [], 0
def profile(frame, event, arg):
    global importing
    code = frame.f_code
    if not code.co_filename.startswith(HOME):
        return
    if code.co_name == "<module>":
        importing += (event == "call") - (event == "return")
    elif event == "call":
        whole.append(code.co_filename)
        if not importing:
            walk.append(code.co_filename)
def counts(walk):
    files = set(walk)
    moves = sum(a != b for a, b in zip(walk, walk[1:]))
    return f"{len(walk):,} calls, {len(files)} files, {moves - len(files) + 1} returns"
def shown():
    sys.setprofile(None)
    print(counts(walk) + ("" if walk == whole else f"; with what imports run: {counts(whole)}"))
def show(call):
    for _ in range(3):
        call()
    sys.setprofile(profile)
    call()
    shown()
"""
WALKS = {
    "fused expression": """
import numpy as np
import arraydispatch as ad
with ad.use("torch", execution="fused"):
    x, y = (ad.asarray(np.random.rand(1 << 19)).copy() for _ in range(2))
    show(lambda: float((np.sqrt(x * 2 + y) * y).sum()))
""",
    "the same of memory that others may write, so that each call is a block": """
import numpy as np
import arraydispatch as ad
with ad.use("torch", execution="fused"):
    x, y = (ad.asarray(np.random.rand(1 << 19)) for _ in range(2))
    show(lambda: float((np.sqrt(x * 2 + y) * y).sum()))
""",
    "ad.grad(f)(x)": """
import numpy as np
import arraydispatch as ad
x = ad.asarray(np.random.rand(10), backend="torch")
slope = ad.grad(lambda x: np.sum(x**2))
show(lambda: slope(x))
""",
    "launched script's first line": """
import arraydispatch, tempfile
from arraydispatch.launcher.commands.cli import main
import builtins
builtins.shown = shown
with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
    script.write("import builtins; builtins.shown()")
    script.flush()
    sys.setprofile(profile)
    main(["run", "--backend", "torch", script.name])
""",
}


def measured(folder: Path, code: str) -> str:
    """Run a walk in a folder with the package, and return its counts."""
    command = [sys.executable, "-c", PROFILE + code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.stdout.strip().splitlines()[0] if done.stdout else done.stderr


def main() -> None:
    """Print the counts of all walks."""
    with tempfile.TemporaryDirectory() as folder:
        ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
        shutil.copytree(ROOT / "arraydispatch", Path(folder, "arraydispatch"), ignore=ignored)
        for name, code in WALKS.items():
            print(f"{name}: {measured(Path(folder), code)}")


if __name__ == "__main__":
    main()
