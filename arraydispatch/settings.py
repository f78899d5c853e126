"""Settings, in two levels: a process default that every thread sees, and context overrides that none other sees.

Overrides live in ContextVars, so a ``with`` block in one thread or task is invisible to the others; process defaults
are plain attributes, because a ContextVar set in the main thread is not seen in a new one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Literal, NamedTuple

from .backends import loader
from .backends.base import Backend
from .errors import PrecisionError

Precision = Literal[64, 32, 16, "bf16"] | None
Fallback = Literal["warn", "error", "silent"]
Execution = Literal["eager"] | None

UNSET: Any = object()
"""No override here: the process default holds."""


class Rules(NamedTuple):
    """What every result obeys, in one object, so that a call looks once."""

    precision: Precision
    scalars: Literal["numpy", "device"]


@cache
def rules(precision: Precision, scalars: Literal["numpy", "device"]) -> Rules:
    """The one object of these rules."""
    return Rules(precision, scalars)


PLAIN = rules(None, "numpy")
"""NumPy's own precision, NumPy's own scalars where the device allows them."""


class _Defaults:
    """The process defaults."""

    __slots__ = ("allowing", "backend", "devices", "execution", "fallback", "min_size", "rules")

    def __init__(self) -> None:
        self.backend: str = "numpy"
        self.devices: dict[str, Any] = {}
        self.fallback: Fallback = "warn"
        self.allowing: str = "Set arraydispatch.fallback('warn') to allow it."
        """The way out that a refused host fallback names."""
        self.execution: Execution = None
        """How calls run: ``"eager"`` by the library alone; None also where NumPy is faster on the library's own memory."""
        self.rules: Rules = PLAIN
        self.min_size: int = 0
        """The launcher's ``--min-size``: arrays of fewer elements stay on the host until they meet one on the device."""


default = _Defaults()

_backends: ContextVar[tuple[Backend, ...]] = ContextVar("arraydispatch_backends", default=())
context_rules: ContextVar[Rules | None] = ContextVar("arraydispatch_rules", default=None)
"""The rules of the innermost block here, None outside any; read together with ``default.rules`` by every call."""
_fallback: ContextVar[Any] = ContextVar("arraydispatch_fallback", default=UNSET)


# -- backend ---------------------------------------------------------------------------------------------------------


def context_backend() -> Backend | None:
    """The backend of the innermost ``with ad.backend(...)`` block of this thread or task, or None."""
    stack = _backends.get()
    return stack[-1] if stack else None


def current_backend() -> Backend:
    """The backend that new arrays go to."""
    stack = _backends.get()
    return stack[-1] if stack else loader.load(default.backend)


def _enter(backend: Backend) -> None:
    _backends.set((*_backends.get(), backend))


def _exit(_backend: Backend) -> None:
    _backends.set(_backends.get()[:-1])


Backend._enter = _enter
Backend._exit = _exit


# -- execution ---------------------------------------------------------------------------------------------------------


def check_execution(execution: Any) -> Execution:
    """The way to execute, or a :class:`ValueError` that names the choices."""
    if execution not in (None, "eager"):
        raise ValueError(f"execution {execution!r} is not available; choose 'eager', or None.")
    chosen: Execution = execution
    return chosen


def set_execution(execution: Execution) -> None:
    """How calls run, for the whole process."""
    default.execution = execution
    Backend.host_kernels = execution is None


@contextmanager
def kept() -> Iterator[None]:
    """What the block does to the process defaults is undone at its end."""
    before = {name: getattr(default, name) for name in default.__slots__}
    before["devices"] = dict(default.devices)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(default, name, value)
        set_execution(default.execution)


# -- precision ---------------------------------------------------------------------------------------------------------

_PRECISIONS: dict[Any, Precision] = {64: 64, 32: 32, 16: 16, "bf16": "bf16", None: None, "64": 64, "32": 32, "16": 16}


def check_precision(bits: Any) -> Precision:
    """Normalise a precision, or raise :class:`PrecisionError` that names the choices."""
    try:
        return _PRECISIONS[bits]
    except (KeyError, TypeError):
        raise PrecisionError(
            f"{bits!r} is not a precision; choose 64, 32, 16, 'bf16' or None (NumPy's own rules)."
        ) from None


def check_held(bits: Precision, backend: Backend) -> None:
    """Raise :class:`PrecisionError` if the backend cannot hold arrays of this precision."""
    if bits is None:
        return
    feature = {64: "float64", 32: "float32", 16: "float16", "bf16": "bfloat16"}[bits]
    if bits in (64, "bf16") and not backend.supports(feature):
        raise PrecisionError(
            f"backend {backend.name!r} cannot hold {feature} here; choose another precision or another device."
        )


def current_precision() -> Precision:
    """The precision in force: innermost context, else the process default."""
    return current_rules().precision


def current_rules() -> Rules:
    """The rules in force: of the innermost context, else the process default."""
    return context_rules.get() or default.rules


def set_default_precision(bits: Precision) -> None:
    """Set the process default."""
    default.rules = rules(bits, default.rules.scalars)


class override:
    """Set a context variable for a block; may be entered again, also inside itself."""

    def __init__(self, var: ContextVar[Any], value: Any) -> None:
        self._var = var
        self._value = value
        self._tokens: list[Any] = []

    def __enter__(self) -> None:
        self._tokens.append(self._var.set(self._value))

    def __exit__(self, *exc: object) -> None:
        self._var.reset(self._tokens.pop())


def precision_context(bits: Any) -> Any:
    """A context in which fresh floating results have ``bits``."""
    checked = check_precision(bits)
    check_held(checked, current_backend())
    return override(context_rules, rules(checked, current_rules().scalars))


# -- fallback and scalars ------------------------------------------------------------------------------------------------


def current_fallback() -> Fallback:
    """What a host fallback does now: warn, raise, or nothing."""
    value: Fallback = _fallback.get()
    return default.fallback if value is UNSET else value


class fallback:
    """Choose what happens when a call has to run on the host.

    ``fallback("error")`` sets the process default. Used as ``with fallback("error"): …`` it holds for the block, in
    this thread or task alone, and the default from before the call stays.

    Parameters
    ----------
    policy : {"warn", "error", "silent"}
        ``"warn"`` says each source line once, ``"error"`` raises :class:`HostFallbackError`.

    Raises
    ------
    ValueError
        For another policy.
    """

    def __init__(self, policy: Fallback) -> None:
        if policy not in ("warn", "error", "silent"):
            raise ValueError(f"{policy!r} is not a fallback policy; choose 'warn', 'error' or 'silent'.")
        self._policy = policy
        self._before = default.fallback
        default.fallback = policy

    def __enter__(self) -> None:
        default.fallback = self._before
        self._token = _fallback.set(self._policy)

    def __exit__(self, *exc: object) -> None:
        _fallback.reset(self._token)


def current_scalars() -> Literal["numpy", "device"]:
    """``"numpy"``: scalars on a CPU device are NumPy's own; ``"device"``: always a ``Scalar`` on the device."""
    return current_rules().scalars


def scalars_context(where: Literal["numpy", "device"]) -> Any:
    """A context that forces device scalars on the CPU too, as an accelerator's user gets them."""
    if where not in ("numpy", "device"):
        raise ValueError(f"{where!r} is not a place for scalars; choose 'numpy' or 'device'.")
    return override(context_rules, rules(current_rules().precision, where))
