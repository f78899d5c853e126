"""Sphinx configuration: `make docs`."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

project = "arraydispatch"
author = "The arraydispatch developers"
release = importlib.metadata.version("arraydispatch")

extensions = ["myst_parser"]
exclude_patterns = ["_build", "examples"]
html_theme = "alabaster"
myst_heading_anchors = 3


def write_generated_pages(_app: Any) -> None:
    """Write the pages that are made from the code, before they are read; unchanged ones are left alone."""
    from arraydispatch.launcher.commands import coverage

    page = Path(__file__).parent / "reference" / "coverage.md"
    made = coverage.markdown(coverage.rows())
    if page.read_text(encoding="utf-8") != made:
        page.write_text(made, encoding="utf-8")


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("builder-inited", write_generated_pages)
