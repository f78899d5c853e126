"""SciPy functions written for the array-API standard: SciPy's own code runs, on `Array` objects.

SciPy supports the standard if ``SCIPY_ARRAY_API=1`` is set. Here the switch is on only during one call (by an exchange of the
name in SciPy's module), so no other code sees a different SciPy.
Only functions with code that uses just the standard and never requires an ndarray are registered; a test checks each
of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends.base import Backend, Unsupported
from ..common import pytrees
from ..common.patching import Exchange
from ..common.process_state import process
from ..common.pytrees import mapped
from ..common.signal_safety import imported
from ..functions.registry import XP
from ..memory import views
from ..runtime import conversion
from . import implements, stand_in

_inside: ContextVar[bool] = ContextVar("_inside", default=False)


class _Switch:
    """Replacement for ``real``, SciPy's array-API switch: on during a call from this module, otherwise unchanged."""

    def __init__(self, real: Any) -> None:
        self.real = real

    def __bool__(self) -> bool:
        return bool(self.real) or _inside.get()


_HOLDERS = ("scipy._lib._array_api_override", "scipy._lib._array_api")
_NAME = "SCIPY_ARRAY_API"
_exchanges: list[Exchange] = []


@contextmanager
def by_the_standard() -> Iterator[None]:
    for each in _exchanges:
        each.put()
    before = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(before)


def restore_switch() -> None:
    """Put SciPy's own switch back."""
    for each in _exchanges:
        each.undo()


def _prepare() -> bool:
    """Exchange SciPy's switch where modules hold it; return whether this SciPy has one (versions from 1.17 on do)."""
    try:
        modules = [imported(name) for name in _HOLDERS]
    except ModuleNotFoundError:
        return False
    if not all(hasattr(module, _NAME) for module in modules):
        return False
    _exchanges.extend(
        Exchange(module, _NAME, lambda exchange: _Switch(exchange.real), "switch of SciPy") for module in modules
    )
    return True


def ours(x: Any, backend: Backend, device: Any) -> Any:
    """Replace ndarrays and arrays in the host state within an argument by arrays of the backend."""
    if isinstance(x, Handle):
        if x._kind.backend is backend:
            return x
        if x._kind.backend.hosted and backend.holds(x._kind.dtype):
            return process.wrapper(views.lifted(x, device), backend.kind(x._kind.dtype))
        return x
    if type(x) is np.ndarray and backend.holds(x.dtype):
        value = conversion.upload(backend, x, device, "a NumPy array met an array on the device")
        return process.wrapper(value, backend.kind(x.dtype))
    return mapped(lambda y: ours(y, backend, device), x) if isinstance(x, list | tuple | dict) else x


def plain_result(x: Any) -> Any:
    """Convert a result to what SciPy returns for ndarrays: standard arrays are unwrapped, and 0-d ones become scalars."""
    if not isinstance(x, Handle) or not x._kind.standard:
        return x
    kind = x._kind.backend.kind(x._kind.dtype)
    value = views.native(x)
    if not x._kind.backend.shape_of(value):
        made = kind.scalar(value)
        return x if made is None else made
    return process.wrapper(value, kind)


def _enter(full: str) -> None:
    func = stand_in(full)
    if func is None:
        return
    real = func.__wrapped__

    @implements(full, mode="arrays", pure=False, returns="any", unverified="SciPy's own code runs it, on arrays")
    def body(xp: XP, *args: Any, **kwargs: Any) -> Any:
        backend = xp.backend
        given = [ours(x, backend, None) for x in args]
        keywords = {key: ours(x, backend, None) for key, x in kwargs.items()}
        try:
            with by_the_standard():
                found = real(*given, **keywords)
        except TypeError as error:
            if not str(error).startswith("Multiple namespaces"):
                raise
            why = "SciPy's own code does not mix lists with arrays of a library"
        except NotImplementedError as error:
            why = str(error) or "SciPy's own code does not take arrays of a library here"
        else:
            return pytrees.converted(plain_result, found)
        raise Unsupported(why)


_NAMES = {
    "integrate": "cumulative_simpson cumulative_trapezoid trapezoid",
    "signal": "freqz freqz_sos resample vectorstrength",
    "special": "log_softmax logsumexp softmax softplus",
    "stats": (
        "bartlett boxcox_llf chisquare circmean circstd circvar combine_pvalues describe differential_entropy directional_stats entropy"
        " f_oneway false_discovery_control gmean gstd gzscore hmean iqr jarque_bera kruskal kurtosis kurtosistest levene moment"
        " normaltest pmean power_divergence rankdata sem sigmaclip skew skewtest tmax tmean tmin trim_mean tsem tstd"
        " tvar variation zmap zscore quantile expectile median_abs_deviation"
    ),
}
"""SciPy module -> its functions that run this way."""
_is_switched = _prepare()


def register(module: str) -> None:
    """Register the functions of one SciPy module. (Importing all modules would take long: ``scipy.stats`` half a second.)"""
    for name in _NAMES.get(module, "").split() if _is_switched else ():
        _enter(f"scipy.{module}.{name}")
