import multiprocessing

import numpy as np

OFFSET = np.array([10.0, 20.0])


def work(x):
    return np.sqrt(x) + OFFSET, float(np.sum(x))


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        for values, total in pool.map(work, [np.array([1.0, 4.0]), np.array([9.0, 16.0])]):
            print(values.tolist(), total)
