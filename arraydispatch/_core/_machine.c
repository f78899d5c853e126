/* What `arraydispatch._core.machine` does in Python, in C: facts about an ndarray's memory, and calls of machine code. */

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* with vector code, which Clang makes anyway */
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <numpy/arrayobject.h>

static int
is_array(PyObject *x)
{
    if (PyArray_Check(x)) {
        return 1;
    }
    PyErr_Format(PyExc_TypeError, "expected an ndarray, got %s", Py_TYPE(x)->tp_name);
    return 0;
}

static PyObject *
address_of(PyObject *module, PyObject *x)
{
    return is_array(x) ? PyLong_FromSsize_t((Py_ssize_t)PyArray_DATA((PyArrayObject *)x)) : NULL;
}

static PyObject *
owns_memory(PyObject *module, PyObject *x)
{
    return is_array(x) ? PyBool_FromLong(PyArray_CHKFLAGS((PyArrayObject *)x, NPY_ARRAY_OWNDATA)) : NULL;
}

static PyObject *
layout_of(PyObject *module, PyObject *x)
{
    if (!is_array(x)) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)x;
    Py_ssize_t size = PyArray_NDIM(array) * sizeof(npy_intp);
    PyObject *made = PyBytes_FromStringAndSize(NULL, 2 * size);
    if (made != NULL && size) {
        memcpy(PyBytes_AS_STRING(made), PyArray_DIMS(array), size);
        memcpy(PyBytes_AS_STRING(made) + size, PyArray_STRIDES(array), size);
    }
    return made;
}

/* The memory of word i of a bytearray. */
static char *
word(PyObject *words, Py_ssize_t i)
{
    if (!PyByteArray_Check(words) || i < 0 || i >= PyByteArray_GET_SIZE(words) / 8) {
        PyErr_SetString(PyExc_IndexError, "no such word");
        return NULL;
    }
    return PyByteArray_AS_STRING(words) + 8 * i;
}

static PyObject *
put_addresses(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyList_Check(args[1]) || !PyList_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "put_addresses(words, starts, addresses)");
        return NULL;
    }
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(args[1]); k++) {
        PyObject *given = PyList_GET_ITEM(args[1], k);
        if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != 3) {
            PyErr_SetString(PyExc_TypeError, "a start is a tuple of three");
            return NULL;
        }
        Py_ssize_t i = PyLong_AsSsize_t(PyTuple_GET_ITEM(given, 0));
        Py_ssize_t slot = PyLong_AsSsize_t(PyTuple_GET_ITEM(given, 1));
        Py_ssize_t start = PyLong_AsSsize_t(PyTuple_GET_ITEM(given, 2));
        if (PyErr_Occurred()) {
            return NULL;
        }
        PyObject *found = PyList_GetItem(args[2], slot);
        char *at = word(args[0], i);
        if (found == NULL || at == NULL) {
            return NULL;
        }
        npy_int64 address = PyLong_AsSsize_t(found);
        if (address == -1 && PyErr_Occurred()) {
            return NULL;
        }
        address += start;
        memcpy(at, &address, 8);
    }
    Py_RETURN_NONE;
}

static PyObject *
put(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 4 || !PyUnicode_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "put(words, i, how, number)");
        return NULL;
    }
    Py_ssize_t i = PyLong_AsSsize_t(args[1]);
    if (i == -1 && PyErr_Occurred()) {
        return NULL;
    }
    char *at = word(args[0], i);
    if (at == NULL) {
        return NULL;
    }
    Py_UCS4 how = PyUnicode_ReadChar(args[2], 0);
    if (how == 'd' || how == 'f') {
        double number = PyFloat_AsDouble(args[3]);
        if (number == -1 && PyErr_Occurred()) {
            return NULL;
        }
        float less = (float)number;
        how == 'd' ? memcpy(at, &number, 8) : memcpy(at, &less, 4);
        Py_RETURN_NONE;
    }
    PyObject *whole = PyNumber_Long(args[3]);
    if (whole == NULL) {
        return NULL;
    }
    unsigned long long bits = how == 'Q' ? PyLong_AsUnsignedLongLong(whole) : (unsigned long long)PyLong_AsLongLong(whole);
    Py_DECREF(whole);
    if (PyErr_Occurred()) {
        return NULL;
    }
    memcpy(at, &bits, 8);
    Py_RETURN_NONE;
}

static PyObject *
run(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 4 || !PyByteArray_Check(args[3])) {
        PyErr_SetString(PyExc_TypeError, "run(function, address, boxes, words)");
        return NULL;
    }
    Py_ssize_t address = PyLong_AsSsize_t(args[1]), boxes = PyLong_AsSsize_t(args[2]);
    if (PyErr_Occurred()) {
        return NULL;
    }
    char *words = PyByteArray_AS_STRING(args[3]);
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = ((int (*)(void *, void *))address)((void *)boxes, words);
    Py_END_ALLOW_THREADS
    return PyLong_FromLong(status);
}

/* Add the rows of a matrix one after the other, as NumPy does, with the sums in registers or in the nearest cache. */
#define MOST_COLUMNS 64
#define ADD_ROWS_OF(T, N)                                             \
    case N: {                                                         \
        T sums[N] = {0};                                              \
        for (const T *end = x + N * count; x < end; x += N) {         \
            for (int i = 0; i < N; i++) sums[i] += x[i];              \
        }                                                             \
        for (int i = 0; i < N; i++) out[i] = sums[i];                 \
        break;                                                        \
    }
#define ADD_ROWS(T)                                                   \
    static void add_rows_##T(const T *x, npy_intp count, int n, T *out) \
    {                                                                 \
        switch (n) {                                                  \
            ADD_ROWS_OF(T, 2)                                         \
            ADD_ROWS_OF(T, 3)                                         \
            ADD_ROWS_OF(T, 4)                                         \
            ADD_ROWS_OF(T, 5)                                         \
            ADD_ROWS_OF(T, 6)                                         \
            ADD_ROWS_OF(T, 7)                                         \
            ADD_ROWS_OF(T, 8)                                         \
            default: {                                                \
                T sums[MOST_COLUMNS] = {0};                           \
                for (const T *end = x + n * count; x < end; x += n) { \
                    for (int i = 0; i < n; i++) sums[i] += x[i];      \
                }                                                     \
                memcpy(out, sums, n * sizeof(T));                     \
            }                                                         \
        }                                                             \
    }
ADD_ROWS(double)
ADD_ROWS(float)

static PyObject *
add_rows(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !is_array(args[0]) || !is_array(args[1])) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "add_rows(x, out)");
        return NULL;
    }
    PyArrayObject *x = (PyArrayObject *)args[0], *out = (PyArrayObject *)args[1];
    int type = PyArray_TYPE(x);
    if (PyArray_NDIM(x) != 3 || PyArray_NDIM(out) != 2 || PyArray_TYPE(out) != type || PyArray_DIM(out, 0) != PyArray_DIM(x, 0)
        || PyArray_DIM(out, 1) != PyArray_DIM(x, 2) || (type != NPY_DOUBLE && type != NPY_FLOAT) || PyArray_DIM(x, 2) < 2
        || PyArray_DIM(x, 2) > MOST_COLUMNS || !PyArray_ISCARRAY_RO(x) || !PyArray_ISCARRAY(out)) {
        Py_RETURN_FALSE;
    }
    npy_intp matrices = PyArray_DIM(x, 0), rows = PyArray_DIM(x, 1);
    int n = (int)PyArray_DIM(x, 2);
    double *doubles = PyArray_DATA(x), *sums_of_doubles = PyArray_DATA(out);
    float *floats = PyArray_DATA(x), *sums_of_floats = PyArray_DATA(out);
    int finite = 1;
    Py_BEGIN_ALLOW_THREADS
    for (npy_intp i = 0; i < matrices; i++) {
        if (type == NPY_DOUBLE) {
            add_rows_double(doubles + i * rows * n, rows, n, sums_of_doubles + i * n);
        }
        else {
            add_rows_float(floats + i * rows * n, rows, n, sums_of_floats + i * n);
        }
    }
    for (npy_intp i = 0; i < matrices * n; i++) {
        finite &= type == NPY_DOUBLE ? isfinite(sums_of_doubles[i]) != 0 : isfinite(sums_of_floats[i]) != 0;
    }
    Py_END_ALLOW_THREADS
    return PyBool_FromLong(finite);
}

/* Sums of integers of one, two or four bytes, in words of eight bytes whose halves, quarters or eighths are added side by side in lanes
 * of twice the width. `flip` is the sign bit of signed ones: with it inverted they are unsigned, and too large by its value. A byte of a boolean may be another than 0 and 1. */
#define FLIPPED(x, flip) ((x) ^ (flip))
#define IS_TRUE(x, flip) ((x) != 0)
#define ARE_TRUE(word, flips) ((((((word) & 0x7f7f7f7f7f7f7f7fULL) + 0x7f7f7f7f7f7f7f7fULL) | (word)) >> 7) & 0x0101010101010101ULL)
#define ADD_LANES(T, WIDE, MASK, MOST, WORD, ONE)                                                             \
    static npy_uint64 total_##T(const T *x, npy_intp n, T flip)                                               \
    {                                                                                                         \
        const npy_intp each = 8 / sizeof(T), words = n / each;                                                \
        const npy_uint64 flips = (~(npy_uint64)0 / (T)~(T)0) * flip;                                          \
        npy_uint64 sum = 0;                                                                                   \
        for (npy_intp begin = 0; begin < words; begin += MOST) {                                              \
            npy_intp end = words - begin < MOST ? words : begin + MOST;                                       \
            npy_uint64 lanes = 0;                                                                             \
            for (npy_intp i = begin; i < end; i++) {                                                          \
                npy_uint64 word;                                                                              \
                memcpy(&word, x + i * each, 8);                                                               \
                word = WORD(word, flips);                                                                     \
                lanes += (word & MASK) + ((word >> (8 * sizeof(T))) & MASK);                                  \
            }                                                                                                 \
            for (int i = 0; i < 64; i += 16 * sizeof(T)) sum += (WIDE)(lanes >> i);                           \
        }                                                                                                     \
        for (npy_intp i = words * each; i < n; i++) sum += (T)ONE(x[i], flip);                                \
        return sum - (npy_uint64)flip * n;                                                                    \
    }                                                                                                         \
    static void totals_##T(const T *x, npy_intp rows, npy_intp n, T flip, WIDE *lanes, npy_uint64 *out)       \
    {                                                                                                         \
        for (npy_intp i = 0; i < n; i++) out[i] = -(npy_uint64)flip * rows;                                   \
        for (npy_intp begin = 0; begin < rows; begin += MOST) {                                               \
            npy_intp end = rows - begin < MOST ? rows : begin + MOST;                                         \
            memset(lanes, 0, n * sizeof(WIDE));                                                               \
            for (npy_intp row = begin; row < end; row++) {                                                    \
                for (npy_intp i = 0; i < n; i++) lanes[i] += (T)ONE(x[row * n + i], flip);                    \
            }                                                                                                 \
            for (npy_intp i = 0; i < n; i++) out[i] += lanes[i];                                              \
        }                                                                                                     \
    }
ADD_LANES(npy_uint8, npy_uint16, 0x00ff00ff00ff00ffULL, 128, FLIPPED, FLIPPED)
ADD_LANES(npy_bool, npy_uint16, 0x00ff00ff00ff00ffULL, 128, ARE_TRUE, IS_TRUE)
ADD_LANES(npy_uint16, npy_uint32, 0x0000ffff0000ffffULL, 32768, FLIPPED, FLIPPED)
ADD_LANES(npy_uint32, npy_uint64, 0x00000000ffffffffULL, 2147483648LL, FLIPPED, FLIPPED)

#define ADD_BY(T)                                                                                             \
    if (along) {                                                                                              \
        for (npy_intp i = 0; i < rows; i++) sums[i] = total_##T((const T *)data + i * n, n, (T)flip);         \
    }                                                                                                         \
    else {                                                                                                    \
        totals_##T((const T *)data, rows, n, (T)flip, lanes, sums);                                           \
    }

static PyObject *
add_integers(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !is_array(args[0]) || !is_array(args[1])) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "add_integers(x, out, along)");
        return NULL;
    }
    PyArrayObject *x = (PyArrayObject *)args[0], *out = (PyArrayObject *)args[1];
    int along = PyObject_IsTrue(args[2]), size = (int)PyArray_ITEMSIZE(x);
    if (along < 0) {
        return NULL;
    }
    if (PyArray_NDIM(x) != 2 || PyArray_NDIM(out) != 1 || PyArray_DIM(out, 0) != PyArray_DIM(x, !along) || PyArray_ITEMSIZE(out) != 8
        || !(PyArray_ISINTEGER(x) || PyArray_ISBOOL(x)) || !PyArray_ISINTEGER(out) || size > 4 || !PyArray_ISCARRAY_RO(x)
        || !PyArray_ISCARRAY(out)) {
        Py_RETURN_FALSE;
    }
    npy_intp rows = PyArray_DIM(x, 0), n = PyArray_DIM(x, 1);
    npy_uint32 flip = PyArray_ISSIGNED(x) ? (npy_uint32)1 << (8 * size - 1) : 0;
    const void *data = PyArray_DATA(x);
    npy_uint64 *sums = PyArray_DATA(out);
    void *lanes = along ? NULL : PyMem_RawMalloc(2 * size * n + 1);
    if (!along && lanes == NULL) {
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    if (PyArray_ISBOOL(x)) {
        ADD_BY(npy_bool)
    }
    else if (size == 1) {
        ADD_BY(npy_uint8)
    }
    else if (size == 2) {
        ADD_BY(npy_uint16)
    }
    else {
        ADD_BY(npy_uint32)
    }
    Py_END_ALLOW_THREADS
    PyMem_RawFree(lanes);
    Py_RETURN_TRUE;
}

static PyMethodDef functions[] = {
    {"add_integers", (PyCFunction)(void (*)(void))add_integers, METH_FASTCALL, NULL},
    {"add_rows", (PyCFunction)(void (*)(void))add_rows, METH_FASTCALL, NULL},
    {"address_of", address_of, METH_O, NULL},
    {"layout_of", layout_of, METH_O, NULL},
    {"owns_memory", owns_memory, METH_O, NULL},
    {"put", (PyCFunction)(void (*)(void))put, METH_FASTCALL, NULL},
    {"put_addresses", (PyCFunction)(void (*)(void))put_addresses, METH_FASTCALL, NULL},
    {"run", (PyCFunction)(void (*)(void))run, METH_FASTCALL, NULL},
    {NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_machine", NULL, -1, functions};

PyMODINIT_FUNC
PyInit__machine(void)
{
    import_array();
    return PyModule_Create(&definition);
}
