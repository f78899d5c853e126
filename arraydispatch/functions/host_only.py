"""Functions that NumPy runs on the host on every backend, each for a reason that no implementation could remove.

Functions that could run on a device but do not yet are not listed: the registry reports every function that it does
not know. ``writes``: the arguments that a function writes into, so that the arrays on the device are written too.
"""

from __future__ import annotations

import numpy as np

from .registry import describe, on_host

on_host(
    "it writes a file, which the host does",
    np.save,
    np.savez,
    np.savez_compressed,
    np.savetxt,
    files=True,
)
on_host("it reads a file, which the host does", np.loadtxt, np.genfromtxt, np.fromfile, makes=True)
on_host("it parses text, which the host does", np.fromstring, makes=True)
on_host("its data is in the host's memory", np.frombuffer)
on_host("its elements come from Python one by one", np.fromiter, makes=True)
on_host("it makes a string, which the host does", np.array2string, np.array_repr, np.array_str, raw=True, looks=True)
on_host(
    "dates exist only on the host", np.busday_count, np.busday_offset, np.is_busday, np.datetime_as_string, looks=True
)
describe(np.fromregex, makes=True)
describe(np.empty, unverified="uninitialized memory")
