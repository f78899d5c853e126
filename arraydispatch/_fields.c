/* New arrays, and the shortest way to their operators, where modules are compiled: those read an array's slots as fields of a struct,
 * and do not ask whether one is empty.
 *
 * check(cls, names)  raises where the slots of a class do not lie one behind the other in this order, as _fields.h has them
 * filled(Handle)     from now on the slots that compiled modules read are never empty in a new instance, and C code that asks for
 *                    memory gets what its _lent(writes) lends
 * bare(cls)          a new instance of a class of arrays, whatever its __init__
 * Maker(cls)         what arraydispatch.views.maker describes; the memory of arrays of the last such class is used again
 * direct(cls)        operators of arrays of just this class call its methods of today without looking for them; Python forgets it
 *                    of a method that is assigned anew
 * Called             what arraydispatch.called.Called describes
 * names_first(cls)   attributes of a class of modules are looked for among the names of the module first, but for those with an underscore
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

/* -- memory: that of an array that is gone is the next one's ----------------------------------------------------------- */

#define MOST_KEPT 64
static PyTypeObject *kept_cls; /* of which class they are: that of every new array */
static PyObject *kept[MOST_KEPT]; /* each holds a reference to its class */
static int kept_count;

static void
dealloc(PyObject *self)
{
    HandleObject *array = (HandleObject *)self;
    PyTypeObject *cls = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_TRASHCAN_BEGIN(self, dealloc)
    if (*(PyObject **)((char *)self + cls->tp_weaklistoffset) != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    for (PyObject **slot = &array->_base; slot <= &array->_writes; slot++) {
        Py_CLEAR(*slot);
    }
    if (cls == kept_cls && kept_count < MOST_KEPT) {
        kept[kept_count++] = self;
    }
    else {
        cls->tp_free(self);
        Py_DECREF(cls);
    }
    Py_TRASHCAN_END
}

static void
keep_those_of(PyTypeObject *cls)
{
    if (handle == NULL || cls == kept_cls || !PyType_IsSubtype(cls, handle) || cls->tp_basicsize != handle->tp_basicsize
        || cls->tp_dictoffset || !cls->tp_weaklistoffset || cls->tp_finalize != NULL || cls->tp_del != NULL) {
        return;
    }
    while (kept_count) {
        PyObject *gone = kept[--kept_count];
        kept_cls->tp_free(gone);
        Py_DECREF(kept_cls);
    }
    Py_XSETREF(kept_cls, (PyTypeObject *)Py_NewRef(cls));
    cls->tp_dealloc = dealloc; /* which classes made from it end in */
}

static PyObject *
made(PyTypeObject *cls, PyObject *value, PyObject *kind, PyObject *owned)
{
    HandleObject *array;
    int is_kept = cls == kept_cls && kept_count;
    if (is_kept) {
        array = (HandleObject *)kept[--kept_count];
        _Py_NewReference((PyObject *)array);
    }
    else if ((array = (HandleObject *)cls->tp_alloc(cls, 0)) == NULL) {
        return NULL;
    }
    array->_v = Py_NewRef(value);
    array->_kind = Py_NewRef(kind);
    array->_owned = Py_NewRef(owned);
    array->_base = Py_NewRef(Py_None);
    array->_ghost = Py_NewRef(Py_None);
    array->_root = Py_NewRef(Py_None);
    array->_seen = Py_NewRef(zero);
    array->_writes = Py_NewRef(zero);
    if (is_kept) {
        PyObject_GC_Track(array);
    }
    return (PyObject *)array;
}

static PyObject *
new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    return made(cls, Py_None, Py_None, Py_None);
}

/* -- buffers ---------------------------------------------------------------------------------------------------------
 *
 * NumPy makes a memoryview of whatever it is to make an array of, before it asks for __array__, which counts: it is refused. A
 * program's own memoryview(x) and PickleBuffer(x) are not, for which these classes say whom they are about to ask.
 */

#ifdef _MSC_VER
#define OF_THE_THREAD __declspec(thread)
#else
#define OF_THE_THREAD _Thread_local
#endif

static OF_THE_THREAD PyObject *asked; /* by a class that a program called; borrowed */
static newfunc memoryview_new, picklebuffer_new;

static PyObject *
new_of(newfunc made_by, PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    PyObject *before = asked;
    asked = PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, 0) : kwargs == NULL ? NULL : PyDict_GetItemString(kwargs, "object");
    PyObject *made = made_by(cls, args, kwargs);
    asked = before;
    return made;
}

static PyObject *
new_memoryview(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    return new_of(memoryview_new, cls, args, kwargs);
}

static PyObject *
new_picklebuffer(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    return new_of(picklebuffer_new, cls, args, kwargs);
}

static void
tell_whom_classes_ask(void)
{
    if (memoryview_new == NULL) {
        memoryview_new = PyMemoryView_Type.tp_new;
        PyMemoryView_Type.tp_new = new_memoryview;
        picklebuffer_new = PyPickleBuffer_Type.tp_new;
        PyPickleBuffer_Type.tp_new = new_picklebuffer;
    }
}

/* Whether it is a memoryview in the making that asks. Its buffer lies in an object that begins so far in front of it; whoever else
 * asks has something else there, or nothing: so what is in front is read only in the page of the buffer itself. */
static int
of_memoryview(const Py_buffer *view, int flags)
{
    const size_t in_front = offsetof(_PyManagedBufferObject, master), least_page = 4096;
    if (flags != PyBUF_FULL_RO) {
        return 0;
    }
    uintptr_t at = (uintptr_t)view, here = (uintptr_t)&in_front;
    if (at % least_page < in_front && !(at > here && at - here < ((uintptr_t)1 << 16))) {
        return 1; /* what is in front may not be memory, as it is between a caller's variable and this one on the stack */
    }
    const _PyManagedBufferObject *holder = (const void *)((const char *)view - in_front);
    return holder->ob_base.ob_type == &_PyManagedBuffer_Type && holder->ob_base.ob_refcnt == 1 && holder->exports == 0;
}

static int
get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    int by_program = asked == self;
    asked = NULL; /* what is lent below may go through NumPy */
    view->obj = NULL;
    if (!by_program && of_memoryview(view, flags)) {
        PyErr_SetString(PyExc_TypeError, "a bytes-like object is required: x.data is a memoryview of an array, x.tobytes() its bytes");
        return -1;
    }
    PyObject *shown = PyObject_CallMethod(self, "_lent", "i", by_program || flags & PyBUF_WRITABLE);
    if (shown == NULL) {
        return -1;
    }
    int done = PyObject_GetBuffer(PyMemoryView_GET_BASE(shown), view, flags); /* with its own errors */
    Py_DECREF(shown);
    return done;
}

#if PY_VERSION_HEX >= 0x030C0000
/* From Python 3.12 on a class has the slot by the name __buffer__, and one made from it loses the slot that has no name. */
static int
name_buffer(PyObject *cls)
{
    PyObject *of_bytes = PyObject_GetAttrString((PyObject *)&PyBytes_Type, "__buffer__");
    if (of_bytes == NULL) {
        return -1;
    }
    struct wrapperbase *base = ((PyWrapperDescrObject *)of_bytes)->d_base; /* Python's own: one for all classes */
    PyObject *named = PyDescr_NewWrapper((PyTypeObject *)cls, base, (void *)get_buffer);
    Py_DECREF(of_bytes);
    int done = named == NULL ? -1 : PyObject_SetAttrString(cls, "__buffer__", named);
    Py_XDECREF(named);
    return done;
}
#endif

static PyObject *
filled(PyObject *module, PyObject *cls)
{
    if (!PyType_Check(cls)) {
        return PyErr_Format(PyExc_TypeError, "%R is no class", cls);
    }
    handle = (PyTypeObject *)Py_NewRef(cls);
    handle->tp_new = new; /* which classes made from it later inherit */
    handle->tp_as_buffer->bf_getbuffer = get_buffer;
#if PY_VERSION_HEX >= 0x030C0000
    if (name_buffer(cls) < 0) {
        return NULL;
    }
#endif
    tell_whom_classes_ask();
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
        keep_those_of((PyTypeObject *)cls);
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

/* -- operators --------------------------------------------------------------------------------------------------------- */

static PyTypeObject *direct_cls; /* of whose arrays the methods below are */

/* How Python calls a method that implements an operator, and here without a look at the class. */
typedef struct {
    const char *name, *reflected;
    Py_ssize_t offset; /* of the operator's slot in a heap type */
    void *here; /* what is put there */
    void *usual; /* what Python has there */
    PyObject *method, *other; /* of direct_cls: by these names */
} Operator;

static Operator operators[];

static PyObject *
called(PyObject *method, PyObject *x, PyObject *y)
{
    PyObject *operands[] = {x, y};
    Py_INCREF(method); /* which the call may exchange */
    PyObject *result = PyObject_Vectorcall(method, operands, 2, NULL);
    Py_DECREF(method);
    return result;
}

/* Of a class made from this one Python asks the reflected method first, by that class's own slot; so it does of other operands' classes
 * where the answer is NotImplemented. Python's own slots do nothing for operands whose slot is another. */
static PyObject *
binary(Operator *it, PyObject *x, PyObject *y)
{
    if (Py_TYPE(x) == direct_cls) {
        return called(it->method, x, y);
    }
    if (Py_TYPE(y) == direct_cls) {
        return called(it->other, y, x);
    }
    Py_RETURN_NOTIMPLEMENTED;
}

static PyObject *
inplace(Operator *it, PyObject *x, PyObject *y)
{
    return Py_TYPE(x) == direct_cls ? called(it->method, x, y) : ((binaryfunc)it->usual)(x, y);
}

enum {
    ADD, SUB, MUL, DIV, FLOORDIV, MOD, POW, MATMUL, AND, OR, IADD, ISUB, IMUL, IDIV, NEG, GETITEM, SETITEM, SEQUENCE_LEN, LEN,
    LT, LE, EQ, NE, GT, GE /* in the order of Python's own numbers for them */
};

#define BINARY(function, how, at) \
    static PyObject *function(PyObject *x, PyObject *y) { return how(&operators[at], x, y); }
BINARY(add, binary, ADD)
BINARY(sub, binary, SUB)
BINARY(mul, binary, MUL)
BINARY(div_, binary, DIV)
BINARY(floordiv, binary, FLOORDIV)
BINARY(mod, binary, MOD)
BINARY(matmul, binary, MATMUL)
BINARY(and_, binary, AND)
BINARY(or_, binary, OR)
BINARY(iadd, inplace, IADD)
BINARY(isub, inplace, ISUB)
BINARY(imul, inplace, IMUL)
BINARY(idiv, inplace, IDIV)

static PyObject *
power(PyObject *x, PyObject *y, PyObject *modulo)
{
    Operator *it = &operators[POW];
    return modulo == Py_None ? binary(it, x, y) : ((ternaryfunc)it->usual)(x, y, modulo);
}

static PyObject *
neg(PyObject *x)
{
    Operator *it = &operators[NEG];
    return Py_TYPE(x) == direct_cls ? PyObject_CallOneArg(it->method, x) : ((unaryfunc)it->usual)(x);
}

static PyObject *
compare(PyObject *x, PyObject *y, int op)
{
    if (Py_TYPE(x) != direct_cls) {
        return ((richcmpfunc)operators[LT].usual)(x, y, op); /* the one slot of all six */
    }
    return called(operators[LT + op].method, x, y);
}

static Py_ssize_t
length(PyObject *x)
{
    Operator *it = &operators[LEN];
    if (Py_TYPE(x) != direct_cls) {
        return ((lenfunc)it->usual)(x);
    }
    PyObject *number = PyObject_CallOneArg(it->method, x);
    Py_ssize_t found = number == NULL ? -1 : PyLong_AsSsize_t(number);
    Py_XDECREF(number);
    return found;
}

static PyObject *
getitem(PyObject *x, PyObject *key)
{
    Operator *it = &operators[GETITEM];
    return Py_TYPE(x) == direct_cls ? called(it->method, x, key) : ((binaryfunc)it->usual)(x, key);
}

static int
setitem(PyObject *x, PyObject *key, PyObject *value)
{
    Operator *it = &operators[SETITEM];
    if (Py_TYPE(x) != direct_cls || value == NULL) {
        return ((objobjargproc)it->usual)(x, key, value);
    }
    PyObject *operands[] = {x, key, value}, *none = PyObject_Vectorcall(it->method, operands, 3, NULL);
    Py_XDECREF(none);
    return none == NULL ? -1 : 0;
}

#define COMPARE offsetof(PyTypeObject, tp_richcompare)
#define NUMBER(slot) offsetof(PyHeapTypeObject, as_number.slot)
static Operator operators[] = {
    [ADD] = {"__add__", "__radd__", NUMBER(nb_add), add},
    [SUB] = {"__sub__", "__rsub__", NUMBER(nb_subtract), sub},
    [MUL] = {"__mul__", "__rmul__", NUMBER(nb_multiply), mul},
    [DIV] = {"__truediv__", "__rtruediv__", NUMBER(nb_true_divide), div_},
    [FLOORDIV] = {"__floordiv__", "__rfloordiv__", NUMBER(nb_floor_divide), floordiv},
    [MOD] = {"__mod__", "__rmod__", NUMBER(nb_remainder), mod},
    [POW] = {"__pow__", "__rpow__", NUMBER(nb_power), power},
    [AND] = {"__and__", "__rand__", NUMBER(nb_and), and_},
    [OR] = {"__or__", "__ror__", NUMBER(nb_or), or_},
    [NEG] = {"__neg__", NULL, NUMBER(nb_negative), neg},
    [SEQUENCE_LEN] = {"__len__", NULL, offsetof(PyHeapTypeObject, as_sequence.sq_length), length},
    [LEN] = {"__len__", NULL, offsetof(PyHeapTypeObject, as_mapping.mp_length), length},
    [LT] = {"__lt__", NULL, COMPARE, compare},
    [LE] = {"__le__", NULL, COMPARE, compare},
    [EQ] = {"__eq__", NULL, COMPARE, compare},
    [NE] = {"__ne__", NULL, COMPARE, compare},
    [GT] = {"__gt__", NULL, COMPARE, compare},
    [GE] = {"__ge__", NULL, COMPARE, compare},
    [MATMUL] = {"__matmul__", "__rmatmul__", NUMBER(nb_matrix_multiply), matmul},
    [IADD] = {"__iadd__", NULL, NUMBER(nb_inplace_add), iadd},
    [ISUB] = {"__isub__", NULL, NUMBER(nb_inplace_subtract), isub},
    [IMUL] = {"__imul__", NULL, NUMBER(nb_inplace_multiply), imul},
    [IDIV] = {"__itruediv__", NULL, NUMBER(nb_inplace_true_divide), idiv},
    [GETITEM] = {"__getitem__", NULL, offsetof(PyHeapTypeObject, as_mapping.mp_subscript), getitem},
    [SETITEM] = {"__setitem__", NULL, offsetof(PyHeapTypeObject, as_mapping.mp_ass_subscript), setitem},
};

static PyObject *
found(PyTypeObject *cls, const char *name) /* as Python finds it, whatever the metaclass says */
{
    PyObject *word = PyUnicode_InternFromString(name);
    PyObject *method = word == NULL ? NULL : _PyType_Lookup(cls, word);
    Py_XDECREF(word);
    return Py_XNewRef(method);
}

static PyObject *
direct(PyObject *module, PyObject *cls)
{
    if (handle == NULL || !PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, handle)) {
        return PyErr_Format(PyExc_TypeError, "%R is no class of arrays", cls);
    }
    for (size_t i = 0; i < sizeof(operators) / sizeof(Operator); i++) {
        Operator *it = &operators[i];
        PyObject *method = found((PyTypeObject *)cls, it->name), *other = NULL;
        if (method == NULL || (it->reflected != NULL && (other = found((PyTypeObject *)cls, it->reflected)) == NULL)) {
            Py_XDECREF(method);
            return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "%R has no %s", cls, it->name);
        }
        Py_XSETREF(it->method, method);
        Py_XSETREF(it->other, other);
        void **slot = (void **)((char *)cls + it->offset);
        if (*slot != it->here) {
            it->usual = *slot;
            *slot = it->here;
        }
    }
    Py_XSETREF(direct_cls, (PyTypeObject *)Py_NewRef(cls));
    Py_RETURN_NONE;
}

/* -- what NumPy's functions and modules are for the program -------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *target;
} Called;

static PyObject *
call_target(PyObject *self, PyObject *const *args, size_t flags, PyObject *names)
{
    PyObject *target = ((Called *)self)->target;
    if (target == NULL) {
        return PyErr_Format(PyExc_TypeError, "%R has no target", Py_TYPE(self));
    }
    Py_INCREF(target); /* which the call may exchange */
    PyObject *result = PyObject_Vectorcall(target, args, flags, names);
    Py_DECREF(target);
    return result;
}

static PyObject *
called_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    if (type->tp_call == PyVectorcall_Call) { /* no __call__ of its own */
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    }
    PyObject *self = type->tp_alloc(type, 0);
    if (self != NULL) {
        ((Called *)self)->call = call_target;
    }
    return self;
}

static int
called_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Called *)self)->target);
    return 0;
}

static int
called_clear(PyObject *self)
{
    Py_CLEAR(((Called *)self)->target);
    return 0;
}

static void
called_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    called_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef called_members[] = {
    {"target", T_OBJECT_EX, offsetof(Called, target), 0, NULL},
    {NULL},
};

static PyTypeObject CalledType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "arraydispatch._fields.Called",
    .tp_basicsize = sizeof(Called),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Called, call),
    .tp_call = PyVectorcall_Call,
    .tp_members = called_members,
    .tp_new = called_new,
    .tp_traverse = called_traverse,
    .tp_clear = called_clear,
    .tp_dealloc = called_dealloc,
};

static PyObject *
name_first(PyObject *module, PyObject *name)
{
    if (PyUnicode_GET_LENGTH(name) && PyUnicode_READ_CHAR(name, 0) != '_') {
        PyObject *held = PyDict_GetItemWithError(PyModule_GetDict(module), name);
        if (held != NULL || PyErr_Occurred()) {
            return Py_XNewRef(held);
        }
    }
    return PyModule_Type.tp_getattro(module, name);
}

static PyObject *
names_first(PyObject *module, PyObject *cls)
{
    if (!PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, &PyModule_Type)) {
        return PyErr_Format(PyExc_TypeError, "%R is no class of modules", cls);
    }
    if (((PyTypeObject *)cls)->tp_getattro == PyModule_Type.tp_getattro) {
        ((PyTypeObject *)cls)->tp_getattro = name_first;
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"check", check, METH_VARARGS, NULL},
    {"filled", filled, METH_O, NULL},
    {"bare", bare_of, METH_O, NULL},
    {"direct", direct, METH_O, NULL},
    {"names_first", names_first, METH_O, NULL},
    {NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_fields", NULL, -1, functions};

PyMODINIT_FUNC
PyInit__fields(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || (zero = PyLong_FromLong(0)) == NULL || PyType_Ready(&MakerType) < 0
        || PyType_Ready(&CalledType) < 0 || PyModule_AddObjectRef(module, "Called", (PyObject *)&CalledType) < 0
        || PyModule_AddObjectRef(module, "Maker", (PyObject *)&MakerType) < 0
        || PyModule_AddStringConstant(module, "SOURCES", SOURCES) < 0) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
