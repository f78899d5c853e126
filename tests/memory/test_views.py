"""Views and writes alias as NumPy's do, on libraries whose arrays cannot be written too."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import arraydispatch as ad
from arraydispatch.memory.view_programs import compile_view
from tests import oracle

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
    from arraydispatch.runtime import settings as ad_settings

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
    assert np.array_repr(x) == repr(oracle.ARRAYS["f34"])
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


LAZY = {
    "a conjugate": (lambda t: t.conj(), np.conj),
    "a conjugate's transpose": (lambda t: t.mH, lambda n: n.conj().T),
    "a part of a conjugate": (lambda t: t.conj()[:, 1:], lambda n: n.conj()[:, 1:]),
    "a negative": (lambda t: t.conj().imag, lambda n: n.conj().imag),
    "the real part of a conjugate": (lambda t: t.conj().real, lambda n: n.conj().real),
}
READ = [
    "x.real", "x.imag", "x.view('f8')", "x.view('i8')", "x.T.imag", "x[0].real", "x[::-1, 1:].imag", "x.copy().view('f8')",
    "x.ravel().view('f8')", "np.real(x.conj())", "x.imag.view('i8')", "x.getfield('f8')", "x.getfield('f8', 8)",
]  # fmt: skip
WRITTEN = [
    "x.real = 7", "x.imag = 7", "x.imag[0] = 7", "x[::-1].imag[0] = 3", "x.T.real[...] += 1", "np.add(x.imag, 1, out=x.imag)",
    "x.imag[:] = x.imag[::-1]", "x[0] = 2", "x[0].imag *= 2",
]  # fmt: skip


@pytest.mark.parametrize("how", LAZY)
def test_parts_of_what_is_lazily_signed(how: str) -> None:
    """Memory whose values a library has yet to conjugate or negate is read rightly, and written rightly or not at all."""
    torch = pytest.importorskip("torch")
    make, numpys = LAZY[how]
    values = np.arange(1.0, 7).reshape(2, 3) + 1j * np.arange(10.0, 16).reshape(2, 3)
    complex_only = values.dtype == numpys(values).dtype
    for look in READ:
        x = ad.wrap(make(torch.from_numpy(values.copy())))
        plain = numpys(values).copy() if "view" in look else numpys(values)
        if "view" in look and not (plain.flags.c_contiguous and x.flags.c_contiguous):
            continue
        if "8)" in look and not complex_only:
            continue
        with ad.fallback("silent"):
            got = eval(look, {"x": x, "np": np})
        np.testing.assert_array_equal(np.asarray(got), eval(look, {"x": plain, "np": np}), err_msg=look)
    for write in WRITTEN:
        if "imag" in write and not complex_only:
            continue
        tensor, plain = make(torch.from_numpy(values.copy())), numpys(values).copy()
        x = ad.wrap(tensor)
        run(write, x)
        run(write, plain)
        np.testing.assert_array_equal(np.asarray(x), plain, err_msg=write)
        np.testing.assert_array_equal(np.array(tensor.tolist()), plain, err_msg=write)
    if complex_only and make(torch.from_numpy(values)).is_contiguous():
        x = ad.wrap(make(torch.from_numpy(values.copy())))
        with ad.fallback("silent"), pytest.raises(ValueError, match="read-only"):
            x.view("f8")[...] = 1
        with pytest.raises(TypeError, match="in place"):
            x.dtype = "f8"


def test_a_variable_gives_its_value() -> None:
    """Neither an array nor a variable sees what is written to the other, however the one came into the other."""
    tf = pytest.importorskip("tensorflow")
    variable = tf.Variable([1.0, 2.0, 3.0])
    with ad.backend("tensorflow"), ad.fallback("silent"):
        zeros = [ad.asarray(np.zeros(3, "f4")) for _ in range(5)]
        zeros[0][:] = variable
        zeros[1][np.array([True] * 3)] = variable
        np.copyto(zeros[2], variable)
        np.put(zeros[3], [0, 1, 2], variable)
        np.add(zeros[4], variable, out=zeros[4])
        wrapped = ad.wrap(variable)
        made = [
            *zeros, wrapped, wrapped[:], ad.asarray(variable), np.atleast_1d(variable, zeros[0])[0],
            np.asarray(variable, like=zeros[0]), np.broadcast_arrays(zeros[0], variable)[1], np.full_like(zeros[0], variable),
        ]  # fmt: skip
        variable.assign([9.0, 9.0, 9.0])
        variable.assign_add([1.0, 1.0, 1.0])
        assert [x.tolist() for x in made] == [[1.0, 2.0, 3.0]] * len(made)
        wrapped[0] = 100
        assert variable.numpy().tolist() == [10.0, 10.0, 10.0]
        assert wrapped.tolist() == [100, 2, 3]
        with tf.GradientTape() as tape:
            made_of_it = ad.wrap(variable) * 2 + zeros[0] * variable
        assert tape.gradient(made_of_it.native, variable).numpy().tolist() == [3, 4, 5]
        compiled = tf.function(lambda: (ad.wrap(variable) + 1).native)
        assert compiled().numpy().tolist() == [11, 11, 11]
        variable.assign([0.0, 0.0, 0.0])
        assert compiled().numpy().tolist() == [1, 1, 1]


PARTS = "v = np.broadcast_arrays(z.imag[:1], z.real)[0]"
WINDOWS = "v = np.lib.stride_tricks.sliding_window_view({}, 2, axis=1, writeable=True)"
REPEATED = [
    "v = np.broadcast_arrays(z.real, z.real[None])[1]; v[...] = V(v)",
    "v = np.broadcast_arrays(z.imag[:, :1], z.real)[0]; v[...] = V(v)",
    "v = np.broadcast_arrays(z.real[None, :1], z.imag[:, None])[0]; v[1, 0] = 5; v[..., ::-1] = V(v)",
    f"{PARTS}; v += 1",
    f"{PARTS}; v[[0, 1]] = V(v[[0, 1]])",
    f"{PARTS}; v[v > 0] = 3",
    f"{PARTS}; v.flat = V(v.ravel())",
    f"{PARTS}; np.copyto(v, V(v)); np.put(v, [1, 5], 8); np.add(v, 1, out=v)",
    f"{PARTS}; v.fill(3)",
    "v = np.meshgrid(z.real[0], z.imag[1], copy=False)[1]; v[...] = V(v)",
    "v = np.broadcast_arrays(f.T.real[0], f.real.T)[0]; v[...] = V(v)",
    "v = np.broadcast_arrays(x[::-1, :1], x)[0]; v[...] = V(v)",
    "v = np.broadcast_arrays(x[:1].view('i4'), np.zeros((3, 8)))[0]; v[...] = 7; v[:, 1] = 9",
    "v = np.broadcast_arrays(z[:0].real, z[:1].real)[1]; v[...] = 3",
    WINDOWS.format("z.imag") + "; v[...] = V(v)",
    WINDOWS.format("z.T.imag") + "; v[1:, 0] = V(v[1:, 0])",
    WINDOWS.format("z.view('f8')") + "; v[...] = V(v)",
    WINDOWS.format("x.T") + "; v[...] = V(v)",
    WINDOWS.format("x.view('u1')") + "; v[...] = np.arange(v.size).reshape(v.shape) % 256",
]


def test_what_is_written_to_repeated_elements_of_another_dtype(backend: str, drawn: Callable[..., list[Any]]) -> None:
    """TensorFlow, whose arrays are as immutable, runs all programs in each run."""
    wrong = []
    for program in drawn(REPEATED, backend, 3):
        held = []
        for make in (lambda v: v.copy("K"), lambda v: ad.asarray(v.copy("K"), backend=backend)):
            numbers = np.random.default_rng(0).normal(size=(2, 3, 4))
            z, f = numbers[0] + 1j * numbers[1], np.asfortranarray(numbers[1] + 1j)
            space = {"np": np, "z": make(z), "f": make(f), "x": make(numbers[0])}
            space["V"] = lambda v, make=make: make(np.arange(v.size, dtype=float).reshape(v.shape))
            with ad.fallback("silent"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(program, space)
            held.append([np.asarray(space[name]) for name in "zfx"])
        if not all(map(np.array_equal, *held)):
            wrong.append(program)
    assert wrong == []


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
