import os
import sys

import numpy as np

from . import scale
from .sub.deep import total

print(__name__, __package__, __spec__.name, os.path.basename(__file__))
print(os.path.basename(sys.argv[0]), sys.argv[1:], os.path.basename(sys.path[0]))
print(scale([1, 2, 3]), total(np.arange(4)))
sys.exit(4)
