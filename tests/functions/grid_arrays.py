"""How the grid calls what moves, picks, orders and makes elements, and the methods."""

from __future__ import annotations

from .grid_row import BITS, INEXACT, INTEGERS, REAL, Row, calls

# -- shape and layout ----------------------------------------------------------------------------------------------------

SHAPE = [
    Row(
        "np.reshape",
        calls("""
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
        calls("""
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
        calls("""
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
        calls("""
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
        calls("""
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
        calls("""
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
