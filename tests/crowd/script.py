"""Under the launcher: ``script.py SEED SECONDS *WITHOUT`` prints how often each scene was, and what went wrong."""

import json
import sys

import numpy as np

import arraydispatch as ad
from tests.crowd import scenes

world = scenes.World(np, ad, lambda x: np.array(x, order="K"), tuple(sys.argv[3:]))
counts, wrong = scenes.run(world, int(sys.argv[1]), float(sys.argv[2]))
print(json.dumps({"counts": counts, "wrong": wrong}))
