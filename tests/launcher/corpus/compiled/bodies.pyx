cdef class Body:
    def __init__(self, mass):
        self.mass = mass

    cdef double energy(self, double[:] speed):
        cdef double total = 0
        cdef Py_ssize_t i
        for i in range(speed.shape[0]):
            total += speed[i] * speed[i]
        return self.mass * total / 2

    def moving(self, double[:] speed):
        return self.energy(speed)
