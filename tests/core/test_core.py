"""The compiled core is of the sources that are there, all of it or nothing, and without it nothing is different."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import shutil
import subprocess
import sys
import sysconfig
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch._core import handles
from arraydispatch._core.callable_proxy import Called
from arraydispatch.common.members import FORMED, MEMBERS
from arraydispatch.common.process_state import process
from arraydispatch.fastpath import creation

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def build() -> Any:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_of_these_sources(build: Any) -> None:
    """Else the tests are of something else than the files: `make` compiles what has changed, as does `python hatch_build.py`."""
    if handles.compiled:
        assert build.state() == handles._compiled.SOURCES
    files = {
        name: importlib.import_module(f"arraydispatch.{name.replace('/', '.')}").__file__ for name in build.MODULES
    }
    assert {Path(str(file)).suffix == ".py" for file in files.values()} == {not handles.compiled}
    assert build.stale() == []


def test_what_is_compiled_of_other_modules_is_removed(
    build: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python would import it in place of a module that is compiled no longer."""
    (tmp_path / "dispatch").mkdir()
    monkeypatch.setattr(build, "PACKAGE", tmp_path)
    old = tmp_path / f"dispatch/wrapping{sysconfig.get_config_var('EXT_SUFFIX')}"
    for path in (old, *build.compiled(), tmp_path / "dispatch/wrapping.py"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert build.stale() == [old]
    build.remove()
    assert [path.name for path in tmp_path.rglob("*.*")] == ["wrapping.py"]


def test_each_slot_has_a_form() -> None:
    if not handles.compiled:
        pytest.skip("inapplicable: nothing is compiled here")
    assert set(handles.general) == handles.SLOTS | FORMED and set(MEMBERS) >= handles.SLOTS
    assert set(vars(handles.Handle)) >= handles.SLOTS and not handles.SLOTS & set(vars(ad.Array))
    with pytest.raises(TypeError, match="there is no form of __"):
        handles._compiled.install({})
    with pytest.raises(TypeError, match="is no dict"):
        handles._compiled.install([])


def test_arrays_are_made_by_position() -> None:
    kind = ad.asarray(np.arange(3.0))._kind
    with pytest.raises(TypeError):
        process.wrapper(kind)
    if handles.compiled:
        with pytest.raises(TypeError):
            process.wrapper(1, kind, owned=True)
    made = handles.maker(handles.Handle)(1, kind, True)
    assert (made._v, made._kind, made._owned, made._writes, made._base) == (1, kind, True, 0, None)


def test_no_field_of_a_new_array_is_empty() -> None:
    """A compiled module reads them as they are."""
    if not handles.compiled:
        pytest.skip("inapplicable: nothing is compiled here")

    class Made(handles.Handle):
        __slots__ = ()

    class New(handles.Handle):
        __slots__ = ()

        def __new__(cls) -> Any:
            return None

    for a in (handles.Handle(), Made(), handles.bare(Made), Made.__new__(Made)):
        assert (a._v, a._kind, a._base, a._root, a._ghost, a._seen, a._writes) == (None, None, None, None, None, 0, 0)
        assert (a._twin, a._views, a._looks, a._owned) == (None, None, 0, False)
        for name in ("_v", "_twin", "_seen", "_owned"):
            with pytest.raises(AttributeError, match="cannot be deleted"):
                delattr(a, name)
        with pytest.raises(TypeError):
            a._writes = "many"  # type: ignore[assignment]
        with pytest.raises(TypeError, match="unhashable"):
            hash(a)
    with pytest.raises(TypeError, match="not safe"):
        object.__new__(Made)
    for cls in (int, New, 3):
        with pytest.raises(TypeError, match="no class of arrays"):
            handles.bare(cls)  # type: ignore[arg-type]


def test_the_memory_of_an_array_is_used_again_and_nothing_else_of_it() -> None:
    """Neither weak references nor slots of a class of the user's; what is in a cycle is found by the collector."""

    class Own(ad.Array):
        __slots__ = ("more",)

    first = ad.asarray(np.arange(3.0))
    made, kind = type(first), first._kind
    told: list[Any] = []
    for _ in range(3):
        arrays = [made._holding(np.arange(3.0), kind) for _ in range(200)]
        seen = [weakref.ref(a, told.append) for a in arrays]
        arrays[0]._views = [weakref.ref(arrays[1])]
        held = [Own._holding(np.arange(3.0), kind) for _ in range(10)]
        for a in held:
            a.more = a
        own = weakref.ref(held[0])
        del arrays, a, held
        assert not any(ref() is not None for ref in seen)
        gc.collect()
        assert own() is None
        new = made._holding(np.arange(3.0), kind)
        assert not getattr(new, "_views", None) and not getattr(new, "_twin", None) and not getattr(new, "_looks", 0)
        assert weakref.getweakrefcount(new) == 0 and gc.is_tracked(new) != handles.compiled
    assert len(told) == 600


def test_operators_find_methods_that_are_assigned_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    class Own(ad.Array):
        __slots__ = ()

    kind = ad.asarray(np.arange(3.0))._kind
    a = Own._holding(np.arange(3.0), kind)
    assert (a + 1)._v.tolist() == (1 + a)._v.tolist() == [1, 2, 3]
    monkeypatch.setattr(Own, "__add__", lambda self, other: "own", raising=False)
    monkeypatch.setattr(Own, "__getitem__", lambda self, key: key, raising=False)
    monkeypatch.setattr(Own, "sum", lambda self: "sum", raising=False)
    assert a + 1 == "own" and a[7] == 7 and (1 + a)._v.tolist() == [1, 2, 3] and a.sum() == "sum"
    monkeypatch.undo()
    assert (a + 1)._v.tolist() == [1, 2, 3] and a.sum() == 3


def test_the_forms_in_force_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    a = ad.asarray(np.arange(3.0))
    before = dict(vars(ad.Array)), dict(vars(handles.Handle))
    handles.install({"__add__": lambda x, y: "form", "sum": lambda x, **_: "sum", "shape": property(lambda x: "shape")})
    try:
        assert (a + 1, a.sum(axis=0), a.shape) == ("form", "sum", "shape")
        assert a.__add__(1) == ad.Array.__add__(a, 1) == "form" and ad.Array.sum(a) == "sum"
        assert a.mean() == 1

        def over(name: str, form: Any) -> Any:
            return (lambda x, y: (form(x, y), name)) if name == "__add__" else None

        handles.lay_over(over)
        assert (a + 1, a.sum()) == (("form", "__add__"), "sum")
        handles.install({})
        assert (a + 1)[0].tolist() == [1, 2, 3] and a.sum() == 3
        handles.take_off(over)
        assert (dict(vars(ad.Array)), dict(vars(handles.Handle))) == before  # nothing is assigned to a class
    finally:
        handles.install({})
    assert (a + 1).tolist() == [1, 2, 3] and a.sum() == 3 and a.shape == (3,)
    with pytest.raises(AttributeError):
        a.T = a  # type: ignore[misc]


def test_what_is_called_may_be_exchanged() -> None:
    class Own(Called):  # type: ignore[misc]
        def __init__(self, target: Any) -> None:
            self.target = target

    own = Own(max)
    assert own(3, 4) == 4 and own([1, 5], key=lambda x: -x) == 1 and own.target is max
    assert Own.__call__(own, 3, 4) == 4 and Own.__call__(own, [1, 5], key=lambda x: -x) == 1
    own.target = lambda *args, **kwargs: (args, kwargs)
    assert own(1, b=2) == ((1,), {"b": 2})
    own.target = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        own()


@pytest.mark.parametrize("given", range(6))
def test_a_shorter_function_is_called_for_its_number_of_arguments(given: int) -> None:
    def target(*args: Any, **kwargs: Any) -> Any:
        return "target", args, kwargs

    shorter = [lambda *args, count=count: (count, args, {}) for count in range(1, handles.MOST_SHORT + 1)]
    onto = [None, lambda x, y, out: ("out", (x, y, out), {})]
    called = Called()
    called.target = handles.shortened(target, *shorter, out=tuple(onto))
    args = tuple(range(given))
    short = handles.compiled and 0 < given <= handles.MOST_SHORT
    assert called(*args) == ((given if short else "target"), args, {})
    assert called(*args, other=1) == ("target", args, {"other": 1})
    assert called(*args, out=1, other=1) == ("target", args, {"out": 1, "other": 1})
    wanted = ("out", (0, 1, 9), {}) if handles.compiled and given == 2 else ("target", args, {"out": 9})
    assert called(*args, out=9) == wanted
    called.target = lambda *args, **kwargs: "other"
    assert called(*args) == called(*args, out=1) == "other"


def test_a_sequence_that_contains_itself_is_not_plain() -> None:
    alone: list[Any] = []
    alone.append((alone,))
    assert not creation.plain_sequence(alone)
    assert creation.plain_sequence([[1, 2.0], (3,), []])


def test_a_target_without_a_hash_is_called() -> None:
    class Target:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self, x: int) -> int:
            return x + 1

    called = Called()
    called.target = Target()
    assert called(1) == 2


def test_classes_and_finalizers_of_arrays_are_let_go() -> None:
    made = ad.asarray(np.arange(3.0))
    kinds = [type(made), type("Users", (type(made),), {}), type("Slots", (type(made),), {"__slots__": ("a",)})]
    ended: list[str] = []
    kinds.append(type("Final", (type(made),), {"__del__": lambda self: ended.append(str(len(self)))}))
    for cls in kinds:
        gc.collect()
        before = sys.getrefcount(cls)
        for _ in range(200):  # more than the memory that is kept
            each = handles.new_array(cls, made._v, made._kind, True, None)
            reference = weakref.ref(each)
            again, loop = each, [each]
            loop.append(loop)  # the collector ends it
            del each, again, loop
        gc.collect()
        assert reference() is None and sys.getrefcount(cls) == before, cls
    assert ended == ["3"] * 200
    revived: list[Any] = []

    def revive(self: Any) -> None:
        revived.append(self)

    cls = type("Revived", (type(made),), {"__del__": revive})
    handles.new_array(cls, made._v, made._kind, True, None)
    assert len(revived) == 1 and len(revived[0]) == 3 and type(revived[0]) is cls


def test_what_does_not_compile_is_left_to_python(build: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "PACKAGE", tmp_path)
    for name in build.MODULES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)

    def half() -> None:
        build.compiled()[3].touch()
        raise SystemExit("error: command 'cc' failed")

    monkeypatch.setattr(build, "_compile", half)
    with pytest.raises(SystemExit, match="cc"):
        build.build()
    assert not any(path.exists() for path in build.compiled())


@pytest.fixture(scope="module")
def pure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as it is where nothing compiles it, and its tests."""
    folder = tmp_path_factory.mktemp("pure")
    for name in ("arraydispatch", "tests", "docs"):
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "_build")
        )
    for name in ("pyproject.toml", "hatch_build.py", "README.md"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def _passes(folder: Path, *what: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not long", *what]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_without_it_small_calls_are_the_same(pure: Path) -> None:
    if not handles.compiled:
        pytest.skip("inapplicable: nothing is compiled here: all tests are of that")
    _passes(
        pure,
        "-k",
        "not torch and not tensorflow",  # the start of each takes longer than what is tested; the long test below has them
        "tests/core/test_core.py",
        "tests/launcher/test_host_state.py",
        "tests/launcher/test_frames.py",
        "tests/engine/test_launched.py",
        "tests/launcher/test_noise.py::test_who_wants_a_buffer_hears_of_tobytes",  # the core lends the memory instead
    )


@pytest.mark.long
def test_without_it_all_that_it_does_is_the_same(pure: Path) -> None:
    if not handles.compiled:
        pytest.skip("inapplicable: nothing is compiled here: all tests are of that")
    _passes(
        pure,
        "tests/engine",
        "tests/launcher",
        "tests/api/test_contexts.py",
        "tests/crowd/test_interleavings.py",
        "tests/dispatch/test_lookups.py",
        "tests/ufuncs/test_floating_errors.py",
        "tests/memory/test_views.py",
    )
