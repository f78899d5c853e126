"""How far each backend's floating results are from NumPy's, in units in the last place: measured, kept, and read back.

The figures are in ``accuracy.json`` beside this file; the tests allow these and no more, and the reference page on
accuracy is made from them. To measure again, from the repository's root (hours on JAX for all of it)::

    python -m tests.functions.grid --backend torch --json torch.json
    ARRAYDISPATCH_MEASURE=cases.jsonl pytest tests/functions --whole    the expressions of the oracle, on all backends
    python -m tests.functions.accuracy torch.json cases.jsonl …         keeps the larger of old and new
    python -m tests.functions.accuracy --page                writes docs/reference/accuracy.md
"""

from __future__ import annotations

import functools
import json
import math
import sys
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "accuracy.json"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "accuracy.md"
DTYPES = ("float16", "float32", "float64", "complex64", "complex128")


@functools.cache
def data() -> dict[str, Any]:
    """What was measured: ``versions`` of the libraries, and ``ulp``: backend -> function -> dtype -> figure."""
    found: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return found


def figures(backend: str) -> dict[str, dict[str, float]]:
    """Function -> dtype -> units in the last place; what is not there is exact."""
    found: dict[str, dict[str, float]] = data()["ulp"].get(backend, {})
    return found


def _rounded(distance: float) -> float:
    """Whole units, upwards: a processor with other vector instructions rounds otherwise by parts of one."""
    return math.ceil(distance) if distance < 1000 else float(f"{distance * 1.05:.1e}")


def keep(measured: dict[str, Any], held: dict[str, Any]) -> None:
    """Take one backend's measurement into the data, where it is larger than what is there."""
    backend = measured["backend"]
    held.setdefault("versions", {})[backend] = measured["version"]
    for function, tally in measured["functions"].items():
        add(held, backend, function, tally["ulp"])


def add(held: dict[str, Any], backend: str, function: str, ulp: dict[str, float]) -> None:
    """Take the distances of one function, dtype -> units, into the data, where they are larger than what is there."""
    table = held.setdefault("ulp", {}).setdefault(backend, {})
    for dtype, distance in ulp.items():
        figure = _rounded(distance)
        if figure > table.get(function, {}).get(dtype, 0):
            table.setdefault(function, {})[dtype] = figure


def page() -> str:
    """The reference page."""
    held = data()
    backends = [name for name in ("jax", "torch", "tensorflow", "numpy") if name in held["ulp"]]
    versions = ", ".join(f"{name} {held['versions'][name]}" for name in backends if name != "numpy")
    lines = [
        "# Accuracy",
        "",
        "<!-- Made by `python -m tests.functions.accuracy --page`; edits here are lost. -->",
        "",
        "How far a result is from NumPy's, at most, in units in the last place (ulp), over the calls of the test grid and the",
        "oracle's expressions: dtypes, shapes, layouts and argument patterns, on normal numbers, ties, zeros, infinities and",
        "NaN (of the grid, on JAX, a sample). `ufunc.at` with repeated indices stands by itself: it runs a ufunc on its own rounded results. For ufuncs the",
        "unit is that of the element; elsewhere that of the largest element of the result, because a small element beside a",
        "large one carries the rounding of the large one. Neither side is correctly rounded. What is not in the table gave",
        "NumPy's very bits.",
        "",
        f"Measured on a CPU with NumPy {held['versions']['numpy']}, {versions}. The tests of the grid allow these",
        "figures and no more, the oracle's two units more, for processors with other vector instructions.",
        "",
        "## Subnormal numbers",
        "",
        "XLA (JAX, and TensorFlow's compiled kernels) and Eigen's vector code flush subnormal numbers to zero on the CPU:",
        "`1e-310 * 1.0` is `0.0` on JAX and on TensorFlow, and `1e-310` on torch and in NumPy. The table counts a subnormal",
        "and a zero as equal.",
        "",
        "## Figures",
        "",
        "A cell gives float16 / float32 / float64 / complex64 / complex128; a dash is a dtype without a difference.",
        "",
        "| function | " + " | ".join(backends) + " |",
        "|---|" + "---|" * len(backends),
    ]
    names = sorted({name for backend in backends for name in held["ulp"][backend]})
    for name in names:
        cells = [_cell(held["ulp"][backend].get(name, {})) for backend in backends]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def _cell(by_dtype: dict[str, float]) -> str:
    if not by_dtype:
        return ""
    return " / ".join(f"{by_dtype[t]:g}" if t in by_dtype else "–" for t in DTYPES)


def main(argv: list[str]) -> int:
    """The command line; see the module."""
    if argv == ["--page"]:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    held: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    for name in argv:
        text = Path(name).read_text(encoding="utf-8")
        if name.endswith(".jsonl"):
            for line in set(text.splitlines()):
                case = json.loads(line)
                add(held, case["backend"], case["function"], case["ulp"])
        else:
            keep(json.loads(text), held)
    for backend, table in held["ulp"].items():
        held["ulp"][backend] = {name: {t: table[name][t] for t in DTYPES if t in table[name]} for name in sorted(table)}
    DATA.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
