cimport cython
from ..backends.kinds cimport Kind
from .._core.ndarrays cimport ndarray
from .._core cimport handles, machine
from .._core.handles cimport Handle
from ..engine.recording.call_nodes cimport declines

cdef class Path:
    cdef public object array_class
    cdef public Py_ssize_t calls, least, recorded

cdef object DECLINED, PLAIN, SCALARS, SEQUENCES, _HELD
cdef dict _waiting
cdef dict _given_back
cdef Path _path
cdef Py_ssize_t _rows, _LANES, _fewest, _widest
cdef int MANY_LANES, SHORT_LANE
cpdef bint is_numpys(x) except -1
cpdef bint plain_sequence(x, Py_ssize_t depth=*) except -1
cdef _converted(x)
cpdef bint is_kept(Handle a, ndarray value) except -1
cpdef of_kept(op, tuple inputs)
cdef bint _is_large(ndarray x, ndarray y, Py_ssize_t least) except -1
cdef bint _has_many(x) except -1
cdef _parts(tuple result, Kind kind)
cdef _computed(result, Kind kind)
cdef bint _is_at_once(Py_ssize_t size, bint tried) except -1
cpdef of_one(op, x, bint tried=*)
@cython.locals(straight=bint, large=bint, least=Py_ssize_t)
cpdef of_two(op, x, y, bint by_rows, bint tried=*)
@cython.locals(is_array=bint, plain=bint, large=bint, least=Py_ssize_t, size=Py_ssize_t)
cdef _of_mixed(op, x, y, ndarray left, ndarray right, bint by_rows, bint tried)
cdef object _REAL, _WHOLE
cdef frozenset _OF_REALS, _OF_WHOLES
cdef list _reals, _wholes
@cython.locals(spare=list, box=ndarray)
cdef _with_number(op, ndarray value, x, bint before, place)
cdef _operand(x, Kind kind)
cpdef bint any_large(values) except -1
cpdef bint into(op, x, y, out, bint operator) except -1
cpdef bint into_its_memory(op, x, y, out, bint operator) except -1
cpdef written(a)
cpdef bint is_ours(x) except -1
cpdef ufunc(func, tuple inputs)
cpdef onto(func, tuple inputs, out, bint by_position=*)
cdef _onto_numpys(func, tuple inputs, out)
@cython.locals(other=Kind)
cpdef array_of(ndarray value, Kind kind)
cpdef view_of(a, ndarray value)
cpdef part_of(Handle a, ndarray value)
cpdef result_of(Handle a, result, Kind kind)
cpdef made_of(result, list found)
cdef _part(result, list found, Handle first)
cpdef bint is_computed(made) except -1
cpdef value_of(x, list found, Py_ssize_t few, bint of_any_size)
cpdef values_of(args, list found, Py_ssize_t depth=*, bint of_any_size=*)
cpdef dict keywords_of(dict kwargs, list found, names)
cpdef computed_onto(run, list hosts, dict options, Handle out, list found)
cpdef before_write(a, ndarray x)
cpdef bint in_rows(object x, object y) except -1
cpdef bint is_plain(tuple args, dict kwargs, Py_ssize_t depth=*) except -1
cpdef bint may_go_by_lanes(ndarray x, bint adds) except -1
