import multiprocessing

import numpy as np


def double(x):
    return x * 2.0


if __name__ == "__main__":
    x = np.arange(12.0).reshape(3, 4)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print([y.sum() for y in pool.map(double, [x, x[0], x.T, x[:, 1:3], x[::-1]])])
        for method in (x.__getitem__, x.__add__, x.__rsub__, x.__eq__, x.sum, x.take, x.__array__()[0].__getitem__):
            print([getattr(y, "tolist", lambda y=y: y)() for y in pool.map_async(method, [1]).get(60)])
        print(pool.map_async(np.ndarray.sum, [x]).get(60), pool.map_async(np.ndarray.__len__, [x]).get(60))
