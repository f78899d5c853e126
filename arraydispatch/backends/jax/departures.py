"""Departures of this backend's kernels from JAX's functions: see :mod:`arraydispatch.backends.departures`."""

from __future__ import annotations

from ..departures import NONE_KNOWN, Departure

__all__ = ["DEPARTURES"]

_ISSUE = "https://github.com/jax-ml/jax/issues/"

DEPARTURES = (
    Departure(
        "UFUNCS", "floor_divide remainder divmod fmod", "integers: NumPy gives 0 for a zero divisor", f"{_ISSUE}11990"
    ),
    Departure("UFUNCS", "floor_divide remainder divmod", "floats: the sign of a zero", f"{_ISSUE}40028"),
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
    Departure("UFUNCS", "log1p arctanh", "doubles near -0.41 are up to 129 units off", f"{_ISSUE}39707"),
    Departure(
        "UFUNCS", "log log2 log10 log1p", "complex numbers with one part infinite and the other NaN", f"{_ISSUE}24787"
    ),
    Departure(
        "UFUNCS",
        "sqrt arcsin arccos arcsinh arccosh",
        "the sign of zero that selects the side of a branch cut",
        f"{_ISSUE}39110",
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
    Departure("UFUNCS", "absolute fabs", "the derivative at zero is 1", f"{_ISSUE}37820"),
    Departure("UFUNCS", "sign", "the sign of negative zero, and complex numbers with an infinite part", NONE_KNOWN),
    Departure("UFUNCS", "hypot", "the second derivative for equal numbers is zero", NONE_KNOWN),
    Departure("UFUNCS", "nextafter spacing", "there is no derivative", f"{_ISSUE}38679"),
    Departure("UFUNCS", "ldexp", "zeros are returned themselves, with a derivative of 1", NONE_KNOWN),
    Departure("UFUNCS", "heaviside", "16-bit floats are computed in float32, and the derivative is zero", NONE_KNOWN),
    Departure(
        "UFUNCS",
        "modf trunc rint floor ceil",
        "integers are returned themselves; the derivative at integers",
        NONE_KNOWN,
    ),
    Departure("UFUNCS", "gcd lcm", "they do not return at the lowest integer", f"{_ISSUE}40840"),
    Departure("UFUNCS", "left_shift right_shift", "shifts by negative numbers, and by the width or more", NONE_KNOWN),
    Departure(
        "UFUNCS", "deg2rad radians rad2deg degrees", "NumPy computes the factor in the type of the operand", NONE_KNOWN
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
        f"{_ISSUE}13600",
    ),
    Departure(
        "REDUCE",
        "logical_and logical_or bitwise_and bitwise_or bitwise_xor",
        "reductions of lax, without jax.numpy's promotion",
        NONE_KNOWN,
    ),
    Departure("ACCUMULATE", "add multiply maximum minimum", "XLA doubles the steps; NumPy rounds at each", NONE_KNOWN),
)
