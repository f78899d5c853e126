"""How far SciPy's ufuncs on each backend are from SciPy's values: measured, kept, and read back.

The figures are in ``accuracy.json`` beside this file: the tests allow these and no more, and the reference page on special
functions is made from them. To measure again, from the repository's root::

    python -m tests.scipy_support.special.accuracy --backend torch [names …]
    python -m tests.scipy_support.special.accuracy --true          SciPy's own distances from the true values, by mpmath
    python -m tests.scipy_support.special.accuracy --page          writes docs/reference/special-functions.md
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import arraydispatch as ad
from arraydispatch.backends import loader
from arraydispatch.ufuncs.plans import describe
from tests.scipy_support.special import arguments
from tests.scipy_support.special.arguments import UFUNCS

DATA = Path(__file__).parent / "accuracy.json"
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "special-functions.md"
BACKENDS = ("jax", "torch", "tensorflow")
DTYPES = ("f", "d")


@functools.cache
def data() -> dict[str, Any]:
    """``units``: backend -> function -> dtype -> figure; ``true``: SciPy's own, function -> figure; ``versions``."""
    found: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    return found


def figure(backend: str, name: str, dtype: str) -> float:
    """Units that a function may be away from SciPy."""
    found: float = data()["units"].get(backend, {}).get(name, {}).get(dtype, 0)
    return found


def run(backend: str, name: str, dtype: str, some: slice = slice(None)) -> list[Any]:
    """The distances of one function, of some of its operands, on a backend, which has to run it itself."""
    operands = tuple(x[some] for x in arguments.arguments(name, dtype))
    ufunc = UFUNCS[name]
    to = ufunc.resolve_dtypes((*(x.dtype for x in operands), *(None,) * ufunc.nout))[-1].char
    with np.errstate(all="ignore"):
        want = arguments.reference(name, operands, to)
        units = arguments.unit(name, operands, want)
        with ad.fallback("error"):
            made = ufunc(*(ad.asarray(x, backend=backend) for x in operands))
    made = made if isinstance(made, tuple) else (made,)
    assert all(isinstance(x, ad.Array) and x.backend.name == backend and x.dtype == to for x in made)
    return arguments.distances(tuple(np.asarray(x) for x in made), want, units)


def _rounded(distance: float) -> float:
    return math.ceil(distance) if distance < 1000 else float(f"{distance * 1.05:.1e}")


def measure(backend: str, names: list[str]) -> None:
    """Measure functions on a backend and keep the figures."""
    held = dict(data())
    table = held.setdefault("units", {}).setdefault(backend, {})
    held.setdefault("versions", {})[backend] = loader.load(backend).version
    for name in names or arguments.on_devices(loader.load(backend)):
        if name not in arguments.on_devices(loader.load(backend)):
            continue
        for dtype in DTYPES:
            worst = max(float(np.max(d)) for d in run(backend, name, dtype))
            if math.isinf(worst):
                print(f"{name} {dtype}: NaN or infinity in other places", file=sys.stderr)
                continue
            table.setdefault(name, {})[dtype] = _rounded(worst)
        _write(held)


def _write(held: dict[str, Any]) -> None:
    for table in (*held.get("units", {}).values(), held.get("true", {})):
        for name in sorted(table):
            table[name] = table.pop(name)
    DATA.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


# -- the true values -------------------------------------------------------------------------------------------------------


def _definitions() -> dict[str, Callable[..., Any]]:
    import mpmath as mp

    def part(a: Any, b: Any, x: Any) -> Any:
        return mp.betainc(a, b, 0, x, regularized=True)

    return {
        "betainc": part,
        "erf": mp.erf, "erfc": mp.erfc, "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
        "gamma": mp.gamma, "gammainc": lambda a, x: mp.gammainc(a, 0, x, regularized=True),
        "gammaincc": lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True), "gammaln": lambda x: mp.re(mp.loggamma(x)),
        "i0": lambda x: mp.besseli(0, x), "i1": lambda x: mp.besseli(1, x), "j0": mp.j0, "j1": mp.j1,
        "k0": lambda x: mp.besselk(0, x), "k1": lambda x: mp.besselk(1, x),
        "log_ndtr": lambda x: mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2) if x > 0 else mp.log(mp.erfc(-x / mp.sqrt(2)) / 2), "ndtr": lambda x: mp.erfc(-x / mp.sqrt(2)) / 2,
        "psi": mp.digamma, "rgamma": mp.rgamma,
        "y0": lambda x: mp.bessely(0, x), "y1": lambda x: mp.bessely(1, x),
        "_zeta": mp.zeta,
    }  # fmt: skip


_SAMPLE = 60


def measure_true() -> None:
    """SciPy's own distances, in the same units, at a sample of the operands, and each backend's there."""
    import mpmath as mp

    mp.mp.dps = 60
    held = dict(data())
    table = held.setdefault("true", {})
    rng = np.random.default_rng(7)
    for name, true in _definitions().items():
        if name in table:
            continue
        operands = arguments.arguments(name, "d")
        with np.errstate(all="ignore"):
            want = arguments.reference(name, operands, "d")
            units = arguments.unit(name, operands, want)
            fine = np.isfinite(want[0]) & (np.abs(want[0]) > 1e-290)
            for x in operands:
                fine &= np.isfinite(x) & (np.abs(x) < 1e3) & (np.abs(x) > 1e-9)
            places = rng.choice(np.flatnonzero(fine), _SAMPLE, replace=False)
            values = {"scipy": want[0]}
            for backend in BACKENDS:
                if backend in ad.available_backends():
                    values[backend] = np.asarray(UFUNCS[name](*(ad.asarray(x, backend=backend) for x in operands)))
        worst = dict.fromkeys(values, 0.0)
        for i in places:
            exact = true(*(mp.mpf(float(x[i])) for x in operands))
            for who, found in values.items():
                worst[who] = max(worst[who], float(abs(mp.mpf(float(found[i])) - exact) / units[0][i]))
        table[name] = {who: float(f"{w:.2g}") for who, w in worst.items()}
        print(name, table[name], file=sys.stderr)
        _write(held)


# -- the page --------------------------------------------------------------------------------------------------------------


def page() -> str:
    """The reference page."""
    held = data()
    versions = ", ".join(f"{name} {held['versions'][name]}" for name in BACKENDS)
    backends = [loader.load(name) for name in BACKENDS]
    lines = [
        "# Special functions",
        "",
        "<!-- Made by `python -m tests.scipy_support.special.accuracy --page`; edits here are lost. -->",
        "",
        "`scipy.special` has 232 ufuncs. On an array they run as NumPy's do: by the library's own kernel where it is accurate,",
        "else by a formula of arraydispatch's over the library's kernels, else on the host, by policy and for a reason that the",
        "message names. `arraydispatch coverage` lists them with NumPy's.",
        "",
        "Formulas compute in double precision, also for `float32` (as SciPy does), and round once. Of complex numbers SciPy alone",
        "has these functions.",
        "",
        "Objects of SciPy's that choose a ufunc (`legendre_p`, `sph_harm_y` and the like) are SciPy's, on the host.",
        "",
        "## Accuracy",
        "",
        "How far a result is from SciPy's, at most, over the function's whole domain: ends, poles, zeros, whole and half numbers,",
        "infinities and NaN. A unit is the spacing of floats at the value, or what the last place of an operand changes, if",
        "that is more. A cell gives `float32` / `float64`; *native* is the library's own kernel, *formula* is ours.",
        f"Measured on a CPU with SciPy {held['versions']['scipy']}, {versions}; the tests allow half as much again and three units, for",
        "compilers and processors that contract and vectorize otherwise. NaN and infinities are where SciPy has them,",
        "but for the ends of the range: beyond a half of the largest number SciPy has NaN of some",
        "(`gammainc(1.8e308, 3)`), and JAX and TensorFlow take the least numbers for zeros.",
        "",
        "| function | " + " | ".join(BACKENDS) + " |",
        "|---|" + "---|" * len(BACKENDS),
    ]
    names = sorted({name for backend in backends for name in arguments.on_devices(backend)})
    for name in names:
        cells = []
        for backend in backends:
            found = held["units"][backend.name].get(name, {})
            kind = "native" if describe(UFUNCS[name], backend)[0] == "native" else "formula"
            cells.append(f"{kind} {found.get('f', 0):g} / {found.get('d', 0):g}")
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    lines += [
        "",
        "## Whose distance it is",
        "",
        "Of large arguments `j0`, `j1`, `y0` and `y1` are waves, whose angle SciPy and TensorFlow take from the argument rounded: the error of",
        "their values, of waves of height 0.8, is 1e-9 at 1e7, 1e-6 at 1e10, and at 1e16 no digit is right. The formulas on JAX and PyTorch keep 15",
        "digits of the height at all of these.",
        "",
        "SciPy's values are not exact either. The largest distance from the true value (`mpmath`, 60 digits) at 60 operands of",
        "each function, in the same units, `float64`:",
        "",
        "| function | SciPy | " + " | ".join(BACKENDS) + " |",
        "|---|---|" + "---|" * len(BACKENDS),
    ]
    for name, found in held["true"].items():
        lines.append(f"| `{name}` | " + " | ".join(f"{found[who]:g}" for who in ("scipy", *BACKENDS)) + " |")
    lines += ["", "## On the host", "", "| functions | why |", "|---|---|"]
    reasons: dict[str, list[str]] = {}
    for name, ufunc in UFUNCS.items():
        if name not in names and not name.startswith("_"):
            reasons.setdefault(describe(ufunc, backends[0])[1], []).append(name)
    for reason, held_names in reasons.items():
        lines.append(f"| {', '.join(f'`{n}`' for n in sorted(held_names))} | {reason} |")
    return "\n".join([*lines, ""])


def main(argv: list[str] | None = None) -> int:
    """The command line; see the module."""
    parser = argparse.ArgumentParser(prog="python -m tests.scipy_support.special.accuracy")
    parser.add_argument("--backend")
    parser.add_argument("--true", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args(argv)
    if asked.page:
        PAGE.write_text(page(), encoding="utf-8")
    elif asked.true:
        measure_true()
    else:
        import scipy

        data().setdefault("versions", {})["scipy"] = scipy.__version__
        measure(asked.backend, asked.names)
    return 0


if __name__ == "__main__":
    sys.exit(main())
