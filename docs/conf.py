"""Sphinx configuration: `make docs`."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import arraydispatch

project = "arraydispatch"
author = "The arraydispatch developers"
project_copyright = "The arraydispatch developers"
release = version = arraydispatch.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["_build", "examples"]
templates_path: list[str] = []

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = f"arraydispatch {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": True}
html_show_sphinx = False
html_copy_source = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"exclude-members": "__init__, __new__"}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
add_module_names = False
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"


def write_generated_pages(_app: Any) -> None:
    """Write the pages that are made from the code, before they are read; unchanged ones are left alone."""
    from arraydispatch.launcher.commands import coverage

    page = Path(__file__).parent / "reference" / "coverage.md"
    made = runpy.run_path(str(Path(__file__).with_name("coverage_page.py")))["markdown"](coverage.rows())
    if page.read_text(encoding="utf-8") != made:
        page.write_text(made, encoding="utf-8")


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("builder-inited", write_generated_pages)
