# The fields of arrays, and what makes and reads arrays, for compiled modules: see handles.py, which has the same in Python.

from .ndarrays cimport ndarray

cdef extern from "_core/_handles.h":
    ctypedef class arraydispatch._core.handles.Handle [object HandleObject]:
        cdef object _base
        cdef object _ghost
        cdef object _kind
        cdef object _root
        cdef object _v
        cdef Py_ssize_t _seen
        cdef Py_ssize_t _writes
        cdef bint _owned

    Handle bare(object cls)
    Handle new_array(object cls, object value, object kind, bint owned, object base)


cdef inline ndarray held(object x, object cls):
    if type(x) is not cls:
        return None
    value = (<Handle>x)._v
    return <ndarray>value if type(value) is ndarray else None


cdef inline object kind_of(object x):
    return (<Handle>x)._kind


cdef inline object root_of(object x):
    base = (<Handle>x)._base
    return x if base is None else base


cdef inline int count_write(object x) except -1:
    base = (<Handle>x)._base
    (<Handle>(x if base is None else base))._writes += 1
    return 0
