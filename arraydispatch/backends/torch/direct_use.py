"""Programs that use PyTorch directly under the launcher: functions that PyTorch compiles get NumPy's own module."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

import torch

from ...common.patching import NEEDS, Exchange, Exchanges, Need
from .. import loader

_COMPILE, _SEEN = "torch:compile", "torch._dynamo.variables.builder:VariableBuilder.__call__"
ROWS = {
    _COMPILE: Need(
    "(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None, name=None, disable=False,"
    " recompile_limit=None, isolate_recompiles=False, shapes_spec=None)",
    "PyTorch 2.13, and 2.0 but for what is not used here", "functions to be compiled",
    ),
    _SEEN: Need("(self, value)", "PyTorch 2.1 to 2.13", "what a function to be compiled finds in its names"),
    "torch._dynamo.trace_rules:add": Need("(import_name)", "PyTorch 2.1 to 2.13", "(called, not exchanged) what is not compiled"),
}  # fmt: skip
NEEDS.update(ROWS)


def _leave_out() -> None:
    """Exclude this package, and all installed backends' libraries but PyTorch and NumPy, from torch's compilation."""
    others = {root for row in loader.KNOWN.values() if loader.installed(row.library) for root in row.roots}
    for root in (others - {"torch", "numpy"}) | {__name__.partition(".")[0]}:
        torch._dynamo.trace_rules.add(root)


_BUILDER = "torch._dynamo.variables.builder"


def hand_out(cls: Any, own: Callable[[Any], Any], exchanges: Exchanges) -> None:
    """Replace ``torch.compile`` for a run of the launcher, so that compiled functions get NumPy's objects in place of ours.

    ``cls`` is the class of arrays under the launcher, and ``own`` returns NumPy's object for one of ours.
    """

    def handing(compiled: Any) -> Any:
        if not isinstance(compiled, FunctionType):  # a module: it takes tensors
            return compiled

        @wraps(compiled)
        def call(*args: Any, **kwargs: Any) -> Any:
            return compiled(*map(own, args), **{name: own(value) for name, value in kwargs.items()})

        return call

    def compiling(exchange: Exchange) -> Any:
        real = exchange.real

        @wraps(real)
        def compile(model: Any = None, **options: Any) -> Any:
            made = real(model, **options)
            if not exchange.on:
                return made
            if _BUILDER in sys.modules:
                exchanges.put(_SEEN, seeing)
                _leave_out()
            return handing(made) if model is not None else lambda function: handing(made(function))

        return compile

    def seeing(exchange: Exchange) -> Any:
        real = exchange.real

        @wraps(real)
        def __call__(self: Any, value: Any) -> Any:
            return real(self, own(value) if exchange.on and not isinstance(value, cls) else value)

        return __call__

    exchanges.put(_COMPILE, compiling)
