"""The public functions, in the steps of ΦML's notebooks and FunFact's backend object (FEATURES B1-B4, B7-B11)."""

from __future__ import annotations

import array
import importlib
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.backends.base import Unsupported
from arraydispatch.common import errors
from arraydispatch.common.pytrees import tree_leaves
from arraydispatch.runtime import settings

MODULES = {"numpy": "numpy", "jax": "jax", "torch": "torch", "tensorflow": "tensorflow"}


@pytest.fixture(autouse=True)
def _defaults() -> Iterator[None]:
    """Each test starts from, and leaves, the process defaults."""
    with settings.kept():
        yield


def native(backend: str, values: Any) -> Any:
    """A native array of a backend."""
    with ad.backend(backend):
        return ad.asarray(values).native


def two_ml() -> tuple[str, str]:
    """Two installed ML libraries."""
    found = [b for b in ad.available_backends() if b != "numpy"]
    if len(found) < 2:
        pytest.skip("two ML libraries are needed")
    return found[0], found[1]


# -- B1: choosing ------------------------------------------------------------------------------------------------------


def test_use_sets_the_default(backend: str) -> None:
    assert str(ad.use(backend)) == backend
    assert ad.default_backend().name == backend
    assert ad.asarray([1.0, 2.0]).backend.name == backend


def test_backend_is_a_context_and_nests(backend: str) -> None:
    before = ad.default_backend().name
    assert ad.context_backend() is None
    with ad.backend(backend) as b:
        assert ad.context_backend() is b
        with ad.backend("numpy"):
            assert ad.default_backend().name == "numpy"
        assert ad.asarray(1.0).backend is b
    assert ad.default_backend().name == before


def test_use_without_a_name_keeps_the_backend(backend: str) -> None:
    ad.use(backend)
    assert ad.use(precision=32).name == backend
    assert ad.get_precision() == 32


def test_a_context_is_not_seen_in_another_thread_but_the_default_is(backend: str) -> None:
    ad.use(backend)
    seen: list[str] = []
    with ad.backend("numpy"), ad.precision(16 if backend != "numpy" else 32):
        thread = threading.Thread(target=lambda: seen.append(f"{ad.default_backend()} {ad.get_precision()}"))
        thread.start()
        thread.join()
    assert seen == [f"{backend} None"]


# -- B2: the data decides ----------------------------------------------------------------------------------------------


def test_the_default_never_moves_existing_arrays(backend: str) -> None:
    with ad.backend(backend):
        x = ad.asarray([1.0, 2.0])
    ad.use("numpy")
    assert np.sin(x).backend.name == backend
    assert (x + 1).backend.name == backend


def test_wrap_keeps_the_data_where_it_is(backend: str) -> None:
    value = native(backend, [1.0, 2.0])
    assert ad.wrap(value).native is value
    assert ad.wrap(value).backend.name == backend
    assert ad.wrap([1, 2]).backend.name == "numpy"
    assert ad.wrap(np.ones(3)).backend.name == "numpy"


def test_wrapping_an_ndarray_shares_its_memory() -> None:
    host = np.zeros(3)
    ad.wrap(host)[0] = 5
    assert host[0] == 5


# -- B3: mixing --------------------------------------------------------------------------------------------------------


def test_numpy_and_a_library_give_the_library(backend: str) -> None:
    with ad.backend(backend):
        x = ad.asarray([1.0, 2.0])
    for other in (np.array([10.0, 20.0]), ad.wrap(np.array([10.0, 20.0]))):
        for mixed in (x + other, other + x, np.add(other, x), np.concatenate([other, x])[2:] + other):
            assert mixed.backend.name == backend
    np.testing.assert_array_equal(ad.to_numpy(np.array([10.0, 20.0]) + x), [11.0, 22.0])


def test_two_libraries_are_refused_and_the_message_says_convert() -> None:
    a, b = two_ml()
    x, y = ad.wrap(native(a, [1.0])), ad.wrap(native(b, [1.0]))
    for mix in (lambda: x + y, lambda: np.add(x, y), lambda: np.concatenate([x, y]), lambda: x.__setitem__(0, y[0:1])):
        with pytest.raises(ad.BackendMismatchError, match="convert") as caught:
            mix()
        assert a in str(caught.value)
        assert b in str(caught.value)
    assert isinstance(caught.value, TypeError)
    assert float(x[0]) == 1.0


# -- B4: convert -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dlpack", [True, False])
@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.int64, np.int8, np.uint8, bool, np.complex128, np.float16]
)
def test_convert_between_all(backend: str, dtype: Any, dlpack: bool) -> None:
    values = np.arange(6).reshape(2, 3).astype(dtype)
    for source in ad.available_backends():
        x = ad.wrap(native(source, values))
        y = ad.convert(x, backend, dlpack=dlpack)
        assert isinstance(y, ad.Array)
        assert y.backend.name == backend
        assert y.dtype == dtype
        np.testing.assert_array_equal(ad.to_numpy(y), values)


def test_convert_takes_names_modules_backends_and_none(backend: str) -> None:
    x = ad.wrap(np.ones(2))
    module = importlib.import_module(MODULES[backend])
    for target in (backend, module, ad.backend(backend)):
        assert ad.convert(x, target).backend.name == backend
    ad.use(backend)
    assert ad.convert(x).backend.name == backend
    assert ad.convert(native(backend, [1.0]), "numpy").backend.name == "numpy"


def test_a_fresh_copy_is_made_without_dlpack() -> None:
    host = np.zeros(3)
    for name in ad.available_backends():
        moved = ad.convert(ad.wrap(host), name, dlpack=False)
        if name != "numpy":
            host[0] += 1
            assert float(moved[0]) == float(host[0]) - 1


# -- B7: the active backend --------------------------------------------------------------------------------------------


def test_active_backend_follows_use(backend: str) -> None:
    from arraydispatch import active_backend as ab

    ad.use("numpy")
    assert type(ab.eye(2)) is np.ndarray
    ad.use(backend)
    made = ab.eye(2)
    assert ad.backend(backend).is_native(made)
    assert not isinstance(made, ad.Array)
    np.testing.assert_array_equal(ab.to_numpy(made), np.eye(2))
    held = ab.tensor([[1.0, 2.0]])
    assert ad.backend(backend).is_native(held)
    np.testing.assert_array_equal(ab.to_numpy(held), [[1.0, 2.0]])
    with pytest.raises(AttributeError, match="no_such_function"):
        _ = ab.no_such_function


def test_active_backend_random_numbers(backend: str) -> None:
    from arraydispatch import active_backend as ab

    ad.use(backend)
    ad.seed(7)
    first = ab.to_numpy(ab.normal(10.0, 2.0, 200, 50))
    flat = ab.to_numpy(ab.uniform(-1.0, 3.0, (20_000,)))
    ad.seed(7)
    np.testing.assert_array_equal(first, ab.to_numpy(ab.normal(10.0, 2.0, 200, 50)))
    assert first.shape == (200, 50)
    assert abs(first.mean() - 10) < 0.1
    assert abs(first.std() - 2) < 0.1
    assert flat.min() >= -1
    assert flat.max() < 3
    assert abs(flat.mean() - 1) < 0.1


def test_available_backends_are_those_installed() -> None:
    found = ad.available_backends()
    assert found[0] == "numpy"
    for name in found:
        importlib.import_module(MODULES[name])


# -- B8: options -------------------------------------------------------------------------------------------------------


def test_unknown_options_are_refused_and_the_known_named(backend: str) -> None:
    ad.use("numpy")
    with pytest.raises(TypeError, match="no option 'colour'"):
        ad.use(backend, colour="red")
    assert ad.default_backend().name == "numpy"


# -- B9: devices -------------------------------------------------------------------------------------------------------


def test_devices_tell_what_they_are(backend: str) -> None:
    there = ad.devices(backend)
    cpus = ad.devices(backend, kind="CPU")
    assert cpus
    assert set(cpus) <= set(there)
    for device in there:
        assert device.backend == backend
        assert device.name == str(device)
        assert device.kind in ("CPU", "GPU", "TPU")
        assert device.memory > 0 or device.memory == -1
        assert device.processor_count > 0 or device.processor_count == -1
        assert isinstance(device.description, str)
    x = ad.wrap(native(backend, [1.0]))
    assert x.device in there
    ad.use(backend, device="cpu")
    there = ad.asarray([1.0])
    assert there.device == "cpu" and there.to_device("cpu") is there  # as NumPy's, which can be written by both names
    assert x.to_device("cpu").device == "cpu"


def test_an_unknown_device_lists_those_there_are(backend: str) -> None:
    ad.use("numpy")
    with pytest.raises(ad.DeviceNotFoundError, match="it has: cpu"):
        ad.use(backend, device="tpu:93")
    with pytest.raises(ad.DeviceNotFoundError, match="it has: cpu"):
        ad.asarray([1.0], backend=backend, device="nonsense")
    assert ad.default_backend().name == "numpy"


# -- B10: precision ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bits", "real", "cplx"), [(64, "float64", "complex128"), (32, "float32", "complex64"),
                                                    (16, "float16", "complex64"), ("bf16", "bfloat16", "complex64")])  # fmt: skip
def test_precision_applies_to_fresh_floating_results(backend: str, bits: Any, real: str, cplx: str) -> None:
    ad.use(backend)
    if bits == "bf16" and not ad.backend(backend).supports("bfloat16"):
        with pytest.raises(ad.PrecisionError):
            ad.precision(bits)
        return
    x, i, z = ad.asarray([1.0, 4.0]), ad.asarray([1, 2]), ad.asarray([1.0 + 1j])
    target = ad.asarray([0.0, 0.0])
    with ad.precision(bits):
        assert ad.get_precision() == bits
        assert (x + x).dtype.name == real
        assert np.sqrt(x).dtype.name == real
        assert (i / i).dtype.name == real
        assert np.mean(i).dtype.name == real
        assert (z * z).dtype.name == cplx
        assert (i + i).dtype == np.int64
        assert (x > 0).dtype == bool
        assert ad.asarray([1.0]).dtype.name == real
        assert x.astype(np.float64).dtype.name == real
        assert np.sum(x, dtype=np.float64).dtype.name == real
        assert x[1:].dtype == np.float64  # a view
        assert x.reshape(2, 1).dtype == np.float64
        view = x[1:]
        view[...] = 9.0
        assert float(x[1]) == 9.0
        np.add(x, x, out=target)  # in place
        assert target.dtype == np.float64
        target += x
        assert target.dtype == np.float64
    assert ad.get_precision() is None
    assert (x + x).dtype == np.float64


def test_precision_process_default_and_bad_values(backend: str) -> None:
    ad.use(backend)
    ad.set_precision(32)
    assert ad.asarray([1.0]).dtype == np.float32
    assert ad.asarray(np.ones(2)).dtype == np.float32
    with pytest.raises(ad.PrecisionError, match="choose 64, 32, 16"):
        ad.set_precision(8)
    with pytest.raises(ad.PrecisionError, match="choose 64, 32, 16"):
        ad.use(backend, precision="double")
    assert ad.get_precision() == 32


def test_linear_algebra_at_16_bits_is_computed_at_32_and_rounded(backend: str) -> None:
    ad.use(backend)
    a = ad.asarray([[2.0, 1.0], [1.0, 3.0]])
    with ad.precision(16):
        inverse = np.linalg.inv(a)
        spectrum = np.fft.fft(ad.asarray([1.0, 2.0, 3.0]))
    assert inverse.dtype == np.float16
    assert spectrum.dtype == np.complex64
    np.testing.assert_array_equal(
        ad.to_numpy(inverse), np.linalg.inv(np.array([[2, 1], [1, 3]], np.float32)).astype(np.float16)
    )


# -- B11: choosing by values -------------------------------------------------------------------------------------------


def test_choose_backend(backend: str) -> None:
    x = native(backend, [1.0])
    assert ad.choose_backend(x).name == backend
    assert ad.choose_backend(ad.wrap(x), 1.0, [2]).name == backend
    assert ad.choose_backend(np.ones(1), [x]).name == backend
    assert ad.choose_backend(1.0, np.ones(2)).name == "numpy"
    ad.use(backend)
    assert ad.choose_backend(np.ones(2), prefer_default=True).name == backend
    assert ad.choose_backend(1.0, prefer_default=True).name == backend
    with pytest.raises(ad.NoBackendFoundError, match="object"):
        ad.choose_backend(object())
    with pytest.raises(ad.NoBackendFoundError):
        ad.choose_backend("text")


def test_choose_backend_refuses_two_libraries() -> None:
    a, b = two_ml()
    with pytest.raises(ad.BackendMismatchError):
        ad.choose_backend(native(a, [1.0]), native(b, [1.0]))


def test_supports(backend: str) -> None:
    b = ad.backend(backend)
    assert b.supports("float64")
    assert not b.supports("no such feature")
    assert isinstance(b.capabilities, frozenset)
    assert all(map(b.supports, b.capabilities))


def test_supports_the_functions_that_the_backend_runs(backend: str) -> None:
    code = f"import arraydispatch as ad; print(*map(ad.backend({backend!r}).supports, {_FUNCTIONS!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"] * len(_FUNCTIONS)
    b = ad.backend(backend)
    for name in ("save", "array2string", "isnat", "frompyfunc", "loadtxt"):
        assert b.supports(name) is (backend == "numpy")
    assert not any(map(b.supports, ("ndarray", "linalg", "linalg.nothing", "__name__", "")))


_FUNCTIONS = [
    "mean",
    "cumsum",
    "interp",
    "sin",
    "divmod",
    "inv",
    "linalg.inv",
    "fft",
    "fft.rfft",
    "zeros",
    "array",
    "where",
]


def test_capabilities_are_what_works(backend: str) -> None:
    b, x = ad.backend(backend), ad.asarray([1.0, 2.0], backend=backend)
    calls: dict[str, Callable[[], Any]] = {
        "jit": lambda: ad.jit(lambda v: v * v)(x),
        "grad": lambda: ad.grad(lambda v: (v * v).sum())(x),
        "value_and_grad": lambda: ad.value_and_grad(lambda v: (v * v).sum())(x)[1],
        "jacobian": lambda: ad.jacobian(lambda v: v * v)(x),
        "hessian": lambda: ad.hessian(lambda v: (v * v).sum())(x),
        "vmap": lambda: ad.vmap(lambda v: v * v)(x),
        "stop_gradient": lambda: ad.stop_gradient(x),
        "while_loop": lambda: ad.while_loop(lambda v: v.sum() < 9, lambda v: v * 2, x),
        "random": lambda: ad.asarray(b.random("normal", (2,), np.dtype(float), None)),
        "dlpack": lambda: ad.asarray(np.from_dlpack(x)) if b.on_cpu(x.native) else x,
    }
    for name in ("int8", "uint16", "uint64", "float16", "float64", "longdouble", "complex64", "complex128"):
        calls[name] = lambda name=name: b.from_numpy(np.ones(2, name))
    for name, call in calls.items():
        assert b.supports(name) is (name in b.capabilities)
        if b.supports(name):
            assert np.shape(call())[0] == 2, name
        else:
            with pytest.raises((TypeError, Unsupported)):
                call()


# -- errors ------------------------------------------------------------------------------------------------------------


def test_unknown_backends_name_the_known() -> None:
    for call in (lambda: ad.use("mxnet"), lambda: ad.backend("mxnet"), lambda: ad.convert(np.ones(1), "mxnet"),
                 lambda: ad.convert(np.ones(1), threading)):  # fmt: skip
        with pytest.raises(ad.NoBackendFoundError, match="numpy, jax, torch, tensorflow"):
            call()


def test_a_missing_library_gives_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    from arraydispatch.backends import loader

    monkeypatch.setitem(loader.KNOWN, "lost", loader._Row("library_that_is_not_there", ("lost",), "pip install lost"))
    assert "lost" not in ad.available_backends()
    with pytest.raises(ad.BackendNotInstalledError, match="pip install lost") as caught:
        ad.use("lost")
    assert isinstance(caught.value, ImportError)


@pytest.mark.parametrize(("ask", "builtin", "said"), [
    (lambda: ad.fallback("x"), ValueError, "'warn', 'error' or 'silent'"),  # type: ignore[arg-type]
    (lambda: ad.execution("q"), ValueError, "'eager', 'fused', 'compiled', or None"),  # type: ignore[arg-type]
    (lambda: ad.precision(7), ValueError, "64, 32, 16, 'bf16' or None"),
    (lambda: ad.use(fallback="x"), ValueError, "'warn', 'error' or 'silent'"),
    (lambda: ad.use(execution="q"), ValueError, "'eager', 'fused', 'compiled', or None"),
    (lambda: ad.use(precision=7), ValueError, "64, 32, 16, 'bf16' or None"),
    (lambda: ad.use(threads=0), ValueError, "a positive integer, got 0"),
    (lambda: ad.use(threads="two"), TypeError, "a positive integer, got 'two'"),
    (lambda: ad.use("numpy", colour="red"), TypeError, "its options are: none"),
    (lambda: ad.use("numpy", device="tpu:7"), ValueError, "it has: cpu"),
    (lambda: ad.use("nmpy"), TypeError, "choose one of: numpy"),
    (lambda: ad.backend("nmpy"), TypeError, "choose one of: numpy"),
])  # fmt: skip
def test_what_no_setting_takes_is_an_error_of_ours_and_a_builtin(ask: Any, builtin: Any, said: str) -> None:
    with settings.kept(), pytest.raises(builtin, match=said) as caught:
        ask()
    assert isinstance(caught.value, ad.ArrayDispatchError)


def test_the_reference_lists_every_error() -> None:
    page = Path(__file__).parents[2] / "docs/reference/errors.md"
    listed = re.findall(r"^\| `(\w+Error)` \| `(\w+)` \|", page.read_text(), re.MULTILINE)
    ours = {
        cls: cls.__bases__
        for cls in vars(errors).values()
        if isinstance(cls, type) and issubclass(cls, ad.ArrayDispatchError)
    }
    del ours[ad.ArrayDispatchError]
    assert dict(listed) == {cls.__name__: bases[1].__name__ for cls, bases in ours.items()}
    assert all(bases[0] is ad.ArrayDispatchError and getattr(ad, cls.__name__) is cls for cls, bases in ours.items())


def test_host_only_dtypes_are_refused_clearly(backend: str) -> None:
    ad.use(backend)
    for data in (["text"], [object()], np.array(["2020-01-01"], "datetime64[D]")):
        with pytest.raises(TypeError, match="exists only on the host"):
            ad.asarray(data)


def test_fallback_policies(backend: str) -> None:
    if backend == "numpy":
        pytest.skip("inapplicable: the NumPy backend is the host")
    ad.use(backend)
    x = ad.asarray([3.0, 1.0])
    ad.use(fallback="silent")
    mathieu_a = pytest.importorskip("scipy.special").mathieu_a
    assert (np.asarray(mathieu_a(1, x)) == mathieu_a(1, np.array([3.0, 1.0]))).all()
    with ad.fallback("error"), pytest.raises(ad.HostFallbackError, match="mathieu_a"):
        mathieu_a(1, x)
    with ad.fallback("warn"), pytest.warns(ad.HostFallbackWarning, match="mathieu_a") as seen:
        mathieu_a(1, x)
    assert seen[0].filename == __file__
    with pytest.raises(ValueError, match="not a fallback policy"):
        ad.fallback("maybe")  # type: ignore[arg-type]


# -- arrays in and out -------------------------------------------------------------------------------------------------


def test_asarray_copy(backend: str) -> None:
    ad.use(backend)
    x = ad.asarray([1.0, 2.0])
    assert ad.asarray(x) is x
    assert ad.asarray(x, copy=False) is x
    y = ad.asarray(x, copy=True)
    y[0] = 7
    assert float(x[0]) == 1.0
    with pytest.raises(ValueError, match="copy"):
        ad.asarray([1.0], copy=False)
    with pytest.raises(ValueError, match="copy"):
        ad.asarray(x, dtype=np.float32, copy=False)


def test_asarray_never_aliases_numpy_memory_unless_on_numpy(backend: str) -> None:
    host = np.zeros(4)
    x = ad.asarray(host, backend=backend)
    host[0] = 1
    assert float(x[0]) == (1.0 if backend == "numpy" else 0.0)


def test_asarray_gathers_sequences_of_arrays(backend: str) -> None:
    ad.use(backend)
    x = ad.asarray([1.0, 2.0])
    made = ad.asarray([x, x + 1])
    assert made.backend.name == backend
    np.testing.assert_array_equal(ad.to_numpy(made), [[1, 2], [2, 3]])
    np.testing.assert_array_equal(ad.to_numpy(ad.asarray([x[0], x[1], 5])), [1, 2, 5])


def test_asarray_of_strings_beside_arrays_is_numpys(backend: str) -> None:
    x = ad.asarray([1.0, 2.0], backend=backend)
    for values in ([x, "a"], [x, [1, 2, 3]], [x, None]):
        with pytest.raises(ValueError, match="inhomogeneous"):
            ad.asarray(values)
    with pytest.raises(TypeError, match="exists only on the host"):
        ad.asarray([[x, ["a", "b"]]])


@pytest.mark.parametrize("name", ["assert_equal", "assert_almost_equal"])
@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: [v, v], lambda v: {"a": v}])
def test_numpys_assertions_take_arrays(backend: str, name: str, wrap: Any) -> None:
    check: Any = getattr(np.testing, name)
    x, same, other = (ad.asarray(values, backend=backend) for values in ([1.0, 2.0], [1.0, 2.0], [1.0, 3.0]))
    assert x.__class__ is ad.Array
    if isinstance(wrap(x), dict) and name == "assert_almost_equal":
        return  # which takes none
    check(wrap(x), wrap(same))
    check(wrap(x), wrap([1.0, 2.0]))
    check(wrap([1.0, 2.0]), wrap(x))
    with pytest.raises(AssertionError):
        check(wrap(x), wrap(other))


def test_getsizeof_is_numpys(backend: str) -> None:
    for x in (np.zeros(()), np.zeros(9), np.ones((3, 4), "f4"), np.zeros((0, 3)), np.zeros((2,) * 5, bool)):
        a = ad.asarray(x, backend=backend, copy=True)
        assert sys.getsizeof(a) == sys.getsizeof(x)
        assert sys.getsizeof(a[..., None]) == sys.getsizeof(x[..., None])
        assert sys.getsizeof(a.copy().T) == sys.getsizeof(x.copy().T)


def test_an_array_is_an_ndarray_to_nobody_else(backend: str) -> None:
    x: Any = ad.asarray([1.0, 2.0], backend=backend)
    assert not isinstance(x, np.ndarray)
    assert isinstance(x, ad.Array)


def test_native_functions_take_arrays(backend: str) -> None:
    ad.use(backend)
    x = ad.asarray([0.0, 1.0])
    ab = ad.active_backend
    made = ab.sin(x)
    assert ad.backend(backend).is_native(made) or backend == "numpy"
    np.testing.assert_allclose(ad.to_numpy(made), np.sin([0.0, 1.0]), rtol=1e-15)
    if backend != "tensorflow":
        np.testing.assert_array_equal(np.from_dlpack(x), [0.0, 1.0])
    np.testing.assert_array_equal(np.asarray(x), [0.0, 1.0])


class _Pair(NamedTuple):
    left: Any
    right: Any


@dataclass
class _Model:
    name: str
    weights: Any


def test_synchronize_waits_for_every_array_of_any_container(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ad.use(backend)
    waited: list[Any] = []
    monkeypatch.setattr(ad.backend(backend), "synchronize", lambda *natives: waited.append(natives))
    a, b = ad.asarray([1.0]) + 1, ad.asarray([2, 3])
    c, view = native(backend, [4.0]), ad.asarray(np.arange(6.0))[::-2]
    trees: list[Any] = [
        a, c, [a, b], (a, (b, [c])), {"a": a, "b": {"c": [view, 1, "text", None]}}, _Pair(a, [b]), _Model("m", (a, {"b": b})),
        [a.sum(), b],
    ]  # fmt: skip
    for tree in trees:
        waited.clear()
        ad.synchronize(tree)
        held = [x for x in tree_leaves(tree) if isinstance(x, ad.Array) or ad.backend(backend).is_native(x)]
        assert held
        (natives,) = waited
        assert len(natives) == len(held)
        for x, y in zip(natives, held):
            np.testing.assert_array_equal(ad.to_numpy(x), ad.to_numpy(y))
    waited.clear()
    ad.synchronize(a, {"b": b})
    assert [len(natives) for natives in waited] == [2]
    waited.clear()
    ad.synchronize()
    assert waited == [()]


def test_synchronize_waits_in_what_holds_itself_and_in_what_is_nested_without_end(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ad.use(backend)
    waited: list[Any] = []
    monkeypatch.setattr(ad.backend(backend), "synchronize", lambda *natives: waited.append(len(natives)))
    a, twice = ad.asarray([1.0]), [ad.asarray([2.0])]
    ring: list[Any] = [a]
    around: dict[str, Any] = {"first": ring, "a": a, "twice": (twice, twice)}
    ring += [ring, around, a]
    around["itself"] = around
    deep: Any = a
    for _ in range(100_000):
        deep = [deep]
    ad.synchronize(ring)
    ad.synchronize(around)
    ad.synchronize(deep)
    assert waited == [5, 5, 1]
    empty: list[Any] = []
    empty.append(empty)
    with pytest.raises(TypeError, match="no array to wait for"):
        ad.synchronize(empty)


def test_synchronize_refuses_what_holds_no_array(backend: str) -> None:
    ad.use(backend)
    ad.synchronize(ad.asarray([1.0]).sum(), np.float64(1), np.ones(2), [np.ones(2)])
    for nothing in ([], 3.0, "text", None, {"a": 1}, [[], ()], {1.0, 2.0}, object(), iter([ad.asarray([1.0])])):
        with pytest.raises(TypeError, match="no array to wait for"):
            ad.synchronize(nothing)
        with pytest.raises(TypeError, match="no array to wait for"):
            ad.synchronize(ad.asarray([1.0]), nothing)


class _Holder:
    def __init__(self) -> None:
        self.memory = np.zeros(3)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.memory


@pytest.mark.parametrize(
    "make", [lambda: array.array("d", [0.0] * 3), lambda: memoryview(bytearray(24)).cast("d"), _Holder]
)
def test_asarray_copies_what_others_write(backend: str, make: Any) -> None:
    source = make()
    memory = getattr(source, "memory", source)
    copies = [ad.asarray(source, backend=backend, copy=True)]
    if backend != "numpy":
        copies.append(ad.asarray(source, backend=backend))
    memory[0] = 1
    for made in copies:
        made[1] = 2
        assert made.tolist() == [0.0, 2.0, 0.0]
    assert list(memory) == [1.0, 0.0, 0.0]
    if backend == "numpy":
        assert np.shares_memory(ad.asarray(source, backend=backend).native, np.asarray(source))
