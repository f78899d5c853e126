"""The namespaces themselves: names, signatures, 0-d arrays, promotion, dtypes, devices, creation, DLPack."""

from __future__ import annotations

import importlib
import inspect
import math
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

from ..rows import each

SIGNATURES = [
    line
    for line in (Path(__file__).parent / "signatures.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()


@pytest.fixture
def xp(backend: str) -> Any:
    return ad.namespace(backend)


def host(x: Any) -> np.ndarray:
    assert isinstance(x, ad.Array), f"{type(x).__name__} is no Array"
    return x.to_numpy()


# -- the module --------------------------------------------------------------------------------------------------------


def test_one_module_like_object(xp: Any, backend: str) -> None:
    assert xp is ad.namespace(backend) is ad.namespace(ad.backend(backend))
    assert xp is importlib.import_module(f"arraydispatch.array_api.{backend}")
    assert xp.__name__ == f"arraydispatch.array_api.{backend}"
    assert xp.__array_api_version__ == "2025.12"
    assert {xp: 1}[xp] == 1
    assert pickle.loads(pickle.dumps(xp)) is xp
    assert importlib.import_module(f"{xp.__name__}.linalg") is xp.linalg


def test_import_statement(backend: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"from arraydispatch.array_api import {backend} as xp", scope)
    assert scope["xp"] is ad.namespace(backend)


def test_of_an_array(xp: Any, backend: str) -> None:
    x = ad.asarray([1.0], backend=backend)
    assert x.__array_namespace__() is xp
    for version in ("2021.12", "2024.12", "2025.12"):
        assert x.__array_namespace__(api_version=version) is xp
    with pytest.raises(ValueError, match="2020"):
        x.__array_namespace__(api_version="2020.01")


def test_default_backend() -> None:
    with ad.backend("numpy"):
        assert ad.namespace() is ad.namespace("numpy")
    with pytest.raises(ad.NoBackendFoundError):
        ad.namespace("nowhere")


def test_importing_the_package_loads_no_namespace() -> None:
    code = "import sys, arraydispatch; print([m for m in sys.modules if 'array_api' in m or m in ('torch', 'jax')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@each("line", SIGNATURES)
def test_signature(line: str) -> None:
    xp = ad.namespace("numpy")
    name, parameters = line.split("(", 1)
    scope: dict[str, Any] = {}
    exec(f"def stub({parameters}: pass", scope)
    wanted = inspect.signature(scope["stub"]).parameters.values()
    module, _, name = name.rpartition(".")
    function = getattr(getattr(xp, module) if module else xp, name)
    assert function.__name__ == name and function.__doc__
    found = inspect.signature(function).parameters
    names = list(found)
    for at, parameter in enumerate(wanted):
        if parameter.kind is parameter.POSITIONAL_ONLY:
            kind = list(found.values())[min(at, len(names) - 1)].kind
            assert kind in (kind.POSITIONAL_ONLY, kind.POSITIONAL_OR_KEYWORD, kind.VAR_POSITIONAL)
        elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            assert names[at] == parameter.name and found[parameter.name].kind is parameter.kind
        elif parameter.kind is parameter.KEYWORD_ONLY:
            assert found[parameter.name].kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        else:
            assert found[parameter.name].kind is parameter.kind
        if parameter.default is not parameter.empty:
            assert found[parameter.name].default == parameter.default


def test_same_names_everywhere(xp: Any) -> None:
    for line in SIGNATURES:
        found: Any = xp
        for part in line.split("(")[0].split("."):
            found = getattr(found, part)
        assert callable(found)
    assert (xp.pi, xp.e, xp.inf, xp.newaxis) == (math.pi, math.e, math.inf, None) and math.isnan(xp.nan)


def test_the_rest_of_numpy(xp: Any) -> None:
    made = xp.pad(xp.asarray([1.0, 2.0]), 1)
    assert host(made).tolist() == [0, 1, 2, 0] and host(xp.median(made)) == 0.5 and xp.median(made).shape == ()
    assert host(xp.linalg.norm(xp.asarray([3.0, 4.0]))) == 5
    for missing in ("ndarray", "loadtxt", "no_such_thing", "_core"):
        assert not hasattr(xp, missing)


# -- 0-d arrays --------------------------------------------------------------------------------------------------------


ZERO_D = [
    "xp.sum(x)", "xp.max(x)", "xp.argmax(x)", "xp.count_nonzero(x)", "xp.all(x > 0)", "x[0]", "x[0] + 1", "x[0] + x[1]",
    "-x[0]", "x[0] == 1", "abs(x[0])", "xp.mean(x) / 2", "2 / xp.mean(x)", "xp.sqrt(xp.var(x))", "xp.asarray(1.5) * 2",
    "xp.asarray(2) // 2", "x @ x", "xp.linalg.vector_norm(x)", "xp.where(x[0] > 0, x[1], x[2])", "xp.astype(x[0], xp.int32)",
    "xp.reshape(x[:1], ())", "xp.squeeze(x[:1], 0)", "next(iter(x))", "xp.unstack(x)[1]", "x[xp.asarray(1)]", "x[0].T",
    "xp.take(x, xp.asarray(1))", "xp.asarray(1j * 2).real", "xp.searchsorted(x, x[1])", "xp.astype(x, xp.int64)[0] << 2",
    "x.sum()", "np.sum(x)", "np.add.reduce(x)", "np.median(x)", "divmod(x[0], 2)[1]", "xp.sqrt(np.float64(4))", "xp.sqrt(4.0)",
]  # fmt: skip


@each("expression", ZERO_D)
def test_zero_dimensional_results_are_arrays(xp: Any, expression: str) -> None:
    scope = {"xp": xp, "np": np, "x": xp.asarray([1.0, 2.0, 3.0])}
    made = eval(expression, scope)
    assert isinstance(made, ad.Array) and made.shape == ()
    reference = eval(
        expression, {"xp": ad.namespace("numpy"), "np": np, "x": ad.namespace("numpy").asarray([1.0, 2, 3])}
    )
    assert host(made) == host(reference) and made.dtype == reference.dtype
    made[...] = 0  # and arrays can be written
    assert not made


def test_other_arrays_give_numpys_scalars(backend: str) -> None:
    x = ad.asarray([1.0, 2.0], backend=backend)
    assert type(x[0]) is type(np.sum(x)) is type(x[0] + x[1]) is np.float64
    y = x.__array_namespace__().asarray(x)  # the same memory, with the standard's 0-d arrays
    assert isinstance(y[0], ad.Array)
    y[0] = 7
    assert x[0] == 7 and type(x[0]) is np.float64


# -- dtypes and promotion ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("left", DTYPES)
def test_strict_promotion(left: str) -> None:
    xp = ad.namespace("numpy")
    group = {"b": "b", "i": "i", "u": "i", "f": "f", "c": "f"}
    for right in DTYPES:
        a, b = np.dtype(left), np.dtype(right)
        wanted = np.result_type(a, b)
        fits = group[a.kind] == group[b.kind] and not (wanted.kind == "f" and group[a.kind] == "i")
        if fits:
            assert xp.result_type(a, b) == wanted
            assert xp.result_type(xp.ones(2, dtype=a), b) == wanted
        else:
            for call in (xp.result_type, lambda s, t: xp.equal(xp.ones(2, dtype=s), xp.ones(2, dtype=t))):
                with pytest.raises(TypeError, match="do not promote"):
                    call(a, b)
    assert xp.can_cast(left, left)


@pytest.mark.parametrize(
    ("dtype", "scalar", "result"),
    [
        ("float32", 1, "float32"), ("float32", 1.0, "float32"), ("float32", 1j, "complex64"), ("int8", 1, "int8"),
        ("int8", 1.0, None), ("int8", True, None), ("bool", True, "bool"), ("bool", 1, None), ("complex64", 1.5, "complex64"),
        ("uint64", 1, "uint64"), ("int64", 1j, None),
    ],
)  # fmt: skip
def test_python_scalars(xp: Any, dtype: str, scalar: Any, result: str | None) -> None:
    x = xp.ones(2, dtype=dtype)
    if result is None:
        with pytest.raises(TypeError, match="do not promote"):
            xp.equal(x, scalar)
    else:
        assert xp.result_type(x, scalar) == result == xp.where(xp.ones(2, dtype=xp.bool), x, scalar).dtype
        assert host(xp.equal(x, scalar)).dtype == bool


def test_what_is_no_dtype_or_kind() -> None:
    xp = ad.namespace("numpy")
    with pytest.raises(ValueError, match="at least one"):
        xp.result_type()
    with pytest.raises(ValueError, match="at least one"):
        xp.result_type(1, 2.0)
    with pytest.raises(ValueError, match="'wooden'"):
        xp.isdtype(xp.int8, "wooden")


def test_isdtype() -> None:
    xp = ad.namespace("numpy")
    kinds = {
        "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
        "complex floating": "c", "numeric": "iufc",
    }  # fmt: skip
    for name in DTYPES:
        dtype = getattr(xp, name)
        for kind, letters in kinds.items():
            assert xp.isdtype(dtype, kind) is (np.dtype(name).kind in letters)
            assert xp.isdtype(np.dtype(name), (kind, "bool")) is (np.dtype(name).kind in letters + "b")
        assert xp.isdtype(dtype, dtype) and not xp.isdtype(dtype, xp.int8 if name != "int8" else xp.int16)


@pytest.mark.parametrize("name", ["float32", "float64", "complex64", "complex128"])
def test_finfo(xp: Any, name: str) -> None:
    wanted = np.finfo(name)
    for x in (getattr(xp, name), np.dtype(name), xp.ones(1, dtype=name)):
        found = xp.finfo(x)
        for field in ("eps", "max", "min", "smallest_normal"):
            assert type(getattr(found, field)) is float and getattr(found, field) == float(getattr(wanted, field))
        assert found.bits == wanted.bits and found.dtype == wanted.dtype
    info = xp.iinfo(xp.uint8)
    assert (info.bits, info.min, info.max, info.dtype) == (8, 0, 255, xp.uint8)


# -- creation and devices ------------------------------------------------------------------------------------------------

CREATED = [
    "xp.zeros(3)", "xp.ones((2, 3), dtype=xp.uint16)", "xp.full(2, 3)", "xp.full((), True)", "xp.full(2, 2**63 + 1, dtype=xp.uint64)",
    "xp.full(2, 1.5)", "xp.full(1, 2j)", "xp.arange(5)", "xp.arange(1., 3., 0.5)", "xp.arange(5, 0, -2, dtype=xp.int8)",
    "xp.linspace(0, 1, 5)", "xp.linspace(0, 1, 5, endpoint=False, dtype=xp.float32)", "xp.linspace(0, 1j, 3)", "xp.eye(3)",
    "xp.eye(2, 3, k=1, dtype=xp.int32)", "xp.asarray([[1, 2], [3, 4]])", "xp.asarray([2**63 + 1, 1], dtype=xp.uint64)",
    "xp.asarray([True])", "xp.asarray(1j)", "xp.asarray([])", "xp.zeros((0, 2))", "xp.asarray([xp.asarray(1), xp.asarray(2)])",
    "xp.asarray(np.arange(3, dtype=np.uint8))", "xp.zeros_like(xp.ones((2, 1), dtype=xp.int8))", "xp.full_like(xp.ones(2), 7)",
    "xp.ones_like(xp.zeros(2), dtype=xp.bool)", "xp.empty_like(xp.ones((1, 2)))", "xp.empty((0,))",
    "xp.meshgrid(xp.arange(2), xp.arange(3), indexing='ij')[1]", "xp.fft.fftfreq(5, d=2.0)", "xp.fft.rfftfreq(4, dtype=xp.float32)",
    "xp.tril(xp.ones((3, 3)), k=1)", "xp.astype(xp.asarray([1.7, -1.7]), xp.int16)", "xp.asarray(xp.arange(3), dtype=xp.float64)",
]  # fmt: skip


@each("expression", CREATED)
def test_creation(xp: Any, backend: str, expression: str) -> None:
    made = eval(expression, {"xp": xp, "np": np})
    wanted = eval(expression, {"xp": np, "np": np}) if "fftfreq" not in expression else None
    assert made.backend.name == backend and made.device == xp.__array_namespace_info__().default_device()
    if wanted is not None:
        assert made.shape == wanted.shape and made.dtype == wanted.dtype
        if "empty" not in expression:
            np.testing.assert_array_equal(host(made), wanted)
    sibling = re.sub(r"\)$", ", device=made.device)", expression)
    if expression.startswith(("xp.zeros(", "xp.full(", "xp.arange", "xp.eye", "xp.linspace", "xp.fft.")):
        again = eval(sibling, {"xp": xp, "made": made})
        assert again.device == made.device and again.dtype == made.dtype
        np.testing.assert_array_equal(host(again), host(made))


def test_refused_creation(xp: Any) -> None:
    with pytest.raises(OverflowError):
        xp.asarray([300], dtype=xp.uint8)
    with pytest.raises(ValueError, match="negative"):
        xp.zeros((-1,))
    with pytest.raises(ad.DeviceNotFoundError):
        xp.zeros(2, device="tpu:7")
    with pytest.raises(TypeError, match="real part"):
        xp.astype(xp.asarray([1j]), xp.float64)
    with pytest.raises(TypeError):
        xp.zeros(2, xp.float32)
    with pytest.raises(ValueError, match="copy"):
        xp.asarray([1.0], copy=False)


def test_copies(xp: Any) -> None:
    x = xp.asarray([1.0, 2.0])
    assert xp.asarray(x) is x is xp.asarray(x, copy=False)
    y = xp.asarray(x, copy=True)
    y[0] = 5
    assert x[0] == 1
    assert xp.astype(x, xp.float64, copy=False) is x
    with pytest.raises(ValueError, match="copy"):
        xp.asarray(x, dtype=xp.float32, copy=False)


def test_devices(xp: Any, backend: str) -> None:
    info = xp.__array_namespace_info__()
    devices = info.devices()
    assert type(devices) is tuple and info.default_device() in devices
    x = xp.ones(3)
    assert x.device in devices and x.to_device(x.device).device == x.device
    assert isinstance(x.to_device(x.device)[0], ad.Array)
    assert xp.astype(x, xp.float32, device=x.device).dtype == xp.float32
    capabilities = info.capabilities()
    assert capabilities == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert info.default_dtypes() == {
        "real floating": xp.float64, "complex floating": xp.complex128, "integral": xp.int64, "indexing": xp.int64,
    }  # fmt: skip
    assert list(info.dtypes()) == DTYPES
    assert list(info.dtypes(kind=("bool", "real floating"))) == ["bool", "float32", "float64"]
    with ad.precision(32):
        assert info.default_dtypes()["real floating"] == xp.float32 == xp.zeros(1).dtype


# -- DLPack --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float64", "complex64"])
@pytest.mark.parametrize("shape", [(2, 3), (0,), ()])
def test_dlpack(xp: Any, dtype: str, shape: tuple[int, ...]) -> None:
    x = xp.ones(shape, dtype=dtype)
    kind, number = x.__dlpack_device__()
    assert int(kind) in (1, 2) and isinstance(number, int)
    for options in (
        {},
        {"max_version": (1, 0)},
        {"max_version": (0, 0)},
        {"copy": True},
        {"copy": False},
        {"dl_device": (1, 0)},
    ):
        if int(kind) == 1:
            assert "dltensor" in repr(x.__dlpack__(**options))
    for copy in (None, True, False):
        y = xp.from_dlpack(x, copy=copy, device=x.device)
        assert y.device == x.device and y.dtype == x.dtype
        np.testing.assert_array_equal(host(y), host(x))
        if copy and shape == (2, 3):
            y[0, 0] = 0
            assert x[0, 0] == 1


def test_from_dlpack_of_others(xp: Any) -> None:
    source = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(host(xp.from_dlpack(source)), source)
    np.testing.assert_array_equal(host(xp.from_dlpack(ad.namespace("numpy").asarray(source))), source)
    made = xp.from_dlpack(source, copy=True)
    made[0, 0] = 9
    assert source[0, 0] == 0


def test_dlpack_of_a_reversed_array_is_a_copy(backend: str) -> None:
    xp = ad.namespace(backend)
    if backend != "numpy":
        with pytest.raises(BufferError):
            xp.from_dlpack(np.arange(4)[::-1], copy=False)
    assert np.asarray(xp.from_dlpack(np.arange(4)[::-1])).tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies_are_real(backend: str, name: str) -> None:
    xp = ad.namespace(backend)
    with pytest.raises(ValueError, match="real floating-point"):
        getattr(xp.fft, name)(3, dtype=xp.int32)
    assert getattr(xp.fft, name)(3, dtype=xp.float32).dtype == xp.float32


def test_dlpack_of_another_device(xp: Any) -> None:
    for copy in (None, False, True):
        with pytest.raises(BufferError, match="to_device"):
            xp.ones(3).__dlpack__(dl_device=(2, 0), copy=copy)
    assert xp.ones(3).__dlpack__(dl_device=(1, 0)) is not None


# -- what the standard leaves out and NumPy has --------------------------------------------------------------------------


def test_casts_are_promotions(xp: Any) -> None:
    for source, target, possible in [
        ("int8", "int16", True), ("uint8", "int16", True), ("float32", "complex64", True), ("float32", "float64", True),
        ("int64", "float64", False), ("bool", "int8", False), ("float64", "float32", False), ("uint64", "int64", False),
    ]:  # fmt: skip
        assert xp.can_cast(getattr(xp, source), getattr(xp, target)) is possible, (source, target)
        assert xp.can_cast(xp.ones(2, dtype=getattr(xp, source)), getattr(xp, target)) is possible, (source, target)


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("xp.tril(xp.asarray(1.0))", ValueError),
        ("xp.triu(xp.ones(3))", ValueError),
        ("xp.linalg.matrix_rank(xp.ones(3))", np.linalg.LinAlgError),
        ("xp.argsort(xp.ones((2, 2)), axis=5, descending=True)", np.exceptions.AxisError),
        ("xp.argsort(xp.asarray(1.0), descending=True)", np.exceptions.AxisError),
    ],
)
def test_shapes_that_are_refused(xp: Any, expression: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        eval(expression, {"xp": xp})


# -- two namespaces ------------------------------------------------------------------------------------------------------


def test_numpy_arrays_meet_others(xp: Any, backend: str) -> None:
    """The rule of every call: with NumPy-held arrays the other library wins; a key or an assigned value moves nothing."""
    n, k, v = ad.namespace("numpy").arange(5.0), xp.asarray([1, 2]), xp.ones(2)
    assert (n[:2] + v).backend.name == backend == xp.add(n[:2], v).backend.name
    assert n[k].backend.name == "numpy" and host(n[k]).tolist() == [1.0, 2.0]
    assert host(n[xp.asarray([True, False, True, False, False])]).tolist() == [0.0, 2.0]
    n[k] = 9.0
    n[3:] = v
    n[xp.asarray(0)] = xp.asarray(7.0)
    assert host(n).tolist() == [7.0, 9.0, 9.0, 1.0, 1.0]


def test_what_is_kept_of_a_namespace(xp: Any, backend: str) -> None:
    import pickle

    x = pickle.loads(pickle.dumps(xp.ones((2, 3))))
    assert x.backend.name == backend and isinstance(x[0, 0], ad.Array)
    host = np.arange(3.0)
    host.flags.writeable = False
    if backend != "numpy":
        y = xp.from_dlpack(host)
        y[0] = 5.0
        with pytest.raises(BufferError):
            xp.from_dlpack(host, copy=False)
    assert host.tolist() == [0.0, 1.0, 2.0]
    assert xp.can_cast(xp.ones(3, dtype=xp.float32).native, xp.float64)


def test_lists_and_numpy_arrays_become_arrays_of_the_namespace(xp: Any, backend: str) -> None:
    n = ad.namespace("numpy").arange(3.0)
    for made in (xp.argsort([3, 1]), xp.tril([[1, 2], [3, 4]]), *xp.broadcast_arrays(n, xp.ones((2, 3)))):
        assert isinstance(made, ad.Array) and made.backend.name == backend
    with pytest.raises(BufferError, match="stream"):
        xp.ones(3).__dlpack__(stream=1)
