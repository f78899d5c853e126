"""Views and writes alias as NumPy's do, on libraries whose arrays cannot be written too."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import arraydispatch as ad
from arraydispatch.view_programs import compile_view

from . import oracle

PROGRAMS = {
    "a view writes through": "v = x[1:, ::2]; v[...] = -1",
    "a view of a view": "x[1:][:, 1:][0] = 7",
    "a base write is read by a view": "v = x[:, 1]; x[...] = x * 2; r = v + 0",
    "transpose": "x.T[0] = 5",
    "reshape views": "x.reshape(-1)[3:6] = 9",
    "reshape of a transpose copies": "x.T.reshape(-1)[...] = 9",
    "ravel views": "x.ravel()[0] = 9",
    "flatten copies": "x.flatten()[0] = 9",
    "negative steps": "x[::-1, ::-1][0, 0] = 8",
    "negative step read": "r = x[::-2, ::-1] * 2",
    "in-place operator on a view": "x[1:] += 10",
    "in-place on a row": "x[0] *= 3",
    "in-place is seen by views": "v = x[0]; x += 1; r = v * 1",
    "overlapping copy": "x[1:] = x[:-1]",
    "overlapping reversed copy": "x[:-1] = x[1:]",
    "overlapping ufunc": "np.add(x[1:], x[:-1], out=x[1:])",
    "own transpose": "s = x[:3, :3]; s += s.T",
    "swap": "x[0], x[1] = x[1].copy(), x[0].copy()",
    "integer arrays": "x[[0, 2], [1, 3]] = 4",
    "integer arrays copy": "y = x[[0, 1]]; y[...] = 0",
    "mask": "x[x > 0] = 0",
    "mask in place": "x[x < 0] *= -1",
    "newaxis and ellipsis": "x[None, ..., 1][0, 2] = 6",
    "diagonal is read-only": "r = np.diagonal(x) + 0",
    "broadcast value": "x[...] = np.arange(4)",
    "leading ones broadcast": "x[0] = np.ones((1, 1, 4))",
    "scalar copy": "s = x[0, 0]; x[0, 0] = 5; r = s",
    "zero-d view": "z = x[0, 0, ...]; z[...] = 3",
    "ufunc at": "np.add.at(x, ([0, 0], [1, 1]), 5)",
    "out is a view": "np.multiply(x, 2, out=x[:, :])",
    "where and out": "np.sqrt(abs(x), out=x, where=x > 0)",
    "fill": "x.fill(2)",
    "sort in place": "x.sort(axis=0)",
    "split views": "a, b = np.split(x, 2, axis=1); a[...] = 0",
    "swapaxes": "np.swapaxes(x, 0, 1)[1] = 0",
    "flip views": "np.flip(x, 0)[0] = 1",
    "expand_dims": "np.expand_dims(x, 1)[:, 0, 2] = 1",
    "shape in place": "x.shape = (4, 3); x[3] = 1",
    "iteration": "r = [float(v) for row in x for v in row]",
    "flat": "x.flat[5] = 1; x.flat[::3] = [7, 8]",
    "strided window": "x[::2, 1::2] = x[::2, ::2]",
    "assign to all from a list": "x[1] = [1, 2, 3, 4]",
    "augmented power": "x **= 2",
    "int truncation": "y = np.zeros_like(x, dtype=int); y[...] = x; r = y * 1",
}
BAD = {
    "shapes": ("x[0] = np.ones(3)", ValueError),
    "bounds": ("x[5]", IndexError),
    "bounds of an array": ("x[[0, 7]]", IndexError),
    "write bounds": ("x[5] = 1", IndexError),
    "write bounds of an array": ("x[[0, 7]] = 1", IndexError),
    "mask length": ("x[[True, False]]", IndexError),
    "float index": ("x[1.5]", IndexError),
    "too many": ("x[0, 0, 0]", IndexError),
    "operand shapes": ("x + np.ones(3)", ValueError),
    "read-only": ("np.broadcast_to(x, (2, 3, 4))[...] = 1", ValueError),
    "casting": ("y = np.ones(3, int); y = x[:, 0].astype(int); y += 0.5", TypeError),
    "out shape": ("np.add(x, x, out=x[0])", ValueError),
}


def run(program: str, x: Any) -> dict[str, Any]:
    scope: dict[str, Any] = {"np": np, "x": x}
    exec(program, scope)
    return scope


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_leave_what_numpy_leaves(backend: str, name: str) -> None:
    theirs = run(PROGRAMS[name], oracle.ARRAYS["f34"].copy())
    with ad.backend(backend), ad.fallback("error"):
        ours = run(PROGRAMS[name], oracle.wrapped(backend, oracle.ARRAYS["f34"]))
    for variable in ("x", "r"):
        if variable in theirs:
            np.testing.assert_array_equal(np.asarray(ours[variable]), np.asarray(theirs[variable]), err_msg=name)


@pytest.mark.parametrize("name", BAD)
def test_errors_are_numpys_and_change_nothing(backend: str, name: str) -> None:
    program, error = BAD[name]
    with pytest.raises(error):
        run(program, oracle.ARRAYS["f34"].copy())
    x = oracle.wrapped(backend, oracle.ARRAYS["f34"])
    with pytest.raises(error):
        run(program, x)
    np.testing.assert_array_equal(ad.to_numpy(x), oracle.ARRAYS["f34"])


def test_identity_of_views(backend: str) -> None:
    x = oracle.wrapped(backend, oracle.ARRAYS["f34"])
    v = x[1:, ::-1]
    assert v.base is x
    assert x.base is None
    assert v[0:1].base is x
    assert v.strides == oracle.ARRAYS["f34"][1:, ::-1].strides
    assert np.shares_memory(v, x)
    assert not np.shares_memory(x.copy(), x)
    assert not np.shares_memory(x[0], x[1])
    assert x.flags.c_contiguous
    assert x.T.flags.f_contiguous
    assert x.flags.owndata
    assert not v.flags.owndata
    x.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        x += 1


def test_scalars_are_numpys_own_on_the_cpu(backend: str) -> None:
    x = oracle.wrapped(backend, oracle.ARRAYS["f34"])
    for s in (x[0, 0], x.sum(), np.max(x), x.mean(), np.add.reduce(x, axis=None), x[0] @ x[1]):
        assert type(s) is np.float64
    assert type((x > 0).any()) is np.bool_
    assert isinstance(x[0, 0, ...], ad.Array)
    zero_d = oracle.wrapped(backend, np.array(2.0))
    assert type(zero_d + 1) is np.float64
    assert isinstance(zero_d.astype(np.float32), ad.Array)


def test_scalars_can_be_forced_to_the_device(backend: str) -> None:
    from arraydispatch import settings as ad_settings

    x = oracle.wrapped(backend, oracle.ARRAYS["f34"])
    with ad_settings.scalars_context("device"):
        s = x.sum()
        assert isinstance(s, ad.Scalar)
        assert f"{s:.3f}" == f"{oracle.ARRAYS['f34'].sum():.3f}"
        t = s
        s += 1
        assert float(s) == pytest.approx(float(t) + 1)
        assert {t: 1}[t] == 1
        with pytest.raises(TypeError, match="item assignment"):
            t[...] = 1
        element = x[0, 0]
        assert isinstance(element, ad.Scalar)
        x[0, 0] = 99
        assert float(element) == oracle.ARRAYS["f34"][0, 0]
        n = oracle.wrapped(backend, np.arange(5)).sum()
        assert [*range(3)][n - 8] == 2
        assert round(x[1, 1], 2) == round(oracle.ARRAYS["f34"][1, 1], 2)


def test_copies_and_pickles(backend: str) -> None:
    x = oracle.wrapped(backend, oracle.ARRAYS["f34"])
    for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.copy()):
        assert made.backend.name == backend
        made[0, 0] = 50
        assert float(x[0, 0]) == oracle.ARRAYS["f34"][0, 0]
    view = pickle.loads(pickle.dumps(x[::-1, ::2]))
    np.testing.assert_array_equal(ad.to_numpy(view), oracle.ARRAYS["f34"][::-1, ::2])


def test_printing_is_numpys(backend: str) -> None:
    x = oracle.wrapped(backend, oracle.ARRAYS["f34"])
    assert repr(x) == repr(oracle.ARRAYS["f34"])
    assert str(x) == str(oracle.ARRAYS["f34"])


def test_leaves_that_require_grad_say_how_to_write_them() -> None:
    torch = pytest.importorskip("torch")
    leaf = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).requires_grad_()
    x = ad.wrap(leaf)
    writes = [
        "x[0] = 1",
        "x[[0]] = 1",
        "x[x > 2] = 0",
        "x += 1",
        "x.fill(2)",
        "x[::-1][0] = 1",
        "x.sort()",
        "x.T[0] = 1",
    ]
    for write in (*writes, "np.add(x, 1, out=x)", "np.copyto(x, 1)", "np.add.at(x, [0], 1)", "x.flat[0] = 1"):
        with pytest.raises(ValueError, match="no_grad"):
            run(write, x)
    np.testing.assert_array_equal(ad.to_numpy(x), np.arange(6.0).reshape(2, 3))
    with torch.no_grad():
        x[0] = 7
    assert leaf.tolist()[0] == [7, 7, 7]
    doubled = x * 2
    doubled[0] = 0
    doubled.native.sum().backward()
    assert leaf.grad.tolist() == [[0, 0, 0], [2, 2, 2]]


@pytest.mark.parametrize("how", ["conjugate", "imaginary part of a conjugate", "negative"])
def test_lazy_signs_are_read_written_and_given_away(how: str) -> None:
    torch = pytest.importorskip("torch")
    z = torch.tensor([1 + 2j, 3 - 1j, 2 + 0j], dtype=torch.complex128)
    native = {
        "conjugate": z.conj,
        "imaginary part of a conjugate": lambda: z.conj().imag,
        "negative": lambda: torch._neg_view(torch.arange(3.0, dtype=torch.float64)),
    }[how]()
    assert native.is_conj() or native.is_neg()
    x = ad.wrap(native)
    expected = np.array(native.tolist())
    for look in (
        ad.to_numpy, np.array, np.from_dlpack, np.asarray, lambda x: np.array(x.tolist()), lambda x: pickle.loads(pickle.dumps(x)),
        lambda x: torch.from_dlpack(x).numpy(), lambda x: x[::-1][::-1], lambda x: x.copy(), lambda x: x * 1, lambda x: x[[0, 1, 2]],
        *(lambda x, name=name: ad.convert(x, name) for name in ad.available_backends()),
    ):  # fmt: skip
        np.testing.assert_array_equal(np.array(look(x)), expected)
    for write in ("x[0] = 9", "x[1:] = [7, 5]", "x[[0]] = 3", "x += 1", "x[::-1][0] = 4", "x[x == 4] = 6", "x *= x"):
        run(write, x)
        run(write, expected)
        np.testing.assert_array_equal(np.array(native.tolist()), expected, err_msg=write)


@st.composite
def _views(draw: st.DrawFn) -> tuple[tuple[int, ...], np.ndarray[Any, Any]]:
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    x = np.arange(int(np.prod(shape))).reshape(shape)
    view = x
    for _ in range(draw(st.integers(0, 4))):
        step = draw(st.sampled_from(["slice", "transpose", "reshape", "newaxis", "integer"]))
        if step == "slice" and view.ndim:
            key = tuple(
                slice(draw(st.none() | st.integers(-6, 6)), draw(st.none() | st.integers(-6, 6)),
                      draw(st.sampled_from([None, 1, 2, 3, -1, -2]))) for _ in view.shape
            )  # fmt: skip
            view = view[key]
        elif step == "transpose":
            view = view.transpose(draw(st.permutations(range(view.ndim))))
        elif step == "reshape" and view.size % 2 == 0 and view.flags.c_contiguous and view.size:
            view = view.reshape(2, -1)
        elif step == "newaxis":
            view = view[None]
        elif view.ndim and view.shape[0]:
            view = view[draw(st.integers(0, view.shape[0] - 1)), ...]
    return shape, view


@given(_views())
@settings(max_examples=300, deadline=None)
def test_compiled_views_read_and_write(case: tuple[tuple[int, ...], np.ndarray[Any, Any]]) -> None:
    shape, view = case
    root = np.arange(int(np.prod(shape))).reshape(shape)
    base = view
    while base.base is not None:
        base = base.base
    offset = (view.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // view.itemsize
    program = compile_view(
        shape, offset if view.size else 0, view.shape, tuple(s // view.itemsize for s in view.strides)
    )
    backend = ad.backend("numpy")
    np.testing.assert_array_equal(program.read(backend, root), view)
    if view.size:
        fresh = -1 - np.arange(view.size).reshape(view.shape)
        expected = root.copy()
        expected.reshape(-1)[view.reshape(-1)] = fresh.reshape(-1)
        np.testing.assert_array_equal(program.write(backend, root.copy(), fresh), expected)
