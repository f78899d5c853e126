"""What NumPy's and SciPy's functions return to a script that gives them no array is its ``np.ndarray``, whatever module they are in."""

import contextlib
import ctypes
import importlib
import inspect
import io
import pickle
import shelve
import sys
import tempfile
import warnings
from collections import OrderedDict, defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import numpy.ctypeslib
import numpy.lib.format
import numpy.lib.recfunctions as rfn
import numpy.ma as ma

NUMPYS = (
    "numpy linalg fft ma lib.stride_tricks lib.scimath lib.array_utils polynomial.polynomial polynomial.chebyshev polynomial.legendre"
    " polynomial.hermite polynomial.hermite_e polynomial.laguerre polynomial.polyutils char strings rec"
).split()
SCIPYS = "special fft fftpack signal signal.windows constants spatial.distance".split() if "scipy" in sys.argv else []
ROW, GRID, TABLE = [1.5, 2.5, 0.5, 4.0], [[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 5.0]], [[1, 2], [3, 4]]
CALLS = [
    (3,), (0.5,), (ROW,), (GRID,), ([3, 1, 2],), (3, 2), (1, 0.5), (ROW, ROW), (TABLE, TABLE), (ROW, 2), (0.5, ROW), (2, ROW), (ROW, ROW, 2), (1, 2, ROW),
    (0.5, 1.0, ROW), (["a", "b"],), (["a", "b"], "a"), ([True, False], [1, 2], [3, 4]),
]  # fmt: skip
SKIPPED = {
    "busdaycalendar", "from_dlpack", "frompyfunc", "get_include", "info", "kmeans", "nditer", "nested_iters", "poly1d", "save", "savetxt", "savez",
    "savez_compressed", "show_config", "show_runtime", "source", "test", "vectorize", "memmap", "record", "void", "recarray", "matrix", "fromregex", "empty",
    "empty_like", "fftfreq", "rfftfreq", "set_printoptions", "set_string_function", "setbufsize", "seterr", "seterrcall",
}  # fmt: skip


def arrays(made):
    if isinstance(made, np.ndarray) and made.dtype.kind in "biufc" and made.dtype != np.longdouble:
        yield made
    elif isinstance(made, list | tuple):
        for part in made:
            yield from arrays(part)


warnings.simplefilter("ignore")
for module in [f"numpy.{name}".removesuffix(".numpy") for name in NUMPYS] + [f"scipy.{name}" for name in SCIPYS]:
    seen = importlib.import_module(module)
    for name in sorted(getattr(seen, "__all__", dir(seen))):
        function = getattr(seen, name)
        if name in SKIPPED or name.startswith("_") or not callable(function) or inspect.isclass(function):
            continue
        if "MultiUFunc" in type(function).__name__:
            continue
        shown = []
        for args in CALLS:
            with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
                made = function(*args)
                shown += [(type(x) is np.ndarray, x.dtype.str, x.shape) for x in arrays(made) if type(x).__name__ == "ndarray"]
        print(module, name, shown)


def show(name, x):
    print(name, type(x) is np.ndarray, x.dtype, x.tolist(), x.flags.writeable)


x = np.arange(4.0)
packed = {
    "ordered": OrderedDict(a=x), "default": defaultdict(list, a=[x]), "deque": deque([x]), "namespace": SimpleNamespace(a=x),
}  # fmt: skip
made = pickle.loads(pickle.dumps(packed))
for name, part in zip(packed, (made["ordered"]["a"], made["default"]["a"][0], made["deque"][0], made["namespace"].a)):
    show(name, part)


class Own(pickle.Unpickler):
    def persistent_load(self, pid):
        return pid


for kind in (pickle.Unpickler, pickle._Unpickler, Own, type("Sub", (pickle._Unpickler,), {})):
    show(kind.__name__, kind(io.BytesIO(pickle.dumps(x))).load())
print(pickle.Unpickler.__name__, pickle.Unpickler.__module__, issubclass(Own, pickle.Unpickler))
with tempfile.TemporaryDirectory() as folder, shelve.open(f"{folder}/shelf") as shelf:
    shelf["x"], shelf["d"] = x, {"x": x}
    for name, part in (("shelf", shelf["x"]), ("get", shelf.get("x")), ("in a dict", shelf["d"]["x"]), ("value", list(shelf.values())[0])):
        show(name, part if isinstance(part, np.ndarray) else part["x"])
file = io.BytesIO()
np.lib.format.write_array(file, x)
file.seek(0)
show("format", np.lib.format.read_array(file))
with ThreadPoolExecutor(1) as pool:
    show("pool", next(pool.map(np.sqrt, [[1.0, 4.0]])))

m = ma.array([1.0, 2, 3], mask=[0, 1, 0])
held, mask = ma.getdata(m), ma.getmaskarray(m)
later = held * 2
held[0], mask[2] = 7, True
print(m.tolist(), ma.getdata(m) is not None, (held + 1).tolist(), later.tolist(), type(held) is np.ndarray, type(mask) is np.ndarray)
m[0] = 9
print(held.tolist(), (held * 2).tolist())
for size in 24, 300000:
    values = np.arange(float(size))
    masked = ma.array(values % 13, mask=False)
    mask = ma.getmaskarray(masked)
    mask[3] = True
    same = ma.make_mask(mask, copy=False)
    same[4] = True
    print(masked.count(), mask.sum(), same.sum())
    before, filled = values * 2, ma.filled(values)
    filled[0] = 50
    print(values[0], filled is values, before[0], (values * 2)[0])
    more = values + 1
    before, data = more * 2, ma.getdata(more)
    data[1] = 60
    print(more[:3].tolist(), before[:3].tolist(), (more + 1)[:3].tolist(), data is more)
    kept = ma.array(more, copy=False)
    kept[2] = 7
    print(more[2], (more + 1)[2], ma.getdata(kept)[2], ma.mean(more), ma.median(more), ma.where(more > 3, more, 0)[:2])
c = (ctypes.c_double * 3)(1, 2, 3)
for name, seen in (("array", np.ctypeslib.as_array(c)), ("pointer", np.ctypeslib.as_array(ctypes.cast(c, ctypes.POINTER(ctypes.c_double)), (3,)))):
    twice = seen * 2
    c[0] += 1
    seen[1] = 8
    print(name, type(seen) is np.ndarray, list(c), seen.tolist(), twice.tolist(), (seen + 1).tolist())
made = rfn.unstructured_to_structured(np.ones((2, 2)))
print(made.dtype, made["f0"].dtype, made["f0"].tolist())
print([type(part) is np.ndarray for part in (*np.unique_all(3), *np.broadcast_arrays(1, 2))])
print(np.polynomial.polynomial.polyval.__name__, np.polynomial.polynomial.polyval == pickle.loads(pickle.dumps(np.polynomial.polynomial.polyval)))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    np.polynomial.polynomial.polyfit([1, 1, 1], [1, 2, 3], 2)
    print([(each.filename == __file__, each.lineno - inspect.currentframe().f_lineno, each.category.__name__) for each in caught])
