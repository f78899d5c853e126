from ..backends.base cimport Kind
from ..views cimport Handle

cpdef kind_of_call(tuple args, list natives)
