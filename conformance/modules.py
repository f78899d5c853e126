"""Which of NumPy's test modules are run, and where they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np

__all__ = ["MODULES", "Usage", "chosen", "file_of"]

_NAMES = {
    "_core": "numeric multiarray ufunc umath shape_base einsum nep50_promotions function_base indexing item_selection",
    "lib": "function_base arraysetops index_tricks shape_base nanfunctions twodim_base histograms arraypad"
    " stride_tricks ufunclike type_check",
    "linalg": "linalg",
    "fft": "pocketfft helper",
}
MODULES: tuple[str, ...] = tuple(f"{group}.test_{name}" for group, names in _NAMES.items() for name in names.split())
"""The modules of a full run: what NumPy tests of its arrays, not of its C internals, files, strings or dates."""


class Usage(Exception):
    """The command line or a data file is wrong: one sentence with the way out."""


def chosen(names: list[str]) -> list[str]:
    """The modules that the names (``lib.test_nanfunctions``, or ``lib`` for all of a group) stand for."""
    found: list[str] = []
    for name in names:
        here = [module for module in MODULES if module == name or module.startswith(f"{name}.")]
        if not here:
            groups = ", ".join(_NAMES)
            raise Usage(f"--module: there is no {name!r}; choose from {', '.join(MODULES)}, or a group: {groups}.")
        found += here
    return list(dict.fromkeys(found or MODULES))


def file_of(module: str) -> Path:
    """The file of a test module inside the installed NumPy."""
    group, _, name = module.partition(".")
    path = Path(np.__file__).parent / group / "tests" / f"{name}.py"
    if not path.exists():
        raise Usage(f"this NumPy ({np.__version__}) comes without {path.name}; install it from its wheel, with tests.")
    return path
