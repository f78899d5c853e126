"""How the grid calls each function: expressions over ``np`` and the operands of :data:`.grid.OPERANDS`.

In an expression ``{f}`` is the function's name, ``{axis}`` every axis worth trying at the operand's rank, ``{axes}`` the
same with None and tuples. The first expression of a row sees every dtype at every shape; the others see every dtype at
one shape and every shape at two dtypes. Factors that are unique only up to signs are compared as what they rebuild.
"""

from __future__ import annotations

from dataclasses import dataclass

NUMBERS = "bool int uint float complex"
REAL = "bool int uint float"
INTEGERS = "int uint"
BITS = "bool int uint"
FLOATS = "float"
INEXACT = "float complex"


@dataclass(frozen=True)
class Row:
    """Functions that are called alike.

    Parameters
    ----------
    names : str
        The functions, as ``np.sum np.linalg.svd``.
    calls : tuple of str
        The expressions.
    dtypes : str
        Kinds of dtype of the operands.
    ndim : tuple of int
        Least and largest rank.
    values : str
        ``any``, ``positive``, ``count`` (small and not negative), ``unit`` (within 1) or ``definite``.
    square : bool
        Whether operands are stacks of square matrices.
    special, layouts : bool
        Whether operands with NaN, infinities and the ends of a range, and non-contiguous ones, make sense.
    elementwise : bool
        Whether the error of each element is measured against that element, not against the largest.
    """

    names: str
    calls: tuple[str, ...]
    dtypes: str = NUMBERS
    ndim: tuple[int, int] = (0, 4)
    values: str = "any"
    square: bool = False
    special: bool = True
    layouts: bool = True
    elementwise: bool = False


def calls(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().splitlines())
