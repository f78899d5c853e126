from ..backends.kinds cimport Kind
from ..ufuncs.plans cimport Plan
from .._core.handles cimport Handle
