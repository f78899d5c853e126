# What is recorded, as C structs: one recorded call makes a node and reads several.

cimport cython


cdef class Place:
    cdef public object code, filters, modes, names
    cdef public Py_ssize_t instruction, alone, again, block, larger, largest, skipped
    cdef public bint is_trial
    cpdef bint declines(self, Py_ssize_t size) except -1
    cpdef bint is_open(self, Py_ssize_t size) except -1
    cpdef put_off(self)
    cpdef learn(self, Py_ssize_t size, bint pays, Py_ssize_t block=*)

cdef class Bound:
    pass

@cython.freelist(32)
cdef class Buffer:
    cdef public object array
    cdef public object memory, number
    cdef public object kind, laid
    cpdef laid_as(self, kind)

cdef class Form:
    cdef public object func, held, shape, row, fortran, pinned, span, halved
    cdef public tuple ins, weak
    cdef public bint reports
    cdef public Py_ssize_t least, nbytes, work
    cdef public object dtype, size, ndim, laid
    cdef public object _by_rows

@cython.freelist(64)
cdef class Node:
    cdef public object args, dtype, form, handle, ndim, number, place, shape, size, tape, target, told, value

cdef dict _LAID

cpdef Buffer buffer_of(array, number, memory)
cpdef object laid(kind, shape, how)
