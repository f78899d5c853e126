"""Products of a sparse matrix with dense arrays, by the library's own sparse type if it can compute them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends.base import Backend, LeftToNumPy, Native, Unsupported
from ..common import tracing
from ..memory import reshaping
from ..runtime import conversion
from ..transforms.custom_derivatives import custom_gradient
from ..transforms.flattening import dressed, library_of, native_of
from .structure import Structure


def _index(places: Structure, backend: Backend, device: Any) -> Any:
    """Return a function that converts an index array of the structure ``places``, by its name, to the library's; results are cached, except
    in a trace.
    """

    def index(name: str) -> Native:
        key = backend.name, str(device), name
        found = places.kept.get(key)
        if found is None:
            found = conversion.upload(
                backend, getattr(places, name).astype(np.int64), device, "places of a sparse matrix"
            )
            if not tracing.entered() and backend.is_concrete(found):
                places.kept[key] = found
        return found

    return index


def _on(places: Structure, values: Native, backend: Backend) -> Any:
    device = backend.device_of(values) if backend.is_concrete(values) else None
    return _index(places, backend, device)


def native(places: Structure, data: Any) -> Native:
    """Return the library's own sparse matrix with values ``data`` at ``places``; raise TypeError if the library has none for this dtype or
    shape.
    """
    backend = library_of([data]) if not _held_by_numpy(data) else data.backend
    with backend.within():
        given = isinstance(data, Handle) and data._kind.backend.home is backend  # other code may write its values
        values = reshaping.handed_over(data) if given and not data._kind.backend.hosted else native_of(data, backend)
        try:
            return backend.sparse.native(places, _on(places, values, backend), values)
        except LeftToNumPy as why:
            raise TypeError(f"{why}.") from None


def _held_by_numpy(data: Any) -> bool:
    return bool(data.backend.native_is_ndarray)


def summed(data: Any, to: Any, size: int) -> Any:
    """Sum values that have the same index ``to``, along the last axis, to an array of length ``size``; return ``data`` if no
    index repeats.
    """
    if len(to) == size and (np.diff(to) == 1).all() and (size == 0 or to[0] == 0):
        return data
    out = np.zeros_like(data, shape=(*data.shape[:-1], size))
    at: Any = (..., to)
    np.add.at(out, at, data)
    return out


def matmul(places: Structure, data: Any, dense: Any) -> Any:
    """Multiply the sparse matrix with values ``data`` at ``places`` by a dense vector, matrix or batch of matrices of the same dtype;
    differentiable with respect to ``data`` and ``dense``.
    """
    if dense.ndim == 1:
        return matmul(places, data, dense[:, None])[..., 0]
    if data.ndim > 1 or dense.ndim > 2:
        return _composed(places, data, dense)
    return custom_gradient(
        lambda values, x: _product(places, values, x), lambda args, _, ct: _gradients(places, args[0], args[1], ct)
    )(data, dense)


def _product(places: Structure, data: Any, dense: Any) -> Any:
    backend = library_of([data, dense]) if not _held_by_numpy(data) else data.backend
    kernels = backend.sparse
    with backend.within():
        values, x = native_of(data, backend), native_of(dense, backend)
        staged = any(t.staged for t in tracing.entered())
        if kernels.TRACES or (not staged and backend.is_concrete(values) and backend.is_concrete(x)):
            try:
                return dressed(kernels.matmul(places, _on(places, values, backend), values, x), backend, False)
            except Unsupported:
                pass
    return _composed(places, data, dense)


def _composed(places: Structure, data: Any, dense: Any) -> Any:
    """Multiply as :func:`matmul`, by gathering, multiplying and summing: possible in every library, also in traced programs and batches."""
    terms = data[..., :, None] * np.take(dense, places.col, axis=-2)
    out = np.zeros_like(terms, shape=(*terms.shape[:-2], places.shape[0], terms.shape[-1]))
    at: Any = (..., places.row, slice(None))
    np.add.at(out, at, terms)
    return out


def _gradients(places: Structure, data: Any, dense: Any, cotangent: Any) -> tuple[Any, Any]:
    by_values = np.sum(cotangent[places.row] * np.conj(dense)[places.col], axis=-1)
    turned, order, _ = Structure.sorted("csr", places.shape[::-1], places.col, places.row)
    values = np.conj(data)
    return by_values, matmul(turned, values if order is None else values[order], cotangent)
