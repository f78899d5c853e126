"""How the grid calls ufuncs, their methods, and reductions."""

from __future__ import annotations

import numpy as np

from .grid_row import REAL, Row, calls

# -- ufuncs --------------------------------------------------------------------------------------------------------------

_UNARY = calls("""
    {f}(a)
    {f}(a, out=out)
    {f}(a, where=m, out=out)
    {f}(a, dtype=np.float32)
    {f}(a, casting='no')
""")
_UNARY_PAIR = calls("""
    {f}(a)
    [np.where(m, x, 0) for x in {f}(a, where=m)]
""")
_BINARY = calls("""
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
_BINARY_PAIR = calls("""
    {f}(a, b)
    {f}(a, r)
    {f}(a, 2)
    {f}(3, a)
""")
_REDUCING = calls("""
    {f}.reduce(a)
    {f}.reduce(a, axis={axes})
    {f}.reduce(a, axis={axes}, keepdims=True)
    {f}.reduce(a, axis={axis}, initial=1)
    {f}.reduce(a, axis={axis}, initial=1, where=m)
    {f}.reduce(a, axis={axis}, out=out)
    {f}.reduce(a, axis={axis}, dtype=np.float64)
    {f}.reduceat(a, [0, 2, 1], axis={axis})
""")
_ACCUMULATING = calls("""
    {f}.accumulate(a)
    {f}.accumulate(a, axis={axis})
    {f}.accumulate(a, axis={axis}, out=out)
    {f}.accumulate(a, axis={axis}, dtype=np.float64)
""")
_AT_ONE = calls("(lambda x: ({f}.at(x, k), x)[1])(a.copy())")
_AT_TWO = calls("""
    (lambda x: ({f}.at(x, k, 2), x)[1])(a.copy())
    (lambda x: ({f}.at(x, (k, 0), a[(k, 0)]), x)[1])(a.copy())
    (lambda x: ({f}.at(x, slice(1, 3), 2), x)[1])(a.copy())
""")


def _ufunc_rows() -> list[Row]:
    """A row for each numeric ufunc, by its number of operands and results."""
    rows = []
    reducing = []
    for name in sorted(n for n in np.__all__ if isinstance(getattr(np, n), np.ufunc)):  # numexpr adds some of its own
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
        calls("""
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
        calls("""
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

_REDUCE = calls("""
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
_LINE = calls("""
    {f}(a)
    {f}(a, axis={axis})
    {f}(a, axis={axis}, out=out)
    {f}(a, axis={axis}, dtype=np.float64)
""")
_QUANTILES = calls("""
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
        calls("""
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
        calls("""
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
