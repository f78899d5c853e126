"""The example scripts print on every backend what they print on plain NumPy, and the work really runs there.

Whether it does is seen from outside: torch's operations are counted by torch's own dispatch mode, and where a library's
sums and products are broken on purpose, every example must print something else.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from .launched import Done, Zygotes

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))
BACKENDS = ("numpy", "jax", "torch", "tensorflow")

every_example = pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
every_backend = pytest.mark.parametrize("backend", BACKENDS)


def plain(script: Path, zygotes: Zygotes) -> str:
    done = zygotes.plain.run(script.name, cwd=script.parent)
    assert done.code == 0, done.stderr
    return done.stdout


def need(backend: str) -> None:
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")


def controlled(backend: str, script: Path, zygotes: Zygotes, *broken: str) -> Done:
    """A run on a watched or broken library."""
    need(backend)
    done = zygotes.with_compiler(backend).run(script.name, cwd=script.parent, options=EAGER, below=broken)
    assert done.code == 0, done.stderr
    return done


def significant_digits(number: str) -> int:
    return len(re.sub(r"[eE].*", "", number).replace(".", "").lstrip("-0"))


@every_example
def test_example_prints_ten_digits_and_knows_nothing_of_us(script: Path, zygotes: Zygotes) -> None:
    assert "arraydispatch" not in script.read_text(encoding="utf-8")
    numbers = re.findall(r"-?\d+\.\d+e[-+]\d+", plain(script, zygotes))
    assert len(numbers) >= 10
    assert all(significant_digits(number) >= 10 for number in numbers if float(number))


EAGER = ("--execution", "eager", "--min-size", "0")
"""Every call on the library."""


@pytest.mark.one_backend  # by default a CPU's programs run in pieces on NumPy
@every_backend
@every_example
def test_example_prints_by_default_what_plain_python_prints(script: Path, backend: str, zygotes: Zygotes) -> None:
    need(backend)
    done = zygotes.of(backend).run(script.name, cwd=script.parent)
    assert done.code == 0, done.stderr
    assert done.stdout == plain(script, zygotes)


@pytest.mark.compiles(2)
@every_backend
@every_example
def test_example_prints_what_plain_python_prints(script: Path, backend: str, zygotes: Zygotes) -> None:
    need(backend)
    watched = () if backend == "torch" else None  # as below, so that it is run once
    done = zygotes.with_compiler(backend).run(
        script.name, cwd=script.parent, options=EAGER, below=watched, reported=True
    )
    assert done.code == 0, done.stderr
    assert done.stdout == plain(script, zygotes)
    assert done.report["host_fallbacks"] == []
    assert done.report["left_numpy"] == []
    assert done.report["calls_on_backend"] > 0


# What each script does at the least, counted by hand from its source: torch operation -> elements made by it.
# The heat equation takes 600 steps on 198 x 198 inner points; each has five sums or differences and two products.
# Black-Scholes evaluates the normal distribution function four times on 4 million options, with two `exp` in each.
# The digits' regression has 400 iterations on 1347 rows of 20 components and 10 classes, with a product forth and back.
INNER, OPTIONS, SCORES = 600 * 198 * 198, 4_000_000, 400 * 1347 * 10
AT_LEAST = {
    "heat_equation": {"add": 4 * INNER, "mul": 2 * INNER, "sub": INNER},
    "black_scholes": {"exp": 5 * OPTIONS, "log": OPTIONS, "mul": 40 * OPTIONS, "where": 4 * OPTIONS},
    "digits_pca": {"exp": SCORES, "div": 2 * SCORES, "mm": SCORES},
}


@every_example
@pytest.mark.parametrize("backend", ["torch"])
def test_the_work_runs_there(script: Path, backend: str, zygotes: Zygotes) -> None:
    done = controlled(backend, script, zygotes)
    assert done.stdout == plain(script, zygotes)
    # torch counts an operation in place, or on several outputs, under a name of its own
    made = {
        name: sum(done.elements.get(alias, 0) for alias in (name, f"{name}_", f"_{name}"))
        for name in AT_LEAST[script.stem]
    }
    assert {name: made[name] >= least for name, least in AT_LEAST[script.stem].items()} == dict.fromkeys(made, True), (
        made
    )


@pytest.mark.one_backend
@every_backend
@every_example
def test_a_broken_library_shows(script: Path, backend: str, zygotes: Zygotes) -> None:
    output = controlled(backend, script, zygotes, "add", "matmul").stdout
    assert output != plain(script, zygotes)
    assert len(output.splitlines()) == len(plain(script, zygotes).splitlines())  # it ran to its end, on other numbers


@pytest.mark.one_backend
@every_backend
@pytest.mark.parametrize("what", ["add", "matmul"])
def test_sums_and_products_each_show(what: str, backend: str, zygotes: Zygotes) -> None:
    script = next(path for path in EXAMPLES if path.stem == "digits_pca")
    assert controlled(backend, script, zygotes, what).stdout != plain(script, zygotes)
