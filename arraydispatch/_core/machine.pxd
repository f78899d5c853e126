# What compiled modules ask of Python's own state without a call: see machine.py, which has the same in Python.

from .ndarrays cimport ndarray

cdef extern from *:
    """
    static inline PyObject *current_frame(void)
    {
        PyObject *found = (PyObject *)PyEval_GetFrame();
        if (found == NULL) {
            PyErr_SetString(PyExc_RuntimeError, "no Python code runs");
        }
        return Py_XNewRef(found);
    }

    static inline unsigned long long thread_number(void)
    {
        return PyThreadState_GetID(PyThreadState_Get());
    }

    static inline PyObject *value_of(PyObject *variable)
    {
        PyObject *value = NULL;
        if (PyContextVar_Get(variable, NULL, &value) == 0 && value == NULL) {
            PyErr_SetObject(PyExc_LookupError, variable);
        }
        return value;
    }

    static inline Py_ssize_t identity(PyObject *x)
    {
        return (Py_ssize_t)x;
    }

    static inline PyObject *reference_to(PyObject *x)
    {
        return PyWeakref_NewRef(x, NULL);
    }

    static inline int same_shape(PyArrayObject *a, PyArrayObject *b)
    {
        int axes = PyArray_NDIM(a), i = 0;
        if (axes != PyArray_NDIM(b)) return 0;
        while (i < axes && PyArray_DIMS(a)[i] == PyArray_DIMS(b)[i]) i++;
        return i == axes;
    }
    """
    object current_frame()
    Py_ssize_t identity(object) noexcept
    unsigned long long thread_number() noexcept
    object value_of(object)
    object reference_to(object)
    bint same_shape(ndarray, ndarray) noexcept
