"""Functions that NumPy runs on the host on every backend, each for a reason that no implementation could remove.

Functions that could run on a device but do not yet are not listed here, because the registry reports every function it does
not know. ``writes`` gives the arguments that a function writes into, so that the arrays on the device are written too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.char
import numpy.lib.recfunctions as rfn

from .registry import describe, on_host


def _dispatched(*modules: Any) -> tuple[Any, ...]:
    """Return the functions of these modules that NumPy dispatches, each once."""
    functions = [f for module in modules for f in vars(module).values() if type(f) is type(np.sum)]
    return tuple(dict.fromkeys(functions))


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
on_host("arrays of strings exist only on the host", *_dispatched(np.strings, np.char))
on_host(
    "dates exist only on the host", np.busday_count, np.busday_offset, np.is_busday, np.datetime_as_string, looks=True
)
on_host(
    "structured arrays exist only on the host",
    *(
        f
        for f in _dispatched(rfn)
        if f.__module__ == rfn.__name__ and f not in (rfn.recursive_fill_fields, rfn.assign_fields_by_name)
    ),
)
on_host("structured arrays exist only on the host", rfn.recursive_fill_fields, writes=(1,))
on_host("structured arrays exist only on the host", rfn.assign_fields_by_name, writes=(0,))
describe(np.fromregex, makes=True)
describe(np.empty, unverified="uninitialized memory")
