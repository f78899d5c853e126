from ..engine.recording.tape cimport record
from .._core.ndarrays cimport ndarray
from .._core.handles cimport Handle

cpdef _at_once(func, tuple inputs)
cpdef _computed(func, tuple inputs)
