"""Constants of a program: what NumPy, or the library, holds while it is made decides shapes, and is kept as it was."""

from __future__ import annotations

import numpy as np
import pytest

import arraydispatch as ad

from .conftest import Counted


def host(x):
    return np.asarray(x)


def test_numpy_constants_are_computed_once(library):
    table = np.arange(4.0)
    runs = Counted(np.cumsum)

    @ad.jit
    def f(a):
        kernel = runs(np.sin(table))  # NumPy's own, while tracing
        assert type(kernel) is np.ndarray
        return a * kernel

    for _ in range(4):
        made = f(ad.asarray(np.ones(4)))
    assert runs.runs == 1
    np.testing.assert_allclose(host(made), np.cumsum(np.sin(table)))


def test_constants_are_what_they_were(library):
    w = ad.asarray([0.0, 2.0])
    w[0] = 1  # its buffer is the array's own now, and may be reused by the next write
    f = ad.jit(lambda a: a * w)
    x = ad.asarray([1.0, 1.0])
    assert host(f(x)).tolist() == [1, 2]
    w[0] = 9
    assert host(f(x)).tolist() == [1, 2]


def test_fits_in_programs(library):
    """The rank, which decides about a warning only, is not known there."""
    x, y = np.linspace(-1, 2, 6), np.array([[1.0, 2.0], [0.5, 3.0], [2.0, 1.0], [4.0, 0.0], [3.0, 3.0], [5.0, 1.5]])
    w = np.array([1.0, 2.0, 1.0, 0.5, 1.0, 1.0])
    got = ad.jit(
        lambda x, y, w: (np.polyfit(x, y, 2, w=w), np.polyfit(x, y[:, 0], 3), np.polyfit([0, 1, 2], y[:3, 1], 1))
    )(x, y, w)
    for a, b in zip(got, (np.polyfit(x, y, 2, w=w), np.polyfit(x, y[:, 0], 3), np.polyfit([0, 1, 2], y[:3, 1], 1))):
        np.testing.assert_allclose(a, b, 1e-9, 1e-12)

    def loss(y):
        return np.sum(np.polyfit(x, y, 2) ** 2)

    wanted = [(loss(y[:, 0] + e) - loss(y[:, 0] - e)) / 2e-6 for e in 1e-6 * np.eye(6)]
    np.testing.assert_allclose(ad.jit(ad.grad(loss))(y[:, 0]), wanted, 1e-6)
    np.testing.assert_allclose(ad.vmap(ad.grad(loss))(y.T)[0], wanted, 1e-6)
    with pytest.raises(ad.TraceError, match="the rank"):
        ad.jit(lambda y: np.polyfit(y, y, 2, full=True))(y[:, 0])


V = np.array([0.3, 0.7, 0.5, 0.9, 0.2])


MASK = V > 0.4


def _tripled(x):
    x = x.copy()
    x[MASK] = x[MASK] * 3
    return x


def _doubled_rows(x):
    both = np.stack([x, 2 * x])
    both[:, MASK] = both[..., MASK][::-1]
    both[1, [True, False, False, False, True]] = 7.0
    return both


BY_MASK = {
    "read": lambda x: x[MASK],
    "write": _tripled,
    "in place": lambda x: np.add(x[MASK], 1),
    "rows": _doubled_rows,
    "matrix": lambda x: np.outer(x, x)[np.eye(5) > 0],
    "list": lambda x: x[[True, False, True, True, False]],
    "new axis": lambda x: x[None, MASK],
    "none": lambda x: x[np.zeros(5, bool)],
}


def _slope(f):
    """The gradient of the sum of squares at V: by steps so small, and imaginary, that nothing is rounded."""
    return [np.sum(f(V + step) ** 2).imag / 1e-30 for step in 1e-30j * np.eye(len(V))]


@pytest.mark.parametrize("name", BY_MASK)
def test_masks_whose_values_are_known(library, name):
    """NumPy's masks and lists of bools are constants of the program: how many there are is known."""
    f = BY_MASK[name]
    expected = f(V)
    x = ad.asarray(V)
    np.testing.assert_allclose(host(ad.jit(f)(x)), expected)
    np.testing.assert_allclose(host(ad.vmap(f)(ad.asarray(np.stack([V, V])))[1]), expected)
    gradient, slope = ad.grad(lambda a: np.sum(f(a) ** 2)), _slope(f)
    np.testing.assert_allclose(host(ad.jit(gradient)(x)), slope)
    np.testing.assert_allclose(host(ad.vmap(gradient)(ad.asarray(np.stack([V, V])))[1]), slope)
    if library != "jax" or name == "write":  # JAX would compile as many programs again, one for each operation
        np.testing.assert_allclose(host(gradient(x)), slope)


COUNTS, PLACES = np.array([1, 0, 2, 3, 1]), np.array([0, 3])


def _shaped(x):
    square = np.outer(x, x)
    return {
        "compress": np.compress(MASK, x),
        "compress by a list": np.compress([True, False, True], x),
        "compress rows": square.compress(MASK, axis=0),
        "extract": np.extract(np.outer(MASK, MASK), square),
        "delete by a mask": np.delete(x, MASK),
        "delete": np.delete(square, PLACES, axis=1),
        "insert": np.insert(x, PLACES, [5.0, 6.0]),
        "repeat": np.repeat(x, COUNTS),
        "tile": np.tile(x, np.array([2, 1])),
        "roll": np.roll(square, np.array([1, 2]), (0, 1)),
        "pad": np.pad(square, np.array([[1, 0], [0, 2]])),
        "reduceat": np.add.reduceat(square, PLACES, axis=1),
        "histogram": np.histogram(COUNTS, bins=3, weights=x)[0],
    }


def test_constants_that_decide_a_shape(library):
    """What NumPy holds is known while a program is made, though the library took it in as one of its values."""
    x, expected = ad.asarray(V), _shaped(V)
    made, many = ad.jit(_shaped)(x), ad.vmap(_shaped)(ad.asarray(np.stack([V, 2 * V])))
    for name, values in _shaped(2 * V).items():
        np.testing.assert_array_equal(host(made[name]), expected[name], err_msg=name)
        np.testing.assert_array_equal(host(many[name][1]), values, err_msg=name)
    gradient = ad.grad(lambda a: sum(np.sum(part**2) for part in _shaped(a).values()))
    slope = _slope(lambda a: np.concatenate([part.reshape(-1) for part in _shaped(a).values()]))
    np.testing.assert_allclose(host(ad.jit(gradient)(x)), slope, rtol=1e-13)
    if library != "jax":  # which would compile a program for each operation
        np.testing.assert_allclose(host(gradient(x)), slope, rtol=1e-13)


def test_constants_are_known_as_they_were(library):
    """A program is made of the values at the call, whatever is written to them later."""
    counts = COUNTS.copy()

    def f(x):
        made = np.repeat(x, counts)
        counts[:] = 1
        return made

    assert host(ad.jit(f)(ad.asarray(V))).tolist() == np.repeat(V, COUNTS).tolist()
    with pytest.raises(ad.TraceError):
        ad.jit(lambda x: np.compress(x > 0.4, x))(ad.asarray(V))
    with pytest.raises(ad.TraceError):
        ad.jit(lambda x: np.repeat(x, np.asarray(COUNTS, like=x) + 1))(ad.asarray(V))
    with pytest.raises(ad.TraceError, match=r"test_known_values.*ad\.host_call"):
        ad.jit(np.bincount)(ad.asarray(COUNTS))
    with pytest.raises(ad.TraceError, match=r"test_known_values.*ad\.host_call"):
        ad.jit(lambda x, widths: np.pad(x * 2, widths))(ad.asarray(V), ad.asarray(PLACES))


def test_sums_by_constant_places(library):
    """How many there are is known, and the weights have a derivative."""
    x = ad.asarray(V)

    def counted(a):
        return np.bincount(COUNTS, weights=a, minlength=6)

    def binned(a):
        return np.histogram(COUNTS, bins=[0, 1, 2, 4], weights=a)[0]

    for f, places in ((counted, COUNTS), (binned, np.minimum(COUNTS, 2))):
        np.testing.assert_allclose(host(ad.jit(f)(x)), f(V), rtol=1e-15)
        np.testing.assert_allclose(host(ad.vmap(f)(ad.asarray(np.stack([V, 2 * V])))[1]), f(2 * V), rtol=1e-15)
        slope = ad.jit(ad.grad(lambda a, f=f: np.sum(f(a) ** 2)))
        np.testing.assert_allclose(host(slope(x)), 2 * f(V)[places], rtol=1e-14)


def test_constants_of_the_library_are_known(library):
    """An array that is no argument has its values while the function is traced."""
    mask, factors = ad.asarray(MASK), ad.asarray([2.0, 3.0])
    x = ad.asarray(V)
    assert ad.jit(lambda a: a[mask])(x).tolist() == V[MASK].tolist()
    assert ad.jit(lambda a: a * np.asarray(factors).sum())(x).tolist() == (V * 5).tolist()
    assert "2." in ad.jit(lambda a: (a, repr(factors)))(x)[1]


def test_masks_of_another_shape(library):
    with pytest.raises(IndexError):
        ad.jit(lambda a: a[np.ones(4, bool)])(ad.asarray(V))


def test_slices_are_static(library):
    part = ad.jit(lambda a, places: a[places])
    x = ad.asarray(V)
    assert part(x, slice(1, 3)).tolist() == V[1:3].tolist()
    assert part(x, slice(0, 2)).tolist() == V[:2].tolist()
