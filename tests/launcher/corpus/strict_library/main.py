"""A library that nobody here knows asks ``isinstance(x, np.ndarray)``."""

import os
import sys
from functools import singledispatch

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "site-packages"))
import strict

x = np.linspace(0, 1, 12).reshape(3, 4)
print(strict.mean_of_all(x), strict.mean_of_all(2.5), strict.mean_of_all([1.0]))
print(strict.solve(x[0]), strict.solve((x[0], x[1])))
print(strict.filled(x[1], 7.0), strict.filled([1, 2], 3))
print(x)
print(strict.doubled(x), strict.doubled([x[0]]), strict.doubled(np.array(["a"], object)), strict.doubled.dispatch(np.ndarray)(x[0]))
print(strict.extended(x), strict.extended(x[0, 0]), strict.extended(np.array(["a"])))
strict.extended.register(np.ndarray, lambda x: "the program's")
print(strict.extended(x), strict.extended(3))
print(strict.describe(x), strict.describe([x]))
model = strict.Model(np.arange(4.0))
print(model.predict(x), model.predict([x, x[:1]]))
try:
    strict.Model([1.0, 2.0])
except TypeError as error:
    print(error)
print(type(x) is np.ndarray, x.__class__ is np.ndarray, isinstance(x, np.ndarray))


@singledispatch
def kind(x):
    return "something"


@kind.register(np.ndarray)
def _(x):
    return "array"


print(kind(x), kind(1), kind(np.array(["a"], object)), kind(np.ma.ones(2)))
