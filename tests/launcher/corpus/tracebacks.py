import logging, sys, threading, traceback
import numpy as np

def inner(a):
    return a + np.ones(7000)

try:
    inner(np.ones(5000))
except ValueError:
    print(traceback.format_exc())
try:
    inner(np.ones(5000))
except ValueError as e:
    print(len(traceback.extract_tb(e.__traceback__)), traceback.format_tb(e.__traceback__))
    logging.basicConfig(stream=sys.stdout, format="%(message)s")
    logging.exception("caught")

def where():
    print(traceback.format_stack(limit=2), [frame.name for frame in traceback.extract_stack()][-2:])
where()
def key(k):
    print([frame.name for frame in traceback.extract_stack()][-2:])
    return 0
sorted([1], key=key)
thread = threading.Thread(target=inner, args=(np.ones(5000),), name="worker")
thread.start()
thread.join()
try:
    try:
        inner(np.ones(5000))
    except ValueError as e:
        raise KeyError("k") from e
except KeyError:
    traceback.print_exc(file=sys.stdout)
inner(np.ones(5000))
