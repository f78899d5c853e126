from .._core.ndarrays cimport ndarray
from .._core cimport handles
from .._core.handles cimport Handle
from .results cimport array_of, is_plain

cdef bint _compiled
cdef dict _kinds
cdef object PLAIN, SCALARS, _cls, _float_kind
cdef Py_ssize_t _calls, least
cpdef fresh(ndarray value)
cpdef bint plain_sequence(x, Py_ssize_t depth=*) except -1
