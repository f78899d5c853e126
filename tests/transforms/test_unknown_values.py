"""Values that a program does not know: named with their line, wherever they are used or left behind."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import arraydispatch as ad


def host(x):
    return np.asarray(x)


def _halve(a):
    while a.sum() > 1:
        a = a / 2
    return a


LOOKS = {
    "if": (lambda a: a if a.sum() > 0 else -a, r"bool\(\).*np.where.*ad.while_loop"),
    "while": (_halve, r"bool\(\).*ad.while_loop"),
    "float": (lambda a: float(a[0]), r"float\(\).*ad.host_call"),
    "int": (lambda a: int(a[0]), r"int\(\).*static_argnums"),
    "index": (lambda a: a[a[0].astype(int)] if False else [1][a[0].astype(int)], r"an index.*static_argnums"),
    "range": (lambda a: list(range(a[0].astype(int))), r"an index.*static_argnums"),
    "zeros": (lambda a: np.zeros(a[0].astype(int)), r"an index.*static_argnums"),
    "full": (lambda a: np.full((2, np.argmax(a)), 1.0), r"an index.*static_argnums"),
    "format": (lambda a: "%d" % a[0].astype(int), r"int\(\).*static_argnums"),  # noqa: UP031 - what a user may write
    "item": (lambda a: a.max().item(), r"item\(\)"),
    "tolist": (lambda a: a.tolist(), r"tolist\(\)"),
    "asarray": (np.asarray, "ndarray"),
    "written": (lambda a: np.zeros(2).__setitem__(slice(None), a), "ndarray.*np.zeros_like"),
    "mask": (lambda a: a[a > 1], "the shape of a result is a value.*np.where.*size="),
    "lstsq": (
        lambda a: np.linalg.lstsq(np.stack([a, a**2]), a)[0],
        r"the rank that np.linalg.lstsq finds.*np.linalg.pinv\(a\) @ b",
    ),
    "nonzero": (np.nonzero, "the shape of a result is a value.*size="),
    "unique": (np.unique, "a value is needed"),
    "repeat": (lambda a: np.repeat(a, a.astype(int)), "a value is needed"),
    "host": (lambda a: np.sum(a, dtype="longdouble"), r"np.sum runs on the host.*ad.host_call"),
}


@pytest.mark.parametrize("look", LOOKS)
def test_values_that_are_not_known(library, look):
    fun, said = LOOKS[look]
    x = ad.asarray([1.0, 2.0])
    with pytest.raises(ad.TraceError, match=said) as caught:
        ad.jit(fun)(x)
    assert "which ad.jit traces" in str(caught.value)
    assert "test_unknown_values.py:" in str(caught.value)
    assert look in ("while", "asarray", "nonzero", "unique") or "<lambda>()" in str(caught.value)
    assert isinstance(caught.value, TypeError)


def _raised_where_large(a):
    a[a > 1] += 5
    return np.sum(a**2)


INSIDE = {
    "mask": (_raised_where_large, r"np.where.*ad.masked"),
    "lstsq": (
        lambda a: np.sum(np.linalg.lstsq(np.stack([a, a**2]), a)[0]),
        r"np.linalg.pinv\(a\).*ad.host_call.*ad.custom_gradient",
    ),
    "if": (lambda a: a[0] if a[0] > 0 else a[1], r"np.where.*ad.while_loop"),
    "float": (lambda a: a[0] * float(a[1]), r"keep it an array.*ad.host_call.*ad.custom_gradient"),
}


@pytest.mark.parametrize("look", INSIDE)
def test_derivatives_inside_programs_are_of_unknown_values(look, library):
    """The way out of the program is told: what helps a derivative alone (``ad.stop_gradient``) knows no value here."""
    fun, said = INSIDE[look]
    for transform, x in ((ad.jit, [1.0, 2.0]), (ad.vmap, [[1.0, 2.0], [2.0, 3.0]])):
        if transform is ad.vmap and (look, library) == ("lstsq", "jax"):
            continue  # a batch of values has ranks
        with pytest.raises(ad.TraceError, match=said) as caught:
            transform(ad.grad(fun))(ad.asarray(x))
        said_ = str(caught.value)
        assert f"which ad.{transform.__name__} traces" in said_
        assert "test_unknown_values.py:" in said_
        assert "would cut" not in said_


def test_leaking_writes_are_refused(library):
    outside, log = ad.asarray([0.0, 0.0]), np.zeros(2)

    def f(a):
        outside[0] = a[0]

    def g(a):
        log[0] = a[0]

    def h(a):
        outside[0] += 1  # staged as well: it would happen once, or at each call?
        return a

    x = ad.asarray([1.0])
    for leak in (f, g, h):
        with pytest.raises(ad.TraceError, match=r"test_unknown_values.py:\d+"):
            ad.jit(leak)(x)
    assert host(outside).tolist() == [0, 0] and log.tolist() == [0, 0]


def test_what_is_left_behind_is_an_error_where_it_is_used(library):
    kept = []

    def f(a):
        kept.extend([a, a * 2, a[1:], np.sum(a)])
        return a * 3

    x = ad.asarray([1.0, 2.0])
    uses = [
        lambda v: v + 1,
        np.asarray,
        np.sum,
        lambda v: v.native,
        lambda v: ad.jit(lambda a: a * v)(x),
        lambda v: x * v,
    ]
    for transformed in (ad.jit(f), ad.vmap(lambda a: f(np.stack([a, a])))):
        kept.clear()
        transformed(x)
        for value in kept:
            assert "left behind" in repr(value)
            for use in uses:
                with pytest.raises(
                    ad.TraceError,
                    match=r"traced in .*test_unknown_values.py:\d+\) is used at .*test_unknown_values.py:\d+.* after",
                ):
                    use(value)
    with pytest.raises(ad.TraceError, match="is used at"):
        kept[1][0] = 5.0
    assert host(x * 2).tolist() == [2, 4]


def test_what_a_derivative_leaves_behind(library):
    kept = []

    def f(a):
        kept.append(a * 2)
        return np.sum(kept[-1] ** 2)

    x = ad.asarray([1.0, 2.0])
    assert host(ad.grad(f)(x)).tolist() == [8, 16]
    with pytest.raises(ad.TraceError, match=r"is used at .*test_unknown_values.py:\d+.*has_aux"):
        kept[-1] + 1
    assert host(ad.grad(lambda a: np.sum(ad.grad(f)(a) * kept[-1].shape[0]))(x)).tolist() == [16, 16]


def test_what_nested_and_failing_transforms_leave_behind(library):
    kept = []

    def f(a):
        kept.append({"it": (a * 2, np.sum(a))})
        return np.sum(a**2)

    def fails(a):
        f(a)
        raise KeyError("mine")

    x = ad.asarray([[1.0, 2.0], [3.0, 4.0]])
    runs = [
        lambda: ad.grad(lambda x: np.sum(ad.vmap(f)(x)))(x),
        lambda: ad.grad(ad.jit(f))(x),
        lambda: ad.vmap(ad.grad(f))(x),
        lambda: ad.hessian(f)(x),
        lambda: ad.grad(fails)(x),
        lambda: ad.jit(fails)(x),
    ]
    for run in runs:
        kept.clear()
        with contextlib.suppress(KeyError):
            run()
        for value in kept[-1]["it"]:
            for use in (np.asarray, lambda v: v + 1, np.sin):
                with pytest.raises(ad.TraceError, match=r"is used at .*test_unknown_values.py:\d+"):
                    use(value)
