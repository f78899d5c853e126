"""Legendre functions of the first kind, of integer degrees and orders, with their derivatives by the argument.

The recurrences are SciPy's: from order zero or one up to the order at which the degree equals it, and from there up in
the degree, which is stable. Derivatives follow from the recurrences by dual numbers. Degrees and orders are known; if
they are arrays, all elements take the steps of the largest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .formula import Real, Truth, any_of, choose, constant, cos, is_known, isfinite, sin, sqrt, where

Whole = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Term = Real | float | None
"""Term of a dual number; None is zero, whatever it is multiplied by."""


class Dual:
    """Value of a function with its derivatives, at most two."""

    __slots__ = ("terms",)

    def __init__(self, *terms: Term) -> None:
        self.terms = terms

    def __add__(self, other: Dual) -> Dual:
        return Dual(*(_sum(a, b) for a, b in zip(self.terms, other.terms)))

    def __neg__(self) -> Dual:
        return self * -1.0

    def __mul__(self, other: Dual | Real | float) -> Dual:
        if not isinstance(other, Dual):
            return Dual(*(_product(a, other) for a in self.terms))
        a, b = self.terms, other.terms
        made = [_product(a[0], b[0])]
        if len(a) > 1:
            made.append(_sum(_product(a[1], b[0]), _product(a[0], b[1])))
        if len(a) > 2:
            ends = _sum(_product(a[2], b[0]), _product(a[0], b[2]))
            made.append(_sum(ends, _product(_product(a[1], 2.0), b[1])))
        return Dual(*made)

    def cut(self, count: int) -> Dual:
        """Drop the higher derivatives."""
        return Dual(*self.terms[:count])


def is_complex(x: Real) -> bool:
    """Whether numbers are complex."""
    return bool(x.xp.dtype_of(x.v).kind == "c")


def _product(a: Term, b: Term) -> Term:
    return None if a is None or b is None else a * b


def _sum(a: Term, b: Term) -> Term:
    return b if a is None else a if b is None else a + b


def _root(x: Dual) -> Dual:
    value, *by = x.terms
    assert isinstance(value, Real)
    root = sqrt(value)
    made: list[Term] = [root]
    if by:
        made.append(_product(by[0], 1.0 / (root * 2.0)))
    if len(by) > 1:
        bent = _product(_product(by[0], by[0]), -1.0 / (root * 4.0 * value))
        made.append(_sum(_product(by[1], 1.0 / (root * 2.0)), bent))
    return Dual(*made)


def _chosen(condition: Truth, x: Dual, y: Dual) -> Dual:
    return Dual(*(_either(condition, a, b) for a, b in zip(x.terms, y.terms)))


def _either(condition: Truth, a: Term, b: Term) -> Term:
    if a is None and b is None:
        return None
    return where(condition, 0.0 if a is None else a, 0.0 if b is None else b)


def _nothing_of(x: Dual) -> Dual:
    """Return zero times each of the terms: SciPy's recurrence adds zero times the previous order, so NaN and infinities
    become NaN.
    """
    made: list[Term] = []
    total: Term = None
    for term in x.terms:
        total = _sum(total, _product(term, 0.0))
        made.append(total)
    return Dual(*made)


def _known(like: Real, values: Any) -> Any:
    """Convert host numbers to operands for an array: a single one stays, several go to its device."""
    values = np.asarray(values)
    if values.size == 1:
        return values.item()
    return Real(like.xp, like.xp.backend.from_numpy(values, like.xp.backend.device_of(like.v)))


def _truth(like: Real, values: np.ndarray[Any, Any]) -> Truth:
    return Truth(like.xp, like.xp.backend.from_numpy(np.asarray(values), like.xp.backend.device_of(like.v)))


def _full(like: Real, value: float) -> Real:
    xp = like.xp
    dtype = xp.dtype_of(like.v)
    return Real(xp, xp.prim.full(xp.shape_of(like.v), value, dtype, xp.backend.device_of(like.v)))


def _beyond(made: Dual, z: Real, *wrong: np.ndarray[Any, Any]) -> Dual:
    """Return NaN where a number is not finite and derivatives are wanted: SciPy's dual numbers multiply it by zero."""
    endless = ~isfinite(z)
    if len(made.terms) == 1 or (is_known(z) and not any_of(endless)):
        return made
    return Dual(*(_either(endless & _truth(z, where_wrong), math.nan, x) for x, where_wrong in zip(made.terms, wrong)))


# -- kinds of functions
# ----------------------------------------------------------------------------------------------------


class Plain(NamedTuple):
    """Legendre polynomials, which have order zero only."""

    argument: Dual

    def factors(self, degree: Any, order: Any) -> tuple[Floats, Floats]:
        """Return the recurrence's coefficients for degree n - 2 and degree n - 1.

        The recurrence also multiplies the second by the argument.
        """
        return _unnormalized(degree, order)

    def diagonal(self, most: int, negative: bool) -> Iterator[Dual]:
        """Yield the functions whose degree is the absolute value of the order, for orders 0, 1, … or 0, -1, …"""
        del most, negative
        value, *by = self.argument.terms
        assert isinstance(value, Real)
        yield Dual(_full(value, 1.0), *(None for _ in by))

    def below(self) -> Dual:
        """Return the value for negative degrees."""
        return self.argument  # SciPy's initial value, before any step

    def ends(self, made: Dual, n: Whole, m: Whole) -> Dual:
        """Replace values of the recurrence where SciPy's differ."""
        del m
        z = self.argument.terms[0]
        assert isinstance(z, Real)
        return _beyond(made, z, np.zeros(n.shape, dtype=bool), n > 2, n > 1)


def _unnormalized(degree: Any, order: Any) -> tuple[Floats, Floats]:
    gone = np.maximum(degree - order, 1).astype(float)
    return -(degree + order - 1) / gone, (2 * degree - 1) / gone


def _normalized(degree: Any, order: Any) -> tuple[Floats, Floats]:
    squares = np.where(abs(order) < degree, degree**2 - order**2, 1)
    of = ((2 * degree - 3) * squares).astype(float)
    before = np.maximum((degree - 1) ** 2 - order**2, 0)
    return -np.sqrt(np.abs((2 * degree + 1) * before / of)), np.sqrt(
        (2 * degree + 1) * (4 * (degree - 1) ** 2 - 1) / of
    )


def _normal(order: int) -> float:
    """Return the factor of the squared sine between normalized functions two orders apart."""
    return math.sqrt((2 * order + 1) * (2 * order - 1) / (4 * order * (order - 1)))


def _steps(zero: Dual, one: Dual, square: Callable[[Any], Dual], factors: Sequence[Any]) -> Iterator[Dual]:
    """Yield the functions whose order equals the degree: the first two, and from each upwards by two orders."""
    before, now = zero, one
    yield before
    for k in range(1, len(factors)):
        if k > 1:
            before, now = now, square(factors[k]) * before + _nothing_of(now)
        yield now


class Associated(NamedTuple):
    """Associated functions of a number, normalized or not, by the branch cuts of the elements."""

    argument: Dual
    cuts: Whole
    norm: bool
    at: Real
    """The number itself; at an end point, the argument is another number."""
    ends_too: bool
    """Whether values at the end points are normalized."""

    @classmethod
    def of(cls, z: Real, cuts: Whole, norm: bool, ends_too: bool, count: int) -> Associated:
        """Create the functions of a number, with ``count`` terms."""
        end = (z == 1.0) | (z == -1.0)
        return cls(plain(where(end, 0.0, z), count).argument, cuts, norm, z, ends_too)

    def factors(self, degree: Any, order: Any) -> tuple[Floats, Floats]:
        """Return the recurrence's coefficients for degree n - 2 and degree n - 1.

        The recurrence also multiplies the second by the argument.
        """
        return _normalized(degree, order) if self.norm else _unnormalized(degree, order)

    def _sine(self) -> tuple[Dual, Dual]:
        """Return, by its cut, the function of degree and order one up to a factor, and that of order minus one."""
        third = self.cuts == 3
        if third.all():
            root = self._third()
            return root, root
        root = _root(self._square())
        if not third.any():
            return -root, root
        where_third = _truth(self.at, third)
        other = self._third()
        return _chosen(where_third, other, -root), _chosen(where_third, other, root)

    def _third(self) -> Dual:
        z, *by = self.argument.terms
        assert isinstance(z, Real)
        return _root(Dual(z - 1.0, *by)) * _root(Dual(z + 1.0, *by))

    def _square(self) -> Dual:
        z = self.argument
        value, *by = (-(z * z)).terms
        assert isinstance(value, Real)
        return Dual(value + 1.0, *by)

    def diagonal(self, most: int, negative: bool) -> Iterator[Dual]:
        """Yield the functions whose degree is the absolute value of the order, for orders 0, 1, … or 0, -1, …"""
        z, *by = self.argument.terms
        assert isinstance(z, Real)
        ones = _full(z, 1.0)
        sign = _known(self.at, np.where(self.cuts == 3, -1.0, 1.0)) if self.cuts.size else 1.0
        sine = self._sine()[negative] if most else Dual(*(None for _ in self.argument.terms))
        if self.norm:
            ones = ones * (1.0 / math.sqrt(2.0))
            one = sine * math.sqrt(3.0) * 0.5
            factors = [sign * _normal(k) if k > 1 else 1.0 for k in range(most + 1)]
        elif negative:
            one = sine * 0.5
            factors = [sign / float(2 * k * (2 * k - 2)) if k > 1 else 1.0 for k in range(most + 1)]
        else:
            one = sine
            factors = [sign * float((2 * k - 1) * (2 * k - 3)) if k > 1 else 1.0 for k in range(most + 1)]
        square = self._square()
        return _steps(Dual(ones, *(None for _ in by)), one, lambda by: square * by, factors)

    def below(self) -> Dual:
        """Return the value for negative degrees."""
        return Dual(*(None for _ in self.argument.terms))

    def ends(self, made: Dual, n: Whole, m: Whole) -> Dual:
        """Return SciPy's values at 1 and -1, where it does not normalize derivatives, nor in some versions values.

        The value continues from there with its slope, if that is finite, for derivatives taken through it.
        """
        z = self.at
        upper, lower = z == 1.0, z == -1.0
        if is_known(z) and not any_of(upper | lower):
            return self._beyond(made, n, m)
        terms: list[Term] = []
        for order, term in enumerate(made.terms):
            known = [self._at_end(n, m, end, order) for end in (1.0, -1.0)]
            values = [_known(z, x) for x in known]
            if order == 0:
                slopes = [_known(z, self._slope(n, m, end)) for end in (1.0, -1.0)]
                values = [value + (z - end) * slope for value, slope, end in zip(values, slopes, (1.0, -1.0))]
            else:
                values = [constant(z, 1.0) * x for x in values]  # for complex numbers too
            like = constant(z, 0.0) if term is None else term
            terms.append(choose(like, (upper, values[0]), (lower, values[1])))
        return self._beyond(Dual(*terms), n, m)

    def _beyond(self, made: Dual, n: Whole, m: Whole) -> Dual:
        there = abs(m) <= n
        return _beyond(made, self.at, there & (m != 0), there & (n > 0), there & (n > 0))

    def _at_end(self, n: Whole, m: Whole, end: float, order: int) -> Floats:
        n, m, cuts = np.broadcast_arrays(n, m, self.cuts)
        k, sign = n.astype(float), np.where(cuts == 3, -1.0, 1.0)
        alternating = np.where(n % 2 == 1, end, 1.0)
        if order == 0:
            cases = {0: alternating * (np.sqrt((2 * k + 1) / 2) if self.ends_too else 1.0)}
        elif order == 1:
            other = alternating * end
            four = sign * (k + 2) * (k + 1) * k * (k - 1)
            cases = {
                0: k * (k + 1) * other / 2, 1: alternating * np.inf, -1: -alternating * np.inf, 2: -four * other / 4,
                -2: -sign * other / 4,
            }  # fmt: skip
        else:
            four, inf = (k + 2) * (k + 1) * k * (k - 1), np.full(k.shape, np.inf)
            eight = (k + 4) * (k + 3) * four * (k - 2) * (k - 3)
            cases = {
                0: four / 8, 1: inf, -1: -inf, 2: -((k + 1) * k - 3) * four / 12, -2: np.full(k.shape, -0.25), 3: inf, -3: -inf,
                4: eight / 48,
            }  # fmt: skip
        made = np.zeros(n.shape)
        for at, value in cases.items():
            made = np.where((m == at) & (abs(m) <= n), value, made)
        return made

    def _slope(self, n: Whole, m: Whole, end: float) -> Floats:
        slope = self._at_end(n, m, end, 1)
        slope = np.where(np.isfinite(slope), slope, 0.0)
        if not self.norm:
            return slope
        k = np.maximum(n, 0).astype(float)
        four = np.maximum((k + 2) * (k + 1) * k * (k - 1), 1.0)
        return slope * np.sqrt((2 * k + 1) / 2 * np.where(m == 2, 1 / four, np.where(m == -2, four, 1.0)))


class Spherical(NamedTuple):
    """Functions of an angle that occur in spherical harmonics."""

    argument: Dual
    """Cosine of the angle."""
    sine: Dual

    @classmethod
    def of(cls, theta: Real, count: int) -> Spherical:
        """Create the functions of an angle, with ``count`` terms."""
        c, s = cos(theta), sin(theta)
        return cls(Dual(c, -s, -c).cut(count), Dual(s, c, -s).cut(count))

    def factors(self, degree: Any, order: Any) -> tuple[Floats, Floats]:
        """Return the recurrence's coefficients for degree n - 2 and degree n - 1.

        The recurrence also multiplies the second by the argument.
        """
        return _normalized(degree, order)

    def diagonal(self, most: int, negative: bool) -> Iterator[Dual]:
        """Yield the functions whose degree is the absolute value of the order, for orders 0, 1, … or 0, -1, …"""
        s, *by = self.sine.terms
        assert isinstance(s, Real)
        first = Dual(_full(s, 1 / (2 * math.sqrt(math.pi))), *(None for _ in by))
        factor = -math.sqrt(3.0) / (2 * math.sqrt(2 * math.pi))
        size = _chosen(s < 0.0, -self.sine, self.sine)
        one = size * (-factor if negative else factor)
        factors = [_normal(k) if k > 1 else 1.0 for k in range(most + 1)]
        return _steps(first, one, lambda by: self.sine * by * self.sine, factors)

    def below(self) -> Dual:
        """Return the value for negative degrees."""
        return Dual(*(None for _ in self.argument.terms))

    def ends(self, made: Dual, n: Whole, m: Whole) -> Dual:
        """Replace values of the recurrence where SciPy's differ."""
        del n, m
        return made


Kind = Plain | Associated | Spherical
_MANY = 2000
"""Number of elements from which skipping zeros saves more than the additional calls cost."""


def plain(z: Real, count: int) -> Plain:
    """Create the Legendre polynomials of a number."""
    return Plain(Dual(z, 1.0, None).cut(count))


# -- the recurrences -----------------------------------------------------------------------------------------------------------


def _nothing(kind: Kind) -> Dual:
    return Dual(*(None for _ in kind.argument.terms))


def _firsts(kind: Kind, m: Whole, most: int) -> dict[int, Dual]:
    """Return for each order, up to ``most`` in absolute value, the function whose degree is that absolute value."""
    made: dict[int, Dual] = {}
    orders = np.unique(m[abs(m) <= most]).tolist()
    for negative in (False, True):
        wanted = {abs(k): k for k in orders if (k < 0) == negative}
        for size, found in enumerate(kind.diagonal(max(wanted), negative)) if wanted else ():
            if size in wanted:
                made[wanted[size]] = found
    return made


def _together(kind: Kind, like: Real, m: Whole, firsts: dict[int, Dual]) -> Dual:
    """Select for each element the function of its order; zero where there is none."""
    if m.size == 1:
        return firsts.get(m.item(), _nothing(kind))
    made = _nothing(kind)
    for order, found in firsts.items():
        made = _chosen(_truth(like, m == order), found, made)
    return made


def _degrees(kind: Kind, like: Real, m: Whole, most: int, first: Dual) -> Iterator[Dual]:
    """Yield the functions of degrees 0, 1, … by one step each, from those whose degree is the absolute value of the order."""
    sizes = abs(m)
    before = now = nothing = _nothing(kind)
    for degree in range(most + 1):
        following = nothing
        if (sizes < degree).any():
            back, on = kind.factors(degree, m)
            following = kind.argument * _known(like, on) * now + before * _known(like, back)
        if (sizes == degree).all():
            following = first
        elif (sizes >= degree).any() and m.size > 1:
            begun = _chosen(_truth(like, sizes < degree), following, nothing)
            following = _chosen(_truth(like, sizes == degree), first, begun)
        before, now = now, following
        yield now


def up_to(kind: Kind, like: Real, most: int, m: Whole, shape: tuple[int, ...]) -> list[Real]:
    """Compute the functions of all degrees up to ``most``: value and derivatives, with the degrees along a new first
    axis.

    For many elements each order takes its own steps; otherwise all elements step together, including those that have
    not begun yet.
    """
    xp = like.xp
    firsts = _firsts(kind, m, most)
    lead = np.arange(most + 1).reshape(-1, *[1] * len(shape))
    if m.size > 1 and is_known(like) and math.prod(xp.shape_of(like.v)) >= _MANY:
        lines = [
            _degrees(kind, like, order, most, _together(kind, like, order, firsts)) for order in m.reshape(m.size, 1)
        ]
        found = [each for step in zip(*lines) for each in step]
        part = shape[1:]
    else:
        found, part = list(_degrees(kind, like, m, most, _together(kind, like, m, firsts))), shape
    columns = zip(*([_shaped(like, term, part) for term in each.terms] for each in found))
    stacked = [Real(xp, xp.prim.reshape(xp.stack(column), (most + 1, *shape))) for column in columns]
    return [_of(like, term) for term in kind.ends(Dual(*stacked), lead, m).terms]


def at_degrees(kind: Kind, like: Real, n: Whole, m: Whole, shape: tuple[int, ...]) -> list[Real]:
    """Compute the functions for each element's degree and order: value and derivatives, in a shape."""
    made = kind.below()
    most = int(n.max()) if n.size else -1
    first = _together(kind, like, m, _firsts(kind, m, most))
    for degree, found in enumerate(_degrees(kind, like, m, most, first)):
        if n.size == 1:
            made = found
        elif (n == degree).any():
            made = _chosen(_truth(like, n == degree), found, made)
    made = kind.ends(made, n, m)
    return [Real(like.xp, _shaped(like, term, shape)) for term in made.terms]


def _of(like: Real, term: Term) -> Real:
    if isinstance(term, Real):
        return term
    return constant(like, 0.0 if term is None else term)


def _shaped(like: Real, term: Term, shape: tuple[int, ...]) -> Any:
    return like.xp.prim.broadcast_to(_of(like, term).v, shape)
