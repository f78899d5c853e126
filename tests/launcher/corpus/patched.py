import sys

import numpy as np

np.mine = 5
np.int = int
print(np.mine, sys.modules["numpy"].mine, np.int is int, "mine" in dir(np))
del np.mine
print(hasattr(np, "mine"), hasattr(np, "nothing"), np.__name__, np.ndarray.__module__, np.linalg.__name__)
print([name for name in ("array", "sum", "linalg") if name in np.__all__], np.__doc__ is not None, callable(np.zeros))

from unittest import mock

with mock.patch("numpy.mean", return_value=5):
    print(np.mean([1, 2]), sys.modules["numpy"].mean([1, 2]))
print(np.mean([1, 2]), sys.modules["numpy"].mean([1, 2]))
with mock.patch("numpy.mean", return_value=6):  # read before this time
    print(np.mean([1, 2]))
with mock.patch("numpy.linalg.norm", lambda *_: 1):
    print(np.linalg.norm([3.0, 4.0]))
print(np.linalg.norm([3.0, 4.0]), np.mean([1, 2]))
with mock.patch.object(np, "median", return_value=7):
    print(np.median([1, 2]), sys.modules["numpy"].median([1, 2]))
print(np.median([1, 2]), type(sys.modules["numpy"].median).__name__)
sys.modules["numpy"].cumsum = lambda *_: "patched by a library"
print(np.cumsum([1, 2]))
sys.modules["numpy"].cumsum = vars(sys.modules["numpy"])["cumprod"]
print(np.cumsum([1, 2, 3]), np.cumprod([1, 2, 3]))
