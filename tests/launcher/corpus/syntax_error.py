import numpy as np
x = np.array([1, 2
y = 3
