"""jit: arguments that are written, shared or returned, and writes inside a program."""

from __future__ import annotations

import numpy as np
import pytest

import arraydispatch as ad


def host(x):
    return np.asarray(x)


def test_written_arguments_come_back_written(library):
    @ad.jit
    def advance(u, v, n):
        u[1:] += v[0]
        v.T[...] = 5
        return n * 2

    u, v, w = ad.asarray([1.0, 2.0, 3.0, 4.0]), ad.asarray([[10.0, 1.0]]), np.ones((1, 2))
    view = u[:3]
    for _ in range(2):
        advance(view, v[0], 1.0)
        advance(u[3:], w[0], 1.0)
    assert host(u).tolist() == [1, 17, 18, 4]
    assert host(v).tolist() == [[5, 5]] and w.tolist() == [[5, 5]]


def test_an_argument_returned_is_the_callers_own(library):
    x = ad.asarray([1.0, 2.0])

    @ad.jit
    def f(a, b):
        a[0] = b
        return a, [a], a * 1

    for value in (7.0, 8.0):
        made = f(x, value)
        assert made[0] is x and made[1][0] is x and made[2] is not x
        assert host(x)[0] == value
    made[2][0] = 0
    assert host(x)[0] == 8


def test_one_array_passed_twice_is_one_array(library):
    @ad.jit
    def f(a, b):
        a[0] = 5
        return np.sum(b)

    x = ad.asarray([1.0, 2.0])
    assert f(x, x) == 7
    assert host(x).tolist() == [5, 2]
    assert f(x.copy(), ad.asarray([1.0, 1.0])) == 2


def test_two_views_of_one_memory_are_refused_if_one_is_written(library):
    x = ad.asarray([1.0, 2.0, 3.0])
    with pytest.raises(ad.TraceError, match="shares memory"):
        ad.jit(lambda a, b: a.fill(0))(x, x[1:])
    assert host(x).tolist() == [1, 2, 3]
    ad.jit(lambda a, b: a.fill(0))(x[:1], x[1:])
    assert host(x).tolist() == [0, 2, 3]


def test_read_only_arguments_refuse(library):
    x = np.ones(2)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ad.jit(lambda a: a.fill(0))(x)


def test_shapes_are_not_changed_in_place(library):
    def f(a):
        a.shape = (2, 1)

    with pytest.raises(ad.TraceError, match="changes the shape or the dtype"):
        ad.jit(f)(ad.asarray([1.0, 2.0]))


def test_donated_buffers_are_not_read_again(library):
    @ad.jit
    def f(a):
        z = np.zeros(3, like=a)
        y = a * z
        z[0] = a[0]
        return y + z

    np.testing.assert_allclose(host(f(ad.asarray([1.0, 2.0, 3.0]))), [1, 0, 0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.complex128, bool])
def test_writes_to_most_of_an_array(library, dtype):
    """In a program they are another operation than writes to a part, with the same values and derivatives."""
    rng = np.random.default_rng(7)
    x = (rng.normal(size=(5, 6)) * 9).astype(dtype)

    def writes(a, b):
        out = [a.copy() for _ in range(5)]
        out[0][1:-1, 1:-1] = b[2:, 2:]
        out[1][:, 2:] = b[:1, 2:]
        out[2][...] = b
        out[3][:4] = True
        out[4][::-1][1:, ::-1] = b[1:]
        return out

    expected = writes(x, x[::-1].copy())
    for made, want in zip(ad.jit(writes)(ad.asarray(x), ad.asarray(x[::-1].copy())), expected):
        assert made.dtype == want.dtype
        np.testing.assert_array_equal(host(made), want)
    if dtype is np.float64:
        odd = np.where(rng.random((5, 6)) < 0.3, np.nan, np.where(x > 5, np.inf, x))
        for made, want in zip(ad.jit(writes)(ad.asarray(odd), ad.asarray(-odd)), writes(odd, -odd)):
            np.testing.assert_array_equal(host(made), want)

        def total(a, b):
            return sum(np.sum(np.sin(part) * k) for k, part in enumerate(writes(a, b), 1))

        # Which element of a and of b each element of the results is, told by numbers that are their places.
        places, wanted = np.arange(60.0).reshape(2, 5, 6) + 10, np.zeros((2, 30))
        for k, (place, part) in enumerate(zip(writes(*places), expected), 1):
            moved = place != 1
            np.add.at(wanted.reshape(-1), place[moved].astype(int) - 10, k * np.cos(part[moved]))
        for made, want in zip(ad.jit(ad.grad(total, (0, 1)))(ad.asarray(x), ad.asarray(x[::-1].copy())), wanted):
            np.testing.assert_allclose(host(made), want.reshape(5, 6), rtol=1e-12, atol=1e-12)
        many = ad.vmap(lambda a: writes(a, a * 2)[0])(ad.asarray(np.stack([x, 2 * x])))
        np.testing.assert_allclose(host(many)[1], writes(2 * x, 4 * x)[0])


@pytest.mark.parametrize("number", [0.1, -0.0, np.nan])
def test_numbers_of_writes_to_most_of_an_array(library, number):
    """They decide what is written, and not where: whatever their value, what lies outside stays."""
    x = np.random.default_rng(8).normal(size=(5, 6))

    def steps(u, k, c):
        for i in range(3):
            u[1:-1, 1:-1] += k * (u[2:, 1:-1] + u[:-2, 1:-1] - (2 + i) * c * u[1:-1, 1:-1])
        return u

    expected = steps(x.copy(), number, 0.5)
    made = ad.jit(steps)(ad.asarray(x.copy()), number, ad.asarray(0.5))
    np.testing.assert_allclose(host(made), expected, rtol=1e-12)
    many = ad.vmap(lambda k: steps(ad.asarray(x.copy()), k, 0.5)[1:4:2])(ad.asarray(np.array([number, 0.25])))
    np.testing.assert_allclose(host(many)[0], expected[1:4:2], rtol=1e-12)
    if np.isfinite(number):
        slope = ad.jit(ad.grad(lambda k, u: np.sum(steps(u.copy(), k, 0.5))))(number, ad.asarray(x))
        by = 1e-6
        near = [np.sum(steps(x.copy(), number + way * by, 0.5)) for way in (1, -1)]
        np.testing.assert_allclose(host(slope), (near[0] - near[1]) / (2 * by), rtol=1e-5)
