"""The facade of NumPy: what user files see, held against NumPy itself."""

from __future__ import annotations

import functools
import importlib
import inspect
import operator
import pickle
import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as real
import pytest
from numpy.testing.overrides import get_overridable_numpy_array_functions

import arraydispatch as ad
from arraydispatch._core import handles
from arraydispatch.api import creation
from arraydispatch.backends import loader
from arraydispatch.common import events
from arraydispatch.common.process_state import process
from arraydispatch.functions.registry import facts_of
from arraydispatch.launcher import adoption, facade, numpy_classes
from arraydispatch.launcher.activation import Activation
from arraydispatch.launcher.user_files import UserFiles
from arraydispatch.profiling.recorder import Profile
from arraydispatch.runtime import settings
from tests.launched import Zygotes

HERE = Path(__file__).parent


@pytest.fixture(params=loader.available())
def backend(request: pytest.FixtureRequest) -> Iterator[Any]:
    before = ad.default_backend().name
    chosen = ad.use(request.param)
    # Where a call ends up running is the core's business; here it is what goes in and what comes out.
    with ad.fallback("silent"):
        yield chosen
    ad.use(before)


@pytest.fixture
def np(backend: Any) -> Iterator[Any]:
    """The facade; the file of these tests is the user's."""
    with Activation(UserFiles([str(HERE)])):
        import numpy

        assert numpy is not real
        yield numpy


def test_hook_comes_and_goes(backend: Any) -> None:
    import builtins

    before = builtins.__import__, importlib.import_module, importlib.__import__
    with Activation(UserFiles([str(HERE)])):
        assert importlib.import_module("numpy") is not real
        assert sys.modules["numpy"] is real
        space: dict[str, Any] = {"__file__": real.__file__, "__name__": "library"}
        exec("import numpy", space)
        assert space["numpy"] is real
    assert (builtins.__import__, importlib.import_module, importlib.__import__) == before
    assert importlib.import_module("numpy") is real


def test_hook_that_someone_wrapped_goes_silent(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    with Activation(UserFiles([str(HERE)])):
        ours = builtins.__import__
        monkeypatch.setattr(builtins, "__import__", functools.partial(ours))
    assert importlib.import_module("numpy") is real
    import numpy

    assert numpy is real


def _public(module: types.ModuleType) -> list[str]:
    return [name for name in dir(module) if not name.startswith("_")]


REAL = frozenset(
    "add_docstring add_newdoc asmatrix base_repr binary_repr bmat broadcast_shapes datetime_data"
    " format_float_positional format_float_scientific frompyfunc get_include get_printoptions getbufsize geterr"
    " geterrcall info isdtype isfortran issubdtype iterable mintypecode printoptions promote_types"
    " set_printoptions setbufsize seterr seterrcall show_config show_runtime test typename".split()
)
"""Functions of NumPy that user files get themselves: they have no array argument to move, or no array result."""


@pytest.mark.parametrize("name", sorted(facade.SUBMODULES - facade.ON_THE_HOST - {"numpy.random", "numpy.testing"}))
def test_every_function_has_a_rule(name: str) -> None:
    """Each callable of NumPy's modules is dispatched by NumPy, or stands in one of the tables."""
    module = importlib.import_module(name)
    dispatched = get_overridable_numpy_array_functions()
    known = REAL | facade.INDEX_OBJECTS | numpy_classes.FUNCTIONS.keys() | set(creation.__all__)
    missing = []
    for attribute in _public(module):
        value = getattr(module, attribute)
        function = callable(value) and not isinstance(value, type | real.ufunc)
        if function and value not in dispatched and facts_of(value) == facts_of(None) and attribute not in known:
            missing.append(attribute)
    assert missing == []


def test_tables_name_existing_functions() -> None:
    modules = [importlib.import_module(name) for name in facade.SUBMODULES]
    names = {name for module in modules for name in _public(module)} | {"row_stack"}
    assert names >= REAL | facade.INDEX_OBJECTS
    assert numpy_classes.FUNCTIONS.keys() | numpy_classes.CLASSES.keys() <= names


def test_tables_do_not_overlap() -> None:
    own = numpy_classes.FUNCTIONS.keys() | set(creation.__all__)
    assert not REAL & own
    dispatched = {function.__name__ for function in get_overridable_numpy_array_functions()}
    assert not REAL & dispatched


RULES: list[tuple[type[adoption.Stand] | None, str]] = [
    (
        adoption.Special,
        "array zeros arange linspace meshgrid tril_indices asarray frombuffer from_dlpack shape ndim size isscalar",
    ),
    (adoption.Made, "fromfile fromiter fromregex fromstring genfromtxt loadtxt"),
    (adoption.Output, "save savetxt savez savez_compressed"),
    (
        adoption.Views,
        "reshape ravel atleast_1d diag imag real real_if_close split trim_zeros linalg.diagonal permute_dims",
    ),
    (adoption.ViewsOfMany, "broadcast_arrays"),
    (adoption.Sequences, "block concat concatenate einsum histogramdd ix_ lexsort select stack linalg.multi_dot"),
    (adoption.Function, "sum sort astype copy apply_along_axis nan_to_num fft.fft linalg.svd array_equal"),
    (adoption.Answer, "result_type shares_memory can_cast common_type"),
    (adoption.Ufunc, "add sin matmul"),
    (adoption.Received, "busday_count ma.sort polynomial.polynomial.polyval ma.getdata lib.format.read_array"),
    (
        None,
        "min_scalar_type array2string copyto put fill_diagonal seterr isfortran",
    ),
]


@pytest.mark.parametrize(("rule", "names"), RULES, ids=[str(getattr(rule, "__name__", rule)) for rule, _ in RULES])
def test_what_stands_for_a_function(rule: type[adoption.Stand] | None, names: str) -> None:
    for name in names.split():
        where, _, what = name.rpartition(".")
        module = importlib.import_module(f"numpy.{where}" if where else "numpy")
        function = getattr(module, what)
        stands = facade._stands_for(function, module.__name__, what)
        if rule is None:
            assert stands is function, name
        elif rule is adoption.Special:
            assert isinstance(stands, rule), name
        else:
            assert isinstance(stands, rule) and type(stands).__name__ == rule.__name__, name


def test_lookups_are_plain_attributes_after_first_use(np: Any) -> None:
    mean = np.mean
    assert vars(np)["mean"] is mean is np.mean
    assert np.linalg is importlib.import_module("numpy.linalg")
    assert set(real.__all__) <= set(dir(np))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        np.nothing


def test_all_names_at_once(np: Any) -> None:
    assert eval("sin(0) + cos(0)", dict(vars(np))) == 1
    assert eval("norm([3.0, 4.0])", np.linalg.__dict__) == 5
    assert vars(np)["zeros"] is np.zeros is not real.zeros
    public = {name for name in vars(real) if not name.startswith("_")}
    assert public <= set(vars(np))


def test_names_hold_numpys_own_lazy_lookup(np: Any) -> None:
    """A package that copies all names into a module of its own has NumPy's ``__getattr__`` there too, and only where NumPy has one."""
    assert [("__getattr__" in vars(module)) for module in (np, np.linalg, np.random)] == [True, False, False]
    lazy = vars(np)["__getattr__"]
    assert lazy("linalg") is np.linalg
    for name in ("sin", "__all__", "nothing"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
            lazy(name)


def test_every_way_to_import_gives_the_facade(np: Any) -> None:
    for name in ("random", "linalg", "fft"):
        facade = getattr(np, name)
        assert importlib.import_module(f"numpy.{name}") is facade
        assert importlib.import_module(f".{name}", "numpy") is facade
        assert importlib.__import__(f"numpy.{name}", fromlist=["x"]) is facade
        assert __import__(f"numpy.{name}", fromlist=["x"]) is facade
    assert importlib.import_module("..fft", "numpy.linalg") is np.fft
    assert importlib.__import__("numpy.linalg") is np


def test_signatures_and_docs_are_numpys(np: Any) -> None:
    assert inspect.signature(np.mean) == inspect.signature(real.mean)
    assert np.mean.__doc__ == real.mean.__doc__
    assert np.mean.__module__ == "numpy"
    assert np.linalg.norm.__name__ == "norm"
    assert np.add.__doc__ == real.add.__doc__


# -- adoption --------------------------------------------------------------------------------------------------------


def test_pure_functions_adopt(np: Any, backend: Any) -> None:
    n = real.arange(6.0).reshape(2, 3)
    for result in (
        np.sqrt(n),
        np.add(n, 1),
        np.cumsum(n),
        np.sort(n, axis=0),
        np.concatenate([n, n]),
        np.vstack((n, n)),
    ):
        assert isinstance(result, ad.Array)
        assert result.backend is backend
    assert type(n) is real.ndarray
    real.testing.assert_array_equal(real.asarray(np.add(n, n)), n + n)


def test_an_adopted_array_is_a_copy(np: Any) -> None:
    n = real.arange(3.0)
    result = np.copy(n)
    root = np.negative(n)
    n[:] = 7
    assert result.tolist() == [0, 1, 2]
    assert root.tolist() == [0, -1, -2]


def test_what_is_written_is_not_adopted(np: Any) -> None:
    n, out = real.array([4.0, 1.0, 9.0]), real.zeros(3)
    assert np.sqrt(n, out=out) is out
    assert np.add(n, n, out) is out
    assert np.cumsum(n, None, None, out) is out
    assert np.add.reduce(real.ones((2, 3)), 0, None, out) is out
    assert out.tolist() == [2, 2, 2]
    np.put(n, [0], 5)
    np.copyto(n[1:], 3)
    np.add.at(n, [0, 0], 1)
    assert n.tolist() == [7, 3, 3]
    assert np.nan_to_num(n, copy=False) is n


def test_views_of_an_ndarray_stay_views(np: Any) -> None:
    n = real.zeros(4)
    for view in (
        np.reshape(n, (2, 2)),
        np.ravel(n),
        np.expand_dims(n, 0),
        np.flip(n),
        np.atleast_2d(n),
        np.split(n, 2)[0],
    ):
        assert isinstance(view, real.ndarray)
        assert real.shares_memory(view, n)


def test_library_code_is_left_alone(np: Any) -> None:
    """A function that a user hands to a library, called there with ndarrays, is NumPy's own."""
    library: dict[str, Any] = {"__file__": real.__file__, "__name__": "library", "n": real.ones(3), "np": np}
    exec("result = np.sqrt(n), np.sort([2, 1]), np.hanning(3), np.add.outer(n, n)", library)
    assert [type(part) for part in library["result"]] == [real.ndarray] * 4


def test_host_dtypes_stay_numpy(np: Any) -> None:
    with Profile() as profile:
        assert type(np.sort(real.array(["b", "a"]))) is real.ndarray
        assert type(np.negative(real.ones(2, dtype=real.longdouble))) is real.ndarray
    assert profile.left_numpy()


def test_a_users_class_may_give_an_array_of_ours(np: Any) -> None:
    class Held:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array([1, 2, 2, 3])

    assert np.bincount(Held()).tolist() == [0, 1, 2, 1]
    assert np.intersect1d(Held(), [1, 5]).tolist() == [1]
    assert np.interp(Held(), xp=[0, 4], fp=[0, 8]).tolist() == [2, 4, 4, 6]
    with pytest.raises(ValueError, match="out of bounds"):
        np.take(Held(), [0], axis=3)


def test_strides_over_an_array_are_views(np: Any) -> None:
    a = np.arange(12.0).reshape(3, 4)
    strided = np.lib.stride_tricks.as_strided(a, shape=(2, 2), strides=(32, 8))
    strided[:] = -1
    assert type(strided) is np.ndarray
    assert a[:2, :2].tolist() == [[-1, -1], [-1, -1]]
    windows = np.lib.stride_tricks.as_strided(a[2], shape=(3, 2), strides=(8, 8))
    assert windows.tolist() == [[8, 9], [9, 10], [10, 11]]
    windows[1] = 7
    assert a[2].tolist() == [8, 7, 7, 11]
    same = np.ndarray((2, 2), float, a, 64)
    same[1, 1] = 5
    assert a[2, 3] == 5


def test_big_endian_data_is_adopted(np: Any) -> None:
    assert np.add(real.arange(3, dtype=">i4"), 1).tolist() == [1, 2, 3]


def test_lists_of_arrays_are_gathered(np: Any, backend: Any) -> None:
    a, n = np.ones(3), real.zeros(3)
    assert np.mean([a, n], axis=0).tolist() == [0.5, 0.5, 0.5]
    assert isinstance(np.sqrt([a, a]), ad.Array)
    assert np.add([a, n], 1).tolist() == [[2, 2, 2], [1, 1, 1]]


def test_only_operands_are_gathered(np: Any) -> None:
    a = np.arange(3.0)
    ragged = [a, [1, 2]]
    for args in ((a, a, ragged), (a, a, ragged, a), (ragged, a, a, a)):  # out=, and what is one too many
        with pytest.raises(TypeError, match=r"ArrayType|positional"):
            np.add(*args)
    with pytest.raises(ValueError, match="inhomogeneous"):
        np.add(ragged, a)


def test_repeated_uploads_are_counted(np: Any, backend: Any) -> None:
    n = real.ones(1000)
    profile = Profile()
    process.observer = profile.adopted
    with profile:
        for _ in range(4):
            np.sum(n)
    if backend.native_is_ndarray:  # nothing moves
        assert profile.repeated_uploads() == []
        return
    (row,) = profile.repeated_uploads()
    assert (row.count, Path(row.file).name) == (3, "test_facade.py")


def test_nothing_is_adopted_without_a_launcher(backend: Any) -> None:
    assert pickle.loads(pickle.dumps(facade.substitute(real).sqrt)) is real.sqrt
    with Activation(UserFiles([str(HERE)])):
        import numpy as np
    assert type(np.sqrt(real.ones(2))) is real.ndarray


# -- classes ---------------------------------------------------------------------------------------------------------


def test_ndarray_as_a_class(np: Any) -> None:
    assert isinstance(np.ones(2), np.ndarray)
    assert isinstance(real.ones(2), np.ndarray)
    assert not isinstance([1], np.ndarray)
    buffer = bytearray(8)
    window = np.ndarray((2,), np.int32, buffer)
    window[0] = 3
    assert buffer[0] == 3
    assert isinstance(np.ndarray((2, 2)), ad.Array)

    class Mine(np.ndarray):
        pass

    assert Mine.__mro__[1] is real.ndarray
    assert type(real.ones(3).view(Mine).view(np.ndarray)) is real.ndarray


def test_listed_are_numpys_names_and_the_public_ones_of_arrays(np: Any) -> None:
    more = {"backend", "native", "to_numpy"}
    for shown in (np.ndarray, np.ones(3)):
        names = set(dir(shown))
        assert names >= more | set(dir(real.ndarray))
        assert not [name for name in names - set(dir(real.ndarray)) if name.startswith("_")]
        assert all(hasattr(shown, name) for name in more)
    for name in ("mgrid", "ogrid", "r_", "c_"):
        assert dir(getattr(np, name)) == dir(getattr(real, name))
    assert np.ogrid.sparse


def test_nditer_writes_back(np: Any) -> None:
    a, b = np.arange(3.0), np.zeros(3)
    with np.nditer([a, b], op_flags=[["readonly"], ["writeonly"]]) as it:
        for x, y in it:
            y[...] = 2 * x
        assert it.operands[1] is b
    assert b.tolist() == [0, 2, 4]


def test_device_random_numbers(np: Any, backend: Any) -> None:

    process.draws_on_device = True
    try:
        np.random.seed(1)
        first = np.random.normal(5.0, 0.1, (50, 20))
        np.random.seed(1)
        again = np.random.normal(5.0, 0.1, (50, 20))
        generator = np.random.default_rng(1)
        uniform = generator.uniform(2, 3, 500)
        assert isinstance(first, ad.Array) and isinstance(uniform, ad.Array)
        assert first.tolist() == again.tolist()
        assert abs(float(first.mean()) - 5) < 0.05
        assert 2 <= min(uniform.tolist()) < 2.1
        assert 2.9 < max(uniform.tolist()) <= 3
        assert isinstance(generator.random(), float)
    finally:
        process.draws_on_device = False


_AS_NUMPY = """
    np.min_scalar_type(np.array(300)); np.min_scalar_type(np.array(-1)); np.min_scalar_type(np.array([300]))
    np.min_scalar_type(np.array(1.5)); np.min_scalar_type(np.array(70000, 'f4'))
    np.array([np.array([1, 2]), 'a']); np.array([np.array(1), 'a']); np.array([np.array([1, 2]), None])
    np.array([[np.array(1.0), 'b'], [1, 2]]); np.asarray([np.arange(3), {}]); np.array([np.array([1, 2]), ['a', 'b']])
    np.array([np.array(1), 2.5]); np.array([np.array([1, 2]), [3, 4]], dtype=object)
    np.full((2,), np.nan, dtype=int); np.full(2, 300.5, dtype='u1'); np.full(2, 300, dtype='u1'); np.full(2, 1e300, 'f4')
    np.full(2, np.array(300), 'u1'); np.full(2, 300.5, dtype='u1', like=np.arange(3)); np.full(2, [1, 300.5], 'u1')
    np.full(2, '3', int); np.full(2, 1j, float); np.full((2, 2), np.array([1, 2])); np.full(2, True); np.full(2, 'ab')
    np.arange(np.array([3])); np.arange(1, np.array([3])); np.arange(0, 5, np.array([2])); np.arange(np.array(3))
    np.arange(np.array(1), stop=np.array([3])); np.arange(np.array(3.0, 'f4'))
    np.asarray(np.random.SeedSequence(np.array([1, 2])).generate_state(3))
    np.random.default_rng(np.array([1, 2])).integers(99, size=3)
    np.random.Generator(np.random.PCG64(np.array([5]))).random(3)
    np.asarray(np.random.MT19937(seed=np.array([5, 6])).random_raw(2)); np.random.Philox(np.array([7])).random_raw()
    np.polynomial.polynomial.polyval(np.array([1, 2.0]), np.array([[1, 2], [3, 4]]))
    np.polynomial.chebyshev.chebgrid2d(np.array([1, 2]), np.array([3, 4, 5]), np.array([[1, 2], [3, 4]]))
"""


@pytest.mark.parametrize("min_size", [0, 4096])
@pytest.mark.parametrize("expression", [case.strip() for case in re.split("[;\n]", _AS_NUMPY) if case.strip()])
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
def test_calls_that_numpy_does_not_dispatch(
    np: Any, expression: str, min_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings.default, "min_size", min_size)
    found: list[Any] = []
    for numpy in (real, np):
        try:
            found.append(eval(expression, {"np": numpy, "__file__": __file__}))
        except Exception as error:
            found.append(error)
    wanted, got = found
    if isinstance(wanted, Exception):
        assert type(got) is type(wanted)
        return
    assert not isinstance(got, Exception), got
    if isinstance(wanted, real.ndarray):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        assert isinstance(got, ad.Array) == (wanted.dtype.kind not in "UO")
        real.testing.assert_array_equal(ad.to_numpy(got) if isinstance(got, ad.Array) else got, wanted)
    else:
        assert (type(got), got) == (type(wanted), wanted)


def test_bit_generators_are_numpys_own(np: Any) -> None:
    made = np.random.PCG64(np.array([5]))
    assert type(made) is real.random.PCG64
    assert isinstance(made, np.random.PCG64)
    assert isinstance(made, np.random.BitGenerator)
    assert not isinstance(made, np.random.Philox)
    assert isinstance(np.random.default_rng(1).bit_generator, np.random.PCG64)
    assert pickle.loads(pickle.dumps(made)).random_raw() == made.random_raw()
    for cls in (np.random.PCG64, np.random.SeedSequence, np.random.Generator):
        assert pickle.loads(pickle.dumps(cls)) is cls

    class Mine(np.random.PCG64):  # type: ignore[misc]
        pass

    mine = Mine(np.array([5]))
    assert type(mine) is Mine
    assert isinstance(mine, np.random.PCG64)
    assert not isinstance(made, Mine)


_UNPICKLES = """
import importlib.abc, operator, pickle, sys
class Refuses(importlib.abc.MetaPathFinder):
    def find_spec(self, name, *args):
        if name.partition(".")[0] in ("arraydispatch", "jax", "torch", "tensorflow"):
            raise ImportError(name)
sys.meta_path.insert(0, Refuses())
import numpy as np
for names, *rest in pickle.load(open("pickles", "rb")):
    for each in rest:
        found = pickle.loads(each)
        for name, one in zip(names, found):
            assert one == operator.attrgetter(name)(np) or one.__qualname__ == "RandomState." + name[7:], (name, one)
        rng, legacy, normal, bits, seed, total, x, scalar, bound = found[len(names):]
        for method in bound:
            assert method.__qualname__ == f"ndarray.{method.__name__}" and type(method.__self__) is np.ndarray, method
            assert (method.__self__ == [0, 2]).all()
        assert {method.__name__ for method in bound} >= {"sum", "__getitem__", "__add__", "__iadd__", "__eq__", "view"}
        print(rng.random(2), legacy.rand(2), normal(), bits.random_raw(), seed.entropy, total(), x[-1], scalar, type(x) is np.ndarray)
"""
_PICKLED = (
    "sin add.reduce mean linalg.norm fft.fft zeros array asarray arange frombuffer concatenate pad einsum ndarray"
    " random.default_rng random.normal random.shuffle random.Generator random.RandomState random.PCG64 vectorize r_"
    " ndarray.sum ndarray.view ndarray.__getitem__ ndarray.__add__ ndarray.__imul__ ndarray.__setstate__"
).split()


_METHODS = [
    name
    for name, method in vars(real.ndarray).items()
    if callable(method) and name not in ("__array_finalize__", "__setstate__", "__buffer__")
]
"""Those that arrays have: :mod:`arraydispatch.launcher.commands.coverage` says why not the first two; the third, new in Python 3.12, is C's."""


@pytest.fixture(params=["every call is the library's", "small ones are NumPy's", "fused"])
def way(request: pytest.FixtureRequest) -> Iterator[None]:
    """Which methods of arrays are in force."""
    with settings.kept():
        if request.param != "every call is the library's":
            settings.default.min_size = 1 << 18
        if request.param == "fused":
            settings.set_execution("fused")
        yield


@pytest.mark.usefixtures("way")
def test_methods_are_named_as_numpys_and_pickled_by_their_names(np: Any) -> None:
    x, theirs = np.arange(3.0), real.arange(3.0)
    for name in _METHODS:
        if name == "__new__" and not handles.compiled:
            continue  # the class inherits it from `object` then
        unbound, bound = getattr(np.ndarray, name), getattr(x, name)
        for ours, numpys in ((unbound, getattr(real.ndarray, name)), (bound, getattr(theirs, name))):
            assert (ours.__name__, ours.__qualname__) == (numpys.__name__, numpys.__qualname__)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(unbound, protocol)) == unbound
            read = pickle.loads(pickle.dumps(bound, protocol))
            assert read.__name__ == bound.__name__
            if isinstance(bound, types.MethodType | types.MethodWrapperType) and not isinstance(bound.__self__, type):
                assert (real.asarray(read.__self__) == theirs).all()
    for cls in ("Generator", "RandomState"):
        theirs, made = getattr(real.random, cls), getattr(np.random, cls)(np.random.PCG64(3))
        for name in dir(theirs):
            if callable(getattr(theirs, name)) and name != "__class__":
                unbound, bound = getattr(type(made), name), getattr(made, name)
                assert unbound.__qualname__ == getattr(theirs, name).__qualname__
                if name not in ("__new__", "__init_subclass__", "__subclasshook__"):
                    assert pickle.loads(pickle.dumps(bound)).__name__ == bound.__name__ == name
                assert pickle.loads(pickle.dumps(unbound)) == unbound
    for name in ("reduce", "accumulate", "reduceat", "outer", "at"):
        ours, numpys = getattr(np.add, name), getattr(real.add, name)
        assert (ours.__name__, ours.__qualname__) == (numpys.__name__, numpys.__qualname__)
        assert pickle.loads(pickle.dumps(ours)) == ours


def test_methods_of_every_layer_are_named() -> None:
    """Those that are not in force too."""
    from arraydispatch import fastpath

    for forms in (handles.general, *fastpath._FORMS):
        for name, each in forms.items():
            function = each.fget if isinstance(each, property) else each
            assert (function.__name__, function.__qualname__) == (name, f"ndarray.{name}")
    assert pickle.loads(pickle.dumps(ad.Array.sum)) is ad.Array.sum
    assert pickle.loads(pickle.dumps(ad.Array.__len__)) is ad.Array.__len__


def test_pickles_are_read_without_this_package(np: Any, zygotes: Zygotes, tmp_path: Path) -> None:
    """Nor its libraries: of functions, generators and their methods, classes, arrays."""
    rng, legacy, x = np.random.default_rng(3), np.random.RandomState(4), np.arange(9000.0) * 2
    rng.random(3), legacy.rand(2)
    made = [*(operator.attrgetter(name)(np) for name in _PICKLED), rng, legacy, rng.normal, rng.bit_generator]
    made += [np.random.SeedSequence(3), x[:9].sum, x, x[3]]
    made.append(
        [
            method
            for name in _METHODS
            if isinstance(method := getattr(x[:2], name), types.MethodType | types.MethodWrapperType)
        ]
    )
    texts = [pickle.dumps(made, protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    (tmp_path / "pickles").write_bytes(pickle.dumps([(_PICKLED, *texts)]))
    (tmp_path / "load.py").write_text(_UNPICKLES)
    done = zygotes.plain.run("load.py", cwd=tmp_path)
    assert done.code == 0, done.stderr
    drawn = rng.random(2), legacy.rand(2), rng.normal(), rng.bit_generator.random_raw(), 3, 72.0, 17998.0, 6.0, True
    assert done.stdout == f"{' '.join(map(str, drawn))}\n" * len(texts)


def test_a_library_gets_ndarrays_from_a_users_generator(np: Any) -> None:
    library: dict[str, Any] = {"__file__": real.__file__, "__name__": "library"}
    exec("def draw(rng): return rng.random(3)", library)
    rng = np.random.default_rng(0)
    assert type(library["draw"](rng)) is real.ndarray
    assert isinstance(rng.random(3), ad.Array)


def test_the_tap_is_left_as_found() -> None:
    before = events.tap
    with Profile():
        pass
    assert events.tap is before


def test_errors_of_the_interpreter_name_the_type_as_numpys(np: Any) -> None:
    kinds = (np.zeros(3), real.zeros(3))

    def said(use: Any, x: Any) -> str:
        with pytest.raises((TypeError, AttributeError)) as caught:
            use(x)
        return str(caught.value)

    for use in (
        lambda x: x.foo,
        lambda x: {x: 1},
        lambda x: "text" + x,
        lambda x: [][x],
        lambda x: x(),
        lambda x: setattr(x, "foo", 1),
    ):
        assert said(use, kinds[0]) == said(use, kinds[1])
    for name in ("__name__", "__qualname__", "__module__"):
        assert getattr(np.ndarray, name) == getattr(real.ndarray, name)
    assert repr(np.ndarray) == repr(real.ndarray)


def test_array_struct_is_read_by_name(np: Any) -> None:
    x = np.arange(6.0).reshape(2, 3).T
    seen = real.asarray(type("Holder", (), {"__array_struct__": x.__array_struct__})())
    del x
    real.testing.assert_array_equal(seen, real.arange(6.0).reshape(2, 3).T)


def test_windows_share_their_buffer(np: Any) -> None:
    memory = bytearray(8)
    window = np.asarray(memory)
    assert type(window) is np.ndarray
    window[0], memory[1] = 3, 4
    assert (memory[0], window[1]) == (3, 4)


def test_windows_that_stay_are_reported(np: Any) -> None:
    with Profile() as profile:
        window = np.frombuffer(bytearray([0, 2, 1, 0]), bool)  # of which a library might read the 2 otherwise
        copy = np.array(bytearray(8))
    assert type(window) is real.ndarray and isinstance(copy, ad.Array)
    assert [(n.what, n.why) for n in profile.left_numpy()] == [
        ("numpy.frombuffer", "it is a window on a writable buffer")
    ]


def test_a_subclass_shares_memory_by_moving_it(np: Any, backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.default, "min_size", 0)

    class Info(np.ndarray):  # type: ignore[misc]
        pass

    x = np.arange(6.0)
    part = x[1:4]
    x.copy().view(Info)
    assert x.backend is backend
    seen = part.view(Info)
    assert x.backend is backend
    seen[:] = 7
    part[0] = 5
    assert (x.tolist(), seen.tolist()) == ([0.0, 5.0, 7.0, 7.0, 4.0, 5.0], [5.0, 7.0, 7.0])
    assert (x + 1).backend is backend


def test_a_subclass_of_what_cannot_move_is_read_only(np: Any, backend: Any) -> None:
    """Without the launcher no array changes its library."""

    class Info(real.ndarray[Any, Any]):
        pass

    x = ad.wrap(ad.asarray(real.arange(3.0)).native)
    seen = ad.Array.view(x, Info)
    assert seen.flags.writeable == backend.shares_with_host(x.native)
    x.flags.writeable = False
    assert not ad.Array.view(x, Info).flags.writeable


@pytest.mark.compiles(3)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.usefixtures("way")
def test_out_by_position_is_what_is_returned(np: Any) -> None:
    """Once as NumPy's own function gives it; every ufunc of numbers, with one output and with several."""
    for name in sorted(vars(real)):
        func = getattr(real, name)
        if not isinstance(func, real.ufunc) or func.signature is not None or name in ("maximum", "minimum"):
            continue
        values = [real.array([3, 5, 2]), real.array([2, 1, 1])][: func.nin]
        try:
            expected = func(*values)
        except TypeError:  # of times, or of strings
            continue
        expected = expected if type(expected) is tuple else (expected,)
        outs = [np.zeros(x.shape, x.dtype) for x in expected]
        seen = [out[:] for out in outs]
        made = getattr(np, name)(*map(np.array, values), *outs)
        for part, out, view, right in zip(made if type(made) is tuple else (made,), outs, seen, expected, strict=True):
            assert part is out, name
            real.testing.assert_allclose(real.asarray(out), right, 1e-12, err_msg=name)
            real.testing.assert_array_equal(real.asarray(view), real.asarray(out), err_msg=name)
    with pytest.raises(TypeError):
        np.add(np.ones(3))
    with pytest.raises(TypeError):
        np.add(np.ones(3), 1, np.ones(3), np.ones(3))


def test_a_small_array_shares_its_memory_beside_an_accelerator_too(
    np: Any, backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if backend.name == "numpy":
        pytest.skip("inapplicable: its arrays are ndarrays")
    monkeypatch.setitem(settings._on_cpu, backend.name, False)

    class Holds:
        def __init__(self, values: Any) -> None:
            self.values = values

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return self.values

    with settings.kept():
        settings.default.min_size = 100
        small, large = real.arange(50.0), real.arange(200.0)
        for values in (small, large):
            array = np.asarray(Holds(values))
            assert isinstance(array, ad.Array)
            array[0] = 7
            assert values[0] == (7 if values is small else 0)


ODD_CALLS: dict[str, Callable[[Any], Any]] = {
    "an output that is not given, beside one that is larger": lambda np: np.modf(np.int8(3), out=(np.zeros(5), None)),
    "the other one": lambda np: np.frexp(2, out=(None, np.zeros(5, "i4"))),
    "of an array": lambda np: np.modf(np.arange(3.5)[:, None], out=(None, np.zeros((4, 3)))),
    "masked": lambda np: np.modf(np.arange(3.5), out=(np.zeros((2, 4)), np.zeros((2, 4))), where=np.arange(4) > 1),
    "an empty list beside an empty array": lambda np: np.add([[], np.arange(0)], 1),
    "no ufunc": lambda np: np.array([[], np.arange(0)]),
    "of booleans": lambda np: np.array([np.arange(0) > 1, []]),
    "an empty array of NumPy's": lambda np: np.array([real.zeros(0, int), np.arange(0) > 1]),
    "of a list of lists": lambda np: np.append(np.arange(2), [[], np.arange(0)]),
    "a NumPy boolean that must be an array": lambda np: np.require(np.bool_(True), requirements="CW"),
}


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("call", ODD_CALLS)
def test_odd_calls(np: Any, call: str) -> None:
    ours, theirs = ODD_CALLS[call](np), ODD_CALLS[call](real)
    for got, wanted in zip(*(x if type(x) is tuple else (x,) for x in (ours, theirs)), strict=True):
        assert (got.dtype, got.shape, got.flags.writeable) == (wanted.dtype, wanted.shape, wanted.flags.writeable)
        real.testing.assert_array_equal(real.asarray(got), wanted)
        if got.size:
            got[...] = 0
            got[(0,) * got.ndim] = 7  # no element is another's
            wanted[...] = 0
            wanted[(0,) * wanted.ndim] = 7
            real.testing.assert_array_equal(real.asarray(got), wanted)
