import json
from decimal import Decimal

import numpy as np

x = np.array([1.0, 2.5, 1e-8, np.nan, np.inf])
print(x, repr(x), str(np.arange(3)), f"{x[1]:.3f}", "%s" % x[:2], repr(x[0]), [x[1]])
np.set_printoptions(precision=3, suppress=True)
print(np.array([[1.23456, 2], [3, 4]]), repr(np.zeros((0, 3))), np.array(5), repr(np.array(True)))
with np.printoptions(precision=1):
    print(np.array([0.123, 4]))
print(np.array2string(np.arange(4), separator=";"), np.array_repr(np.ones(2)), np.arange(2000))
print(json.dumps({"a": x[1], "b": np.arange(3).tolist()}), Decimal(x[1]), {x[0]: 1}, round(x[1], 0), int(x[0]))
print(np.geterr()["divide"], np.finfo(np.float32).bits, np.iinfo(np.int8).max, np.result_type(np.int8, 3.0), np.bool_(True))
