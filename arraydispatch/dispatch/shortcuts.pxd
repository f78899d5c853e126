from ..backends.base cimport Kind
from ..ufuncs.plans cimport Plan
from ..memory.views cimport Handle
