# What compiled modules ask of Python's own state without a call: see machine.py, which has the same in Python.

from .ndarrays cimport ndarray, npy_intp

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

    static inline int is_collector_on(void)
    {
        return PyGC_IsEnabled();
    }

    static inline void turn_collector_off(void)
    {
        PyGC_Disable();
    }

    static inline void turn_collector_on(void)
    {
        PyGC_Enable();
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

    static inline npy_intp size_together(PyArrayObject *a, PyArrayObject *b)
    {
        int more = PyArray_NDIM(a) - PyArray_NDIM(b);
        if (more < 0) {
            PyArrayObject *other = a;
            a = b;
            b = other;
            more = -more;
        }
        npy_intp size = 1;
        for (int i = 0; i < PyArray_NDIM(a); i++) {
            npy_intp n = PyArray_DIMS(a)[i], m = i < more ? 1 : PyArray_DIMS(b)[i - more];
            if (n != m && n != 1 && m != 1) return 0;
            size *= n == 1 ? m : n;
        }
        return size;
    }

    static inline int are_laid_out_alike(PyArrayObject *a, PyArrayObject *b)
    {
        return same_shape(a, b)
            && ((PyArray_CHKFLAGS(a, NPY_ARRAY_C_CONTIGUOUS) && PyArray_CHKFLAGS(b, NPY_ARRAY_C_CONTIGUOUS))
                || (PyArray_CHKFLAGS(a, NPY_ARRAY_F_CONTIGUOUS) && PyArray_CHKFLAGS(b, NPY_ARRAY_F_CONTIGUOUS)));
    }

    static inline int is_in_c_order(PyArrayObject *a)
    {
        return PyArray_CHKFLAGS(a, NPY_ARRAY_C_CONTIGUOUS);
    }

    static inline npy_intp lane_length(PyArrayObject *a)
    {
        int axes = PyArray_NDIM(a);
        return axes ? PyArray_DIMS(a)[axes - 1] : 0;
    }

    static inline int short_lanes(PyArrayObject *a, PyArrayObject *b, int longest, int many)
    {
        int axes = PyArray_NDIM(a), others = PyArray_NDIM(b);
        if (axes < 2 || others < 1 || others > axes) return 0;
        npy_intp n = PyArray_DIMS(a)[axes - 1], lanes = 1, size = 1;
        if (n < 2 || n > longest || PyArray_DESCR(a) != PyArray_DESCR(b)) return 0;
        if (!PyArray_CHKFLAGS(a, NPY_ARRAY_C_CONTIGUOUS) || !PyArray_CHKFLAGS(b, NPY_ARRAY_C_CONTIGUOUS)) return 0;
        for (int i = 0; i < axes - 1; i++) lanes *= PyArray_DIMS(a)[i];
        if (lanes < many) return 0;
        for (int i = 0; i < others; i++) size *= PyArray_DIMS(b)[i];
        if (size == n && PyArray_DIMS(b)[others - 1] == n) return 1;
        if (n > 3 || size != lanes || others != axes || PyArray_DIMS(b)[axes - 1] != 1) return 0;
        for (int i = 0; i < axes - 1; i++) {
            if (PyArray_DIMS(a)[i] != PyArray_DIMS(b)[i]) return 0;
        }
        return 2;
    }

    static inline int put_number(PyArrayObject *box, PyObject *x)
    {
        if (PyFloat_Check(x) && PyArray_DESCR(box)->type_num == NPY_DOUBLE) {
            *(double *)PyArray_DATA(box) = PyFloat_AS_DOUBLE(x);
            return 1;
        }
        if (PyLong_CheckExact(x)) {
            int overflow;
            long long number = PyLong_AsLongLongAndOverflow(x, &overflow);
            if (!overflow && PyArray_DESCR(box)->type_num == NPY_INT64) {
                *(npy_int64 *)PyArray_DATA(box) = number;
                return 1;
            }
            if (!overflow && PyArray_DESCR(box)->type_num == NPY_DOUBLE && -(1LL << 53) <= number && number <= 1LL << 53) {
                *(double *)PyArray_DATA(box) = (double)number;
                return 1;
            }
        }
        return 0;
    }

    static inline int is_only_view(PyArrayObject *a, int others)
    {
        PyArrayObject *base = (PyArrayObject *)PyArray_BASE(a);
        return base != NULL && Py_TYPE(base) == Py_TYPE(a) && Py_REFCNT(base) == 1 + others && PyArray_BASE(base) == NULL
            && PyArray_CHKFLAGS(base, NPY_ARRAY_OWNDATA);
    }

    static inline int is_alone(PyObject *x)
    {
        return Py_REFCNT(x) == 1;
    }
    """
    object current_frame()
    bint is_collector_on() noexcept
    void turn_collector_off() noexcept
    void turn_collector_on() noexcept
    Py_ssize_t identity(object) noexcept
    unsigned long long thread_number() noexcept
    object value_of(object)
    object reference_to(object)
    bint put_number(ndarray, object) noexcept
    bint is_alone(object) noexcept
    bint is_only_view(ndarray, int) noexcept
    npy_intp size_together(ndarray, ndarray) noexcept
    bint are_laid_out_alike(ndarray, ndarray) noexcept
    int short_lanes(ndarray, ndarray, int, int) noexcept
    npy_intp lane_length(ndarray) noexcept
    bint is_in_c_order(ndarray) noexcept
    bint same_shape(ndarray, ndarray) noexcept
