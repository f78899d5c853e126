"""The compiled core is of the sources that are there, all of it or nothing, and without it nothing is different."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import shutil
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.backends.base import Kind
from arraydispatch.common.callable_proxy import Called
from arraydispatch.memory import views
from arraydispatch.ufuncs.plans import Plan

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def build() -> Any:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_of_these_sources(build: Any) -> None:
    """Else the tests are of something else than the files: `make` compiles what has changed, as does `python hatch_build.py`."""
    if views.compiled:
        assert build.state() == views._fields.SOURCES
    files = {
        name: importlib.import_module(f"arraydispatch.{name.replace('/', '.')}").__file__ for name in build.MODULES
    }
    assert {Path(str(file)).suffix == ".py" for file in files.values()} == {not views.compiled}


def test_slots_lie_where_they_are_read() -> None:
    if not views.compiled:
        pytest.skip("nothing is compiled here")
    for cls in (views.Handle, Kind, Plan):
        assert views.fields(cls) is cls
    with pytest.raises(SystemError, match="is not where"):
        views._fields.check(Kind, ("dtype", "backend"))
    with pytest.raises(AttributeError):
        views._fields.check(Kind, ("bogus",))
    with pytest.raises(TypeError, match="by position"):
        views.wrapper(1, 2, owned=True)


def test_no_slot_of_a_new_array_is_empty() -> None:
    """A compiled module reads them as they are."""
    if not views.compiled:
        pytest.skip("nothing is compiled here")

    class Made(views.Handle):
        __slots__ = ()

    made = [views.Handle(), Made(), views.maker(Made).bare(), Made._holding(None, None)]  # type: ignore[attr-defined]
    for a in made:
        assert (a._v, a._kind, a._base, a._root, a._ghost, a._seen, a._writes) == (None, None, None, None, None, 0, 0)
    with pytest.raises(TypeError, match="not safe"):
        object.__new__(Made)
    with pytest.raises(TypeError, match="no class of arrays"):
        views._fields.bare(int)


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
        assert not hasattr(new, "_views") and not hasattr(new, "_twin") and not hasattr(new, "_looks")
        assert weakref.getweakrefcount(new) == 0 and gc.is_tracked(new)
    assert len(told) == 600


def test_operators_find_methods_that_are_assigned_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    if not views.compiled:
        pytest.skip("nothing is compiled here")
    with pytest.raises(TypeError, match="no class of arrays"):
        views._fields.direct(int)

    class Own(ad.Array):
        __slots__ = ()

    kind = ad.asarray(np.arange(3.0))._kind
    a = Own._holding(np.arange(3.0), kind)
    views._fields.direct(Own)
    try:
        assert (a + 1)._v.tolist() == (1 + a)._v.tolist() == [1, 2, 3]
        monkeypatch.setattr(Own, "__add__", lambda self, other: "own", raising=False)
        monkeypatch.setattr(Own, "__getitem__", lambda self, key: key, raising=False)
        assert a + 1 == "own" and a[7] == 7 and (1 + a)._v.tolist() == [1, 2, 3]
        views._fields.direct(Own)
        assert a + 1 == "own" and a[7] == 7
    finally:
        views._fields.direct(views.wrapper.cls)  # type: ignore[attr-defined]


def test_what_is_called_may_be_exchanged() -> None:
    class Own(Called):  # type: ignore[misc]
        def __init__(self, target: Any) -> None:
            self.target = target

    own = Own(max)
    assert own(3, 4) == 4 and own([1, 5], key=lambda x: -x) == 1 and own.target is max
    own.target = lambda *args, **kwargs: (args, kwargs)
    assert own(1, b=2) == ((1,), {"b": 2})
    own.target = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        own()


def test_what_does_not_compile_is_left_to_python(build: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "PACKAGE", tmp_path)
    for name in build.MODULES:
        (tmp_path / name).parent.mkdir(exist_ok=True)

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
    if not views.compiled:
        pytest.skip("nothing is compiled here: all tests are of that")
    _passes(
        pure,
        "-k",
        "not torch and not tensorflow",  # the start of each takes longer than what is tested; the long test below has them
        "tests/test_core.py",
        "tests/launcher/test_host_state.py",
        "tests/launcher/test_frames.py",
        "tests/engine/test_launched.py",
        "tests/launcher/test_noise.py::test_who_wants_a_buffer_hears_of_tobytes",  # the core lends the memory instead
    )


@pytest.mark.long
def test_without_it_all_that_it_does_is_the_same(pure: Path) -> None:
    if not views.compiled:
        pytest.skip("nothing is compiled here: all tests are of that")
    _passes(
        pure,
        "tests/engine",
        "tests/launcher",
        "tests/test_contexts.py",
        "tests/test_floating_errors.py",
        "tests/test_views.py",
    )
