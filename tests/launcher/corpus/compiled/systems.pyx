from bodies cimport Body


cdef class Pair:
    cdef Body first, second

    def __init__(self, Body first, Body second):
        self.first, self.second = first, second

    def energy(self, double[:] speed):
        return self.first.energy(speed) + self.second.energy(speed)


def heavier(Body body):
    return Body(2 * body.mass)
