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
"""Modules that have a facade. ``testing`` looks at types, so its comparisons get host arrays."""

CALL_THEIR_ARGUMENT: frozenset[str] = frozenset(
    "assert_no_gc_cycles assert_no_warnings assert_raises assert_raises_regex assert_warns".split()
)
"""Assertions that hand the others of their arguments on to a function of the program: it gets the arrays themselves, which it may write."""

INDEX_OBJECTS: frozenset[str] = frozenset({"c_", "mgrid", "ogrid", "r_"})
"""Objects that make arrays when they are indexed."""

OF_DATES: frozenset[str] = frozenset({"busday_count", "is_busday"})
"""Functions of dates, which exist only on the host, whose results are no dates."""
