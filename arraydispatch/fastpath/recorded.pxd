from ..engine.recording.call_nodes cimport record
from .._core.ndarrays cimport ndarray
from .._core.handles cimport Handle
from .results cimport array_of, of_one, of_two

cdef object DECLINED

cpdef bint _look(values, below) except -1
cpdef _at_once(func, tuple inputs)
cpdef _computed(func, tuple inputs)
