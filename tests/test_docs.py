"""Every code block of README.md and docs/ runs, and prints what the page says it prints.

The ``python`` blocks of a page run one after the other in a process of their own. A ``text`` block that follows one holds
its output. ``console`` blocks are commands, run from the repository's root; those of arraydispatch must succeed.
"""

from __future__ import annotations

import importlib.util
import os
import pydoc
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import arraydispatch
from arraydispatch._core import handles
from arraydispatch.backends import loader
from tests.launched import Zygotes

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts)]
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SEPARATOR = "\x1e"
LIBRARIES = ("jax", "torch", "tensorflow")


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in FENCE.finditer(page.read_text(encoding="utf-8"))]


def python_blocks(page: Path) -> list[tuple[str, str | None]]:
    """(code, expected output or None) of each ``python`` block."""
    found = blocks(page)
    after = [*found[1:], ("", "")][: len(found)]
    return [
        (code, following[1] if following[0] == "text" else None)
        for (language, code), following in zip(found, after, strict=True)
        if language == "python"
    ]


def commands(page: Path) -> list[str]:
    return [
        line.removeprefix("$ ")
        for language, text in blocks(page)
        if language == "console"
        for line in text.splitlines()
        if line.startswith("$ ")
    ]


ALL_LIBRARIES = ("arraydispatch info", "python -m arraydispatch info", "python -m arraydispatch coverage")
RUN = re.compile(r"(python -m )?arraydispatch run --backend (?P<backend>\w+) ")
USERS = re.compile(r"pip install |arraydispatch run (--\S+ \S+ )*script.py")
"""Commands about the reader's own environment or script: they are not run."""
AS_MODULE = """import runpy, sys
sys.argv = {argv}
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
COMMANDS = sorted({command for page in PAGES for command in commands(page) if not USERS.match(command)})
EXAMPLES = ROOT / "docs" / "examples"


def skip_without_libraries(text: str) -> None:
    for library in LIBRARIES:
        if library in text and importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed")
    if "dask" in text and not handles.compiled:
        pytest.skip("inapplicable: dask reads the memory of chunks, which arrays show where the core is compiled")


def environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # One thread: the tests themselves run in parallel, and OpenMP's threads spin while they wait for a busy core.
    return {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1"}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page)], ids=name_of)
def test_code_blocks(page: Path, tmp_path: Path, zygotes: Zygotes, request: pytest.FixtureRequest) -> None:
    """Libraries are imported once for all pages; a run of everything gives each page an interpreter of its own."""
    found = python_blocks(page)
    text = f"\nprint({SEPARATOR!r}, end='')\n".join(block for block, _ in found)
    skip_without_libraries(text)
    script = tmp_path / "blocks.py"
    script.write_text(text, encoding="utf-8")
    if request.config.option.all:
        command = [sys.executable, "-W", "error::UserWarning", str(script)]
        fresh = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment())
        code, stdout, stderr = fresh.returncode, fresh.stdout, fresh.stderr
    else:
        done = zygotes.with_all_libraries.run(str(script), cwd=tmp_path, options=("error::UserWarning",))
        code, stdout, stderr = done.code, done.stdout, done.stderr
    assert code == 0, stderr
    outputs = stdout.split(SEPARATOR)
    assert [out.strip() for out, (_, expected) in zip(outputs, found, strict=True) if expected is not None] == [
        expected.strip() for _, expected in found if expected is not None
    ]


SEVERAL = pytest.mark.one_backend("several devices")  # which start processes, or compile for eight devices


@pytest.mark.parametrize(
    "command",
    [pytest.param(each, marks=SEVERAL) if re.search("--mesh|--processes", each) else each for each in COMMANDS],
)
def test_commands(command: str, tmp_path: Path, zygotes: Zygotes, request: pytest.FixtureRequest) -> None:
    """Run a command where `arraydispatch examples examples` was run, and where a clone's docs/ is.

    What imports a library, or all of them to tell of them, finds it imported; in a run of everything it does so by itself.
    """
    skip_without_libraries(command)
    if " examples " not in command:
        shutil.copytree(EXAMPLES, tmp_path / "examples")
    shutil.copytree(EXAMPLES, tmp_path / "docs" / "examples")
    words = [str(tmp_path / Path(word).name) if word.endswith(".json") else word for word in shlex.split(command)]
    start = RUN.match(command)
    if not request.config.option.all and (start or command in ALL_LIBRARIES):
        if start:
            *options, script = words[len(shlex.split(start[0])) :]
            told = zygotes.of(start["backend"]).run(script, cwd=tmp_path, options=tuple(options))
        else:
            as_module = tmp_path / "command.py"
            as_module.write_text(AS_MODULE.format(argv=words[-2:]), encoding="utf-8")
            told = zygotes.with_all_libraries.run(str(as_module), cwd=ROOT)
        assert told.code == 0, told.stderr
        assert told.stdout
        return
    if words[0] == "python":
        words[0] = sys.executable
    elif words[0] == "arraydispatch":
        words[:1] = [sys.executable, "-m", "arraydispatch"]
    else:
        pytest.fail(f"not a command that this test knows: {command}")
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=environment())
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_reference_lists_the_options_of_run() -> None:
    help_text = subprocess.run(
        [sys.executable, "-m", "arraydispatch", "run", "--help"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=environment(),
    ).stdout
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", help_text)) - {"--help", "--version"}
    listed = set(re.findall(r"^\| `(--[a-z-]+)", page, re.MULTILINE))
    assert listed == options


def test_there_are_blocks_and_commands() -> None:
    assert any(python_blocks(page) for page in PAGES)
    assert any(expected for page in PAGES for _, expected in python_blocks(page))
    assert set(ALL_LIBRARIES) < set(COMMANDS)
    assert any(map(RUN.match, COMMANDS))


def test_the_reference_lists_the_options_of_the_libraries() -> None:
    page = (ROOT / "docs" / "reference" / "api" / "settings.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| ([a-z, ]+) \|", page, re.MULTILINE)
    for library in LIBRARIES:
        skip_without_libraries(library)
        options = {name for name, backends in listed if library in backends.split(", ")}
        assert options == set(loader.load(library).OPTIONS)


NEEDS = re.compile(r"^The examples? needs? (.*)\.$", re.MULTILINE)
EXTRAS = re.compile(r"`arraydispatch\[([\w,]+)\]`")
NEED = {"jax": "[jax]", "torch": "[torch]", "tensorflow": "[tensorflow]", "flax": "Flax", "sklearn": "scikit-learn"}
"""A word in code, or in a command -> what a page calls the thing that gives it."""
MENTION = re.compile(r"^ *(?:import|from) (\w+)|[\"'](jax|torch|tensorflow)[\"']|--backend (\w+)", re.MULTILINE)


def needs_of(page: Path) -> set[str]:
    """Names of what the code and the commands of a page import or name, besides what arraydispatch itself needs."""
    code = "\n".join([*(block for block, _ in python_blocks(page)), *commands(page)])
    words = {word for match in MENTION.findall(code) for word in match if word}
    if "digits_pca" in code:
        words.add("sklearn")
    if re.search("--mesh|--processes", code):
        words.add("jax")
    given = {*sys.stdlib_module_names, "numpy", "scipy", "arraydispatch", "here"}
    return {NEED.get(word, word) for word in words - given}


def packages_in(said: str) -> set[str]:
    """The packages that a page says it needs besides extras."""
    return set(re.findall(r"\b(?!and\b)[\w-]+", EXTRAS.sub("", said)))


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "README.md"], ids=name_of)
def test_each_page_says_what_its_examples_need(page: Path) -> None:
    found = NEEDS.search(page.read_text(encoding="utf-8"))
    said = found[1] if found else ""
    extras = {f"[{name}]" for names in EXTRAS.findall(said) for name in names.split(",")}
    assert extras | packages_in(said) == needs_of(page)


def test_the_reference_documents_every_public_name() -> None:
    pages = "\n".join(path.read_text("utf-8") for path in (ROOT / "docs" / "reference" / "api").glob("*.md"))
    documented = set(re.findall(r"^\.\. (?:auto\w+|py:data):: arraydispatch\.([\w.]+)", pages, re.MULTILINE))
    assert set(arraydispatch.__all__) - {"__version__"} <= documented
    for module in arraydispatch._MODULES:
        names = {f"{module}.{name}" for name in getattr(arraydispatch, module).__all__}
        assert names - {"random.seed"} <= documented  # ad.seed
    for name in documented:
        assert pydoc.locate(f"arraydispatch.{name}") is not None, name


def test_the_figure_is_of_the_tables() -> None:
    """A speed that is read from the tables: docs/figures.py finds them."""
    spec = importlib.util.spec_from_file_location("figures", ROOT / "docs" / "figures.py")
    assert spec is not None and spec.loader is not None
    figures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(figures)
    numbers, speeds = figures.sizes()
    assert len(speeds) == 3 and all(len(values) == len(numbers) for values in speeds.values())
    drawn = (ROOT / "docs" / "_static" / "speed.svg").read_text("utf-8")
    for name, ratio in figures.programs():
        assert f">{name}<" in drawn and (f">{ratio:.1f}<" if ratio >= 1 else f">{ratio:.2f}<") in drawn


def test_links_of_pages_lead_to_pages() -> None:
    """Sphinx knows what is under ``docs/`` alone."""
    broken = []
    for page in PAGES:
        root = ROOT if page.name == "README.md" else ROOT / "docs"
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", FENCE.sub("", page.read_text(encoding="utf-8"))):
            path = (page.parent / target).resolve()
            if "://" not in target and not (path.exists() and path.is_relative_to(root)):
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []
