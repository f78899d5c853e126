import multiprocessing
from collections import namedtuple
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from enum import Enum

import numpy as np


@dataclass
class Result:
    name: str
    values: np.ndarray


class Sign(Enum):
    PLUS = 1
    MINUS = -1


class TooLarge(Exception):
    pass


Point = namedtuple("Point", "x y")


class Gives:
    def __array__(self, dtype=None, copy=None):
        return np.arange(3.0)


def given(n):
    x = np.zeros((2, 3))
    x[:] = Gives()
    return np.ones(3) + Gives(), np.array([Gives(), Gives()]), np.concatenate([Gives(), np.ones(n)]), x


def work(n):
    if n > 2:
        raise TooLarge(n)
    return Result(f"of {n}", np.arange(3.0) * n), Sign.MINUS, Point(n, np.sqrt(n)), work


def shown(results):
    for result, sign, point, function in results:
        print(result.name, result.values.tolist(), sign is Sign.MINUS, isinstance(result, Result), point.y == point.x**0.5)
        print(function is work, type(point) is Point)


if __name__ == "__main__":
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        shown(executor.map(work, [1, 2]))
        print([a.tolist() for a in executor.submit(given, 2).result()])
        try:
            executor.submit(work, 3).result()
        except TooLarge as error:
            print("TooLarge", error)
    with multiprocessing.get_context("forkserver").Pool(1) as pool:
        shown(pool.map_async(work, [1, 2]).get(60))
        print([a.tolist() for a in pool.apply(given, (1,))])
