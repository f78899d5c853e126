from ..backends.kinds cimport Kind
from .._core.ndarrays cimport ndarray
from .._core cimport handles
from .._core.handles cimport Handle
from .results cimport array_of, before_write, in_rows, is_computed, is_plain, result_of, view_of

cdef object SCALARS, waiting, _cls
cdef Py_ssize_t _calls, least
cdef bint _is_large(object x, object y)
cdef bint _compiled
cdef bint _holds_arrays(tuple key)
