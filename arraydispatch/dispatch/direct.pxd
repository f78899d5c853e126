from ..backends.base cimport Kind
from ..ufuncs.plans cimport Plan
from ..views cimport Handle
