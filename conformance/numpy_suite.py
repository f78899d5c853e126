"""NumPy's own test modules, as its wheel carries them, under the launcher."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from .suites import EXECUTIONS, HERE, PLAIN, Settings, Suite, Usage

__all__ = ["MODULES", "NumpySuite"]

_NAMES = {
    "_core": "numeric multiarray ufunc umath shape_base einsum nep50_promotions function_base indexing item_selection",
    "lib": "function_base arraysetops index_tricks shape_base nanfunctions twodim_base histograms arraypad"
    " stride_tricks ufunclike type_check",
    "linalg": "linalg",
    "fft": "pocketfft helper",
}
MODULES: tuple[str, ...] = tuple(f"{group}.test_{name}" for group, names in _NAMES.items() for name in names.split())
"""The modules of a full run: what NumPy tests of its arrays, not of its C internals, files, strings or dates."""


class NumpySuite(Suite):
    """NumPy's tests. The test file counts as user code, so its ``import numpy as np`` gives the facade."""

    name = "numpy"
    modules = MODULES
    left_out = HERE / "numpy-left-out.txt"
    """Tests that look at NumPy's C internals (reference counts, buffer addresses)."""

    def title(self) -> str:
        """The NumPy."""
        return f"NumPy {np.__version__}'s own tests"

    def file_of(self, module: str) -> Path:
        """The file inside the installed NumPy."""
        group, _, name = module.partition(".")
        path = Path(np.__file__).parent / group / "tests" / f"{name}.py"
        if not path.exists():
            raise Usage(
                f"this NumPy ({np.__version__}) comes without {path.name}; install it from its wheel, with tests."
            )
        return path

    def xfails_file(self, backend: str) -> Path:
        """The expected failures of a backend."""
        return HERE / f"numpy-{backend}-xfails.txt"

    def pytest_options(self, settings: Settings) -> list[str]:
        """What ``numpy.test("full")`` passes to pytest."""
        options = ["-c", str(HERE / "numpy.ini")]
        if settings.execution in ("fused", "compiled"):
            # It has a warnings.catch_warnings about each test, where calls that may warn are not recorded.
            return [*options, "-p", "no:warnings"]
        return [*options, "-W", "ignore:the matrix subclass is not", "-W", "ignore:Importing from numpy.matlib is"]

    def python(self, path: Path, settings: Settings) -> list[str]:
        """Plain Python, or the launcher with every array, however small, on the backend, or recorded."""
        if settings.backend == PLAIN:
            return [sys.executable]
        device = ["--device", settings.device] if settings.device else []
        launcher = [
            "run", "--backend", settings.backend, *device, *EXECUTIONS[settings.execution],
            "--on-fallback", "silent", "--include", str(path),
        ]  # fmt: skip
        return [sys.executable, "-m", "arraydispatch", *launcher]

    def environment(self, settings: Settings) -> dict[str, str]:
        """NumPy skips tests that need more memory than this: a second copy on a backend would take the machine down."""
        return {"NPY_AVAILABLE_MEM": os.environ.get("NPY_AVAILABLE_MEM", "3 GB")}
