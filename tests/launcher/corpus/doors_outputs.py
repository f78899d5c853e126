"""pandas' and xarray's objects are computed into arrays that are given."""

import operator
import warnings

import numpy as np
import pandas as pd
import xarray as xr

warnings.simplefilter("ignore")
GUESTS = {
    "series": lambda: pd.Series(np.arange(4.0)),
    "labelled": lambda: pd.Series(np.arange(4.0), index=list("abcd")),
    "integers": lambda: pd.Series(np.arange(4), dtype="Int64"),
    "frame": lambda: pd.DataFrame({"a": np.arange(4.0)}).T,
    "index": lambda: pd.Index(np.arange(4.0)),
    "extension": lambda: pd.array([1.0, 2.0, 3.0, None]),
    "xarray": lambda: xr.DataArray(np.arange(4.0), dims="x"),
    "variable": lambda: xr.Variable("x", np.arange(4.0)),
    "dataset": lambda: xr.Dataset({"a": ("x", np.arange(4.0))}),
}
CALLS = {
    "iadd": lambda b, s, o: operator.iadd(b, s),
    "isub": lambda b, s, o: operator.isub(b[::-1], s),
    "imul": lambda b, s, o: operator.imul(b.reshape(2, 2).reshape(-1), s),
    "add": lambda b, s, o: np.add(s, 1, out=b),
    "place": lambda b, s, o: np.add(s, 1, b),
    "both": lambda b, s, o: np.add(o, s, out=b),
    "itself": lambda b, s, o: np.add(b, s, out=b),
    "maximum": lambda b, s, o: np.maximum(s, 2, out=b),
    "sqrt": lambda b, s, o: np.sqrt(s, out=b),
    "where": lambda b, s, o: np.negative(s, out=b, where=o > 1),
    "list": lambda b, s, o: np.add(s, 1, out=b, where=[True, False, True, False]),
    "modf": lambda b, s, o: np.modf(s, out=(b, o)),
    "accumulate": lambda b, s, o: np.add.accumulate(s, out=b),
    "reduceat": lambda b, s, o: np.add.reduceat(s, [0, 1, 2, 3], out=b),
    "reduce": lambda b, s, o: np.add.reduce(s, out=b[:1].reshape(())),
    "at": lambda b, s, o: np.add.at(b, [0, 1, 1, 3], s),
    "read-only": lambda b, s, o: np.add(s, 1, out=np.broadcast_to(b, (4,))),
}
for name, guest in GUESTS.items():
    for call, function in CALLS.items():
        b, o = np.ones(4), np.arange(4.0)
        try:
            made = function(b, guest(), o)
        except Exception as error:
            print(name, call, type(error).__name__, b, o)
        else:
            print(name, call, type(made).__name__, made is b, b, o)

# What comes back is the memory of what was given.
b = np.zeros(3)
made = np.add(np.ones(3), pd.Series([1.0, 2.0, 3.0]), out=b)
b[0] = 9
print(np.asarray(made), b)
b += pd.Series([1.0, 1.0, 1.0])
print(type(b).__name__, np.asarray(b))
