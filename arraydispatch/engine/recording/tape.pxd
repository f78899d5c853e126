from ..._core cimport machine
from ..._core.ndarrays cimport ndarray
from ..._core.handles cimport Handle
from ..host_blocks.blocks cimport Block, planned
from ...memory.roots cimport memory_of
from ..nodes cimport Buffer, Form, Node, Place, buffer_of

cdef class Collector:
    cdef Py_ssize_t _holds
    cdef bint _was_on
    cpdef hold(self)
    cpdef let(self)
    cpdef catch_up(self)

cdef class Tape:
    cdef public object lock, running, block, lines
    cdef public dict buffers
    cdef public list nodes, views
    cdef public tuple alone
    cdef public Py_ssize_t bytes, count, little, made, most, seen, work
    cdef public unsigned long long owner
    cdef public Py_ssize_t inside
    cdef public bint lent
    cpdef add(self, Node node, list values)
    cdef _add(self, Node node, list values)
    cdef _become(self, Handle a, Node node, list values)
    cdef _operand(self, x)
    cpdef become(self, Handle a, Node node, list values)
    cpdef Buffer _buffer(self, ndarray x)
    cpdef full(self)
    cpdef _hand_over(self, Node node)

cdef Collector _collector
cdef dict _waiting
cdef object _every
cdef Tape _last

cpdef Tape mine()
