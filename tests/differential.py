"""Programs that run on NumPy and on a backend, after which everything observable of their variables is compared.

Of each variable: value, dtype, shape, array or scalar, whether it is writeable, and which variables share one owner of
their memory; of views, and wherever ``layout=True``, also strides and contiguity. Or the exception's type, and that the
arrays are as NumPy leaves them after it.
"""

from __future__ import annotations

import copy
import io
import itertools
import math
import operator
import pickle
import warnings
from typing import Any

import numpy as np

import arraydispatch as ad
from arraydispatch.memory import views
from arraydispatch.memory.roots import memory_of
from arraydispatch.runtime import settings

Scope = dict[str, Any]

MODULES: Scope = {"copy": copy, "io": io, "math": math, "operator": operator, "pickle": pickle}


def arrays() -> dict[str, np.ndarray[Any, Any]]:
    """The arrays that programs may use; each owns its memory."""
    x = np.arange(12.0).reshape(3, 4)
    made = {
        "x": x, "i": np.arange(6), "c": x * (1 + 2j), "b": np.array([True, False, True]), "z": np.array(2.5),
        "e": np.zeros((0, 3)), "u": np.arange(16, dtype="u1"), "t": np.arange(24.0).reshape(2, 3, 4),
        "s33": np.arange(9.0).reshape(3, 3), "f32": np.arange(4, dtype="f4"), "one": np.array([5.0]),
    }  # fmt: skip
    return {name: value.copy() for name, value in made.items()}


SCALARS: dict[str, Any] = {
    "s": np.float64(2.5), "n": np.int64(3), "true": np.bool_(True), "cc": np.complex128(1 + 2j), "f4": np.float32(1.5),
}  # fmt: skip
"""Scalars that programs may use; on a backend each is read from an array."""


def _owner(x: Any) -> Any:
    return views.owner(x) if isinstance(x, ad.Array) else memory_of(x)


def difference(ours: Any, theirs: Any, layout: bool, scalars: str) -> str | None:
    """What differs, in words."""
    if isinstance(theirs, list | tuple):
        if type(ours).__name__ != type(theirs).__name__ or len(ours) != len(theirs):
            return f"{ours!r}, NumPy: {theirs!r}"
        return next(filter(None, (difference(a, b, layout, scalars) for a, b in zip(ours, theirs))), None)
    if isinstance(theirs, np.generic):
        if scalars == "device":
            same = isinstance(ours, ad.Scalar | np.generic) and ours.dtype == theirs.dtype and ours.shape == ()
            ours = ours.item() if same else ours
        else:
            same = type(ours) is type(theirs)
        return (
            None if same and (ours == theirs or (ours != ours and theirs != theirs)) else f"{ours!r}, NumPy: {theirs!r}"
        )
    if isinstance(theirs, np.ndarray):
        return _array_difference(ours, theirs, layout)
    if isinstance(theirs, int | float | complex | str | bytes | None | slice):
        return None if type(ours) is type(theirs) and ours == theirs else f"{ours!r}, NumPy: {theirs!r}"
    return None


def _array_difference(ours: Any, theirs: np.ndarray[Any, Any], layout: bool) -> str | None:
    if not isinstance(ours, ad.Array) or isinstance(ours, ad.Scalar):
        return f"a {type(ours)}, NumPy: an array"
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        return f"{ours.dtype}{ours.shape}, NumPy: {theirs.dtype}{theirs.shape}"
    if not np.array_equal(ours.backend.to_numpy(views.native(ours)), theirs, equal_nan=theirs.dtype.kind in "fc"):
        return f"{ours!r}, NumPy: {theirs!r}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of broadcast_arrays, whose results may be written for now
        names = ["writeable", *(["c_contiguous", "f_contiguous"] if layout else [])]
        flags = [name for name in names if getattr(ours.flags, name) != getattr(theirs.flags, name)]
    if flags:
        return f"{flags} differ: strides {ours.strides}, NumPy: {theirs.strides}"
    if layout and theirs.size and any(n > 1 and p != q for n, p, q in zip(theirs.shape, ours.strides, theirs.strides)):
        return f"strides {ours.strides}, NumPy: {theirs.strides}"
    return None


def run(program: str, scope: Scope) -> type[Exception] | None:
    """Execute; the type of the exception, if there was one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(program, scope)
        except Exception as error:
            return type(error)
    return None


def check(
    program: str,
    backend: str,
    *,
    numpy: Any = np,
    layout: bool = False,
    scalars: str = "numpy",
    on_scalars: bool = False,
) -> None:
    """Run a program on NumPy and on a backend, and compare.

    Parameters
    ----------
    program : str
        Statements over ``np``, :func:`arrays`, :data:`SCALARS`, and ``new``, which makes an array as ``np.array`` does.
    backend : str
        Name of the backend.
    numpy : module
        What ``np`` is for our run.
    layout : bool
        Compare the memory order of results that own their memory too.
    scalars : {"numpy", "device"}
        Where scalars live; on a device they are ``Scalar``.
    on_scalars : bool
        The program is about scalars, so that a result may come of NumPy's own alone.
    """
    theirs: Scope = {**MODULES, "np": np, "new": np.array, **arrays(), **SCALARS}
    expected = run(program, theirs)
    with ad.backend(backend), ad.fallback("silent"), settings.scalars_context(scalars):  # type: ignore[arg-type]
        ours: Scope = {**MODULES, "np": numpy, "new": lambda *a, **k: ad.asarray(np.array(*a, **k))}
        ours |= {name: ad.asarray(value) for name, value in arrays().items()}
        ours |= {name: ad.asarray(np.array([value]))[0] for name, value in SCALARS.items()}
        found = run(program, ours)
        assert found is expected, f"{program}\nraises {found}, NumPy: {expected}"
        skipped = {"np", "new", *MODULES}
        names = [n for n in theirs if n not in skipped and not n.startswith("__")]
        for name in names:
            value = theirs[name]
            is_view = isinstance(value, np.ndarray) and any(
                isinstance(other, np.ndarray) and other is not value and _owner(other) is _owner(value)
                for other in theirs.values()
            )
            if isinstance(value, np.ndarray) and type(ours[name]) is np.ndarray and scalars == "numpy" and on_scalars:
                ours[name] = ad.asarray(ours[name])  # made of NumPy's own scalars alone
            what = difference(ours[name], value, layout or is_view, scalars)
            assert what is None, f"{program}\nleaves {name}: {what}"
        members = [name for name in names if isinstance(theirs[name], np.ndarray)]
        for one, other in itertools.combinations(members, 2):
            related = _owner(ours[one]) is _owner(ours[other])
            assert related == (_owner(theirs[one]) is _owner(theirs[other])), f"{program}\n{one} and {other}: {related}"
