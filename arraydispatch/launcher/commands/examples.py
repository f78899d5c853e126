"""``arraydispatch examples``: copies the example scripts of the documentation to a folder of the user."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from importlib import resources


def _sources() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each example script, from the installed package, or from ``docs/examples`` in a clone."""
    packaged = resources.files(__package__).joinpath("example_scripts")
    clone = os.path.join(os.path.dirname(__file__), *[os.pardir] * 3, "docs", "examples")
    if packaged.is_dir():
        found = {entry.name: entry.read_text("utf-8") for entry in packaged.iterdir() if entry.name.endswith(".py")}
    else:
        found = {}
        for name in os.listdir(clone):
            if name.endswith(".py"):
                with open(os.path.join(clone, name), encoding="utf-8") as file:
                    found[name] = file.read()
    yield from sorted(found.items())


def summaries() -> dict[str, str]:
    """Return the first line of each script's docstring, by name."""
    return {name: (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0] for name, text in _sources()}


def copy(folder: str, overwrite: bool = False) -> list[str]:
    """Write the scripts to a folder, which is made if it does not exist, and return their paths.

    Raises
    ------
    FileExistsError
        If a file of that name exists and overwriting was not asked for; then nothing is written.
    """
    scripts = {os.path.join(folder, name): text for name, text in _sources()}
    if not overwrite:
        for path in scripts:
            if os.path.exists(path):
                raise FileExistsError(17, f"{os.path.basename(path)} exists (--force overwrites)", path)
    os.makedirs(folder, exist_ok=True)
    for path, text in scripts.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return list(scripts)
