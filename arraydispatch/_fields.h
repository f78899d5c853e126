/* The slots of views.Handle, backends.base.Kind and ufuncs.plans.Plan as Python lays them out: by name. */

typedef struct {
    PyObject_HEAD
    PyObject *_base, *_ghost, *_kind, *_looks, *_owned, *_root, *_seen, *_twin, *_v, *_views, *_writes;
} HandleObject;

typedef struct {
    PyObject_HEAD
    PyObject *backend, *dtype, *join, *product, *scalar, *standard, *whole;
} KindObject;

typedef struct {
    PyObject_HEAD
    PyObject *cast, *infinities, *keeps_order, *kernel, *kind, *kinds, *laid_out, *loops, *one_float, *out, *reason, *reported, *run;
} PlanObject;
