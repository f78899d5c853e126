"""How far each backend's floating results are from NumPy's, in units in the last place: measured and kept.

The figures are in ``accuracy.json`` beside this file: observations, on one processor. What the tests allow stands in
:mod:`tests.limits`, and the reference page on accuracy is made from both. To measure again, from the repository's root
(hours on JAX for all of it)::

    python -m tests.functions.grid --backend torch --json torch.json
    ARRAYDISPATCH_MEASURE=cases.jsonl pytest tests/functions --all      the expressions of the oracle, on all backends
    python -m tests.functions.accuracy torch.json cases.jsonl …         keeps the larger of old and new
    python -m tests.functions.accuracy --page                writes docs/reference/accuracy.md
"""

from __future__ import annotations

import functools
import json
import math
import sys
import textwrap
from pathlib import Path
from typing import Any

from tests import limits

DATA = Path(__file__).parent / "accuracy.json"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "accuracy.md"
DTYPES = ("float16", "float32", "float64", "complex64", "complex128")


@functools.cache
def data() -> dict[str, Any]:
    """What was measured: ``versions`` of the libraries, and ``ulp``: backend -> function -> dtype -> figure."""
    found: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
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


EXACT = """\
## What is exact

On a CPU these have NumPy's very bits, for float32 and float64, whatever the shapes and whether an operand is an array, a
scalar or broadcast (subnormal numbers aside; `tests/ufuncs/test_exact_arithmetic.py` holds them to it):

- `+`, `-`, `*`, `/`, `//`, `%`, `divmod`, `np.fmod`, `np.reciprocal`, `np.sqrt`, `np.degrees`, `np.radians`, and what is
  made of these element by element: `np.around`, `np.linspace`, `np.gradient`, …;
- quotients of integers, and complex numbers plus, minus, times and divided by a real number;
- the division and the root in `np.mean`, `np.average`, `np.var`, `np.std`, `np.median`, `np.linalg.norm` and their `nan`
  variants: these are exact where the sum is, as of whole numbers, and else as far off as the sum.

- `np.cumsum`, `np.cumprod` and the other running sums and products, of 16-bit floats too: rounded at each step, so that a float16
  sum of ones stays at 2048 as NumPy's does (of complex numbers the sums; torch and TensorFlow: where NumPy may compute on the array's
  memory, see below; else torch keeps the running value in a wider type);
- `np.einsum` of few products altogether (65,536), or whose elements are sums of few products (about 16): zeros stay zeros.

*Sums* add in another order than NumPy's, and are as close to the true sum as NumPy's are; those of 16-bit floats are kept in float32
along every axis, where NumPy's are along contiguous ones. Matrix products are the library's.

The libraries do not do this by themselves. XLA multiplies by the reciprocal of a divisor that is broadcast, and Grappler,
in a `tf.function`, by that of a constant or a root; a barrier that is gone before the loops are made keeps them from it.
torch's square root, MKL's, is not correctly rounded. So NumPy computes that, torch's running sums and the short sums of products on
the array's own memory (*host kernels*), except under `execution="eager"`, where a gradient is recorded, in the libraries' transforms
and compilers, and on an accelerator.

Inside the libraries' own compilers, where these see a whole function of yours:

- `jax.jit` and `tf.function(jit_compile=True)`: division, roots, and sums and products with Python numbers are exact as
  above. `a * b + c` is contracted to one rounding instead of two (a fused multiply-add), which nothing in the program prevents:
  `arraydispatch run --exact`, or `XLA_FLAGS=--xla_cpu_max_isa=AVX` set before the library starts, keeps it from that, and every product,
  sum, quotient, root and comparison in a compiled function has NumPy's bits. The loops are of half as many numbers at once then.
  torch's compiler contracts nothing.
- `tf.function`: division and roots are exact. Grappler adds and multiplies numbers and rows among themselves first, `a * 3.3 * 7.7`
  as `a * (3.3 * 7.7)`; `tf.config.optimizer.set_experimental_options({"arithmetic_optimization": False})` stops that.
- On an accelerator division and roots are the library's own.
"""


_PAGE = """\
# Accuracy

<!-- Made by `python -m tests.functions.accuracy --page`; edits here are lost. -->

How near results are to NumPy's. The first part is promised: tests hold every call of the grid and of the oracle to it, on
whatever processor they run. The second is what was seen on one processor.

The unit is that in the last place (ulp) of NumPy's result: for ufuncs of the element, elsewhere of the largest element,
because a small element beside a large one carries the rounding of the large one. Neither side is correctly rounded.

## Promises

*The same bits*: integers, booleans, and of floating numbers what IEEE 754 determines (`+ - * /`, `sqrt`, `%`, `//`, rounding
to integers and decimals) and all that only compares, chooses, moves or converts: every function that is not named below.

*Rounding*: the functions named here (of which some are exact where the next section says so), products and quotients of complex numbers, and what repeats arithmetic
(`np.add.reduce`, `np.multiply.at`) lie within {units} ulp of NumPy's result

- plus {moves} times as far as NumPy's own result moves when the last bit of each element of an operand changes, because the
  order of a sum may do as much. Real functions of one element (`exp`, `sin`, `power`) get no such addition. This is held for
  sums of some hundred terms, as the grid's are. Of longer ones no side promises more than half a unit for each term: the norm
  of 300,000 numbers, one of them a thousand times the others, was 181 units off in NumPy and 949 in torch;
- n times {units} ulp for functions that factorize an n x n matrix, and there an element's last bit is that of the matrix's
  largest: their backward error is n · eps · norm, the orthogonality of factors n · eps.

{rounded}

More than {units} ulp:

{wider}

Where a library does not give the bits, and the result is held to {units} ulp:

{libraries}

NumPy itself keeps no other promise: its results change with the kernels that OpenBLAS chooses for a processor, and with
the vector instructions that it finds. So do torch's with those of MKL and oneDNN. A result that is singular to working precision may
be infinite in one library and very large in the other.

{exact}
## Subnormal numbers

XLA (JAX, and TensorFlow's compiled kernels) and Eigen's vector code flush subnormal numbers to zero on the CPU:
`1e-310 * 1.0` is `0.0` on JAX and on TensorFlow, and `1e-310` on torch and in NumPy. A subnormal number and a zero count
as equal here.

## Observations

The largest distance seen over the calls of the test grid and the oracle's expressions: dtypes, shapes, layouts and argument
patterns, on normal numbers, ties, zeros, infinities and NaN (of the grid, on JAX, a sample). They are no promise: another
processor gives others. `ufunc.at` with repeated indices stands by itself: it runs a ufunc on its own rounded results. What is
not in the table gave NumPy's very bits.

Measured on a CPU with AVX-512, {versions}. A cell gives float16 / float32 / float64 / complex64 /
complex128; a dash is a dtype without a difference.

"""


def _by_reason(table: dict[str, Any]) -> list[tuple[Any, list[str]]]:
    return [(reason, [name for name in table if table[name] == reason]) for reason in dict.fromkeys(table.values())]


def _named(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def page() -> str:
    """The reference page."""
    held = data()
    backends = [name for name in ("jax", "torch", "tensorflow", "numpy") if name in held["ulp"]]
    versions = ", ".join(f"{name} {held['versions'][name]}" for name in backends if name != "numpy")
    text = _PAGE.format(
        units=limits.UNITS,
        moves=limits.MOVES,
        rounded=textwrap.fill(", ".join(f"`{name}`" for name in sorted(limits.ROUNDED)), 118, break_on_hyphens=False),
        wider="\n".join(f"- {units:g} for {_named(names)}: {why}." for (units, why), names in _by_reason(limits.WIDER)),
        libraries="\n".join(
            f"- {backend}, {_named(names)}: {why}."
            for backend, table in limits.ON_LIBRARY.items()
            for why, names in _by_reason(table)
        ),
        exact=EXACT,
        versions=f"NumPy {held['versions']['numpy']}, {versions}",
    )
    lines = [
        *text.splitlines(),
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
