"""The calls of the table: those of the grid, which has every function, and those whose options decide between view and copy."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterable, Iterator

from tests.functions.grid_arrays import CREATION, METHODS, ORDER, SHAPE
from tests.functions.grid_numerics import ELEMENTS, LINALG, POLYNOMIALS
from tests.functions.grid_row import FLOATS, INEXACT, INTEGERS, REAL, Row, calls
from tests.functions.grid_ufuncs import REDUCTIONS, UFUNCS
from tests.memory.aliasing.observing import LAYOUTS, Case

__all__ = ["ALWAYS", "GROUPS", "drawn", "functions", "product"]

# -- what makes arrays of arrays -----------------------------------------------------------------------------------------

_AS = calls("""
    np.{f}(a)
    np.{f}(a, dtype=a.dtype)
    np.{f}(a, dtype=np.complex64)
    np.{f}([a])
    np.{f}(a[::2] if a.ndim else a)
    np.{f}(a.T)
    np.{f}(a[:1] if a.ndim else a)
    np.{f}(a[()])
""")
_ORDERED = calls("""
    np.{f}(a, order='C')
    np.{f}(a, order='F')
    np.{f}(a, order='A')
    np.{f}(a, order='K')
    np.{f}(a, dtype=np.float32, order='F')
    np.{f}(a[..., ::2] if a.ndim else a, order='C')
    np.{f}(a.T, order='C')
    np.{f}(a.T, order='F')
    np.{f}(a, copy=True)
    np.{f}(a, copy=None)
    np.{f}(a, copy=False)
    np.{f}(a, copy=False, order='F')
    np.{f}(a, dtype='c8', copy=False)
""")
_MADE = [
    Row("asarray asanyarray array", _AS + _ORDERED),
    Row(
        "array",
        calls("""
        np.{f}(a, ndmin=3)
        np.{f}(a, ndmin=3, copy=None)
        np.{f}(a, ndmin=3, copy=False)
        np.{f}(a, copy=None, order='C', ndmin=1)
        np.{f}(a, copy=None, order='F', ndmin=4)
        np.{f}(a, subok=True, copy=None)
        np.{f}([a, b])
        np.{f}((a, a), copy=None)
    """),
    ),
    Row("ascontiguousarray asfortranarray", _AS),
    Row("asarray_chkfinite", (*_AS, "np.{f}(a, order='F')", "np.{f}(a, order='C')", "np.{f}(a.T, None, 'C')")),
    Row(
        "require",
        (
            *_AS,
            *calls("""
        np.{f}(a, requirements='C')
        np.{f}(a, requirements='F')
        np.{f}(a.T, requirements='C')
        np.{f}(a.T, requirements=['F_CONTIGUOUS'])
        np.{f}(a, requirements=['A', 'W'])
        np.{f}(a, requirements='W')
        np.{f}(a, requirements=['O'])
        np.{f}(a[1:] if a.ndim else a, requirements=['OWNDATA'])
        np.{f}(a[..., ::2] if a.ndim else a, requirements=['C', 'O'])
        np.{f}(a, requirements=['E'])
        np.{f}(a, np.float32, ['F'])
        np.{f}(a, a.dtype, ['C', 'A', 'W', 'O'])
    """),
        ),
    ),
    Row(
        "ix_",
        calls("""
        np.{f}(a)
        np.{f}(k)
        np.{f}(k, k)
        np.{f}(r, v)
        np.{f}(a.ravel(), k)
        np.{f}(m[0] if m.ndim > 1 else m, k)
        np.{f}([0, 1], k)
        np.{f}(r[:0], k)
    """),
    ),
    Row("meshgrid", ("np.{f}(r, v)", "np.{f}(r, v, copy=False)", "np.{f}(r, v, copy=False, sparse=True)",
                     "np.{f}(r, r, v, copy=False, indexing='ij')", "np.{f}(r, sparse=True)", "np.{f}(a, copy=False)")),
    Row("from_dlpack", ("np.{f}(a)",), FLOATS),
    Row("asmatrix matrix", ("np.{f}(a)", "np.{f}(a, a.dtype)"), ndim=(0, 2)),
    Row("bmat", ("np.{f}([[a, a]])",), ndim=(2, 2)),
    Row("fromiter", ("np.{f}(a.ravel(), a.dtype)",)),
    Row("copy", ("np.{f}(a)", "np.{f}(a, order='F')", "np.{f}(a, subok=True)")),
    Row("full", ("np.{f}((2, *a.shape), a)", "np.{f}(a.shape, a)"), ),
    Row("fromfunction", ("np.{f}(lambda *i: a, (2, 2))",)),
    Row("ndarray", ("np.{f}(a.shape, a.dtype, a)", "np.{f}(a.shape[:1], a.dtype, a)"), ),
    Row("diagflat vander", ("np.{f}(r)",), FLOATS, (1, 1)),
    Row("r_ c_", ("np.{f}[a]", "np.{f}[a, b]", "np.{f}[r]"), ndim=(1, 3)),
    Row("lib.stride_tricks.as_strided", ("np.{f}(a)", "np.{f}(a, a.shape[:1], a.strides[:1])", "np.{f}(a, writeable=False)", "np.{f}(a[::2], a[::2].shape[:1], a[::2].strides[:1])"), ndim=(1, 3)),
    Row("lib.stride_tricks.broadcast_to", ("np.broadcast_to(a, (2, *a.shape))", "np.broadcast_to(a, a.shape, subok=True)")),
    Row("lib.stride_tricks.sliding_window_view", ("np.{f}(a, 2, axis=0, writeable=True)", "np.{f}(a, (1,) * a.ndim, writeable=True)"), ndim=(1, 3)),
]  # fmt: skip

# -- options that decide -------------------------------------------------------------------------------------------------

_OF_NO_AXES = "sum prod max min amax amin any all mean std var ptp median nansum nanprod nanmax nanmin nanmean nanstd nanvar nanmedian count_nonzero average"
_OPTIONS = [
    Row(_OF_NO_AXES, ("np.{f}(a, axis=())", "np.{f}(a, axis=(), keepdims=True)")),
    Row("sum prod max min mean any all std var", ("np.{f}(a[None], axis=0)", "a.{f}(axis=())", "np.{f}(a[None], axis=0, keepdims=True)", "np.{f}(a, axis=(), out=out)")),
    Row("quantile percentile nanquantile nanpercentile", ("np.{f}(a, 0.5, axis=())", "np.{f}(a[None], 0.5, axis=0)"), REAL),
    Row("add multiply maximum logical_or", ("np.{f}.reduce(a, axis=())", "np.{f}.reduce(a[None])", "np.{f}.accumulate(a[:1])", "np.{f}.reduceat(a, [0])",
        "np.{f}.reduce(a, axis=0, out=o if a.ndim == 2 else None)", "np.{f}.accumulate(a, out=a)", "np.{f}.reduce(a, axis=(), out=a)", "np.{f}.reduceat(a, range(len(a)))"), ndim=(1, 3)),
    Row("cumsum cumprod nancumsum nancumprod", ("np.{f}(a[:1], axis=0)", "np.{f}(a, axis=0, out=a)", "np.{f}(r)"), ndim=(1, 3)),
    Row("cumulative_sum cumulative_prod", ("np.{f}(a[:1], axis=0)", "np.{f}(a, axis=0, out=a)"), ndim=(1, 3)),
    Row("diff", ("np.{f}(a, n=0)", "np.{f}(a, 0, axis=0)", "np.{f}(a, n=0, prepend=1)", "np.{f}(a.tolist(), n=0)", "np.{f}(a, prepend=a[:0], axis=0)"), ndim=(1, 3)),
    Row("linalg.matrix_power", ("np.{f}(a, 1)", "np.{f}(a, 0)", "np.{f}(a, 2)", "np.{f}(a, True)"), INEXACT, square=True, values="definite"),
    Row("apply_over_axes", ("np.{f}(np.sum, a, [])", "np.{f}(lambda x, axis: x, a, 0)", "np.{f}(np.sum, a, 0)", "np.{f}(lambda x, axis: x[:1], a, 0)",
        "np.{f}(lambda x, axis: (x.fill(1), np.sum(x, axis))[1], a, 0)"), ndim=(1, 3)),
    Row("apply_along_axis", ("np.{f}(lambda x: x, 0, a)", "np.{f}(lambda x: (x.fill(1), x.sum())[1], 0, a)", "np.{f}(lambda x: (x.fill(1), x.sum())[1], -1, a)",
        "np.{f}(lambda x: x[::-1], 0, a)", "np.{f}(lambda x: x.sort() or x[0], 0, a)", "np.{f}(lambda x: (x.__setitem__(0, 7), x)[1], -1, a)"), ndim=(1, 3)),
    Row("vectorize", ("np.{f}(lambda x: x)(a)",
        "np.{f}(lambda x: x, signature='(n)->(n)')(a)", "np.{f}(lambda x: x, signature='()->()')(a)"), ndim=(1, 3)),
    Row("piecewise", ("np.{f}(a, [m], [lambda x: x])", "np.{f}(a, [m, ~m], [lambda x: (x.fill(1), x)[1], 0])"), ndim=(1, 3)),
    Row("fromfunction", ("np.{f}(lambda i, j: i, (2, 3))",)),
    Row("polyder polyint", ("np.{f}(r, 0)", "np.{f}(r, 1)"), INEXACT, (1, 1)),
    Row("polyadd polysub", ("np.{f}(r, r)", "np.{f}(r, [])", "np.{f}(r, r[:0])"), ndim=(1, 1)),
    Row("polyval", ("np.{f}([1, 0], a)", "np.{f}([1], a)", "np.{f}(r[:1], a)"), INEXACT),
    Row("roots", ("np.{f}(r)", "np.{f}(r[:1])"), INEXACT, (1, 1)),
    Row("poly polymul polydiv", ("np.polydiv(r, [1.])", "np.polymul(r, [1.])", "np.polydiv(r[:1], r)"), INEXACT, (1, 1)),
    Row("nan_to_num", ("np.{f}(a, copy=False)", "np.{f}(a, copy=True)", "np.{f}(a, False)")),
    Row("real_if_close", ("np.{f}(a)", "np.{f}(a * (1 + 0j))", "np.{f}(a.astype(complex).real)"), INEXACT),
    Row("real imag angle conj conjugate absolute positive fix trunc rint floor ceil round around", ("np.{f}(a)", "np.{f}(np.{f}(a))")),
    Row("real imag", ("np.{f}(a.T)", "np.{f}(a[..., ::2])" , "np.{f}(np.{f}(a))"), INEXACT, (1, 3)),
    Row("histogram", ("np.{f}(a, v)", "np.{f}(a, r)", "np.{f}(a, np.sort(r), weights=w)"), FLOATS, (1, 2)),
    Row("histogram_bin_edges", ("np.{f}(a, v)",), FLOATS, (1, 2)),
    Row("histogram2d", ("np.{f}(a, a, [v, v])", "np.{f}(a, a, v)"), FLOATS, (1, 1)),
    Row("histogramdd", ("np.{f}(a, [v] * a.shape[-1])", "np.{f}((a, a), (v, v))"), FLOATS, (1, 2)),
    Row("einsum", ("np.{f}('...', a)", "np.{f}('...->...', a)", "np.{f}('...i->...i', a)", "np.{f}('...ij->...ji', a)", "np.{f}('...i->...', a)",
        "np.{f}('...i->...i', a, optimize=True)", "np.{f}(a, [..., 0], [..., 0])", "np.{f}('...i->...i', a, order='C')", "np.{f}('...i->...i', a, out=out)"), ndim=(0, 3)),
    Row("einsum", ("np.{f}('ii->i', a)", "np.{f}('ii', a)", "np.{f}('ij->ji', a)", "np.{f}('i...->...i', a)"), square=True),
    Row("astype", ("np.{f}(a, a.dtype)", "np.{f}(a, a.dtype, copy=False)", "np.{f}(a, np.complex128, copy=False)", "a.{f}(a.dtype, copy=False)",
        "a.{f}(a.dtype, order='C', copy=False)", "a.{f}(a.dtype, order='F', copy=False)", "a.{f}(a.dtype, order='A', copy=False)", "a.{f}(a.dtype)", "a.{f}(a.dtype, subok=False, copy=False)")),
    Row("reshape", ("np.{f}(a, a.shape)", "np.{f}(a, -1, order='F')", "np.{f}(a, -1, order='A')", "np.{f}(a, a.shape[::-1], order='A')", "np.{f}(a, -1, copy=None)",
        "np.{f}(a, a.shape, copy=True)", "np.{f}(a, -1, copy=False)", "np.{f}(a, (1, *a.shape, 1))", "a.{f}(a.shape)", "a.T.{f}(-1)", "a.{f}(-1, order='A')")),
    Row("ravel", ("np.{f}(a, 'A')", "np.{f}(a, 'F')", "np.{f}(a, 'K')", "np.{f}(a.T)", "a.{f}('F')", "a.{f}('K')", "np.{f}([a, a])")),
    Row("squeeze", ("np.{f}(a)", "np.{f}(a, ())", "np.{f}(a[None])", "a.{f}(())", "np.{f}(a[:1] if a.ndim else a)")),
    Row("transpose", ("np.{f}(a, range(a.ndim))", "a.{f}(range(a.ndim))", "np.{f}([a, b])", "a.T")),
    Row("rot90", ("np.{f}(a, 0)", "np.{f}(a, 4)", "np.{f}(a, 1)", "np.{f}(a, 2)"), ndim=(2, 3)),
    Row("flip", ("np.{f}(a, ())", "np.{f}(a, 0)", "np.{f}(a)"), ndim=(1, 3)),
    Row("roll", ("np.{f}(a, 0)", "np.{f}(a, (), axis=())", "np.{f}(a, 0, axis=0)"), ndim=(1, 3)),
    Row("fft.fftshift fft.ifftshift", ("np.{f}(a, axes=())", "np.{f}(a)", "np.{f}(a[:1], axes=0)"), ndim=(1, 3)),
    Row("fft.fft fft.ifft", ("np.{f}(a, out=out)", "np.{f}(a[:1], axis=0)"), "complex", (1, 2)),
    Row("fft.fftn fft.ifftn fft.fft2", ("np.{f}(a, axes=())", "np.{f}(a, axes=(), out=out)", "np.{f}(a, axes=(0,))"), INEXACT, (1, 2)),
    Row("tile", ("np.{f}(a, ())", "np.{f}(a, 1)", "np.{f}(a, (1, 1))")),
    Row("repeat", ("np.{f}(a, 1)", "np.{f}(a, 1, axis=0)", "np.{f}(a, [1], axis=0)"), ndim=(1, 3)),
    Row("pad", ("np.{f}(a, 0)", "np.{f}(a, ((0, 0),) * a.ndim, 'edge')", "np.{f}(a, 0, 'wrap')"), ndim=(1, 3)),
    Row("resize", ("np.{f}(a, a.shape)", "np.{f}(a, a.size)")),
    Row("insert delete append", ("np.delete(a, [])", "np.delete(a, [], axis=0)", "np.delete(a, slice(0), axis=0)", "np.insert(a, [], [])", "np.insert(a, [], 0, axis=0)",
        "np.append(a, [])", "np.append(a, a[:0], axis=0)"), ndim=(1, 3)),
    Row("concatenate vstack hstack dstack column_stack block stack concat", ("np.{f}([a])", "np.{f}((a,))")),
    Row("block", ("np.{f}(a)", "np.{f}([[a]])", "np.{f}([a, a[:0]])"), ndim=(1, 3)),
    Row("split array_split", ("np.{f}(a, 1)", "np.{f}(a, [])", "np.{f}(a, 1, axis=-1)"), ndim=(1, 3)),
    Row("unstack", ("np.{f}(a)", "np.{f}(a, axis=-1)", "np.{f}(a[:1])"), ndim=(1, 3)),
    Row("atleast_1d atleast_2d atleast_3d", ("np.{f}(a)", "np.{f}(a, a)", "np.{f}(a, b, r)", "np.{f}([a])")),
    Row("broadcast_arrays", ("np.{f}(a)", "np.{f}(a, a)", "np.{f}(a, r)", "np.{f}(r, a)", "np.{f}(a, 1)")),
    Row("broadcast_to", ("np.{f}(a, a.shape)", "np.{f}(r, a.shape)")),
    Row("trim_zeros", ("np.{f}(a)", "np.{f}(a, 'f', axis=())", "np.{f}(a, axis=0)", "np.{f}(a * 0)"), INTEGERS, (1, 2), values="count"),
    Row("diag", ("np.{f}(a)", "np.{f}(a, 1)", "np.{f}(np.{f}(a))"), ndim=(1, 2)),
    Row("diagonal linalg.diagonal", ("np.{f}(a)", "np.{f}(a, offset=9)"), ndim=(2, 3)),
    Row("tril triu", ("np.{f}(a, 9)", "np.{f}(a, -9)"), ndim=(1, 3)),
    Row("sort partition argsort", ("np.sort(a[:1], axis=0)", "np.sort(r[:1])", "np.partition(r[:1], 0)", "np.argsort(r[:1])"), ndim=(1, 3)),
    Row("sort_complex", ("np.{f}(a)",), "complex", (1, 2)),
    Row("unique unique_values", ("np.{f}(a)", "np.{f}(r[:1])"), ndim=(1, 2)),
    Row("take compress choose", ("np.take(a, range(len(a)), axis=0)", "np.take(a, 0, axis=0)", "np.compress([True] * len(a), a, axis=0)", "np.take(a, range(len(a)), axis=0, out=out)",
        "np.choose(np.zeros(a.shape, int), [a])", "np.choose(0, [a])", "np.choose(np.zeros(a.shape, int), [a, b], out=out)", "np.choose(0, [a, b], out=a)"), ndim=(1, 3)),
    Row("where select extract", ("np.where(True, a, a)", "np.where(m, a, a)", "np.where(np.ones(a.shape, bool), a, 0)", "np.select([m], [a])", "np.select([np.ones(a.shape, bool)], [a])", "np.select([True], [a])", "np.extract(np.ones(a.shape, bool), a)")),
    Row("clip", ("np.{f}(a, None, None)", "np.{f}(a, -99, 99)", "np.{f}(a, 1, 2, out=a)", "a.{f}(1, 2, out=a)", "a.{f}()")),
    Row("round", ("np.{f}(a, 3)", "a.{f}(out=a)", "np.{f}(a, out=out)", "a.{f}()", "np.{f}(a, -1)")),
    Row("unwrap", ("np.{f}(a[..., :1])", "np.{f}(a)"), FLOATS, (1, 2)),
    Row("interp", ("np.{f}(a, v, v)", "np.{f}(v, v, v)"), FLOATS),
    Row("gradient", ("np.{f}(a)", "np.{f}(a, axis=())", "np.{f}(a, axis=0)"), FLOATS, (1, 2)),
    Row("ediff1d trapezoid", ("np.ediff1d(a[:1])", "np.ediff1d(r, to_begin=v, to_end=v)", "np.ediff1d(r[:0], to_begin=v)", "np.ediff1d(r[:1], to_end=v)"), FLOATS, (1, 1)),
    Row("average", ("np.{f}(a, weights=w, returned=True)", "np.{f}(a, axis=0, weights=w, returned=True)", "np.{f}(a[:1], axis=0)"), FLOATS, (1, 2)),
    Row("cov corrcoef", ("np.{f}(a)",), FLOATS, (1, 2)),
    Row("cross dot inner outer kron matmul tensordot vdot", ("np.kron(a, 1)", "np.kron(a, [1])", "np.outer(a, [1])", "np.outer(a, r, out=None)", "np.dot(a, 1)", "np.dot(1, a)", "np.matmul(a, np.eye(a.shape[-1]))",
        "np.tensordot(a, 1, 0)", "np.inner(a, 1)"), INEXACT, (1, 2)),
    Row("linalg.multi_dot", ("np.{f}([a, a])", "np.{f}([a, a], out=out)"), INEXACT, square=True),
    Row("linalg.qr linalg.svd linalg.eigh linalg.inv linalg.pinv linalg.cholesky linalg.solve", ("np.linalg.qr(a)", "np.linalg.qr(a, 'r')", "np.linalg.qr(a, 'raw')", "np.linalg.svd(a)", "np.linalg.eigh(a)", "np.linalg.inv(a)",
        "np.linalg.pinv(a)", "np.linalg.cholesky(a)", "np.linalg.solve(a, a)", "np.linalg.solve(np.eye(3), a)", "np.linalg.lstsq(a, a)", "np.linalg.tensorinv(a, 1)", "np.linalg.svdvals(a)"), FLOATS, square=True, values="definite"),
    Row("lib.scimath.sqrt lib.scimath.log lib.scimath.power lib.scimath.arcsin", ("np.lib.scimath.power(a, 1)", "np.lib.scimath.sqrt(np.abs(a))", "np.lib.scimath.arcsin(a)"), FLOATS),
    Row("packbits unpackbits", ("np.{f}(a)", "np.{f}(a, axis=-1)"), "uint", (1, 2)),
    Row("unravel_index ravel_multi_index", ("np.unravel_index(k, (3,))", "np.unravel_index(k, (3, 1))", "np.ravel_multi_index((k,), (9,))", "np.unravel_index(k, 9)"), FLOATS, (1, 1)),
    Row("nonzero argwhere flatnonzero diag_indices_from tril_indices_from", ("np.nonzero(a)", "np.argwhere(a)", "np.flatnonzero(a)", "np.diag_indices_from(a)", "np.tril_indices_from(a)"), FLOATS, square=True),
    Row("intersect1d union1d setdiff1d setxor1d isin", ("np.intersect1d(r, r)", "np.union1d(r, r)", "np.setdiff1d(r, [], assume_unique=True)", "np.setdiff1d(r, v)", "np.setxor1d(r, [], assume_unique=True)", "np.setxor1d(r, v)", "np.isin(r, v)"), ndim=(1, 1)),
    Row("full_like zeros_like ones_like", ("np.full_like(a, a)", "np.full_like(a, a, order='F')", "np.zeros_like(a, subok=False)")),
    Row("zeros_like empty", ("np.asarray(a, like=a)", "np.array(a, like=a)", "np.ascontiguousarray(a, like=a)", "np.asfortranarray(a, like=a)", "np.require(a, like=a)", "np.asanyarray(a, like=a)",
        "np.asarray(a, order='F', like=a)", "np.array(a, copy=None, like=a)", "np.require(a, requirements='F', like=a)")),
    Row("copyto put putmask place fill_diagonal put_along_axis", ("np.copyto(a, b)", "np.copyto(a, b, where=m)", "np.put(a, [0], 7)", "np.putmask(a, m, 7)", "np.place(a, m, [7])", "np.fill_diagonal(a, 7)",
        "np.put_along_axis(a, np.zeros(a.shape, int), 7, 0)", "np.copyto(a[1:], a[:-1])", "np.copyto(a.T, b.T)", "np.put(a[::-1], [0], 7)"), ndim=(1, 3)),
]  # fmt: skip

# -- methods, attributes, operators, indices -----------------------------------------------------------------------------

_OWN = [
    Row("conj conjugate", ("a.{f}()", "a.T.{f}()")),
    Row("real imag T mT flat base data", ("a.real", "a.imag", "a.T", "a.mT if a.ndim > 1 else a", "a.flat[:]", "a.flat[[0]]", "a.flat[::2]", "a.flat.copy()", "[x for x in a.flat]", "a.real.imag", "a.flat.base")),
    Row("view", ("a.{f}()", "a.{f}(a.dtype)", "a.{f}('i8')", "a.{f}('u1')", "a[..., None].{f}('i4')", "a.T.{f}()", "a.{f}(np.ndarray)", "a.{f}(type=np.ndarray)"), FLOATS),
    Row("getfield", ("a.{f}(a.dtype)", "a.{f}('i4', 4)", "a.{f}('f4')"), FLOATS),
    Row("byteswap", ("a.{f}()", "a.{f}(True)"), INTEGERS),
    Row("copy flatten", ("a.{f}()", "a.{f}('F')", "a.{f}('A')", "a.{f}('K')", "copy.copy(a)", "copy.deepcopy(a)", "copy.deepcopy([a, a])", "a.__copy__()", "a.__deepcopy__({})")),
    Row("squeeze swapaxes transpose diagonal", ("a.squeeze()", "a[None].squeeze(0)", "a.swapaxes(0, -1)", "a.transpose()", "a.diagonal()", "a.swapaxes(0, 0)"), ndim=(1, 3)),
    Row("sort partition fill put itemset resize setfield", ("a.sort()", "a.sort(0)", "a.fill(7)", "a.put([0, 1], 7)", "a.setfield(7, a.dtype)", "a.T.sort()"), ndim=(1, 3)),
    Row("take repeat choose compress round clip cumsum cumprod", ("a.take(range(len(a)), 0)", "a.repeat(1, 0)", "a.compress([True] * len(a), 0)", "a.cumsum(0, out=a)", "a.cumsum(0, out=out)", "a[:1].cumsum(0)", "a.round()", "a.clip(0, 1)", "a.nonzero()", "a.dot(1)", "a.argsort(0)"), ndim=(1, 3)),
    Row("__getitem__", calls("""
        a[...]
        a[()]
        a[None]
        a[:]
        a[1:]
        a[::-1]
        a[:0]
        a[0]
        a[-1:]
        a[..., 0]
        a[..., None]
        a[..., ::2]
        a[0, ...]
        a[[0]]
        a[[True] * len(a)]
        a[m]
        a[k]
        a[k[:1]]
        a[True]
        a[None, True]
        a[np.newaxis, ..., 0]
        a[slice(None), None]
        a[k, ...]
        a[k[0]]
        a[:, None][..., ::-1]
        a[1:][:1][::-1]
        list(a)
        [x for x in a]
        a[list(range(len(a)))]
        (lambda first, *rest: first)(*a)
        a[np.True_]
        a.T[::-1]
        a[0:1].T
    """), ndim=(1, 3)),
    Row("__getitem__", ("a[()]", "a[...]", "a[None]", "a[..., None]", "a[True]", "a[(None,) * 2]"), ndim=(0, 0)),
    Row("__setitem__", calls("""
        a.__setitem__(0, 7)
        a.__setitem__(slice(None), b)
        a.__setitem__(m, 7)
        a.__setitem__(k, 7)
        a.__setitem__(Ellipsis, a[::-1])
        a[1:].__setitem__(Ellipsis, a[:-1])
        a.T.__setitem__(0, 7)
        a[0].__setitem__(Ellipsis, 7)
        a[::-1].__setitem__(0, 7)
        a.flat.__setitem__(slice(None, None, 2), 7)
        a.flat.__setitem__(0, 7)
        a.reshape(-1).__setitem__(0, 7)
        a[k].__setitem__(0, 7)
    """), ndim=(1, 3)),
    Row("__neg__ __pos__ __abs__", ("+a", "-a", "abs(a)", "a + 0", "a * 1", "a ** 1", "a / 1", "a - 0"), "int float complex"),
    Row("__iadd__ __imul__", ("a.__iadd__(b)", "a.__imul__(2)", "a.__iadd__(a)", "a.__isub__(a.T.T)", "a[1:].__iadd__(a[:-1])", "a.T.__iadd__(1)", "a[::-1].__imul__(a)"), FLOATS, (1, 3)),
    Row("__imatmul__", ("a.__imatmul__(b)",), FLOATS, square=True),
    Row("out", ("np.add(a, b, out=out)", "np.add(a, b, out)", "np.add(a, b, out=(out,))", "np.add(a, b, out=a)", "np.add(a, 1, out=a, where=m)", "np.sqrt(np.abs(a), out=out)", "np.add(a, b, out=a[::-1])", "np.add(a, r, out=a.T.T)",
        "np.modf(a, out, b)", "np.modf(a, out=(out, b))", "np.divmod(a, 2.0, out=(out, a))", "np.add.at(a, 0, 1)", "np.add.at(a, k, 1)", "np.subtract.outer(a, r)", "np.frexp(a, out, None)", "np.add(a, b, out=...)",
        "np.add(out, b, out=out)", "np.clip(a, 0, 1, out)", "np.matmul(a, np.eye(a.shape[-1]), out=out)", "np.cumsum(a, axis=0, out=out)", "np.concatenate([a[:1], a[1:]], out=out)", "np.sum(a, axis=0, out=o)", "np.mean(a, axis=0, out=o)",
        "np.dot(a, np.eye(a.shape[-1]), out=out)", "np.isposinf(a, out=m)", "np.fix(a, out=out)", "np.median(a, axis=0, out=o)", "np.std(a, 0, out=o)", "np.stack([a[0]] * len(a), out=out)", "np.choose(np.zeros(a.shape, int), [a], out=out)",
        "np.nanmax(a, axis=0, out=o)", "np.quantile(a, .5, axis=0, out=o)", "np.einsum('...i->...i', a, out=out)", "np.round(a, out=out)", "np.nancumsum(a, axis=0, out=out)", "np.ptp(a, 0, out=o)", "np.take(a, range(len(a)), 0, out)"), FLOATS, (2, 2)),
]  # fmt: skip

# -- what every run has --------------------------------------------------------------------------------------------------

ALWAYS = (
    # views and arguments themselves, where NumPy copies
    Case("np.ascontiguousarray(a[::2])", shape=(5,)),
    Case("np.asarray(a[::2], order='C')", shape=(5,)),
    Case("np.asfortranarray(a)"),
    Case("np.asfortranarray(a[::2])", shape=(5,)),
    Case("np.require(a.T, requirements='C')"),
    Case("np.max(a, axis=())", "D"),
    # copies, where NumPy's share memory
    Case("np.diff(a, n=0)", shape=(5,)),
    Case("np.ix_(a)", "l", (5,)),
    Case("np.apply_along_axis(lambda x: (x.fill(3), x.sum())[1], 1, a)"),
    Case("np.linalg.matrix_power(a, 1)", shape=(3, 3)),
    Case("np.apply_over_axes(np.sum, a, [])"),
    Case("np.asarray(a, dtype=a.dtype)", layout="broadcast"),
)
"""Where results once shared memory otherwise than NumPy's: of these the flags are the same too."""

# -- the product ---------------------------------------------------------------------------------------------------------

_DTYPES = {"bool": "?", "int": "lB", "uint": "B", "float": "df", "complex": "DF"}
_SQUARES = ((3, 3), (2, 3, 3))
_SHAPES = ((3, 4), (5,), (), (2, 3, 4), (1, 4), (0,), (0, 3))
_LAID = {(3, 4), (5,), (2, 3, 4), (3, 3)}
_AXIS = {"{axis}": ("0", "-1"), "{axes}": ("None", "0", "()", "(0, -1)")}

GROUPS: dict[str, list[Row]] = {
    "creation": _MADE, "options": _OPTIONS, "members": _OWN, "ufuncs": UFUNCS, "reductions": REDUCTIONS,
    "arrays": [*SHAPE, *ORDER, *CREATION, *METHODS], "numerics": [*ELEMENTS, *LINALG, *POLYNOMIALS],
}  # fmt: skip
"""Name -> rows: the first three are of this table, the others the grid's."""


def _filled(row: Row) -> Iterator[str]:
    """Each call of each function."""
    for name in row.names.split():
        for call in row.calls:
            text = call.replace("{f}", name.removeprefix("ndarray."))
            marker = re.search(r"\{ax[ie]s\}", text)
            yield from [text] if marker is None else [text.replace(marker[0], x) for x in _AXIS[marker[0]]]


def _cases_of(row: Row, call: str) -> Iterator[Case]:
    letters = dict.fromkeys("".join(_DTYPES[kind] for kind in row.dtypes.split()))
    first = "d" if "d" in letters else next(iter(letters))
    shapes = _SQUARES if row.square else tuple(s for s in _SHAPES if row.ndim[0] <= len(s) <= row.ndim[1])
    for shape in shapes:
        for layout in LAYOUTS if shape in _LAID else ("whole", "read-only"):
            yield Case(call, first, shape, layout, row.values)
    for letter in letters:
        yield Case(call, letter, shapes[0], "whole", row.values)
        yield Case(call, letter, shapes[0], "strided", row.values)


_BEYOND_THE_END = "np.fft.irfft", "np.fft.hfft"
"""Of an array without elements these make, in NumPy, what lies in the memory behind it."""


@functools.cache
def product(group: str) -> tuple[Case, ...]:
    """All cases of a group."""
    found = (case for row in GROUPS[group] for call in _filled(row) for case in _cases_of(row, call))
    return tuple(
        dict.fromkeys(case for case in found if not (0 in case.shape and case.call.startswith(_BEYOND_THE_END)))
    )


def drawn(group: str, share: float, seed: int) -> list[Case]:
    """So many cases of each call of a group, by chance; of a share below 1, that share of the calls."""
    numbers = random.Random(f"{seed} {group}")
    by_call: dict[str, list[Case]] = {}
    for case in product(group):
        by_call.setdefault(case.call, []).append(case)
    found = []
    for cases in by_call.values():
        count = int(share) + (numbers.random() < share % 1)
        found += numbers.sample(cases, min(count, len(cases)))
    return found


def functions(groups: Iterable[str] = GROUPS) -> set[str]:
    """The names of the functions in groups."""
    return {name for group in groups for row in GROUPS[group] for name in row.names.split()}
