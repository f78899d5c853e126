cdef class Body:
    cdef double mass
    cdef double energy(self, double[:] speed)
