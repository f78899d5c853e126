import ctypes

import numpy as np

pointer = np.ctypeslib.ndpointer(dtype=np.float64, ndim=1, flags="C_CONTIGUOUS")
memset = ctypes.CDLL(None).memset
memset.argtypes = [pointer, ctypes.c_int, ctypes.c_size_t]
memset.restype = ctypes.c_void_p

y = np.arange(6.0)
memset(y[2:], 0, 16)
print(y.tolist(), y.sum())
y[3] = 8
print(y.tolist())
for wrong in (np.arange(4), y[::2], np.ones((2, 2)), [1.0]):
    try:
        memset(wrong, 0, 8)
    except ctypes.ArgumentError as error:
        print(error)
ctypes.memset(y.ctypes.data, 0, 16)
y.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[4] = 9
print(y.tolist())
z = np.zeros(3)
view = np.ctypeslib.as_ctypes(z)
view[1] = 5
print(z.tolist(), list(view), (z + 1).tolist())
block = (ctypes.c_double * 3)(1, 2, 3)
seen = np.ctypeslib.as_array(block)
seen[0] = 9
print(block[0], np.sqrt(seen).tolist())
print(z.ctypes.shape[0], z.ctypes.strides[0])
