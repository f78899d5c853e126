"""Functions by identity: in the program's own classes, tables and pickles a function is what the program has by its name."""

import copy
import functools
import inspect
import pickle

import numpy as np
from numpy import multiply
from numpy.lib.mixins import NDArrayOperatorsMixin

HANDLED = {np.sum: "sum", np.linalg.norm: "norm", np.concatenate: "concatenate", np.add: "add"}


class Quantity(NDArrayOperatorsMixin):
    """What units classes and lazy arrays do."""

    def __init__(self, value, unit):
        self.value, self.unit = value, unit

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        values = [x.value if isinstance(x, Quantity) else x for x in inputs]
        if ufunc is np.multiply and multiply is ufunc:
            unit = "*".join(x.unit for x in inputs if isinstance(x, Quantity))
        elif ufunc is np.add or ufunc in (np.subtract, np.maximum):
            unit = self.unit
        else:
            return ufunc.__name__, type(ufunc) is np.ufunc, isinstance(ufunc, np.ufunc), HANDLED.get(ufunc)
        return Quantity(getattr(ufunc, method)(*values, **kwargs), unit)

    def __array_function__(self, func, types, args, kwargs):
        by_name = next((name for name in ("sum", "mean", "concatenate") if getattr(np, name) is func), None)
        return by_name, func is np.linalg.norm, HANDLED.get(func), func.__name__, [cls.__name__ for cls in types]


class Old(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        arrays = [np.asarray(x) if isinstance(x, Old) else x for x in inputs]
        made = super().__array_ufunc__(ufunc, method, *arrays, **kwargs)
        return np.asarray(made).view(Old) if ufunc is np.add else (ufunc is np.sin, np.asarray(made).tolist())

    def __array_function__(self, func, types, args, kwargs):
        return func is np.flip, super().__array_function__(func, types, args, kwargs).tolist()


q = Quantity(np.arange(3.0), "m")
for made in (q * q, np.ones(3) * q, q + 1, np.multiply.outer(q, q), np.add.reduce(q), np.maximum(q, 1)):
    print(np.asarray(made.value).tolist(), made.unit)
print(np.sin(q), np.sum(q), np.mean(q, axis=0), np.linalg.norm(q), np.concatenate([q, np.ones(2)]), np.median(q))
old = np.arange(3.0).view(Old)
print(type(old + 1).__name__, (old + 1).view(np.ndarray).tolist(), np.sin(old), np.flip(old))
print(type(np.ones(3) + old).__name__, type(old + np.ones(3)).__name__, type(np.add(old, old)).__name__)
print(inspect.isfunction(inspect.unwrap(Quantity.__array_function__)))

print(type(np.add) is np.ufunc, type(np.add).__name__, isinstance(np.add, np.ufunc), np.add.__class__ is np.ufunc, np.ufunc)
print(np.add.reduce.__self__ is np.add, np.add.reduce.__name__, type(np.frompyfunc(len, 1, 1)) == np.ufunc)
print(np.ufunc.reduce(np.add, np.ones((2, 3)), axis=1).tolist(), np.ufunc.outer(np.add, [1, 2], [3, 4]).tolist())
print(np.ufunc.accumulate(np.add, np.ones(3)).tolist(), np.ufunc.reduceat(np.add, np.ones(4), [0, 2]).tolist())
counts = np.zeros(3)
np.ufunc.at(np.add, counts, [0, 0, 2], 1)
print(counts.tolist(), np.ufunc.__call__(np.add, 1, 2), np.ufunc.reduce.__name__, np.ufunc.reduce)
print(pickle.loads(pickle.dumps(np.ufunc)) is np.ufunc, np.abs is np.absolute, np.concat is np.concatenate)
for wrong in (lambda: np.ufunc(), lambda: np.ufunc.reduce(3, [1])):
    try:
        wrong()
    except TypeError as error:
        print(error)

for module in (np, np.linalg, np.fft):
    for name in sorted(module.__all__):
        f = getattr(module, name)
        if not callable(f) or isinstance(f, type) or name == "test":
            continue
        try:
            shown = str(inspect.signature(f))
        except ValueError:
            shown = "none"
        wrapped = functools.wraps(f)(lambda: 0)
        print(
            name, shown, f.__name__, getattr(f, "__module__", None), f.__class__.__name__, getattr(f, "__qualname__", None),
            bool(f.__doc__), sorted(n for n in vars(wrapped) if n[:2] == "__"), wrapped.__wrapped__ is f, inspect.isbuiltin(f), inspect.isfunction(f),
            inspect.unwrap(f) is f, f == f, hash(f) == hash(f), pickle.loads(pickle.dumps(f)) is f, copy.deepcopy(f) is f,
        )  # fmt: skip
for function in (np.asarray, np.zeros, np.sum, np.linalg.norm, np.add, np.add.reduce, np.ma.array):
    print(function.__name__, getattr(function, "__annotations__", None))
