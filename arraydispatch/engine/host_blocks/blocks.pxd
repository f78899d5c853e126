cimport cython
from ..nodes cimport Buffer, Form, Node

cdef class Block:
    cdef object __weakref__
    cdef public list nodes
    cdef public dict results
    cdef public set errors
    cdef public object done, failure, group, tape
    cdef public Py_ssize_t helpers
    cdef public bint is_known, numpys

cdef class Planned(Block):
    cdef public object plan, _inside, _counting
    cdef public list arrays, addresses, _sources, _addresses, _runs
    cpdef _begin(self)

cdef class Short(Block):
    cdef public list _made

cdef class _Worker:
    cdef list full, kept, parts, steps, values, bounds

@cython.locals(node=Node, buffer=Buffer, earlier=Node, address=Py_ssize_t, before=Py_ssize_t, slot=Py_ssize_t, is_dead=bint, is_held=bint, is_known=bint)
cpdef Block planned(list nodes, threads)

@cython.locals(calls=list, count=Py_ssize_t, first=Py_ssize_t, length=Py_ssize_t, period=Py_ssize_t, start=Py_ssize_t)
cpdef whole_rounds(list forms, Py_ssize_t longest)
