"""A class of the program's own that answers NumPy's protocols: it is handed what NumPy hands it, whatever is called how."""

import inspect

import numpy as np
import numpy.lib.recfunctions
from numpy.testing import overrides


def shown(value):
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(shown, value)]
    if isinstance(value, dict):
        return {key: shown(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray or value.dtype == object, value.dtype.str, value.tolist()
    if isinstance(value, type):
        return value.__name__
    return getattr(value, "__name__", None) or repr(value)


class Recording:
    """Keeps what it is handed, and answers with what is no array."""

    met = []
    ever = set()

    def __repr__(self):
        return type(self).__name__

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        self.ever.add(ufunc)
        self.met.append([ufunc.__name__, type(ufunc) is np.ufunc or (ufunc not in own and type(ufunc) == np.ufunc), method, shown(inputs), shown(kwargs)])
        return 7

    def __array_function__(self, func, types, args, kwargs):
        self.ever.add(func)
        self.met.append([func.__name__, sorted(map(shown, types)), shown(args), shown(kwargs)])
        self.met.append(func is named.get((func.__module__, func.__name__), func))
        return self.answer()

    def answer(self):
        return 7


class Shaped(Recording):
    """Has an array's attributes too."""

    shape, ndim, size, dtype = (2,), 1, 2, np.dtype(float)

    def __len__(self):
        return 2

    def __getitem__(self, key):
        return [1.0, 2.0][key]

    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0])

    def answer(self):
        return [self, np.arange(2)]


class Declining(Recording):
    def __array_function__(self, func, types, args, kwargs):
        super().__array_function__(func, types, args, kwargs)
        return NotImplemented

    __array_ufunc__ = None


MODULES = (
    np, np.linalg, np.fft, np.lib.stride_tricks, np.lib.scimath, np.lib.recfunctions, np.char, np.strings, np.polynomial.polynomial, np._core.umath,
)  # fmt: skip
OVERRIDABLE = overrides.get_overridable_numpy_array_functions() | overrides.get_overridable_numpy_ufuncs()
own = set(filter(callable, vars(np).values()))
named = {(module.__name__, name): getattr(module, name) for module in MODULES for name in dir(module) if callable(getattr(module, name))}
BESIDES = {"subok": True, "axis": 0, "dtype": float, "copy": False, "num": 5, "endpoint": False, "indexing": "ij", "sparse": True}

WAYS = {
    "select": lambda q, a: [(([q], [a]), {}), (([a > 0], [q]), {})],
    "ravel_multi_index": lambda q, a: [(((q, q), (2, 2)), {})],
    "fromfunction": lambda q, a: [((min, (2, 2)), {"like": q})],
    "fromiter": lambda q, a: [(([1.0, 2.0], float), {"like": q})],
    "_replace": lambda q, a: [((q, q, q, q), {})],
    "full": lambda q, a: [((2, 3.0), {"like": q})],
}


def ways(q, function):
    a = np.arange(2.0)
    if function.__name__ == "fromstring":  # it reads memory, and arrays show theirs only where the core is compiled
        a = a.tobytes()
    for args in ((q,), (q, q), (q, q, 3), (q, q, q), (a, q), (q, a), (3, q), ([q, q],), ([a, q],), ([[q], [a]],), (0, q, 3), (q, 1, q)):
        yield args, {}
    yield from WAYS.get(function.__name__, lambda q, a: ())(q, a)
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        parameters = {"like": None}
    if "like" in parameters:
        yield (2,), {"like": q}
    required = [p.name for p in parameters.values() if p and p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    if required:
        yield (), dict.fromkeys(required, q)
    for name, value in BESIDES.items():
        if name in parameters:
            yield (q,) * max(len(required), 1), {name: value}
    for name in ("out", "where", "like", "dtype", "weights", "initial", "bins"):
        if name in parameters:
            yield (a,) * max(len(required), 1), {name: q}


for (module, name), function in sorted(named.items(), key=lambda each: each[0]):
    # TensorFlow gives NumPy an `expm1x`.
    if isinstance(function, type) or name in ("expm1x", "info", "test") or (function not in OVERRIDABLE and name[0] == "_"):
        continue
    for cls in (Recording, Shaped, Declining):
        q = cls()
        for number, (args, kwargs) in enumerate(ways(q, function)):
            if name == "full_like" and not (args and args[0] is q):  # which shows memory that nobody filled
                continue
            Recording.met.clear()
            try:
                answer = shown(function(*args, **kwargs))
            except Exception as error:
                answer = type(error).__name__, str(error)
            if Recording.met:
                print(module, name, cls.__name__, number, Recording.met, answer)

print("left out", sorted({function.__name__ for function in OVERRIDABLE} - {function.__name__ for function in Recording.ever}))
