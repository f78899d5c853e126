from ..._core.frames cimport CodeType, FrameType
from ..nodes cimport Place

cdef dict _is_inside, _places, _warnings
cpdef tuple now()
cdef bint _inside(str file) except -1
