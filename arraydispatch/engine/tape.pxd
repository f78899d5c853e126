from ..ndarrays cimport ndarray
from ..views cimport Handle
from .nodes cimport Buffer, Form, Node, laid, node_of

cdef class Tape:
    cdef public object lock, running, block, lines
    cdef public dict buffers
    cdef public set memory
    cdef public list nodes, views
    cdef public object bytes, seen, work
    cdef public Py_ssize_t count, most
    cpdef add(self, Node node, list values)
    cpdef _buffer(self, x)
    cpdef full(self)
    cpdef _hand_over(self, Node node)

cdef dict _waiting
cdef object _bare, _cls, _every, _ref, _now, _NOTHING, _REFUSED

cpdef array_of(Node node)
cpdef Tape mine()
cdef _is_shared(Handle x, ndarray v)
