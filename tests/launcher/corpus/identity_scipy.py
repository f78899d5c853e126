"""SciPy's functions by identity: they are found in SciPy's own tables, inspected, wrapped, hashed and pickled as SciPy's."""

import copy
import functools
import inspect
import pickle
import re
import types

import cloudpickle
import numpy as np
import scipy.fft
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.sparse.linalg
import scipy.spatial.distance
import scipy.special
import scipy.stats
from scipy._lib import _array_api
from scipy.ndimage import correlate

KNOWN = list(_array_api.xp_capabilities_table)
print(
    {scipy.ndimage.correlate: 1}[correlate],
    correlate in {scipy.ndimage.correlate},
    correlate is scipy.ndimage.correlate,
)
for module in (
    scipy.fft, scipy.interpolate, scipy.linalg, scipy.ndimage, scipy.signal, scipy.signal.windows, scipy.sparse, scipy.sparse.linalg, scipy.spatial.distance,
    scipy.special, scipy.stats,
):  # fmt: skip
    for name in sorted(module.__all__):
        f = getattr(module, name)
        if not callable(f) or isinstance(f, (type, np.ufunc)) or name == "test":
            continue
        wrapped = functools.wraps(f)(lambda: 0)
        try:
            shown = re.sub(" at 0x[0-9a-f]+", "", str(inspect.signature(f)))
        except ValueError:
            shown = "none"
        try:
            pickled = pickle.loads(pickle.dumps(f)) is f
        except (pickle.PicklingError, TypeError, AttributeError):
            pickled = "not pickled"
        try:
            source = len(inspect.getsource(f))
        except TypeError:
            source = "compiled"
        print(
            name, shown, getattr(f, "__name__", None), f.__module__, f.__class__.__name__, inspect.isfunction(f),
            f in _array_api.xp_capabilities_table, f in KNOWN, sorted(vars(wrapped)), wrapped.__wrapped__ is f,
            inspect.unwrap(f) is f, isinstance(f, types.FunctionType), pickled if pickled is not False else "another",
            copy.copy(f) is f if isinstance(f, types.FunctionType) else "", source,
        )  # fmt: skip
marks = _array_api.make_xp_pytest_marks(scipy.ndimage.correlate, scipy.signal.convolve)
print(len(marks), {scipy.linalg.lapack.dgesv: 1}[scipy.linalg.lapack.dgesv], hash(scipy.linalg.blas.dgemm) != 0)
print(scipy.ndimage.correlate(np.arange(4.0), [1, 1]).tolist())


class Held:
    method = scipy.linalg.expm


print(
    inspect.ismethod(Held().method),
    pickle.loads(pickle.dumps(functools.partial(scipy.linalg.expm))).func is scipy.linalg.expm,
)
for f in (np.add, np.sum, scipy.ndimage.correlate, scipy.linalg.expm):
    print(cloudpickle.loads(cloudpickle.dumps(f)) is f)
