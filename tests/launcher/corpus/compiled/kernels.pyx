# cython: language_level=3
import numpy as np

cimport numpy as cnp

cnp.import_array()


def total(double[:] x):
    cdef double s = 0
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        s += x[i]
    return s


def fill(double[:] x):
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        x[i] = i


def roots(cnp.ndarray[double, ndim=1] x):
    return np.sqrt(x), isinstance(x, np.ndarray)


def apply(f, x):
    return f(x)


cdef class Bag:
    cdef double[:] x

    def __init__(self, double[:] x):
        self.x = x

    def sum(self, double[:] y):
        return total(self.x) + total(y)

    def __call__(self, double[:] y):
        return total(y)


def bag(double[:] x):
    return Bag(x)


class Plain:
    def go(self, double[:] x):
        return total(x)

    @staticmethod
    def static(double[:] x):
        return total(x)


cdef class Held:
    def __init__(self, kept):
        self.kept = kept

    def total(self, double[:] x):
        return total(x)
