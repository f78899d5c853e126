"""SciPy's own test modules, as its wheel carries them, under the launcher: of the parts that take arrays."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from .numpy_suite import NumpySuite
from .suites import HERE, Settings, Usage

__all__ = ["MODULES", "ScipySuite"]

_NAMES = {
    "fft": "basic helper real_transforms fftlog multithreading",
    "ndimage": "filters fourier interpolation measurements morphology splines",
    "signal": "signaltools spectral waveforms windows fir_filter_design upfirdn savitzky_golay",
    "special": "basic erfinv exponential_integrals gamma gammainc hyp2f1 lambertw logit loggamma logsumexp trig zeta",
}
MODULES: tuple[str, ...] = tuple(f"{group}.test_{name}" for group, names in _NAMES.items() for name in names.split())
"""The modules of a full run."""


class ScipySuite(NumpySuite):
    """SciPy's tests. The test file counts as user code, as NumPy's do."""

    name = "scipy"
    modules = MODULES
    left_out = None

    def title(self) -> str:
        """The SciPy."""
        import scipy

        return f"SciPy {scipy.__version__}'s own tests"

    def file_of(self, module: str) -> Path:
        """The file inside the installed SciPy."""
        found = importlib.util.find_spec("scipy")
        group, _, name = module.partition(".")
        path = Path(str(found.origin if found else "")).parent / group / "tests" / f"{name}.py"
        if not path.exists():
            raise Usage(f"SciPy is missing, or comes without {path.name}; install it from its wheel, with tests.")
        return path

    def xfails_file(self, backend: str) -> Path:
        """The expected failures of a backend."""
        return HERE / f"scipy-{backend}-xfails.txt"

    def pytest_options(self) -> list[str]:
        """Marks of SciPy's ``pytest.ini``, which the wheel does not carry."""
        return ["-W", "ignore::pytest.PytestUnknownMarkWarning"]

    def environment(self, settings: Settings) -> dict[str, str]:
        """Nothing: what takes much memory SciPy's tests mark as slow, and skip."""
        return {}
