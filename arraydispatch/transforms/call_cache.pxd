from ..backends.kinds cimport Kind
from .._core.handles cimport Handle

cpdef kind_of_call(tuple args, list natives)
