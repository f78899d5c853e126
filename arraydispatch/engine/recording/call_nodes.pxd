cimport cython
from ..._core cimport handles, machine
from ..._core.ndarrays cimport ndarray
from ..._core.handles cimport Handle
from ..nodes cimport Buffer, Form, Node, laid, node_of
from .fp_reports cimport now
from .tape cimport Tape, mine

cdef dict _known_forms
cdef object _cls, _every, _DECLINED

cpdef array_of(Node node)
@cython.locals(i=Py_ssize_t, shared=bint)
cpdef record(func, tuple inputs, dtype=*, Handle into=*, like=*, bint runs=*, func_seen=*)
cdef bint _is_shared(Handle x, ndarray v) except -1
