"""Arrays that come out of pickles, files and buffers are the program's ``np.ndarray``, and share the memory they share."""

import array
import copy
import ctypes
import io
import os
import pickle
import tempfile

import joblib
import numpy as np


class Box:
    pass


def shown(name, x):
    print(name, type(x) is np.ndarray, x.dtype, x.shape, x.flags.writeable, x.tolist())


x = np.arange(6.0).reshape(2, 3)
box = Box()
box.w, box.row = x, x[0]
for protocol in range(6):
    shown(f"pickle {protocol}", pickle.loads(pickle.dumps(x, protocol)))
    shown("transposed", pickle.loads(pickle.dumps(x.T, protocol)))
held = pickle.loads(pickle.dumps({"a": x, "list": [x, (x, 1)], "box": box, "f": np.add}))
for name, made in (("dict", held["a"]), ("list", held["list"][0]), ("tuple", held["list"][1][0]), ("box", held["box"].w)):
    shown(name, made)
print(held["a"] is held["list"][0], held["box"].w is held["a"], held["f"] is np.add)
held["a"][0, 0] = 9
print(held["list"][1][0][0, 0], held["box"].row[0], x[0, 0])
circular = [x]
circular.append(circular)
made = pickle.loads(pickle.dumps(circular))
print(made[1] is made, type(made[0]) is np.ndarray)
file = io.BytesIO()
pickle.dump([x, x], file)
file.seek(0)
pair = pickle.load(file)
print(pair[0] is pair[1], type(pair[0]) is np.ndarray)
buffers = []
data = pickle.dumps(x, 5, buffer_callback=buffers.append)
shown("out of band", pickle.loads(data, buffers=buffers))
shown("dumps", pickle.loads(x.dumps()))
shown("deepcopy", copy.deepcopy(box).w)
print(pickle.loads.__name__, pickle.loads(pickle.dumps(pickle.loads)) is pickle.loads)

memory = bytearray(np.arange(400000.0).tobytes())
window = np.frombuffer(memory)
print(type(window) is np.ndarray, window.flags.writeable, window.flags.owndata)
before = window * 2 + 1
np.frombuffer(memory)[:2] = 7
print(before[:3].tolist(), (window * 2)[:3].tolist())
window[3] = -1
print(np.frombuffer(memory)[3], np.frombuffer(bytes(memory))[3], float((window + 1).sum()))
shown("read-only", np.frombuffer(bytes(memory[:16])))
numbers = array.array("d", [1.0, 2.0])
for name, made in (("asarray", np.asarray(numbers)), ("memoryview", np.asarray(memoryview(numbers))), ("array", np.array(numbers))):
    shown(name, made)
np.asarray(numbers)[0] = 5
print(numbers.tolist(), type(np.ndarray((2,), float, bytearray(16))) is np.ndarray)
c = (ctypes.c_double * 2)(1, 2)
seen = np.frombuffer(c)
seen += 1
print(list(c), type(seen) is np.ndarray)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "file")
    joblib.dump({"x": x, "y": [x]}, path)
    shown("joblib", joblib.load(path)["y"][0])
    np.savez(path + ".npz", x=x)
    with np.load(path + ".npz") as archive:
        for name, made in (("npz", archive["x"]), ("f", archive.f.x), ("get", archive.get("x"))):
            shown(name, made)
        shown("values", next(iter(archive.values())))
        shown("items", dict(archive.items())["x"])
    with open(path, "wb") as opened:
        pickle.dump(x, opened)
    shown("np.load", np.load(path, allow_pickle=True))
