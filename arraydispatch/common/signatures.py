"""Names and positions of a function's parameters, found without :mod:`inspect`, which makes an object of each.

For a function in C, :func:`inspect.signature` runs a tokenizer over the text of the signature, which takes milliseconds the first time.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, NamedTuple


class Parameters(NamedTuple):
    """Parameters of a function, in the order of its signature.

    Attributes
    ----------
    names : tuple of str
        Names, without those of ``*args`` and ``**kwargs``.
    only : int
        Number of those that are positional only.
    positional : int
        Number of those that may be positional.
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
    if not hasattr(plain, "__signature__"):
        if type(plain) is FunctionType:
            code = plain.__code__
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            return Parameters(names, code.co_posonlyargcount, code.co_argcount)
        found = _of_text(getattr(plain, "__text_signature__", None))
        if found is not None:
            return found
    return _inspected(func)


def _of_text(text: str | None) -> Parameters | None:
    """Read a signature that C code gives as text, such as ``($module, a, /, axis=None, *, out=None)``; None where it is not as simple."""
    if text is None:
        return None
    for quote in "'\"":  # words among the default values
        text = "".join(text.split(quote)[::2])
    text = text.removeprefix("($module,") if text.startswith("($module,") else text.removeprefix("(")
    text = text.removesuffix(")")
    if _NOT_SIMPLE.intersection(text):
        return None
    names: list[str] = []
    only, positional = 0, None
    for part in text.rstrip().removesuffix(",").split(",") if text.strip() else ():
        name = part.partition("=")[0].strip()
        if name == "/":
            only = len(names)
        elif name.startswith("*"):
            positional = len(names) if positional is None else positional
        else:
            names.append(name)
    return Parameters(tuple(names), only, len(names) if positional is None else positional)


_NOT_SIMPLE = frozenset("()[]{}<$\\")


def _inspected(func: Any) -> Parameters:
    from inspect import Parameter, signature

    kinds = {name: each.kind for name, each in signature(func).parameters.items()}
    names = tuple(name for name, kind in kinds.items() if kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD))
    only = list(kinds.values()).count(Parameter.POSITIONAL_ONLY)
    return Parameters(names, only, only + list(kinds.values()).count(Parameter.POSITIONAL_OR_KEYWORD))
