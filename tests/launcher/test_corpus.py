"""Small scripts of every kind, run plainly and under the launcher on every backend: same stdout, same exit code."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arraydispatch.backends import loader
from tests.launched import Done, Zygote, Zygotes, shows_memory

CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Case:
    """One way to start one script."""

    name: str
    argv: tuple[str, ...]
    stdin: str = ""
    computes: bool = True
    """Whether array work must have run on the backend."""


def _script(name: str, *args: str, computes: bool = True) -> Case:
    return Case(name, (f"{name}.py", *args), computes=computes)


CASES = [
    Case("project", ("project/main.py",)),
    Case("strict_library", ("strict_library/main.py",)),
    Case("package", ("-m", "app", "x", "--backend", "y")),
    Case("module", ("-m", "app.tool", "1", "2.5", "-3")),
    Case("folder", ("folder_main", "a", "-b")),
    Case("stdin", ("-", "first", "--second"), stdin=(CORPUS / "stdin_script.py").read_text()),
    _script("arguments", "--backend", "tf", "--report", "r", "-m", "3", "2", "4.5"),
    _script("exit_none", computes=False),
    _script("exit_text", computes=False),
    _script("syntax_error", computes=False),
    _script("exception", computes=False),
    _script("odd_dtypes", computes=False),
    _script("operators"),
    _script("printing", computes=False),
    _script("shape_error", computes=False),
    _script("spawn", computes=False),
    _script("spawn_classes", computes=False),
    _script("subclass", computes=False),
    _script("identity", computes=False),
    _script("identity_scipy", computes=False),
    _script("foreign_classes", computes=False),
    _script("file_warnings", computes=False),
    _script("arrays_loaded", computes=False),
    _script("arrays_received", computes=False),
    Case("arrays_received_of_scipy", ("arrays_received.py", "scipy"), computes=False),
    _script("patched", computes=False),
    _script("fork", computes=False),
    _script("pool", computes=False),
    _script("tracebacks", computes=False),
    *([_script("doors_autograd")] if importlib.util.find_spec("autograd") else []),
    _script("doors_bytes"),
    *([_script("doors_dask")] if importlib.util.find_spec("dask") else []),
    *([_script("doors_dill", computes=False)] if importlib.util.find_spec("dill") else []),
    *([_script("doors_h5py")] if importlib.util.find_spec("h5py") else []),
    _script("doors_joblib"),
    _script("doors_matplotlib"),
    _script("doors_outputs"),
    _script("doors_pandas"),
    _script("doors_pillow"),
    _script("doors_scipy"),
    _script("scipy_by_spec"),
    _script("doors_sklearn"),
    _script("doors_sparse"),
    _script("doors_xarray"),
    _script("kinds"),
    _script("subprocesses"),
    *(
        _script(name)
        for name in (
            "adoption array_method c_memory chunks circular containers exception_hook exec_code exit_int exit_late file_relative from_imports heat"
            " importlib_import index_objects isinstance_checks lists main_guard optimise pickles pickles_spawned random_generator"
            " random_legacy regression save_load shuffles small_things star_import subclass_views testing_module ufunc_objects"
            " vectorize_iterate warnings_error windows windows_of_ndarrays writes"
        ).split()
    ),
]


BY_NAME = {case.name: case for case in CASES}


STARTING = ("spawn", "spawn_classes", "pickles_spawned", "pool", "subprocesses", "doors_joblib")
"""Scripts that start interpreters, each of which imports the library."""
IMPORTING = (
    "arrays_received_of_scipy", "doors_dask", "doors_dill", "doors_h5py", "doors_matplotlib", "doors_pandas", "doors_pillow", "doors_scipy", "doors_sklearn",
    "doors_sparse", "doors_xarray", "identity_scipy", "optimise", "scipy_by_spec",
)  # fmt: skip
"""Scripts that import a large package, which each fork does anew."""


SHOWING = ("odd_dtypes", "doors_dask")
"""Scripts that have code in C read an array's memory."""


def _cases(*marks: pytest.MarkDecorator) -> list[Any]:
    """With these marks; a script that takes long to start is run in one way on one backend, drawn anew each time."""
    return [
        pytest.param(
            case,
            marks=[
                *([pytest.mark.one_backend(case.name)] if case.name in STARTING + IMPORTING else marks),
                *([shows_memory] if case.name in SHOWING else []),
            ],
        )
        for case in CASES
    ]


ENDING = ("exit_none", "exit_text", "exit_int", "exit_late", "exception", "exception_hook", "syntax_error", "fork")
"""Scripts for which Python's own way out matters: by default it takes a library's modules apart, which takes longer than most scripts."""
AS_EVER = ("--on-fallback", "warn")
"""What holds without options too; with an option a fork ends sooner (zygote.py)."""


@dataclass(frozen=True)
class Runs:
    """The corpus on one backend."""

    zygote: Zygote
    options: tuple[str, ...] = ()
    below: tuple[str, ...] | None = None
    reported: bool = True

    def __getitem__(self, name: str) -> Done:
        case = BY_NAME[name]
        options = self.options or (() if name in ENDING else AS_EVER)
        return self.zygote.run(
            *case.argv, cwd=CORPUS, options=options, stdin=case.stdin, below=self.below, reported=self.reported
        )


@pytest.fixture
def plain(zygotes: Zygotes) -> Runs:
    return Runs(zygotes.plain)


EVERYTHING_ON_THE_DEVICE = ("--min-size", "0")


@pytest.fixture(params=loader.available())
def launched(request: pytest.FixtureRequest, zygotes: Zygotes) -> Runs:
    return Runs(zygotes.of(request.param), EVERYTHING_ON_THE_DEVICE)


@pytest.fixture(params=[name for name in ("jax", "torch") if name in loader.available()])
def launched_small(request: pytest.FixtureRequest, zygotes: Zygotes) -> Runs:
    """Arrays where they are by default, and calls as they go by default: the corpus has small arrays mostly, which stay on the host.

    Two libraries, one with immutable arrays and one without: what NumPy holds is the same for all.
    """
    return Runs(zygotes.of(request.param), reported=False)


@pytest.mark.parametrize("case", _cases(pytest.mark.one_backend), ids=lambda case: case.name)
def test_same_as_plain_and_on_the_backend(case: Case, plain: Runs, launched: Runs) -> None:
    expected, got = plain[case.name], launched[case.name]
    assert got.stdout == expected.stdout, got.stderr
    assert got.code == expected.code, got.stderr
    if case.computes:
        assert got.report["calls_on_backend"] > 0


@pytest.mark.parametrize("case", _cases(pytest.mark.one_backend, pytest.mark.share(2)), ids=lambda case: case.name)
def test_same_with_small_arrays_on_the_host(case: Case, plain: Runs, launched_small: Runs) -> None:
    expected, got = plain[case.name], launched_small[case.name]
    assert got.stdout == expected.stdout, got.stderr
    assert got.code == expected.code, got.stderr


@pytest.fixture(params=[name for name in ("numpy", "tensorflow") if name in loader.available()])
def launched_fused(request: pytest.FixtureRequest, zygotes: Zygotes) -> Runs:
    """Every call is recorded that may be, whatever its size."""
    return Runs(zygotes.of(request.param), ("--execution", "fused", "--min-size", "1"), reported=False)


@pytest.mark.parametrize("case", _cases(pytest.mark.one_backend, pytest.mark.share(2)), ids=lambda case: case.name)
def test_same_under_fused_execution(case: Case, plain: Runs, launched_fused: Runs) -> None:
    expected, got = plain[case.name], launched_fused[case.name]
    assert got.stdout == expected.stdout, got.stderr
    assert got.code == expected.code, got.stderr


@pytest.fixture(params=[name for name in ("jax",) if name in loader.available()])
def launched_compiled(request: pytest.FixtureRequest, zygotes: Zygotes) -> Runs:
    """Every call of the library is recorded that may be, whatever its size."""
    return Runs(zygotes.of(request.param), ("--execution", "compiled", "--min-size", "0"), reported=False)


@pytest.mark.compiles(10)
@pytest.mark.parametrize("case", _cases(), ids=lambda case: case.name)
def test_same_under_compiled_execution(case: Case, plain: Runs, launched_compiled: Runs) -> None:
    expected, got = plain[case.name], launched_compiled[case.name]
    assert got.stdout == expected.stdout, got.stderr
    assert got.code == expected.code, got.stderr


NUMERIC = ("adoption", "from_imports", "heat", "lists", "optimise", "project", "regression", "writes")


@pytest.fixture(params=loader.available())
def broken(request: pytest.FixtureRequest, zygotes: Zygotes) -> Runs:
    """On a library whose sums and matrix products are wrong on purpose."""
    return Runs(zygotes.with_compiler(request.param), EVERYTHING_ON_THE_DEVICE, ("add", "matmul"))


@pytest.mark.one_backend
@pytest.mark.parametrize("name", NUMERIC)
def test_a_broken_library_shows(name: str, plain: Runs, broken: Runs) -> None:
    """Proof from outside our counters: the numbers are the library's."""
    if name == "writes" and broken[name].report["backend"] == "numpy":
        return  # its one sum is written into `out=`: NumPy's own call there, no kernel that could be broken
    assert broken[name].stdout != plain[name].stdout


# What the report names at the door of each library: (script, a line of it that hands an array over).
DOORS = {
    "doors_matplotlib": "axes[0, 0].plot(",
    "doors_pandas": "frame[w > 0]",
    "doors_pillow": "Image.fromarray(values)",
    "doors_scipy": "optimize.curve_fit(",
    "doors_sklearn": "KNeighborsClassifier(3).fit(",
    "doors_sparse": "print(written.toarray()",
    "doors_xarray": "a = xr.DataArray(x",
}


@pytest.mark.traces(3)
@pytest.mark.compiles(3)
@pytest.mark.parametrize("name", DOORS)
def test_the_report_says_what_was_converted_at_a_librarys_door(name: str, launched: Runs) -> None:
    report = launched[name].report
    if report["backend"] == "numpy":
        return  # its arrays are ndarrays: nothing is converted
    source = (CORPUS / f"{name}.py").read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(source) if DOORS[name] in text)
    rows = [row for row in report["transfers"] if Path(row["file"]).name == f"{name}.py" and row["line"] == line]
    assert [
        row for row in rows if row["direction"] == "to_host" and ("ndarray" in row["why"] or "to_numpy" in row["why"])
    ]


@pytest.mark.parametrize("beside", ["numpy"])  # whose runs need all of the plain ones: one worker has both
def test_plain_python_is_the_oracle(beside: str, plain: Runs) -> None:
    """The scripts that mean to end well do, so that equal failure cannot pass for agreement."""
    failing = {
        "app",
        "package",
        "exit_text",
        "syntax_error",
        "exception",
        "exception_hook",
        "exit_int",
        "exit_late",
        "tracebacks",
    }
    assert {name for name in BY_NAME if plain[name].code} <= failing
    assert BY_NAME.keys() >= {*STARTING, *ENDING}
    assert BY_NAME.keys() >= set(IMPORTING) - {"doors_dask", "doors_dill", "doors_h5py"}


@pytest.mark.one_backend
@pytest.mark.parametrize("name", ["exception", "syntax_error", "exit_text"])
def test_stderr_is_the_scripts_own(name: str, plain: Runs, launched: Runs) -> None:
    assert launched[name].stderr.startswith(plain[name].stderr)
    assert "arraydispatch/" not in launched[name].stderr.replace(str(CORPUS), "")
