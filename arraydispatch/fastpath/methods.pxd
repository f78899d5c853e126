from .._core.ndarrays cimport ndarray
from ..backends.kinds cimport Kind
from .._core cimport handles, machine
from .._core.frames cimport CodeType, FrameType
from .._core.handles cimport Handle
from .results cimport Path, array_of, before_write, computed_onto, into, is_computed, is_numpys, is_plain, keywords_of, of_kept, of_one, of_two, may_go_by_lanes, onto, part_of, plain_sequence, result_of, ufunc, values_of, view_of, written

cdef class _Rows:
    cdef Handle _of
    cdef object _rows

cdef object DECLINED, PLAIN, SEQUENCES
cdef dict _NUMPYS
cdef Path path
cdef bint _compiled
cdef object _PLACES, _MASK, _DTYPE, _viewed
cdef dict _DTYPES
cdef Py_ssize_t _MANY, _WINDOW
cdef _picked(ndarray x, ndarray index)
cdef bint _is_scattered(ndarray mask) except -1
cdef bint _put(ndarray x, ndarray mask, value) except -1
cdef bint _holds_arrays(tuple key)
cdef bint _is_plain(x) except -1
cdef _answered(Handle self, result, Kind kind)
