from ..backends.kinds cimport Kind
from .._core.ndarrays cimport ndarray
from .._core.handles cimport Handle
from .results cimport Path, array_of, before_write, into, is_computed, is_plain, of_one, of_two, result_of, written

cdef object DECLINED, PLAIN, SCALARS
cdef Path path
cdef list _beside_tables(args, list found, tables)
cpdef _values(args, list found, Py_ssize_t depth=*, bint of_any_size=*)
cdef dict shorter
cdef bint _are_large(values) except -1
cdef _finished(result, Handle a, Kind kind)
cdef _made(result, list found)
cpdef ufunc(func, tuple inputs)
cpdef onto(func, tuple inputs, out)
cdef _is_ours(x)
