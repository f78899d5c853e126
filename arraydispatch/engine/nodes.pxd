# What is recorded, as C structs: one recorded call makes a node and reads several.

cdef class Buffer:
    cdef public object array
    cdef public object number
    cdef public object kind, laid
    cpdef laid_as(self, kind)

cdef class Form:
    cdef public object func, held, shape, work, row, fortran, pinned, ins, weak, reports, span, halved
    cdef public object dtype, size, ndim, nbytes, laid, alone
    cdef public object _by_rows, _skipped

cdef class Node:
    cdef public object args, dtype, form, handle, ndim, number, place, refs, shape, size, tape, target, told, value

cdef dict _LAID

cpdef object laid(kind, shape, how)
cpdef Node node_of(Form form, told=*, place=*)
