import dill
import numpy as np

rng, seeded, x = np.random.default_rng(3), np.random.RandomState(4), np.arange(4.0)
for held in (rng, seeded, x, {"a": [x, rng]}, np.sin, np.ndarray, np.random.RandomState, lambda n: n * np.sin(x) + seeded.rand()):
    read = dill.loads(dill.dumps(held))
    print(type(held).__name__ == type(read).__name__ or callable(read))
print(dill.loads(dill.dumps(rng)).normal(size=2), rng.normal(size=2))
for method in (x.sum, x.mean, x.__len__):
    print(dill.loads(dill.dumps(method))())
for method in (x.__getitem__, x.__add__, x.__radd__, x.item, x.take):
    print(dill.loads(dill.dumps(method))(3))
print(dill.loads(dill.dumps(rng.normal))(size=2), rng.normal(size=2), dill.loads(dill.dumps(seeded.rand))(2))
print(dill.loads(dill.dumps(np.ndarray.sum))(x), dill.loads(dill.dumps(np.ndarray.__len__))(x))
print(dill.loads(dill.dumps(np.ndarray)) is np.ndarray)
print(dill.loads(dill.dumps(np.random.Generator.normal))(rng, size=2))
print(dill.loads(dill.dumps(lambda n: n * np.sin(x) + seeded.rand()))(2.0))
