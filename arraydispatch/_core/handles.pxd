# The fields of arrays, and what makes arrays, for compiled modules.

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
