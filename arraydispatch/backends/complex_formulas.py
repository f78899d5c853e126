"""Elementary functions of complex numbers with C99's special values, composed of real functions with the formulas of glibc.

Used by backends that compile with XLA. XLA loses the sign of zero, which selects the side of a branch cut, and returns NaN for most
infinities (https://github.com/jax-ml/jax/issues/24787). It computes sinh and cosh of real numbers as exp(x + log(1/2)); the error grows
with the sum: 17 units in the last place at x = 290.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

Native = Any
Kernel = Callable[[Native], Native]


class Formulas:
    """Formulas over a library's functions of real numbers.

    Parameters
    ----------
    lib : namespace
        ``exp expm1 log log1p sin cos atan2 maximum minimum abs equal signbit isinf isnan isfinite zeros_like`` of real arrays; ``where``, for
        arrays and Python numbers; ``is_double(x)``; ``parts(z)``, the real and the imaginary part; ``join(re, im)``.
    """

    def __init__(self, **lib: Any) -> None:
        self.lib = SimpleNamespace(**lib)

    def _signed(self, size: Native, sign: Native) -> Native:
        return self.lib.where(self.lib.signbit(sign), -size, size)

    def _nothing(self, like: Native) -> Native:
        """Return zeros with the signs of the elements of ``like``."""
        return self._signed(self.lib.zeros_like(like), like)

    def _times(self, big: Native, root: Native, factor: Native) -> Native:
        """Compute ``big * factor``, where ``big`` is the square of ``root`` and may overflow although the product does not."""
        return self.lib.where(self.lib.isinf(big), root * factor * root, big * factor)

    def exp(self, z: Native) -> Native:
        lib = self.lib
        x, y = lib.parts(z)
        size, root = lib.exp(x), lib.exp(x * 0.5)
        lost, real = ~lib.isfinite(y), lib.equal(y, 0.0)
        down, up = lost & lib.equal(x, -math.inf), lost & lib.equal(x, math.inf)
        re = lib.where(down, 0.0, lib.where(up, math.inf, self._times(size, root, lib.cos(y))))
        im = lib.where(down, self._nothing(y), self._times(size, root, lib.sin(y)))
        return lib.join(lib.where(real, size, re), lib.where(real, y, im))

    def expm1(self, z: Native) -> Native:
        """Compute expm1 by NumPy's formula, without special cases."""
        lib = self.lib
        x, y = lib.parts(z)
        half = lib.sin(y * 0.5)
        return lib.join(lib.expm1(x) * lib.cos(y) - 2.0 * half * half, lib.exp(x) * lib.sin(y))

    def _sinh_cosh(self, x: Native) -> tuple[Native, Native, Native]:
        """Return sinh and cosh of a positive number, and their square roots for numbers at which they overflow."""
        lib = self.lib
        root, less, full = lib.exp(x * 0.5), lib.expm1(x), lib.exp(x)
        huge, top = lib.isinf(full), root * 0.5 * root
        s = lib.where(huge, top, (less + less / (less + 1.0)) * 0.5)
        return s, lib.where(huge, top, full * 0.5 + 0.5 / full), root * math.sqrt(0.5)

    def real_sinh(self, x: Native) -> Native:
        return self._signed(self._sinh_cosh(self.lib.abs(x))[0], x)

    def real_cosh(self, x: Native) -> Native:
        return self._sinh_cosh(self.lib.abs(x))[1]

    def real_arctanh(self, x: Native) -> Native:
        size = self.lib.abs(x)
        return self._signed(self.lib.log1p(size * 2.0 / (1.0 - size)) * 0.5, x)

    def sinh(self, z: Native) -> Native:
        lib = self.lib
        x, y = lib.parts(z)
        s, c, root = self._sinh_cosh(lib.abs(x))
        lost, real = ~lib.isfinite(y), lib.equal(y, 0.0)
        re = self._signed(self._times(s, root, lib.cos(y)), x)
        re = lib.where(lost & lib.equal(x, 0.0), x, lib.where(lost & lib.isinf(x), math.inf, re))
        return lib.join(lib.where(real, self._signed(s, x), re), lib.where(real, y, self._times(c, root, lib.sin(y))))

    def cosh(self, z: Native) -> Native:
        lib = self.lib
        x, y = lib.parts(z)
        s, c, root = self._sinh_cosh(lib.abs(x))
        lost, real = ~lib.isfinite(y), lib.equal(y, 0.0)
        re = lib.where(lost & lib.isinf(x), math.inf, self._times(c, root, lib.cos(y)))
        im = lib.where(lost & lib.equal(x, 0.0), 0.0, self._signed(self._times(s, root, lib.sin(y)), x))
        return lib.join(lib.where(real, c, re), lib.where(real, lib.where(lib.isnan(x), y, self._signed(y, x)), im))

    def tanh(self, z: Native) -> Native:
        lib = self.lib
        x, y = lib.parts(z)
        sin, cos, size = lib.sin(y), lib.cos(y), lib.abs(x)
        s, c, _ = self._sinh_cosh(size)
        eps, most = (2.0**-52, 1023) if lib.is_double(x) else (2.0**-23, 127)
        denominator = lib.where(s > lib.abs(cos) * eps, s * s + cos * cos, cos * cos)
        far, infinite, lost = size > most * math.log(2) / 2, lib.isinf(x), ~lib.isfinite(y)
        re = lib.where(far, 1.0, s * c / denominator)
        im = lib.where(far, 4.0 * sin * cos * lib.exp(-size) * lib.exp(-size), sin * cos / denominator)
        im = lib.where(infinite, self._nothing(lib.where(~lost & (lib.abs(y) > 1.0), sin * cos, y)), im)
        unknown = lost & ~infinite
        re = self._signed(lib.where(infinite, 1.0, re), x)
        re = lib.where(unknown, lib.where(lib.equal(x, 0.0), x, math.nan), re)
        im = lib.where(lib.isnan(x), lib.where(lib.equal(y, 0.0), y, math.nan), im)
        return lib.join(re, lib.where(unknown, math.nan, im))

    def arctanh(self, z: Native) -> Native:
        lib = self.lib
        x, y = lib.parts(z)
        a, b = lib.abs(x), lib.abs(y)
        eps = 2.0**-52 if lib.is_double(x) else 2.0**-23
        # near: Re = 1/4 log(((1 + x)² + y²) / ((1 - x)² + y²)), Im = 1/2 atan2(2 y, 1 - x² - y²)
        y2 = lib.where(b >= eps * eps, y * y, 0.0)
        below = (1.0 - x) * (1.0 - x) + y2
        less = 4.0 * x / below
        # XLA's log1p is 128 units off at -0.4
        near = lib.where(lib.abs(less) > 0.2, lib.log(((1.0 + x) * (1.0 + x) + y2) / below), lib.log1p(less)) * 0.25
        pole = lib.equal(a, 1.0) & (b < eps * eps)
        near = lib.where(pole, self._signed((math.log(2) - lib.log(b)) * 0.5, x), near)
        large, small = lib.maximum(a, b), lib.minimum(a, b)
        rest = (1.0 - large) * (1.0 + large) - lib.where(small < eps / 2, 0.0, small * small)
        angle = lib.atan2(2.0 * y, lib.where(lib.equal(rest, 0.0), 0.0, rest)) * 0.5
        # far: Re = x / |z|², Im = ± π/2
        inverse = 1.0 / lib.where(lib.equal(large, 0.0), 1.0, large)  # XLA turns two divisions into one by a product
        ratio = small * inverse
        far = x * inverse * inverse / (1.0 + ratio * ratio)
        is_far, quarter = large >= 16 / eps, self._signed(lib.zeros_like(y) + math.pi / 2, y)
        re = lib.where(is_far, lib.where(lib.isinf(x) | lib.isinf(y), self._nothing(x), far), near)
        re = lib.where(lib.equal(x, 0.0), x, re)
        unknown = lib.isnan(x) | lib.isnan(y)
        known = (lib.isnan(x) & lib.isinf(y)) | (lib.isnan(y) & (lib.isinf(x) | lib.equal(x, 0.0)))
        re = lib.where(unknown, lib.where(known, self._nothing(x), math.nan), re)
        im = lib.where(unknown, lib.where(lib.isinf(y), quarter, math.nan), lib.where(is_far, quarter, angle))
        return lib.join(re, lib.where(lib.equal(x, 0.0) & lib.equal(y, 0.0), y, im))

    def cos(self, z: Native) -> Native:
        x, y = self.lib.parts(z)
        return self.cosh(self.lib.join(-y, x))

    def rotated(self, function: Kernel) -> Kernel:
        """Return the function i f(-i z): sin from sinh, tan from tanh, arctan from arctanh."""
        lib = self.lib

        def body(z: Native) -> Native:
            x, y = lib.parts(z)
            re, im = lib.parts(function(lib.join(y, -x)))
            return lib.join(-im, re)

        return body

    def mirrored(self, function: Kernel, across_real_axis: bool, known: Callable[..., tuple[Native, Native]]) -> Kernel:
        """Return a function that evaluates ``function`` on one side of a branch cut and reflects the result for the other side.

        ``known(x, y, re, im)`` returns real and imaginary part corrected for infinities and NaN.
        """
        lib = self.lib

        def body(z: Native) -> Native:
            x, y = lib.parts(z)
            a, b = (x, lib.abs(y)) if across_real_axis else (lib.abs(x), y)
            re, im = known(a, b, *lib.parts(function(lib.join(a, b))))
            return lib.join(re, self._signed(im, y)) if across_real_axis else lib.join(self._signed(re, x), im)

        return body

    def inverse(self, name: str, function: Kernel) -> Kernel:
        """Return a kernel for the inverse of a circular or hyperbolic function. The library's own ``function`` computes it on one side of
        the branch cut; the other side is a reflection.
        """
        lib = self.lib

        def known(x: Native, y: Native, re: Native, im: Native) -> tuple[Native, Native]:
            mixed = (lib.isnan(x) & lib.isfinite(y)) | (lib.isnan(y) & lib.isfinite(x))
            part, none = y if name == "arcsinh" else x, lib.zeros_like(x)
            value = lib.where(lib.equal(part, 0.0), none + math.pi / 2 if "cos" in name else part, math.nan)
            at = (value, none + math.nan) if name in ("arccos", "arcsin") else (none + math.nan, value)
            return lib.where(mixed, at[0], re), lib.where(mixed, at[1], im)

        return self.mirrored(function, name != "arcsinh", known)
