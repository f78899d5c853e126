"""``numpy.lib.recfunctions``: NumPy runs them on the host, because no library has structured arrays."""

from __future__ import annotations

import numpy.lib.recfunctions as rfn

from .registry import dispatched, on_host

on_host(
    "structured arrays exist only on the host",
    *(
        f
        for f in dispatched(rfn)
        if f.__module__ == rfn.__name__ and f not in (rfn.recursive_fill_fields, rfn.assign_fields_by_name)
    ),
)
on_host("structured arrays exist only on the host", rfn.recursive_fill_fields, writes=(1,))
on_host("structured arrays exist only on the host", rfn.assign_fields_by_name, writes=(0,))
