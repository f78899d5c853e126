"""Objects that show the memory of a large array by the ``__array_interface__`` that they have read from it."""

import numpy as np


class Shown:
    def __init__(self, array):
        self.array, self.__array_interface__ = array, array.__array_interface__


for size in (6, 300_000):
    source = np.ones(size)
    window = np.asarray(Shown(source))
    before = window * 2
    source[0] = 5
    print(before[0], window[0], source.__array_interface__["data"][1])
    pending = source * 2
    window[1] = 6
    print(pending[1], source[1], float(pending.sum()), float((source + 1).sum()))
    fixed = np.linspace(0, 1, size) * 2
    fixed.flags.writeable = False
    print(fixed.__array_interface__["data"][1], np.asarray(Shown(fixed)).flags.writeable, fixed[-1])
