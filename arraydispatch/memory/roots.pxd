from .._core.ndarrays cimport ndarray

cpdef memory_of(g)
