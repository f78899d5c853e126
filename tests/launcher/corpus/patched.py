import sys

import numpy as np

np.mine = 5
np.int = int
print(np.mine, sys.modules["numpy"].mine, np.int is int, "mine" in dir(np))
del np.mine
print(hasattr(np, "mine"), hasattr(np, "nothing"), np.__name__, np.ndarray.__module__, np.linalg.__name__)
print([name for name in ("array", "sum", "linalg") if name in np.__all__], np.__doc__ is not None, callable(np.zeros))
