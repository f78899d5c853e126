"""SciPy's own test modules, as its wheel carries them, under the launcher: of the parts that take arrays."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from .numpy_suite import NumpySuite
from .suites import HERE, Settings, Usage

__all__ = ["MODULES", "ScipySuite"]

_NAMES = {
    "fft": "basic helper real_transforms fftlog multithreading",
    "ndimage": "datatypes filters fourier interpolation measurements morphology splines",
    "signal": "array_tools bsplines cont2discrete czt dltisys filter_design fir_filter_design ltisys max_len_seq peak_finding"
    " savitzky_golay short_time_fft signaltools spectral splines upfirdn waveforms wavelets windows",
    "special": "basic bdtr boost_ufuncs boxcox cdflib cdft_asymptotic cosine_distr data digamma ellip_harm erfinv"
    " exponential_integrals faddeeva gamma gammainc gen_harmonic hyp2f1 hypergeometric iv_ratio kolmogorov lambertw legendre"
    " log1mexp loggamma logit logsumexp nan_inputs ndtr ndtri_exp orthogonal orthogonal_eval owens_t pcf pdtr powm1 round sici"
    " spence sph_harm spherical_bessel trig wright_bessel wrightomega zeta",
}
MODULES: tuple[str, ...] = tuple(f"{group}.test_{name}" for group, names in _NAMES.items() for name in names.split())
"""The modules of a full run."""


class ScipySuite(NumpySuite):
    """SciPy's tests. The test file counts as user code, as NumPy's do."""

    name = "scipy"
    modules = MODULES
    counts_large = True
    left_out = HERE / "scipy-left-out.txt"
    """Tests that look at what only an ndarray has."""

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

    def pytest_options(self, settings: Settings) -> list[str]:
        """SciPy's own configuration, which the wheel does not carry."""
        return ["-c", str(HERE / "scipy.ini")]

    def environment(self, settings: Settings) -> dict[str, str]:
        """Nothing: what takes much memory SciPy's tests mark as slow, and skip."""
        return {}
