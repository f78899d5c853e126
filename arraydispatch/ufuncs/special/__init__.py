"""SciPy's ufuncs (``scipy.special``): the choice of kernel, formula or host for each backend.

They reach ``__array_ufunc__`` as NumPy's do, and are registered when the first of them is called, so nothing here
imports SciPy. For each (ufunc, backend) :func:`learn` decides once: the library's own kernel if it is accurate (the
table ``SPECIAL`` in ``backends/<library>/special.py``), else a formula over ``xp`` (in the modules of this package),
else the host, with a reason for each. Complex arguments run in SciPy.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ...backends.base import Backend, LeftToNumPy
from ...backends.host_kernels import LEFT_FROM
from ...common.signal_safety import imported
from ...runtime import dtypes, settings
from ..composed import COMPOSED
from .formula import BODIES, OF_COMPLEX, UFUNCS

__all__ = ["BODIES", "NAMES", "UFUNCS", "kernel", "lacks_kernel", "learn", "name_of", "reason_of", "refusal"]

_MODULE = "scipy.special._ufuncs"
_TOPICS = ("exponentials", "gammas", "bessel", "incomplete")

NAMES: dict[np.ufunc, str] = {}
"""SciPy ufunc -> its name."""

_lock = threading.RLock()
_taken: set[int] = set()


def _look() -> None:
    """Register SciPy's ufuncs, once SciPy is imported."""
    module = sys.modules.get(_MODULE)
    if module is None or id(module) in _taken:
        return
    imported(*[f"{__name__}.{topic}" for topic in _TOPICS])
    with _lock:
        for name, value in vars(module).copy().items():
            if isinstance(value, np.ufunc) and value is not getattr(np, name, None):
                UFUNCS[name] = value
                NAMES.setdefault(value, name)
        _taken.add(id(module))


def name_of(ufunc: np.ufunc) -> str | None:
    """Return ``"erf"`` and the like for SciPy's ufuncs; None for any other ufunc."""
    if ufunc not in NAMES:
        _look()
    return NAMES.get(ufunc)


def learn(ufunc: np.ufunc, backend: Backend) -> bool:
    """Enter a SciPy ufunc into the tables, with its kernel or its formula if there is one; return whether it is SciPy's."""
    name = name_of(ufunc)
    if name is None:
        return False
    if backend.native_is_ndarray:
        backend.UFUNCS[ufunc] = ufunc
    elif name in backend.special:
        backend.UFUNCS[ufunc] = backend.special[name]
    elif name in BODIES:
        COMPOSED[ufunc] = BODIES[name]
    return True


_OF_ORDER = frozenset("iv ive jn jv jve kn kv kve yn yv yve hankel1 hankel1e hankel2 hankel2e lpmv".split())
_INVERSES = frozenset(
    "bdtri bdtrik bdtrin betainccinv betaincinv btdtria btdtrib chdtri chdtriv chndtridf chndtrinc chndtrix fdtri fdtridfd"
    " gammainccinv gammaincinv gdtria gdtrib gdtrix kolmogi nbdtri nbdtrik nbdtrin ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc"
    " nctdtridf nctdtrinc nctdtrit ndtri_exp nrdtrimn nrdtrisd pdtri pdtrik smirnovi stdtridf stdtrit".split()
)


def reason_of(ufunc: np.ufunc) -> str | None:
    """Return the reason why a SciPy ufunc has neither kernel nor formula; None if it is not SciPy's."""
    name = name_of(ufunc)
    if name is None:
        return None
    if name in _OF_ORDER:
        return "no library has it for all orders"
    if name in _INVERSES:
        return "it is found by iteration, element by element"
    return "no library has it, or none with SciPy's digits"


def _of_complex(loop: tuple[np.dtype[Any], ...]) -> bool:
    """Whether an operand or a result of a loop is complex. (Not all need be: the order of a Bessel function is real.)"""
    return any(t.kind == "c" for t in loop)


def kernel(ufunc: np.ufunc, loop: tuple[np.dtype[Any], ...], backend: Backend) -> Callable[..., Any]:
    """Return the formula of a SciPy ufunc as a kernel of a backend; it may raise :class:`LeftToNumPy`, where SciPy is faster."""
    made = backend.fused(COMPOSED[ufunc])
    reason = backend.LEFT_TO_NUMPY.get(f"scipy.special.{NAMES[ufunc]}")
    return partial(_unless_left, made, dtypes.FasterOnHost(reason), backend) if reason else made


def _unless_left(made: Callable[..., Any], reason: str, backend: Backend, *operands: Any) -> Any:
    """Compute by the formula ``made``; raise :class:`LeftToNumPy` if SciPy should compute: large operands in host memory, outside of
    transforms.
    """
    if settings.leaves_to_numpy(backend.name):
        large = [x for x in operands if backend.is_native(x) and prod(backend.shape_of(x)) >= LEFT_FROM]
        if large and all(backend.awaited(x) is not None for x in large):
            raise LeftToNumPy(reason)
    return made(*operands)


def lacks_kernel(ufunc: np.ufunc, loop: tuple[np.dtype[Any], ...], backend: Backend) -> bool:
    """Whether the library lacks a kernel for this loop of a SciPy ufunc. Then a formula runs, unless :func:`refusal` gives a reason."""
    return ufunc not in backend.UFUNCS or (_of_complex(loop) and not backend.native_is_ndarray)


def refusal(ufunc: np.ufunc, loop: tuple[np.dtype[Any], ...], backend: Backend) -> str | None:
    """Return the reason why the library does not run a SciPy ufunc in this loop; None if it does."""
    if backend.native_is_ndarray or not _of_complex(loop):
        return None
    return OF_COMPLEX
