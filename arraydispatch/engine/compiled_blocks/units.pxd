# Forms of calls, as C structs.

cdef class Form:
    cdef public object unit, run, structure
    cdef public tuple outs
    cdef public Py_ssize_t nbytes, number, work

cdef class Unit:
    cdef public object backend, func, name
    cdef public dict forms
    cdef public bint primitive
    cdef public Py_ssize_t weight
    cpdef Form form(self, args, kwargs, list operands)
