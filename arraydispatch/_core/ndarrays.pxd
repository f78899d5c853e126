# What compiled modules read of an ndarray without asking Python for the attribute.

from cpython.object cimport PyObject

cdef extern from "numpy/arrayobject.h":
    """
    static inline npy_intp size_of(PyArrayObject *a)
    {
        npy_intp size = 1;
        for (int i = 0; i < PyArray_NDIM(a); i++) size *= PyArray_DIMS(a)[i];
        return size;
    }
    """
    ctypedef Py_ssize_t npy_intp
    npy_intp size_of(ndarray)
    int PyArray_NDIM(ndarray)
    void *PyArray_DESCR(ndarray)
    PyObject *PyArray_BASE(ndarray)

    ctypedef class numpy.ndarray [object PyArrayObject, check_size ignore]:
        @property
        cdef inline npy_intp size(self) noexcept:
            return size_of(self)

        @property
        cdef inline int ndim(self) noexcept:
            return PyArray_NDIM(self)

        @property
        cdef inline object dtype(self):
            return <object>PyArray_DESCR(self)

        @property
        cdef inline object base(self):
            cdef PyObject *found = PyArray_BASE(self)
            return None if found is NULL else <object>found
