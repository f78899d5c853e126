"""How the tables of ``arraydispatch/ufuncs/special/expansions.py`` come about: each function on an interval, by Chebyshev series.

Every table is computed here from its function's definition, to 40 digits, by mpmath; nothing is copied from elsewhere. To
make the file again, from the repository's root (two minutes)::

    python -m tests.scipy_support.special.fits > arraydispatch/ufuncs/special/expansions.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mpmath as mp

mp.mp.dps = 40
_EPS = mp.mpf(2) ** -56

Function = Callable[[Any], Any]


def chebyshev(f: Function, low: Any, high: Any, most: int = 60) -> list[Any]:
    """Coefficients of ``f`` on an interval, as many as double precision can tell."""
    n = 2 * most
    nodes = [mp.cos(mp.pi * (2 * j + 1) / (2 * n)) for j in range(n)]
    values = [f((low + high) / mp.mpf(2) + (high - low) / mp.mpf(2) * t) for t in nodes]
    found = []
    for k in range(most):
        terms = [v * mp.cos(mp.pi * k * (2 * j + 1) / (2 * n)) for j, v in enumerate(values)]
        found.append(mp.fsum(terms) * 2 / n)
    found[0] /= 2
    least = min(abs(v) for v in values)
    while len(found) > 1 and abs(found[-1]) < _EPS * least:
        found.pop()
    if len(found) == most:
        print(f"{f}: not converged on [{low}, {high}]: {found[-1]}", file=sys.stderr)
    return found


def powers(coefficients: list[Any]) -> list[Any]:
    """A Chebyshev series as a polynomial in the same variable."""
    before, now = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]
    out = [mp.mpf(0)] * len(coefficients)
    for k, c in enumerate(coefficients):
        basis = before if k == 0 else now
        for i, b in enumerate(basis):
            out[i] += c * b
        if k:
            longer = [mp.mpf(0), *(2 * b for b in now)]
            for i, b in enumerate(before):
                longer[i] -= b
            before, now = now, longer
    return out


def fit(f: Function, low: Any, high: Any) -> tuple[float, float, str, list[float]]:
    """Interval, basis and coefficients: a polynomial where its terms do not cancel, else the Chebyshev series."""
    series = chebyshev(f, mp.mpf(low), mp.mpf(high))
    plain = powers(series)
    size = mp.fsum(abs(c) for c in plain)
    least = min(abs(f(mp.mpf(low) + (mp.mpf(high) - low) * (j + mp.mpf(1) / 2) / 50)) for j in range(50))
    if size < 4 * least:
        return float(low), float(high), "power", [float(c) for c in plain]
    return float(low), float(high), "chebyshev", [float(c) for c in series]


# -- the functions -------------------------------------------------------------------------------------------------------

_J0_ZEROS = [mp.besseljzero(0, k) ** 2 for k in (1, 2)]
_J1_ZEROS = [mp.besseljzero(1, k) ** 2 for k in (1, 2)]


def _positive(f: Function, at_zero: Any) -> Function:
    """``f`` of the root of the variable, with its limit."""
    return lambda z: mp.mpf(at_zero) if z < mp.mpf(10) ** -30 else f(mp.sqrt(z))


def _hankel(order: int, part: str) -> Function:
    """The amplitude and phase functions of J and Y beyond 5, in (5 / x) ** 2."""

    def f(u: Any) -> Any:
        x = 5 / mp.sqrt(u)
        angle = x - (2 * order + 1) * mp.pi / 4
        scale = mp.sqrt(mp.pi * x / 2)
        j, y = mp.besselj(order, x), mp.bessely(order, x)
        if part == "p":
            return scale * (j * mp.cos(angle) + y * mp.sin(angle))
        return scale * (y * mp.cos(angle) - j * mp.sin(angle)) * x / 5

    return f


def _kn_small(order: int) -> Function:
    def f(z: Any) -> Any:
        x = mp.sqrt(z)
        k = mp.besselk(order, x)
        return k + mp.log(x / 2) * mp.besseli(0, x) if order == 0 else x * (k - mp.log(x / 2) * mp.besseli(1, x))

    return f


def _kn_large(order: int) -> Function:
    return lambda u: mp.sqrt(2 / u) * mp.exp(2 / u) * mp.besselk(order, 2 / u)


def _erfcx(t: Any) -> Any:
    x = 3.75 * (1 + t) / (1 - t)
    if x > 200:
        series = mp.nsum(lambda n: (-1) ** int(n) * mp.fac2(2 * int(n) - 1) / (2 * x * x) ** int(n), [0, 12])
        return (1 + 2 * x) * series / (x * mp.sqrt(mp.pi))
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


FITS: dict[str, tuple[Function, Any, Any, str]] = {
    "GAMMA_2_3": (mp.gamma, 2, 3, "gamma(x)"),
    "LOG_GAMMA_2": (lambda t: mp.loggamma(2 + t) / t if t else 1 - mp.euler, -0.5, 0.5, "log(gamma(2 + t)) / t"),
    "LOG1PMX": (
        lambda u: (mp.log1p(u) - u) / u**2 if u else mp.mpf(-0.5), -0.4, 0.5, "(log(1 + u) - u) / u**2",
    ),
    "ERFCX": (_erfcx, -1, 1, "(1 + 2 x) erfcx(x), in (x - 3.75) / (x + 3.75)"),
    "ERFINV": (_positive(lambda y: mp.erfinv(y) / y, mp.sqrt(mp.pi) / 2), 0, 0.25, "erfinv(y) / y, in y**2"),
    "K0_SMALL": (_kn_small(0), 0, 4, "k0(x) + log(x / 2) i0(x), in x**2"),
    "K0_LARGE": (_kn_large(0), 0, 1, "sqrt(x) exp(x) k0(x), in 2 / x"),
    "K1_SMALL": (_kn_small(1), 0, 4, "x (k1(x) - log(x / 2) i1(x)), in x**2"),
    "K1_LARGE": (_kn_large(1), 0, 1, "sqrt(x) exp(x) k1(x), in 2 / x"),
    "J0_SMALL": (
        _positive(
            lambda x: mp.besselj(0, x) / ((x * x - _J0_ZEROS[0]) * (x * x - _J0_ZEROS[1])), 1 / (_J0_ZEROS[0] * _J0_ZEROS[1])
        ), 0, 25, "j0(x) / ((x**2 - J0_ZEROS[0]) (x**2 - J0_ZEROS[1])), in x**2",
    ),
    "J1_SMALL": (
        _positive(
            lambda x: mp.besselj(1, x) / x / ((x * x - _J1_ZEROS[0]) * (x * x - _J1_ZEROS[1])),
            1 / (2 * _J1_ZEROS[0] * _J1_ZEROS[1]),
        ), 0, 25, "j1(x) / x / ((x**2 - J1_ZEROS[0]) (x**2 - J1_ZEROS[1])), in x**2",
    ),
    "Y0_SMALL": (
        _positive(lambda x: mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x), 2 / mp.pi * (mp.euler - mp.log(2))),
        0, 25, "y0(x) - 2 / pi log(x) j0(x), in x**2",
    ),
    "Y1_SMALL": (
        _positive(
            lambda x: (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x,
            (mp.euler - mp.log(2) - mp.mpf(1) / 2) / mp.pi,
        ), 0, 25, "(y1(x) - 2 / pi (log(x) j1(x) - 1 / x)) / x, in x**2",
    ),
    "P0": (_hankel(0, "p"), 0, 1, "amplitude of order 0, in (5 / x)**2"),
    "Q0": (_hankel(0, "q"), 0, 1, "phase of order 0 times x / 5, in (5 / x)**2"),
    "P1": (_hankel(1, "p"), 0, 1, "amplitude of order 1, in (5 / x)**2"),
    "Q1": (_hankel(1, "q"), 0, 1, "phase of order 1 times x / 5, in (5 / x)**2"),
}  # fmt: skip
"""Name -> function, interval, and what it is."""


# -- the incomplete gamma function -------------------------------------------------------------------------------------


def temme(terms: int, degree: int) -> list[list[Any]]:
    """Taylor coefficients of the functions c_k(eta) of DLMF 8.12.9 to 8.12.11, k < ``terms``."""
    need = degree + 2 * terms + 4
    # eta**2 / 2 = mu - log(1 + mu): mu as a series in eta, term by term, from mu' mu = eta (1 + mu)
    mu = [mp.mpf(0), mp.mpf(1)]
    for n in range(2, need + 1):
        known = mp.fsum((n - i + 1) * mu[i] * mu[n - i + 1] for i in range(2, n))
        mu.append((mu[n - 1] - known) / (n + 1))
    inverse = [mp.mpf(1)]  # eta / mu
    for n in range(1, need):
        inverse.append(-mp.fsum(mu[i + 1] * inverse[n - i] for i in range(1, n + 1)))
    one_over_mu = inverse  # the coefficient of eta**(n - 1)
    # scaled gamma function: gamma(a) = sqrt(2 pi / a) (a / e)**a sum g_k a**-k
    g = mp.taylor(
        lambda x: mp.exp(mp.fsum(mp.bernoulli(2 * k) / (2 * k * (2 * k - 1)) * x ** (2 * k - 1) for k in range(1, 14))),
        0,
        terms,
    )
    found = [[one_over_mu[n + 1] for n in range(need - 1)]]
    for k in range(1, terms):
        before = found[-1]
        # c_k = (1 / eta) c_{k-1}' + (-1)**k g_k / mu; the poles cancel
        row = [(n + 2) * before[n + 2] + (-1) ** k * g[k] * one_over_mu[n + 1] for n in range(len(before) - 2)]
        found.append(row)
    # as far as a term can count where the expansion is used: a from 25, |eta| up to a third
    kept = []
    for k, row in enumerate(found):
        count = [n for n, c in enumerate(row[:degree]) if abs(c) * mp.mpf(0.36) ** n * mp.mpf(25) ** -k > 1e-19]
        if count:
            kept.append(row[: count[-1] + 1])
    return kept


def zeta_even(count: int) -> Iterator[float]:
    """B_2k / (2k)!."""
    for k in range(1, count + 1):
        yield float(mp.bernoulli(2 * k) / mp.factorial(2 * k))


def gauss(count: int) -> list[tuple[float, float]]:
    """Nodes and weights of Gauss's rule on [0, 1]."""
    import numpy as np

    found = []
    for near in np.polynomial.legendre.leggauss(count)[0]:
        x = mp.findroot(lambda t: mp.legendre(count, t), mp.mpf(float(near)))
        slope = count * (mp.legendre(count - 1, x) - x * mp.legendre(count, x)) / (1 - x * x)
        found.append((float((1 + x) / 2), float(1 / ((1 - x * x) * slope**2))))
    return found


# -- the file -------------------------------------------------------------------------------------------------------------


def _numbers(values: Sequence[float], indent: str = "    ") -> str:
    lines, line = [], indent
    for value in values:
        text = f"{value!r},"
        if len(line) + len(text) > 118:
            lines.append(line.rstrip())
            line = indent
        line += text + " "
    return "\n".join([*lines, line.rstrip()])


def source() -> str:
    """The module of tables."""
    parts = [
        '"""Series of special functions on intervals, in double precision.\n',
        "Made by ``python -m tests.scipy_support.special.fits``, which computes each from its function's definition; edits here are lost.",
        '"""\n',
        "from __future__ import annotations\n",
        "from typing import Literal, NamedTuple\n\n",
        "class Series(NamedTuple):",
        '    """A function on an interval, in the variable that goes from -1 to 1 there."""\n',
        "    low: float",
        "    high: float",
        '    basis: Literal["power", "chebyshev"]',
        "    terms: tuple[float, ...]\n\n",
        f"J0_ZEROS = {tuple(_split(z) for z in _J0_ZEROS)}",
        f"J1_ZEROS = {tuple(_split(z) for z in _J1_ZEROS)}",
        '"""Squares of the first zeros, each as a sum of two numbers."""\n',
        f"BERNOULLI = (\n{_numbers(list(zeta_even(14)))}\n)  # fmt: skip",
        '"""B_2k / (2k)!, from k = 1."""\n',
    ]
    nodes, weights = zip(*gauss(28), strict=True)
    parts.append(f"GAUSS = (\n{_numbers(nodes)}\n), (\n{_numbers(weights)}\n)  # fmt: skip")
    parts.append('"""Nodes and weights of Gauss\'s rule on [0, 1]."""\n')
    for name, (f, low, high, what) in FITS.items():
        a, b, basis, terms = fit(f, low, high)
        parts.append(f"{name} = Series({a!r}, {b!r}, {basis!r}, (\n{_numbers(terms)}\n))  # fmt: skip")
        parts.append(f'"""{what}."""\n')
        print(name, basis, len(terms), file=sys.stderr)
    rows = ",\n".join(f"    (\n{_numbers([float(c) for c in row], '        ')}\n    )" for row in temme(14, 24))
    parts.append(f"TEMME = (\n{rows},\n)  # fmt: skip")
    parts.append('"""Taylor coefficients of c_k(eta), k = 0, 1, … (DLMF 8.12.9 and 8.12.11)."""')
    return "\n".join(parts).replace("'power'", '"power"').replace("'chebyshev'", '"chebyshev"') + "\n"


def _split(z: Any) -> tuple[float, float]:
    high = float(z)
    return high, float(z - mp.mpf(high))


if __name__ == "__main__":
    sys.stdout.write(source())
