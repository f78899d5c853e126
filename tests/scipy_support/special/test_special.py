"""SciPy's ufuncs on arrays: values over the whole domain, dtypes, options, names, reasons."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special

import arraydispatch as ad
from arraydispatch.backends import loader
from arraydispatch.ufuncs.plans import describe
from tests.rows import drawn, each
from tests.scipy_support.special import accuracy, arguments
from tests.scipy_support.special.arguments import UFUNCS

ROOT = Path(__file__).resolve().parents[3]
LIBRARIES = [name for name in accuracy.BACKENDS if name in ad.available_backends()]
EVERYWHERE = {
    backend: [(backend, name) for name in arguments.on_devices(loader.load(backend))] for backend in LIBRARIES
}

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.compiles(8),  # on JAX a formula is a large program, compiled for each shape and dtype
]


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# -- values ----------------------------------------------------------------------------------------------------------------


@pytest.mark.traces(2)
@each("backend, name", EVERYWHERE)
def test_values_over_the_whole_domain(backend: str, name: str, request: pytest.FixtureRequest) -> None:
    _over_the_whole_domain(backend, name, drawn(request, accuracy.DTYPES, one_of=2))


def _over_the_whole_domain(backend: str, name: str, dtypes: Sequence[str], some: slice = slice(None)) -> None:
    for dtype in dtypes:
        allowed = accuracy.figure(backend, name, dtype)
        for distance in accuracy.run(backend, name, dtype, some):
            worst = int(np.argmax(distance))
            operands = [x[some][worst] for x in arguments.arguments(name, dtype)]
            assert distance[worst] <= 1.5 * allowed + 3, f"{name}{tuple(operands)} in {dtype}: {distance[worst]} units"


@pytest.mark.parametrize("name", ["stdtr", "fdtr", "fdtrc", "betainc"])
def test_tails_of_one_very_large_parameter(library: str, name: str) -> None:
    """Of 1e12 degrees of freedom and more the logarithm of a number next to one has no digits; that of what it lacks has."""
    large, ufunc = np.array([[1e9], [1e12], [1e17], [1e18], [1e30]]), UFUNCS[name]
    operands: tuple[Any, ...] = (large, np.array([1.0, -2.0, 3e-5, -40.0, 0.0]))
    if name == "betainc":
        operands = (np.array([0.5, 1.0, 2.5, 4.5, 2.5]), large, np.array([0.5, 2.0, 3.0, 9.0, 0.01]) / large)
    elif name != "stdtr":
        operands = (large, np.array([3.0, 0.5, 20.0, 7.0, 3.0]), np.array([0.5, 1.0, 2.0, 30.0, np.inf]))
    with ad.fallback("error"):
        made = np.asarray(ufunc(*(ad.asarray(x, backend=library) for x in operands)))
    np.testing.assert_allclose(made, ufunc(*operands), rtol=1e-13)


@pytest.mark.one_backend("beta functions of two large parameters")
@pytest.mark.parametrize("name", ["betainc", "betaincc"])
def test_beta_functions_of_two_large_parameters_and_of_next_to_none(library: str, name: str) -> None:
    a, b, at = np.meshgrid([6e3, 1e6, 1e9, 3e12], [6e3, 1e7, 1e11], [-9.0, -2.0, -1e-3, 0.5, 8.0])
    x = a / (a + b) + np.sqrt(a * b / (a + b)) / (a + b) * at
    small = np.meshgrid([1e-12, 1e-6, 0.2], [1e-13, 0.3, 5.0, 300.0], [1e-7, 0.001, 0.4, 0.8, 1 - 1e-9])
    for operands in ((a, b, x), small):
        want = UFUNCS[name](*operands)
        with ad.fallback("error"):
            made = np.asarray(UFUNCS[name](*(ad.asarray(z, backend=library) for z in operands)))
        units = arguments.unit(name, tuple(operands), (want,))[0]
        np.testing.assert_array_less(np.abs(made - want) / units, 90.0)


def test_distributions_at_the_ends_of_their_operands(library: str) -> None:
    far = np.array([3.0, 1e-300, 1e30]), np.array([[1e200], [-1e200], [np.inf], [-np.inf]])
    ends = np.array([0.5, 3.0])[:, None], np.array([2.0, 1e30]), np.array(np.inf)
    for name, operands in (("stdtr", far), ("fdtr", ends), ("fdtrc", ends)):
        with ad.fallback("error"):
            made = np.asarray(UFUNCS[name](*(ad.asarray(np.asarray(x), backend=library) for x in operands)))
        np.testing.assert_allclose(made, UFUNCS[name](*operands), rtol=1e-13, atol=1e-300, err_msg=name)


def test_signs_of_zeros(library: str) -> None:
    x = ad.asarray(np.array([-0.0, 0.0, 1e5]), backend=library)
    with ad.fallback("error"):
        for name in ("cbrt", "log_expit") if library != "torch" else ("cbrt", "j1"):
            made, want = np.asarray(UFUNCS[name](x)), UFUNCS[name](np.array([-0.0, 0.0, 1e5]))
            np.testing.assert_array_equal(np.signbit(made), np.signbit(want), err_msg=name)


def test_small_parts_of_a_divergence(library: str) -> None:
    x, y = np.array([1e-300, 1e-8, 1.0]), np.array([1e8, 1e300, 2.0])
    made = scipy.special.kl_div(ad.asarray(x, backend=library), ad.asarray(y, backend=library))
    np.testing.assert_allclose(np.asarray(made), scipy.special.kl_div(x, y), rtol=1e-14)


TRUE = {
    "j0": [1.4940326958348494e-05, 2.175591750246892e-06, -1.8561051065108217e-12],
    "y0": [-4.357582515879169e-05, -7.676508175792937e-06, -7.759951744073064e-12],
    "j1": [-4.357582513389115e-05, -7.676508175684158e-06, -7.759951744073064e-12],
    "y1": [-1.4940327030974869e-05, -2.175591750630717e-06, 1.8561051065108217e-12],
}
"""Bessel functions at 3e8, 1e10 and 1e22, by mpmath with 60 digits."""


@pytest.mark.parametrize("name", TRUE)
def test_waves_far_out(library: str, name: str) -> None:
    """SciPy takes an angle from the argument, which has no digits left for it: at 1e16 its values are others altogether."""
    x = np.array([3e8, 1e10, 1e22])
    with ad.fallback("error"):
        made = np.asarray(getattr(scipy.special, name)(ad.asarray(x, backend=library)))
    if library == "tensorflow":  # whose kernel is SciPy's formula
        np.testing.assert_allclose(made, getattr(scipy.special, name)(x), rtol=1e-12, atol=1e-15 / np.sqrt(x).max())
    else:
        np.testing.assert_array_less(np.abs(made - TRUE[name]) * np.sqrt(x), 1e-15)


FAR: dict[str, dict[tuple[float, ...], float]] = {
    "gammainc": {(3e5, 2.965e5): 7.0639088952808211e-11, (1e7, 9.98e6): 1.2364070637223815e-10, (1e8, 99940000.0): 9.7952134364735972e-10},
    "rgamma": {
        (-170.625,): -5.3036210409799371e307, (-170.999,): -1.2346479150824011e306, (-171.000000000001,): 1.2345149246425723e297,
        (-175.00000000000003,): 3.1958776704809153e304,
    },
    "gamma": {(-170.999,): -8.0994750631661616e-307, (-171.000000000001,): 8.1003475943357173e-298},
    "betainc": {(44.0, 2e175, 0.2): 1.0, (1e300, 35.0, 0.5): 0.0},
    "betaincc": {(44.0, 2e175, 0.2): 0.0, (1e300, 35.0, 0.5): 1.0},
    "inv_boxcox": {(3e-10, 1e-300): 1.0000000003, (-math.inf, 0.0): 0.0, (0.5, 0.0): 1.6487212707001282},
}  # fmt: skip
"""Name -> operands -> value by mpmath: for some of them SciPy has no correct digits."""


@pytest.mark.parametrize("name", FAR)
def test_values_near_the_ends_of_floats_and_beside_the_middle_of_large_parameters(library: str, name: str) -> None:
    operands = [ad.asarray(np.array(x), backend=library) for x in zip(*FAR[name])]
    with ad.fallback("error"):
        made = np.asarray(UFUNCS[name](*operands))
    np.testing.assert_allclose(made, [*FAR[name].values()], rtol=1e-13)


def test_there_are_many() -> None:
    assert len(arguments.FORMULAS) > 45
    for backend in LIBRARIES:
        assert len(arguments.on_devices(loader.load(backend))) >= 60


def test_values_on_numpy_are_scipys_own() -> None:
    x = ad.wrap(np.linspace(-3, 3, 7))
    made = scipy.special.erf(x)
    assert isinstance(made, ad.Array)
    np.testing.assert_array_equal(made, scipy.special.erf(np.linspace(-3, 3, 7)))


# -- NumPy's rules -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"])
def test_result_dtypes_are_those_of_scipys_loops(library: str, dtype: str) -> None:
    x = np.array([0, 1, 1], dtype)
    for ufunc in (scipy.special.erf, scipy.special.gamma, scipy.special.expit):
        made = ufunc(ad.asarray(x, backend=library))
        assert made.dtype == ufunc(x).dtype
        np.testing.assert_allclose(np.asarray(made), ufunc(x), rtol=1e-6)


def test_python_scalars_are_weak(library: str) -> None:
    host = np.array([0.5, 2.0], np.float32)
    x = ad.asarray(host, backend=library)
    assert scipy.special.kl_div(x, 2.0).dtype == scipy.special.kl_div(host, 2.0).dtype == np.float32
    # as SciPy has it, whose first loop for these is the one for doubles
    assert scipy.special.xlogy(x, 2.0).dtype == scipy.special.xlogy(host, 2.0).dtype
    assert scipy.special.gammainc(1, x).dtype == scipy.special.gammainc(1, host).dtype
    assert scipy.special.gammainc(np.float64(1.5), x).dtype == np.float64


def test_a_scalar_result_is_a_scalar(library: str) -> None:
    made = scipy.special.gamma(ad.asarray(5.0, backend=library))
    assert made == 24.0
    assert isinstance(made, np.float64)


def test_out_and_where(library: str) -> None:
    host = np.linspace(0.5, 3.0, 6)
    x = ad.asarray(host, backend=library)
    out = ad.asarray(np.full(6, 9.0), backend=library)
    assert scipy.special.gammaln(x, out=out) is out
    np.testing.assert_allclose(np.asarray(out), scipy.special.gammaln(host), rtol=1e-14, atol=1e-15)
    mask = host > 1.5
    kept = ad.asarray(np.full(6, 9.0), backend=library)
    scipy.special.k0(x, out=kept, where=ad.asarray(mask, backend=library))
    np.testing.assert_allclose(np.asarray(kept), np.where(mask, scipy.special.k0(host), 9.0), rtol=1e-14)


def test_several_outputs(library: str) -> None:
    host = np.linspace(-5, 5, 11)
    with ad.fallback("silent"):  # of those with several outputs a library has none
        sine, cosine = scipy.special.fresnel(ad.asarray(host, backend=library))
    for got, want in zip((sine, cosine), scipy.special.fresnel(host), strict=True):
        assert got.backend.name == library
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-13, atol=1e-15)


def test_operands_broadcast(library: str) -> None:
    a, x = np.array([[0.5], [2.0], [40.0]]), np.array([0.1, 1.0, 3.0, 50.0])
    made = scipy.special.gammainc(ad.asarray(a, backend=library), ad.asarray(x, backend=library))
    np.testing.assert_allclose(np.asarray(made), scipy.special.gammainc(a, x), rtol=1e-13)
    with pytest.raises(ValueError, match="broadcast"):
        scipy.special.gammainc(ad.asarray(np.ones(3), backend=library), ad.asarray(np.ones(2), backend=library))


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3), (), (1, 1)])
def test_odd_shapes(library: str, shape: tuple[int, ...]) -> None:
    x = np.full(shape, 1.5)
    for ufunc in (scipy.special.j0, scipy.special.gamma, scipy.special.erfc, scipy.special.k1):
        made = ufunc(ad.asarray(x, backend=library))
        assert np.shape(made) == shape
        np.testing.assert_allclose(np.asarray(made), ufunc(x), rtol=1e-14)


def test_methods_of_ufuncs(library: str) -> None:
    a, b = np.array([1.0, 2.0]), np.array([0.5, 4.0, 0.0])
    x = ad.asarray(a, backend=library)
    np.testing.assert_allclose(np.asarray(scipy.special.xlogy.outer(x, b)), scipy.special.xlogy.outer(a, b), rtol=1e-15)
    target = ad.asarray(np.array([1.0, 2.0, 3.0]), backend=library)
    scipy.special.gamma.at(target, [0, 2])
    np.testing.assert_allclose(np.asarray(target), [1.0, 2.0, 2.0], rtol=1e-15)


def test_precision(library: str) -> None:
    with ad.precision(32):
        made = scipy.special.gamma(ad.asarray(np.array([2.5, 5.0]), backend=library))
        assert made.dtype == np.float32
    with ad.precision(16):
        made = scipy.special.erf(ad.asarray(np.array([0.5, 1.0]), backend=library))
        assert made.dtype == np.float16
    np.testing.assert_allclose(np.asarray(made), scipy.special.erf([0.5, 1.0]), rtol=1e-3)


def test_bad_input_is_scipys_error(library: str) -> None:
    x = ad.asarray(np.ones(2), backend=library)
    with pytest.raises(TypeError):
        scipy.special.gamma(x, x, x)
    with pytest.raises(TypeError):
        scipy.special.gamma(x, dtype=np.int64)
    with pytest.raises(TypeError):
        scipy.special.gamma(x, colour="red")


# -- the host, names and reasons -----------------------------------------------------------------------------------------------


def test_every_ufunc_of_scipys_has_one_class_and_a_reason(library: str) -> None:
    backend = loader.load(library)
    mine = arguments.on_devices(backend)
    for name, ufunc in UFUNCS.items():
        kind, reason = describe(ufunc, backend)
        assert kind == ("host" if name not in mine else "native" if name in backend.special else "composed"), name
        assert bool(reason) == (kind == "host"), name


def test_what_no_library_has_runs_on_the_host_and_says_so_by_its_own_name(library: str) -> None:
    host = np.array([0.5, 1.5])
    x = ad.asarray(host, backend=library)
    with pytest.warns(
        ad.HostFallbackWarning, match=r"^scipy\.special\.jv runs on the host, not on \w+: no library has it"
    ):
        made = scipy.special.jv(1.5, x)
    assert made.backend.name == library
    np.testing.assert_array_equal(np.asarray(made), scipy.special.jv(1.5, host))
    with ad.fallback("error"), pytest.raises(ad.HostFallbackError, match=r"scipy\.special\.hyp2f1"):
        scipy.special.hyp2f1(0.5, 1.5, 2.5, x)


def test_complex_numbers_are_scipys(library: str) -> None:
    host = np.array([0.5 + 1j, -1.0])
    with pytest.warns(ad.HostFallbackWarning, match=r"scipy\.special\.gamma .*of complex numbers"):
        made = scipy.special.gamma(ad.asarray(host, backend=library))
    assert made.backend.name == library
    np.testing.assert_array_equal(np.asarray(made), scipy.special.gamma(host))


OBJECTS: dict[str, tuple[Any, ...]] = {
    "legendre_p": (5,),
    "sph_legendre_p": (5, 2),
    "sph_harm_y": (5, 2, 0.3),
    "assoc_legendre_p": (4, 2),
    "sph_harm_y_all": (3, 2, 0.3),
}
WRONG: dict[str, dict[str, Any]] = {
    "legendre_p": {"diff_n": 3},
    "sph_harm_y": {"diff_n": -1},
    "sph_legendre_p": {"foo": 3},
}


@pytest.mark.parametrize("name", list(OBJECTS))
def test_objects_that_choose_a_ufunc_are_scipys(library: str, name: str) -> None:
    run, host = getattr(scipy.special, name), np.linspace(-0.9, 0.9, 7)
    x = ad.asarray(host, backend=library)
    want = run(*OBJECTS[name], host)
    with ad.profile() as profile, pytest.warns(ad.HostFallbackWarning, match=rf"scipy\.special\.{name}"):
        made = run(*OBJECTS[name], x)
    for got, wanted in zip(made, want, strict=True) if isinstance(want, tuple) else [(made, want)]:
        assert got.backend.name == library and got.dtype == wanted.dtype
        np.testing.assert_array_equal(ad.to_numpy(got), wanted)
    assert {call.function for call in profile.calls()} == {f"scipy.special.{name}"}


@pytest.mark.parametrize("name", list(WRONG))
def test_errors_of_these_objects_are_scipys(library: str, name: str) -> None:
    run, host = getattr(scipy.special, name), np.linspace(-0.9, 0.9, 7)
    with pytest.raises(Exception) as wanted:
        run(*OBJECTS[name], host, **WRONG[name])
    with ad.fallback("silent"), pytest.raises(type(wanted.value)) as found:
        run(*OBJECTS[name], ad.asarray(host, backend=library), **WRONG[name])
    assert str(found.value) == str(wanted.value)


def test_reports_name_them_as_scipy_does(library: str) -> None:
    x = ad.asarray(np.array([0.5, 1.5]), backend=library)
    with ad.profile() as profile:
        scipy.special.erf(x)
        np.exp(x)
    assert {call.function for call in profile.calls()} >= {"scipy.special.erf", "np.exp"}


def test_arrays_alone_import_nothing_of_scipys() -> None:
    code = (
        "import sys, numpy as np, arraydispatch as ad\n"
        "x = ad.wrap(np.ones(3))\nnp.exp(x + x)\nassert not any(m.startswith('scipy') for m in sys.modules)\n"
        "import scipy.special\nassert isinstance(scipy.special.erf(x), ad.Array)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


# -- under a trace ---------------------------------------------------------------------------------------------------------------

_TRACED = ("gammainc", "betainc", "gamma", "gammaln", "j1", "erfcx", "log_ndtr", "k1", "boxcox")


def _operands(name: str) -> list[np.ndarray[Any, Any]]:
    whole = [np.array([0.4, 2.0, 7.0, 30.0]), np.array([0.3, 5.0, 0.5, 25.0]), np.array([0.2, 0.5, 0.9, 0.4])]
    return whole[: UFUNCS[name].nin]


@pytest.mark.compiles(3)
@pytest.mark.parametrize("name", _TRACED)
@pytest.mark.parametrize("by", ["jax"])
def test_under_jax_jit(by: str, name: str) -> None:
    jax = pytest.importorskip("jax")
    operands = _operands(name)
    with jax.enable_x64(True), ad.fallback("error"):
        run = jax.jit(lambda *xs: UFUNCS[name](*(ad.wrap(x) for x in xs)).native)
        got = run(*operands)
    np.testing.assert_allclose(got, UFUNCS[name](*operands), rtol=1e-11)


@pytest.mark.parametrize("name", _TRACED)
def test_under_torch_vmap(name: str) -> None:
    torch = pytest.importorskip("torch")
    operands = [torch.from_numpy(x) for x in _operands(name)]
    with ad.fallback("error"):
        got = torch.func.vmap(lambda *xs: UFUNCS[name](*(ad.wrap(x) for x in xs)).native)(*operands)
    np.testing.assert_allclose(got, UFUNCS[name](*_operands(name)), rtol=1e-11)


@pytest.mark.traces(3)
@pytest.mark.parametrize("name", _TRACED)
@pytest.mark.parametrize("by", ["tensorflow"])
def test_under_tf_function(by: str, name: str) -> None:
    tf = pytest.importorskip("tensorflow")
    operands = _operands(name)
    with ad.fallback("error"):
        run = tf.function(lambda *xs: UFUNCS[name](*(ad.wrap(x) for x in xs)).native)
        got = run(*(tf.constant(x) for x in operands))
    np.testing.assert_allclose(got, UFUNCS[name](*operands), rtol=1e-11)


@pytest.mark.parametrize("name", ["gamma", "gammaln", "j0", "erfcx", "log_ndtr", "j1", "rel_entr", "exprel"])
def test_gradients_on_torch_are_finite_and_right(name: str) -> None:
    torch = pytest.importorskip("torch")
    host = np.array([0.3, 1.0, 2.0, 7.5, 20.0])
    more = [np.array([0.7, 1.5, 0.2, 3.0, 1.0])] * (UFUNCS[name].nin - 1)
    x = torch.tensor(host, requires_grad=True)
    UFUNCS[name](ad.wrap(x), *more).native.sum().backward()
    step = 1e-6
    slope = (UFUNCS[name](host + step, *more) - UFUNCS[name](host - step, *more)) / (2 * step)
    np.testing.assert_allclose(x.grad, slope, rtol=2e-4, atol=1e-7)


def test_first_use_in_many_threads() -> None:
    code = (
        "import threading, numpy as np, arraydispatch as ad, scipy.special as s\n"
        "x = ad.asarray(np.ones(3), backend='torch')\nfound = []\n"
        "run = lambda: found.append([float(f(x)[0]) for f in (s.gamma, s.j0, s.betainc.__class__ and s.erf)])\n"
        "threads = [threading.Thread(target=run) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\nassert len(found) == 8, found\n"
    )
    if "torch" in LIBRARIES:
        subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=ROOT)


# -- the page --------------------------------------------------------------------------------------------------------------------


def test_the_page_is_made_from_the_figures() -> None:
    if len(LIBRARIES) < len(accuracy.BACKENDS):
        pytest.skip("not all libraries are installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert accuracy.PAGE.read_text(encoding="utf-8") == accuracy.page()
