"""Departures from a library's own functions: kernels of a backend that replace them, the reasons, and the upstream issues.

:data:`DEPARTURES` has one row per reason. Each kernel that is not the library's own function belongs to at least one row;
``tests/backends/test_departures.py`` checks that. A row cites the upstream issue or pull request in which the difference is
open, was fixed for a later version or was declared intended, or says :data:`NONE_KNOWN`.
"""

from __future__ import annotations

from typing import NamedTuple

NONE_KNOWN = "no issue known"
"""Entry for a departure of which no issue upstream is known here (2026-11-26)."""


class Departure(NamedTuple):
    """One reason for kernels of a backend's own."""

    table: str
    """``UFUNCS``, ``REDUCE`` or ``ACCUMULATE``."""
    ufuncs: str
    """Names of the ufuncs concerned, separated by spaces."""
    why: str
    """Difference between the library's function and NumPy's."""
    upstream: str
    """Address of the issue or pull request, or :data:`NONE_KNOWN`."""


_JAX = "https://github.com/jax-ml/jax/"
_TORCH = "https://github.com/pytorch/pytorch/"
_TENSORFLOW = "https://github.com/tensorflow/tensorflow/"

DEPARTURES: dict[str, tuple[Departure, ...]] = {
    "jax": (
        Departure(
            "UFUNCS",
            "floor_divide remainder divmod fmod",
            "integers: NumPy gives 0 for a zero divisor",
            f"{_JAX}issues/11990",
        ),
        Departure("UFUNCS", "floor_divide remainder divmod", "floats: the sign of a zero", f"{_JAX}issues/40028"),
        Departure(
            "UFUNCS",
            "divide reciprocal",
            "complex numbers by Smith's method, as NumPy's loop; integers stay integers",
            NONE_KNOWN,
        ),
        Departure(
            "UFUNCS",
            "power float_power",
            "complex numbers by multiplication where the exponent is a small integer; zero to small powers has no derivative; integers wrap",
            NONE_KNOWN,
        ),
        Departure(
            "UFUNCS", "exp2 sinh cosh", "10 to 13 units off where exp(x + log 0.5) or exp(x log 2) is taken", NONE_KNOWN
        ),
        Departure("UFUNCS", "log1p arctanh", "doubles near -0.41 are up to 129 units off", f"{_JAX}issues/39707"),
        Departure(
            "UFUNCS",
            "log log2 log10 log1p",
            "complex numbers with one part infinite and the other NaN",
            f"{_JAX}issues/24787",
        ),
        Departure(
            "UFUNCS",
            "sqrt arcsin arccos arcsinh arccosh",
            "the sign of zero that selects the side of a branch cut",
            f"{_JAX}issues/39110",
        ),
        Departure("UFUNCS", "arccosh", "the derivative has the wrong sign for negative real parts", NONE_KNOWN),
        Departure(
            "UFUNCS",
            "logaddexp logaddexp2",
            "NumPy rounds by another formula; the derivative beside an infinite operand",
            NONE_KNOWN,
        ),
        Departure(
            "UFUNCS",
            "less less_equal greater greater_equal maximum minimum fmax fmin",
            "complex numbers in lexicographic order, with NumPy's rule for NaN",
            NONE_KNOWN,
        ),
        Departure("UFUNCS", "maximum minimum fmax fmin", "NaN has no derivative", NONE_KNOWN),
        Departure("UFUNCS", "absolute fabs", "the derivative at zero is 1", f"{_JAX}issues/37820"),
        Departure("UFUNCS", "sign", "the sign of negative zero, and complex numbers with an infinite part", NONE_KNOWN),
        Departure("UFUNCS", "hypot", "the second derivative for equal numbers is zero", NONE_KNOWN),
        Departure("UFUNCS", "nextafter spacing", "there is no derivative", f"{_JAX}issues/38679"),
        Departure("UFUNCS", "ldexp", "zeros are returned themselves, with a derivative of 1", NONE_KNOWN),
        Departure(
            "UFUNCS", "heaviside", "16-bit floats are computed in float32, and the derivative is zero", NONE_KNOWN
        ),
        Departure(
            "UFUNCS",
            "modf trunc rint floor ceil",
            "integers are returned themselves; the derivative at integers",
            NONE_KNOWN,
        ),
        Departure("UFUNCS", "gcd lcm", "they do not return at the lowest integer", f"{_JAX}issues/40840"),
        Departure(
            "UFUNCS", "left_shift right_shift", "shifts by negative numbers, and by the width or more", NONE_KNOWN
        ),
        Departure(
            "UFUNCS",
            "deg2rad radians rad2deg degrees",
            "NumPy computes the factor in the type of the operand",
            NONE_KNOWN,
        ),
        Departure(
            "UFUNCS",
            "isnan isinf isfinite",
            "integers are accepted, of which JAX's functions make floats first",
            NONE_KNOWN,
        ),
        Departure(
            "UFUNCS",
            "positive conjugate square add multiply",
            "one operation of lax instead of jax.numpy's promotion; booleans by or, and",
            NONE_KNOWN,
        ),
        Departure("REDUCE", "add multiply", "16-bit floats are added in float32 only if no dtype is given", NONE_KNOWN),
        Departure(
            "REDUCE",
            "maximum minimum",
            "equal elements share the derivative; NumPy's argmax names the first",
            f"{_JAX}issues/13600",
        ),
        Departure(
            "REDUCE",
            "logical_and logical_or bitwise_and bitwise_or bitwise_xor",
            "reductions of lax, without jax.numpy's promotion",
            NONE_KNOWN,
        ),
        Departure(
            "ACCUMULATE", "add multiply maximum minimum", "XLA doubles the steps; NumPy rounds at each", NONE_KNOWN
        ),
    ),
    "torch": (
        Departure(
            "UFUNCS",
            "floor_divide remainder fmod",
            "integers: NumPy gives 0 for a zero divisor, PyTorch raises",
            f"{_TORCH}issues/89418",
        ),
        Departure(
            "UFUNCS",
            "floor_divide remainder fmod",
            "integers: the lowest one divided by -1 wraps in NumPy, in PyTorch it ends the process",
            f"{_TORCH}issues/127804",
        ),
        Departure("UFUNCS", "remainder", "floats: a zero takes the sign of the divisor", NONE_KNOWN),
        Departure(
            "UFUNCS",
            "power float_power",
            "integers wrap and negative exponents are an error; complex zero to a power is zero or NaN",
            f"{_TORCH}issues/51714",
        ),
        Departure(
            "UFUNCS",
            "absolute",
            "booleans and unsigned integers have no absolute value in PyTorch",
            f"{_TORCH}issues/58734",
        ),
        Departure(
            "UFUNCS",
            "reciprocal",
            "integers stay integers; complex numbers next to zero and infinity",
            f"{_TORCH}issues/52332",
        ),
        Departure("UFUNCS", "sqrt", "on some processors it is not correctly rounded", NONE_KNOWN),
        Departure("UFUNCS", "gcd", "the sign is wrong next to the lowest integer", f"{_TORCH}issues/187338"),
        Departure("UFUNCS", "lcm", "it traps at the lowest integer", f"{_TORCH}issues/121343"),
        Departure("UFUNCS", "sign", "NaN becomes 0; of complex numbers there is none", f"{_TORCH}issues/41245"),
        Departure(
            "UFUNCS",
            "nextafter",
            "16-bit floats have none; of two equal zeros C returns the second, and it has no derivative",
            NONE_KNOWN,
        ),
        Departure(
            "UFUNCS",
            "ldexp",
            "it multiplies by 2**n, which overflows where the result does not",
            f"{_TORCH}issues/153069",
        ),
        Departure("UFUNCS", "frexp", "in a program, the exponent is compiled to invalid C++", NONE_KNOWN),
        Departure("UFUNCS", "heaviside", "NaN becomes 1 or 0, and there is no derivative", f"{_TORCH}issues/187296"),
        Departure("UFUNCS", "conjugate", "a real tensor is returned itself, NumPy copies", NONE_KNOWN),
        Departure("UFUNCS", "hypot", "the derivative at two zeros is NaN", NONE_KNOWN),
        Departure(
            "UFUNCS",
            "rint floor ceil trunc",
            "integers, booleans and complex numbers, which PyTorch rejects",
            NONE_KNOWN,
        ),
        Departure(
            "UFUNCS",
            "sinh cosh",
            "near the largest numbers the exponential overflows before the result does",
            NONE_KNOWN,
        ),
        Departure(
            "UFUNCS",
            "deg2rad radians rad2deg degrees",
            "NumPy computes the factor in the type of the operand, PyTorch in double precision",
            NONE_KNOWN,
        ),
        Departure(
            "UFUNCS",
            "less less_equal greater greater_equal",
            "a Python number is taken on the right only; of uint64 and complex numbers there is no order",
            f"{_TORCH}issues/36374",
        ),
        Departure(
            "UFUNCS",
            "maximum minimum fmax fmin",
            "of uint64 and complex numbers there is no order",
            f"{_TORCH}issues/36374",
        ),
        Departure(
            "UFUNCS",
            "maximum minimum fmax fmin",
            "the derivative of equal operands, and that of NaN",
            f"{_TORCH}issues/56734",
        ),
        Departure("UFUNCS", "right_shift", "uint64 shifts in zeros, its signed twin the sign", f"{_TORCH}issues/58734"),
        Departure(
            "REDUCE",
            "add multiply",
            "small integers are widened unless a dtype is given, and an empty list of axes means all of them",
            NONE_KNOWN,
        ),
        Departure(
            "REDUCE",
            "maximum minimum",
            "equal elements share the derivative; NumPy's argmax names the first",
            f"{_TORCH}pull/43519",
        ),
        Departure("REDUCE", "logical_and logical_or", "the result of uint8 is uint8", f"{_TORCH}issues/50342"),
        Departure(
            "REDUCE", "bitwise_and bitwise_or bitwise_xor", "there is no such reduction", f"{_TORCH}issues/35641"
        ),
        Departure(
            "ACCUMULATE",
            "add multiply",
            "small integers are widened, and unsigned ones have no kernel",
            f"{_TORCH}issues/58734",
        ),
        Departure(
            "ACCUMULATE",
            "maximum minimum",
            "unsigned integers and complex numbers have no kernel",
            f"{_TORCH}issues/58734",
        ),
    ),
    "tensorflow": (
        Departure(
            "UFUNCS",
            "floor_divide remainder fmod",
            "integers: NumPy gives 0 for a zero divisor, TensorFlow raises",
            f"{_TENSORFLOW}issues/54856",
        ),
        Departure(
            "UFUNCS",
            "floor_divide remainder",
            "floats: the rounded quotient is rounded down; a zero takes the sign of the divisor",
            NONE_KNOWN,
        ),
        Departure("UFUNCS", "fmod", "there is no derivative", NONE_KNOWN),
        Departure(
            "UFUNCS",
            "divide reciprocal",
            "complex numbers by Smith's method, as NumPy's loop; integers stay integers",
            NONE_KNOWN,
        ),
        Departure(
            "UFUNCS",
            "power float_power",
            "complex zero to powers, small integer powers, and derivatives at zero",
            NONE_KNOWN,
        ),
        Departure(
            "UFUNCS",
            "negative absolute positive conjugate",
            "unsigned integers and booleans have no kernel, or the operand itself is returned",
            NONE_KNOWN,
        ),
        Departure(
            "UFUNCS", "sqrt", "complex numbers at the branch cut and at infinities; the derivative at zero", NONE_KNOWN
        ),
        Departure("UFUNCS", "sign", "complex numbers that are small, large or infinite", f"{_TENSORFLOW}issues/116945"),
        Departure("UFUNCS", "signbit", "there is no such operation", NONE_KNOWN),
        Departure("UFUNCS", "copysign", "combining bits has no derivative", NONE_KNOWN),
        Departure("UFUNCS", "nextafter", "16-bit floats have no kernel", NONE_KNOWN),
        Departure("UFUNCS", "hypot", "infinite parts next to NaN, which XLA on the CPU loses", NONE_KNOWN),
        Departure(
            "UFUNCS", "rint floor ceil trunc", "integers, booleans and complex numbers have no kernel", NONE_KNOWN
        ),
        Departure("UFUNCS", "exp2 expm1", "there is no exp2; complex expm1 loses all digits near zero", NONE_KNOWN),
        Departure(
            "UFUNCS",
            "log log1p",
            "complex numbers: the squares of the parts overflow, and log1p is NaN at infinities",
            f"{_TENSORFLOW}issues/80850",
        ),
        Departure(
            "UFUNCS", "log1p arctanh sinh cosh", "in a program, XLA is up to 129 units off", f"{_JAX}issues/39707"
        ),
        Departure("UFUNCS", "arctan2", "the derivative at two zeros is NaN", NONE_KNOWN),
        Departure(
            "UFUNCS",
            "deg2rad radians rad2deg degrees",
            "NumPy computes the factor in the type of the operand",
            NONE_KNOWN,
        ),
        Departure(
            "UFUNCS",
            "add subtract multiply divide equal not_equal",
            "a Python number is taken on either side, in the other's dtype, which TensorFlow's operators convert slower",
            NONE_KNOWN,
        ),
        Departure(
            "UFUNCS",
            "less less_equal greater greater_equal",
            "complex numbers have no order in TensorFlow",
            f"{_TENSORFLOW}issues/51502",
        ),
        Departure(
            "UFUNCS",
            "maximum minimum fmax fmin",
            "complex numbers have no order in TensorFlow, and NaN is never skipped",
            f"{_TENSORFLOW}issues/51502",
        ),
        Departure(
            "UFUNCS",
            "maximum minimum fmax fmin",
            "equal operands: the derivative goes to the first",
            f"{_TENSORFLOW}issues/51681",
        ),
        Departure("UFUNCS", "logical_and logical_or logical_xor logical_not", "operands must be booleans", NONE_KNOWN),
        Departure("UFUNCS", "bitwise_and bitwise_or bitwise_xor invert", "booleans have no kernel", NONE_KNOWN),
        Departure(
            "UFUNCS",
            "left_shift right_shift",
            "a negative number, and one of the width or more, is clamped",
            f"{_TENSORFLOW}issues/72709",
        ),
        Departure("UFUNCS", "bitwise_count", "NumPy counts the bits of the absolute value", NONE_KNOWN),
        Departure("UFUNCS", "isnan isinf isfinite", "integers and complex numbers have no kernel", NONE_KNOWN),
        Departure(
            "REDUCE",
            "add multiply",
            "booleans have no kernel; 16-bit floats are added in float32 for some axes only",
            NONE_KNOWN,
        ),
        Departure("REDUCE", "maximum minimum", "XLA on the CPU ignores NaN", f"{_TENSORFLOW}issues/116992"),
        Departure(
            "REDUCE",
            "maximum minimum",
            "equal elements share the derivative; NumPy's argmax names the first",
            f"{_TENSORFLOW}issues/51681",
        ),
        Departure("REDUCE", "logical_and logical_or", "operands must be booleans", NONE_KNOWN),
        Departure(
            "ACCUMULATE",
            "add multiply",
            "the sum begins with 0.0, which loses the sign of -0.0; booleans have no kernel",
            NONE_KNOWN,
        ),
        Departure("ACCUMULATE", "maximum minimum", "there is no such operation", NONE_KNOWN),
    ),
}
"""Backend -> rows."""


def table(rows: tuple[Departure, ...]) -> str:
    """Make the table of a backend for ``docs/reference/departures.md``."""
    where = {"UFUNCS": "", "REDUCE": ".reduce", "ACCUMULATE": ".accumulate"}
    lines = ["| kernels | difference | upstream |", "|---|---|---|"]
    for row in rows:
        names = ", ".join(f"`{name}{where[row.table]}`" for name in row.ufuncs.split())
        number = row.upstream.rpartition("/")[2]
        lines.append(
            f"| {names} | {row.why} | {row.upstream if row.upstream == NONE_KNOWN else f'[{number}]({row.upstream})'} |"
        )
    return "\n".join(lines)
