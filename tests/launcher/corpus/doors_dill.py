import dill
import numpy as np

rng, seeded, x = np.random.default_rng(3), np.random.RandomState(4), np.arange(4.0)
for held in (rng, seeded, x, {"a": [x, rng]}, np.sin, np.ndarray, np.random.RandomState, lambda n: n * np.sin(x) + seeded.rand()):
    read = dill.loads(dill.dumps(held))
    print(type(held).__name__ == type(read).__name__ or callable(read))
print(dill.loads(dill.dumps(rng)).normal(size=2), rng.normal(size=2))
print(dill.loads(dill.dumps(lambda n: n * np.sin(x) + seeded.rand()))(2.0))
