/* The state of an array as compiled modules read it: the fields of `arraydispatch._core.Handle`.
 */

#ifndef ARRAYDISPATCH_CORE_H
#define ARRAYDISPATCH_CORE_H

typedef struct HandleObject {
    PyObject_HEAD
    PyObject *_v, *_kind, *_base, *_root, *_ghost; /* never NULL: what is not there is None */
    PyObject *_twin, *_views; /* NULL stands for None */
    PyObject *references; /* weak ones */
    Py_ssize_t _seen, _writes, _looks;
    char _owned;
    struct HandleObject *before, *after; /* in the ring of all arrays */
} HandleObject;

/* A new instance of a class that `arraydispatch.handles.maker` has looked at: it has no __new__ of its own. */
static inline HandleObject *
bare(PyObject *cls)
{
    return (HandleObject *)((PyTypeObject *)cls)->tp_new((PyTypeObject *)cls, NULL, NULL);
}

static inline void
set_field(PyObject **field, PyObject *value)
{
    PyObject *before = *field;
    Py_INCREF(value);
    *field = value;
    Py_XDECREF(before);
}

/* As arraydispatch.handles.new_array. */
static inline HandleObject *
new_array(PyObject *cls, PyObject *value, PyObject *kind, int owned, PyObject *base)
{
    HandleObject *made = bare(cls);
    if (made != NULL) {
        set_field(&made->_v, value);
        set_field(&made->_kind, kind);
        made->_owned = (char)owned;
        if (base != Py_None) {
            set_field(&made->_base, base);
        }
    }
    return made;
}

#endif
