import sys

import numpy as np

print(np.ones(3).sum())
sys.exit(int(np.int64(7)))
