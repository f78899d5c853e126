from ..._core.ndarrays cimport ndarray
from ..._core cimport handles
from ..._core.handles cimport Handle
from ..host_blocks.blocks cimport Block, planned
from ...memory.roots cimport memory_of
from ..nodes cimport Buffer, Form, Node, buffer_of, laid, node_of
from .fp_reports cimport now

cdef class Tape:
    cdef public object lock, running, block, lines
    cdef public dict buffers
    cdef public list nodes, views
    cdef public tuple alone
    cdef public object work
    cdef public Py_ssize_t bytes, count, little, made, most, seen
    cpdef add(self, Node node, list values)
    cdef _add(self, Node node, list values)
    cpdef become(self, Handle a, Node node, list values)
    cpdef Buffer _buffer(self, ndarray x)
    cpdef full(self)
    cpdef _hand_over(self, Node node)

cdef dict _waiting
cdef object _cls, _every, _ref, _NOTHING, _DECLINED

cpdef array_of(Node node)
cpdef Tape mine()
cpdef record(func, tuple inputs, dtype=*, Handle into=*, like=*, bint runs=*, func_seen=*)
cdef _is_shared(Handle x, ndarray v)
