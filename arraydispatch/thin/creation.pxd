from ..ndarrays cimport ndarray
from ..views cimport Handle
from .results cimport array_of

cdef object _bare, _cls
cpdef fresh(ndarray value)
