import os
import subprocess
import sys

import numpy as np

if len(sys.argv) > 1 and sys.argv[1] == "child":
    x = np.linspace(0, 1, int(sys.argv[2]))
    print("child", np.round(np.cumsum(x).sum(), 9), type(x).__name__)
    sys.exit(int(x.sum()))

here = os.path.abspath(__file__)
done = subprocess.run([sys.executable, here, "child", "7"], capture_output=True, text=True)
print(done.returncode, done.stdout.strip(), "|", os.path.basename(here))
code = "import numpy as np; x = np.arange(5.0); print(np.dot(x, x), type(x) is np.ndarray, __name__)"
print(subprocess.check_output([sys.executable, "-c", code], text=True).strip())
code = """class Gives:
    def __array__(self, dtype=None, copy=None):
        return np.arange(3.0)

import numpy as np
print(np.ones(3) + Gives(), np.array([Gives(), Gives()]))"""  # made before anything of the program's imports NumPy
print(subprocess.check_output([sys.executable, "-c", code], text=True).strip())
print(subprocess.check_output([sys.executable, "-"], input="import sys; print(sys.argv, sys.path[0])", text=True).strip())
print(subprocess.run([sys.executable, "-m", "app.tool", "3", "4"], capture_output=True, text=True).stdout.strip())
print(np.ones(3) + 1)
