import os
import pathlib

import numpy as np

here = pathlib.Path(__file__).parent
values = np.loadtxt(here / "data_dir" / "values.csv", delimiter=",")
print(os.path.isabs(__file__), os.path.basename(__file__), values.mean(axis=0), isinstance(values, np.ndarray))
os.chdir("/")
print(os.path.exists(__file__))
