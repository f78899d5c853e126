cimport cython
from .._core.ndarrays cimport ndarray
from ..backends.kinds cimport Kind
from .._core cimport handles, machine
from .._core.handles cimport Handle
from .._core.frames cimport FrameType
from .results cimport Path, array_of, before_write, is_numpys, is_plain, made_of, values_of, written

cdef Path path
cdef bint _compiled
cdef dict _kinds, _known
cdef object PLAIN, SCALARS, SEQUENCES, _float_kind, _users, _visited
cdef bint _draws_on_device
cdef Kind _last
@cython.locals(last=Kind)
cdef _kind_of(dtype)
cpdef fresh(ndarray value)
cpdef wrapped(value)
cpdef new(ndarray value)
cdef bint _any_size
cdef bint _are_many(x, y, int axes) except -1
cdef bint _is_large_shape(x) except -1
cdef bint _is_long(tuple ends) except -1
cpdef wrapped_all(func, tuple args, dict kwargs)
cdef _wrapped_part(value, tuple args, dict kwargs)
cdef bint _lends(memory, args) except -1
cdef _values_of(x)
cdef bint _draws() except -1
cdef bint _is_few(x, Py_ssize_t least) except -1
cdef bint _are_few(dict kwargs, Py_ssize_t least) except -1
cdef tuple _few_of(tuple args, Py_ssize_t least, Py_ssize_t first, bint reads)
cdef set _drawing
cdef bint _is_within() except -1
cdef _drawn(draw, tuple args, dict kwargs, moved)
cdef bint _is_by_user(FrameType first) except -1
