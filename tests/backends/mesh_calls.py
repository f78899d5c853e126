"""Program of test_meshes: NumPy's calls on arrays split over eight devices, against NumPy's own results."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.api import creation as made
from arraydispatch.dispatch import split_arrays
from tests import compiled

ROWS = 512
H = np.random.default_rng(0).random((ROWS, ROWS))
V = np.random.default_rng(1).random(1 << 16)


def _relaxed(u: Any) -> Any:
    u = u.copy()
    for _ in range(5):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


def _written(u: Any) -> Any:
    u = u.copy()
    u[3:9] = 7
    u[:, ::2] *= 2
    u[u > 5] = 0
    u.T[4] = 1
    return u


# What stays split, and what need not: small, 0-d, or of lengths that eight does not divide.
SPLIT = {
    "ufunc": lambda u, v: np.sin(u) + u * 2,
    "rows": lambda u, v: u - u.mean(axis=1, keepdims=True),
    "where": lambda u, v: np.where(u > 0.5, u, 0),
    "like": lambda u, v: np.zeros_like(u),
    "sort": lambda u, v: np.sort(u, axis=0),
    "argsort": lambda u, v: np.argsort(u, axis=1),
    "cumsum": lambda u, v: np.cumsum(u, axis=0),
    "reversed": lambda u, v: u[::-1],
    "transposed": lambda u, v: u.T,
    "reshaped": lambda u, v: u.reshape(64, -1),
    "rolled": lambda u, v: np.roll(u, 1, axis=0),
    "product": lambda u, v: u @ u.T,
    "einsum": lambda u, v: np.einsum("ij,jk->ik", u, u),
    "joined": lambda u, v: np.concatenate([u, u]),
    "outer": lambda u, v: v[:512, None] * v[None, :512],
    "grid": lambda u, v: np.meshgrid(v[:512], v[:512])[0],
    "fft": lambda u, v: np.fft.fft2(u),
    "stencil": lambda u, v: _relaxed(u),
    "writes": lambda u, v: _written(u),
    "interp": lambda u, v: np.interp(u, [0.0, 0.5, 1.0], [1.0, 3.0, 2.0]),
    "solve": lambda u, v: np.linalg.solve(u + 600 * np.eye(512), u),
}
WHOLE = {
    "sum": lambda u, v: u.sum(),
    "sums": lambda u, v: u.sum(axis=0),
    "max": lambda u, v: u.max(axis=1),
    "median": lambda u, v: np.median(u),
    "percentile": lambda u, v: np.percentile(u, 30, axis=0),
    "norm": lambda u, v: np.linalg.norm(u),
    "inner": lambda u, v: u[1:-1, 1:-1],
    "element": lambda u, v: u[3, 4],
    "picked": lambda u, v: u[np.array([3, 5, 500])],
    "mask": lambda u, v: u[u > 0.5],
    "nonzero": lambda u, v: np.nonzero(u > 0.5)[1],
    "unique": lambda u, v: np.unique(np.floor(u * 10)),
    "histogram": lambda u, v: np.histogram(v)[0],
    "bincount": lambda u, v: np.bincount((u * 10).astype(int).ravel()),
    "convolve": lambda u, v: np.convolve(v[:100], v[:7]),
    "padded": lambda u, v: np.pad(u, 1),
    "dot": lambda u, v: v @ v,
    "vector": lambda u, v: u @ v[:512],
    "trace": lambda u, v: np.trace(u),
    "any": lambda u, v: (u > 2).any(),
    "list": lambda u, v: np.asarray(u[:2].tolist()),
    "host": lambda u, v: np.apply_along_axis(lambda r: r[:2], 0, u[:2]),
}


def calls() -> None:
    """Compare each call."""
    u, v = ad.asarray(H), ad.asarray(V)
    assert u.sharding == ad.Sharding((8,), ((0,), ()), (64, 512)), u.sharding
    for name, call in {**SPLIT, **WHOLE}.items():
        got, wanted = call(u, v), call(H, V)
        if name in SPLIT:
            assert got.sharding is not None and not got.sharding.replicated, (name, got.sharding)
        values = np.asarray(ad.to_numpy(got))
        assert values.dtype == wanted.dtype and values.shape == wanted.shape, name
        np.testing.assert_allclose(values, wanted, rtol=1e-9, atol=1e-9, err_msg=name)
    np.testing.assert_array_equal(ad.to_numpy(u), H)


def transforms() -> None:
    """Compare derivatives, compiled functions and batches."""
    u = ad.asarray(H)
    for got, wanted in (
        (ad.grad(lambda w: np.sum(np.sin(w)))(u), np.cos(H)),
        (ad.jit(lambda w: np.sin(w) * 2 + w)(u), np.sin(H) * 2 + H),
        (ad.vmap(lambda row: row - row.mean())(u), H - H.mean(axis=1, keepdims=True)),
        (ad.jit(lambda w: ad.shard(w * 2, 1))(u), H * 2),
    ):
        assert not got.sharding.replicated
        np.testing.assert_allclose(ad.to_numpy(got), wanted, rtol=1e-12, atol=1e-14)


MANY = 1 << 17
RANGES: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((3, MANY + 3), {}), ((0.0, MANY * 0.3, 0.3), {}), ((-7.25, MANY * 0.1 - 7.25, 0.1), {}), ((5, 5 - 3 * MANY, -3), {}),
    ((0, MANY / 8, 1 / 8), {"dtype": np.float32}), ((0.1, 0.7 * MANY, 0.7), {"dtype": np.float32}), ((2, 2 * MANY + 2, 2), {"dtype": np.uint32}),
    ((1000, 1000 + MANY), {"dtype": np.int32}), ((1.5, MANY + 1.5), {"dtype": int}),
]  # fmt: skip
LINES: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((0, 1, MANY), {}), ((-0.3, 2.1, MANY), {"endpoint": False}), ((5.0, -1, MANY), {}), ((0, 10, MANY), {"dtype": np.float32}),
]  # fmt: skip


def creation() -> None:
    """Where new arrays are put."""
    for x in (
        made.zeros((512, 512)), made.ones(1 << 17), made.full((512, 512), 2.5), made.arange(1 << 17),
        made.linspace(0, 1, 1 << 17), made.eye(512), made.array(H), ad.random.normal(size=(512, 512)), made.indices((256, 256)),
    ):  # fmt: skip
        assert x.sharding is not None and not x.sharding.replicated, x.shape
        assert x.device.name == "mesh:8" and x.device.mesh == (8,)
    split_arrays.PIECE = 1000
    for args, options in RANGES:
        x, wanted = made.arange(*args, **options), np.arange(*args, **options)
        assert not x.sharding.replicated and x.dtype == wanted.dtype, (args, options)
        np.testing.assert_array_equal(ad.to_numpy(x), wanted, err_msg=str((args, options)))
    for args, options in LINES:
        x, wanted = made.linspace(*args, **options), np.linspace(*args, **options)
        assert not x.sharding.replicated and x.dtype == wanted.dtype, (args, options)
        np.testing.assert_array_equal(ad.to_numpy(x), wanted, err_msg=str((args, options)))
        x, wanted = made.logspace(*args, **options), np.logspace(*args, **options)
        assert not x.sharding.replicated and x.dtype == wanted.dtype, (args, options)
        np.testing.assert_array_equal(ad.to_numpy(x), wanted, err_msg=str((args, options)))
    x, step = made.linspace(1, 3, MANY, retstep=True)
    assert (not x.sharding.replicated, float(step)) == (True, float(np.linspace(1, 3, MANY, retstep=True)[1]))
    for x, wanted in zip(made.meshgrid(H[0], np.arange(256)), np.meshgrid(H[0], np.arange(256)), strict=True):
        assert not x.sharding.replicated
        np.testing.assert_array_equal(ad.to_numpy(x), wanted)
    small = made.arange(10)
    assert small.sharding == ad.Sharding((8,), ((),), (10,)) and small.sharding.replicated
    assert made.ones((513, 512)).sharding.axes == ((), (0,))
    assert made.ones((515, 513)).sharding.replicated
    assert ad.replicate(made.zeros((512, 512))).sharding.replicated
    one = ad.shard(made.zeros((512, 512)), 1)
    assert one.sharding.shard == (512, 64) and (one + 1).sharding.shard == (512, 64)
    assert ad.shard(made.zeros((512, 513)), 1).sharding.axes == ((0,), ())
    host = H.copy()
    x = made.array(host)
    host[...] = -1  # the memory is the caller's
    np.testing.assert_array_equal(ad.to_numpy(x), H)


def meshes() -> None:
    """Blocks of meshes, and what ends with them."""
    ad.use("jax", device="cpu:0")
    assert made.zeros((512, 512)).sharding is None
    with ad.mesh("2x4", min_size=16) as grid:
        x = made.zeros((8, 8))
        assert x.sharding == ad.Sharding((2, 4), ((0,), (1,)), (4, 2)), x.sharding
        assert ad.shard(x, (1, 0)).sharding.shard == (2, 4)
        assert ad.shard(x, (None, (0, 1))).sharding.shard == (8, 1)
        assert made.zeros(64).sharding.axes == ((0, 1),)
        with ad.mesh(4):
            assert made.zeros((512, 512)).sharding.mesh == (4,)
        assert made.zeros((8, 8)).sharding.mesh == (2, 4)
        for spec in (2, (0, 0), (5,), "rows", (0, 1, 0)):
            with pytest.raises(ad.OptionError):
                ad.shard(x, spec)
    assert repr(grid) == "<mesh 2x4 of devices>"
    y = made.zeros((8, 8))
    assert y.sharding is None and x.sharding.mesh == (2, 4) and (x + 1).sharding.mesh == (2, 4)
    assert x.to_device("cpu:1").sharding is None
    with pytest.raises(ad.DeviceNotFoundError, match=r"a mesh of 9 needs 9 devices, and backend 'jax' has 8 .*count=9"):
        ad.use("jax", mesh=9)
    with pytest.raises(ad.OptionError, match="no mesh is in force"):
        ad.shard(y, 0)


def printing() -> None:
    """What is fetched to be printed."""
    u, big = ad.asarray(H), made.zeros((4096, 1024))
    with ad.profile() as profile:
        text = repr(u)
        shown = io.StringIO()
        print(big, file=shown)
    fetched = sum(row.nbytes for row in profile.transfers() if row.direction == "to_host")
    assert fetched == 2 * 36 * 8, fetched
    assert text.replace("Array(", "array(").split("],\n       ...")[0] == repr(H).split("],\n       ...")[0]
    assert str(u) == str(H) and shown.getvalue() == f"{np.zeros((4096, 1024))}\n"
    with ad.profile() as profile:
        u[u > 0.5]
    why = [(row.nbytes, row.why, row.file, row.line) for row in profile.transfers() if "gathered" in row.why]
    assert len(why) == 1 and why[0][0] == H.nbytes + H.size and Path(why[0][2]).name == Path(__file__).name, why


def libraries() -> None:
    """Arrays of JAX's own meshes, with its partitioner's axes and with explicit ones."""
    import jax
    from jax.sharding import AxisType, NamedSharding, PartitionSpec

    ad.use("jax", device="cpu:0")
    for kind in (AxisType.Auto, AxisType.Explicit):
        mesh = jax.make_mesh((8,), ("rows",), axis_types=(kind,))
        with jax.enable_x64(True):
            u = ad.wrap(jax.device_put(H, NamedSharding(mesh, PartitionSpec("rows"))))
        np.testing.assert_array_equal(ad.to_numpy(u[u > 0.5]), H[H > 0.5])
        np.testing.assert_array_equal(ad.to_numpy(u[1:-1]), H[1:-1])
        assert np.median(u) == np.median(H) and str(u) == str(H)
        assert ad.shard(u, 1).sharding.shard == (512, 64)


def _heat(u: Any, v: Any) -> Any:
    u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
    u[0, :] = u[1, :]
    u[-1, :] = u[-2, :]
    u[:, 0] = 50.0
    u[:, -1] = 20.0
    return u, v


def _plate(u: Any, v: Any) -> Any:
    new = u.copy()
    new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return new, v


def _wave(before: Any, now: Any) -> Any:
    after = np.zeros_like(now)
    around = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4 * now[1:-1, 1:-1]
    after[1:-1, 1:-1] = 2 * now[1:-1, 1:-1] - before[1:-1, 1:-1] + 0.2 * around
    return now, after


def _around(a: Any) -> Any:
    return np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1) - 4 * a


def _gray_scott(u: Any, v: Any) -> Any:
    reaction = u * v * v
    return u + 0.16 * _around(u) - reaction + 0.035 * (1 - u), v + 0.08 * _around(v) + reaction - 0.095 * v


def _strided(u: Any, v: Any) -> Any:
    u[::2] = v[::2] * 2
    u[1:-1:3, 2::5] = u[:-2:3, :-2:5]
    u[2:4] = v[:1]
    return u, v


ROW = ROWS * 8
STEPS = {  # and rows that a device gets in a step, at most
    _heat: 9,
    _plate: 5,
    _wave: 7,
    _gray_scott: 4,
    _strided: 20,  # every third row goes to where its neighbours are
}


def halos() -> None:
    """Count what a step of a stencil exchanges: rows at the edges of the parts, and never an array."""
    from arraydispatch.engine.compiled_blocks.programs import programs

    for step, rows in STEPS.items():
        jitted = ad.jit(step)
        x, y = ad.asarray(H), ad.asarray(H.T.copy())
        want = step(H.copy(), H.T.copy())
        for got, wanted in zip(jitted(x, y), want, strict=True):
            assert got.sharding.axes == ((0,), ()), got.sharding
            np.testing.assert_allclose(ad.to_numpy(got), wanted, rtol=1e-11, atol=1e-13)
        ((_, program),) = jitted.jitted.programs.values()
        _only_halos(step, program.collectives(), rows)

        before = set(programs())
        x, y = ad.asarray(H), ad.asarray(H.T.copy())
        wx, wy = H.copy(), H.T.copy()
        for _ in range(4):
            (x, y), (wx, wy) = step(x, y), step(wx, wy)
        np.testing.assert_allclose(ad.to_numpy(y), wy, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(ad.to_numpy(x), wx, rtol=1e-11, atol=1e-13)
        if sys.argv[2] == "compiled":
            made = [block.program.call.collectives() for block in programs() if block not in before]
            assert made and any(made)
            for found in made:
                _only_halos(step, found, 4 * rows)


def _only_halos(step: Any, found: list[dict[str, Any]], rows: int) -> None:
    kinds = {each["kind"] for each in found}
    assert kinds <= {"collective-permute", "all-reduce"}, (step.__name__, found)
    assert sum(each["bytes"] for each in found) <= rows * ROW, (step.__name__, found)


def windows() -> None:
    """Slices that begin at many places, which programs are handed: each device answers for its part."""
    from arraydispatch.engine.compiled_blocks.programs import programs

    u, w = ad.asarray(H), H.copy()
    for i in range(40):
        for a in (u, w):
            a[8 * i : 8 * i + 8, 3:7] = a[i : i + 8, 5 + i : 9 + i] * 2
            a[i] += a[i + 1]
            a[i + 1 : i + 300 : 2] *= 0.5
    np.testing.assert_allclose(ad.to_numpy(u), w, rtol=1e-11)
    assert u.sharding.axes == ((0,), ())
    rng = np.random.default_rng(int(sys.argv[3]))
    for _ in range(10):
        step, across = int(rng.choice([1, 1, 2, 3, 5, 90])), int(rng.choice([1, 2]))
        size = int(rng.integers(1, (ROWS - 1) // step))
        first, second = rng.integers(0, ROWS - 1 - (size - 1) * step, 2)
        one, other = ((slice(k, k + (size - 1) * step + 1, step), slice(3, 99, across)) for k in (first, second))
        for a in (u, w):
            a[one] = a[other] + a[:1, 3:99:across]
        np.testing.assert_allclose(ad.to_numpy(u), w, rtol=1e-11, err_msg=str((one, other)))
    for block in programs():
        for each in block.program.call.collectives():
            assert each["kind"] != "all-gather" or each["bytes"] < H.nbytes, each


if __name__ == "__main__":
    ad.use("jax", mesh=8, execution=None if sys.argv[2] == "None" else sys.argv[2], fallback="silent")
    compiled.quickly(sys.argv[4] == "quickly")
    globals()[sys.argv[1]]()
    print("done")
