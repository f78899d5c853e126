cimport cython
from ..._core cimport handles, machine
from ..._core.ndarrays cimport ndarray
from ..._core.handles cimport Handle
from ..._core.frames cimport CodeType, FrameType
from ..nodes cimport Buffer, Form, Node, Place, laid
from .tape cimport Tape, mine

cdef dict _known_forms
cdef object _cls, _every, _DECLINED

cpdef Node node_of(Form form, place=*)
cpdef array_of(Node node)
@cython.locals(i=Py_ssize_t, shared=bint, pending=bint)
cpdef record(func, tuple inputs, dtype=*, Handle into=*, like=*, bint runs=*, func_seen=*)
cdef bint _is_shared(Handle x, ndarray v) except -1
cpdef bint fits(value, dtype) except -1

cdef class _State:
    cdef object errors, modes
    cdef list filters
    cdef tuple as_tuple
    cdef bint raises

cdef dict _passing, _places, _warnings
cdef object _FUNCTION, _errors_in_force, _is_inside
cdef _State _state
cpdef now()
cpdef bint listened() except -1
cdef _keep(key, Place place)
cdef FrameType _user_frame()
cpdef bint declines(Py_ssize_t size) except -1
cpdef pass_by(Py_ssize_t size)
cdef _State _learn_modes(errors)
cdef _State _learn_filters(filters)
