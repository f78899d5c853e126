"""Names and positions of a function's parameters; of Python functions read from the code object, because :mod:`inspect` makes an object
for each parameter.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, NamedTuple


class Parameters(NamedTuple):
    """Parameters of a function, in the order of its signature, without ``*args`` and ``**kwargs``. The first ``only`` are positional-only;
    the first ``positional`` may be positional.
    """

    names: tuple[str, ...]
    only: int
    positional: int

    def position_of(self, name: str) -> int | None:
        """Return the position of a parameter that may be given by position and by name; None if there is none."""
        at = self.names.index(name) if name in self.names else -1
        return at if self.only <= at < self.positional else None


def parameters_of(func: Any) -> Parameters:
    """Return the parameters of a function; raise as :func:`inspect.signature` does."""
    plain = func
    while not hasattr(plain, "__signature__") and hasattr(plain, "__wrapped__"):
        plain = plain.__wrapped__
    if type(plain) is FunctionType and not hasattr(plain, "__signature__"):
        code = plain.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return Parameters(names, code.co_posonlyargcount, code.co_argcount)
    return _inspected(func)


def _inspected(func: Any) -> Parameters:
    from inspect import Parameter, signature

    kinds = {name: each.kind for name, each in signature(func).parameters.items()}
    names = tuple(name for name, kind in kinds.items() if kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD))
    only = list(kinds.values()).count(Parameter.POSITIONAL_ONLY)
    return Parameters(names, only, only + list(kinds.values()).count(Parameter.POSITIONAL_OR_KEYWORD))
