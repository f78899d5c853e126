# The fields of arrays, for compiled modules: slots of `views.Handle`. `_fields.c` sees to it that those below are never empty.

cdef extern from "_fields.h":
    ctypedef class arraydispatch.memory.views.Handle [object HandleObject, check_size ignore]:
        cdef object _base
        cdef object _ghost
        cdef object _kind
        cdef object _owned
        cdef object _root
        cdef object _seen
        cdef object _v
        cdef object _writes
