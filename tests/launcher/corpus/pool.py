import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np

SCALE = np.array([1.0, 2.0, 3.0])


def work(x):
    y = x**2 * SCALE
    y[0] = x.sum()
    return y


def total(n):
    return float(np.add.reduce(np.arange(n) * SCALE[1]))


if __name__ == "__main__":
    inputs = [np.array([1.0, 4.0, 9.0]) * k for k in range(1, 4)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for y in pool.map(work, inputs):
            print(y.tolist())
        print(pool.map(total, [3, 4]))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        print([y.tolist() for y in executor.map(work, inputs)])
    print(sum(inputs).tolist())
