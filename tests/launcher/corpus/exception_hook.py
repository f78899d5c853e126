import sys

import numpy as np


def hook(kind, error, tb):
    depth = 0
    while tb is not None:
        depth += 1
        tb = tb.tb_next
    print("hook", kind.__name__, error, depth)


sys.excepthook = hook
raise RuntimeError(str(np.ones(2).sum()))
