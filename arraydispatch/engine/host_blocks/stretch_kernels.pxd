from ..nodes cimport Bound, Node

cdef class _Piece:
    cdef public object words
    cdef public list usual, others
    cdef public Py_ssize_t address

cdef class Fused(Bound):
    cdef public object group, forms, ins, outs, saved, far, kernel
    cdef public dict _pieces
    cdef public list _scalars, _in_scratch, _slots, _starts
    cdef public object _axes, _factor, _lengths, _moved, _neutral, _parts, _pointers, _row, _shape, _strides, _walked

cdef class _Launch:
    cdef Fused _fused
    cdef object _block, _stretch, _values, _function, _address
    cdef bytearray _operands
