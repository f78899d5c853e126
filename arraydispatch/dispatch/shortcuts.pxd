from .._core cimport machine
from .._core.handles cimport Handle
from ..backends.kinds cimport Kind
from ..ufuncs.plans cimport Plan

cdef object _make, _rules, _tap, STATE, UNTOUCHED, NO_POLICY, context_rules
cdef Py_ssize_t _min_size
cdef bint _brings, _reads_host

cpdef bint bring(values) except -1
cdef bint _rest(values, list found, depth) except -1
