"""Subclasses of ndarray that implement NumPy's protocols, beside arrays; and classes whose results NumPy wraps."""

import numpy as np


class Logged(np.ndarray):
    """The example of NumPy's manual for ``__array_ufunc__``."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        seen.append((ufunc is getattr(np, ufunc.__name__), method, len(inputs), out is not None))
        inputs = [x.view(np.ndarray) if isinstance(x, Logged) else x for x in inputs]
        outputs = out
        if outputs:
            kwargs["out"] = tuple(x.view(np.ndarray) if isinstance(x, Logged) else x for x in outputs)
        else:
            outputs = (None,) * ufunc.nout
        made = super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        if made is NotImplemented:
            return NotImplemented
        if method == "at":
            return None
        made = made if isinstance(made, tuple) else (made,)
        found = tuple(np.asarray(x).view(Logged) if into is None else into for x, into in zip(made, outputs))
        return found[0] if len(found) == 1 else found


class Unit(np.ndarray):
    """Its results are of its own class, in place too."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        inputs = [x.view(np.ndarray) if isinstance(x, Unit) else x for x in inputs]
        if out:
            kwargs["out"] = tuple(x.view(np.ndarray) if isinstance(x, Unit) else x for x in out)
        made = super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        return made.view(Unit) if isinstance(made, np.ndarray) else made


class Named(np.ndarray):
    def __array_function__(self, func, types, args, kwargs):
        seen.append((func.__name__, len(types)))
        return super().__array_function__(func, types, args, kwargs)


class Wrapped:
    def __array__(self, dtype=None, copy=None):
        return np.arange(1.0, 4.0)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        function = None if context is None else context[0]
        seen.append((type(array) is np.ndarray, function is np.add, function is np.sqrt, return_scalar))
        return ("wrapped", float(array.sum()))


class WrappedAlone(Wrapped):
    def __array_wrap__(self, array, context=None):
        seen.append((type(array) is np.ndarray, context is not None and context[1][0] is self))
        return array


seen = []
for size in (5, 300_000):
    x, a = np.linspace(0, 1, size), np.arange(size * 1.0).view(Logged)
    calls = {
        "a + a": lambda: a + a,
        "x + a": lambda: x + a,
        "a + x": lambda: a + x,
        "add": lambda: np.add(x, a),
        "pending": lambda: (x * 2) + a,
        "divmod": lambda: np.divmod(a, x + 1)[1],
        "out x": lambda: np.add(a, 1, out=x),
        "out a": lambda: np.add(x, 1, out=a),
        "where": lambda: np.add(a, 1, where=x > 0.5, out=a),
        "x += a": lambda: x.__iadd__(a),
        "a += x": lambda: a.__iadd__(x),
        "reduce": lambda: np.add.reduce(a),
        "at": lambda: np.add.at(a, [0, 1], x[:2]),
        "at x": lambda: np.add.at(x, [0, 1], a[:2]),
    }
    for name, call in calls.items():
        made = call()
        print(name, type(made).__name__, made is x, made is a, round(float(x[:9].sum() + np.asarray(a)[:9].sum()), 6))
    u, kept = (np.arange(size) * 2.0).view(Unit), x
    x += u
    print(type(x).__name__, type(kept).__name__, round(float(kept[:5].sum()), 6), type(u * kept).__name__)
    named, y = np.arange(3.0).view(Named), np.linspace(0, 1, size)
    print(type(np.concatenate([y[:2], named])).__name__, np.sum(named), np.dot(named, y[:3]))
    print(np.add(Wrapped(), 1), np.sqrt(Wrapped()), y[:3] + Wrapped(), np.round(Wrapped()), np.cumsum(Wrapped()))
    made = np.sqrt(WrappedAlone())
    print(type(made) is np.ndarray, made.round(3))
print(seen)
