"""A script with a module beside it."""
import helper
import numpy as np
from helper import Model, standardise

print(__name__, __doc__, __spec__, __package__)
x = standardise(np.arange(12).reshape(4, 3) ** 2)
print(np.round(x, 8))
print(np.round(Model(3)(x), 8), helper.CALLS, helper.np.pi == np.pi, helper.np is np)
