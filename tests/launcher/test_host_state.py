"""The host state: an array is an ``Array`` of its library wherever its value is, and the value is where it costs least."""

from __future__ import annotations

import contextlib
import operator
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as real
import pytest

import arraydispatch as ad
from arraydispatch import fastpath
from arraydispatch.backends import loader
from arraydispatch.launcher.activation import Activation
from arraydispatch.launcher.user_files import UserFiles
from arraydispatch.profiling.recorder import Profile
from arraydispatch.profiling.verification import Verification
from arraydispatch.runtime import settings

HERE = Path(__file__).parent
LIMIT = 100


@pytest.fixture(params=[name for name in loader.available() if name != "numpy"])
def np(request: pytest.FixtureRequest) -> Iterator[Any]:
    before = ad.default_backend().name
    ad.use(request.param)
    settings.default.min_size = LIMIT
    try:
        with Activation(UserFiles([str(HERE)])):
            import numpy

            yield numpy
    finally:
        settings.default.min_size = 0
        ad.use(before)


def hosted(x: Any) -> bool:
    assert isinstance(x, ad.Array)
    return x._kind.backend.hosted


def test_nothing_that_a_program_sees_tells_the_state(np: Any) -> None:
    few, many = np.ones(LIMIT - 1), np.ones(LIMIT * 2)
    computed = many * 2.0 + few[0]
    for x in (few, many, computed, few * 2, many[1:], computed[::2]):
        assert type(x) is np.ndarray
        assert x.backend is ad.default_backend()
        assert x.backend.is_native(x.native)
        assert x.device.kind == "CPU"
        assert x.dtype == real.float64


def test_every_new_array_begins_on_the_host(np: Any) -> None:
    for make in (
        np.zeros,
        np.ones,
        np.empty,
        np.arange,
        np.random.rand,
        np.hanning,
        np.eye,
        lambda n: np.array([1.0] * n),
    ):
        assert hosted(make(LIMIT - 1))
        assert hosted(make(LIMIT + 1))


@pytest.mark.parametrize("verified", [False, True])
def test_a_value_goes_to_the_library_once_whatever_asks_for_it(np: Any, verified: bool) -> None:
    """With operands that say where they are, and with such as do not; beside NumPy's look at it too."""
    x = np.linspace(-1.0, 1.0, 20_000)
    with Profile() as profile, Verification() if verified else contextlib.nullcontext():
        for _ in range(3):
            np.where(x > 0, x, 0.0)
            np.sin(x)
    assert profile.moved("to_device") <= x.nbytes


def test_of_a_programs_own_arrays_nobody_is_told_to_make_arrays(np: Any) -> None:
    """Views are moved anew, as a library that aliases nothing copies them, and np.asarray would change nothing."""
    x = np.linspace(-1.0, 1.0, 20_000)
    with Profile() as profile:
        for _ in range(5):
            x[1:] + x[:-1]
            np.sin(x.reshape(200, 100).T)
    assert (profile.repeated_uploads(), profile.returns()) == ([], [])


def test_size_decides_at_each_call(np: Any) -> None:
    few, many = np.arange(50.0), np.arange(LIMIT * 1.0)
    with Profile() as profile:
        few * 2.0
        np.sin(few)
        few.sum()
    assert profile.calls_on_backend == 0
    with Profile() as profile:
        many * 2.0
        np.sin(many)
        np.sum(many)
        np.var(many)
        many + few[:1]
    assert profile.calls_on_backend + profile.calls_by_class().get("host kernel", 0) >= 5
    assert "hosted" not in profile.calls_by_class() or profile.calls_by_class()["hosted"] == 1  # the slice
    with Profile() as profile:
        np.median(many)
    assert profile.calls_on_backend == 0  # it is left to NumPy


def test_what_moves_values_is_numpys_at_any_size(np: Any) -> None:
    many = np.arange(LIMIT * 2.0)
    with Profile() as profile:
        made = [
            np.concatenate([many, many]),
            many.reshape(2, -1),
            many[::-1],
            many.copy(),
            many[many > 3],
            np.zeros_like(many),
        ]
        many[3:] = 1.0
    assert all(map(hosted, made))
    # Of these only the comparison computes.
    assert profile.calls_on_backend == 1


def test_views_of_values_on_the_host_are_views_of_the_same_memory(np: Any) -> None:
    x = np.arange(12.0).reshape(3, 4)
    view, turned = x[1], x.T
    view[0] = 50
    turned[3, 2] = 60
    assert x.tolist() == [[0, 1, 2, 3], [50, 5, 6, 7], [8, 9, 10, 60]]
    assert view.base is x.base
    assert np.shares_memory(turned, x)


def test_views_follow_a_value_that_comes_to_the_host(np: Any) -> None:
    """Views made while the library held the value, and after, are views of one memory."""
    x = np.ones((LIMIT, 3)) * 2.0
    row, column, late = x[4], x[:, 1], x[::-1]
    x[4, 1] = 7.0
    assert row.tolist() == [2.0, 7.0, 2.0]
    assert column[4] == 7.0
    column[0] = 9.0
    assert x[0, 1] == late[-1, 1] == 9.0
    row += 1
    assert x[4].tolist() == [3.0, 8.0, 3.0]
    assert hosted(x)


@pytest.mark.parametrize("cut", [slice(1, None), slice(None, None, -1)], ids=str)
def test_a_view_that_is_older_than_the_lock_of_its_root_can_be_written(np: Any, cut: slice) -> None:
    """As in NumPy, also where reading an element brings root and view to the host."""
    for read in (lambda x: x[3], lambda x: [e for e, _ in zip(x, range(3))]):
        x = np.ones(LIMIT) * 2.0
        view, locked = x[cut], x[2:4]
        locked.flags.writeable = False
        x.flags.writeable = False
        read(x)
        view[1] = 7.0
        assert x.tolist() == real.where(real.arange(LIMIT) == range(LIMIT)[cut][1], 7.0, 2.0).tolist()
        assert (x.flags.writeable, view.flags.writeable, locked.flags.writeable) == (False, True, False)
        for a in (x, locked):
            with pytest.raises(ValueError, match="read-only"):
                a[0] = 1.0
            assert 1.0 not in a


def test_arrays_in_a_tuple_of_indices_are_looked_at_and_let_go(np: Any) -> None:
    """An index that NumPy asked for an ndarray by ``__array__`` would count as seen by somebody who may write to it."""
    x, rows, mask = np.arange(30.0).reshape(5, 6), np.array([0, 3, 3]), np.array([True, False, True, False, False])
    like, picked = real.arange(30.0).reshape(5, 6), real.array([0, 3, 3])
    assert x[rows, rows].tolist() == like[picked, picked].tolist()
    assert x[1:, rows].tolist() == like[1:, picked].tolist()
    assert x[mask, 2:].tolist() == like[[0, 2], 2:].tolist()
    x[rows, 1] = -1.0
    x[rows, rows] += 1.0
    like[picked, 1] = -1.0
    like[picked, picked] += 1.0
    assert x.tolist() == like.tolist()
    assert rows._owned and mask._owned
    with pytest.raises(IndexError, match="arrays used as indices must be of integer"):
        x[rows * 1.0, rows]
    with pytest.raises(IndexError, match="out of bounds"):
        x[rows + 9, rows]


def test_the_library_sees_what_was_written(np: Any) -> None:
    """The library's copy of a value is of the moment it is asked for, through whatever view it was written since."""
    x = np.zeros((LIMIT, 2))
    view = x[:, 0]
    total = [float(np.sum(x + 1.0))]
    for write in (
        lambda: x.__setitem__((0, 0), 1.0), lambda: view.__setitem__(3, 1.0), lambda: np.copyto(view[5:6], 1.0),
        lambda: x.fill(2.0), lambda: np.put(x, [0], 0.0), lambda: np.add.at(view, [1, 1], 1.0),
        lambda: np.add(x, 1.0, out=x), lambda: x.__iadd__(1.0), lambda: x.sort(axis=0), lambda: np.asarray(x).fill(3.0),
        lambda: x.flat.__setitem__(5, 0.0), lambda: setattr(x, "real", 4.0), lambda: np.fill_diagonal(x, 5.0),
    ):  # fmt: skip
        write()
        total.append(float(np.sum(x + 1.0)))
        assert total[-1] == real.sum(real.array(x.tolist()) + 1.0)
    assert len(set(total)) > 8


def test_native_shares_memory_or_is_a_copy(np: Any) -> None:
    x = np.zeros(4)
    native = x.native
    x[0] = 1.0
    shared = float(native[0]) == 1.0
    assert shared == x.backend.mutable
    assert float(x.native[0]) == 1.0


def test_arrays_of_two_libraries_do_not_mix(np: Any) -> None:
    other = next(name for name in loader.available() if name not in ("numpy", ad.default_backend().name))
    x = np.zeros(3)
    with ad.backend(other):
        y = np.ones(3)
    for call in (lambda: x + y, lambda: np.add(x, y), lambda: np.concatenate([x, y])):
        with pytest.raises(ad.BackendMismatchError, match="convert one first"):
            call()
    assert (x + ad.convert(y, x.backend)).tolist() == [1, 1, 1]


def test_scalars_are_numpys(np: Any) -> None:
    a = np.arange(3.0)
    assert type(a.sum()) is type(a[1]) is type(np.max(a)) is real.float64


def test_precision_holds(np: Any) -> None:
    with ad.precision(32):
        a = np.ones(3)
        assert a.dtype == (a * 2.0).dtype == np.mean(np.arange(3)).dtype == real.float32
    with ad.precision(16):
        assert not hosted(np.ones(3))
    assert np.ones(3).dtype == (np.ones(3) * 2.0).dtype == real.float64


def test_the_thin_path_is_in_force_only_where_nothing_else_decides(np: Any) -> None:
    assert fastpath.least == LIMIT
    with ad.precision(32):
        assert fastpath.least == 0
        with ad.profile():
            assert fastpath.least == 0
        assert fastpath.least == 0
    with ad.profile() as profile:
        assert fastpath.least == 0
        np.zeros(3) + 1
    assert fastpath.least == LIMIT
    assert {call.function for call in profile.calls()} == {"np.zeros", "np.add"}
    before = fastpath.calls()
    np.zeros(3) + 1
    assert fastpath.calls() == before + 2


def test_constants_of_a_loop_go_to_the_library_once(np: Any) -> None:
    large, few = np.ones((LIMIT, 3)) * 1.0, np.array([1.5, 2.5, 4.5])
    with Profile() as profile:
        for _ in range(5):
            large * few
    assert sum(row.nbytes for row in profile.transfers() if row.direction == "to_device") <= 24
    few[0] = -1
    assert (large * few)[0].tolist() == [-1, 2.5, 4.5]


@pytest.mark.parametrize("size", [LIMIT // 2, LIMIT * 2])
def test_iterators_walk_the_array(np: Any, size: int) -> None:
    """What they write is there at once, and what is written meanwhile they see; also where the library made the values."""
    x = np.arange(size * 1.0) * 1.0
    it = np.nditer(x, op_flags=["readwrite"])
    it[0] = -5.0
    assert x[0] == -5.0
    with np.nditer(x, op_flags=["readwrite"]) as it:
        for i, each in enumerate(it):
            each[...] = 7.0
            if i == 3:
                break
    assert x[:5].tolist() == [7.0, 7.0, 7.0, 7.0, 4.0]
    seen = []
    for (i,), value in np.ndenumerate(x):
        seen.append(value)
        if i == 0:
            x[1] = 50.0
    assert seen[1] == 50.0
    total = 0.0
    for value in np.nditer(x):
        total += float(value)
        x[-1] = 0.0
    assert total == x.sum()


_OPERATORS = "eq ne lt le gt ge add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift".split()


def _outcome(act: Any, *operands: Any) -> Any:
    with real.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        try:
            found = act(*operands)
        except Exception as error:
            return type(error).__name__
    return real.asarray(found).dtype, str(ad.to_numpy(found) if isinstance(found, ad.Array) else found)


@pytest.mark.parametrize("scalar", [True, False, 2, 1.5, 2j], ids=repr)
def test_every_operator_with_python_scalars(np: Any, scalar: Any) -> None:
    for make in (
        lambda xp: xp.arange(5) > 2,
        lambda xp: xp.arange(5),
        lambda xp: xp.arange(5.0),
        lambda xp: xp.ones(2) * 1j,
    ):
        ours, theirs = make(np), make(real)
        assert hosted(ours)
        for name in _OPERATORS:
            act = getattr(operator, name)
            for _ in range(2):  # the second time by plan
                found = [(_outcome(act, x, scalar), _outcome(act, scalar, x)) for x in (ours, theirs)]
                assert found[0] == found[1], (name, theirs.dtype)


def test_a_block_names_the_backend_of_new_arrays(np: Any) -> None:
    makers = (lambda: np.zeros(3), lambda: np.ones(3, int), lambda: np.array([1.0, 2.0]), lambda: np.arange(3))
    for made in (make() for make in makers):
        assert made.backend is ad.default_backend()
    with ad.backend("numpy") as block:
        for made in (make() for make in makers):
            assert made.backend is block
    for made in (make() for make in makers):
        assert made.backend is ad.default_backend()


WRONG: dict[str, Any] = {
    "+ of shapes that do not fit": lambda np, a, b, t: a + b,
    "< of shapes that do not fit": lambda np, a, b, t: a < b,
    "== of shapes that do not fit": lambda np, a, b, t: a == b,
    "@ of shapes that do not fit": lambda np, a, b, t: a @ b,
    "+= of a larger shape": lambda np, a, b, t: operator.iadd(a, np.ones((2, 5))),
    "+= of another kind": lambda np, a, b, t: operator.iadd(a, 1j),
    "//= of another kind": lambda np, a, b, t: operator.ifloordiv(np.arange(5), 2.5),
    "- of booleans": lambda np, a, b, t: t - t,
    "negative booleans": lambda np, a, b, t: -t,
    "& of floats": lambda np, a, b, t: a & a,
    "shift of floats": lambda np, a, b, t: a << 1,
    "a Python int out of range": lambda np, a, b, t: np.zeros(3, np.int8) + 300,
    "where of two": lambda np, a, b, t: np.where(t, t),
    "where of nothing": lambda np, a, b, t: np.where(),
    "where of four": lambda np, a, b, t: np.where(t, t, t, t),
    "where of shapes that do not fit": lambda np, a, b, t: np.where(t, a, b),
    "concatenate along no axis": lambda np, a, b, t: np.concatenate((a, b), axis=3),
    "concatenate of different ranks": lambda np, a, b, t: np.concatenate((a, np.ones((2, 2)))),
    "concatenate with an unknown option": lambda np, a, b, t: np.concatenate((a, b), bogus=1),
    "sum with an unknown option": lambda np, a, b, t: np.sum(a, bogus=1),
    "sum along no axis": lambda np, a, b, t: np.sum(a, axis=2),
    "sqrt of too many": lambda np, a, b, t: np.sqrt(a, a, a),
    "sqrt of nothing": lambda np, a, b, t: np.sqrt(),
    "sqrt by a keyword": lambda np, a, b, t: np.sqrt(x=a),
    "zeros of a negative shape": lambda np, a, b, t: np.zeros(-1),
    "zeros with too many": lambda np, a, b, t: np.zeros(3, float, "C", "cpu"),
    "zeros in no order": lambda np, a, b, t: np.zeros(3, float, "Q"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_calls_of_small_values_say_what_numpy_says(np: Any, what: str) -> None:
    said = []
    for module in (real, np):
        with pytest.raises((TypeError, ValueError, OverflowError)) as raised:
            WRONG[what](module, module.ones(5), module.ones(4), module.ones(3) > 0)
        said.append((raised.type, str(raised.value)))
    assert said[0] == said[1]


BEGINS_LATE = """
import logging, random, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format="%(name)s %(message)s")
import numpy as np
np.random.seed(5); random.seed(5)
few = np.random.randn(3)
assert sys.argv[1:] == [] or sys.argv[1] not in sys.modules
many = np.arange(12.0).reshape(3, 4)
print((many @ many.T).sum())
print(np.random.randn(3), random.random())
logging.info("mine")
"""


@pytest.mark.one_backend
@pytest.mark.parametrize("library", [name for name in loader.available() if name != "numpy"])
def test_a_library_that_is_imported_late_is_not_noticed(library: str, tmp_path: Path) -> None:
    script = tmp_path / "late.py"
    script.write_text(BEGINS_LATE)
    run = [sys.executable, "-m", "arraydispatch", "run", "--min-size", "8", "--backend", library, str(script), library]
    plain = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    ours = subprocess.run(run, capture_output=True, text=True, check=False)
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout == plain.stdout
    assert "NumPy computed everything" not in ours.stderr


WORKERS = """
import multiprocessing, pickle, sys
import numpy as np
def work(a):
    return a * 2, float(a.sum()), sys.argv[1] in sys.modules
if __name__ == "__main__":
    for how in ("fork", "spawn"):
        with multiprocessing.get_context(how).Pool(2) as pool:
            for doubled, total, loaded in pool.map(work, [np.arange(4.0) + i for i in range(3)]):
                print(type(doubled) is np.ndarray, doubled, total, loaded)
    print(pickle.loads(pickle.dumps(np.ones(2))) + 1, sys.argv[1] in sys.modules)
"""


@pytest.mark.one_backend
@pytest.mark.parametrize("library", [name for name in loader.available() if name != "numpy"])
def test_workers_import_no_library_for_small_arrays(library: str, tmp_path: Path) -> None:
    """Each of them took seconds for it."""
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    run = [sys.executable, "-m", "arraydispatch", "run", "--backend", library, str(script), library]
    plain = subprocess.run([sys.executable, script, library], capture_output=True, text=True, check=True)
    ours = subprocess.run(run, capture_output=True, text=True, check=False)
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout == plain.stdout


def test_other_bits_under_numpy_random_are_kept_too() -> None:
    before = real.random.get_bit_generator()
    real.random.set_bit_generator(real.random.PCG64(3))
    try:
        state = real.random.get_bit_generator().state
        with loader._unnoticed(loader.KNOWN["numpy"]):
            real.random.rand(5)
            with pytest.raises(ZeroDivisionError), loader._unnoticed(loader.KNOWN["numpy"]):
                real.random.rand(1 // 0)
        assert real.random.get_bit_generator().state == state
    finally:
        real.random.set_bit_generator(before)


WARNS = """
import numpy as np
np.full(3, 1e308).sum()
np.full(3, 1e308).mean()
np.zeros(0).mean()
np.zeros(1).std(ddof=1)
"""


@pytest.mark.parametrize("library", loader.available())
def test_what_numpy_warns_of_within_itself_stays_there(library: str, tmp_path: Path) -> None:
    script = tmp_path / "warns.py"
    script.write_text(WARNS)
    said = []
    for way in ([], ["-m", "arraydispatch", "run", "--backend", library]):
        done = subprocess.run([sys.executable, *way, str(script)], capture_output=True, text=True, check=True)
        said.append([line for line in done.stderr.splitlines() if "Warning: " in line])
    assert len(said[0]) == 6
    assert said[1] == said[0]


NONE_LARGE = """
import sys
import numpy as np
words, days = np.array(["b", "a"]), np.array(["2024-01-01", "2024-02-01"], "M8[D]")
print(np.char.upper(words), np.char.str_len(words), np.strings.find(words, "a"), np.sort(words), words == "a")
print(np.diff(days), np.is_busday(days), days.astype("M8[M]"), (days - days[0]) / np.timedelta64(1, "D"))
print(np.r_[0, -np.ones(3)], np.r_[np.zeros(2), 1j], np.c_[np.ones(2), [1, 2]], np.ix_([0, 1], [1]))
print(np.array([(1, 2.0)], dtype="i4,f8")["f1"] + 1, np.array([1, None], dtype=object), np.longdouble([1, 2]) + 1)
print(np.vectorize(len)(words), np.where(np.arange(2) > 0, "x", "y"), np.ma.array([1.0, 2.0], mask=[0, 1]).sum())
print(sys.argv[1] in sys.modules)
"""


@pytest.mark.one_backend
@pytest.mark.parametrize("library", [name for name in loader.available() if name != "numpy"])
def test_no_library_is_imported_to_be_asked_for_dtypes(library: str, tmp_path: Path) -> None:
    """Under compiled execution too, which is the default of two libraries."""
    script = tmp_path / "small.py"
    script.write_text(NONE_LARGE)
    run = [sys.executable, "-m", "arraydispatch", "run", "--backend", library, str(script), library]
    plain = subprocess.run([sys.executable, script, library], capture_output=True, text=True, check=True)
    ours = subprocess.run(run, capture_output=True, text=True, check=False)
    assert ours.stdout == plain.stdout, ours.stderr
    assert plain.stdout.endswith("False\n")
