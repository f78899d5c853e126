"""Departures of this backend's kernels from TensorFlow's functions: see :mod:`arraydispatch.backends.departures`."""

from __future__ import annotations

from ..departures import NONE_KNOWN, Departure

__all__ = ["DEPARTURES"]

_ISSUE = "https://github.com/tensorflow/tensorflow/issues/"

DEPARTURES = (
    Departure(
        "UFUNCS",
        "floor_divide remainder fmod",
        "integers: NumPy gives 0 for a zero divisor, TensorFlow raises",
        f"{_ISSUE}54856",
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
    Departure("UFUNCS", "sign", "complex numbers that are small, large or infinite", f"{_ISSUE}116945"),
    Departure("UFUNCS", "signbit", "there is no such operation", NONE_KNOWN),
    Departure("UFUNCS", "copysign", "combining bits has no derivative", NONE_KNOWN),
    Departure("UFUNCS", "nextafter", "16-bit floats have no kernel", NONE_KNOWN),
    Departure("UFUNCS", "hypot", "infinite parts next to NaN, which XLA on the CPU loses", NONE_KNOWN),
    Departure("UFUNCS", "rint floor ceil trunc", "integers, booleans and complex numbers have no kernel", NONE_KNOWN),
    Departure("UFUNCS", "exp2 expm1", "there is no exp2; complex expm1 loses all digits near zero", NONE_KNOWN),
    Departure(
        "UFUNCS",
        "log log1p",
        "complex numbers: the squares of the parts overflow, and log1p is NaN at infinities",
        f"{_ISSUE}80850",
    ),
    Departure(
        "UFUNCS",
        "log1p arctanh sinh cosh",
        "in a program, XLA is up to 129 units off",
        "https://github.com/jax-ml/jax/issues/39707",
    ),
    Departure("UFUNCS", "arctan2", "the derivative at two zeros is NaN", NONE_KNOWN),
    Departure(
        "UFUNCS", "deg2rad radians rad2deg degrees", "NumPy computes the factor in the type of the operand", NONE_KNOWN
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
        f"{_ISSUE}51502",
    ),
    Departure(
        "UFUNCS",
        "maximum minimum fmax fmin",
        "complex numbers have no order in TensorFlow, and NaN is never skipped",
        f"{_ISSUE}51502",
    ),
    Departure(
        "UFUNCS", "maximum minimum fmax fmin", "equal operands: the derivative goes to the first", f"{_ISSUE}51681"
    ),
    Departure("UFUNCS", "logical_and logical_or logical_xor logical_not", "operands must be booleans", NONE_KNOWN),
    Departure("UFUNCS", "bitwise_and bitwise_or bitwise_xor invert", "booleans have no kernel", NONE_KNOWN),
    Departure(
        "UFUNCS",
        "left_shift right_shift",
        "a negative number, and one of the width or more, is clamped",
        f"{_ISSUE}72709",
    ),
    Departure("UFUNCS", "bitwise_count", "NumPy counts the bits of the absolute value", NONE_KNOWN),
    Departure("UFUNCS", "isnan isinf isfinite", "integers and complex numbers have no kernel", NONE_KNOWN),
    Departure(
        "REDUCE",
        "add multiply",
        "booleans have no kernel; 16-bit floats are added in float32 for some axes only",
        NONE_KNOWN,
    ),
    Departure("REDUCE", "maximum minimum", "XLA on the CPU ignores NaN", f"{_ISSUE}116992"),
    Departure(
        "REDUCE",
        "maximum minimum",
        "equal elements share the derivative; NumPy's argmax names the first",
        f"{_ISSUE}51681",
    ),
    Departure("REDUCE", "logical_and logical_or", "operands must be booleans", NONE_KNOWN),
    Departure(
        "ACCUMULATE",
        "add multiply",
        "the sum begins with 0.0, which loses the sign of -0.0; booleans have no kernel",
        NONE_KNOWN,
    ),
    Departure("ACCUMULATE", "maximum minimum", "there is no such operation", NONE_KNOWN),
)
