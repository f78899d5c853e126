"""Arguments that NumPy refuses: arrays given as dtypes, orders, casts and flags that there are not, lengths below zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.runtime import settings

from .. import differential, oracle
from ..rows import each
from .test_creation_side import OURS

KEYWORDS: list[str] = [
    *(f"np.{f}(x, keepdims={k})" for f in ("sum", "prod", "max", "min", "any", "all", "mean", "std", "var", "ptp")
      for k in ("'x'", "2.5")),
    *(f"np.{f}(x, keepdims={k})" for f in ("max", "sum", "any", "nansum", "nanmax", "nanmean", "average", "count_nonzero")
      for k in ("None", "[1]", "np.True_")),
    "r=np.max(x, keepdims=2)", "r=np.sum(x, keepdims=np.array(0))", "r=x.sum(keepdims=1)", "x.sum(keepdims='x')",
    "r=np.median(x, keepdims='x')", "r=np.argmax(x, keepdims='x')", "np.add.reduce(x, keepdims='x')",
    "np.add.reduce(x, keepdims=None)", "np.vecdot(x, x, keepdims='x')", "np.vecdot(x, x, keepdims=1)",
    *(f"np.sin(x, order={order})" for order in ("'Q'", "3", "'bogus'", "x", "''")),
    *(f"r=np.add(t, 1, order={order})" for order in ("'c'", "None", "'F'")),
    *(f"np.add(x, 1, subok={k})" for k in ("'x'", "0", "None")), "r=np.add(x, 1, subok=False)",
    *(f"np.add(x, 1, casting={k})" for k in ("'bogus'", "3", "None")), "np.add.outer(i, i, order='Q')",
    "np.log2(x, x, order=x)", "np.divmod(x, 2, order='Q')", "np.matmul(s33, s33, subok='x')", "np.matmul(s33, s33, order='Q')",
    "x.copy('bogus')", "x.copy(order=3)", "r=x.copy('c')", "r=x.copy(None)", "np.copy(x, 'Q')", "r=t.copy('f')",
    *(f"np.{f}(x, order='Q')" for f in ("zeros_like", "ones_like", "empty_like")), "r=np.zeros_like(x, order='f')",
    "np.full_like(x, 1, order='Q')", "np.zeros_like(x, subok='x')", "x.astype('f4', subok='x')", "r=x.astype('f4', subok=0)",
    "np.concatenate([x, x], casting='bogus')", "np.stack([x, x], casting=3)", "np.concatenate([x, x], casting=None)",
    *(f"x.resize({shape})" for shape in ("True", "False", "(2, True)", "2.5", "'x'", "-1", "refcheck='x'", "3, refcheck=None")),
    "x.conj(...)", "c.conj(out=...)", "r=x.__deepcopy__(None)", "r=copy.deepcopy([x, x]); x[0]=9",
    "i.resize(np.array([2, 2]), refcheck=False)", "i.resize([2, 2], refcheck=0)",
]  # fmt: skip

MASKS: list[str] = [
    *(f"r=np.{f}(x, initial=0.0, where={mask})" for f in ("sum", "prod", "max", "min", "nansum", "nanprod", "nanmax", "nanmin")
      for mask in ("x", "np.arange(4)", "c", "[2.0, 0.0, 1.0, 1.0]", "2.0", "np.int64(0)", "np.array(1)", "None")),
    *(f"r=np.{f}(x, where={mask})" for f in ("any", "all", "mean", "nanmean")
      for mask in ("x", "np.arange(4)", "[2.0, 0.0, 1.0, 1.0]", "3", "np.array(1)")),
    *(f"np.{f}(x, where={mask})" for f in ("std", "var", "nanstd", "nanvar") for mask in ("x", "np.arange(4)", "np.array(1)")),
    *(f"r=x.{f}(where={mask})" for f in ("sum", "any", "mean") for mask in ("x", "[1, 0, 1, 1]", "2.5")),
    *(f"r=np.add(x, 1, out=x, where={mask})" for mask in ("x", "[1, 0, 1, 1]", "2.5", "np.array(1)")),
    *(f"np.copyto(x, 7, where={mask})" for mask in ("x", "[1, 0, 1, 1]", "2.5", "np.array(1)")),
]  # fmt: skip
"""An array that is a mask is of booleans; the numbers of lists are masks by their truth."""

OVERWRITTEN: list[str] = [
    *(f"a={array}; a.flags.writeable=False; r=np.{call}" for array in ("x.copy()", "x[:, ::2]", "x[1]", "x.T", "e", "i")
      for call in ("median(a, None, None, True)", "median(a, -1, overwrite_input=True)", "nanmedian(a, overwrite_input=True)",
                   "nanmedian(a, 0, None, True)", "percentile(a, 40, None, None, True)", "quantile(a, 0.4, 0, overwrite_input=True)",
                   "nanpercentile(a, 40, overwrite_input=True)", "nanquantile(a, 0.4, 0, None, True)")),
    *(f"a={array}; a.flags.writeable=False; r=np.nan_to_num({call})" for array in ("x", "z")
      for call in ("a, copy=False", "a, False", "x=a, copy=False", "a")),
    "a=x.T; a.flags.writeable=False; r=np.median(a, axis=(0, 1), overwrite_input=True)", "r=np.median(a=i, overwrite_input=True)",
    "a=t[:, ::2]; a.flags.writeable=False; r=np.quantile(a, 0.5, axis=(0, 1), overwrite_input=True)",
    "i.flags.writeable=False; r=np.median(overwrite_input=True, a=i)", "i.flags.writeable=False; r=np.median(i)",
]  # fmt: skip
"""NumPy refuses to overwrite a read-only array, if it would not overwrite a copy of it."""

AS_DTYPES: list[str] = [
    "r=x.astype(i)", "r=x.view(i)", "r=x.getfield(i)", "r=np.dtype(x).str", "r=np.sum(x, dtype=i)", "r=x.sum(0, i)", "r=np.mean(x, 0, i)",
    "r=np.std(x, None, i)", "r=np.cumsum(x, 0, i)", "r=np.trace(x, 0, 0, 1, i)", "r=np.zeros_like(x, i)", "r=np.full_like(x, 1, i)",
    "r=np.concatenate([x, x], dtype=i)", "r=np.einsum('ij->', x, dtype=i)", "r=np.add(x, 1, dtype=i)", "r=np.add.reduce(x, 0, i)",
    "r=np.linspace(x, 1, 3, dtype=i)", "r=np.astype(x, i)", "r=np.can_cast('f8', x)", "r=np.promote_types(x, i).str",
    "r=np.array([1, 2], i).tolist()", "r=np.frombuffer(b'12345678', x).tolist()", "r=np.sum(x, 0, np.arange(3))",
    "r=np.asarray(x, dtype=i)",
]  # fmt: skip
"""An array has a dtype, and is none."""

AS_INTEGERS: list[str] = [
    f"w=new({axis}); r=np.{call}" for axis in ("[1]", "1", "1.0", "[0, 1]", "True")
    for call in ("sum(x, axis=w)", "sum(x, w)", "cumsum(x, w)", "sort(x, w)", "argmax(x, w)", "repeat(x, 2, w)", "take(x, [0], w)",
                 "concatenate([x, x], w)", "stack([x, x], axis=w)", "diff(x, w)", "diff(x, axis=w)", "std(x, ddof=w)", "var(x, 0, None, None, w)",
                 "mean(x, w)", "median(x, w)", "nansum(x, axis=w)", "trace(x, w)", "fft.fft(x, w)", "fft.fft(x, axis=w)", "moveaxis(x, w, 0)",
                 "trapezoid(x, axis=w)", "round(x, w)", "linspace(x, 1, w)", "linalg.norm(x, axis=w)", "tensordot(x, x.T, w)", "roll(x, 1, w)",
                 "compress([True], x, w)", "sum([1.0, 2.0], axis=w)", "insert(x, 0, 0, w)", "flip(x, w)", "count_nonzero(x, w)",
                 "cumsum(a=x, axis=w)", "sort(axis=w, a=x)", "cumsum(a=x, axis=0)", "take(indices=[0], a=x, axis=0)")
]  # fmt: skip
"""For an axis, or another integer, NumPy takes an integer array of no dimensions, and the libraries others."""

MADE_WITH_DTYPES: list[str] = [
    "zeros(3, w)", "ones(3, w)", "empty(3, dtype=w)", "full(3, 1, w)", "arange(3, dtype=w)", "eye(2, dtype=w)", "tri(2, dtype=w)",
    "linspace(0, 1, 3, dtype=w)", "identity(2, w)", "indices((2,), w)", "array([1, 2], w)", "array(w, w)", "asarray(w, w)",
    "asarray([1], w)", "ascontiguousarray([1], w)", "tril_indices(w)", "triu_indices(2, 0, w)",
]  # fmt: skip

asked_for_a_dtype = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.4.0",
    reason="inapplicable: NumPy takes the dtype of what has one, and asks no more",
)


@each("program", KEYWORDS)
def test_keywords(backend: str, program: str) -> None:
    differential.check(program, backend)


@each("program", MASKS)
def test_masks(backend: str, program: str) -> None:
    differential.check(program, backend)


@each("program", OVERWRITTEN)
def test_read_only_arrays_are_not_overwritten(backend: str, program: str) -> None:
    with ad.fallback("error"):
        differential.check(program, backend)


WORDS: list[str] = [
    "np.linalg.solve(s, v)", "np.linalg.solve(s, x.T)", "np.linalg.solve(s, 3.0)", "np.linalg.solve(many, more)",
    "np.linalg.solve(many, np.ones((2, 4)))", "np.linalg.tensorsolve(s, v)", "np.linalg.tensorsolve(x, np.ones(3))",
    "np.linalg.lstsq(s * np.nan, np.ones(3))", "many @ more", "np.matvec(many, more[..., 0])", "np.vecmat(many[0], more)",
    "np.vecdot(x, x.T)", "np.vecdot(many, more)", "np.partition(v, -9)", "np.argpartition(v, 9)", "np.searchsorted(v, 1, side='x')",
    "np.repeat(v, -1)", "np.repeat(v, [-1])", "np.repeat(v, [1, 2, 3])", "np.copyto(v, 1, where=[True, False, True])",
    "np.copyto(v, 1, where=[[True, False, True]])", "np.fft.rfft(v * 1j)",
    "x[[2, 3, 9], [0, 1, 0]]", "x[[0, 7, -9]]", "x[:, [7, 4]]", "x[[0, 7], [9, 1]]", "v[np.array([[1, 7], [-9, 2]])]",
    "v.__setitem__([7, -9], 1)", "x.__setitem__(([1, 5], [9, 2]), 1)", "np.take(x, [99, -100])", "np.take(x, [5, -9], axis=1)",
    "np.take_along_axis(x, np.array([[7, 9], [1, 2], [0, 0]]), 1)", "np.put(v, [8, -9], 1)", "np.add.at(v, [7, -9], 1)",
    "np.delete(v, [9, -10])", "np.insert(v, [9, -10], 1)", "np.choose([5, 7, 9], [v, v])", "x.flat[[99, -100]]",
    *(f"np.einsum({call})" for call in (
        "'ij,jk', x, x", "'ij,jk', x", "'ij', x, x", "'i', x", "'ii', x", "'i->ii', v", "'i%', v", "'...i->i', x", "'ij->k', x", "'ij->ij...k', x",
        "'ij,jk,kl->il', s, x, x", "'ij,jk,kl->il', s, x, x, optimize=True", "'ij,jk->ik', x, x, optimize='greedy'", "x, [0, 1], x, [1, 2]",
        "x, [0, 1], [0, 0]")),
    *(f"np.{call}" for axis in ("1.5", "True", "np.True_", "7") for call in (
        f"prod(x, axis={axis})", f"max(x, axis=(0, {axis}))", f"argmax(x, axis={axis})", f"cumsum(x, axis={axis})", f"repeat(x, 2, axis={axis})",
        f"take(x, [0], axis={axis})", f"concatenate([x, x], axis={axis})", f"compress([1], x, axis={axis})", f"argsort(x, axis={axis})",
        f"argpartition(x, 1, axis={axis})", f"add.accumulate(x, axis={axis})", f"add.reduceat(x, [0], axis={axis})")),
    "v == np.zeros(2, 'f8,i4')", "v != np.zeros(2, 'V8')[0]", "x == np.zeros(2, 'f8,i4')[0]", "x != np.array(['a', 'b', 'c'])",
    "np.sort(x, axis=1.5)", "np.diff(x, axis=1.5)",
]  # fmt: skip
"""Calls whose errors programs and tests recognize by NumPy's words."""


@each("call", WORDS)
def test_errors_have_numpys_words(backend: str, call: str) -> None:
    rng = np.random.default_rng(4)
    shapes = {"s": (3, 3), "v": (2,), "x": (3, 2), "many": (2, 3, 3), "more": (4, 3, 3)}
    given = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    theirs = oracle.evaluate(call, given)
    ours = oracle.evaluate(call, {name: oracle.wrapped(backend, value) for name, value in given.items()})
    assert isinstance(theirs, Exception)
    assert (type(ours), str(ours)) == (type(theirs), str(theirs))


@asked_for_a_dtype
@each("program", AS_DTYPES)
def test_no_array_is_a_dtype(backend: str, program: str) -> None:
    differential.check(program, backend)


@each("program", AS_INTEGERS)
def test_arrays_given_for_integers(backend: str, program: str) -> None:
    differential.check(program, backend)


@pytest.mark.parametrize("call", ["np.diff(x, w)", "np.fft.fft(x, w)", "np.std(x, ddof=w)", "np.trapezoid(x, axis=w)"])
def test_arrays_given_for_integers_where_calls_are_recorded(call: str) -> None:
    x, w = np.arange(12.0).reshape(3, 4), np.array(1)
    with ad.backend("jax"), ad.execution("compiled"):
        ours: Any = oracle.evaluate(call, {"x": ad.asarray(x), "w": ad.asarray(w)})
    np.testing.assert_allclose(np.asarray(ours), oracle.evaluate(call, {"x": x, "w": w}), rtol=1e-12)


@asked_for_a_dtype
@each("call", MADE_WITH_DTYPES)
def test_what_makes_arrays_takes_none_for_a_dtype_or_a_length(backend: str, call: str) -> None:
    with ad.backend(backend):
        ours: Any = oracle.evaluate(f"ours.{call}", {"ours": OURS, "w": ad.asarray(np.arange(3))})
    theirs = oracle.evaluate(f"np.{call}", {"w": np.arange(3)})
    assert isinstance(theirs, Exception)
    assert type(ours) is type(theirs), ours


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="inapplicable: copy=False copies where needed"
)
@pytest.mark.parametrize("order", list("CFKA"))
def test_an_order_that_needs_a_copy(backend: str, order: str) -> None:
    x = np.arange(12.0).reshape(3, 4)
    for view in ("x", "x.T", "x[:, ::2]", "x[:0]", "x[0]", "x[0, ::2]"):
        scope = {"ours": OURS, "x": oracle.wrapped(backend, x), "order": order}
        with ad.backend(backend):
            ours: Any = oracle.evaluate(f"ours.array({view}, copy=False, order=order)", scope)
        theirs = oracle.evaluate(f"np.array({view}, copy=False, order=order)", {"x": x, "order": order})
        assert type(ours) is type(theirs) or isinstance(theirs, np.ndarray), view
        assert isinstance(ours, Exception) == isinstance(theirs, Exception), view


@asked_for_a_dtype
def test_a_scalar_is_a_dtype_as_numpys_are(backend: str) -> None:
    x = oracle.wrapped(backend, np.arange(3.0))
    with settings.scalars_context("device"):
        assert np.dtype(x.sum()) == np.float64
