"""Derivatives of functions that write: to their arguments, to what they make, to what is not theirs."""

from __future__ import annotations

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.common import tracing
from arraydispatch.common.process_state import process


def host(x):
    return np.asarray(x)


def test_writes_and_views_inside(library):
    def f(a):
        b = a.copy()
        b[0] *= 2
        c = np.zeros_like(b)
        c[:, ::-1] = b
        c.T[0][1] += b.sum()
        d = c.reshape(-1)
        d[1:3] = d[:2] * d[2:4]
        c += a
        np.add.at(c, ([0, 0], [1, 1]), a[1, :2])
        return np.sum(c**2)

    def by_hand(a):
        with ad.backend("numpy"):
            return f(a)

    x = np.arange(1.0, 7).reshape(2, 3)
    step = 1e-6
    expected = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = step
        expected[i] = (by_hand(x + e) - by_hand(x - e)) / (2 * step)
    np.testing.assert_allclose(host(ad.grad(f)(ad.asarray(x))), expected, rtol=1e-5)


def test_values_read_before_a_write_keep_their_derivative(library):
    def f(a):
        b = a * 1.0
        s = np.sin(b)  # whose derivative needs the old b
        b[:] = 0
        return np.sum(s + b)

    x = ad.asarray([1.0, 2.0])
    np.testing.assert_allclose(host(ad.grad(f)(x)), np.cos([1, 2]))


def test_a_written_argument_comes_back_written(library):
    x, y = ad.asarray([1.0, 2.0]), ad.asarray([5.0, 6.0, 7.0])

    def f(a, b):
        a[0] = a[1] * 3
        b += 1
        return np.sum(a**2)

    value, g = ad.value_and_grad(f)(x, y[1:])
    assert value == 40
    np.testing.assert_allclose(host(g), [0, 40])
    np.testing.assert_allclose(host(x), [6, 2])
    np.testing.assert_allclose(host(y), [5, 7, 8])
    z = np.array([1.0, 2.0])
    ad.grad(f)(z, ad.asarray([1.0]))
    np.testing.assert_allclose(z, [6, 2])


def test_two_arguments_in_one_memory_are_not_torn_apart(library):
    x = ad.asarray([1.0, 2.0, 3.0])

    def f(a, b):
        a[0] = 9
        return np.sum(a * b)

    np.testing.assert_allclose(host(ad.grad(lambda a, b: np.sum(a * b))(x, x[:])), [1, 2, 3])
    with pytest.raises(ad.TraceError, match="shares memory"):
        ad.grad(f)(x, x[:2][:1])


def test_a_traced_value_does_not_leak(library):
    outside = ad.asarray([0.0, 0.0])

    def basic(a):
        outside[0] = a[0]
        return np.sum(a)

    def advanced(a):
        outside[[0, 1]] = a
        return np.sum(a)

    def masked(a):
        outside[np.array([True, False])] = a[:1]
        return np.sum(a)

    def in_place(a):
        np.add(outside, a, out=outside)
        return np.sum(a)

    def operator(a):
        nonlocal outside
        outside += a
        return np.sum(a)

    def copied(a):
        np.copyto(outside, a)
        return np.sum(a)

    def at(a):
        np.add.at(outside, [0, 0], a)
        return np.sum(a)

    def through_view(a):
        outside[::-1][:1] = a[0]
        return np.sum(a)

    for leak in (basic, advanced, masked, in_place, operator, copied, at, through_view):
        with pytest.raises(ad.TraceError, match=r"test_derivative_writes.py:\d+"):
            ad.grad(leak)(ad.asarray([1.0, 2.0]))
        assert host(outside).tolist() == [0, 0]
        outside += 1
        outside -= 1


FLAT = {
    "round": lambda x, out: np.round(x, out=out),
    "round to digits": lambda x, out: np.round(x, 1, out=out),
    "floor": lambda x, out: out.__setitem__(slice(None), np.floor(x)),
    "ceil": lambda x, out: np.ceil(x, out=out),
    "trunc": lambda x, out: np.copyto(out, np.trunc(x)),
    "fix": lambda x, out: np.fix(x, out=out),
    "modf": lambda x, out: np.modf(x, out=(None, out)),
    "sign": lambda x, out: np.sign(x, out=out),
    "heaviside": lambda x, out: np.heaviside(x, 0.5, out=out),
    "quotient": lambda x, out: np.floor_divide(x, 2, out=out),
    "divisor": lambda x, out: np.floor_divide(2, x, out=out),
}


def test_a_value_without_slope_does_not_leak(library):
    """Whose derivative is zero everywhere; and it is."""
    wrong = []
    for name, write in FLAT.items():
        out = ad.asarray([5.0, 6.0])

        def f(x, out=out, write=write):
            write(x, out)
            return np.sum(x)

        def inside(x, write=write):
            y = np.zeros_like(x)
            write(x, y)
            return np.sum(x * y)

        x = np.array([1.3, -2.7])
        want = np.zeros(2)
        write(x, want)
        with pytest.raises(ad.TraceError, match=r"test_derivative_writes.py:\d+"):
            ad.grad(f)(ad.asarray(x))
        if host(out).tolist() != [5, 6]:
            wrong.append(f"{name} wrote")
        for how in (ad.grad(inside), ad.jit(ad.grad(inside)), ad.vmap(ad.grad(lambda x, f=inside: f(x)))):
            given = np.stack([x, x]) if how.__name__ == "<lambda>" else x
            if not np.allclose(host(how(ad.asarray(given))), want):
                wrong.append(f"{name}: {how(ad.asarray(given))}")
    assert not wrong, wrong


def test_what_is_born_inside_may_be_written(library):
    constant = ad.asarray([5.0, 6.0])

    def f(a):
        buffer = np.zeros_like(constant)  # of no traced value
        view = buffer[1:]
        view[0] = a[0] * 2
        more = constant * 2
        more[0] = a[1]
        more[1:] += view
        return np.sum(buffer**2) + np.sum(more)

    np.testing.assert_allclose(host(ad.grad(f)(ad.asarray([1.0, 2.0]))), [8 + 2, 1])
    assert host(constant).tolist() == [5, 6]


def test_constants_may_be_written_from_inside(library):
    counter = ad.asarray([0.0])
    log = np.zeros(1)

    def f(a):
        counter[0] = 3.0
        log[0] += 1
        return np.sum(a)

    ad.grad(f)(ad.asarray([1.0]))
    assert float(counter[0]) == 3
    assert log[0] == 1


def test_arrays_are_themselves_again_after_an_error(library):
    x = ad.asarray([1.0, 2.0])

    def f(a):
        a[0] = 5
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ad.grad(f)(x)
    assert host(x).tolist() == [1, 2]
    from arraydispatch.memory import views

    assert tracing.current() is None and process.traces == 0 and views.watch is None


WRITES = {
    "copyto": np.copyto,
    "copyto, where": lambda out, x: np.copyto(out, x, where=np.array([True, False])),
    "put": lambda out, x: np.put(out, [0, 1], x),
    "putmask": lambda out, x: np.putmask(out, np.array([True, True]), x),
    "place": lambda out, x: np.place(out, np.array([True, True]), x),
    "put_along_axis": lambda out, x: np.put_along_axis(out, np.array([0, 1]), x, 0),
    "ufunc.at": lambda out, x: np.add.at(out, [0, 1], x),
    "a ufunc": lambda out, x: np.add(x, 1, out=out),
    "a reduction": lambda out, x: np.sum(np.stack([x, x]), axis=0, out=out),
    "a product": lambda out, x: np.matmul(np.eye(2), x, out=out),
    "a function": lambda out, x: np.clip(x, 0, 1, out=out),
    "an item": lambda out, x: out.__setitem__(0, x[0]),
    "fill": lambda out, x: out.fill(x[0]),
}


@pytest.mark.parametrize("whose", ["the library's", "NumPy's"])
def test_functions_that_write_name_the_way_out(library, whose):
    """The line, and what to do instead; and the array stays as it was."""
    wrong = []
    for name, write in WRITES.items():
        for transform in (ad.grad, ad.jit, ad.vmap):
            out = np.array([5.0, 6.0]) if whose == "NumPy's" else ad.asarray([5.0, 6.0])

            def f(x, out=out, write=write):
                write(out, x)
                return np.sum(x)

            said = ""
            try:
                transform(f)(ad.asarray([[1.0, 2.0]] if transform is ad.vmap else [1.0, 2.0]))
            except ad.TraceError as error:
                said = str(error)
            helps = (
                "return it from the function" in said and ("zeros_like" if whose == "NumPy's" else "argument") in said
            )
            if not ("test_derivative_writes.py:" in said and helps and host(out).tolist() == [5, 6]):
                wrong.append(f"{transform.__name__}, {name}: {said!r}, {host(out)}")
    assert not wrong, "\n".join(wrong)


COSTS = np.array([1.0, 10.0, 100.0, 1000.0, 1e4, 1e5])


def _cost(q):
    return np.sum(q * COSTS[: q.size].reshape(q.shape))


def _by_list(x):
    q = np.zeros_like(x)
    q[[0, 1, 1]] = x
    return _cost(q)


def _put(x):
    q = np.zeros_like(x)
    np.put(q, [0, 1, 1], x)
    return _cost(q)


def _put_in_turn(x):
    q = x * 1
    np.put(q, [2, 2, 1, 0, 0], x[:2])
    return _cost(q)


def _put_along_axis(x):
    q = np.zeros_like(x)
    np.put_along_axis(q, np.array([0, 1, 1]), x, 0)
    return _cost(q)


def _by_pairs(x):
    q = np.zeros((2, 2)) * x[0]
    q[[0, 1, 1], [0, 1, 1]] = x
    return _cost(q)


def _by_two_names_of_a_place(x):
    y = np.ones(6) * x[0]
    y[[0, -6]] = x[:2]
    return _cost(y)


def _by_columns(x):
    y = np.ones((3, 2)) * x[0]
    y[:, [0, 0]] = x.reshape(3, 1) * np.array([2.0, 3.0])
    return _cost(y)


def _by_rows(x):
    q = np.zeros((3, 2)) * x[0]
    q[[0, 2, 2]] = np.outer(x, x[:2])
    return _cost(q)


def _by_a_table(x):
    q = x * 1
    q[np.array([[0, 1], [1, 0]])] = np.outer(x[:2], x[1:])
    return _cost(q)


def _one_for_all(x):
    q = np.zeros_like(x)
    q[[0, 1, 1]] = x[0]
    return _cost(q)


def _added_in_place(x):
    q = x * 2
    q[[0, 1, 1]] += x
    return _cost(q)


def _flat(x):
    q = x * 1
    q.flat[[0, 0, 2]] = x
    return _cost(q)


def _complex(x):
    q = x * 1j
    q[[0, 0, 1]] = x
    return _cost(q).real


def _squares(x):
    q = x**2
    q[[0, 1, 1]] = x**3
    return _cost(q**2)


OVERWRITTEN = {f.__name__.strip("_"): f for f in (
    _by_list, _put, _put_in_turn, _put_along_axis, _by_pairs, _by_two_names_of_a_place, _by_columns, _by_rows, _by_a_table,
    _one_for_all, _added_in_place, _flat, _complex, _squares,
)}  # fmt: skip


@pytest.mark.parametrize("how", ["plain", "jit", "vmap"])
def test_only_the_last_of_several_writers_of_a_place_has_the_derivative(library, how):
    x = np.array([3.0, 7.0, 5.0])
    slopes = lambda x: [ad.grad(f)(x) for f in OVERWRITTEN.values()]
    if how == "vmap":
        made = [g[1] for g in ad.vmap(slopes)(ad.asarray(np.stack([x + 1, x])))]
    else:
        made = {"jit": ad.jit(slopes), "plain": slopes}[how](ad.asarray(x))
    with ad.backend("numpy"):
        steps = 1e-6 * np.eye(3)
        want = [[(f(x + e) - f(x - e)) / 2e-6 for e in steps] for f in OVERWRITTEN.values()]
    wrong = [
        f"{name}: {host(g).tolist()} is not {w}"
        for name, g, w in zip(OVERWRITTEN, made, want)
        if not np.allclose(host(g), w, 1e-5, 1e-3)
    ]
    assert not wrong, "\n".join(wrong)


def test_only_the_last_writer_has_the_second_derivative(library):
    x = np.array([3.0, 7.0, 5.0])
    want = np.diag([30 * x[0] ** 4, 0, 300 * x[2] ** 4])
    made = ad.jit(ad.hessian(lambda x: _squares(x) - 100 * x[2] ** 4))(ad.asarray(x))
    np.testing.assert_allclose(host(made), want, 1e-9, 1e-6)
