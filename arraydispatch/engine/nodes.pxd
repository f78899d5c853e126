# What is recorded, as C structs: one recorded call makes a node and reads several.

cdef class Place:
    cdef public object code, filters, names
    cdef public Py_ssize_t instruction

cdef class Bound:
    pass

cdef class Buffer:
    cdef public object array
    cdef public object memory, number
    cdef public object kind, laid
    cpdef laid_as(self, kind)

cdef class Form:
    cdef public object func, held, shape, work, row, fortran, pinned, ins, weak, reports, span, halved
    cdef public Py_ssize_t least
    cdef public object dtype, size, ndim, nbytes, laid, alone
    cdef public object _by_rows, _skipped

cdef class Node:
    cdef public object args, dtype, form, handle, ndim, number, place, refs, shape, size, tape, target, told, value

cdef dict _LAID

cpdef Buffer buffer_of(array, number, memory)
cpdef object laid(kind, shape, how)
cpdef Node node_of(Form form, told=*, place=*)
