"""How the grid calls each function: expressions over ``np`` and the operands of :data:`.grid.OPERANDS`.

In an expression ``{f}`` is the function's name, ``{axis}`` every axis worth trying at the operand's rank, ``{axes}`` the
same with None and tuples. The first expression of a row sees every dtype at every shape; the others see every dtype at
one shape and every shape at two dtypes. Factors that are unique only up to signs are compared as what they rebuild.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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


def _calls(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().splitlines())


# -- ufuncs --------------------------------------------------------------------------------------------------------------

_UNARY = _calls("""
    {f}(a)
    {f}(a, out=out)
    {f}(a, where=m, out=out)
    {f}(a, dtype=np.float32)
    {f}(a, casting='no')
""")
_UNARY_PAIR = _calls("""
    {f}(a)
    [np.where(m, x, 0) for x in {f}(a, where=m)]
""")
_BINARY = _calls("""
    {f}(a, b)
    {f}(a, r)
    {f}(r, a)
    {f}(a, 2)
    {f}(3, a)
    {f}(a, 1.5)
    {f}(a, True)
    {f}(a, [1, 2, 3, 4][:a.shape[-1]])
    {f}(a, np.float32(0.5))
    {f}(a, np.int8(3))
    {f}(a, b, out=out)
    {f}(a, b, where=m, out=out)
    {f}(a, b, dtype=np.float64)
    {f}.outer(a, r)
""")
_BINARY_PAIR = _calls("""
    {f}(a, b)
    {f}(a, r)
    {f}(a, 2)
    {f}(3, a)
""")
_REDUCING = _calls("""
    {f}.reduce(a)
    {f}.reduce(a, axis={axes})
    {f}.reduce(a, axis={axes}, keepdims=True)
    {f}.reduce(a, axis={axis}, initial=1)
    {f}.reduce(a, axis={axis}, initial=1, where=m)
    {f}.reduce(a, axis={axis}, out=out)
    {f}.reduce(a, axis={axis}, dtype=np.float64)
    {f}.reduceat(a, [0, 2, 1], axis={axis})
""")
_ACCUMULATING = _calls("""
    {f}.accumulate(a)
    {f}.accumulate(a, axis={axis})
    {f}.accumulate(a, axis={axis}, out=out)
    {f}.accumulate(a, axis={axis}, dtype=np.float64)
""")
_AT_ONE = _calls("(lambda x: ({f}.at(x, k), x)[1])(a.copy())")
_AT_TWO = _calls("""
    (lambda x: ({f}.at(x, k, 2), x)[1])(a.copy())
    (lambda x: ({f}.at(x, (k, 0), a[(k, 0)]), x)[1])(a.copy())
    (lambda x: ({f}.at(x, slice(1, 3), 2), x)[1])(a.copy())
""")


def _ufunc_rows() -> list[Row]:
    """A row for each numeric ufunc, by its number of operands and results."""
    rows = []
    reducing = []
    for name in sorted(n for n in dir(np) if isinstance(getattr(np, n), np.ufunc)):
        ufunc = getattr(np, name)
        if ufunc.signature is not None or ufunc is np.isnat:
            continue
        numeric = f"np.{name}"
        if ufunc.nin == 1:
            calls = _UNARY if ufunc.nout == 1 else _UNARY_PAIR
            rows.append(Row(numeric, calls + (_AT_ONE if ufunc.nout == 1 else ()), elementwise=True))
        elif ufunc is np.ldexp:
            rows.append(Row(numeric, ("{f}(a, k[:1])", "{f}(a, 3)", "{f}(a, np.int32(-2))"), elementwise=True))
        else:
            rows.append(Row(numeric, _BINARY if ufunc.nout == 1 else _BINARY_PAIR, elementwise=True))
            if ufunc.nout == 1:
                reducing.append(numeric)
    fast = "np.add np.multiply np.maximum np.minimum np.logical_and np.logical_or np.bitwise_and np.bitwise_or np.bitwise_xor"
    others = " ".join(n for n in reducing if n not in fast.split())
    rows += [
        Row(fast, (*_REDUCING, *_ACCUMULATING), values="count"),
        # Reduced element by element: at a few dtypes, since each step of the loop is a call.
        Row(others, (*_REDUCING[:1], *_REDUCING[2:5], *_ACCUMULATING[:2]), "int float", values="count", special=False),
        Row(
            " ".join(reducing), _AT_TWO, "int float complex", ndim=(1, 3), values="count", special=False, layouts=False
        ),
        Row("np.add np.multiply", ("{f}.reduce(a)", "{f}.accumulate(a)"), layouts=False),
    ]
    return rows


UFUNCS = [
    *_ufunc_rows(),
    Row(
        "np.matmul",
        _calls("""
        {f}(a, b)
        {f}(a, r)
        {f}(a, np.swapaxes(b, -1, -2))
        {f}(a, b, out=out)
        {f}(a, b, dtype=np.complex128)
        {f}(a, b, axes=[(-1, -2), (-2, -1), (-2, -1)])
        a @ b.T
    """),
        ndim=(0, 4),
    ),
    Row("np.matmul np.linalg.matmul", ("{f}(a, b)", "{f}(a, r)", "{f}(a, b, out=out)"), square=True),
    Row(
        "np.vecdot",
        _calls("""
        {f}(a, b)
        {f}(a, r)
        {f}(a, b, axis={axis})
        {f}(a, b, axis={axis}, keepdims=True)
        {f}(a, b, out=out)
    """),
    ),
    Row("np.matvec", ("{f}(a, r)", "{f}(a, b)", "{f}(a, r, out=out)"), ndim=(1, 4)),
    Row("np.vecmat", ("{f}(a, np.swapaxes(b, -1, -2)[..., :1])", "{f}(r, np.swapaxes(b, -1, -2))"), ndim=(2, 4)),
]

# -- reductions, averages, order statistics ------------------------------------------------------------------------------

_REDUCE = _calls("""
    {f}(a)
    {f}(a, axis={axes})
    {f}(a, axis={axes}, keepdims=True)
    {f}(a, axis={axis}, out=out)
    {f}(a, axis=4)
    {f}(a, {axes})
""")
_WHERE = ("{f}(a, axis={axes}, where=m)",)
_INITIAL = ("{f}(a, axis={axes}, initial=2)", "{f}(a, axis={axis}, initial=2, where=m)")
_DTYPE = ("{f}(a, axis={axis}, dtype=np.float64)", "{f}(a, axis={axis}, dtype=np.complex64)")
_LINE = _calls("""
    {f}(a)
    {f}(a, axis={axis})
    {f}(a, axis={axis}, out=out)
    {f}(a, axis={axis}, dtype=np.float64)
""")
_QUANTILES = _calls("""
    {f}(a, {q})
    {f}(a, {q}, axis={axes})
    {f}(a, [{q}, {q}, 0], axis={axes})
    {f}(a, {q}, axis={axis}, keepdims=True)
    {f}(a, {q}, axis={axis}, method='nearest')
    {f}(a, {q}, axis={axis}, method='hazen')
    {f}(a, {q}, axis={axis}, out=out)
""")

REDUCTIONS = [
    Row("np.sum", _REDUCE + _WHERE + _INITIAL + _DTYPE),
    Row("np.prod", _REDUCE + _WHERE + _INITIAL + _DTYPE, values="count"),
    Row("np.max np.amax np.min np.amin", _REDUCE + _INITIAL),
    Row("np.nansum np.nanprod", _REDUCE + _WHERE + _DTYPE, values="count"),
    Row("np.nanmax np.nanmin", _REDUCE + _INITIAL),
    Row("np.cumsum np.nancumsum", _LINE),
    Row("np.cumprod np.nancumprod", _LINE, values="count"),
    Row("np.cumulative_sum np.cumulative_prod", _LINE + ("{f}(a, axis={axis}, include_initial=True)",), values="count"),
    Row("np.mean np.nanmean", _REDUCE + _WHERE + _DTYPE),
    Row(
        "np.var np.std np.nanvar np.nanstd",
        _REDUCE + _WHERE + ("{f}(a, axis={axes}, ddof=1)", "{f}(a, axis={axis}, correction=0)"),
    ),
    Row(
        "np.average",
        _calls("""
        {f}(a)
        {f}(a, axis={axes})
        {f}(a, axis={axes}, weights=w)
        {f}(a, axis=-1, weights=r)
        {f}(a, axis={axis}, weights=w, returned=True)
        {f}(a, axis={axis}, keepdims=True)
    """),
    ),
    Row("np.ptp", _REDUCE),
    Row("np.median np.nanmedian", _REDUCE, REAL),
    Row("np.quantile np.nanquantile", tuple(c.replace("{q}", "0.3") for c in _QUANTILES), REAL),
    Row("np.percentile np.nanpercentile", tuple(c.replace("{q}", "30") for c in _QUANTILES), REAL),
    Row("np.all np.any", _REDUCE + _WHERE),
    Row(
        "np.argmax np.argmin np.nanargmax np.nanargmin",
        _calls("""
        {f}(a)
        {f}(a, axis={axis})
        {f}(a, axis={axis}, keepdims=True)
        {f}(a, axis={axis}, out=out)
    """),
    ),
    Row("np.count_nonzero", ("{f}(a)", "{f}(a, axis={axes})", "{f}(a, axis={axes}, keepdims=True)")),
    Row(
        "np.cov np.corrcoef",
        ("{f}(a)", "{f}(a, b)", "{f}(a, rowvar=False)", "{f}(a, dtype=np.float32)"),
        ndim=(1, 2),
        special=False,
    ),
    Row("np.cov", ("{f}(a, bias=True)", "{f}(a, ddof=0)", "{f}(a, aweights=w)"), ndim=(1, 1)),
]

# -- shape and layout ----------------------------------------------------------------------------------------------------

SHAPE = [
    Row(
        "np.reshape",
        _calls("""
        {f}(a, -1)
        {f}(a, (-1, 1))
        {f}(a, a.shape[::-1])
        {f}(a, a.shape, order='F')
        {f}(a, (2, -1))
        {f}(a, a.size, copy=True)
    """),
    ),
    Row("np.ravel", ("{f}(a)", "{f}(a, order='F')", "{f}(a, 'K')")),
    Row("np.transpose", ("{f}(a)", "{f}(a, range(a.ndim)[::-1])", "{f}(a, (0, 1))")),
    Row(
        "np.matrix_transpose np.linalg.matrix_transpose np.atleast_1d np.atleast_2d np.atleast_3d np.shape np.ndim"
        " np.size np.iscomplexobj np.isrealobj np.min_scalar_type np.copy np.flip np.fliplr np.flipud np.isreal np.iscomplex",
        ("{f}(a)",),
    ),
    Row("np.permute_dims", ("{f}(a)",)),
    Row("np.atleast_1d np.atleast_2d np.atleast_3d", ("{f}(a, b)", "{f}(a, 2)")),
    Row("np.swapaxes", ("{f}(a, 0, -1)",)),
    Row("np.moveaxis", ("{f}(a, 0, -1)", "{f}(a, [0, -1], [-1, 0])")),
    Row("np.rollaxis", ("{f}(a, -1)", "{f}(a, 1, 0)")),
    Row("np.expand_dims", ("{f}(a, 0)", "{f}(a, -1)", "{f}(a, (0, -1))")),
    Row("np.squeeze", ("{f}(a)", "{f}(a[None, ..., None])", "{f}(a[None], axis=0)", "{f}(a, axis={axis})")),
    Row("np.broadcast_to", ("{f}(a, (2, *a.shape))", "{f}(a, a.shape)", "{f}(a, (7,))")),
    Row("np.broadcast_arrays", ("{f}(a, r)", "{f}(a, b, 2)")),
    Row("np.flip", ("{f}(a, {axis})", "{f}(a, (0, -1))")),
    Row("np.rot90", ("{f}(a)", "{f}(a, 2)", "{f}(a, 3, axes=(-1, 0))")),
    Row("np.diagonal np.linalg.diagonal", ("{f}(a)", "{f}(a, offset=1)", "{f}(a, offset=-1)")),
    Row("np.diagonal", ("{f}(a, 0, -1, 0)",)),
    Row("np.diag np.diagflat np.tril np.triu", ("{f}(a)", "{f}(a, 1)", "{f}(a, -1)")),
    Row("np.trace np.linalg.trace", ("{f}(a)", "{f}(a, offset=1)", "{f}(a, dtype=np.float64)")),
    Row("np.trace", ("{f}(a, 0, 0, -1)", "{f}(a, out=out)")),
    Row("np.roll", ("{f}(a, 2)", "{f}(a, -1, axis={axis})", "{f}(a, (1, 2), axis=(0, -1))")),
    Row("np.tile", ("{f}(a, 2)", "{f}(a, (2, 1, 2))", "{f}(a, ())")),
    Row("np.repeat", ("{f}(a, 2)", "{f}(a, 2, axis={axis})", "{f}(a, np.arange(a.shape[0]), axis=0)")),
    Row("np.resize", ("{f}(a, (2, 3))", "{f}(a, 7)", "{f}(a, ())")),
    Row("np.trim_zeros", ("{f}(a)", "{f}(a, 'f')", "{f}(a, 'b')"), values="count"),
    Row("np.vander", ("{f}(a)", "{f}(a, 3)", "{f}(a, increasing=True)"), ndim=(0, 2), values="count"),
    Row(
        "np.astype",
        (
            "{f}(a, np.float64)",
            "{f}(a, np.complex64)",
            "{f}(a, np.int8)",
            "{f}(a, bool)",
            "{f}(a, a.dtype, copy=False)",
        ),
        special=False,
    ),
    Row("np.array_split", ("{f}(a, 2)", "{f}(a, 3, axis={axis})", "{f}(a, [1, 2], axis={axis})")),
    Row("np.split", ("{f}(a, 1)", "{f}(a, 2, axis={axis})", "{f}(a, [1], axis={axis})")),
    Row("np.hsplit np.vsplit np.dsplit", ("{f}(a, 2)", "{f}(a, [1])")),
    Row("np.unstack", ("{f}(a)", "{f}(a, axis={axis})")),
    Row(
        "np.concatenate",
        _calls("""
        {f}((a, b))
        {f}([a, b], axis={axes})
        {f}([a, b], axis={axis}, dtype=np.complex128)
        {f}([a, b], axis={axis}, out=out)
        {f}((a, b.astype(np.float32)))
    """),
    ),
    Row("np.stack", ("{f}((a, b))", "{f}([a, b], axis=-1)", "{f}([a, b, a], axis=1, out=out)", "{f}([a, r])")),
    Row("np.vstack np.hstack", ("{f}((a, b))", "{f}((a, b), dtype=np.complex64)", "{f}([a, r])")),
    Row("np.dstack np.column_stack", ("{f}((a, b))", "{f}([a, r])")),
    Row("np.block", ("{f}([a, b])", "{f}([[a, b], [b, a]])")),
    Row("np.append", ("{f}(a, b)", "{f}(a, 2)", "{f}(a, b, axis={axis})")),
    Row("np.delete", ("{f}(a, 1)", "{f}(a, [0, 2])", "{f}(a, slice(1), axis={axis})", "{f}(a, k, axis=0)")),
    Row("np.insert", ("{f}(a, 1, 5)", "{f}(a, [0, 2], 3)", "{f}(a, 1, 2, axis={axis})", "{f}(a, 0, b)")),
    Row(
        "np.pad",
        _calls("""
        {f}(a, 1)
        {f}(a, (1, 2), constant_values=3)
        {f}(a, 1, 'edge')
        {f}(a, 2, 'reflect')
        {f}(a, 1, 'symmetric')
        {f}(a, 2, 'wrap')
        {f}(a, 1, 'linear_ramp')
        {f}(a, 1, 'mean')
        {f}(a, 1, 'maximum')
        {f}(a, 1, 'median')
        {f}(a, (2, 1), 'empty').shape
    """),
        special=False,
    ),
    Row(
        "np.lib.stride_tricks.sliding_window_view",
        _calls("""
        {f}(a, (1,) * a.ndim)
        {f}(a, 2, axis={axis})
        {f}(a, (2, 2), axis=(0, -1))
    """),
    ),
    Row("np.packbits", ("{f}(a)", "{f}(a, axis={axis})", "{f}(a, bitorder='little')"), BITS),
    Row(
        "np.unpackbits",
        (
            "{f}(a)",
            "{f}(a, axis={axis})",
            "{f}(a, count=5)",
            "{f}(a, axis=-1, count=-3, bitorder='little')",
            "{f}(a, count=20)",
        ),
        BITS,
    ),
    Row(
        "np.zeros_like np.ones_like",
        ("{f}(a)", "{f}(a, dtype=np.float32)", "{f}(a, shape=(2, 3))", "{f}(a, order='F')"),
    ),
    Row("np.empty_like", ("{f}(a).shape", "{f}(a, dtype=np.int8).dtype")),
    Row("np.full_like", ("{f}(a, 1)", "{f}(a, 2.5, dtype=np.float32)", "{f}(a, r)", "{f}(a, 3, shape=4)")),
]

# -- indexing, order, sets -----------------------------------------------------------------------------------------------

ORDER = [
    Row(
        "np.take",
        (
            "{f}(a, [0, -1])",
            "{f}(a, k, axis=0)",
            "{f}(a, [[1, 0]], axis={axis})",
            "{f}(a, 9, mode='clip')",
            "{f}(a, [-7, 9], mode='wrap')",
            "{f}(a, 99)",
            "{f}(a, [0], axis={axis}, out=out)",
        ),
    ),
    Row(
        "np.take_along_axis",
        ("{f}(a, np.argsort(a, axis={axis}), {axis})", "{f}(a, np.argsort(a.ravel()), None)"),
        REAL,
    ),
    Row("np.put_along_axis", ("(lambda x: ({f}(x, np.argsort(a, axis={axis}), 1, {axis}), x)[1])(a.copy())",), REAL),
    Row(
        "np.compress",
        ("{f}([True, False, True], a)", "{f}([False, True], a, axis={axis})", "{f}([True], a, axis={axis}, out=out)"),
    ),
    Row("np.extract", ("{f}(m, a)", "{f}(a > 1, a)")),
    Row(
        "np.choose", ("{f}(m.astype(int), [a, b])", "{f}(k % 2, [2, 3])", "{f}(m.astype(int) + 1, [a, b], mode='wrap')")
    ),
    Row(
        "np.put",
        (
            "(lambda x: ({f}(x, [0, -1], [1, 0]), x)[1])(a.copy())",
            "(lambda x: ({f}(x, 99, 1, mode='clip'), x)[1])(a.copy())",
        ),
    ),
    Row(
        "np.putmask np.place",
        ("(lambda x: ({f}(x, m, [1, 0]), x)[1])(a.copy())", "(lambda x: ({f}(x, m, b), x)[1])(a.copy())"),
    ),
    Row(
        "np.copyto",
        (
            "(lambda x: ({f}(x, b), x)[1])(a.copy())",
            "(lambda x: ({f}(x, 1, where=m), x)[1])(a.copy())",
            "(lambda x: ({f}(x, 1.5), x)[1])(a.copy())",
        ),
    ),
    Row(
        "np.fill_diagonal",
        ("(lambda x: ({f}(x, 1), x)[1])(a.copy())", "(lambda x: ({f}(x, [1, 0], wrap=True), x)[1])(a.copy())"),
    ),
    Row("np.diag_indices_from np.tril_indices_from np.triu_indices_from", ("{f}(a)",)),
    Row("np.ix_", ("{f}(a, b)", "{f}(m, k)")),
    Row("np.unravel_index", ("{f}(a, (5, 5))", "{f}(k, (2, 3), order='F')"), BITS, values="count"),
    Row(
        "np.ravel_multi_index",
        ("{f}((a, b), (10, 10))", "{f}((a, b), (3, 4), mode='wrap')", "{f}((a, b), (3, 4), mode='clip', order='F')"),
        INTEGERS,
        values="count",
    ),
    Row("np.sort", ("{f}(a)", "{f}(a, axis={axis})", "{f}(a, axis=None)", "{f}(a, kind='stable')")),
    Row(
        "np.argsort", ("{f}(a, kind='stable')", "{f}(a, axis={axis}, stable=True)", "{f}(a, axis=None, kind='stable')")
    ),
    Row("np.partition", ("{f}(a, 1)[..., 1]", "{f}(a, 0, axis={axis}).shape", "np.sort({f}(a, [0, 1], axis=None))")),
    Row("np.argpartition", ("np.take_along_axis(a, {f}(a, 1), -1)[..., 1]", "{f}(a, 0, axis={axis}).shape")),
    Row("np.lexsort", ("{f}((a, b))", "{f}(a)", "{f}((a, b), axis={axis})"), REAL),
    Row("np.sort_complex", ("{f}(a)",)),
    Row(
        "np.searchsorted",
        ("{f}(v, a)", "{f}(v, a, side='right')", "{f}(v, 2)", "{f}(v[::-1], a, sorter=np.arange(6)[::-1])"),
    ),
    Row("np.nonzero np.flatnonzero np.argwhere", ("{f}(a)",), values="count"),
    Row("np.where", ("{f}(m, a, b)", "{f}(a, 1, b)", "{f}(m)", "{f}(m, a, 2.5)", "{f}(m, a, r)")),
    Row(
        "np.unique",
        _calls("""
        {f}(a)
        {f}(a, return_index=True)
        {f}(a, return_inverse=True)
        {f}(a, return_counts=True)
        {f}(a, True, True, True)
        {f}(a, axis={axis})
        {f}(a, axis={axis}, return_counts=True)
        {f}(a, equal_nan=False)
    """),
        values="count",
    ),
    Row("np.unique_all np.unique_counts np.unique_inverse", ("{f}(a)",), values="count"),
    Row("np.unique_values", ("np.sort({f}(a))",), values="count"),
    Row("np.isin", ("{f}(a, b)", "{f}(a, r, invert=True)", "{f}(a, [1, 2])", "{f}(a, b, assume_unique=True)")),
    Row("np.intersect1d", ("{f}(a, b)", "{f}(a, r, return_indices=True)"), values="count"),
    Row("np.setxor1d np.union1d np.setdiff1d", ("{f}(a, b)", "{f}(a, r)"), values="count"),
    Row("np.ediff1d", ("{f}(a)", "{f}(a, to_begin=a.ravel()[:1], to_end=b)"), INTEGERS + " " + INEXACT),
    Row("np.isclose", ("{f}(a, b)", "{f}(a, a)", "{f}(a, b, rtol=0.5, atol=1)", "{f}(a, a, equal_nan=True)")),
    Row("np.allclose np.array_equal np.array_equiv", ("{f}(a, b)", "{f}(a, a)", "{f}(a, r)")),
    Row("np.isposinf np.isneginf", ("{f}(a)", "{f}(a, out=out)")),
    Row("np.result_type np.can_cast np.common_type", ("{f}(a, b)", "{f}(a.dtype, np.float32)")),
    Row("np.shares_memory np.may_share_memory", ("{f}(a, a)", "{f}(a, a[1:])", "{f}(a, b)")),
    Row("np.bincount", ("{f}(a)", "{f}(a, w)", "{f}(a, minlength=8)"), BITS, (0, 2), values="count", special=False),
    Row(
        "np.histogram",
        _calls("""
        {f}(a)
        {f}(a, 4, range=(0, 3))
        {f}(a, [0, 1, 2, 4])
        {f}(a, weights=w)
        {f}(a, density=True)
        {f}(a, bins='auto')
    """),
        REAL,
        special=False,
    ),
    Row(
        "np.histogram_bin_edges",
        ("{f}(a)", "{f}(a, 'fd')", "{f}(a, 'sturges')", "{f}(a, [0, 1, 2])"),
        REAL,
        special=False,
    ),
    Row(
        "np.histogram2d",
        ("{f}(a, b)", "{f}(a, b, 3)", "{f}(a, b, [2, 3], weights=w)", "{f}(a, b, density=True)"),
        REAL,
        (1, 1),
        special=False,
    ),
    Row("np.histogramdd", ("{f}(a)", "{f}(a, (3,) * a.shape[-1])", "{f}((a, a), 3)"), REAL, (1, 2), special=False),
    Row("np.digitize", ("{f}(a, v)", "{f}(a, v, right=True)", "{f}(a, v[::-1])"), REAL, values="count"),
]

# -- elementwise, calculus, products -------------------------------------------------------------------------------------

ELEMENTS = [
    Row(
        "np.clip",
        (
            "{f}(a, 1, 2)",
            "{f}(a, None, r)",
            "{f}(a, 0, 2, out=out)",
            "{f}(a, min=1)",
            "{f}(a, b, 3.5)",
            "{f}(a, 1, 2, where=m, out=out)",
        ),
    ),
    Row("np.round np.around", ("{f}(a)", "{f}(a, 1)", "{f}(a, -1)", "{f}(a, 1, out=out)")),
    Row("np.fix", ("{f}(a)", "{f}(a, out=out)")),
    Row("np.nan_to_num", ("{f}(a)", "{f}(a, nan=1, posinf=2)", "(lambda x: ({f}(x, copy=False), x)[1])(a.copy())")),
    Row("np.real np.imag np.sinc", ("{f}(a)",)),
    Row("np.real_if_close", ("{f}(a)", "{f}(a.astype(complex))"), INEXACT),
    Row("np.angle", ("{f}(a)", "{f}(a, deg=True)")),
    Row("np.i0", ("{f}(a)",), REAL),
    Row("np.select", ("{f}([m, a > 1], [a, b])", "{f}([m], [a], default=2)", "{f}([m], [a], r)")),
    Row(
        "np.piecewise",
        (
            "{f}(a, [m], [lambda x: x + x])",
            "{f}(a, [m, ~m], [1, lambda x: x * 2])",
            "{f}(a, [a > 1, a < 0], [1, 0, lambda x: x])",
        ),
        special=False,
    ),
    Row(
        "np.apply_along_axis",
        ("{f}(np.sum, {axis}, a)", "{f}(lambda x: x[::-1], {axis}, a)", "{f}(np.diag, {axis}, a)"),
        special=False,
    ),
    Row("np.apply_over_axes", ("{f}(np.sum, a, 0)", "{f}(np.max, a, (0, -1))"), special=False),
    Row("np.diff", ("{f}(a)", "{f}(a, 2)", "{f}(a, axis={axis})", "{f}(a, prepend=1, append=b)")),
    Row("np.gradient", ("{f}(a)", "{f}(a, 2.0)", "{f}(a, axis={axis})", "{f}(a, edge_order=2)"), special=False),
    Row("np.trapezoid", ("{f}(a)", "{f}(a, dx=2)", "{f}(a, axis={axis})", "{f}(a, b)")),
    Row("np.unwrap", ("{f}(a)", "{f}(a, axis={axis})", "{f}(a, period=4)"), REAL, special=False),
    Row(
        "np.interp",
        (
            "{f}(a, v, v)",
            "{f}(a, np.arange(6), v)",
            "{f}(a, v, v, left=-1, right=9)",
            "{f}(a, np.arange(6), v, period=7)",
        ),
        REAL,
        special=False,
    ),
    Row("np.interp", ("{f}(w, np.arange(6), v)",), "complex", special=False),
    Row(
        "np.convolve np.correlate",
        ("{f}(a, r)", "{f}(a, r, 'same')", "{f}(a, r, mode='valid')", "{f}(a, v)"),
        ndim=(0, 2),
    ),
    Row("np.dot np.inner", ("{f}(a, b)", "{f}(a, r)", "{f}(a, 2)", "{f}(a, np.swapaxes(b, -1, -2))")),
    Row("np.vdot", ("{f}(a, b)", "{f}(a, r)")),
    Row("np.outer", ("{f}(a, b)", "{f}(a, r)", "{f}(a, b, out=out)")),
    Row("np.linalg.outer", ("{f}(a, b)", "{f}(r, r)"), ndim=(1, 2)),
    Row("np.kron", ("{f}(a, b)", "{f}(a, r)"), ndim=(0, 3)),
    Row(
        "np.tensordot np.linalg.tensordot",
        ("{f}(a, b, axes=0)", "{f}(a, b.T, axes=1)", "{f}(a, b)", "{f}(a, b, axes=((0, -1), (0, -1)))"),
        ndim=(0, 3),
    ),
    Row(
        "np.cross np.linalg.cross",
        ("{f}(a[..., :3], b[..., :3])", "{f}(a, b)", "{f}(a, b, axis={axis})"),
        "int uint float complex",
    ),
    Row("np.linalg.vecdot", ("{f}(a, b)", "{f}(a, r)", "{f}(a, b, axis={axis})")),
    Row(
        "np.einsum",
        (
            "{f}('...i,...i', a, b)",
            "{f}('i...->...', a)",
            "{f}(a, [..., 0], b, [..., 0])",
            "{f}('...,...->...', a, r)",
            "{f}('...i->...i', a, dtype=np.complex128)",
            "{f}('...i,...i', a, b, out=out)",
            "{f}('...i,...i', a, b, optimize=True)",
        ),
    ),
    Row("np.einsum", ("{f}('...ij,...jk', a, b)", "{f}('...ii->...i', a)", "{f}('...ij->...ji', a)"), square=True),
    Row("np.einsum_path", ("{f}('...i,...i', a, b)",), square=True),
]

# -- linear algebra, Fourier transforms ----------------------------------------------------------------------------------

_REBUILD = "(lambda q: q[0] @ q[1])({f}(a, mode='{mode}'))"
LINALG = [
    Row(
        "np.linalg.cholesky",
        ("{f}(a)", "{f}(a, upper=True)"),
        "int float complex",
        values="definite",
        square=True,
        special=False,
    ),
    Row(
        "np.linalg.qr",
        (
            _REBUILD.format(f="{f}", mode="reduced"),
            _REBUILD.format(f="{f}", mode="complete"),
            "np.abs({f}(a, mode='r'))",
            "{f}(a, mode='raw')",
            "{f}(a, mode='economic')",
        ),
        special=False,
    ),
    Row(
        "np.linalg.svd",
        (
            "{f}(a, compute_uv=False)",
            "(lambda u, s, v: (u * s[..., None, :]) @ v)(*{f}(a, full_matrices=False))",
            "[x.shape for x in {f}(a)]",
        ),
        special=False,
    ),
    Row("np.linalg.svdvals", ("{f}(a)",), special=False),
    Row("np.linalg.svd", ("{f}(a, hermitian=True, compute_uv=False)",), values="definite", square=True, special=False),
    Row(
        "np.linalg.eigh",
        (
            "{f}(a)[0]",
            "(lambda w, v: (v * w[..., None, :]) @ np.swapaxes(v.conj(), -1, -2))(*{f}(a))",
            "{f}(a, 'U').eigenvalues",
        ),
        values="definite",
        square=True,
        special=False,
    ),
    Row("np.linalg.eigvalsh", ("{f}(a)", "{f}(a, UPLO='U')"), values="definite", square=True, special=False),
    Row(
        "np.linalg.eig",
        ("np.sort({f}(a)[0].real)", "(lambda w, v: a @ v - v * w[..., None, :])(*{f}(a)) + 1"),
        "int float complex",
        values="definite",
        square=True,
        special=False,
    ),
    Row(
        "np.linalg.eigvals",
        ("np.sort({f}(a).real)",),
        "int float complex",
        values="definite",
        square=True,
        special=False,
    ),
    Row(
        "np.linalg.solve", ("{f}(a, a)", "{f}(a, np.ones(a.shape[-1]))"), values="definite", square=True, special=False
    ),
    Row(
        "np.linalg.inv np.linalg.det np.linalg.slogdet np.linalg.pinv np.linalg.cond np.linalg.matrix_rank",
        ("{f}(a)",),
        values="definite",
        square=True,
        special=False,
    ),
    Row("np.linalg.pinv np.linalg.matrix_rank np.linalg.cond", ("{f}(a)",), ndim=(0, 3), special=False),
    Row(
        "np.linalg.cond",
        ("{f}(a, 1)", "{f}(a, 'fro')", "{f}(a, -2)", "{f}(a, np.inf)"),
        values="definite",
        square=True,
        special=False,
    ),
    Row(
        "np.linalg.matrix_power",
        ("{f}(a, 2)", "{f}(a, 0)", "{f}(a, 3)", "{f}(a, -1)"),
        values="definite",
        square=True,
        special=False,
    ),
    Row("np.linalg.multi_dot", ("{f}([a, a, a])", "{f}([a, r])"), square=True, special=False),
    Row(
        "np.linalg.lstsq",
        ("{f}(a, np.ones(a.shape[0]))[0]", "[x.shape for x in {f}(a, np.ones((a.shape[0], 2)))[:2]]", "{f}(a, a)[3]"),
        ndim=(2, 2),
        special=False,
    ),
    Row(
        "np.linalg.tensorsolve",
        (
            "{f}(a, r[:1].repeat(a.shape[0]))",
            "{f}(np.eye(4).reshape(2, 2, 4)[..., 0:4].reshape(2, 2, 2, 2), a[:2, :2])",
        ),
        values="definite",
        square=True,
        special=False,
    ),
    Row("np.linalg.tensorinv", ("{f}(a, ind=1)",), values="definite", square=True, special=False),
    Row(
        "np.linalg.norm",
        (
            "{f}(a)",
            "{f}(a, axis={axis})",
            "{f}(a, axis=(0, -1))",
            "{f}(a, ord=1)",
            "{f}(a, np.inf)",
            "{f}(a, 3, axis={axis})",
            "{f}(a, 'nuc')",
            "{f}(a, 2)",
            "{f}(a, axis={axis}, keepdims=True)",
        ),
    ),
    Row(
        "np.linalg.matrix_norm",
        ("{f}(a)", "{f}(a, ord=1)", "{f}(a, ord='nuc')", "{f}(a, ord=-2, keepdims=True)"),
        special=False,
    ),
    Row(
        "np.linalg.vector_norm",
        (
            "{f}(a)",
            "{f}(a, axis={axes})",
            "{f}(a, ord=0)",
            "{f}(a, ord=np.inf, axis={axis}, keepdims=True)",
            "{f}(a, ord=2.5)",
        ),
    ),
    Row(
        "np.fft.fft np.fft.ifft np.fft.rfft np.fft.irfft np.fft.hfft np.fft.ihfft",
        (
            "{f}(a)",
            "{f}(a, axis={axis})",
            "{f}(a, 6)",
            "{f}(a, 3, norm='ortho')",
            "{f}(a, norm='forward')",
            "{f}(a, out=out)",
        ),
        special=False,
    ),
    Row(
        "np.fft.fftn np.fft.ifftn np.fft.rfftn np.fft.irfftn",
        ("{f}(a)", "{f}(a, axes=(0, -1))", "{f}(a, s=(3, 4), axes=(0, -1))", "{f}(a, norm='ortho')"),
        special=False,
    ),
    Row("np.fft.fft2 np.fft.ifft2 np.fft.rfft2 np.fft.irfft2", ("{f}(a)", "{f}(a, s=(2, 3))"), special=False),
    Row("np.fft.fftshift np.fft.ifftshift", ("{f}(a)", "{f}(a, {axis})")),
]

# -- polynomials ---------------------------------------------------------------------------------------------------------

POLYNOMIALS = [
    Row("np.poly", ("{f}(a)",), ndim=(2, 2), special=False),  # NumPy asks each element of a line, not the line
    Row("np.poly", ("{f}(a)",), values="definite", square=True, special=False),
    Row("np.polyval", ("{f}(a, 2)", "{f}(a, b)", "{f}(r, a)", "{f}([1, 2, 3], a)"), special=False),
    Row("np.polyadd np.polysub np.polymul", ("{f}(a, b)", "{f}(a, r)", "{f}(a, [1, 2])"), ndim=(0, 1), special=False),
    Row("np.polydiv", ("{f}(a, [1, 2])", "{f}(a, r[:2])"), "int float complex", ndim=(0, 1), values="positive", special=False),
    Row("np.polyder np.polyint", ("{f}(a)", "{f}(a, 2)", "{f}(a, 0)"), ndim=(0, 1), special=False),
    Row("np.polyint", ("{f}(a, 1, 3)", "{f}(a, 2, [1, 2])"), ndim=(0, 1), special=False),
    Row("np.polyfit", ("{f}(np.arange(a.shape[0]), a, 1)", "{f}(np.arange(a.shape[0]), a, 2, w=np.ones(a.shape[0]))", "{f}(np.arange(a.shape[0]), a, 1, full=True)[0]", "{f}(np.arange(a.shape[0]), a, 1, cov=True)"), ndim=(1, 2), special=False),
    Row("np.polynomial.polynomial.polyval2d", ("{f}(a, b, [[1, 2], [3, 4]])",), special=False),
    Row("np.polynomial.polynomial.polygrid2d", ("{f}(a, b, [[1, 2], [3, 4]])",), ndim=(1, 2), special=False),
    Row("np.lib.scimath.sqrt np.lib.scimath.log np.lib.scimath.log2 np.lib.scimath.log10 np.lib.scimath.arccos"
        " np.lib.scimath.arcsin np.lib.scimath.arctanh", ("{f}(a)", "{f}(-2)", "{f}(np.abs(a))")),
    Row("np.lib.scimath.power", ("{f}(a, 2)", "{f}(a, b)", "{f}(a, 0.5)")),
    Row("np.lib.scimath.logn", ("{f}(2, a)", "{f}(a, 3)")),
]  # fmt: skip

# -- creation that depends on arrays -------------------------------------------------------------------------------------

CREATION = [
    Row(
        "np.linspace",
        (
            "{f}(a, b, 4)",
            "{f}(a, 5, 3, axis=-1)",
            "{f}(a, b, 3, endpoint=False, retstep=True)",
            "{f}(a, b, 3, dtype=np.float32)",
        ),
        special=False,
    ),
    Row("np.logspace", ("{f}(a, b, 4)", "{f}(a, 2, 3, base=2.0, axis=-1)"), REAL, values="unit", special=False),
    Row("np.geomspace", ("{f}(a, b, 4)", "{f}(a, 7, 3, endpoint=False)"), REAL, values="positive", special=False),
    Row("np.meshgrid", ("{f}(a, b)", "{f}(a, r, indexing='ij')", "{f}(a, r, sparse=True)"), ndim=(0, 1)),
]

# -- methods -------------------------------------------------------------------------------------------------------------

METHODS = [
    Row(
        "ndarray.sum ndarray.mean ndarray.max ndarray.min ndarray.all ndarray.any ndarray.std ndarray.var",
        ("a.{f}()", "a.{f}(axis={axes})", "a.{f}({axis}, keepdims=True)", "a.{f}(axis={axis}, out=out)"),
    ),
    Row("ndarray.prod", ("a.{f}()", "a.{f}(axis={axes})", "a.{f}(axis={axis}, out=out)"), values="count"),
    Row("ndarray.argmax ndarray.argmin ndarray.cumsum", ("a.{f}()", "a.{f}({axis})", "a.{f}({axis}, out=out)")),
    Row(
        "ndarray.ravel ndarray.flatten ndarray.copy ndarray.tolist ndarray.nonzero ndarray.conj ndarray.conjugate ndarray.transpose"
        " ndarray.squeeze ndarray.item ndarray.tobytes",
        ("a.{f}()",),
    ),
    Row(
        "ndarray.sort",
        ("(lambda x: (x.{f}(), x)[1])(a.copy())", "(lambda x: (x.{f}(axis={axis}, kind='stable'), x)[1])(a.copy())"),
    ),
    Row("ndarray.argsort", ("a.{f}(kind='stable')", "a.{f}({axis}, kind='stable')")),
    Row(
        "ndarray.astype",
        ("a.{f}('f4')", "a.{f}(complex)", "a.{f}('i1')", "a.{f}(np.float64, casting='safe')"),
        special=False,
    ),
    Row("ndarray.clip", ("a.{f}(1, 2)", "a.{f}(min=1)", "a.{f}(1, 2, out=out)")),
    Row("ndarray.round", ("a.{f}()", "a.{f}(1)", "a.{f}(1, out=out)")),
    Row("ndarray.reshape", ("a.{f}(-1)", "a.{f}(a.size, 1)", "a.{f}((1, -1))", "a.{f}(a.shape, order='F')")),
    Row("ndarray.dot", ("a.{f}(b)", "a.{f}(r)", "a.{f}(2)")),
    Row("ndarray.repeat ndarray.take", ("a.{f}(1)", "a.{f}([1, 0])", "a.{f}(1, axis={axis})")),
    Row("ndarray.swapaxes", ("a.{f}(0, -1)",)),
    Row("ndarray.diagonal ndarray.trace", ("a.{f}()", "a.{f}(1)")),
    Row("ndarray.searchsorted", ("v.{f}(a)", "v.{f}(2, side='right')")),
    Row("ndarray.compress", ("a.{f}([True, False, True])", "a.{f}([True], {axis})")),
    Row("ndarray.choose", ("m.astype(int).{f}([a, b])",)),
    Row("ndarray.fill", ("(lambda x: (x.{f}(1), x)[1])(a.copy())",)),
    Row("ndarray.put", ("(lambda x: (x.{f}([0], 1), x)[1])(a.copy())",)),
    Row("ndarray.partition", ("(lambda x: (x.{f}(1), x[..., 1])[1])(a.copy())",)),
    Row("ndarray.argpartition", ("np.take_along_axis(a, a.{f}(1), -1)[..., 1]",)),
    Row("ndarray.resize", ("(lambda x: (x.{f}((2, 3)), x)[1])(a.copy())",)),
    Row("ndarray.cumprod", ("a.{f}()", "a.{f}({axis})"), values="count"),
    Row("ndarray.view", ("a.{f}()", "a.{f}(np.uint8)", "a.{f}(np.int16)")),
    Row("ndarray.byteswap", ("a.{f}()",)),
    Row(
        "ndarray.T ndarray.real ndarray.imag ndarray.mT ndarray.shape ndarray.strides ndarray.size ndarray.ndim ndarray.itemsize"
        " ndarray.nbytes ndarray.dtype",
        ("a.{f}",),
    ),
]

ROWS: list[Row] = [
    *UFUNCS, *REDUCTIONS, *SHAPE, *ORDER, *ELEMENTS, *LINALG, *POLYNOMIALS, *CREATION, *METHODS,
]  # fmt: skip


# -- departures ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Departure:
    """Calls that differ from NumPy's for a reason.

    Parameters
    ----------
    functions : str
        Names, or * for all.
    reason : str
        Why.
    calls : str
        Part of the expression.
    dtypes : str
        Characters of the dtypes.
    layouts : str
        Layouts.
    ndim : tuple of int or None
        Ranks.
    backends : str
        Backends.
    """

    functions: str
    reason: str
    calls: str = ""
    dtypes: str = "?bhilBHILefdFD"
    layouts: str = "contiguous strided transposed reversed special"
    ndim: tuple[int, ...] | None = None
    backends: str = "numpy jax torch tensorflow"


DEPARTURES: list[Departure] = [
    Departure("*", "a cast of a number outside the integer's range is undefined in C", ".at(x, k), x)", "bhilBHIL"),
    Departure("np.round np.around ndarray.round", "a cast of a number outside the integer's range is undefined in C", "-1", "ilIL", "special"),
    Departure("np.power np.pow", "of a scalar exponent of 0.5 NumPy takes the square root, C's pow differs at -inf and -0", "0.5", layouts="special", backends="jax tensorflow"),
    Departure(
        "np.fft.fft np.fft.ifft np.fft.rfft np.fft.irfft np.fft.hfft np.fft.ihfft np.fft.fftn np.fft.ifftn np.fft.rfftn np.fft.irfftn"
        " np.fft.fft2 np.fft.ifft2 np.fft.rfft2 np.fft.irfft2",
        "NumPy rounds the factor 1/n to float16, we do not",
        dtypes="e",
    ),
    Departure("np.polyval", "without coefficients NumPy returns the zeros it began with, which are an array", "polyval(a, 2)", ndim=(1, 2)),
    Departure("np.median np.nanmedian", "of a 0-d array with keepdims NumPy returns a 0-d array, elsewhere a scalar", "keepdims", ndim=(0,)),
    Departure("np.unique", "NumPy's order of columns with NaN is that of their bytes in float16", "axis=", "e", "special"),
    Departure(
        "np.mean np.nanmean np.average np.sum np.nansum np.var np.std np.nanvar np.nanstd ndarray.mean ndarray.sum ndarray.var ndarray.std"
        " np.cov np.linalg.norm",
        "floating sums of the ends of an integer's range cancel, and what is left is the rounding of their order",
        dtypes="ilILq", layouts="special",
    ),
    Departure("np.arctan2 np.atan2 np.power np.pow np.float_power", "NumPy's AVX-512 loops read the accumulator of a reduction before it is written", ".reduce", "dlfi"),
    Departure("np.lib.scimath.logn", "NumPy too computes in float32 and returns float64", dtypes="hHeF"),
    Departure("ndarray.strides", "ad.asarray lays arrays out in C order", layouts="transposed"),
    Departure("np.einsum", "NumPy returns a view and forgets dtype=", "i->...i', a, dtype"),
    Departure("np.einsum", "with optimize=True NumPy returns a 0-d array, elsewhere a scalar", "optimize", ndim=(1,)),
    Departure("np.unique_inverse np.unique_all np.unique", "the order of NaNs among themselves is open", dtypes="efdFD", layouts="special"),
]  # fmt: skip
