import sys

import numpy as np

from app.core import scale

if __name__ == "__main__":
    print(__spec__.name, __package__, sys.argv[1:])
    print(scale(np.array([float(a) for a in sys.argv[1:]])).cumsum())
