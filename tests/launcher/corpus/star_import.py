from numpy import *

x = linspace(0, 1, 5)
print(isinstance(x, ndarray), x.shape, x.dtype)
print("%.10g" % sin(x).sum(), "%.10g" % linalg.norm(x), pi)
print(sorted(set(unique(array([3, 1, 3])).tolist())), float64(2) + 1)
print("sum" in globals(), "ndarray" in globals(), "random" in globals())
