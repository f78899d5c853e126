"""Runs many command lines of ``arraydispatch``, each in a fork of one process that has imported the library once.

``python zygote.py BACKEND JOBS.json [OPTIONS...]``: the jobs are objects with ``argv``, ``cwd``, ``stdin``, ``out`` (a path prefix);
each leaves ``out.stdout``, ``out.stderr`` and ``out.code``. Every fork begins as a fresh interpreter would, with nothing of the
library used so far, and ends by Python's own way out, exit handlers included. Without a backend the jobs are scripts for
plain Python. Among the options, ``broken`` is ours: the library's sums and products are wrong on purpose.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
from tests import library_control


def _open(path: str, flags: int, fd: int) -> None:
    opened = os.open(path, flags, 0o644)
    os.dup2(opened, fd)
    os.close(opened)


def _become(job: dict[str, object]) -> None:
    out = str(job["out"])
    Path(f"{out}.stdin").write_text(str(job["stdin"]))
    _open(f"{out}.stdin", os.O_RDONLY, 0)
    _open(f"{out}.stdout", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 1)
    _open(f"{out}.stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 2)
    os.chdir(str(job["cwd"]))


def _wait(children: dict[int, str]) -> None:
    pid, status = os.wait()
    Path(f"{children.pop(pid)}.code").write_text(str(os.waitstatus_to_exitcode(status)))


def _main() -> int:
    backend, jobs, options = sys.argv[1], json.loads(Path(sys.argv[2]).read_text()), sys.argv[3:]
    if backend != "plain":
        broken = frozenset({"add", "matmul"}) if "broken" in options else None
        if broken and backend in library_control.BREAK:
            library_control.BREAK[backend](broken)

        import arraydispatch.cli
        import arraydispatch.launcher.facade
        from arraydispatch.backends import loader

        loader.load(backend)
    options = [option for option in options if option != "broken"]
    children: dict[int, str] = {}
    for job in jobs:
        if len(children) == 2:
            _wait(children)
        pid = os.fork()
        if pid == 0:
            _become(job)
            argv = list(job["argv"])
            if backend != "plain":
                ours = ["--backend", backend, "--report", f"{job['out']}.json", *options]
                if broken and backend == "torch":
                    library_control.torch_mode(broken).__enter__()
                return arraydispatch.cli.main(["run", *ours, *argv])
            os.execv(sys.executable, [sys.executable, *argv])
        children[pid] = job["out"]
    while children:
        _wait(children)
    return 0


if __name__ == "__main__":
    sys.exit(_main())
