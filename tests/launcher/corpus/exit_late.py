import atexit
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np


def work():
    time.sleep(0.05)
    print("thread", np.arange(4).sum())


atexit.register(lambda: print("at exit", np.ones(2).sum()))
pool = ThreadPoolExecutor(2)
print(list(pool.map(np.sum, [np.ones(2), np.ones(3)])))
threading.Thread(target=work).start()
print("last line")
sys.exit(3)
