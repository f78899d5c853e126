from ..backends.kinds cimport Kind
from .._core.ndarrays cimport ndarray
from .._core cimport handles, machine
from .._core.handles cimport Handle
from .creation cimport wrapped_all
from .results cimport Path, any_large, array_of, before_write, computed_onto, into, into_its_memory, is_computed, is_numpys, is_ours, is_plain, keywords_of, made_of, of_one, of_two, may_go_by_lanes, onto, plain_sequence, ufunc, value_of, values_of, written

cdef object DECLINED, PLAIN, SCALARS, SEQUENCES
cdef Path path
cdef object _WHOLE, _BOOL
cdef int _ALL, _NONEMPTY, _INTEGERS, _NONE
cdef bint _may_stand(ndarray value, int holds) except -1
cdef bint _into_any(func, x, y, out, bint by_position) except -1
cdef _told_as_one(result, list found)
cdef list _beside_tables(args, list found, tables, bint large)
cdef dict shorter, waiting
cdef bint _are_recorded(tuple args) except -1
cdef _finished(result, ndarray value, Handle a, Kind kind, b=*)
cdef _of_numpys(func, tuple inputs)
