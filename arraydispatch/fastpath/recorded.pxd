from ..engine.recording.tape cimport record
from ..ndarrays cimport ndarray
from ..memory.views cimport Handle

cpdef _at_once(func, tuple inputs)
cpdef _computed(func, tuple inputs)
