from ..backends.kinds cimport Kind
from .._core.ndarrays cimport ndarray
from .._core.handles cimport Handle
from .results cimport array_of, before_write, in_rows, is_computed, is_plain, result_of

cdef object PLAIN, SCALARS, _cls
cdef Py_ssize_t _calls, least
cpdef _values(args, list found, Py_ssize_t depth=*)
cdef _made(result, list found)
cpdef ufunc(func, tuple inputs)
cpdef pair(func, x, y)
cpdef onto(func, tuple inputs, out)
cdef _is_ours(x)
