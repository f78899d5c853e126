"""Sparse arrays as arguments of SciPy: its functions and classes get a SciPy matrix in place of each sparse array.

If the result of a function is a matrix, it becomes a sparse array of the same library; ndarrays become arrays.
Functions that take a linear operator call it: ``aslinearoperator`` keeps the sparse array, so that its library multiplies.
"""

from __future__ import annotations

import functools
from typing import Any

import scipy.sparse as sp

from ..common.members import MEMBERS, reflected_name
from ..common.patching import Exchange
from ..common.pytrees import mapped
from ..dispatch import scipy_calls
from ..functions.registry import METHODS, SCIENTIFIC
from ..interop import import_notices, scipy_stand_ins
from ..scipy_support import MATRICES
from .construction import from_scipy
from .sparse_array import SparseArray

_KEPT = frozenset({"aslinearoperator"})
_WHY = "it is SciPy's own code, on matrices of its own"


def _to_scipy(x: Any) -> Any:
    return x.to_scipy() if isinstance(x, SparseArray) else x


def called(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], first: SparseArray) -> Any:
    """Run a function that NumPy's protocol dispatches for ``first``, the first sparse array among the arguments. A SciPy matrix that it
    returns becomes a sparse array.
    """
    if func not in SCIENTIFIC:
        return func._implementation(*args, **kwargs)
    if func in METHODS:
        return _method(func, *args, **kwargs)
    if func.__name__ in _KEPT:
        return func.__wrapped__(*args, **kwargs)
    backend = first.data.backend
    found = scipy_calls.call(func, func, mapped(_to_scipy, args), mapped(_to_scipy, kwargs), backend, _WHY)
    return from_scipy(found, backend) if sp.issparse(found) else found


def _method(func: Any, owner: Any, *args: Any, **kwargs: Any) -> Any:
    row = MEMBERS.get(func.__name__)
    reflected = reflected_name(row.func) if row is not None and row.form == "binary" else ""
    if not sp.issparse(owner) or not hasattr(SparseArray, reflected):
        return func.__wrapped__(owner, *mapped(_to_scipy, args), **mapped(_to_scipy, kwargs))
    product = isinstance(owner, sp.spmatrix) and func.__name__ == "__mul__"
    return getattr(args[0], "__rmatmul__" if product else reflected)(owner)


def _making(exchange: Exchange) -> Any:
    real = exchange.real

    @functools.wraps(real)
    def __init__(self: Any, arg1: Any, *args: Any, **kwargs: Any) -> None:
        real(self, _to_scipy(arg1), *args, **kwargs)

    return __init__


def open_all() -> None:
    """Make SciPy's functions dispatch on sparse arrays, and SciPy's sparse classes accept arrays once SciPy's functions do."""
    MATRICES[SparseArray] = called
    import_notices.follow(_open_classes)


def _open_classes() -> None:
    made = [getattr(sp, f"{format}_array") for format in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")]
    for cls in dict.fromkeys(each for kind in made for each in kind.__mro__):
        if "__init__" in vars(cls) and cls.__module__.startswith("scipy.sparse"):  # perhaps replaced by a launcher
            scipy_stand_ins.EXCHANGES.at(cls, "__init__", _making, "classes of scipy.sparse")
