"""A class of the program's own that answers NumPy's protocols: it is handed what NumPy hands it, whatever is called how."""

import inspect

import numpy as np


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

    def __repr__(self):
        return type(self).__name__

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        self.met.append([ufunc.__name__, type(ufunc) is np.ufunc, method, shown(inputs), shown(kwargs)])
        return 7

    def __array_function__(self, func, types, args, kwargs):
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


MODULES = np, np.linalg, np.fft, np.lib.stride_tricks
named = {(module.__name__, name): getattr(module, name) for module in MODULES for name in getattr(module, "__all__", dir(module)) if name[0] != "_"}
BESIDES = {"subok": True, "axis": 0, "dtype": float, "copy": False, "num": 5, "endpoint": False, "indexing": "ij", "sparse": True}


def ways(q, function):
    a = np.arange(2.0)
    for args in ((q,), (q, q), (q, q, 3), (q, q, q), (a, q), (q, a), (3, q), ([q, q],), ([a, q],), ([[q], [a]],), (0, q, 3), (q, 1, q)):
        yield args, {}
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        return
    required = [p.name for p in parameters.values() if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    if required:
        yield (), dict.fromkeys(required, q)
    for name, value in BESIDES.items():
        if name in parameters:
            yield (q,) * max(len(required), 1), {name: value}
    for name in ("out", "where", "like", "dtype", "weights", "initial", "bins"):
        if name in parameters:
            yield (a,) * max(len(required), 1), {name: q}


for (module, name), function in sorted(named.items()):
    if not callable(function) or isinstance(function, type) or name in ("test", "info", "show_config", "show_runtime", "get_include"):
        continue
    if name in ("save", "savez", "savez_compressed", "savetxt", "fromfile", "load", "loadtxt", "genfromtxt", "fromregex", "full_like"):  # which shows memory that nobody filled
        continue
    for cls in (Recording, Shaped, Declining):
        q = cls()
        for number, (args, kwargs) in enumerate(ways(q, function)):
            Recording.met.clear()
            try:
                answer = shown(function(*args, **kwargs))
            except Exception as error:
                answer = type(error).__name__, str(error)
            if Recording.met:
                print(module, name, cls.__name__, number, Recording.met, answer)
