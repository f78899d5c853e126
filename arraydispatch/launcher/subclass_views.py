"""``view`` of NumPy's own subclasses of ndarray, which takes a program's ``np.ndarray`` for NumPy's class.

``np.memmap``, ``np.matrix``, ``np.recarray``, masked arrays and arrays of strings stay NumPy's own in a program, and so does what
``view(np.ndarray)`` makes of one. NumPy's C code would take the program's class for a dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from ..common.patching import Exchange, Exchanges
from . import numpy_classes


def _viewing(exchange: Exchange) -> Callable[..., Any]:
    real = exchange.real

    def numpys(value: Any) -> Any:
        return np.ndarray if value is numpy_classes.ndarray else value

    @wraps(real)
    def view(self: Any, *args: Any, **kwargs: Any) -> Any:
        if exchange.on:
            args, kwargs = tuple(map(numpys, args)), {name: numpys(value) for name, value in kwargs.items()}
        return real(self, *args, **kwargs)

    return view


def _open(where: str, exchanges: Exchanges) -> None:
    exchanges.put(where, _viewing)


OPEN: dict[str, Callable[[Exchanges], None]] = {
    where.partition(":")[0]: partial(_open, where)
    for where in (
        "numpy._core.defchararray:chararray.view",
        "numpy._core.memmap:memmap.view",
        "numpy._core.records:recarray.view",
        "numpy.ma.core:MaskedArray.view",
        "numpy.matrixlib.defmatrix:matrix.view",
    )
}
"""Module that has a subclass -> its exchange, to be made once the module is imported."""
