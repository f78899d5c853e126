"""Protocol methods that NumPy calls: ``Array.__array_ufunc__`` (NEP 13) and ``Array.__array_function__`` (NEP 18)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends.kinds import Kind
from ..common.arguments import with_scalar
from ..common.sentinels import DECLINED
from . import functions, ufuncs

_FAST, _FAST_OF_ONE = ufuncs.FAST, ufuncs.FAST_OF_ONE
_call, _concatenate, _join = functions.call, np.concatenate, functions.join


def __array_ufunc__(self: Handle, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    if not kwargs and method == "__call__":
        if len(inputs) == 1:
            return _FAST_OF_ONE[ufunc](inputs[0])
        if len(inputs) == 2 and ufunc.nout == 1:
            if type(inputs[0]) is np.ndarray:
                inputs = with_scalar(inputs)
            return _FAST[ufunc](inputs[0], inputs[1])
    return ufuncs.array_ufunc(ufunc, method, inputs, kwargs)


def __array_function__(self: Handle, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    if len(types) == 1:  # no other protocol to call
        if not kwargs and len(args) == 1:
            if type(self._kind) is Kind:  # a recorded value has a node in place of its kind
                kind: Kind = self._kind
                whole = kind.whole.get(func)
                if whole is not None:
                    return whole(self)
            if func is _concatenate:
                return _join(args[0])
        made = _call(func, args, kwargs)
        return made if made is not DECLINED else functions.create(func, self, args, kwargs)
    return functions.array_function(func, types, args, kwargs)
