"""Settings, in two levels: a process default that every thread sees, and context overrides that none other sees.

Overrides live in ContextVars, so a ``with`` block in one thread or task is invisible to the others; process defaults
are plain attributes, because a ContextVar set in the main thread is not seen in a new one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar

from ..backends import loader
from ..backends.base import Backend
from ..common import process_state
from ..common.errors import PrecisionError, SettingError
from ..common.process_state import SETTINGS, process

Precision = Literal[64, 32, 16, "bf16"] | None
Fallback = Literal["warn", "error", "silent"]
Execution = Literal["eager", "fused"] | None
T = TypeVar("T")

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


NO_POLICY = rules(None, "numpy")
"""NumPy's own precision, NumPy's own scalars where the device allows them."""


default = process
"""The process defaults are part of the state of the process."""
process.change(rules=NO_POLICY)

_backends: ContextVar[tuple[Backend, ...]] = ContextVar("arraydispatch_backends", default=())
blocks_here = _backends.get
"""The backends of the blocks that this code is in, the innermost last."""
context_rules: ContextVar[Rules | None] = ContextVar("arraydispatch_rules", default=None)
"""The rules of the innermost block here, None outside any; read together with ``default.rules`` by every call."""
_overrides: ContextVar[tuple[Override, ...]] = ContextVar("arraydispatch_overrides", default=())
"""All that is in force here, the innermost last; what calls look at often is kept in a variable of its own."""


# -- backend ---------------------------------------------------------------------------------------------------------


def context_backend() -> Backend | None:
    """The backend of the innermost ``with ad.backend(...)`` block of this thread or task, or None."""
    stack = _backends.get()
    return stack[-1] if stack else None


def current_backend() -> Backend:
    """The backend that new arrays go to."""
    stack = _backends.get()
    return stack[-1] if stack else loader.load(default.backend)


def current_name() -> str:
    """Its name; the library is not imported to tell."""
    stack = _backends.get()
    return stack[-1].name if stack else default.backend


def on_cpu(name: str) -> bool:
    """Whether new arrays of a backend go to a CPU; a library that has not been imported is not asked."""
    device = default.devices.get(name)
    if device is not None:
        return bool(device.kind == "CPU")
    known = _on_cpu.get(name)
    if known is None:
        backend = loader.loaded_one(name)
        if backend is None:
            return True
        known = _on_cpu[name] = backend.devices()[0].kind == "CPU"
    return known


_on_cpu: dict[str, bool] = {}
"""Name of a backend that has been loaded -> whether its own default device is a CPU."""


def _enter(backend: Backend) -> None:
    if not process.blocks_entered:
        process.blocks_entered = True
    _backends.set((*_backends.get(), backend))


def _exit(backend: Backend) -> None:
    _backends.set(_without_last(_backends.get(), backend))


Backend._enter = _enter
Backend._exit = _exit


# -- execution ---------------------------------------------------------------------------------------------------------


FUSED_FROM = 1 << 18
"""Elements from which on fused execution records a call, where nothing else is said."""


def check_execution(execution: Any) -> Execution:
    """The way to execute, or a :class:`SettingError` that names the choices."""
    if execution not in (None, "eager", "fused"):
        raise SettingError(f"execution {execution!r} is not available; choose 'eager', 'fused', or None.")
    chosen: Execution = execution
    return chosen


def set_execution(way: Execution) -> None:
    """How calls run in the whole process, where no block says it."""
    with process_state.lock:
        _execute(way, default.executions)


def _execute(usual: Execution, executions: tuple[execution, ...]) -> None:
    """Have calls run as the innermost of the blocks says."""
    way = executions[-1].way if executions else usual
    least, lent = default.min_size, default.lent
    if way == "fused" and not least:
        least, lent = FUSED_FROM, True
    elif way != "fused" and lent:
        least, lent = 0, False
    default.change(execution=way, usual_execution=usual, executions=executions, min_size=least, lent=lent)


class execution:
    """How calls run while the block does, in the whole process: see :func:`arraydispatch.execution`.

    It may be entered again and left in any order, as an :class:`Override`; any thread may leave it.

    Parameters
    ----------
    way : {"eager", "fused", None}
        What holds inside.
    """

    def __init__(self, way: Execution) -> None:
        self.way = check_execution(way)

    def __enter__(self) -> None:
        with process_state.lock:
            _execute(default.usual_execution, (*default.executions, self))

    def __exit__(self, *exc: object) -> None:
        with process_state.lock:
            _execute(default.usual_execution, _without_last(default.executions, self))


@contextmanager
def kept() -> Iterator[None]:
    """What the block does to the process defaults is undone at its end."""
    try:
        with default.kept(*SETTINGS):
            yield
    finally:
        set_execution(default.usual_execution)  # of the blocks that are open now


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
    held: Rules = context_rules.get() or default.rules
    return held


def only_values_decide() -> bool:
    """Whether no rule is in force in any thread, and nobody has the general path for himself: calls may take shorter ways."""
    return not process.suspended and not process.overrides and process.rules is NO_POLICY


def set_default_precision(bits: Precision) -> None:
    """Set the process default."""
    default.rules = rules(bits, default.rules.scalars)


class Override:
    """A setting for a block of this thread or task.

    It acts when it is entered, and not before. It may be entered again, also inside itself and by several threads at one
    time, and blocks may be left in any order.

    Parameters
    ----------
    value : object
        What holds inside.
    """

    ruling = False
    """Whether it is one of the rules that every result obeys."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self._entered: list[Token[tuple[Override, ...]]] = []

    def __enter__(self) -> None:
        self._entered.append(_hold((*_overrides.get(), self)))
        if self.ruling:
            process.add("overrides", 1)

    def __exit__(self, *exc: object) -> None:
        held = _without_last(_overrides.get(), self)
        for token in reversed(tuple(self._entered)):  # other threads enter and leave it meanwhile
            try:
                _overrides.reset(token)
            except (ValueError, RuntimeError):  # entered in another thread or task, which may just have left
                continue
            self._entered.remove(token)
            if self.ruling:
                process.add("overrides", -1)
            break
        _hold(held)


def _without_last(held: tuple[T, ...], one: T) -> tuple[T, ...]:
    """Without the last occurrence of an object; the same where another thread has it."""
    for at in reversed(range(len(held))):
        if held[at] is one:
            return (*held[:at], *held[at + 1 :])
    return held


def _hold(held: tuple[Override, ...]) -> Token[tuple[Override, ...]]:
    token = _overrides.set(held)
    precision, scalars = _innermost(held, _precision), _innermost(held, _scalars)
    plain = precision is UNSET and scalars is UNSET
    before = default.rules
    context_rules.set(
        None
        if plain
        else rules(
            before.precision if precision is UNSET else precision, before.scalars if scalars is UNSET else scalars
        )
    )
    return token


def _innermost(held: tuple[Override, ...], kind: type[Override]) -> Any:
    """The value of the innermost override of a kind, or UNSET."""
    for each in reversed(held):
        if type(each) is kind:
            return each.value
    return UNSET


class _precision(Override):
    """Fresh floating results have so many bits."""

    ruling = True

    def __enter__(self) -> None:
        check_held(self.value, current_backend())
        super().__enter__()


class _scalars(Override):
    """Where scalars of arrays on the CPU are."""

    ruling = True


def precision_context(bits: Any) -> Any:
    """A context in which fresh floating results have ``bits``."""
    checked = check_precision(bits)
    check_held(checked, current_backend())
    return _precision(checked)


# -- fallback and scalars ------------------------------------------------------------------------------------------------


def current_fallback() -> Fallback:
    """What a host fallback does now: warn, raise, or nothing."""
    value: Fallback = _innermost(_overrides.get(), fallback)
    return default.fallback if value is UNSET else value


def check_fallback(policy: Any) -> Fallback:
    """The policy, or a :class:`SettingError` that names the choices."""
    if policy not in ("warn", "error", "silent"):
        raise SettingError(f"{policy!r} is not a fallback policy; choose 'warn', 'error' or 'silent'.")
    chosen: Fallback = policy
    return chosen


class fallback(Override):
    """Choose what happens when a call has to run on the host: ``with fallback("error"): …``.

    Calls are meant that a device could do: not those of strings, dates, Python objects and files.

    The policy holds for the block, in this thread or task. ``arraydispatch.use(fallback="error")`` sets the process default.

    Parameters
    ----------
    policy : {"warn", "error", "silent"}
        ``"warn"`` says each source line once, ``"error"`` raises :class:`HostFallbackError`.

    Raises
    ------
    SettingError
        For another policy.
    """

    def __init__(self, policy: Fallback) -> None:
        super().__init__(check_fallback(policy))


class traced:
    """While a function is traced: scalars stay on the device, and what would run on the host is refused, in other words.

    Who enters it counts it among ``process.overrides``, in one step with what else a trace changes.
    """

    __slots__ = ("_tokens",)
    _here = _scalars("device"), fallback("silent")

    def __enter__(self) -> None:
        held = _overrides.get()
        scalars, silent = self._here
        inside = (*held, scalars, silent) if current_fallback() == "warn" else (*held, scalars)
        self._tokens = _overrides.set(inside), context_rules.set(rules(current_precision(), "device"))

    def __exit__(self, *exc: object) -> None:
        overrides, rules = self._tokens
        _overrides.reset(overrides)
        context_rules.reset(rules)


def current_scalars() -> Literal["numpy", "device"]:
    """``"numpy"``: scalars on a CPU device are NumPy's own; ``"device"``: always a ``Scalar`` on the device."""
    return current_rules().scalars


def scalars_context(where: Literal["numpy", "device"]) -> Any:
    """A context that forces device scalars on the CPU too, as an accelerator's user gets them."""
    if where not in ("numpy", "device"):
        raise SettingError(f"{where!r} is not a place for scalars; choose 'numpy' or 'device'.")
    return _scalars(where)
