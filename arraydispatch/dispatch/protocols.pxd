from ..backends.kinds cimport Kind
from .._core.handles cimport Handle
