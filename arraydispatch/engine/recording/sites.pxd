from ..._core.frames cimport CodeType, FrameType

cdef class Site:
    cdef public object code
    cdef public Py_ssize_t balance, instruction, left, pause, scale
    cpdef bint is_worth_it(self) except -1

cdef dict _sites
cpdef Site here(size)
