"""Tables for :mod:`arraydispatch.launcher.facade`: names in NumPy's modules that no other module classifies.

The facade's rule for a function that NumPy dispatches is declared where the function is implemented (:mod:`arraydispatch.functions.specs`),
and creation functions are in :mod:`arraydispatch.api.creation`. A test checks every name in NumPy's modules against these, so a new
one is noticed.
"""

from __future__ import annotations

ON_THE_HOST: frozenset[str] = frozenset(
    "numpy.char numpy.ctypeslib numpy.lib.array_utils numpy.lib.format numpy.lib.npyio numpy.lib.recfunctions numpy.ma numpy.ma.core"
    " numpy.ma.extras numpy.polynomial numpy.polynomial.chebyshev numpy.polynomial.hermite numpy.polynomial.hermite_e"
    " numpy.polynomial.laguerre numpy.polynomial.legendre numpy.polynomial.polynomial numpy.polynomial.polyutils numpy.rec numpy.strings".split()
)
"""Modules of functions that work on the host by nature: they take an ``Array`` through ``__array__``, and a user file gets the ndarrays
that they return as arrays."""

SUBMODULES: frozenset[str] = ON_THE_HOST | frozenset(
    "numpy numpy.fft numpy.lib numpy.lib.scimath numpy.lib.stride_tricks numpy.linalg numpy.random numpy.testing".split()
)
"""Modules that have a facade. ``testing`` looks at types, so its assertions get host arrays."""

INDEX_OBJECTS: frozenset[str] = frozenset({"c_", "mgrid", "ogrid", "r_"})
"""Objects that make arrays when they are indexed."""

OF_DATES: frozenset[str] = frozenset({"busday_count", "is_busday"})
"""Functions of dates, which exist only on the host, whose results are no dates."""

REAL: frozenset[str] = frozenset(
    "add_docstring add_newdoc asmatrix base_repr binary_repr bmat broadcast_shapes datetime_data"
    " format_float_positional format_float_scientific frompyfunc get_include get_printoptions getbufsize geterr"
    " geterrcall info isdtype isfortran issubdtype iterable mintypecode printoptions promote_types"
    " set_printoptions setbufsize seterr seterrcall show_config show_runtime test typename".split()
)
"""Functions of NumPy that user files get themselves: they have no array argument to move, or no array result."""
