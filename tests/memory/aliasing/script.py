"""Runs under the launcher: reads cases from a file and prints what is observed of each, one object of JSON a line.

``script.py made CASES``: operands are arrays of the program's own. ``script.py handed CASES``: they are ndarrays, as a library
hands them over.
"""

import json
import sys
from pathlib import Path

import numpy as np
from observing import Case, World, observe

MAKE = {
    "made": lambda x: np.array(x, order="K"),
    "handed": lambda x: x.copy(order="K"),  # NumPy's own method, of NumPy's own array
}

world = World(np, MAKE[sys.argv[1]], (np.ndarray,))
for call, dtype, shape, layout, values in json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")):
    try:
        found = observe(Case(call, dtype, tuple(shape), layout, values), world)
    except Exception as error:
        found = {"raises": f"{type(error).__name__} when it is written ({error})"}
    print(json.dumps(found))
