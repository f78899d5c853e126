"""The package as users install it: archives, and every page of the documentation in an environment with what it says it needs.

Wheels and sdist are built from a copy of what git tracks, and installed into environments of their own by pip, with the pins of
``constraints.txt``. With ``INSTALLED_ENVIRONMENTS=FOLDER`` in the environment those are kept, and used again.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from email import message_from_bytes
from pathlib import Path

import pytest

from arraydispatch.backends import loader
from tests import test_docs as pages

ROOT = Path(__file__).resolve().parent.parent
PYTHON = f"cp{sys.version_info.major}{sys.version_info.minor}"
EXTRAS = ("", "jax", "torch", "tensorflow", "report", "compiled")
USER = Path(__file__).parent / "common" / "user_types.py"
EPOCH = "1767225600"  # any time: a builder takes it from the commit

pytestmark = pytest.mark.long


def _run(*command: str | Path, cwd: Path, **environ: str) -> str:
    """Run a command as a user would who knows nothing of this checkout; its stdout."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if key not in ("PYTHONPATH", "VIRTUAL_ENV", "PIP_REQUIRE_VIRTUALENV")
    }
    env = {**kept, "TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1", **environ}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    kept = os.environ.get("INSTALLED_ENVIRONMENTS")
    if kept:
        Path(kept).mkdir(parents=True, exist_ok=True)
        yield Path(kept)
    else:
        made = tmp_path_factory.mktemp("installed")
        yield made
        shutil.rmtree(made)  # many GB


class Installation:
    """An environment with the wheel, some extras and other packages, and nothing else."""

    def __init__(self, folder: Path, wheel: Path | None, extras: str, packages: tuple[str, ...]) -> None:
        self.path = folder / ("-".join(["env", *extras.split(","), *packages]) or "env")
        self.python = self.path / "bin" / "python"
        self.extras = extras
        if not self.python.exists():
            _run(sys.executable, "-m", "venv", self.path, cwd=folder)
        what = [] if wheel is None else [f"{wheel}[{extras}]" if extras else str(wheel)]
        self.pip(*what, *packages)

    def pip(self, *arguments: str | Path) -> None:
        _run(self.python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", *arguments, cwd=self.path)

    def put(self, archive: Path) -> None:
        """Exchange the installed arraydispatch for another build of it."""
        self.pip("--no-deps", "--force-reinstall", archive)

    def run(self, *arguments: str | Path, cwd: Path, **environ: str) -> str:
        """What Python prints, run with its own programs first on the path."""
        path = os.pathsep.join([str(self.python.parent), os.environ["PATH"]])
        return _run(self.python, *arguments, cwd=cwd, PATH=path, **environ)


@pytest.fixture(scope="module")
def archives(folder: Path) -> dict[str, Path]:
    """The sdist, the wheel with the core and the one without, each built twice in folders of other names; the first are returned."""
    tools = Installation(folder, None, "", ("build", "twine"))
    built: list[dict[str, Path]] = []
    for name in ("first", "another"):
        tree = folder / name
        shutil.rmtree(tree, ignore_errors=True)
        listed = _run("git", "ls-files", "-z", cwd=ROOT).split("\0")
        for file in filter(None, listed):
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, tree / file)
        tools.run("-m", "build", "-o", "dist", cwd=tree, SOURCE_DATE_EPOCH=EPOCH)
        tools.run("-m", "build", "-o", "dist", cwd=tree, SOURCE_DATE_EPOCH=EPOCH, ARRAYDISPATCH_PURE="1")
        made = {"sdist": "*.tar.gz", "core": f"*-{PYTHON}-{PYTHON}-*.whl", "pure": "*-py3-none-any.whl"}
        built.append({kind: next((tree / "dist").glob(pattern)) for kind, pattern in made.items()})
    for kind, path in built[0].items():
        assert _digest(path) == _digest(built[1][kind]), f"two builds of {path.name} differ"
    tools.run("-m", "twine", "check", "--strict", *built[0].values(), cwd=folder)
    return built[0]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def installed(folder: Path, archives: dict[str, Path]) -> Callable[..., Installation]:
    """``installed(extras, *packages)``: an environment with the wheel that has the core."""
    return functools.cache(lambda extras, *packages: Installation(folder, archives["core"], extras, packages))


def test_archives_hold_what_they_should(archives: dict[str, Path]) -> None:
    with zipfile.ZipFile(archives["core"]) as core, zipfile.ZipFile(archives["pure"]) as pure:
        with_core, without = set(core.namelist()), set(pure.namelist())
        metadata = message_from_bytes(pure.read(next(name for name in without if name.endswith("METADATA"))))
    compiled = {name for name in with_core if name.endswith(".so")}
    assert len(compiled) > 10
    assert with_core - compiled == without
    assert {"arraydispatch/py.typed", "arraydispatch/launcher/commands/example_scripts/heat_equation.py"} < without
    assert not [name for name in without if name.startswith(("tests/", "docs/", "conformance/"))]
    assert {
        f"arraydispatch/{path.relative_to(ROOT / 'arraydispatch')}" for path in ROOT.glob("arraydispatch/**/*.py")
    } <= without
    for field in ("Summary", "License-Expression", "Requires-Python", "Keywords", "Author", "Description-Content-Type"):
        assert metadata[field], field
    assert set(EXTRAS[1:]) < set(metadata.get_all("Provides-Extra"))
    with tarfile.open(archives["sdist"]) as sdist:
        names = {name.split("/", 1)[-1] for name in sdist.getnames()}
    assert {"hatch_build.py", "constraints.txt", "Makefile", "LICENSE", "tests/conftest.py", "docs/index.md"} < names
    assert not [name for name in names if name.endswith((".so", ".pyc"))]


@pytest.mark.parametrize("extra", EXTRAS, ids=lambda extra: extra or "none")
def test_each_extra_alone(
    extra: str, archives: dict[str, Path], installed: Callable[..., Installation], tmp_path: Path
) -> None:
    """From the wheel without the core, the sdist where there is no extra, and the wheel with the core, which stays."""
    env = installed(extra)
    backend = extra if extra in loader.KNOWN else "numpy"
    kinds = ("pure", "sdist", "core") if not extra else ("pure", "core")
    for kind in kinds:
        env.put(archives[kind])
        here = tmp_path / kind
        here.mkdir()
        available = env.run("-c", "import arraydispatch as ad; print(*ad.available_backends())", cwd=here).split()
        assert set(available) == {"numpy", backend}
        assert ("(compiled core)" in env.run("-m", "arraydispatch", "info", cwd=here)) == (kind != "pure")
        env.run("-m", "arraydispatch", "examples", "examples", cwd=here)
        plain = env.run("examples/heat_equation.py", cwd=here)
        report = ("--report", "report.html") if extra == "report" else ()
        assert (
            env.run("-m", "arraydispatch", "run", "--backend", backend, *report, "examples/heat_equation.py", cwd=here)
            == plain
        )
        assert not report or (here / "report.html").stat().st_size > 10_000


def _needs(page: Path) -> tuple[str, ...]:
    """The extras a page says it needs, and the packages."""
    found = pages.NEEDS.search(page.read_text(encoding="utf-8"))
    said = found[1] if found else ""
    if page.name == "README.md":
        return ("jax",)
    extras = ",".join(pages.EXTRAS.findall(said))
    return (extras, *sorted(name.lower() for name in pages.packages_in(said)))


WITH_EXAMPLES = [
    page for page in pages.PAGES if pages.python_blocks(page) or set(pages.commands(page)) & set(pages.COMMANDS)
]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=pages.name_of)
def test_pages_in_the_environment_that_they_name(
    page: Path, installed: Callable[..., Installation], tmp_path: Path
) -> None:
    env = installed(*_needs(page))
    shutil.copytree(pages.EXAMPLES, tmp_path / "examples")
    shutil.copytree(pages.EXAMPLES, tmp_path / "docs" / "examples")
    if found := pages.python_blocks(page):
        script = tmp_path / "blocks.py"
        script.write_text(f"\nprint({pages.SEPARATOR!r}, end='')\n".join(block for block, _ in found), encoding="utf-8")
        printed = env.run("-W", "error::UserWarning", script, cwd=tmp_path).split(pages.SEPARATOR)
        assert [out.strip() for out, (_, expected) in zip(printed, found, strict=True) if expected is not None] == [
            expected.strip() for _, expected in found if expected is not None
        ]
    for command in pages.commands(page):
        if command in pages.COMMANDS and " examples " not in command:
            path = os.pathsep.join([str(env.python.parent), os.environ["PATH"]])
            _run("sh", "-c", command, cwd=tmp_path, PATH=path)


def test_a_users_types_are_checked(installed: Callable[..., Installation], tmp_path: Path) -> None:
    """By mypy and, where npm is there to bring it, by pyright; each finds the one mistake, in the line that says so."""
    env = installed("", "mypy", "pyright")
    user = shutil.copy(USER, tmp_path / "user_types.py")
    wrong = 1 + next(i for i, line in enumerate(USER.read_text().splitlines()) if "wrong on purpose" in line)
    checkers = [("-m", "mypy", "--strict", "--no-error-summary")]
    if shutil.which("npm"):
        checkers.append(("-m", "pyright", "--pythonpath", str(env.python)))
    for checker in checkers:
        done = subprocess.run(
            [env.python, *checker, user], cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": "", "MYPY_CACHE_DIR": os.devnull},
        )  # fmt: skip
        errors = [line for line in done.stdout.splitlines() if "error:" in line or " - error" in line]
        assert len(errors) == 1 and f"user_types.py:{wrong}:" in errors[0], done.stdout + done.stderr
