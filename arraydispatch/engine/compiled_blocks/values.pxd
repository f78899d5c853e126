# Deferred values, as C structs: one recorded call makes one and reads several.

cimport cython

cdef class Aval:
    cdef readonly tuple shape
    cdef readonly object dtype, device
    cdef readonly Py_ssize_t ndim, size, nbytes
    cdef Py_hash_t _hash

@cython.freelist(64)
cdef class Deferred:
    cdef object __weakref__
    cdef public Aval aval
    cdef public tuple shape
    cdef public object dtype, failure, host, tape, value
    cdef public Py_ssize_t ndim, number
    cdef public bint spare

cdef Deferred _made(Aval aval)
cpdef Deferred known(value, Aval aval)
cpdef Deferred number(host, Aval aval)
cpdef Deferred pending(Aval aval, tape, place)
cpdef Aval aval_of(shape, dtype, device)
