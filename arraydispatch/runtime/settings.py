"""Settings on two levels: process defaults seen by every thread, and overrides local to a context.

Overrides live in ContextVars, so a ``with`` block in one thread or task is invisible to the others; process defaults
are plain attributes, because a ContextVar set in the main thread is not seen in a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from functools import cache
from math import prod
from typing import Any, Literal, NamedTuple, TypeVar

from ..backends import loader
from ..backends.base import Backend
from ..common import process_state, tracing
from ..common.errors import PrecisionError, SettingError
from ..common.process_state import SETTINGS, process
from ..common.sentinels import UNSET
from .execution_policy import CPU_FROM, Execution, shapes

Precision = Literal[64, 32, 16, "bf16"] | None
Fallback = Literal["warn", "error", "silent"]
T = TypeVar("T")


class Rules(NamedTuple):
    """Rules that apply to every result, in one object, so that a call looks up only one."""

    precision: Precision
    scalars: Literal["numpy", "device"]


@cache
def rules(precision: Precision, scalars: Literal["numpy", "device"]) -> Rules:
    """Return the one :class:`Rules` object of a precision and of ``scalars``, how results without axes are returned."""
    return Rules(precision, scalars)


NO_POLICY = rules(None, "numpy")
"""NumPy's own precision, and NumPy's own scalars where the device allows them."""


default = process
"""Process defaults, which are part of the state of the process."""
process.change(rules=NO_POLICY)

_backends: ContextVar[tuple[Backend, ...]] = ContextVar("arraydispatch_backends", default=())
blocks_here = _backends.get
"""Returns the backends of the blocks around this code, the innermost last."""
context_rules: ContextVar[Rules | None] = ContextVar("arraydispatch_rules", default=None)
"""Rules of the innermost block, None outside any; every call reads them together with ``default.rules``."""
_overrides: ContextVar[tuple[Override, ...]] = ContextVar("arraydispatch_overrides", default=())
"""All overrides in force, the innermost last; those that calls read often also have a variable of their own."""


# -- backend ---------------------------------------------------------------------------------------------------------


def context_backend() -> Backend | None:
    """Return the backend of the innermost ``with ad.backend(...)`` block of this thread or task, or None."""
    stack = _backends.get()
    return stack[-1] if stack else None


def current_backend() -> Backend:
    """Return the backend in which new arrays are created: under compiled execution, its variant that defers values."""
    stack = _backends.get()
    found = stack[-1] if stack else loader.at_hand(default.backend)
    return found if _deferring is None or process.traces else _deferring(found)


_deferring: Callable[[Backend], Backend] | None = None
"""Returns the variant of a backend that defers values. Not called while a library traces: its program records everything computed then."""
_defer: Callable[[Backend], Backend] = lambda backend: backend


def defer_by(variant_of: Callable[[Backend], Backend]) -> None:
    """Set the function that returns the variant of a backend that defers values, where it has one."""
    global _defer
    _defer = variant_of
    _follow()


def computing(backend: Backend) -> Backend:
    """Return the backend that computes on arrays of a backend: under compiled execution, its variant that defers values."""
    return backend if _deferring is None or process.traces else _deferring(backend)


def current_name() -> str:
    """Return the name of :func:`current_backend`, without importing its library."""
    stack = _backends.get()
    return stack[-1].name if stack else default.backend


def on_cpu(name: str) -> bool:
    """Whether new arrays of a backend are placed on a CPU; a library that has not been imported is not asked."""
    device = default.devices.get(name)
    if device is not None:
        return bool(device.kind == "CPU" and not device.mesh)
    known = _on_cpu.get(name)
    if known is None:
        backend = loader.loaded_one(name)
        if backend is None:
            return True
        known = _on_cpu[name] = backend.devices()[0].kind == "CPU"
    return known


def leaves_to_numpy(name: str) -> bool:
    """Whether NumPy may run the calls that a backend leaves to it: on a CPU, neither in eager execution nor inside a transform."""
    return process.execution != "eager" and on_cpu(name) and not tracing.entered()


def begins_on_host(name: str) -> bool:
    """Whether new arrays of a backend of any size are in the host state: on a CPU, unless execution is compiled."""
    return process.execution != "compiled" and on_cpu(name)


def stays_on_host(name: str, shape: tuple[int, ...]) -> bool:
    """Whether a new array of a backend is in the host state: if it is small, or on a CPU if no block of the library will read it."""
    if prod(shape) < process.min_size:
        return True
    return on_cpu(name) and (process.execution != "compiled" or not (process.min_size == 0 or shapes.recurs(shape)))


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


def check_execution(execution: Any) -> Execution:
    """Return the execution mode, or raise a :class:`SettingError` that names the choices."""
    if execution not in (None, "eager", "fused", "compiled"):
        raise SettingError(f"execution {execution!r} is not available; choose 'eager', 'fused', 'compiled', or None.")
    chosen: Execution = execution
    return chosen


def set_execution(way: Execution) -> None:
    """Set the execution of the whole process to ``way``; ``with`` blocks that set another keep it."""
    with process_state.lock:
        _execute(way, default.executions)


def _execute(usual: Execution, executions: tuple[execution, ...]) -> None:
    """Set the process's execution mode to that of the innermost block, or to the usual mode, and ``min_size`` to suit."""
    way = executions[-1].way if executions else usual
    least, lent = default.min_size, default.lent
    if way == "fused" and not least:
        least, lent = CPU_FROM, True
    elif way != "fused" and lent:
        least, lent = 0, False
    default.change(execution=way, usual_execution=usual, executions=executions, min_size=least, lent=lent)


@process.follows("execution")
def _follow() -> None:
    """Switch deferred values on or off."""
    global _deferring
    _deferring = _defer if process.execution == "compiled" else None


class execution:
    """Block that sets how calls run, in the whole process: see :func:`arraydispatch.execution`.

    It may be entered again and left in any order, as an :class:`Override`; any thread may leave it.

    Parameters
    ----------
    way : {"eager", "fused", "compiled", None}
        The mode inside the block.
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
    """Restore the process defaults at the end of the block."""
    try:
        with default.kept(*SETTINGS):
            yield
    finally:
        set_execution(default.usual_execution)  # blocks that are open now still count


# -- precision ---------------------------------------------------------------------------------------------------------

_PRECISIONS: dict[Any, Precision] = {64: 64, 32: 32, 16: 16, "bf16": "bf16", None: None, "64": 64, "32": 32, "16": 16}


def check_precision(bits: Any) -> Precision:
    """Normalize a precision, or raise a :class:`PrecisionError` that names the choices."""
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
    """Return the precision in force: of the innermost context, else the process default."""
    return current_rules().precision


def current_rules() -> Rules:
    """Return the rules in force: of the innermost context, else the process default."""
    held: Rules = context_rules.get() or default.rules
    return held


def only_values_decide() -> bool:
    """Whether calls may take shortcuts: neither the process nor a thread's block has a rule, and no block requires the general path."""
    return not process.suspended and not process.overrides and process.rules is NO_POLICY


def set_default_precision(bits: Precision) -> None:
    """Set the process default of the precision."""
    default.rules = rules(bits, default.rules.scalars)


class Override:
    """Override of a setting for a block of this thread or task.

    An override takes effect when it is entered, not when it is created. It may be entered again, also inside itself and by
    several threads at one time, and blocks may be left in any order.

    Parameters
    ----------
    value : object
        The value inside the block.
    """

    ruling = False
    """Whether the setting is one of the :class:`Rules`."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self._entered: list[Token[tuple[Override, ...]]] = []

    def __enter__(self) -> None:
        self._entered.append(_hold((*_overrides.get(), self)))
        if self.ruling:
            process.add("overrides", 1)

    def __exit__(self, *exc: object) -> None:
        held = _without_last(_overrides.get(), self)
        for token in reversed(tuple(self._entered)):  # other threads may enter and leave it meanwhile
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
    """Return the tuple ``held`` without the last occurrence of ``one``, or ``held`` itself if another thread has removed ``one`` already."""
    for at in reversed(range(len(held))):
        if held[at] is one:
            return (*held[:at], *held[at + 1 :])
    return held


def _hold(held: tuple[Override, ...]) -> Token[tuple[Override, ...]]:
    token = _overrides.set(held)
    precision, scalars = _innermost(held, _precision), _innermost(held, scalars_context)
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
    """Return the value of the innermost (last) override of the class ``kind`` in ``held``, or UNSET."""
    for each in reversed(held):
        if type(each) is kind:
            return each.value
    return UNSET


class _precision(Override):
    """Number of bits of fresh floating results."""

    ruling = True

    def __enter__(self) -> None:
        check_held(self.value, current_backend())
        super().__enter__()


class scalars_context(Override):
    """Location of scalars of arrays on the CPU, ``"numpy"`` or ``"device"`` (as on an accelerator)."""

    ruling = True


def precision_context(bits: Any) -> Any:
    """Return a context in which fresh floating results have ``bits``."""
    checked = check_precision(bits)
    check_held(checked, current_backend())
    return _precision(checked)


# -- fallback and scalars ------------------------------------------------------------------------------------------------


def current_fallback() -> Fallback:
    """Return the effect that a host fallback has now: ``"warn"``, ``"error"`` or ``"silent"``."""
    value: Fallback = _innermost(_overrides.get(), fallback)
    return default.fallback if value is UNSET else value


def check_fallback(policy: Any) -> Fallback:
    """Return the policy, or raise a :class:`SettingError` that names the choices."""
    if policy not in ("warn", "error", "silent"):
        raise SettingError(f"{policy!r} is not a fallback policy; choose 'warn', 'error' or 'silent'.")
    chosen: Fallback = policy
    return chosen


class fallback(Override):
    """Choose what happens when a call has to run on the host: ``with fallback("error"): …``.

    Only calls that a device could run count, not those on strings, dates, Python objects and files.

    The policy holds for the block, in this thread or task. ``arraydispatch.use(fallback="error")`` sets the process
    default.

    Parameters
    ----------
    policy : {"warn", "error", "silent"}
        ``"warn"`` warns once for each source line, ``"error"`` raises :class:`HostFallbackError`.

    Raises
    ------
    SettingError
        For another policy.
    """

    def __init__(self, policy: Fallback) -> None:
        super().__init__(check_fallback(policy))


class traced:
    """Settings while a function is traced: scalars stay on the device, and host fallbacks are refused with a message
    for tracing.

    The caller counts this block in ``process.overrides``, together with the other changes of a trace.
    """

    __slots__ = ("_tokens",)
    _here = scalars_context("device"), fallback("silent")

    def __enter__(self) -> None:
        held = _overrides.get()
        scalars, silent = self._here
        warns = (current_fallback() if held else default.fallback) == "warn"
        inside = (*held, scalars, silent) if warns else (*held, scalars)
        precision = (context_rules.get() or default.rules).precision
        self._tokens = _overrides.set(inside), context_rules.set(rules(precision, "device"))

    def __exit__(self, *exc: object) -> None:
        overrides, rules = self._tokens
        _overrides.reset(overrides)
        context_rules.reset(rules)


def current_scalars() -> Literal["numpy", "device"]:
    """Return ``"numpy"`` (scalars on a CPU device are NumPy's own) or ``"device"`` (always a ``Scalar`` on the device)."""
    return current_rules().scalars
