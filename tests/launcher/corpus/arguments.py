import argparse
import sys

import numpy as np

print(sys.argv[1:])
parser = argparse.ArgumentParser()
parser.add_argument("--backend", default="mine")
parser.add_argument("--report")
parser.add_argument("-m", type=int)
parser.add_argument("numbers", nargs="*", type=float)
options = parser.parse_args()
print(options.backend, options.report, options.m, np.array(options.numbers).prod())
