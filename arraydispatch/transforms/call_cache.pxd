from ..backends.base cimport Kind
from ..memory.views cimport Handle

cpdef kind_of_call(tuple args, list natives)
