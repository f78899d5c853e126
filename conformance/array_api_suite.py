"""The array-API standard's tests (data-apis/array-api-tests): at the commits below, or a checkout that is given."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .suites import HERE, Settings, Suite, Usage

__all__ = ["MAX_EXAMPLES", "PARTS", "ArrayApiSuite", "Part", "checkout", "commit_of", "namespace_of"]

MAX_EXAMPLES = 100
"""Examples of each test in a full run: Hypothesis' and the suite's own default."""

_MINUTES = 10  # for git to fetch one part; both together are some 10 MB


@dataclass(frozen=True)
class Part:
    """A repository at one commit, and its folder within the suite."""

    url: str
    commit: str
    folder: str


PARTS = (
    Part("https://github.com/data-apis/array-api-tests", "55fcc60179efa2680ddd6cd926ddf17b83530e2b", "."),
    Part("https://github.com/data-apis/array-api", "5f847a3858875c682ae901aa22b0413bf24be9da", "array-api"),
)
"""The suite, and the standard that it reads names and signatures from."""


def namespace_of(backend: str) -> str:
    """The module that the suite imports."""
    return f"arraydispatch.array_api.{backend}"


# -- getting it --------------------------------------------------------------------------------------------------------


def _git(folder: Path, *arguments: str) -> str:
    # Another user's checkout is read all the same: nothing in it is run by git.
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), *arguments]
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=60 * _MINUTES, env=environment
    ).stdout.strip()


def commit_of(folder: Path) -> str | None:
    """The commit of a checkout, with ``+changes`` where files differ from it; None where git cannot tell."""
    try:
        if Path(_git(folder, "rev-parse", "--show-toplevel")) != folder.resolve():
            return None  # some other repository that it lies in
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules")
        return _git(folder, "rev-parse", "HEAD") + ("+changes" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _cache() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "arraydispatch" / f"array-api-tests-{PARTS[0].commit[:7]}"


def _why(error: OSError | subprocess.SubprocessError) -> str:
    if isinstance(error, FileNotFoundError):
        return "git is not installed"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"git did not end within {_MINUTES} minutes"
    lines = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
    return lines[-1].removeprefix("fatal: ")


def _fetch(target: Path) -> None:
    """Get the parts into a folder beside the target, which appears when all is there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{target.name}-", dir=target.parent))
    try:
        for part in PARTS:
            place = folder / part.folder
            place.mkdir(exist_ok=True)
            _git(place, "init", "--quiet")
            _git(place, "fetch", "--quiet", "--depth", "1", part.url, part.commit)
            _git(place, "checkout", "--quiet", "FETCH_HEAD")
        with contextlib.suppress(FileExistsError):  # another run was quicker
            folder.rename(target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def checkout(path: str | None, say: Callable[[str], None]) -> Path:
    """The suite's folder: the one given, or the pinned one from the cache or the network.

    Parameters
    ----------
    path : str, optional
        A checkout, with the standard in its folder ``array-api``.
    say : callable
        Told what the user should know.
    """
    if path is not None:
        folder = Path(path).resolve()
        for needed in ("array_api_tests", "conftest.py", "array-api/src"):
            if not (folder / needed).exists():
                raise Usage(f"--suite: there is no {needed!r} in {path!r}; {_HOW_TO_GET_IT}")
        return folder
    folder = _cache()
    if not folder.exists():
        say(f"getting {PARTS[0].url} at {PARTS[0].commit[:7]}")
        try:
            _fetch(folder)
        except (OSError, subprocess.SubprocessError) as error:
            raise Usage(
                f"the array-API tests are not here and cannot be fetched ({_why(error)}); {_HOW_TO_GET_IT}"
            ) from None
    return folder


_HOW_TO_GET_IT = f"""\
where there is a network, type
    git clone {PARTS[0].url}
    cd array-api-tests
    git checkout {PARTS[0].commit[:7]}
    git submodule update --init
and name the folder: --suite array-api-tests"""


# -- running it --------------------------------------------------------------------------------------------------------


@dataclass
class ArrayApiSuite(Suite):
    """The standard's tests on a namespace.

    Attributes
    ----------
    folder : Path
        The suite.
    namespace : str
        The module under test.
    max_examples, seed : int
        Hypothesis' number of examples for each test, and the seed that they follow from.
    """

    folder: Path
    namespace: str
    max_examples: int = MAX_EXAMPLES
    seed: int = 0

    name = "array-api"
    linked = True
    packages = ("pytest", "hypothesis", "ndindex", "pytest_jsonreport")

    @cached_property
    def modules(self) -> tuple[str, ...]:  # type: ignore[override]  # known when the folder is
        """The files of the suite."""
        return tuple(sorted(path.stem for path in (self.folder / "array_api_tests").glob("test_*.py")))

    @cached_property
    def commits(self) -> dict[str, str]:
        """The commit of each part, by the repository's name."""
        return {part.url.rpartition("/")[2]: commit_of(self.folder / part.folder) or "unknown commit" for part in PARTS}

    @property
    def pinned(self) -> bool:  # type: ignore[override]
        """Whether it is at the commits above."""
        return not self.departures()

    def departures(self) -> list[str]:
        """What differs from the commits that the expected failures were written for."""
        pinned = {part.url.rpartition("/")[2]: part.commit for part in PARTS}
        return [
            f"{name} is at {_short(found)}, not at {pinned[name][:7]}, for which the expected failures are written"
            for name, found in self.commits.items()
            if found != pinned[name]
        ]

    def title(self) -> str:
        """The suite at its commit, and the examples."""
        return f"array-api-tests {_short(self.commits['array-api-tests'])} ({self.max_examples} examples, seed {self.seed})"

    def file_of(self, module: str) -> Path:
        """The file inside the suite."""
        return self.folder / "array_api_tests" / f"{module}.py"

    def xfails_file(self, backend: str) -> Path:
        """The expected failures of a backend."""
        return HERE / f"{backend}-xfails.txt"

    def pytest_options(self, settings: Settings) -> list[str]:
        """The suite's own options. How long an example takes is not what is tested."""
        return [
            "-c", str(self.folder / "pytest.ini"), "--rootdir", str(self.folder), "--disable-deadline",
            "--max-examples", str(self.max_examples), "--hypothesis-seed", str(self.seed),
        ]  # fmt: skip

    def environment(self, settings: Settings) -> dict[str, str]:
        """The module under test."""
        return {"ARRAY_API_TESTS_MODULE": self.namespace}

    def facts(self) -> dict[str, Any]:
        """Commits, examples and seed."""
        return {"max_examples": self.max_examples, "seed": self.seed, "commits": self.commits}


def _short(commit: str) -> str:
    sha, plus, changes = commit.partition("+")
    return sha if sha == "unknown commit" else sha[:7] + plus + changes
