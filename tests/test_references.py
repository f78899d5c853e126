"""References in documents and docstrings to files, modules and names, each of which has to exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "arraydispatch"
SOURCES = sorted(PACKAGE.rglob("*.py"))
PAGES = sorted(
    [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PACKAGE.rglob("README.md")]
)
PAGES = [page for page in PAGES if "_build" not in page.parts]

_FILE = re.compile(r"`([\w.-]+(?:/[\w.-]+)*\.(?:py|c|h|pxd)|docs/[\w./-]+\.md)`")
_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)#([^)\s]+)\)")
_ROLE = re.compile(r":(?:mod|func|class|data|meth|attr):`~?(arraydispatch(?:\.\w+)+)`")
_ROW = re.compile(r"^((?:``\w+``(?:, )?)+) {1,}\S", re.MULTILINE)
_TABLE = re.compile(r"^=+( +=+)+$.*^=+( +=+)+$", re.MULTILINE | re.DOTALL)
"""Table of reStructuredText."""
_USERS = frozenset(
    "script heat program train analysis simulation solver main my_script module __main__ conftest".split()
)
"""Names of programs in examples, without their suffix."""

FILES = {
    path.relative_to(ROOT).as_posix()
    for folder in ("arraydispatch", "tests", "docs", "conformance")
    for path in (ROOT / folder).rglob("*")
} | {path.name for path in ROOT.iterdir()}


def _exists(name: str) -> bool:
    return name in FILES or any(file.endswith("/" + name) for file in FILES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = _FILE.findall(re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL))
    lacking = [name for name in named if not _exists(name) and Path(name).stem not in _USERS]
    assert not lacking, f"{page.name} names files that do not exist: {', '.join(lacking)}"


def _anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\s-]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_headings_that_links_name_exist(page: Path) -> None:
    broken = []
    for name, anchor in _LINK.findall(re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)):
        target = page.parent / name if name else page
        if target.suffix == ".md" and anchor not in _anchors(target):
            broken.append(f"{name}#{anchor}")
    assert not broken, f"{page.name} links to headings that do not exist: {', '.join(broken)}"


def _file_of(parts: list[str]) -> Path | None:
    path = ROOT.joinpath(*parts)
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)


def test_names_that_docstrings_refer_to_exist() -> None:
    lacking = []
    for source in SOURCES:
        for name in _ROLE.findall(source.read_text("utf-8")):
            parts = name.split(".")
            count = next(i for i in range(len(parts), 0, -1) if _file_of(parts[:i]) is not None)
            file = _file_of(parts[:count])
            assert file is not None
            if count < len(parts) and not re.search(rf"\b{parts[count]}\b", file.read_text("utf-8")):
                lacking.append(f"{source.relative_to(ROOT)}: {name}")
    assert not lacking, "\n".join(lacking)


def test_modules_that_a_package_lists_exist() -> None:
    """The table in the docstring of a package is of its own modules and packages."""
    lacking = []
    for package in (source for source in SOURCES if source.name == "__init__.py"):
        text = ast.get_docstring(ast.parse(package.read_text("utf-8"))) or ""
        rows = _ROW.findall(_TABLE.sub("", text))
        names = [name for row in rows for name in re.findall(r"``(\w+)``", row)]
        if len(rows) > 2:
            lacking += [
                f"{package.relative_to(ROOT)}: {name}"
                for name in names
                if not (package.parent / name).is_dir() and not (package.parent / f"{name}.py").exists()
            ]
    assert not lacking, "\n".join(lacking)
