from ..backends.base cimport Kind
from ..ndarrays cimport ndarray
from ..views cimport Handle
from .results cimport array_of, before_write, result_of

cdef object _cls
cdef Py_ssize_t _calls, least
cpdef _values(args, list found, Py_ssize_t depth=*)
cpdef ufunc(func, tuple inputs)
