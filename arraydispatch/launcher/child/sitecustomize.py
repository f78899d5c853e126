"""Start-up module of a child process: installs the launcher, then runs the environment's own module."""

import importlib
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _here]
_ours = sys.modules.pop("sitecustomize")
try:
    importlib.import_module("sitecustomize")  # run the environment's own `sitecustomize`
except ImportError:
    sys.modules["sitecustomize"] = _ours
try:
    from arraydispatch.launcher import processes
except ImportError:  # the launcher is not installed for this interpreter
    pass
else:
    processes.continue_run()
