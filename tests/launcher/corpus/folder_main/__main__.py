import os
import sys

import numpy as np
import part

print(__name__, os.path.basename(__file__), os.path.basename(sys.argv[0]), sys.argv[1:], os.path.basename(sys.path[0]))
print(part.twice(np.arange(3)))
