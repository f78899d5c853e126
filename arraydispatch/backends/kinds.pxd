cdef class Kind:
    cdef public object backend, dtype, join, product, scalar
    cdef public Kind last
    cdef public bint standard
    cdef public dict whole
