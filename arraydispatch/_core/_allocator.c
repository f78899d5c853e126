/* Memory of large arrays, kept for the next one: an allocator of NumPy's (NEP 49) in front of the one that is there.
 *
 * keep(least, most)  from now on, in this context and those made from it, blocks of at least so many bytes are kept when an array leaves
 *                    them, of most bytes together; 0 bytes together: as it was before, and what has been kept is given back
 * kept()             how many bytes are kept now
 */

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <stdint.h>
#include <string.h>

#define MOST_BLOCKS 64
#define LEAST_ROUNDED ((size_t)(1 << 25) - 4096) /* bytes: of smaller blocks the C library finds room in others' places, and equal distances between
                                                   them would be one place of a cache for all */
#define MOST_ZEROED ((size_t)1 << 28) /* bytes: of more, new pages are zeros sooner, as long as nobody touches them */

typedef struct {
    void *at;
    size_t size;
} Block;

static Block blocks[MOST_BLOCKS]; /* the oldest first; whoever changes them holds the lock */
static int count;
static size_t total, least, most;
static PyThread_type_lock lock;
static PyDataMem_Handler *before; /* NumPy's own */

static void
forget(int i)
{
    total -= blocks[i].size;
    memmove(&blocks[i], &blocks[i + 1], (--count - i) * sizeof(Block));
}

static size_t
room_for(size_t size) /* what is asked for in its place: so that the block of one array is as large as that of another of about its size */
{
    size_t step = 1;
    if (size < LEAST_ROUNDED) {
        return size;
    }
    while (step <= size / 32) {
        step *= 2;
    }
    return size > SIZE_MAX - step ? size : (size + step - 1) / step * step;
}

static void *
taken(size_t room)
{
    void *found = NULL;
    PyThread_acquire_lock(lock, WAIT_LOCK);
    for (int i = count; found == NULL && i-- > 0;) { /* the last one may still be in the caches */
        if (blocks[i].size == room) {
            found = blocks[i].at;
            forget(i);
        }
    }
    PyThread_release_lock(lock);
    return found;
}

static void
given_back(size_t to) /* until no more than so many bytes are kept, and there is room for one more block */
{
    for (;;) {
        Block oldest = {NULL, 0};
        PyThread_acquire_lock(lock, WAIT_LOCK);
        if (count && (total > to || count == MOST_BLOCKS || to == 0)) {
            oldest = blocks[0];
            forget(0);
        }
        PyThread_release_lock(lock);
        if (oldest.at == NULL) {
            return;
        }
        before->allocator.free(before->allocator.ctx, oldest.at, oldest.size);
    }
}

static void *
new_block(void *ctx, size_t size)
{
    size_t room = room_for(size);
    void *block = size >= least ? taken(room) : NULL;
    if (block == NULL && (block = before->allocator.malloc(before->allocator.ctx, room)) == NULL && total) {
        given_back(0);
        block = before->allocator.malloc(before->allocator.ctx, room);
    }
    return block;
}

static void *
zeroed_block(void *ctx, size_t items, size_t width)
{
    size_t size = items * width; /* which NumPy has looked at */
    size_t room = room_for(size);
    void *block = size >= least && size <= MOST_ZEROED ? taken(room) : NULL;
    if (block != NULL) {
        return memset(block, 0, size);
    }
    if ((block = before->allocator.calloc(before->allocator.ctx, 1, room)) == NULL && total) {
        given_back(0);
        block = before->allocator.calloc(before->allocator.ctx, 1, room);
    }
    return block;
}

static void *
resized_block(void *ctx, void *block, size_t size)
{
    size_t room = room_for(size);
    void *made = before->allocator.realloc(before->allocator.ctx, block, room);
    if (made == NULL && total) {
        given_back(0);
        made = before->allocator.realloc(before->allocator.ctx, block, room);
    }
    return made;
}

static void
left_block(void *ctx, void *block, size_t size)
{
    size_t room = room_for(size);
    if (block != NULL && size >= least && room <= most) {
        given_back(most - room);
        PyThread_acquire_lock(lock, WAIT_LOCK);
        int is_kept = count < MOST_BLOCKS && total + room <= most;
        if (is_kept) {
            blocks[count++] = (Block){block, room};
            total += room;
        }
        PyThread_release_lock(lock);
        if (is_kept) {
            return;
        }
    }
    before->allocator.free(before->allocator.ctx, block, room);
}

static PyDataMem_Handler handler = {
    "arraydispatch", 1, {NULL, new_block, zeroed_block, resized_block, left_block},
};

static PyObject *
keep(PyObject *module, PyObject *args)
{
    Py_ssize_t from, together;
    if (!PyArg_ParseTuple(args, "nn", &from, &together)) {
        return NULL;
    }
    PyObject *now = PyDataMem_GetHandler();
    if (now == NULL) {
        return NULL;
    }
    PyDataMem_Handler *there = PyCapsule_GetPointer(now, "mem_handler");
    Py_DECREF(now); /* NumPy's own is for ever; of another nobody's arrays may be left to this one */
    if (there == NULL) {
        return NULL;
    }
    if (there != &handler && strcmp(there->name, "default_allocator")) {
        Py_RETURN_FALSE; /* the program's */
    }
    if (there != &handler) {
        before = there;
    }
    PyObject *mine = together ? PyCapsule_New(&handler, "mem_handler", NULL) : NULL;
    if (together && mine == NULL) {
        return NULL;
    }
    if (together) {
        least = (size_t)from;
    }
    most = (size_t)together;
    given_back(most);
    PyObject *last = PyDataMem_SetHandler(mine);
    Py_XDECREF(mine);
    if (last == NULL) {
        return NULL;
    }
    Py_DECREF(last);
    Py_RETURN_TRUE;
}

static PyObject *
kept(PyObject *module, PyObject *unused)
{
    return PyLong_FromSize_t(total);
}

static PyObject *contexts[8];
static int oldest;

/* Called when the garbage collector begins and ends. In C, because a signal handler that runs in a Python function called
   there loses its exception. Before Python 3.12 the collector may run inside of ContextVar.set, where a finalizer that sets
   a variable of the same context would free what is in use, unless a copy of the context holds it. */
static PyObject *
hold_context(PyObject *module, PyObject *args)
{
    PyObject *copy = PyContext_CopyCurrent();
    if (copy == NULL) {
        return NULL;
    }
    PyObject *last = contexts[oldest];
    contexts[oldest] = copy;
    oldest = (oldest + 1) % 8;
    Py_XDECREF(last);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"hold_context", hold_context, METH_VARARGS, NULL},
    {"keep", keep, METH_VARARGS, NULL},
    {"kept", kept, METH_NOARGS, NULL},
    {NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_allocator", NULL, -1, functions};

PyMODINIT_FUNC
PyInit__allocator(void)
{
    import_array();
    if ((lock = PyThread_allocate_lock()) == NULL) {
        return PyErr_NoMemory();
    }
    return PyModule_Create(&definition);
}
