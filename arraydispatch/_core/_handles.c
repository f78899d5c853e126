/* The extension types of the compiled core, which arraydispatch/_core/handles.py and arraydispatch/_core/callable_proxy.py use and describe.
 *
 * Handle            the state of an array, its operators, and its memory for C code
 * install(forms)    replace what the operators, methods and attributes of Handle call, by name
 * live()            list every array there is
 * track(x)          let the collector know an array
 * bare(cls)         make an instance of a class of arrays, whatever its __init__
 * maker(cls)        return what arraydispatch._core.handles.maker describes
 * Method            a method of a class that calls its target, which may be exchanged
 * Called            a callable that calls its target, which may be exchanged
 * SHORT             target -> what these two call in its place, by the number of arguments, as handles.shortened has it
 * SLOTS             the members of ndarray that Handle has as slots, by name
 * SOURCES           the state of the sources that the core was compiled from, as hatch_build.py has it
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include "_handles.h"

/* -- forms ------------------------------------------------------------------------------------------------------------- */

#define EACH_BINARY(X) \
    X(add, nb_add) X(sub, nb_subtract) X(mul, nb_multiply) X(truediv, nb_true_divide) X(floordiv, nb_floor_divide) \
    X(mod, nb_remainder) X(divmod, nb_divmod) X(matmul, nb_matrix_multiply) X(and, nb_and) X(or, nb_or) X(xor, nb_xor) \
    X(lshift, nb_lshift) X(rshift, nb_rshift)
#define EACH_INPLACE(X) \
    X(iadd, nb_inplace_add) X(isub, nb_inplace_subtract) X(imul, nb_inplace_multiply) X(itruediv, nb_inplace_true_divide) \
    X(ifloordiv, nb_inplace_floor_divide) X(imod, nb_inplace_remainder) X(imatmul, nb_inplace_matrix_multiply) \
    X(iand, nb_inplace_and) X(ior, nb_inplace_or) X(ixor, nb_inplace_xor) X(ilshift, nb_inplace_lshift) \
    X(irshift, nb_inplace_rshift)
#define EACH_UNARY(X) \
    X(neg, nb_negative) X(pos, nb_positive) X(abs, nb_absolute) X(invert, nb_invert) X(int, nb_int) X(float, nb_float) \
    X(index, nb_index)
#define EACH_COMPARISON(X) X(lt) X(le) X(eq) X(ne) X(gt) X(ge) /* in the order of Python's numbers for them */
#define EACH_OTHER(X) X(pow) X(rpow) X(ipow) X(bool) X(len) X(iter) X(getitem) X(setitem) X(delitem)
#define EACH_ATTRIBUTE(X) X(shape) X(ndim) X(size) X(T) X(mT) X(real) X(imag) X(dtype)

enum {
#define BOTH(name, slot) FORM_##name, FORM_r##name,
#define ONE(name, ...) FORM_##name,
#define TWO(name) GET_##name, SET_##name,
    EACH_BINARY(BOTH) EACH_INPLACE(ONE) EACH_UNARY(ONE) EACH_COMPARISON(ONE) EACH_OTHER(ONE) EACH_ATTRIBUTE(TWO)
#undef BOTH
#undef ONE
#undef TWO
    FORMS
};

static const char *const names[FORMS] = {
#define BOTH(name, slot) "__" #name "__", "__r" #name "__",
#define ONE(name, ...) "__" #name "__",
#define TWO(name) #name, #name "=",
    EACH_BINARY(BOTH) EACH_INPLACE(ONE) EACH_UNARY(ONE) EACH_COMPARISON(ONE) EACH_OTHER(ONE) EACH_ATTRIBUTE(TWO)
#undef BOTH
#undef ONE
#undef TWO
};

static PyObject *forms[FORMS]; /* what is called for each now; None before the first are installed */

static PyObject *
install(PyObject *module, PyObject *by_name)
{
    PyObject *found[FORMS];
    if (!PyDict_Check(by_name)) {
        return PyErr_Format(PyExc_TypeError, "%R is no dict", by_name);
    }
    for (int i = 0; i < FORMS; i++) {
        if ((found[i] = PyDict_GetItemString(by_name, names[i])) == NULL) {
            return PyErr_Format(PyExc_TypeError, "there is no form of %s", names[i]);
        }
    }
    for (int i = 0; i < FORMS; i++) { /* all in one step: letting go of an old form may run anything */
        PyObject *old = forms[i];
        forms[i] = Py_NewRef(found[i]);
        found[i] = old;
    }
    for (int i = 0; i < FORMS; i++) {
        Py_DECREF(found[i]);
    }
    Py_RETURN_NONE;
}

static PyObject *
called(int form, PyObject *x, PyObject *y, PyObject *z, int count)
{
    PyObject *operands[] = {x, y, z}, *method = Py_NewRef(forms[form]); /* which the call may exchange */
    PyObject *result = PyObject_Vectorcall(method, operands, count, NULL);
    Py_DECREF(method);
    return result;
}

/* -- the state of an array ------------------------------------------------------------------------------------------------ */

static PyTypeObject HandleType;

#define MOST_KEPT 64
static HandleObject *kept[MOST_KEPT]; /* memory of arrays that are gone: the next ones' */
static int kept_count;
static HandleObject ring = {.before = &ring, .after = &ring}; /* no array itself: its neighbours are the first and the last */

static inline int
is_laid_out_as_handle(PyTypeObject *cls) /* and so may take the memory of any other that is */
{
    return cls->tp_basicsize == sizeof(HandleObject) && cls->tp_dictoffset == 0;
}

static PyObject *
new_handle(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    HandleObject *self;
    if (kept_count && is_laid_out_as_handle(cls)) {
        self = kept[--kept_count];
        PyObject_Init((PyObject *)self, cls);
    }
    else if ((self = (HandleObject *)cls->tp_alloc(cls, 0)) == NULL) {
        return NULL;
    }
    else if (is_laid_out_as_handle(cls)) {
        /* As ndarrays, these are not known to the collector. It would clear the weak references to those that are garbage, and then call
           finalizers that read them: their values, which wait to be computed for whoever has them, would be nobody's. */
        PyObject_GC_UnTrack(self);
    }
    self->_v = Py_NewRef(Py_None);
    self->_kind = Py_NewRef(Py_None);
    self->_base = Py_NewRef(Py_None);
    self->_root = Py_NewRef(Py_None);
    self->_ghost = Py_NewRef(Py_None);
    self->_twin = self->_views = self->references = NULL;
    self->_seen = self->_writes = self->_looks = self->_owned = 0;
    self->before = ring.before;
    self->after = &ring;
    ring.before->after = self;
    ring.before = self;
    return (PyObject *)self;
}

static int
traverse_handle(PyObject *it, visitproc visit, void *arg)
{
    HandleObject *self = (HandleObject *)it;
    Py_VISIT(self->_v);
    Py_VISIT(self->_kind);
    Py_VISIT(self->_base);
    Py_VISIT(self->_root);
    Py_VISIT(self->_ghost);
    Py_VISIT(self->_twin);
    Py_VISIT(self->_views);
    return 0;
}

static int
clear_handle(PyObject *it)
{
    HandleObject *self = (HandleObject *)it;
    set_field(&self->_v, Py_None);
    set_field(&self->_kind, Py_None);
    set_field(&self->_base, Py_None);
    set_field(&self->_root, Py_None);
    set_field(&self->_ghost, Py_None);
    Py_CLEAR(self->_twin);
    Py_CLEAR(self->_views);
    return 0;
}

static void
dealloc_handle(PyObject *it)
{
    HandleObject *self = (HandleObject *)it;
    PyTypeObject *cls = Py_TYPE(it);
    PyObject_GC_UnTrack(it);
    self->before->after = self->after;
    self->after->before = self->before;
    if (self->references != NULL) {
        PyObject_ClearWeakRefs(it);
    }
    Py_CLEAR(self->_v);
    Py_CLEAR(self->_kind);
    Py_CLEAR(self->_base);
    Py_CLEAR(self->_root);
    Py_CLEAR(self->_ghost);
    Py_CLEAR(self->_twin);
    Py_CLEAR(self->_views);
    if (kept_count < MOST_KEPT && is_laid_out_as_handle(cls) && !PyObject_GC_IsFinalized(it)) { /* which the memory would remember */
        kept[kept_count++] = self;
    }
    else {
        cls->tp_free(it);
    }
}

static PyObject *
live(PyObject *module, PyObject *unused)
{
    PyObject *found = PyList_New(0);
    for (HandleObject *each = ring.after; found != NULL && each != &ring; each = each->after) {
        if (Py_REFCNT(each) > 0 && PyList_Append(found, (PyObject *)each) < 0) { /* else it is just being let go */
            Py_CLEAR(found);
        }
    }
    return found;
}

static PyObject *
track(PyObject *module, PyObject *x)
{
    if (PyObject_TypeCheck(x, &HandleType) && !PyObject_GC_IsTracked(x)) {
        PyObject_GC_Track(x);
    }
    Py_RETURN_NONE;
}

static PyObject *
get_object(PyObject *self, void *offset)
{
    PyObject *found = *(PyObject **)((char *)self + (size_t)offset);
    return Py_NewRef(found == NULL ? Py_None : found);
}

static int
set_object(PyObject *self, PyObject *value, void *offset)
{
    if (value == NULL) {
        PyErr_SetString(PyExc_AttributeError, "the state of an array cannot be deleted");
        return -1;
    }
    set_field((PyObject **)((char *)self + (size_t)offset), value);
    return 0;
}

static PyObject *
get_number(PyObject *self, void *offset)
{
    return PyLong_FromSsize_t(*(Py_ssize_t *)((char *)self + (size_t)offset));
}

static int
set_number(PyObject *self, PyObject *value, void *offset)
{
    Py_ssize_t number = value == NULL ? -1 : PyLong_AsSsize_t(value);
    if (value == NULL || (number == -1 && PyErr_Occurred())) {
        return value == NULL ? set_object(self, NULL, NULL) : -1;
    }
    *(Py_ssize_t *)((char *)self + (size_t)offset) = number;
    return 0;
}

static PyObject *
get_owned(PyObject *self, void *unused)
{
    return PyBool_FromLong(((HandleObject *)self)->_owned);
}

static int
set_owned(PyObject *self, PyObject *value, void *unused)
{
    int is_true = value == NULL ? set_object(self, NULL, NULL) : PyObject_IsTrue(value);
    if (is_true < 0) {
        return -1;
    }
    ((HandleObject *)self)->_owned = (char)is_true;
    return 0;
}

/* -- attributes that depend on the mode ------------------------------------------------------------------------------------- */

static PyObject *
get_attribute(PyObject *self, void *form)
{
    return called((int)(size_t)form, self, NULL, NULL, 1);
}

static int
set_attribute(PyObject *self, PyObject *value, void *form)
{
    int set = (int)(size_t)form + 1;
    if (value == NULL || forms[set] == Py_None) {
        PyErr_Format(PyExc_AttributeError, "attribute '%s' of '%s' objects is not %s", names[(int)(size_t)form],
                     Py_TYPE(self)->tp_name, value == NULL ? "deletable" : "writable");
        return -1;
    }
    PyObject *none = called(set, self, value, NULL, 2);
    Py_XDECREF(none);
    return none == NULL ? -1 : 0;
}

#define FIELD(name) {#name, get_object, set_object, NULL, (void *)offsetof(HandleObject, name)}
#define NUMBER(name) {#name, get_number, set_number, NULL, (void *)offsetof(HandleObject, name)}
#define ATTRIBUTE(name) {#name, get_attribute, set_attribute, "As ``ndarray." #name "``.", (void *)GET_##name},
static PyGetSetDef handle_attributes[] = {
    FIELD(_v), FIELD(_kind), FIELD(_base), FIELD(_root), FIELD(_ghost), FIELD(_twin), FIELD(_views),
    NUMBER(_seen), NUMBER(_writes), NUMBER(_looks), {"_owned", get_owned, set_owned, NULL, NULL},
    EACH_ATTRIBUTE(ATTRIBUTE)
    {NULL},
};

/* -- operators ---------------------------------------------------------------------------------------------------------------
 *
 * Python calls the slot of the left operand's class, then that of the right one's, where they differ: of two arrays whose classes
 * have these, the left one's alone. A class made in Python that has methods of its own has slots of its own for them.
 */

static inline int
is_handle(PyObject *x)
{
    return Py_TYPE(x)->tp_new == new_handle || PyObject_TypeCheck(x, &HandleType); /* the first is soon said */
}

static PyObject *
binary(PyObject *x, PyObject *y, int form)
{
    if (is_handle(x)) {
        return called(form, x, y, NULL, 2);
    }
    return called(form + 1, y, x, NULL, 2); /* reflected */
}

#define BINARY(name, slot) \
    static PyObject *slot_##name(PyObject *x, PyObject *y) { return binary(x, y, FORM_##name); }
#define INPLACE(name, slot) \
    static PyObject *slot_##name(PyObject *x, PyObject *y) { return called(FORM_##name, x, y, NULL, 2); }
#define UNARY(name, slot) \
    static PyObject *slot_##name(PyObject *x) { return called(FORM_##name, x, NULL, NULL, 1); }
EACH_BINARY(BINARY)
EACH_INPLACE(INPLACE)
EACH_UNARY(UNARY)

static PyObject *
slot_pow(PyObject *x, PyObject *y, PyObject *modulo)
{
    if (modulo == Py_None) {
        return binary(x, y, FORM_pow);
    }
    Py_RETURN_NOTIMPLEMENTED; /* as NumPy's */
}

static PyObject *
slot_ipow(PyObject *x, PyObject *y, PyObject *unused)
{
    return called(FORM_ipow, x, y, NULL, 2);
}

static int
slot_bool(PyObject *x)
{
    PyObject *found = called(FORM_bool, x, NULL, NULL, 1);
    int is_true = found == NULL ? -1 : PyObject_IsTrue(found);
    Py_XDECREF(found);
    return is_true;
}

static PyObject *
slot_compare(PyObject *x, PyObject *y, int op)
{
    return called(FORM_lt + op, x, y, NULL, 2);
}

static PyObject *
slot_iter(PyObject *x)
{
    return called(FORM_iter, x, NULL, NULL, 1);
}

static Py_ssize_t
slot_len(PyObject *x)
{
    PyObject *number = called(FORM_len, x, NULL, NULL, 1);
    Py_ssize_t found = number == NULL ? -1 : PyLong_AsSsize_t(number);
    Py_XDECREF(number);
    return found;
}

static PyObject *
slot_getitem(PyObject *x, PyObject *key)
{
    return called(FORM_getitem, x, key, NULL, 2);
}

static int
slot_setitem(PyObject *x, PyObject *key, PyObject *value)
{
    PyObject *none = value == NULL ? called(FORM_delitem, x, key, NULL, 2) : called(FORM_setitem, x, key, value, 3);
    Py_XDECREF(none);
    return none == NULL ? -1 : 0;
}

static PyObject *
slot_item(PyObject *x, Py_ssize_t i)
{
    PyObject *key = PyLong_FromSsize_t(i), *found = key == NULL ? NULL : slot_getitem(x, key);
    Py_XDECREF(key);
    return found;
}

static int
slot_set_item(PyObject *x, Py_ssize_t i, PyObject *value)
{
    PyObject *key = PyLong_FromSsize_t(i);
    int done = key == NULL ? -1 : slot_setitem(x, key, value);
    Py_XDECREF(key);
    return done;
}

#define SLOT(name, slot) .slot = slot_##name,
static PyNumberMethods handle_number = {
    EACH_BINARY(SLOT) EACH_INPLACE(SLOT) EACH_UNARY(SLOT) .nb_power = slot_pow, .nb_inplace_power = slot_ipow, .nb_bool = slot_bool,
};
static PyMappingMethods handle_mapping = {slot_len, slot_getitem, slot_setitem};
static PySequenceMethods handle_sequence = {.sq_length = slot_len, .sq_item = slot_item, .sq_ass_item = slot_set_item};

/* -- memory for C code ---------------------------------------------------------------------------------------------------- */

static int
get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    view->obj = NULL;
    PyObject *lent = PyObject_CallMethod(self, "_lent", "i", flags);
    if (lent == NULL) {
        return -1;
    }
    int done = PyObject_GetBuffer(lent, view, flags); /* with its own errors; the view keeps what is lent */
    Py_DECREF(lent);
    return done;
}

static PyBufferProcs handle_buffer = {get_buffer, NULL};

static PyTypeObject HandleType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "arraydispatch._core.handles.ndarray", /* as NumPy's, by which its operators are named */
    .tp_doc = "The state of an array: see arraydispatch._core.handles.",
    .tp_basicsize = sizeof(HandleObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_weaklistoffset = offsetof(HandleObject, references),
    .tp_getset = handle_attributes,
    .tp_as_number = &handle_number,
    .tp_as_mapping = &handle_mapping,
    .tp_as_sequence = &handle_sequence,
    .tp_as_buffer = &handle_buffer,
    .tp_richcompare = slot_compare,
    .tp_hash = PyObject_HashNotImplemented,
    .tp_iter = slot_iter,
    .tp_new = new_handle,
    .tp_dealloc = dealloc_handle,
    .tp_traverse = traverse_handle,
    .tp_clear = clear_handle,
};

static PyObject *
bare_of(PyObject *module, PyObject *cls)
{
    if (!PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, &HandleType)
        || ((PyTypeObject *)cls)->tp_new != new_handle) {
        return PyErr_Format(PyExc_TypeError, "%R is no class of arrays, or has a __new__ of its own", cls);
    }
    return (PyObject *)bare(cls);
}

static PyObject *
make(PyObject *cls, PyObject *const *args, Py_ssize_t given)
{
    if (given < 2 || given > 3) {
        PyErr_SetString(PyExc_TypeError, "an array is made by (value, kind, owned=False), by position");
        return NULL;
    }
    return (PyObject *)new_array(cls, args[0], args[1], given == 3 && args[2] == Py_True, Py_None);
}

static PyMethodDef make_def = {"make", (PyCFunction)(void (*)(void))make, METH_FASTCALL, "Make an array of a value, of a kind."};

static PyObject *
maker(PyObject *module, PyObject *cls)
{
    PyObject *first = bare_of(module, cls); /* which looks at the class */
    if (first == NULL) {
        return NULL;
    }
    Py_DECREF(first);
    return PyCFunction_New(&make_def, cls);
}

/* -- callables that call another ------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *target, *attributes;
    PyObject *shorter; /* a tuple, or NULL */
} Caller; /* Method and Called */

static PyObject *SHORT, *OUT, *AXIS;
#define MOST_SHORT 5 /* positional arguments of a shorter function; those of functions that take `out` and `axis` come after these */

static PyObject *
call_target(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    PyObject *target = ((Caller *)self)->target, *shorter = ((Caller *)self)->shorter;
    if (target == NULL) {
        return PyErr_Format(PyExc_TypeError, "%R has no target", Py_TYPE(self));
    }
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (shorter != NULL && count > 0 && count <= MOST_SHORT) {
        PyObject *found = Py_None;
        if (keywords == NULL || PyTuple_GET_SIZE(keywords) == 0) {
            found = PyTuple_GET_ITEM(shorter, count - 1);
        }
        else if (PyTuple_GET_SIZE(keywords) == 1 && PyTuple_GET_ITEM(keywords, 0) == OUT) {
            found = PyTuple_GET_ITEM(shorter, MOST_SHORT + count - 1);
        }
        else if (PyTuple_GET_SIZE(keywords) == 1 && PyTuple_GET_ITEM(keywords, 0) == AXIS) {
            found = PyTuple_GET_ITEM(shorter, 2 * MOST_SHORT + count - 1);
        }
        if (found != Py_None) { /* the value of a keyword lies behind the others */
            flags += keywords == NULL ? 0 : (size_t)PyTuple_GET_SIZE(keywords);
            target = found;
            keywords = NULL;
        }
    }
    Py_INCREF(target); /* which the call may exchange */
    PyObject *result = PyObject_Vectorcall(target, args, flags, keywords);
    Py_DECREF(target);
    return result;
}

static PyObject *
caller_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *self = type->tp_alloc(type, 0);
    if (self != NULL) {
        ((Caller *)self)->call = call_target;
    }
    return self;
}

static PyObject *
called_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
#if PY_VERSION_HEX < 0x030C0000
    /* Before Python 3.12 a class made by a class statement does not inherit that its objects are called without a tuple of arguments. */
    if (cls->tp_call == PyVectorcall_Call) {
        cls->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    }
#endif
    return caller_new(cls, args, kwargs);
}

static int
caller_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Caller *)self)->target);
    Py_VISIT(((Caller *)self)->shorter);
    Py_VISIT(((Caller *)self)->attributes);
    return 0;
}

static int
caller_clear(PyObject *self)
{
    Py_CLEAR(((Caller *)self)->target);
    Py_CLEAR(((Caller *)self)->shorter);
    Py_CLEAR(((Caller *)self)->attributes);
    return 0;
}

static void
caller_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    caller_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *
get_target(PyObject *self, void *unused)
{
    PyObject *target = ((Caller *)self)->target;
    if (target == NULL) {
        PyErr_SetString(PyExc_AttributeError, "target");
    }
    return Py_XNewRef(target);
}

static int
set_target(PyObject *self, PyObject *target, void *unused)
{
    PyObject *before = ((Caller *)self)->target, *shorter_before = ((Caller *)self)->shorter;
    PyObject *shorter = target == NULL ? NULL : PyDict_GetItemWithError(SHORT, target);
    if (shorter == NULL) {
        PyErr_Clear(); /* of a target without a hash */
    }
    ((Caller *)self)->target = Py_XNewRef(target);
    ((Caller *)self)->shorter = Py_XNewRef(shorter);
    Py_XDECREF(before);
    Py_XDECREF(shorter_before);
    return 0;
}

static PyObject *
method_get(PyObject *self, PyObject *instance, PyObject *owner)
{
    return instance == NULL || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

static PyObject *
method_reduce(PyObject *self, PyObject *unused)
{
    return PyObject_GetAttrString(self, "__qualname__");
}

static PyGetSetDef called_attributes[] = {{"target", get_target, set_target, NULL, NULL}, {NULL}};
static PyGetSetDef method_attributes[] = {
    {"target", get_target, set_target, NULL, NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL},
};
static PyMethodDef method_methods[] = {{"__reduce__", method_reduce, METH_NOARGS, NULL}, {NULL}};

static PyTypeObject CalledType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "arraydispatch._core._handles.Called",
    .tp_basicsize = sizeof(Caller),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Caller, call),
    .tp_call = PyVectorcall_Call,
    .tp_getset = called_attributes,
    .tp_new = called_new,
    .tp_traverse = caller_traverse,
    .tp_clear = caller_clear,
    .tp_dealloc = caller_dealloc,
};

static PyTypeObject MethodType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "arraydispatch._core._handles.Method",
    .tp_basicsize = sizeof(Caller),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_vectorcall_offset = offsetof(Caller, call),
    .tp_dictoffset = offsetof(Caller, attributes),
    .tp_call = PyVectorcall_Call,
    .tp_descr_get = method_get,
    .tp_getset = method_attributes,
    .tp_methods = method_methods,
    .tp_new = caller_new,
    .tp_traverse = caller_traverse,
    .tp_clear = caller_clear,
    .tp_dealloc = caller_dealloc,
};

static PyObject *
shorten(PyObject *module, PyObject *args)
{
    PyObject *target, *shorter;
    if (!PyArg_ParseTuple(args, "OO!", &target, &PyTuple_Type, &shorter)) {
        return NULL;
    }
    if (PyTuple_GET_SIZE(shorter) != 3 * MOST_SHORT) {
        PyErr_SetString(PyExc_ValueError, "shorter functions are given for each number of arguments, alone, with out= and with axis=");
        return NULL;
    }
    return PyDict_SetItem(SHORT, target, shorter) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"shorten", shorten, METH_VARARGS, NULL},
    {"install", install, METH_O, NULL},
    {"live", live, METH_NOARGS, NULL},
    {"track", track, METH_O, NULL},
    {"bare", bare_of, METH_O, NULL},
    {"maker", maker, METH_O, NULL},
    {NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_handles", NULL, -1, functions};

static PyObject *
names_of_slots(void)
{
    PyObject *found = PyFrozenSet_New(NULL);
    for (int i = 0; found != NULL && i < FORMS; i++) {
        PyObject *name = strchr(names[i], '=') == NULL ? PyUnicode_FromString(names[i]) : Py_NewRef(Py_None);
        if (name == NULL || (name != Py_None && PySet_Add(found, name) < 0)) {
            Py_CLEAR(found);
        }
        Py_XDECREF(name);
    }
    return found;
}

PyMODINIT_FUNC
PyInit__handles(void)
{
    PyObject *module = PyModule_Create(&definition), *slots = names_of_slots();
    SHORT = PyDict_New();
    OUT = PyUnicode_InternFromString("out");
    AXIS = PyUnicode_InternFromString("axis");
    if (module == NULL || slots == NULL || SHORT == NULL || OUT == NULL || AXIS == NULL || PyModule_AddObjectRef(module, "SLOTS", slots) < 0 || PyType_Ready(&HandleType) < 0
        || PyModule_AddObjectRef(module, "Handle", (PyObject *)&HandleType) < 0 || PyModule_AddType(module, &MethodType) < 0
        || PyModule_AddType(module, &CalledType) < 0 || PyModule_AddStringConstant(module, "SOURCES", SOURCES) < 0) {
        Py_XDECREF(slots);
        Py_XDECREF(module);
        return NULL;
    }
    Py_DECREF(slots);
    for (int i = 0; i < FORMS; i++) {
        forms[i] = Py_NewRef(Py_None);
    }
    return module;
}
