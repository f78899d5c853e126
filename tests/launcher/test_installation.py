"""Ways in for code that runs already: ``arraydispatch.numpy``, ``ad.install``, ``ad.accelerated``, ``@ad.accelerate``."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import numpy as np
import pytest
from numpy import zeros  # noqa: F401 -- a name that is exchanged

import arraydispatch as ad
from arraydispatch._core import handles
from arraydispatch.backends import loader
from arraydispatch.common.process_state import SETTINGS, process
from tests.launched import ROOT, Done, Zygotes

from .test_corpus import CORPUS, SHOWING

SCRIPTS = sorted(
    path.stem
    for path in CORPUS.glob("*.py")
    if not path.stem.startswith(("compiled", "visits", "syntax", "stdin", "exception_hook", "spawn_classes", "fork"))
    and (handles.compiled or path.stem not in SHOWING)
)
"""The corpus but for what Python does not run as a script by itself, for what other tests run with compilers and libraries, and for
what counts the frames of whoever runs it or has the classes of its `__main__` pickled: runpy runs it here. A library whose
threads a fork does not take along has tests of its own."""


OTHER_BYTES = {
    "arrays_received": "importlib, which it calls, imports NumPy itself",
    "exec_code": "code that it makes imports numpy",
    "subprocesses": "programs that it starts import numpy",
    "arrays_loaded": "what a pickle finds by its name is NumPy's own",
    "identity": "what a pickle finds by its name is NumPy's own",
    "identity_scipy": "what a pickle finds by its name is NumPy's own",
    "doors_joblib": "what a pickle finds by its name is NumPy's own",
    "kinds": "what a pickle finds by its name is NumPy's own",
    "main_guard": "what a pickle finds by its name is NumPy's own",
    "tracebacks": "the folder of the changed script is in its output",
}
"""Scripts that print something else with the changed import, and why."""


# -- the same bytes ------------------------------------------------------------------------------------------------------


def _renamed(source: str) -> str:
    """A script whose imports of NumPy are of ``arraydispatch.numpy``."""
    source = re.sub(r"(?m)^(\s*)from numpy\b", r"\1from arraydispatch.numpy", source)
    source = re.sub(r"(?m)^(\s*)import numpy((?:\.\w+)*) as", r"\1import arraydispatch.numpy\2 as", source)
    return re.sub(r"(?m)^(\s*)import numpy$", r"\1import arraydispatch.numpy as numpy", source)


@pytest.fixture(scope="session")
def renamed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus with its imports changed."""
    folder = tmp_path_factory.mktemp("renamed") / "corpus"
    shutil.copytree(CORPUS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.rglob("*.py"):
        path.write_text(_renamed(path.read_text()))
    return folder


def _same(done: Done, plain: Done) -> None:
    assert done.stdout == plain.stdout, done.stderr
    assert done.code == plain.code, done.stderr


@pytest.mark.share(2)
@pytest.mark.parametrize("backend", loader.available())
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.one_backend(name)) for name in SCRIPTS])
def test_install_gives_the_same_bytes(name: str, backend: str, zygotes: Zygotes) -> None:
    plain = zygotes.plain.run(f"{name}.py", cwd=CORPUS)
    _same(zygotes.of(backend).run(f"{name}.py", cwd=CORPUS, way="install"), plain)


@pytest.mark.share(2)
@pytest.mark.parametrize("backend", loader.available())
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.one_backend(name)) for name in SCRIPTS if name not in OTHER_BYTES]
)
def test_the_changed_import_gives_the_same_bytes(name: str, backend: str, renamed: Path, zygotes: Zygotes) -> None:
    plain = zygotes.plain.run(f"{name}.py", cwd=CORPUS)
    _same(zygotes.of(backend).run(f"{name}.py", cwd=renamed, way="import"), plain)


# -- one process -----------------------------------------------------------------------------------------------------------

OTHER = next(name for name in loader.available() if name != "numpy")
HERE = vars(sys.modules[__name__])


@pytest.fixture(autouse=True)
def left_as_it_was() -> Iterator[None]:
    yield
    ad.uninstall()
    assert is_numpys()
    assert process.users is None


def is_numpys() -> bool:
    """Whether names of this module are NumPy's own."""
    return np is numpy is sys.modules["numpy"]


def is_plain(x: Any) -> bool:
    """Whether it is an ndarray of NumPy's own."""
    return type(x) is vars(sys.modules["numpy"])["ndarray"]


def test_install_switches_names_that_modules_have_and_uninstall_gives_them_back() -> None:
    ad.install(OTHER, min_size=0)
    assert not is_numpys()
    made = np.ones(3)
    assert (made.backend.name, type(made) is np.ndarray, HERE["zeros"](2).backend.name) == (OTHER, True, OTHER)
    import numpy.linalg as imported

    assert imported is np.linalg
    ad.uninstall()
    assert is_plain(np.ones(3))
    assert HERE["zeros"] is numpy.zeros
    assert made.backend.name == OTHER
    assert ad.default_backend().name == "numpy"


def test_what_objects_have_bound_stays_numpys_and_computes_with_arrays() -> None:
    def default(x: Any, sin: Any = np.sin, ones: Any = np.ones) -> Any:
        return sin(x), ones(2)

    ad.install(OTHER, min_size=0)
    computed, made = default(np.ones(2))
    assert computed.backend.name == OTHER
    assert is_plain(made)


def test_a_second_install_replaces_the_settings_of_the_first() -> None:
    before = process.held(*SETTINGS)
    ad.install(OTHER, min_size=0, precision=32)
    assert np.ones(2).dtype == "f4"
    ad.install("numpy", min_size=0)
    assert (np.ones(2).dtype, np.ones(2).backend.name) == ("f8", "numpy")
    ad.uninstall()
    assert is_numpys()
    assert process.held(*SETTINGS) == before
    ad.uninstall()


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"backend": "nothing"}, ad.NoBackendFoundError, "there is no backend named 'nothing'"),
        ({"backend": f"{OTHER}x"}, ad.NoBackendFoundError, f"did you mean '{OTHER}'"),
        ({"precision": 8}, ad.PrecisionError, "8 is not a precision"),
        ({"execution": "quick"}, ad.SettingError, "'quick' is not available"),
        ({"fallback": "loud"}, ad.SettingError, "'loud' is not a fallback policy"),
        ({"min_size": -1}, ad.SettingError, "got -1"),
        ({"min_size": 0, "execution": "fused"}, ad.SettingError, "exclude each other"),
        ({"device": "gpu:77", "backend": OTHER}, ad.DeviceNotFoundError, "gpu:77"),
        ({"include": "no_such_package"}, ad.SettingError, "include='no_such_package'"),
    ],
)
def test_wrong_options_change_nothing(options: dict[str, Any], error: type[Exception], says: str) -> None:
    before = process.held(*SETTINGS)
    with pytest.raises(error, match=re.escape(says)):
        ad.install(**options)
    assert is_numpys()
    assert process.held(*SETTINGS) == before
    ad.install("numpy", min_size=0, precision=32)
    with pytest.raises(error, match=re.escape(says)):
        ad.install(**options)
    assert np.ones(2).dtype == "f4"


def test_a_block_switches_this_module_alone() -> None:
    other = ModuleType("other")
    exec("import numpy as np\ndef made(): return np.ones(2)\ndef sin(x): return np.sin(x)", vars(other))
    with ad.accelerated(OTHER, precision=32) as block:
        made = np.ones(3)
        assert (made.backend.name, made.dtype, type(made) is np.ndarray) == (OTHER, "f4", True)
        assert np.sin(numpy.arange(3.0)).backend.name == OTHER
        assert is_plain(other.made())
        assert other.sin(made).backend.name == OTHER
        with block, ad.accelerated("numpy"):
            assert np.ones(1).backend.name == "numpy"
        assert np.ones(1).backend.name == OTHER
    assert is_numpys()
    with pytest.raises(ad.NoBackendFoundError, match="nothing"), ad.accelerated("nothing"):
        pass
    with pytest.raises(ZeroDivisionError), ad.accelerated(OTHER):
        1 / 0
    assert is_numpys()


def test_blocks_of_threads_may_end_in_any_order() -> None:
    begun, ended = threading.Event(), threading.Event()
    found: list[Any] = []

    def first() -> None:
        with ad.accelerated(OTHER):
            begun.wait(60)
            found.append(np.ones(2).backend.name)
        ended.set()

    thread = threading.Thread(target=first)
    thread.start()
    with ad.accelerated("numpy"):
        begun.set()
        assert ended.wait(60)
        found.append(np.ones(2).backend.name)
    thread.join()
    assert found == [OTHER, "numpy"]
    assert is_numpys()


def test_install_and_blocks_may_end_in_any_order() -> None:
    with ad.accelerated("numpy"):
        ad.install(OTHER, min_size=0)
    assert np.ones(2).backend.name == OTHER
    import numpy as imported

    with ad.accelerated("numpy"):
        HERE["late"] = imported
    assert HERE.pop("late") is np
    with ad.accelerated("numpy"):
        ad.uninstall()
        assert np.ones(2).backend.name == "numpy"
    assert is_numpys()


class Decorated:
    @ad.accelerate(OTHER)
    def method(self, x: Any) -> Any:
        return np.sin(x) + np.ones(2)

    @ad.accelerate
    @staticmethod
    def static() -> Any:
        return np.ones(2)


@ad.accelerate(OTHER, precision=32)
async def later() -> Any:
    await asyncio.sleep(0)
    return np.ones(2)


def test_functions_of_every_kind_are_accelerated() -> None:
    assert Decorated().method(np.zeros(2)).backend.name == OTHER
    assert Decorated.static().backend.name == "numpy"
    made = asyncio.run(later())
    assert (made.backend.name, made.dtype) == (OTHER, "f4")
    assert later.__name__ == "later"
    assert is_plain(np.ones(1))
    with ad.backend(OTHER):
        assert Decorated.static().backend.name == OTHER
    for wrong in (len, Decorated, (x for x in ()), 3):
        with pytest.raises(TypeError, match="accelerate takes"):
            ad.accelerate(wrong)  # type: ignore[type-var]

    def steps() -> Iterator[int]:
        yield 1

    with pytest.raises(TypeError, match="generator function"):
        ad.accelerate(steps)
    with pytest.raises(ad.NoBackendFoundError, match="nothing"):
        ad.accelerate("nothing")
    with pytest.raises(TypeError, match="unexpected keyword"):
        ad.accelerate(wrong=1)(later)  # type: ignore[call-overload]


# -- arraydispatch.numpy, in processes of their own ------------------------------------------------------------------------


def _python(code: str, cwd: Path) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=cwd, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_import_of_the_stand_in_gives_the_launchers_module(tmp_path: Path) -> None:
    (tmp_path / "by_name.py").write_text("from arraydispatch import numpy as np\ndef sin(x): return np.sin(x)")
    (tmp_path / "plain.py").write_text("import numpy as np\ndef sin(x): return np.sin(x)\nmade = np.ones(2)")
    (tmp_path / "in_between.py").write_text("import importlib\nnp = importlib.import_module('arraydispatch.numpy')")
    said = _python(
        "import numpy, plain\n"
        "import arraydispatch.numpy as np, arraydispatch.numpy.linalg as la, by_name, in_between\n"
        "import arraydispatch as ad, arraydispatch.numpy.polynomial.chebyshev as ch, arraydispatch.numpy.testing as t\n"
        "from arraydispatch.numpy.random import default_rng\n"
        "from arraydispatch.launcher import facade\n"
        f"ad.use({OTHER!r})\n"
        "x = np.ones(3)\n"
        "print(np is by_name.np is in_between.np is facade.substitute(numpy), la is np.linalg, t is np.testing)\n"
        "print(type(x) is np.ndarray, x.backend, default_rng(0).normal(size=2).backend, ch is facade.substitute(numpy.polynomial.chebyshev))\n"
        "print(by_name.sin(plain.made).backend, np.sin(plain.made).backend, plain.sin(x).backend, type(plain.sin(plain.made)))\n"
        "import numpy as again\n"
        "print(again is numpy)\n"
        "with ad.backend('numpy'): print(np.ones(2).backend)\n"
        "try:\n    import arraydispatch.numpy.nothing\nexcept ModuleNotFoundError as error: print(error)\n",
        tmp_path,
    )
    assert said.splitlines() == [
        "True True True",
        f"True {OTHER} {OTHER} True",
        f"{OTHER} {OTHER} {OTHER} <class 'numpy.ndarray'>",
        "True",
        "numpy",
        "No module named 'arraydispatch.numpy.nothing'",
    ]


def test_sitecustomize_installs_for_the_program(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(f"import arraydispatch as ad\nad.install({OTHER!r}, min_size=0)\n")
    (tmp_path / "helper.py").write_text("import numpy as np\nmade = np.ones(2)\n")
    script = tmp_path / "script.py"
    script.write_text(
        "import helper, numpy as np\nprint(np.ones(2).backend, helper.made.backend)\nimport arraydispatch as ad\n"
        "ad.uninstall()\nimport numpy\nprint(np is numpy, type(np.ones(2)) is np.ndarray)\n1 / 0\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, str(script)], env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout == f"{OTHER} {OTHER}\nTrue True\n", done.stderr
    assert "ZeroDivisionError" in done.stderr


_FORKS = """\
import os, sys
import arraydispatch as ad
import numpy as np
ad.install(sys.argv[1], execution=sys.argv[2] if sys.argv[2] != "None" else None, min_size=0)
x = np.arange(5.0)
view = x[1:3]
x += 0
pending = x * 2 + 1
part = pending[1:]
child = os.fork()
if child == 0:
    view[0] = 9
    print("child", float((x * 2).sum()), float(pending.sum()), part.tolist(), np.fft.fft(np.ones(4))[0].real, flush=True)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), float((x + 1).sum()), part.tolist())
"""


@pytest.mark.one_backend
@pytest.mark.parametrize("execution", [None, "compiled"])
def test_a_fork_computes(backend: str, execution: str | None, tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(_FORKS)
    done = subprocess.run(
        [sys.executable, str(script), backend, str(execution)], capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"},
    )  # fmt: skip
    assert done.stdout.splitlines() == ["child 36.0 25.0 [3.0, 5.0, 7.0, 9.0] 4.0", "0 15.0 [3.0, 5.0, 7.0, 9.0]"], (
        done.stderr
    )
