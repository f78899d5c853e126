"""Runs command lines of ``arraydispatch``, each in a fork of one process that has imported the library once.

``python zygote.py BACKEND``: each line of standard input is a job, an object with ``argv``, ``options`` (of the launcher),
``cwd``, ``stdin``, ``below``, ``way`` (``run``, ``install`` or ``import``) and ``out`` (a path prefix), which leaves ``out.stdout`` and ``out.stderr``; each line of standard
output is the exit code of one. ``below``: what in this fork is broken on purpose, see library_control.py. Every fork begins as a fresh interpreter would, with nothing of the library used so far. Without options it ends by Python's own way out; with
options its threads end, its exit handlers run and its output is written, but the modules of the library, which the fork only
borrows, are not taken apart one by one: that takes longer than most scripts do. The backend ``plain`` is plain Python.
``jax quickly``: it compiles quickly, see interop/scipy_compiled.py. ``torch compiler``: it has imported what torch compiles programs with, and runs
operations under its modes with: SymPy and 1,300 modules more; and has found out which vectors a C++ compiler here knows.
``libraries NAME ...`` is plain Python too, with these libraries imported, for programs that use them by themselves; options are
then filters of warnings. ``quickly`` at the end: JAX, one of them, compiles quickly.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import sys
import threading
import warnings
from pathlib import Path
from typing import NoReturn

# The folder of this file would have its packages found before modules of the standard library: `tests/array` is no `array`.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parents[1]))
from tests import compiled, library_control


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


_leave = os._exit  # before the launcher puts its own in place


def _end(code: int) -> NoReturn:
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    _leave(code)


def _run_plainly(argv: list[str], filters: list[str]) -> NoReturn:
    for text in filters:
        warnings._setoption(text)  # type: ignore[attr-defined]
    sys.argv, sys.path[0] = argv, str(Path(argv[0]).parent)
    runpy.run_path(argv[0], run_name="__main__")
    _end(0)


def _run_way_in(way: str, backend: str, argv: list[str]) -> NoReturn:
    """Run a script as ``python`` does, but for a first line that nobody sees: ``ad.install(...)``, or ``ad.use(...)``."""
    import arraydispatch as ad

    sys.orig_argv[1:] = sys.argv = argv
    sys.path[0] = str(Path(argv[0]).parent)
    if way == "install":
        ad.install(backend, min_size=0, fallback="silent")
    else:
        ad.use(backend, fallback="silent")
    runpy.run_path(str(Path(argv[0]).absolute()), run_name="__main__")  # as Python has `__file__`
    _end(0)


def _main() -> int:
    backend = sys.argv[1]
    if backend == "libraries":
        for name in sys.argv[2:]:
            if name == "quickly":
                compiled.quickly(True)
            else:
                importlib.import_module(name)
    elif backend != "plain":
        import arraydispatch.launcher.commands.cli
        import arraydispatch.launcher.facade
        import arraydispatch.launcher.runner
        import arraydispatch.profiling.report.terminal
        from arraydispatch.backends import loader
        from arraydispatch.functions import registry

        loader.load(backend)
        registry.load_topics()
        if sys.argv[2:] == ["compiler"]:
            library_control.import_compiler()
        if sys.argv[2:] == ["quickly"]:
            compiled.quickly(True)
    gc.collect()
    gc.freeze()  # what is there now is not walked, nor copied, in each fork
    while line := sys.stdin.readline():
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(job)
            argv = list(job["argv"])
            if backend == "libraries":
                _run_plainly(argv, job["options"])
            if job["way"] != "run" and backend != "plain":
                _run_way_in(job["way"], backend, argv)
            if backend != "plain":
                ours = [
                    "--backend",
                    backend,
                    *(["--report", f"{job['out']}.json"] if job["reported"] else []),
                    *job["options"],
                ]
                if job["below"] is not None:
                    library_control.begin(backend, frozenset(job["below"]))
                code = arraydispatch.launcher.commands.cli.main(["run", *ours, *argv])
                if job["below"] is not None:
                    Path(f"{job['out']}.elements").write_text(json.dumps(library_control.elements))
                return code if not job["options"] else _end(code)
            os.execv(sys.executable, [sys.executable, *argv])
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(_main())
