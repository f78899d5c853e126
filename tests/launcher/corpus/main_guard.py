import copy
import pickle
import sys
from dataclasses import dataclass

import numpy as np


@dataclass
class Point:
    x: float
    values: np.ndarray


def double(x):
    return 2 * x


def main():
    point = pickle.loads(pickle.dumps(Point(1.0, np.arange(3.0))))
    print(type(point) is Point, point.x, point.values)
    print(pickle.loads(pickle.dumps(double))(np.ones(2)))
    print(sys.modules["__main__"].Point is Point, __file__ == sys.modules["__main__"].__file__)
    for thing in (np.sin, np.mean, np.zeros, np.ndarray, np.float64, np.linalg.norm, np.random.normal, np.add.reduce, np.r_):
        assert pickle.loads(pickle.dumps(thing)) is not None, thing
    assert pickle.loads(pickle.dumps(np.ndarray)) is np.ndarray
    assert pickle.loads(pickle.dumps(np.mean)) == np.mean == copy.deepcopy(np.mean)
    a = np.arange(4.0)
    b = copy.deepcopy(a)
    b[0] = 9
    print(a, copy.copy(a) + b)


if __name__ == "__main__":
    main()
