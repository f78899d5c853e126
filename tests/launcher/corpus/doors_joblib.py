"""joblib writes arrays into files that can be mapped, and hashes their memory."""

import os
import pickle
import tempfile

import cloudpickle
import joblib
import numpy as np

folder = tempfile.mkdtemp()
x, whole, nested = np.arange(12.0).reshape(3, 4), os.path.join(folder, "whole"), os.path.join(folder, "nested")
joblib.dump(x, whole)
joblib.dump({"a": x, "b": [x.T, 3]}, nested)
for mode in (None, "r", "r+", "c"):
    y, z = joblib.load(whole, mmap_mode=mode), joblib.load(nested, mmap_mode=mode)
    print(mode, isinstance(y, np.memmap), y.flags.writeable, (y + 1).sum(), type(z["a"]).__name__, z["b"][0].tolist())
    if mode == "r+":
        np.asarray(y)[0, 0] = 100
        y.flush()
print(joblib.load(whole)[0])
for held in (x, x.T, x[::2], x[:, 1], np.asfortranarray(x), np.float64(3), {"a": x, "b": [np.ones(2)]}, [x, x], x > 3):
    print(joblib.hash(held), joblib.hash(held, hash_name="sha1"))

memory, calls = joblib.Memory(os.path.join(folder, "cache"), verbose=0), []


@memory.cache
def scaled(a, k=1):
    calls.append(k)
    return a * k


print(scaled(x).sum(), scaled(x.copy()).sum(), scaled(x, k=2).sum(), calls)


class Noise:
    def __init__(self, rng):
        self.rng = rng


rng, seeded = np.random.default_rng(5), np.random.RandomState(7)
for by_value in (
    rng, seeded, rng.normal, seeded.rand, np.random.SeedSequence(3), x, x[0].repeat, np.ndarray, np.sin, np.zeros, Noise(rng),
    lambda n: np.sin(x[:1, :n]) + rng.normal() + seeded.rand() + isinstance(x, np.ndarray),
):  # fmt: skip
    read = pickle.loads(cloudpickle.dumps(by_value))
    print(type(by_value).__name__ == type(read).__name__ or callable(read), read(2) if callable(read) and read is not np.ndarray else "")
print(joblib.Parallel(n_jobs=2)(joblib.delayed(np.random.RandomState(seed).normal)(size=2) for seed in range(3)))


def arrived(a):
    try:
        a[0] = 7
    except ValueError as error:
        refused = str(error)
    else:
        refused = None
    return isinstance(a, np.memmap), type(a).__name__, a.flags.writeable, a.dtype, a.shape, a.strides, float(a.sum()), refused


def several(named, *, by_name):
    return isinstance(named["x"][0], np.memmap), isinstance(by_name, np.memmap), float((named["x"][0] + by_name).sum())


large = np.arange(200_000.0).reshape(400, 500)
sent = large, large.T, large[::-1, ::2], large > 7, large[0], np.arange(3.0), np.asfortranarray(large), large
# Each with a Parallel of its own: joblib may delete a file that one sends a second time.
for kwargs in ({}, {"max_nbytes": 100}, {"mmap_mode": "c"}, {"max_nbytes": None}, {"backend": "multiprocessing"}):
    for each in joblib.Parallel(n_jobs=2, **kwargs)(joblib.delayed(arrived)(a) for a in sent):
        print(kwargs, each)
print(large[0, :3])
print(joblib.Parallel(n_jobs=2)(joblib.delayed(several)({"x": [large]}, by_name=large * k) for k in range(3)))
