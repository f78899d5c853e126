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
