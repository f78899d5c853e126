cdef class Held:
    cdef object kept
