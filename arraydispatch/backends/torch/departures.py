"""Departures of this backend's kernels from PyTorch's functions: see :mod:`arraydispatch.backends.departures`."""

from __future__ import annotations

from ..departures import NONE_KNOWN, Departure

__all__ = ["DEPARTURES"]

_ISSUE = "https://github.com/pytorch/pytorch/issues/"
_PULL = "https://github.com/pytorch/pytorch/pull/"

DEPARTURES = (
    Departure(
        "UFUNCS",
        "floor_divide remainder fmod",
        "integers: NumPy gives 0 for a zero divisor, PyTorch raises",
        f"{_ISSUE}89418",
    ),
    Departure(
        "UFUNCS",
        "floor_divide remainder fmod",
        "integers: the lowest one divided by -1 wraps in NumPy, in PyTorch it ends the process",
        f"{_ISSUE}127804",
    ),
    Departure("UFUNCS", "remainder", "floats: a zero takes the sign of the divisor", NONE_KNOWN),
    Departure(
        "UFUNCS",
        "power float_power",
        "integers wrap and negative exponents are an error; complex zero to a power is zero or NaN",
        f"{_ISSUE}51714",
    ),
    Departure(
        "UFUNCS", "absolute", "booleans and unsigned integers have no absolute value in PyTorch", f"{_ISSUE}58734"
    ),
    Departure(
        "UFUNCS", "reciprocal", "integers stay integers; complex numbers next to zero and infinity", f"{_ISSUE}52332"
    ),
    Departure("UFUNCS", "sqrt", "on some processors it is not correctly rounded", NONE_KNOWN),
    Departure("UFUNCS", "gcd", "the sign is wrong next to the lowest integer", f"{_ISSUE}187338"),
    Departure("UFUNCS", "lcm", "it traps at the lowest integer", f"{_ISSUE}121343"),
    Departure("UFUNCS", "sign", "NaN becomes 0; of complex numbers there is none", f"{_ISSUE}41245"),
    Departure(
        "UFUNCS",
        "nextafter",
        "16-bit floats have none; of two equal zeros C returns the second, and it has no derivative",
        NONE_KNOWN,
    ),
    Departure("UFUNCS", "ldexp", "it multiplies by 2**n, which overflows where the result does not", f"{_ISSUE}153069"),
    Departure("UFUNCS", "frexp", "in a program, the exponent is compiled to invalid C++", NONE_KNOWN),
    Departure("UFUNCS", "heaviside", "NaN becomes 1 or 0, and there is no derivative", f"{_ISSUE}187296"),
    Departure("UFUNCS", "conjugate", "a real tensor is returned itself, NumPy copies", NONE_KNOWN),
    Departure("UFUNCS", "hypot", "the derivative at two zeros is NaN", NONE_KNOWN),
    Departure(
        "UFUNCS", "rint floor ceil trunc", "integers, booleans and complex numbers, which PyTorch rejects", NONE_KNOWN
    ),
    Departure(
        "UFUNCS", "sinh cosh", "near the largest numbers the exponential overflows before the result does", NONE_KNOWN
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
        f"{_ISSUE}36374",
    ),
    Departure(
        "UFUNCS", "maximum minimum fmax fmin", "of uint64 and complex numbers there is no order", f"{_ISSUE}36374"
    ),
    Departure(
        "UFUNCS", "maximum minimum fmax fmin", "the derivative of equal operands, and that of NaN", f"{_ISSUE}56734"
    ),
    Departure("UFUNCS", "right_shift", "uint64 shifts in zeros, its signed twin the sign", f"{_ISSUE}58734"),
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
        f"{_PULL}43519",
    ),
    Departure("REDUCE", "logical_and logical_or", "the result of uint8 is uint8", f"{_ISSUE}50342"),
    Departure("REDUCE", "bitwise_and bitwise_or bitwise_xor", "there is no such reduction", f"{_ISSUE}35641"),
    Departure(
        "ACCUMULATE", "add multiply", "small integers are widened, and unsigned ones have no kernel", f"{_ISSUE}58734"
    ),
    Departure(
        "ACCUMULATE", "maximum minimum", "unsigned integers and complex numbers have no kernel", f"{_ISSUE}58734"
    ),
)
