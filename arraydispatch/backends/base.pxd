# The fields of kinds, for compiled modules: slots of `base.Kind`. All are set when a kind is made.

cdef extern from "_fields.h":
    ctypedef class arraydispatch.backends.base.Kind [object KindObject, check_size ignore]:
        cdef object backend
        cdef object dtype
        cdef object join
        cdef object product
        cdef object scalar
        cdef object standard
        cdef dict whole
