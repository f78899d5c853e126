"""Products of vectors, matrices and tensors, contractions and convolutions against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

from .. import limits, oracle
from ..rows import each

_PAIRS = [
    "{f}(f5, p5)",
    "{f}(f5, neg5)",
    "{f}(c5, f5)",
    "{f}(f5, c5)",
    "{f}(b5, b5)",
    "{f}(i5, f5)",
    "{f}(i5, i5)",
    "{f}(i5, k5)",
    "{f}(e0, e0)",
    "{f}(f0, i0)",
    "{f}(f0, f5)",
    "{f}(f5, 2)",
    "{f}(g34[0], 2.0)",
    "{f}(f5, [1, 2, 3, 4, 5])",
    "{f}([1, 2, 3, 4, 5], f5)",
    "{f}(f5, np.arange(5))",
    "{f}(f5, f6)",
    "{f}(u34[0], s34[1])",
    "{f}(s34[0], s34[1])",
    "{f}(h34[0], h34[1])",
    "{f}(g34[0], f34[1])",
    "{f}(d34[0], f34[1])",
    "{f}(d34[0], d34[1])",
]
_MATRICES = [
    "{f}(f34, f5)",
    "{f}(f34, f34)",
    "{f}(f34, ft34)",
    "{f}(f33, sq33)",
    "{f}(f33, sq33.T)",
    "{f}(c34[:, :3], cs33)",
    "{f}(f33, sq33[0])",
    "{f}(sq33[0], f33)",
    "{f}(b34[:, :3], b34[:, 1:])",
    "{f}(i34[:, :3], u34[:, 1:])",
    "{f}(u34[:, :3], u34[:, 1:])",
    "{f}(s34[:, :3], s34[:, 1:])",
    "{f}(g34[:, :3], i34[:, 1:])",
    "{f}(h34[:, :3], h34[:, 1:])",
    "{f}(sq233, f33)",
    "{f}(f33, sq233)",
    "{f}(sq233, sq233)",
    "{f}(sq233, f33[0])",
    "{f}(f33[0], sq233)",
    "{f}(e03, f33)",
    "{f}(f33, e03)",
    "{f}(f34, f0)",
]

_STACKS = [
    "{f}(f34, ft34)",
    "{f}(c34, f34)",
    "{f}(f34, c34)",
    "{f}(f34, f34[0])",
    "{f}(f234, f34[0])",
    "{f}(f234, f234[:1])",
    "{f}(e03, e03)",
    "{f}(f34, f34[:2])",
    "{f}(f34, f34[:, :1])",
    "{f}(f34, 2)",
]

CASES: dict[Any, list[str]] = {
    np.dot: [c.format(f="np.dot") for c in _PAIRS + _MATRICES]
    + [
        "np.dot(f234, f2345)",
        "np.dot(f234, np.swapaxes(f234, 1, 2))",
        "np.dot(a=f33, b=f33)",
        "np.dot(f33, f33, out=sq33)",
    ],
    np.vdot: [c.format(f="np.vdot") for c in _PAIRS]
    + ["np.vdot(f34, ft34)", "np.vdot(c34, c34)", "np.vdot(d34, f34)", "np.vdot(f34, st34)", "np.vdot(f34, f5)"],
    np.inner: [c.format(f="np.inner") for c in _PAIRS + _MATRICES] + ["np.inner(f234, f34)", "np.inner(f34, f234)"],
    np.outer: [c.format(f="np.outer") for c in _PAIRS]
    + [
        "np.outer(f34, f5)",
        "np.outer(b34, b5)",
        "np.outer(2, f5)",
        "np.outer(2.0, f0)",
        "np.outer(f5, [1, 2], out=None)",
    ],
    np.linalg.outer: [
        "np.linalg.outer(f5, i5)",
        "np.linalg.outer(c5, f6)",
        "np.linalg.outer(f34, f5)",
        "np.linalg.outer(f5, 2)",
    ],
    np.kron: [
        "np.kron(f34, sq33)",
        "np.kron(f5, f34)",
        "np.kron(f34, f5)",
        "np.kron(f234, i34)",
        "np.kron(u34, s34)",
        "np.kron(b34, b5)",
        "np.kron(c5, g34)",
        "np.kron(f0, f5)",
        "np.kron(f0, i0)",
        "np.kron(f5, 2)",
        "np.kron([1, 2], f5)",
        "np.kron(e0, f5)",
        "np.kron(e03, f33)",
    ],
    np.matmul: [c.format(f="np.matmul") for c in _PAIRS + _MATRICES]
    + [
        "np.matmul(f234, np.swapaxes(f234, 1, 2))",
        "np.matmul(f2345, np.swapaxes(f2345, 2, 3))",
        "np.matmul(f2345[:, :1], np.swapaxes(f2345, 2, 3))",
        "np.matmul(f234, f2345[0])",
        "np.matmul(f234, f234)",
        "np.matmul(f2345, f2345[:, :2].swapaxes(2, 3))",
        "np.matmul(f34, f34, axes=[(0, 1), (1, 0), (0, 1)])",
        "np.matmul(f34, f34, axes=[(1, 0), (0, 1), (1, 0)])",
        "np.matmul(f34, f34[0], axes=[(0, 1), (0,), (0,)])",
        "np.matmul(f34, f34[0], axes=[(0, 1), 0, 0])",
        "np.matmul(f5, f5, axes=[0, 0, ()])",
        "np.matmul(f5, f5, axes=[0, 0])",
        "np.matmul(f234, f234, axes=[(1, 2), (2, 1), (0, 1)])",
        "np.matmul(f34, f34, axes=[(0, 1), (1, 0)])",
        "np.matmul(f34, f34, axes=((0, 1), (1, 0), (0, 1)))",
        "np.matmul(f34, f34, axes=[(0,), (1, 0), (0, 1)])",
        "np.matmul(f34, f34, axes=[(0, 5), (1, 0), (0, 1)])",
        "np.matmul(f34, f34, axes=[(0, 0), (1, 0), (0, 1)])",
        "np.matmul(f34, f34, axes=[1, (1, 0), (0, 1)])",
        "np.matmul(f33, f33, axis=0)",
        "np.matmul(f33, f33, keepdims=True)",
        "np.matmul(i34, i34.T, dtype='f4')",
        "np.matmul(f33, f33, dtype='f4')",
        "np.matmul(f33, f33, out=sq33)",
        "f33 @ sq33",
        "[1, 2, 3] @ f33",
    ],
    np.vecdot: [c.format(f="np.vecdot") for c in _PAIRS + _STACKS]
    + [
        "np.vecdot(f34, f34, axis=0)",
        "np.vecdot(c34, c34, axis=-2)",
        "np.vecdot(f34, f34, keepdims=True)",
        "np.vecdot(f34, f34, axis=0, keepdims=True)",
        "np.vecdot(f34, f34, axes=[0, 0])",
        "np.vecdot(f34, f34, axes=[0, 0, ()])",
        "np.vecdot(f34, f34, axes=[0, 0, 0], keepdims=True)",
        "np.vecdot(f34, f34, axes=[0, 0], keepdims=True)",
        "np.vecdot(f234, f234, axes=[1, (1,)], keepdims=True)",
        "np.vecdot(f34, f34, axis=0, axes=[0, 0])",
        "np.vecdot(f34, f34, axis=2)",
        "np.vecdot(f5, f5, keepdims=True)",
    ],
    np.matvec: [
        "np.matvec(f34, f34[0])",
        "np.matvec(c34, c34)",
        "np.matvec(sq233, f33[0])",
        "np.matvec(sq233, f33[:2])",
        "np.matvec(f33, sq233)",
        "np.matvec(b34, b34[0])",
        "np.matvec(i34, f34[0])",
        "np.matvec(f34, f34[0], axes=[(0, 1), 0, 0])",
        "np.matvec(f34, f5)",
        "np.matvec(f5, f5)",
        "np.matvec(sq233, f34[:, :3])",
        "np.matvec(f33, f33, axis=0)",
    ],
    np.vecmat: [
        "np.vecmat(f34[:, 0], f34)",
        "np.vecmat(c34[:, 0], c34)",
        "np.vecmat(f33[0], sq233)",
        "np.vecmat(f33[:2], sq233)",
        "np.vecmat(sq233, f33)",
        "np.vecmat(f5, f34)",
        "np.vecmat(f34, f5)",
        "np.vecmat(f34[0], f34, axes=[0, (1, 0), 0])",
    ],
    np.linalg.matmul: ["np.linalg.matmul(f33, sq233)", "np.linalg.matmul(f5, f5)", "np.linalg.matmul(f33, f34)"],
    np.linalg.vecdot: [
        "np.linalg.vecdot(c34, f34)",
        "np.linalg.vecdot(f34, f34, axis=0)",
        "np.linalg.vecdot(f5, f5)",
        "np.linalg.vecdot(f5, f6)",
    ],
    np.tensordot: [
        "np.tensordot(f34, f34)",
        "np.tensordot(f34, f34, 0)",
        "np.tensordot(f34, f34.T, 1)",
        "np.tensordot(f234, f34, axes=((1, 2), (0, 1)))",
        "np.tensordot(f234, f34, axes=([2, 1], [1, 0]))",
        "np.tensordot(f2345, f234, axes=((0, 2), (0, 2)))",
        "np.tensordot(f34, f34, axes=(0, 0))",
        "np.tensordot(f34, f34, axes=(-1, -1))",
        "np.tensordot(i34, u34, axes=(0, 0))",
        "np.tensordot(b34, b34, axes=(0, 0))",
        "np.tensordot(c34, g34, axes=(0, 0))",
        "np.tensordot(e03, e03, axes=(0, 0))",
        "np.tensordot(f0, f5, 0)",
        "np.tensordot(f0, 2, 0)",
        "np.tensordot([1, 2, 3], f34, 1)",
        "np.tensordot(f34, f34, 3)",
        "np.tensordot(f34, f34, 1)",
        "np.tensordot(f34, f34, axes=([0, 0], [0, 0]))",
        "np.tensordot(f34, f34, axes=([5], [0]))",
        "np.tensordot(f34, f34, axes=([0, 1], [0]))",
        "np.tensordot(f34, f34, 1.0)",
        "np.tensordot(f34, f34, -1)",
    ],
    np.linalg.tensordot: ["np.linalg.tensordot(f34, f34)", "np.linalg.tensordot(f34, f34, axes=(0, 0))"],
    np.trace: [
        "np.trace(f34)",
        "np.trace(f34, 1)",
        "np.trace(f34, offset=-2)",
        "np.trace(f34, 7)",
        "np.trace(f34, -7)",
        "np.trace(f234)",
        "np.trace(f2345, axis1=1, axis2=-1)",
        "np.trace(f2345, 1, 3, 0)",
        "np.trace(ft34)",
        "np.trace(st34)",
        "np.trace(b34)",
        "np.trace(s34)",
        "np.trace(u34, dtype='u1')",
        "np.trace(i34, dtype=float)",
        "np.trace(h34)",
        "np.trace(c34)",
        "np.trace(e03)",
        "np.trace([[1, 2], [3, 4]] + i0)",
        "np.trace(f5)",
        "np.trace(f34, axis1=1, axis2=1)",
        "np.trace(f34, axis1=3)",
        "np.trace(f34, 1.5)",
        "np.trace(f234, out=np.zeros(4) + f0)",
    ],
    np.linalg.trace: [
        "np.linalg.trace(f34)",
        "np.linalg.trace(f234, offset=1)",
        "np.linalg.trace(b34, dtype='i4')",
        "np.linalg.trace(f5)",
    ],
    np.linalg.diagonal: [
        "np.linalg.diagonal(f34)",
        "np.linalg.diagonal(f234, offset=1)",
        "np.linalg.diagonal(f234, offset=-2)",
        "np.linalg.diagonal(f34, offset=9)",
        "np.linalg.diagonal(f5)",
    ],
    np.linalg.matrix_transpose: [
        "np.linalg.matrix_transpose(f234)",
        "np.linalg.matrix_transpose(f34)",
        "np.linalg.matrix_transpose(f5)",
    ],
    np.cross: [
        "np.cross(f33, sq33)",
        "np.cross(f33, sq33[0])",
        "np.cross(sq233, f33)",
        "np.cross(f34, f34, axis=0)",
        "np.cross(f34, g34, 0, 0, 0)",
        "np.cross(f34, sq33[0], axisa=0)",
        "np.cross(sq233, sq233, axisc=0)",
        "np.cross(i34[:, :3], u34[:, :3])",
        "np.cross(u34[:, :3], u34[:, 1:])",
        "np.cross(cs33, f33)",
        "np.cross(h34[:, :3], h34[:, 1:])",
        "np.cross(f33, [1, 2, 3])",
        "np.cross([1, 2, 3], f33)",
        "np.cross(f34[:, :2], f33)",
        "np.cross(f33, f34[:, :2])",
        "np.cross(f34[:, :2], f34[:, 2:])",
        "np.cross(f34[0, :2], f34[0, 2:])",
        "np.cross(e03, e03)",
        "np.cross(b34[:, :3], b34[:, :3])",
        "np.cross(f34, f34)",
        "np.cross(f0, f34)",
        "np.cross(f33, f33, axis=2)",
        "np.cross(f33, sq33, axisc=2)",
    ],
    np.linalg.cross: [
        "np.linalg.cross(f33, sq33)",
        "np.linalg.cross(f33, sq33, axis=0)",
        "np.linalg.cross(f34[:, :2], f34[:, :2])",
    ],
    np.convolve: [
        f"np.convolve({a}, {v}{mode})"
        for a, v in (("f5", "f6"), ("f6", "f5"), ("f6", "[1, -1]"), ("c5", "f6"), ("i5", "k5"), ("s34[0]", "s34[1]"))
        for mode in ("", ", 'same'", ", mode='valid'")
    ]
    + [
        "np.convolve(b5, b5)",
        "np.convolve(h34[0], h34[1])",
        "np.convolve(g34[0], 2.0)",
        "np.convolve(f0, f0)",
        "np.convolve(f5, f0)",
        "np.convolve(nan6, f5)",
        "np.convolve(f6, nan6[:2], 'same')",
        "np.convolve(e0, f5)",
        "np.convolve(f5, e0)",
        "np.convolve(f34, f5)",
        "np.convolve(f5, f5, 'bogus')",
        "np.convolve(f5, f5, 5)",
        "np.convolve(f5, f5, None)",
    ],
    np.correlate: [
        f"np.correlate({a}, {v}{mode})"
        for a, v in (("f5", "f6"), ("f6", "f5"), ("f6", "[1, -1]"), ("[1, -1]", "f6"), ("c5", "f6"), ("f6", "c5"))
        for mode in ("", ", 'same'", ", mode='full'")
    ]
    + [
        "np.correlate(c5, c5[:2], 'full')",
        "np.correlate(c5[:2], c5, 'full')",
        "np.correlate(c5[:2], c5, 'same')",
        "np.correlate(c5[:3], c5)",
        "np.correlate(u34[0], u34[1], 'full')",
        "np.correlate(b5, b5, 'full')",
        "np.correlate(f5, f5)",
        "np.correlate(e0, f5)",
        "np.correlate(f5, e0)",
        "np.correlate(f0, f5)",
        "np.correlate(f34, f5)",
        "np.correlate(f5, f5, 'bogus')",
    ],
    np.einsum: [
        "np.einsum('ij,jk', f33, sq33)",
        "np.einsum('ij,jk->ki', f34, f34.T)",
        "np.einsum('ij,kj->ik', f34, ft34)",
        "np.einsum('ij,ij', f34, f34)",
        "np.einsum('ij,ij->i', f34, f34)",
        "np.einsum('ij,ij->ij', f34, i34)",
        "np.einsum('i,j', f5, f6)",
        "np.einsum('i,j->ji', f5, f6)",
        "np.einsum('ij,j', f34, f34[0])",
        "np.einsum('i,ij', f33[0], f34)",
        "np.einsum('i,i', f5, neg5)",
        "np.einsum('ii', sq33)",
        "np.einsum('ii->i', sq33)",
        "np.einsum('jii->ij', sq233)",
        "np.einsum('iii->i', np.broadcast_to(sq233[:, :, 0], (2, 2, 3))[:, :, :2] + f0)",
        "np.einsum('ij->ji', f34)",
        "np.einsum('ij->', f34)",
        "np.einsum('ij->j', f34)",
        "np.einsum('ij', f34)",
        "np.einsum('ba', f34)",
        "np.einsum('bA', f34)",
        "np.einsum('...', f0)",
        "np.einsum('->', f0)",
        "np.einsum(',', f0, 2)",
        "np.einsum('ij,->ij', g34, 2.0)",
        "np.einsum('bij,bjk->bik', sq233, sq233)",
        "np.einsum('bij,jk->bik', sq233, f33)",
        "np.einsum('bij,bij->b', sq233, sq233)",
        "np.einsum('bij,b->ij', sq233, f34[:2, 0])",
        "np.einsum('bij,bjk->kib', sq233, sq233)",
        "np.einsum('abcd,bcd->da', f2345, f2345[0])",
        "np.einsum('abcd,acb->d', f2345, np.swapaxes(f234, 1, 2))",
        "np.einsum('...ij,...jk->...ik', sq233, f33)",
        "np.einsum('...ij,...jk', sq233, sq233)",
        "np.einsum('...j,j...->...', f34, f34.T)",
        "np.einsum('...,...', f34, f34[0])",
        "np.einsum('i...->...', f234)",
        "np.einsum('i...->...i', f234)",
        "np.einsum('...i', f234)",
        "np.einsum('ij,jk', f34[:, :1], f34.T)",
        "np.einsum('ij,ij->ij', f34[:, :1], f34)",
        "np.einsum('ij,ij->i', f34[:, :1], f34)",
        "np.einsum('ij,jk,kl', f34, f34.T, sq33)",
        "np.einsum('ij,jk,kl->il', f34, f34.T, sq33, optimize='optimal')",
        "np.einsum('ij,jk,kl->il', f34, f34.T, sq33, optimize=['einsum_path', (0, 1), (0, 1)])",
        "np.einsum('ij,ij,ij->i', f34, f34, i34)",
        "np.einsum('i,j,k->kji', f5, f33[0], f34[0])",
        "np.einsum('ij,ik,il->jkl', f34, f33, f34)",
        "np.einsum('ii,ij,j', sq33, f33, f33[0])",
        "np.einsum('...i,ij,...j->...', sq233, f33, sq233)",
        "np.einsum(f34, [0, 1], [1, 0])",
        "np.einsum(f34, [0, 1])",
        "np.einsum(f34, [1, 0])",
        "np.einsum(f34, [0, 1], f34, [2, 1])",
        "np.einsum(sq233, [..., 0, 1], f33, [1, 2], [..., 0, 2])",
        "np.einsum('ij->', b34)",
        "np.einsum('ij,kj', b34, b34)",
        "np.einsum('ij,kj->', s34, s34)",
        "np.einsum('ij->', s34)",
        "np.einsum('ij,kj', u34, s34)",
        "np.einsum('ij,kj', h34, h34)",
        "np.einsum('ij->i', h34)",
        "np.einsum('ij,kj', d34, f34)",
        "np.einsum('ij,kj', c34, c34)",
        "np.einsum('ij,ik', e03, e03)",
        "np.einsum('ij->', e03)",
        "np.einsum('ij,jk', f33, [[1, 2], [3, 4], [5, 6]])",
        "np.einsum('ij,jk', f33, sq33, dtype='c16')",
        "np.einsum('ij,jk', f33, sq33, dtype='f4')",
        "np.einsum('ij,jk', f33, sq33, dtype='f4', casting='same_kind')",
        "np.einsum('ij,jk', f33, sq33, order='F')",
        "np.einsum('ij,jk->ik', f33, sq33, out=cs33)",
        "np.einsum('ij,jk', f34, f34)",
        "np.einsum('ii', f34)",
        "np.einsum('ij', f34, f34)",
        "np.einsum('ijk', f34)",
        "np.einsum('i', f34)",
        "np.einsum('ij->k', f34)",
        "np.einsum('ij->ii', f34)",
        "np.einsum('i$', f34)",
        "np.einsum('ij->ij->i', f34)",
        "np.einsum('i.j->', f34)",
        "np.einsum('...i->i', f34)",
        "np.einsum(f34, [0, 60])",
        "np.einsum(f34, [0, 'a'])",
        "np.einsum(f34)",
        "np.einsum('ij', f34, foo=2)",
    ],
    np.einsum_path: [
        "np.einsum_path('ij,jk,kl', f34, f34.T, sq33)",
        "np.einsum_path('ij,jk', f33, f33, optimize='optimal')",
        "np.einsum_path('ij,jk', f34, f34)",
    ],
}


@each("expression", CASES)
def test_as_numpy(expression: str, backend: str) -> None:
    # float16: libraries accumulate in other orders and widths than NumPy's loops do.
    oracle.check(expression, backend)


@each("n, m", [(3000, 3), (400, 60), (3000, 7), (3000, 2500), (60, 400), (5000, 1100)])
@each("mode", ["full", "same", "valid"])
@each("dtype", ["f8", "c16", "i4"])
def test_long_convolution(n: int, m: int, mode: str, dtype: str, backend: str) -> None:
    rng = np.random.default_rng(n + m)
    a, v = (rng.normal(size=k) * 10 for k in (n, m))
    if dtype == "c16":
        a, v = a + 1j * a[::-1], v - 1j * v[::-1]
    a, v = a.astype(dtype), v.astype(dtype)
    with ad.backend(backend), ad.fallback("error"):
        ours_a, ours_v = ad.asarray(a), ad.asarray(v)
        for f in (np.convolve, np.correlate):
            oracle.compare(f(ours_a, ours_v, mode), f(a, v, mode), f"{f.__name__} {mode}", 1e-10)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # inf * 0
def test_long_convolution_with_nan_stays_local(backend: str) -> None:
    a, v = np.ones(2000), np.linspace(0, 1, 50)
    a[700] = np.nan
    a[1500] = np.inf
    with ad.backend(backend), ad.fallback("error"):
        oracle.compare(np.convolve(ad.asarray(a), ad.asarray(v)), np.convolve(a, v), "convolve", 1e-10)


def test_a_product_in_a_body_is_the_librarys_and_leaves_the_operator_so(backend: str) -> None:
    a = ad.asarray(np.arange(9.0).reshape(3, 3), backend=backend)
    with a.backend.within():
        made = a.backend.xp.matmul(a.native, [1.0, 0.0, 2.0])
    assert ad.to_numpy(ad.wrap(made)).tolist() == [4, 13, 22]
    with ad.fallback("error"):
        assert (a @ a)[0].tolist() == [15, 18, 21]


LONG = {
    "dot": np.dot, "inner": np.inner, "vdot": np.vdot, "matmul": np.matmul, "vecdot": np.vecdot,
    "einsum": lambda x, y: np.einsum("i,i", x, y),
    "squared norm": lambda x, y: np.linalg.norm(x) ** 2,
}  # fmt: skip


@each("name", list(LONG))
@each("dtype", ["f4", "c8", "f8"])
def test_a_long_product_is_not_summed_one_by_one(name: str, dtype: str, backend: str) -> None:
    """Of sums in blocks or halves the error is of the order of log(n) · eps, of one after another up to n · eps."""
    n = 300_000
    parts = np.random.default_rng(7).normal(size=(2, n))
    x = (parts[0] + 1j * parts[1] if dtype == "c8" else parts[0]).astype(dtype)
    exact = LONG[name](*(x.astype("c16" if dtype == "c8" else "f8"),) * 2)
    with ad.backend(backend), ad.fallback("error"):
        ours = ad.asarray(x)
        made = complex(LONG[name](ours, ours))
    scale = float(np.vdot(x, x).real)
    assert abs(made - exact) <= limits.MOVES * np.log2(n) * np.finfo(dtype).eps * scale
