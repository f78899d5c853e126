"""Draw the plots of README and the documentation from the tables of measurements in the pages: ``python docs/figures.py``.

The tables are written by hand from the benchmarks' output (docs/explanation/benchmarks.md says how to run those), so a figure
shows what a page says, and a number is typed once.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
COLORS = {"PyTorch": "#d1495b", "JAX": "#30638e", "TensorFlow": "#edae49"}


def table(page: str, first: str) -> list[list[str]]:
    """Return the cells of the table in a page whose header begins with a cell: the header, then the rows."""
    lines = (DOCS / page).read_text("utf-8").splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(f"| {first} |"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return [row for row in rows if not re.fullmatch(r"[-: ]*", "".join(row))]


def sizes() -> tuple[list[int], dict[str, list[float]]]:
    """Return numbers of elements, and by library the speed of a call relative to NumPy's."""
    header, *rows = table("explanation/small-arrays.md", "elements")
    numbers = [int(row[0].replace(",", "")) for row in rows]
    return numbers, {name.split()[0]: [1 / float(row[at]) for row in rows] for at, name in enumerate(header) if at}


def programs() -> list[tuple[str, float]]:
    """Return each whole program with its speed on JAX under the launcher, relative to plain NumPy; fastest last."""
    header, *rows = table("explanation/engine.md", "program | NumPy, s")
    at = header.index("jax")
    found = [(row[0].replace("_", " "), float(row[at])) for row in rows if row[0] != "geometric mean"]
    return sorted(found, key=lambda pair: pair[1])


def draw(path: Path) -> None:
    """Draw both panels."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update(
        {"svg.hashsalt": "arraydispatch", "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif"}
    )
    import matplotlib.pyplot as plt

    left: Any
    right: Any
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), width_ratios=(5, 6))
    numbers, speeds = sizes()
    for name, values in speeds.items():
        left.plot(numbers, values, marker="o", color=COLORS[name], label=f"{name}, called for each operation")
    left.axhline(1, color="#333", linewidth=1)
    left.text(numbers[0], 1.04, "NumPy", color="#333", fontsize=8)
    left.set(xscale="log", ylim=(0, 1.3), xlabel="elements of an array", ylabel="speed relative to NumPy")
    left.set_title("One call: why small arrays stay with NumPy", fontsize=10)
    left.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(0, 0.76))
    names, ratios = zip(*programs(), strict=True)
    right.barh(range(len(names)), ratios, color=["#30638e" if ratio > 1 else "#d1495b" for ratio in ratios], height=0.7)
    for at, ratio in enumerate(ratios):
        right.text(ratio * 1.04, at, f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2f}", va="center", fontsize=7)
    right.axvline(1, color="#333", linewidth=1)
    right.set_yticks(range(len(names)), names, fontsize=7)
    right.set(xscale="log", xlim=(0.6, 24), ylim=(-0.7, len(names) - 0.3), xlabel="speed relative to NumPy (log scale)")
    right.set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    right.minorticks_off()
    right.set_title("Whole programs: arraydispatch run --backend jax", fontsize=10)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    draw(DOCS / "_static" / "speed.svg")
