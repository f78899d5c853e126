"""Scripts run under the launcher, without a start of the interpreter and an import of the library for each: see zygote.py."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from arraydispatch._core import handles
from arraydispatch.backends import loader

shows_memory = pytest.mark.skipif(
    not handles.compiled, reason="inapplicable: where the core is not compiled, code in C sees no array's memory"
)

ROOT = Path(__file__).parents[1]
ZYGOTE = Path(__file__).parent / "zygote.py"


@dataclass(frozen=True)
class Done:
    """What a script did."""

    code: int
    stdout: str
    stderr: str
    report: Any
    """The launcher's, as data; None of plain Python, and of what ended before there was one."""
    elements: Any
    """How many each operation of torch made, where it was watched; else None."""


class Zygote:
    """A process that has imported a library and runs scripts in forks of it; what one did is kept.

    ``shared``: a folder where what one did is kept for the other workers of this run too.
    """

    def __init__(self, folder: Path, backend: str, *libraries: str, shared: Path | None = None) -> None:
        self.backend = backend
        self._shared = shared
        self._outs = (folder / str(i) for i in itertools.count())
        self._done: dict[tuple[Any, ...], Done] = {}
        env = {
            **os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3",
        }  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, str(ZYGOTE), backend, *libraries], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip

    def run(
        self,
        *argv: str,
        cwd: Path,
        options: tuple[str, ...] = (),
        stdin: str = "",
        below: tuple[str, ...] | None = None,
        reported: bool = False,
        way: str = "run",
    ) -> Done:
        """``arraydispatch run --backend B *options *argv``, or ``python *argv``; of ``libraries`` ``python -W option *argv``.

        ``below``: on a library that is watched from below, with what is named here wrong on purpose: see library_control.py.
        ``way``: ``install`` or ``import``: ``python *argv`` after ``ad.install``, or after ``ad.use`` of the backend.
        ``reported``: with ``--report``, for which each call is timed and takes the general path; users run without it.
        """
        job = argv, cwd, options, stdin, below, reported, way
        if job not in self._done:
            self._done[job] = self._run(*job) if self._shared is None else self._run_once(self._shared, *job)
        return self._done[job]

    def _run_once(self, shared: Path, *job: Any) -> Done:
        """Two workers may run it at one time; neither reads half of what the other writes."""
        kept = shared / hashlib.sha256(repr(job).encode()).hexdigest()
        if kept.exists():
            return Done(**json.loads(kept.read_text()))
        done = self._run(*job)
        written = kept.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps(asdict(done)))
        written.replace(kept)
        return done

    def _run(
        self,
        argv: tuple[str, ...],
        cwd: Path,
        options: tuple[str, ...],
        stdin: str,
        below: tuple[str, ...] | None,
        reported: bool,
        way: str,
    ) -> Done:
        out = next(self._outs)
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        job = {
            "argv": argv,
            "options": options,
            "cwd": str(cwd),
            "stdin": stdin,
            "below": below,
            "reported": reported,
            "way": way,
            "out": str(out),
        }
        print(json.dumps(job), file=process.stdin, flush=True)
        code = process.stdout.readline()
        assert code, f"the process for {self.backend} ended with {process.wait()}"
        stdout, stderr, *told = (Path(f"{out}.{name}") for name in ("stdout", "stderr", "json", "elements"))
        data = [json.loads(path.read_text()) if path.exists() else None for path in told]
        return Done(int(code), stdout.read_text(), stderr.read_text(), *data)

    def end(self) -> None:
        """Let it go."""
        self._process.communicate()


class Zygotes:
    """One for each backend, made when it is first asked for.

    ``quickly``: whether JAX compiles quickly there, see interop/scipy_compiled.py.
    """

    def __init__(self, factory: pytest.TempPathFactory, quickly: bool) -> None:
        self._factory = factory
        self._made: list[Zygote] = []
        self._made_of = cache(self._make)
        self._quickly = ("quickly",) if quickly else ()

    def of(self, backend: str) -> Zygote:
        """Where scripts run on a backend."""
        if backend in loader.KNOWN:
            loader.check(backend)  # conftest.py skips the test
        return self._made_of(backend, *(self._quickly if backend == "jax" else ()))

    def _make(self, backend: str, *libraries: str) -> Zygote:
        shared = None
        if backend == "plain" and "PYTEST_XDIST_WORKER" in os.environ:  # whose folders are in one of the run's
            shared = self._factory.getbasetemp().parent / "plain"
            shared.mkdir(exist_ok=True)
        self._made.append(Zygote(self._factory.mktemp(backend), backend, *libraries, shared=shared))
        return self._made[-1]

    def with_compiler(self, backend: str) -> Zygote:
        """Where scripts have their functions compiled, or the library watched from below or broken: ``run(..., below=...)``."""
        return self._made_of(backend, "compiler") if backend == "torch" else self.of(backend)

    def with_library(self, backend: str) -> Zygote:
        """Plain Python that has imported the library of a backend."""
        return self._made_of("libraries", loader.KNOWN[backend].library)

    @property
    def with_all_libraries(self) -> Zygote:
        """Plain Python that has imported the library of every backend."""
        return self._made_of("libraries", *(loader.KNOWN[name].library for name in loader.available()), *self._quickly)

    @property
    def plain(self) -> Zygote:
        """Plain Python, which does the same for each worker."""
        return self.of("plain")

    def end(self) -> None:
        """Let all of them go."""
        for zygote in self._made:
            zygote.end()


@pytest.fixture(scope="session")
def zygotes(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Zygotes]:
    """Where scripts run."""
    made = Zygotes(tmp_path_factory, quickly=not request.config.option.whole)
    yield made
    made.end()


def prints_as_plainly(zygotes: Zygotes, backend: str, script: str, folder: Path, *ways: tuple[str, ...]) -> None:
    """Hold what a script prints on a backend, run with each of some options, against what plain Python prints."""
    (folder / "script.py").write_text(script)
    plain = zygotes.plain.run("script.py", cwd=folder)
    assert plain.code == 0, plain.stderr
    for options in ways:
        ours = zygotes.of(backend).run("script.py", cwd=folder, options=options)
        assert (ours.code, ours.stdout) == (0, plain.stdout), ours.stderr
