"""SciPy ufuncs that torch computes with SciPy's values: name -> kernel of real numbers.

Not included, and so composed (``ufuncs/special``): ``bessel_*`` (wrong from the seventh digit), ``ndtr`` and
``log_ndtr`` (zero, or without correct digits, in the tails), ``gammainc`` and ``gammaincc`` (six digits if both
arguments are equal).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Kernel = Callable[..., Any]


def gammaln(x: Tensor) -> Tensor:
    """Compute gammaln; SciPy returns minus infinity unchanged."""
    return torch.where(x == -math.inf, x, torch.special.gammaln(x))


def zeta(x: Tensor, q: Tensor) -> Tensor:
    """Compute zeta; torch has NaN where ``q`` is infinite."""
    value = torch.special.zeta(x, q)
    return torch.where((q == math.inf) & (x > 1), torch.zeros_like(value), value)


def in_double(function: Kernel) -> Kernel:
    """Wrap a function to compute in double precision: in single precision torch's function overflows too early."""

    def kernel(x: Tensor) -> Tensor:
        return function(x) if x.dtype is torch.float64 else function(x.double()).to(x.dtype)

    return kernel


SPECIAL: dict[str, Kernel] = {
    "entr": torch.special.entr,
    "erf": torch.special.erf,
    "erfc": torch.special.erfc,
    "erfinv": torch.special.erfinv,
    "exp2": torch.exp2,
    "expit": torch.special.expit,
    "expm1": torch.expm1,
    "gammaln": gammaln,
    "i0": in_double(torch.special.i0),
    "i0e": torch.special.i0e,
    "i1": in_double(torch.special.i1),
    "i1e": torch.special.i1e,
    "k0": torch.special.modified_bessel_k0,
    "k0e": torch.special.scaled_modified_bessel_k0,
    "k1": torch.special.modified_bessel_k1,
    "k1e": torch.special.scaled_modified_bessel_k1,
    "log1p": torch.log1p,
    "log_expit": torch.nn.functional.logsigmoid,
    "ndtri": torch.special.ndtri,
    "psi": torch.special.digamma,
    "round": torch.round,
    "xlog1py": torch.special.xlog1py,
    "xlogy": torch.special.xlogy,
    "_zeta": zeta,
}
