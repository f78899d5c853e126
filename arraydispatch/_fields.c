/* New arrays, where modules are compiled: those read an array's slots as fields of a struct, and do not ask whether one is empty.
 *
 * check(cls, names)  raises where the slots of a class do not lie one behind the other in this order, as _fields.h has them
 * filled(Handle)     from now on the slots that compiled modules read are never empty in a new instance
 * bare(cls)          a new instance of a class of arrays, whatever its __init__
 * Maker(cls)         what arraydispatch.views.maker describes
 * SOURCES            what hatch_build.py says of the sources that all this was compiled from
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <structmember.h>
#include "_fields.h"

static PyObject *zero;
static PyTypeObject *handle;

static PyObject *
check(PyObject *module, PyObject *args)
{
    PyObject *cls, *names;
    if (!PyArg_ParseTuple(args, "O!O!", &PyType_Type, &cls, &PyTuple_Type, &names)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i), *slot = PyObject_GetAttr(cls, name);
        if (slot == NULL) {
            return NULL;
        }
        int fits = Py_IS_TYPE(slot, &PyMemberDescr_Type)
            && ((PyMemberDescrObject *)slot)->d_member->offset == (Py_ssize_t)(sizeof(PyObject) + i * sizeof(PyObject *));
        Py_DECREF(slot);
        if (!fits) {
            return PyErr_Format(PyExc_SystemError, "the slot %R of %R is not where _fields.h has it", name, cls);
        }
    }
    Py_RETURN_NONE;
}

static PyObject *
made(PyTypeObject *cls, PyObject *value, PyObject *kind, PyObject *owned)
{
    HandleObject *array = (HandleObject *)cls->tp_alloc(cls, 0);
    if (array != NULL) {
        array->_v = Py_NewRef(value);
        array->_kind = Py_NewRef(kind);
        array->_owned = Py_NewRef(owned);
        array->_base = Py_NewRef(Py_None);
        array->_ghost = Py_NewRef(Py_None);
        array->_root = Py_NewRef(Py_None);
        array->_seen = Py_NewRef(zero);
        array->_writes = Py_NewRef(zero);
    }
    return (PyObject *)array;
}

static PyObject *
new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    return made(cls, Py_None, Py_None, Py_None);
}

static PyObject *
filled(PyObject *module, PyObject *cls)
{
    if (!PyType_Check(cls)) {
        return PyErr_Format(PyExc_TypeError, "%R is no class", cls);
    }
    handle = (PyTypeObject *)Py_NewRef(cls);
    handle->tp_new = new; /* which classes made from it later inherit */
    Py_RETURN_NONE;
}

/* -- Maker ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *cls, *bare;
} Maker;

static PyObject *
make(PyObject *self, PyObject *const *args, size_t flags, PyObject *names)
{
    Py_ssize_t given = PyVectorcall_NARGS(flags);
    if (names != NULL || given < 2 || given > 3) {
        PyErr_SetString(PyExc_TypeError, "an array is made by (value, kind, owned=False), by position");
        return NULL;
    }
    return made((PyTypeObject *)((Maker *)self)->cls, args[0], args[1], given == 3 ? args[2] : Py_False);
}

static PyObject *
bare(PyObject *cls, PyObject *unused)
{
    return new((PyTypeObject *)cls, NULL, NULL);
}

static PyObject *
bare_of(PyObject *module, PyObject *cls)
{
    if (handle == NULL || !PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, handle)) {
        return PyErr_Format(PyExc_TypeError, "%R is no class of arrays", cls);
    }
    return new((PyTypeObject *)cls, NULL, NULL);
}

static PyMethodDef bare_def = {"bare", bare, METH_NOARGS, "An array without a value yet."};

static PyObject *
maker_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *cls;
    if (!PyArg_ParseTuple(args, "O!", &PyType_Type, &cls)) {
        return NULL;
    }
    Maker *self = (Maker *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->call = make;
        self->cls = Py_NewRef(cls);
        if ((self->bare = PyCFunction_New(&bare_def, cls)) == NULL) {
            Py_CLEAR(self);
        }
    }
    return (PyObject *)self;
}

static void
maker_dealloc(PyObject *self)
{
    Py_XDECREF(((Maker *)self)->cls);
    Py_XDECREF(((Maker *)self)->bare);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef maker_members[] = {
    {"cls", T_OBJECT_EX, offsetof(Maker, cls), READONLY, NULL},
    {"bare", T_OBJECT_EX, offsetof(Maker, bare), READONLY, NULL},
    {NULL},
};

static PyTypeObject MakerType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "arraydispatch._fields.Maker",
    .tp_basicsize = sizeof(Maker),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Maker, call),
    .tp_call = PyVectorcall_Call,
    .tp_members = maker_members,
    .tp_new = maker_new,
    .tp_dealloc = maker_dealloc,
};

static PyMethodDef functions[] = {
    {"check", check, METH_VARARGS, NULL},
    {"filled", filled, METH_O, NULL},
    {"bare", bare_of, METH_O, NULL},
    {NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_fields", NULL, -1, functions};

PyMODINIT_FUNC
PyInit__fields(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || (zero = PyLong_FromLong(0)) == NULL || PyType_Ready(&MakerType) < 0
        || PyModule_AddObjectRef(module, "Maker", (PyObject *)&MakerType) < 0
        || PyModule_AddStringConstant(module, "SOURCES", SOURCES) < 0) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
