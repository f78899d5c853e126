"""Tables for :mod:`arraydispatch.launcher.facade`: names in NumPy's modules that no other module classifies.

The facade's rule for a function that NumPy dispatches is declared where the function is implemented (:mod:`arraydispatch.functions.specs`),
and creation functions are in :mod:`arraydispatch.api.creation`. A test checks every name in NumPy's modules against these, so a new
one is noticed.
"""

from __future__ import annotations

SUBMODULES: frozenset[str] = frozenset(
    "numpy numpy.fft numpy.lib numpy.lib.scimath numpy.lib.stride_tricks numpy.linalg numpy.random numpy.testing".split()
)
"""Modules that have a facade. The others (``ma``, ``polynomial``, ``char`` …) are NumPy's own: they work on the host by
nature and take an ``Array`` through ``__array__``. ``testing`` looks at types, so its assertions get host arrays."""

INDEX_OBJECTS: frozenset[str] = frozenset({"c_", "mgrid", "ogrid", "r_"})
"""Objects that make arrays when they are indexed."""

REAL: frozenset[str] = frozenset(
    "add_docstring add_newdoc asmatrix base_repr binary_repr bmat broadcast_shapes datetime_data"
    " format_float_positional format_float_scientific frompyfunc get_include get_printoptions getbufsize geterr"
    " geterrcall info isdtype isfortran issubdtype iterable mintypecode printoptions promote_types"
    " set_printoptions setbufsize seterr seterrcall show_config show_runtime test typename".split()
)
"""Functions of NumPy that user files get themselves: they have no array argument to move, or no array result."""
