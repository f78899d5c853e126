from .._core cimport machine

cdef int MANY_LANES, SHORT_LANE
