from ..._core.frames cimport CodeType, FrameType
from ..nodes cimport Place

cdef dict _is_inside, _places, _warnings
cpdef tuple now()
cpdef bint is_inside(str file) except -1
