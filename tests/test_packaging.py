"""What is shipped agrees with itself: metadata, pins, entry points, Makefile."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if line and line[0] != "#")
    return {normal(name): version for name, version in pairs}


def required() -> set[str]:
    """Every distribution that the project or one of its extras names."""
    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    names = {normal(re.match(r"[\w.-]+", entry)[0]) for entries in lists for entry in entries}  # type: ignore[index]
    return names - {"arraydispatch"}


def test_everything_named_is_pinned_exactly() -> None:
    # `tensorflow` stands in for `tensorflow-cpu` on machines other than the one that is tested.
    assert required() - {"tensorflow"} <= set(pins())
    assert all(re.fullmatch(r"[\w.]+", version) for version in pins().values())


@pytest.mark.parametrize("name", ["numpy", "scipy", "jax", "torch", "tensorflow-cpu", "ml-dtypes"])
def test_the_tests_run_on_what_is_pinned(name: str) -> None:
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    assert version.split("+")[0] == pins()[name]


def test_typed_and_licensed() -> None:
    assert (ROOT / "arraydispatch" / "py.typed").exists()
    assert "BSD 3-Clause" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert PROJECT["license"] == "BSD-3-Clause"


def test_script_entry_exists() -> None:
    module, function = PROJECT["scripts"]["arraydispatch"].split(":")
    assert callable(getattr(importlib.import_module(module), function))


def test_version_is_one() -> None:
    import arraydispatch

    assert arraydispatch.__version__ == PROJECT["version"]


def make(*args: str) -> subprocess.CompletedProcess[str]:
    """Run make here, untouched by a make that runs these tests."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(["make", *args], cwd=ROOT, capture_output=True, text=True, env=env)


def test_make_knows_every_target() -> None:
    for target in ("demo", "test", "lint", "type", "bench", "conformance", "docs", "clean"):
        done = make("--dry-run", target)
        assert done.returncode == 0, done.stderr


def test_make_installs_torch_alone_and_by_exact_version(tmp_path: Path) -> None:
    done = make("--dry-run", "test", f"VENV={tmp_path / 'venv'}")
    installs = [line for line in done.stdout.splitlines() if "pip" in line and "install " in line]
    assert installs[0].endswith(f"'torch=={pins()['torch']}'")
    assert all("-c constraints.txt" in line for line in installs)
    assert done.stdout.index("touch") > done.stdout.index(installs[-1])


def test_a_failed_installation_leaves_no_stamp(tmp_path: Path) -> None:
    """With a Python that makes the environment but cannot install, make fails, and would try again."""
    venv = tmp_path / "venv"
    fake = tmp_path / "python"
    # `python -m venv DIR` makes an environment whose python fails at everything
    fake.write_text(
        '#!/bin/sh\ncase "$1 $2" in\n'
        '"-m venv") mkdir -p "$3/bin"; printf "#!/bin/sh\\nexit 3\\n" > "$3/bin/python"; chmod +x "$3/bin/python";;\n'
        "esac\n"
    )
    fake.chmod(0o755)
    done = make("test", f"VENV={venv}", f"PYTHON={fake}")
    assert done.returncode != 0
    assert (venv / "bin" / "python").exists()
    assert not list(venv.glob(".installed*"))


def test_an_old_python_is_refused(tmp_path: Path) -> None:
    fake = tmp_path / "python"
    fake.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'import sys; sys.version_info = (3, 10); exec(sys.argv[1])' \"$2\"\n"
    )
    fake.chmod(0o755)
    done = make("test", f"VENV={tmp_path / 'venv'}", f"PYTHON={fake}")
    assert done.returncode != 0
    assert "3.11" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_ci_runs_everything() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    text = script.read_text(encoding="utf-8")
    assert all(f"make {target}" in text for target in ("test", "lint", "type"))


def test_fragments_are_named_as_configured() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
    kinds = "|".join(kind["directory"] for kind in config["type"])
    names = [path.name for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]
    assert all(re.fullmatch(rf"(\d+|\+[\w-]+)\.({kinds})(\.\d+)?\.md", name) for name in names), names


def test_a_free_threaded_build_is_refused() -> None:
    code = "import sys, sysconfig; sysconfig.get_config_vars(); sys.abiflags = 't'; import arraydispatch"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ImportError: arraydispatch does not support free-threaded builds of Python; use the build with the GIL."
    )


def test_the_table_of_versions_has_the_pins_and_the_oldest() -> None:
    page = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split("|") for line in page.splitlines() if re.match(r"\| 3\.\d+ \|", line)]
    table = [[cell.strip() for cell in row] for row in rows]
    names = ["numpy", "scipy", "jax", "torch", "tensorflow-cpu"]
    assert table[0][1:6] == [pins()[name] for name in names]
    oldest = {normal(name): version for name, version in (entry.split(">=") for entry in PROJECT["dependencies"])}
    for column, name in enumerate(names[:2], start=1):
        versions = {row[column] for row in table}
        assert any(re.fullmatch(rf"{re.escape(oldest[name])}(\.\d+)?", version) for version in versions)
