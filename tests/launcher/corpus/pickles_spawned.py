import multiprocessing

import numpy as np


def double(x):
    return x * 2.0


if __name__ == "__main__":
    x = np.arange(12.0).reshape(3, 4)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print([y.sum() for y in pool.map(double, [x, x[0], x.T, x[:, 1:3], x[::-1]])])
