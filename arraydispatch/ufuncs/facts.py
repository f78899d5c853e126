"""Facts about NumPy's ufuncs, one row per ufunc, the same on every backend.

All code that distinguishes ufuncs reads this table: the engine, the report of floating-point errors, reductions,
verification. Operators of ufuncs are rows of :mod:`arraydispatch.common.members`. A ufunc of another package has the row :data:`ORDINARY`.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy._core import umath as _umath

Error = Literal["sum", "square", "spread", "remainder", "period"]
Jumps = Literal["unit", "exact", "operand"]


class UfuncFacts(NamedTuple):
    """Facts about one ufunc that its loops do not tell, read by dispatch, engine and verification (:func:`ufunc_facts`)."""

    instruction: str = ""
    """The name in :mod:`arraydispatch.engine.host_blocks.kernel_source`, if the ufunc is one or two processor instructions.

    Then every loop gives an element the same bits. Empty for ufuncs whose loops round more than once, or return either of two zeros that
    differ in sign (see :func:`_extreme`).
    """
    neutral: float | None = None
    """The second operand that leaves every first operand unchanged."""
    heavy: bool = False
    """Whether the ufunc takes several times as long as a sum."""
    by_inverse: bool = False
    """Whether integer loops multiply by the inverse if the second operand is a single number, so that they are not heavy."""
    reports: Literal["never", "seldom", "methods", "often", "divisors"] = "seldom"
    """Kinds of calls that may report floating-point errors for ordinary arguments.

    ``never``: no call, for no arguments. ``seldom``: no call, but some may for other arguments. ``methods``: methods, except ``outer``.
    ``often``: all calls, and a call takes longer than a check of its result. ``divisors``: as ``often``, and integer loops report a zero
    divisor.
    """
    values_decide: bool = False
    """Whether an integer operand may be refused for its value (a negative power), or keeps a dtype of its own (exponents of ``ldexp``)."""
    last_differ: bool = False
    """Whether, of 0.0 and -0.0, NumPy's vector code may return the other one than its code for the last elements."""
    by_parts: bool = False
    """Whether the complex loops only add or compare real parts, and imaginary parts."""
    no_minus_zero: bool = False
    """Whether the result is never a negative zero."""
    comparison: bool = False
    logical: bool = False
    associative: bool = False
    """Whether a reduction may regroup its operands."""
    one_axis: bool = False
    """Whether NumPy reduces along one axis only, although the ufunc is associative."""
    error: Error | None = None
    sign: float = 0.0
    jumps: Jumps | None = None
    raw: bool = False
    """``error``, ``sign``, ``jumps`` and ``raw``: see :class:`arraydispatch.functions.registry.Checks`."""

    @property
    def reported(self) -> bool:
        """Whether ordinary arguments may cause a floating-point error."""
        return self.reports in ("often", "divisors")


CLIP: Any = _umath.clip  # type: ignore[attr-defined]
"""The ufunc that ``np.clip`` calls."""

ORDINARY = UfuncFacts()
"""The row of a ufunc for which every fact has its default."""

_ENDS = 37
"""Number of elements that fill vectors of every width and leave a remainder."""


def _gives_second(ufunc: np.ufunc) -> bool:
    """Whether NumPy's loops always return the second of two zeros. This depends on the processor."""
    for dtype in (np.float32, np.float64):
        zeros: np.ndarray[Any, Any] = np.zeros(2 * _ENDS, dtype)
        for x, y in ((zeros, -zeros), (-zeros, zeros)):
            wanted = np.signbit(y[0])
            for a, b in (
                (x[:_ENDS], y[:_ENDS]),
                (x[::2], y[::2]),
                (x[:1], y[:1]),
                (x[:_ENDS], y[0]),
                (x[0], y[:_ENDS]),
            ):
                if (np.signbit(ufunc(a, b)) != wanted).any():
                    return False
    return True


def _extreme(ufunc: np.ufunc, instruction: str) -> UfuncFacts:
    """Return the row of ``maximum`` or ``minimum``: an instruction if NumPy's loops always return the second of two zeros."""
    if _gives_second(ufunc):
        return UfuncFacts(instruction=instruction, reports="never", associative=True)
    return UfuncFacts(last_differ=True, associative=True)


FACTS: dict[Any, UfuncFacts] = {
    # Arithmetic
    np.add: UfuncFacts(
        instruction="add", neutral=-0.0, reports="methods", by_parts=True, associative=True, error="sum", sign=1.0,
    ),
    np.subtract: UfuncFacts(instruction="sub", neutral=0, reports="methods", by_parts=True, error="sum", sign=-1.0),
    np.multiply: UfuncFacts(instruction="mul", neutral=1, reports="methods", associative=True),
    np.divide: UfuncFacts(instruction="div", neutral=1, reports="often"),
    np.floor_divide: UfuncFacts(heavy=True, by_inverse=True, reports="divisors", jumps="unit"),
    np.remainder: UfuncFacts(heavy=True, reports="divisors", error="remainder", jumps="operand"),
    np.fmod: UfuncFacts(heavy=True, reports="divisors", error="remainder", jumps="operand"),
    np.divmod: UfuncFacts(reports="divisors"),
    np.power: UfuncFacts(heavy=True, reports="often", values_decide=True),
    np.float_power: UfuncFacts(heavy=True, reports="often"),
    np.matmul: UfuncFacts(error="sum"),
    np.vecdot: UfuncFacts(error="sum"),
    np.reciprocal: UfuncFacts(instruction="reciprocal", reports="divisors"),
    np.negative: UfuncFacts(instruction="neg", reports="never"),
    np.positive: UfuncFacts(instruction="same", reports="never"),
    np.absolute: UfuncFacts(instruction="abs", no_minus_zero=True),
    np.fabs: UfuncFacts(instruction="abs", reports="never", no_minus_zero=True),
    np.sign: UfuncFacts(instruction="sign", reports="never", jumps="unit"),
    np.square: UfuncFacts(instruction="square", no_minus_zero=True),
    np.sqrt: UfuncFacts(instruction="sqrt", reports="often"),
    np.cbrt: UfuncFacts(heavy=True),
    np.hypot: UfuncFacts(heavy=True, reports="often", no_minus_zero=True, associative=True),
    np.gcd: UfuncFacts(associative=True),
    np.lcm: UfuncFacts(associative=True, one_axis=True),
    # Bits
    np.bitwise_and: UfuncFacts(instruction="and", associative=True),
    np.bitwise_or: UfuncFacts(instruction="or", neutral=0, associative=True),
    np.bitwise_xor: UfuncFacts(instruction="xor", neutral=0, associative=True),
    np.left_shift: UfuncFacts(),
    np.right_shift: UfuncFacts(),
    np.invert: UfuncFacts(instruction="invert"),
    np.bitwise_count: UfuncFacts(),
    # Comparisons and truth values
    np.less: UfuncFacts(instruction="lt", comparison=True, jumps="exact"),
    np.less_equal: UfuncFacts(instruction="le", comparison=True, jumps="exact"),
    np.greater: UfuncFacts(instruction="gt", comparison=True, jumps="exact"),
    np.greater_equal: UfuncFacts(instruction="ge", comparison=True, jumps="exact"),
    np.equal: UfuncFacts(instruction="eq", by_parts=True, comparison=True, jumps="exact"),
    np.not_equal: UfuncFacts(instruction="ne", by_parts=True, comparison=True, jumps="exact"),
    np.logical_and: UfuncFacts(instruction="both", reports="never", logical=True, associative=True),
    np.logical_or: UfuncFacts(instruction="either", reports="never", logical=True, associative=True),
    np.logical_xor: UfuncFacts(instruction="one", reports="never", logical=True, associative=True),
    np.logical_not: UfuncFacts(instruction="none", reports="never", jumps="exact"),
    np.maximum: _extreme(np.maximum, "max"),
    np.minimum: _extreme(np.minimum, "min"),
    np.fmax: UfuncFacts(last_differ=True, associative=True),
    np.fmin: UfuncFacts(last_differ=True, associative=True),
    CLIP: UfuncFacts(instruction="clip", last_differ=True),
    # Parts of floating-point numbers
    np.isfinite: UfuncFacts(instruction="isfinite", reports="never", jumps="exact"),
    np.isinf: UfuncFacts(instruction="isinf", reports="never", jumps="exact"),
    np.isnan: UfuncFacts(instruction="isnan", reports="never", jumps="exact"),
    np.isnat: UfuncFacts(),
    np.signbit: UfuncFacts(instruction="signbit", reports="never", jumps="exact"),
    np.copysign: UfuncFacts(instruction="copysign", reports="never", jumps="unit"),
    np.nextafter: UfuncFacts(raw=True),
    np.spacing: UfuncFacts(raw=True),
    np.heaviside: UfuncFacts(jumps="unit"),
    np.floor: UfuncFacts(instruction="floor", reports="never", jumps="unit"),
    np.ceil: UfuncFacts(instruction="ceil", reports="never", jumps="unit"),
    np.trunc: UfuncFacts(instruction="trunc", reports="never", jumps="unit"),
    np.rint: UfuncFacts(instruction="rint", reports="never", jumps="unit"),
    np.modf: UfuncFacts(),
    np.frexp: UfuncFacts(),
    np.ldexp: UfuncFacts(reports="often", values_decide=True),
    np.conjugate: UfuncFacts(reports="never"),
    # Exponentials, logarithms and trigonometry
    np.exp: UfuncFacts(heavy=True, reports="often", no_minus_zero=True),
    np.exp2: UfuncFacts(heavy=True, reports="often", no_minus_zero=True),
    np.expm1: UfuncFacts(heavy=True, reports="often"),
    np.log: UfuncFacts(heavy=True, reports="often"),
    np.log2: UfuncFacts(heavy=True, reports="often"),
    np.log10: UfuncFacts(heavy=True, reports="often"),
    np.log1p: UfuncFacts(heavy=True, reports="often"),
    np.logaddexp: UfuncFacts(heavy=True, reports="often", associative=True),
    np.logaddexp2: UfuncFacts(heavy=True, reports="often", associative=True),
    np.sin: UfuncFacts(heavy=True, reports="often", error="period"),
    np.cos: UfuncFacts(heavy=True, reports="often", error="period"),
    np.tan: UfuncFacts(heavy=True, reports="often", error="period"),
    np.arcsin: UfuncFacts(heavy=True, reports="often"),
    np.arccos: UfuncFacts(heavy=True, reports="often"),
    np.arctan: UfuncFacts(heavy=True),
    np.arctan2: UfuncFacts(heavy=True, jumps="unit"),
    np.sinh: UfuncFacts(heavy=True, reports="often"),
    np.cosh: UfuncFacts(heavy=True, reports="often", no_minus_zero=True),
    np.tanh: UfuncFacts(heavy=True),
    np.arcsinh: UfuncFacts(heavy=True),
    np.arccosh: UfuncFacts(heavy=True, reports="often"),
    np.arctanh: UfuncFacts(heavy=True, reports="often"),
    np.degrees: UfuncFacts(),
    np.rad2deg: UfuncFacts(),
    np.radians: UfuncFacts(),
    np.deg2rad: UfuncFacts(),
    _umath._ones_like: UfuncFacts(),  # type: ignore[attr-defined]
}  # fmt: skip
"""Ufunc -> row."""

# From NumPy 2.2 on.
FACTS.update((getattr(np, name), UfuncFacts(error="sum")) for name in ("matvec", "vecmat") if hasattr(np, name))
FACTS.update(
    (getattr(_umath, name), ORDINARY)
    for name in (
        "_center _expandtabs _expandtabs_length _ljust _lstrip_chars _lstrip_whitespace _partition _partition_index _replace"
        " _rjust _rpartition _rpartition_index _rstrip_chars _rstrip_whitespace _slice _strip_chars _strip_whitespace _zfill"
        " count endswith find index isalnum isalpha isdecimal isdigit islower isnumeric isspace istitle isupper rfind rindex"
        " startswith str_len"
    ).split()
    if hasattr(_umath, name)  # some exist only in later versions of NumPy
)

INSTRUCTIONS: dict[Any, str] = {ufunc: row.instruction for ufunc, row in FACTS.items() if row.instruction}
"""Ufunc -> instruction, for the ufuncs that have one."""


def ufunc_facts(ufunc: Any) -> UfuncFacts:
    """Return the row of a ufunc, :data:`ORDINARY` if it is not NumPy's."""
    return FACTS.get(ufunc, ORDINARY)


def neutral(ufunc: np.ufunc | None, x: np.dtype[Any], y: np.dtype[Any]) -> float | None:
    """Return the second operand, of dtype ``y``, that leaves every first operand of dtype ``x`` unchanged; None if there is none."""
    if ufunc is np.add and x.kind == "f" and y.kind != "f":
        return None  # minus zero plus an integer zero is plus zero
    return ufunc_facts(ufunc).neutral
