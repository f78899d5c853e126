import importlib
import sys
from importlib import import_module

np = importlib.import_module("numpy")
la = import_module("numpy.linalg")
again = __import__("numpy")
print(np is again, la is np.linalg, np.__name__, la.__name__, np.__version__ == sys.modules["numpy"].__version__)
x = np.full((2, 2), 3.0)
print(isinstance(x, np.ndarray), "%.10g" % la.norm(x))
print(importlib.import_module("numpy.testing").__name__, sorted(n for n in dir(np) if n.startswith("lin")))
