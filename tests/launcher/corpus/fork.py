import os
import sys

import numpy as np

data = np.arange(12.0).reshape(3, 4)
row, column, flat = data[1], data[:, ::2], data.T
turned = np.asfortranarray(np.arange(6.0).reshape(2, 3))
line = turned[1]
read, write = os.pipe()
child = os.fork()
if child == 0:
    data *= 2
    row[0] = line[0] = -1
    fresh = np.linalg.norm(data) + np.ones(3).sum() + column.sum()
    os.write(write, repr((data.tolist(), row.tolist(), column.tolist(), flat.shape, turned.tolist(), round(float(fresh), 9))).encode())
    sys.exit(3)
_, status = os.waitpid(child, 0)
print(os.read(read, 4096).decode(), os.waitstatus_to_exitcode(status))
print(data.tolist(), (row + 1).tolist())
