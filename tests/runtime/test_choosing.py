"""The backend of a run that names none: an accelerator's library, else NumPy; found out without importing any."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import arraydispatch as ad
from arraydispatch.backends import loader
from arraydispatch.backends.devices import Device
from arraydispatch.launcher import options
from arraydispatch.launcher.commands.cli import main
from arraydispatch.runtime import hardware, settings

ROOT = Path(__file__).parents[2]
ENV = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
ENV.pop(options.ENVIRONMENT, None)
ALL = ("torch", "jax", "tensorflow", "numpy")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Says what the machine has: accelerators, libraries, what these are built for, which devices they see."""

    def has(
        *kinds: str, installed: tuple[str, ...] = ALL, built: dict[str, str] | None = None, sees: tuple[str, ...] = ()
    ) -> None:
        monkeypatch.delenv(options.ENVIRONMENT, raising=False)
        monkeypatch.setattr(settings.default, "backend", "numpy")
        monkeypatch.setattr(hardware, "accelerators", lambda: list(kinds))
        monkeypatch.setattr(loader, "installed", lambda name: name in installed)
        monkeypatch.setattr(hardware, "reaches", lambda name, kind: (built or {}).get(name) == kind)

        def devices(name: str) -> list[Device]:
            cpu, gpu = Device(name, "cpu", "CPU"), Device(name, "cuda:0", "GPU")
            return [cpu] if name not in sees else [cpu, gpu] if name == "torch" else [gpu, cpu]

        monkeypatch.setattr(loader, "load", lambda name: SimpleNamespace(devices=lambda: devices(name)))

    return has


# -- the choice ----------------------------------------------------------------------------------------------------------


def test_on_a_cpu_numpy_computes(machine: Any) -> None:
    machine()
    assert options.default_backend() == ("numpy", None, "no library is named, and there is no accelerator")
    machine(installed=("numpy",))
    assert options.default_backend() == ("numpy", None, "no array library is installed")


def test_an_accelerators_library_comes_first(machine: Any) -> None:
    machine("NVIDIA GPU", built={"jax": "NVIDIA GPU"}, sees=("jax",))
    assert options.default_backend() == ("jax", None, "chosen for the NVIDIA GPU")
    machine("NVIDIA GPU", built={"jax": "NVIDIA GPU", "torch": "NVIDIA GPU"}, sees=("jax", "torch"))
    assert options.default_backend() == ("torch", "cuda:0", "chosen for the NVIDIA GPU")  # whose own default is the CPU
    machine("AMD GPU", "TPU", built={"jax": "TPU", "torch": "NVIDIA GPU"}, sees=("jax",))
    assert options.default_backend() == ("jax", None, "chosen for the TPU")


def test_a_library_that_sees_none_is_not_chosen_for_it(machine: Any) -> None:
    """Built for another version of the driver, say."""
    machine("NVIDIA GPU", built={"torch": "NVIDIA GPU", "tensorflow": "NVIDIA GPU"}, sees=("tensorflow",))
    assert options.default_backend()[:2] == ("tensorflow", None)
    machine("NVIDIA GPU", built={"jax": "NVIDIA GPU"})
    found = options.default_backend()
    assert found[:2] == ("numpy", None)
    assert "no installed library sees the NVIDIA GPU" in found.why


def test_a_device_that_is_named_decides_with(machine: Any) -> None:
    machine("NVIDIA GPU", built={"jax": "NVIDIA GPU"}, sees=("jax",))
    assert options.default_backend("cpu") == ("numpy", "cpu", "no library is named")
    assert options.default_backend("cuda:0")[:2] == ("jax", "cuda:0")


def test_what_is_said_comes_before_what_is_found(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    machine("NVIDIA GPU", built={"jax": "NVIDIA GPU"}, sees=("jax",))
    monkeypatch.setenv(options.ENVIRONMENT, "tensorflow")
    assert options.default_backend() == ("tensorflow", None, "by ARRAYDISPATCH_BACKEND")
    monkeypatch.setattr(settings.default, "backend", "torch")  # as in a notebook
    assert options.default_backend() == ("torch", None, "")
    assert options.Choices(backend="numpy").settled() == options.Choices(backend="numpy")


def test_what_the_environment_names_wrongly_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.default, "backend", "numpy")
    monkeypatch.setenv(options.ENVIRONMENT, "tork")
    with pytest.raises(ad.NoBackendFoundError, match=r"ARRAYDISPATCH_BACKEND=tork: .*did you mean 'torch'"):
        options.Choices().settled()
    assert options.Choices(backend="numpy").settled().backend == "numpy"


def test_every_backend_has_its_place() -> None:
    assert sorted(loader.CHEAPEST) == sorted(loader.KNOWN)
    assert loader.CHEAPEST[-1] == "numpy"
    for row in loader.KNOWN.values():
        assert row.built_for.keys() <= {hardware.NVIDIA, hardware.AMD, hardware.TPU}


# -- what is looked at -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("there", "environment", "found"),
    [
        ((), {}, []),
        (("/dev/nvidia[0-9]*",), {}, ["NVIDIA GPU"]),
        (("/dev/nvidia[0-9]*",), {"CUDA_VISIBLE_DEVICES": "1"}, ["NVIDIA GPU"]),
        (("/dev/nvidia[0-9]*",), {"CUDA_VISIBLE_DEVICES": ""}, []),
        (("/dev/nvidia[0-9]*",), {"CUDA_VISIBLE_DEVICES": "-1"}, []),
        (("/usr/lib/wsl/lib/libcuda.so*",), {}, ["NVIDIA GPU"]),
        (("/dev/kfd",), {}, []),
        (("/dev/kfd", "/dev/dri/renderD*"), {}, ["AMD GPU"]),
        (("/dev/kfd", "/dev/dri/renderD*"), {"HIP_VISIBLE_DEVICES": "-1"}, []),
        (("/dev/dri/renderD*",), {}, []),
        (("/dev/accel[0-9]*",), {}, ["TPU"]),
    ],
)
def test_accelerators(
    there: tuple[str, ...], environment: dict[str, str], found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for names in hardware._HIDING.values():
        for name in names:
            monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(hardware.glob, "glob", lambda pattern: [pattern] if pattern in there else [])
    assert hardware.accelerators() == found


def _library(folder: Path, *files: str) -> Any:
    for file in files:
        name, _, text = file.partition(" ")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return lambda _: SimpleNamespace(submodule_search_locations=[str(folder)])


@pytest.mark.parametrize(
    ("name", "files", "distributions", "kinds"),
    [
        ("torch", (), (), []),
        ("torch", ("lib/libtorch_cpu.so",), (), []),
        ("torch", ("lib/libtorch_cuda.so", "lib/libtorch_cpu.so"), (), ["NVIDIA GPU"]),
        ("torch", ("lib/torch_cuda.dll",), (), ["NVIDIA GPU"]),
        ("torch", ("lib/libtorch_hip.so",), (), ["AMD GPU"]),
        ("jax", (), ("jax", "jaxlib"), []),
        ("jax", (), ("jax-cuda13-plugin", "jax"), ["NVIDIA GPU"]),
        ("jax", (), ("jax_rocm7_plugin",), ["AMD GPU"]),
        ("jax", (), ("libtpu",), ["TPU"]),
        ("tensorflow", ("python/platform/build_info.py ('is_cuda_build', False), ('is_rocm_build', False)",), (), []),
        ("tensorflow", ("python/platform/build_info.py ('is_cuda_build', True), ('is_rocm_build', False)",), (), ["NVIDIA GPU"]),
        ("numpy", (), (), []),
    ],
)  # fmt: skip
def test_what_a_library_is_built_for(
    name: str, files: tuple[str, ...], distributions: tuple[str, ...], kinds: list[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delenv("JAX_PLATFORMS", raising=False)
    monkeypatch.setattr(loader, "installed", lambda _: True)
    monkeypatch.setattr(importlib.util, "find_spec", _library(tmp_path, *files))
    monkeypatch.setattr(
        importlib.metadata, "distributions", lambda: [SimpleNamespace(name=each) for each in distributions]
    )
    every = (hardware.NVIDIA, hardware.AMD, hardware.TPU)
    assert [kind for kind in every if hardware.reaches(name, kind)] == kinds
    monkeypatch.setattr(loader, "installed", lambda _: False)
    assert not any(hardware.reaches(name, kind) for kind in every)
    monkeypatch.setattr(loader, "installed", lambda _: True)
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    assert not any(hardware.reaches("jax", kind) for kind in every)


# -- the run ------------------------------------------------------------------------------------------------------------------


def test_nothing_is_imported_to_choose() -> None:
    code = (
        "import sys\nfrom arraydispatch.launcher import options as choices\nfrom arraydispatch.runtime import hardware\n"
        "choices.default_backend()\n"
        "for kind in (hardware.NVIDIA, hardware.AMD, hardware.TPU):\n"
        "    [hardware.reaches(name, kind) for name in ('torch', 'jax', 'tensorflow')]\n"
        "print([name for name in ('torch', 'jax', 'jaxlib', 'tensorflow') if name in sys.modules])"
    )
    env = {**ENV, "CUDA_VISIBLE_DEVICES": "-1", "HIP_VISIBLE_DEVICES": "-1"}
    assert subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize("way", ["found", "environment", "option"])
def test_the_report_says_which_and_why(way: str, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import numpy as np\nnp.ones(3) + 1\n")
    env = {**ENV, "CUDA_VISIBLE_DEVICES": "-1", "HIP_VISIBLE_DEVICES": "-1"}
    command = [sys.executable, "-m", "arraydispatch", "run", "--report", "report.json"]
    library = next(name for name in loader.CHEAPEST if name in ad.available_backends())
    expected = "numpy" if way == "found" else library
    if way == "environment":
        env[options.ENVIRONMENT] = expected
    elif way == "option":
        command += ["--backend", expected]
    done = subprocess.run([*command, "main.py"], env=env, capture_output=True, text=True, cwd=tmp_path)
    first, figures = done.stderr.splitlines()[:2]
    assert first.startswith("arraydispatch: NumPy computed everything: 2 calls ")
    assert (f"; --min-size 0 has {expected} compute" in first) is (way != "found")
    assert figures.startswith(f"  {expected} ")
    why = {"found": "(no library is named", "environment": "(by ARRAYDISPATCH_BACKEND)", "option": " on cpu · "}[way]
    assert why in figures
    told = json.loads((tmp_path / "report.json").read_text())
    assert told["backend"] == expected
    assert (f"({told['why']})" in figures) is (way != "option")
    assert told["summary"] in first


def test_processes_of_a_run_go_where_it_goes(tmp_path: Path) -> None:
    """Even if they are told of other devices. No library is imported to be asked for its name."""
    (tmp_path / "main.py").write_text(
        "import os, subprocess, sys\nimport numpy as np\nfrom arraydispatch.common.process_state import process\n"
        "code = 'import numpy as np; from arraydispatch.common.process_state import process; print(process.users and process.backend)'\n"
        "print(process.backend)\n"
        "os.environ['ARRAYDISPATCH_BACKEND'] = 'numpy'\n"
        "print(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout.strip())\n"
    )
    command = [sys.executable, "-m", "arraydispatch", "run", "main.py"]
    done = subprocess.run(command, env=ENV, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.split() == [options.default_backend()[0]] * 2, done.stderr


def test_info_says_which_and_why(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(options.ENVIRONMENT, raising=False)
    monkeypatch.setattr(loader, "available", lambda: ["numpy"])
    monkeypatch.setattr(loader, "installed", lambda name: name == "numpy")
    assert main(["info", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["default_backend"] == "numpy"
    assert "no array library" in told["why"]


@pytest.mark.parametrize(
    ("said", "policy", "looks"), [({}, "passive", "10000"), ({"OMP_WAIT_POLICY": "active"}, "active", None), ({"GOMP_SPINCOUNT": "0"}, None, "0")]
)  # fmt: skip
def test_how_threads_wait_is_the_users_choice(
    said: dict[str, str], policy: str | None, looks: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of variables that decide together none is set where the user has set one of them."""
    monkeypatch.setattr(os, "environ", dict(said))
    loader.prepare("torch")
    assert (os.environ.get("OMP_WAIT_POLICY"), os.environ.get("GOMP_SPINCOUNT")) == (policy, looks)
    assert os.environ["THP_MEM_ALLOC_ENABLE"] == "1"


@pytest.mark.parametrize("library", ["jax", "tensorflow"])
@pytest.mark.parametrize(
    "said", ["", "--xla_cpu_max_isa=AVX", "--xla_backend_extra_options=xla_cpu_disable_loop_unrolling"]
)
def test_options_of_the_compiler_are_the_users_choice(library: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An option that the user gives stays as it is, and options that are given already stay the last ones, which win."""
    monkeypatch.setattr(os, "environ", {"XLA_FLAGS": said} if said else {})
    loader.prepare(library)
    loader.prepare(library)
    found = os.environ["XLA_FLAGS"].split()
    assert found[-1:] == [said] or not said
    assert sum(word.startswith("--xla_backend_extra_options") for word in found) == 1


@pytest.mark.parametrize("library", ["jax", "tensorflow"])
@pytest.mark.parametrize("prepare", [loader.prepare, loader.prepare_exact])
def test_options_in_a_file_are_kept(
    library: str, prepare: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler reads the file that the variable names only if it names nothing else."""
    file = tmp_path / "flags"
    file.write_text("--xla_cpu_enable_fast_math=false\n--xla_dump_to=here\n")
    monkeypatch.setattr(os, "environ", {"XLA_FLAGS": str(file)})
    monkeypatch.delitem(sys.modules, loader.KNOWN[library].library, raising=False)
    prepare(library)
    found = os.environ["XLA_FLAGS"].split()
    assert {"--xla_cpu_enable_fast_math=false", "--xla_dump_to=here"} < set(found)
    assert all(word.startswith("--") for word in found)
