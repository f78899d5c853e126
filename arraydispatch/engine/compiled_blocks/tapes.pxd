# Tapes and what is on them, as C structs.

cimport cython
from ..._core cimport machine
from ..recording.tape cimport Collector
from .units cimport Form
from .values cimport Aval, Deferred, pending

@cython.freelist(64)
cdef class Call:
    cdef public Form form
    cdef public tuple refs
    cdef public list outs
    cdef public Py_ssize_t first, end

cdef Call _call_of(Form form, refs, first, outs)

cdef class Tape:
    cdef public object lock, backend, _watch, _run
    cdef public list calls, inputs
    cdef public dict _places
    cdef public Py_ssize_t first, limit, made, turns, _next, _end
    cdef public unsigned long long turner
    cpdef add(self, Form form, operands, backend)
    cpdef list _added(self, Form form, operands, backend)

cdef Collector _collector

cpdef Tape mine()
