from ..backends.kinds cimport Kind
from .._core.ndarrays cimport ndarray
from .._core cimport handles
from .._core.handles cimport Handle

cpdef array_of(ndarray value, Kind kind)
cpdef view_of(Handle a, ndarray value)
cpdef result_of(Handle a, result, Kind kind)
cpdef bint is_computed(made) except -1
cpdef before_write(Handle a, ndarray x)
cpdef bint in_rows(object x, object y) except -1
cpdef bint is_plain(tuple args, dict kwargs, Py_ssize_t depth=*) except -1
cdef Py_ssize_t _rows
