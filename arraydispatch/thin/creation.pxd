from ..ndarrays cimport ndarray
from ..views cimport Handle
from .results cimport array_of

cdef object _bare, _cls
cdef Py_ssize_t _calls, least
cpdef fresh(ndarray value)
cpdef bint plain_sequence(x) except -1
