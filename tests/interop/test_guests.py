"""Arrays in the hands of other packages: what docs/how-to/other-packages.md shows, on every backend."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch import interop
from tests.launched import Zygotes, shows_memory
from tests.rows import each

HOST = np.arange(12.0).reshape(3, 4)


@pytest.fixture
def m(backend: str) -> Any:
    return ad.asarray(HOST, backend=backend, copy=True)


def on(x: Any, m: Any) -> Any:
    """The values of what is to be an array of the same backend."""
    assert isinstance(x, ad.Array), type(x)
    assert x.backend is m.backend
    return ad.to_numpy(x)


# -- tables, figures, files ----------------------------------------------------------------------------------------------


def test_pandas(m: Any) -> None:
    pd = pytest.importorskip("pandas")
    with ad.profile() as told:
        frame = pd.DataFrame(m, columns=list("abcd"))
        series = pd.Series(m[:, 1])
        assert (frame.dtypes == np.float64).all() and frame.to_numpy().tolist() == HOST.tolist()
        assert isinstance(series.to_numpy(), np.ndarray) and series.mean() == 5
    assert not any("element" in call.function for call in told.calls())
    assert pd.DataFrame({"x": m[0], "y": m[1]}).sum().tolist() == [6, 22]
    assert on(ad.asarray(frame["b"].to_numpy(), backend=m.backend), m).tolist() == [1, 5, 9]
    assert (series + m[:, 0]).tolist() == [1, 9, 17] == (m[:, 0] + series).tolist()


def test_matplotlib_draws_without_going_through_the_elements(m: Any) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    x = ad.asarray(np.linspace(0, 6, 5000), backend=m.backend)
    figure, axes = plt.subplots(1, 3)
    with ad.profile() as told:
        (line,) = axes[0].plot(x, np.sin(x))
        counts, *_ = axes[1].hist(np.sin(x), bins=10)
        image = axes[2].imshow(m)
        figure.canvas.draw()
    plt.close(figure)
    np.testing.assert_allclose(line.get_ydata(), np.sin(np.linspace(0, 6, 5000)), rtol=1e-12, atol=1e-15)
    assert counts.sum() == 5000 and image.get_array().tolist() == HOST.tolist()
    assert sum(call.count for call in told.calls() if "element" in call.function) < 10


def test_h5py(m: Any, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["m"], file.attrs["k"] = m, m[0]
        part = file.create_dataset("part", (3, 4), "f4")
        part[:, 1:3] = m[:, :2]
        assert file["m"][:].tolist() == HOST.tolist() and file.attrs["k"].tolist() == [0, 1, 2, 3]
        assert part[:, 2].tolist() == [1, 5, 9]
        assert on(ad.asarray(file["m"], backend=m.backend), m).tolist() == HOST.tolist()


def test_zarr(m: Any, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    with ad.profile() as told:
        group = zarr.open_group(tmp_path / "a.zarr", mode="w")
        whole = group.create_array("m", data=m, chunks=(2, 2))
        part = group.create_array("part", shape=(3, 4), dtype="f8")
        part[:, 1:3] = m[:, :2]
        zarr.save(tmp_path / "b.zarr", m[1])
    assert not any("element" in call.function for call in told.calls())
    part.oindex[ad.asarray([0, 2], backend=m.backend)] = m[1:]
    assert whole[:].tolist() == HOST.tolist() and zarr.load(tmp_path / "b.zarr").tolist() == [4, 5, 6, 7]
    assert part[:].tolist() == [[4, 5, 6, 7], [0, 4, 5, 0], [8, 9, 10, 11]]
    assert on(ad.asarray(whole, backend=m.backend), m).tolist() == HOST.tolist()


def test_numpys_files(m: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", m)
    np.savez(tmp_path / "b.npz", m=m, row=m[1])
    assert np.load(tmp_path / "a.npy").tolist() == HOST.tolist()
    with np.load(tmp_path / "b.npz") as found:
        assert found["row"].tolist() == [4, 5, 6, 7]


def test_json(m: Any) -> None:
    said = json.dumps({"mean": m.mean(), "all": m[0].tolist(), "where": int(m.argmax())})
    assert said == '{"mean": 5.5, "all": [0.0, 1.0, 2.0, 3.0], "where": 11}'


def test_scikit_learn(m: Any) -> None:
    pytest.importorskip("sklearn")
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import train_test_split

    data = np.random.default_rng(0).normal(size=(40, 3))
    X, y = ad.asarray(data, backend=m.backend), ad.asarray(data @ [1.0, 2.0, 3.0], backend=m.backend)
    first, _ = train_test_split(X, random_state=0)
    assert on(first, m).tolist() == train_test_split(data, random_state=0)[0].tolist()
    np.testing.assert_allclose(LinearRegression().fit(X, y).coef_, [1, 2, 3])
    np.testing.assert_allclose(PCA(2).fit(X).components_, PCA(2).fit(data).components_)


# -- containers --------------------------------------------------------------------------------------------------------------

STAYS: dict[str, Any] = {
    "itself": lambda a, xr: a,
    "arithmetic": lambda a, xr: 1 + a * a,
    "of integers and floats": lambda a, xr: xr.where(a > 3, a.astype("int64"), 0.5),
    "ufunc": lambda a, xr: np.sin(a),
    "mean": lambda a, xr: a.mean("r"),
    "std": lambda a, xr: a.std("c"),
    "median": lambda a, xr: a.median("c"),
    "quantile": lambda a, xr: a.quantile(0.5, "c"),
    "argmax": lambda a, xr: a.argmax("c"),
    "idxmax": lambda a, xr: a.idxmax("c"),
    "isel": lambda a, xr: a.isel(r=0),
    "sel": lambda a, xr: a.sel(c=2),
    "a mask": lambda a, xr: a[:, a.c > 1],
    "points": lambda a, xr: a.isel(r=xr.DataArray([0, 1], dims="p"), c=xr.DataArray([1, 2], dims="p")),
    "where": lambda a, xr: a.where(a > 3),
    "fillna": lambda a, xr: a.where(a > 3).fillna(0),
    "cumsum": lambda a, xr: a.cumsum("c"),
    "roll": lambda a, xr: a.roll(c=1),
    "shift": lambda a, xr: a.shift(c=1),
    "rolling": lambda a, xr: a.rolling(c=2).mean(),
    "coarsen": lambda a, xr: a.coarsen(c=2).mean(),
    "groupby": lambda a, xr: a.groupby("c").mean(),
    "concat": lambda a, xr: xr.concat([a, a], "r"),
    "dot": lambda a, xr: xr.dot(a, a, dim="c"),
    "transpose": lambda a, xr: a.T,
    "stack": lambda a, xr: a.stack(z=("r", "c")).unstack(),
    "pad": lambda a, xr: a.pad(c=1),
    "diff": lambda a, xr: a.diff("c"),
    "integrate": lambda a, xr: a.integrate("c"),
    "polyfit": lambda a, xr: a.polyfit("c", 1).polyfit_coefficients,
    "reindex": lambda a, xr: a.reindex(c=[0, 9]),
    "sortby": lambda a, xr: a.sortby("c", ascending=False),
    "apply_ufunc": lambda a, xr: xr.apply_ufunc(np.exp, a),
    "a dataset": lambda a, xr: a.to_dataset().mean("r")["q"],
    "corr": lambda a, xr: xr.corr(a, a**2, dim="c"),
}


@each("what", list(STAYS))
def test_xarray_keeps_arrays(what: str, backend: str) -> None:
    xr = pytest.importorskip("xarray")
    made = [
        xr.DataArray(held, dims=("r", "c"), coords={"c": np.arange(4)}, name="q")
        for held in (ad.asarray(HOST, backend=backend), HOST.copy())
    ]
    found, wanted = (STAYS[what](a, xr) for a in made)
    assert isinstance(found.data, ad.Array) and found.data.backend.name == backend, what
    assert found.dims == wanted.dims and found.dtype == wanted.dtype
    np.testing.assert_allclose(ad.to_numpy(found.data), wanted.data, rtol=1e-12, atol=1e-12)


def test_xarray_writes_and_shows(m: Any) -> None:
    xr = pytest.importorskip("xarray")
    a, plain = (xr.DataArray(x, dims=("r", "c"), coords={"k": ("r", x[:, 1])}) for x in (m, HOST.copy()))
    assert a.data is m
    for each_ in (a, plain):
        each_[0, 0] = 5.0
        each_.loc[{"r": 1}] = -1.0
    unmarked = (
        re.sub(r",\s+backend='\w+'", "", repr(a)).replace("    Array(", "    array(").replace("\nArray(", "\narray(")
    )
    assert unmarked == repr(plain) and float(m[0, 0]) == 5 and m[1].tolist() == [-1] * 4
    assert a.to_pandas().equals(plain.to_pandas())


def test_what_a_guest_is_told_can_be_taken_back(m: Any) -> None:
    pytest.importorskip("xarray")
    from xarray.core import duck_array_ops

    assert duck_array_ops.get_array_namespace(m) is np
    interop.uninstall()
    try:
        assert duck_array_ops.get_array_namespace(m) is m.__array_namespace__()
    finally:
        interop.install()
    assert duck_array_ops.get_array_namespace(m) is np
    standard = m.__array_namespace__().asarray(m)
    assert duck_array_ops.get_array_namespace(standard) is m.__array_namespace__()


@shows_memory
@pytest.mark.compiles(2)
def test_dask_holds_chunks(m: Any, drawn: Callable[..., list[Any]]) -> None:
    da = pytest.importorskip("dask.array")
    d = da.from_array(m, chunks=2, asarray=False)
    ways = [
        lambda d: (d + 1).sum(axis=0), np.sin, lambda d: d @ d.T, lambda d: d[1:, ::2], lambda d: d.std(axis=1),
        lambda d: da.concatenate([d, d]), lambda d: d.map_blocks(lambda b: b * 2), lambda d: d.cumsum(axis=0), lambda d: d.rechunk(1),
        lambda d: da.percentile(d.ravel(), [25, 50]),
    ]  # fmt: skip
    for f in drawn(ways, m.backend.name, 2):
        wanted = f(da.from_array(HOST, chunks=2)).compute(scheduler="sync")
        np.testing.assert_allclose(on(f(d).compute(scheduler="sync"), m), wanted, rtol=1e-12)


# -- processes and compilers -------------------------------------------------------------------------------------------------


UNPICKLES = """
import pickle, sys
assert "arraydispatch" not in sys.modules
with open("pickled", "rb") as file:
    x = pickle.load(file)
print(type(x * 2).__name__, x.backend, (x * 2).sum())
"""


def test_a_fresh_process_unpickles(m: Any, tmp_path: Path, zygotes: Zygotes) -> None:
    (tmp_path / "main.py").write_text(UNPICKLES)
    (tmp_path / "pickled").write_bytes(pickle.dumps(m))
    done = zygotes.with_library(m.backend.name).run("main.py", cwd=tmp_path)
    assert done.stdout.split() == ["Array", m.backend.name, "132.0"], done.stderr


def _doubled(x: Any) -> Any:
    return x * 2


def test_joblib(m: Any, tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib")
    found = joblib.Parallel(n_jobs=2, prefer="threads")(joblib.delayed(_doubled)(m + i) for i in range(2))
    assert on(found[1], m).tolist() == ((HOST + 1) * 2).tolist()
    joblib.dump(m, tmp_path / "m")
    assert on(joblib.load(tmp_path / "m"), m).tolist() == HOST.tolist()
    assert joblib.hash(m) == joblib.hash(m + 0) != joblib.hash(m + 1)


@pytest.mark.one_backend  # the interpreter that is started imports its library: that one unpickles is tested on each above
def test_spawned_processes(m: Any) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (found,) = pool.map_async(np.negative, [m]).get(120)
    assert on(found, m).tolist() == (-HOST).tolist()


FORKED = """
import multiprocessing, sys
import numpy as np, arraydispatch as ad
x = ad.asarray(np.arange(3.0), backend=sys.argv[1])
with multiprocessing.get_context("fork").Pool(1) as pool:
    (found,) = pool.map_async(np.negative, [x]).get(60)
print(type(found).__name__, found.backend, found.tolist())
"""


def test_forked_processes(backend: str) -> None:
    if backend in ("jax", "tensorflow"):
        pytest.skip("inapplicable: a library with threads cannot go on in a fork; the launcher has NumPy compute there")
    done = subprocess.run([sys.executable, "-c", FORKED, backend], capture_output=True, text=True)
    assert done.stdout.split(maxsplit=2) == ["Array", backend, "[-0.0, -1.0, -2.0]\n"], done.stderr


def test_numba(m: Any) -> None:
    numba = pytest.importorskip("numba")

    @numba.njit
    def total(x: Any) -> Any:
        found = 0.0
        for i in range(x.shape[0]):
            found += x[i]
        return found

    @numba.vectorize
    def mixed(x: Any, y: Any) -> Any:
        return x * y + 1

    assert total(np.asarray(m[2])) == 38
    with ad.fallback("silent"):
        assert on(mixed(m, 2.0), m).tolist() == (HOST * 2 + 1).tolist()


@pytest.mark.parametrize("dtype", ["f8", "i8", "u1"])
def test_torch_takes_an_array_for_its_numbers_or_not_at_all(backend: str, dtype: str) -> None:
    """``torch.asarray`` takes bytes without a format for ``float32``; it gets the array where that is installed, else no bytes."""
    torch = pytest.importorskip("torch")
    x = ad.asarray(np.arange(8).astype(dtype), backend=backend)
    assert torch.asarray(x).tolist() == list(range(8))
    interop.uninstall()
    try:
        with contextlib.suppress(RuntimeError):  # where nothing is compiled, an array has no buffer to be misread
            assert torch.asarray(x).tolist() == list(range(8))
        assert torch.as_tensor(x).tolist() == list(range(8))
        with pytest.raises((BufferError, TypeError)):
            np.frombuffer(x)
        assert np.frombuffer(x.data, dtype).tolist() == list(range(8))
    finally:
        interop.install()
