import warnings

warnings.simplefilter("error")
import numpy as np

a = np.arange(6.0).reshape(2, 3)
print(np.apply_along_axis(lambda r: r.sum(), 1, a), np.round(np.poly([1.0, 2.0]), 8), np.trim_zeros(np.array([0, 1, 0])))
print(np.cov(a).round(8), np.median(a), a.std().round(8))
