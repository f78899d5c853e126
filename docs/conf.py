"""Sphinx configuration: `make docs`."""

from __future__ import annotations

import importlib.metadata

project = "arraydispatch"
author = "The arraydispatch developers"
release = importlib.metadata.version("arraydispatch")

extensions = ["myst_parser"]
exclude_patterns = ["_build", "examples"]
html_theme = "alabaster"
myst_heading_anchors = 3
