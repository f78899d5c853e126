from ..._core cimport machine
from ..._core.frames cimport CodeType, FrameType
from ..nodes cimport Place

cdef class _State:
    cdef object errors, modes
    cdef list filters
    cdef tuple as_tuple
    cdef bint raises

cdef dict _places, _warnings
cdef object _DECLINED, _FUNCTION, _errors_in_force, _is_inside
cdef _State _state
cpdef now()
cpdef bint listened() except -1
cdef _State _learn_modes(errors)
cdef _State _learn_filters(filters)
