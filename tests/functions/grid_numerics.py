"""How the grid calls what computes: calculus, products, linear algebra, transforms, polynomials."""

from __future__ import annotations

from .grid_row import INEXACT, REAL, Row

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
        ("np.sort({f}(a)[0].real)", "(lambda w, v: a @ v - v * w[..., None, :] + a)(*{f}(a))"),
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
