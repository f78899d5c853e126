from ..backends.base cimport Kind
from ..ndarrays cimport ndarray
from ..views cimport Handle
from .results cimport array_of, before_write, result_of

cdef object _cls
cpdef _values(args, list found, depth=*)
cpdef ufunc(func, tuple inputs)
