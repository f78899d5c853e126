"""``scipy.spatial.distance``: distances between vectors, pairwise distances, and matrices of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..functions.operands import along
from ..functions.registry import XP
from ..runtime import dtypes
from . import implements, stand_in
from .operand_checks import array, only
from .python_functions import enter

_AT_ONCE = 1 << 22
"""Number of differences held in memory at a time."""


def _sum(xp: XP, x: Any) -> Any:
    return xp.add.reduce(x, axis=-1)


def _euclidean(xp: XP, u: Any, v: Any) -> Any:
    return xp.sqrt(_sqeuclidean(xp, u, v))


def _sqeuclidean(xp: XP, u: Any, v: Any) -> Any:
    d = xp.subtract(u, v)
    return _sum(xp, xp.multiply(d, d))


def _cityblock(xp: XP, u: Any, v: Any) -> Any:
    return _sum(xp, xp.absolute(xp.subtract(u, v)))


def _chebyshev(xp: XP, u: Any, v: Any) -> Any:
    return xp.maximum.reduce(xp.absolute(xp.subtract(u, v)), axis=-1)


def _canberra(xp: XP, u: Any, v: Any) -> Any:
    size = xp.add(xp.absolute(u), xp.absolute(v))
    nothing = xp.equal(size, 0)
    return _sum(xp, xp.divide(xp.absolute(xp.subtract(u, v)), xp.where(nothing, 1.0, size)))


def _braycurtis(xp: XP, u: Any, v: Any) -> Any:
    with np.errstate(all="ignore"):
        return xp.divide(_cityblock(xp, u, v), _sum(xp, xp.absolute(xp.add(u, v))))


def _hamming(xp: XP, u: Any, v: Any) -> Any:
    return xp.divide(_sum(xp, xp.prim.astype(xp.not_equal(u, v), dtypes.FLOAT64)), float(_length(xp, u, v)))


def _length(xp: XP, u: Any, v: Any) -> int:
    return max(xp.shape_of(u)[-1], xp.shape_of(v)[-1])


def _cosine(xp: XP, u: Any, v: Any) -> Any:
    product, squares = _sum(xp, xp.multiply(u, v)), [_sum(xp, xp.multiply(x, x)) for x in (u, v)]
    with np.errstate(all="ignore"):
        ratio = xp.divide(product, xp.multiply(xp.sqrt(squares[0]), xp.sqrt(squares[1])))
    return xp.subtract(1.0, xp.where(xp.greater(xp.absolute(ratio), 1), xp.sign(ratio), ratio))


def _correlation(xp: XP, u: Any, v: Any) -> Any:
    u, v = (
        xp.subtract(x, xp.divide(xp.add.reduce(x, axis=-1, keepdims=True), float(xp.shape_of(x)[-1]))) for x in (u, v)
    )
    return _cosine(xp, u, v)


_METRICS: dict[str, Callable[..., Any]] = {
    "euclidean": _euclidean, "euclid": _euclidean, "eu": _euclidean, "e": _euclidean,
    "sqeuclidean": _sqeuclidean, "sqe": _sqeuclidean, "sqeuclid": _sqeuclidean,
    "cityblock": _cityblock, "cblock": _cityblock, "cb": _cityblock, "c": _cityblock, "manhattan": _cityblock,
    "chebyshev": _chebyshev, "chebychev": _chebyshev, "cheby": _chebyshev, "cheb": _chebyshev, "ch": _chebyshev,
    "canberra": _canberra, "braycurtis": _braycurtis, "hamming": _hamming, "cosine": _cosine, "cos": _cosine,
    "correlation": _correlation, "co": _correlation,
}  # fmt: skip


def _minkowski(p: float) -> Callable[..., Any]:
    def metric(xp: XP, u: Any, v: Any) -> Any:
        if p == math.inf:
            return _chebyshev(xp, u, v)
        if p in (1, 2):
            return (_cityblock if p == 1 else _euclidean)(xp, u, v)
        return xp.power(_sum(xp, xp.power(xp.absolute(xp.subtract(u, v)), float(p))), 1 / p)

    return metric


def _metric(name: Any, options: dict[str, Any]) -> Callable[..., Any]:
    only(isinstance(name, str), "a function of the user's")
    name = name.lower()
    if name in ("minkowski", "mi", "m", "pnorm"):
        p = options.pop("p", 2)
        only(p > 0, "the power is negative")
        made = _minkowski(p)
    else:
        only(name in _METRICS, f"the metric {name!r}")
        made = _METRICS[name]
    only(not [o for o in options.values() if o is not None], "weights or other options")
    return made


def _points(xp: XP, x: Any, name: str, like: Any = None) -> Any:
    x = array(xp, x, like)
    if xp.ndim_of(x) != 2:
        raise ValueError(f"{name} must be a 2-dimensional array.")
    only(xp.dtype_of(x).kind in "fiub" and 0 not in xp.shape_of(x), "an empty array, or no real numbers")
    return xp.prim.astype(x, dtypes.FLOAT64)


def _between(xp: XP, a: Any, b: Any, metric: Callable[..., Any]) -> Any:
    (m, n), k = xp.shape_of(a), xp.shape_of(b)[0]
    others = xp.prim.reshape(b, (1, k, n))
    step = max(1, _AT_ONCE // (k * n))
    parts = []
    for start in range(0, m, step):
        some = along(xp, a, 0, start, min(start + step, m))
        parts.append(metric(xp, xp.prim.reshape(some, (xp.shape_of(some)[0], 1, n)), others))
    return parts[0] if len(parts) == 1 else xp.prim.concatenate(parts, 0)


@implements("scipy.spatial.distance.cdist")
def cdist(xp: XP, XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    a = _points(xp, XA, "XA", XB)
    b = _points(xp, XB, "XB", a)
    if xp.shape_of(a)[1] != xp.shape_of(b)[1]:
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    return _between(xp, a, b, _metric(metric, kwargs))


@implements("scipy.spatial.distance.pdist")
def pdist(xp: XP, X: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    x = array(xp, X)
    if xp.ndim_of(x) != 2:
        raise ValueError("A 2-dimensional array must be passed.")
    x = _points(xp, x, "X")
    made, m = _between(xp, x, x, _metric(metric, kwargs)), xp.shape_of(x)[0]
    rows, columns = np.triu_indices(m, 1)
    device = xp.backend.device_of(made)
    return xp.prim.take(
        xp.prim.reshape(made, (m * m,)), xp.backend.from_numpy((rows * m + columns).astype(np.int64), device), 0
    )


@implements("scipy.spatial.distance.squareform", pure=False)
def squareform(xp: XP, X: Any, force: Any = "no", checks: Any = True) -> Any:
    x = array(xp, X)
    shape = xp.shape_of(x)
    only(len(shape) in (1, 2) and 0 not in shape and xp.dtype_of(x).kind in "fiu", "nothing, or no numbers")
    forced = force.lower()
    if forced == "tomatrix" and len(shape) != 1:
        raise ValueError("Forcing 'tomatrix' but input X is not a distance vector.")
    if forced == "tovector" and len(shape) != 2:
        raise ValueError("Forcing 'tovector' but input X is not a distance matrix.")
    device = xp.backend.device_of(x)
    if len(shape) == 1:
        d = math.ceil(math.sqrt(shape[0] * 2))
        if d * (d - 1) != shape[0] * 2:
            raise ValueError(
                "Incompatible vector size. It must be a binomial coefficient n choose 2 for some integer n >= 2."
            )
        places = np.zeros((d, d), np.int64)
        places[np.triu_indices(d, 1)] = np.arange(1, shape[0] + 1)
        padded = xp.prim.pad(x, [(1, 0)], xp.dtype_of(x).type(0).item())
        return xp.prim.take(padded, xp.backend.from_numpy(places + places.T, device), 0)
    if shape[0] != shape[1]:
        raise ValueError("The matrix argument must be square.")
    only(not checks, "the matrix is to be checked")
    rows, columns = np.triu_indices(shape[0], 1)
    flat = xp.prim.reshape(x, (shape[0] * shape[0],))
    return xp.prim.take(flat, xp.backend.from_numpy((rows * shape[0] + columns).astype(np.int64), device), 0)


for _name in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "canberra", "braycurtis", "hamming"):
    enter(stand_in(f"scipy.spatial.distance.{_name}"))
