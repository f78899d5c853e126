"""Fast path for repeated calls of a ``jit`` function with only arrays of its library and Python floats as arguments.

The module is compiled by Cython, because its time is added to each call of a program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends.base import Native
from ..backends.kinds import Kind
from ..common.process_state import process
from ..common.pytrees import LEAF
from ..memory import views
from ..runtime import conversion
from ..runtime.settings import context_rules
from .flattening import Body, Traced, finished, native_of

_exchange = views.exchange
_waiting = views.waiting
_rules_here = context_rules.get


def again(met: dict[Any, Met], args: tuple[Any, ...]) -> tuple[Any] | None:
    """Run a call if its key is in ``met``, and return the result in a tuple; return None for other calls."""
    natives: list[Any] = []
    key = kind_of_call(args, natives)
    if key is None:
        return None
    found = met.get(key)
    return None if found is None else (found.run(natives, args),)


def kind_of_call(args: tuple[Any, ...], natives: list[Any]) -> tuple[Any, ...] | None:
    """Return the key of a call with only arrays of the library and Python floats, and append their values to ``natives``.

    Return None for other calls, also if two arguments share a native array.
    """
    parts: list[Any] = [_rules_here() or process.rules]
    arrays = 0
    if _waiting:  # run them before taking the lock, which the threads that run them may need
        for x in args:
            if isinstance(x, Handle):
                views.run_readers(x)
    with _exchange:
        for x in args:
            if isinstance(x, Handle):
                a: Handle = x
                kind: Any = a._kind  # the node, if the value is pending
                if type(kind) is not Kind or kind.backend.hosted or kind.backend.defers:
                    return None
                backend = kind.backend
                views.owner(a)._owned = False  # as views.expose does
                value = a._v if a._root is None else views.native(a)
                for other in natives:
                    if other is value:
                        return None
                natives.append(value)
                parts.append(type(x))
                parts.append(kind)
                parts.append(backend.transforms.signature(value))
                arrays += 1
            elif type(x) is float:
                parts.append(float)
                natives.append(x)
            else:
                return None
    return tuple(parts) if arrays else None


class Met:
    """Compiled program for all calls with one key of :func:`kind_of_call`, and how its arguments and results are converted."""

    __slots__ = ("backend", "body", "dtype", "kind", "numbers", "program", "simple")

    def __init__(self, body: Body, program: Callable[[list[Native]], Any], args: tuple[Any, ...]) -> None:
        self.body, self.program, self.backend = body, program, body.backend
        self.kind: Kind | None = None
        self.numbers = [i for i, x in enumerate(args) if type(x) is float]
        self.dtype = conversion.precise(np.dtype(float))
        structure, outputs = body.structures[0], body.outputs[0]
        one = outputs[0] if structure is LEAF and not body.written else None
        self.simple = type(one) is Traced and not one.scalar and not one.standard
        """Whether the result is a single array and nothing was written."""

    def run(self, natives: list[Any], args: tuple[Any, ...]) -> Any:
        """Run the program on these values; return the result, wrapped, after writes to the arguments ``args``."""
        for i in self.numbers:
            natives[i] = self.backend.transforms.number(np.asarray(natives[i], self.dtype), self._upload)
        scope = self.backend.scope
        if scope is None:
            outs, extra = self.program(natives)
        else:
            with scope():
                outs, extra = self.program(natives)
        if self.simple:
            value = outs[0]
            kind = self.kind
            if kind is None:
                self.kind = kind = self.backend.kind_of(value)
            return process.wrapper(value, kind)
        with self.backend.within():
            return finished(self.body, outs, extra, list(args))

    def _upload(self, host: np.ndarray[Any, Any]) -> Native:
        return native_of(host, self.backend)
