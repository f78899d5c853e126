"""NumPy's own arrays whose memory is a file's, a buffer's, a record's, a subclass's: what is written reaches it."""

import array
import io
import multiprocessing.shared_memory
import os
import tempfile

import numpy as np

folder = tempfile.mkdtemp()
np.save(os.path.join(folder, "saved.npy"), np.arange(6.0))
segment = multiprocessing.shared_memory.SharedMemory(create=True, size=48)


class Field(np.ndarray):
    pass


def library(code):
    """An array that a library makes and keeps."""
    space = {"__file__": io.__file__, "__name__": "library"}
    exec(code, space)
    return space["x"]


SOURCES = {
    "memmap": lambda: np.memmap(os.path.join(folder, "raw"), "f8", "w+", shape=(6,)),
    "saved": lambda: np.load(os.path.join(folder, "saved.npy"), mmap_mode="r+"),
    "shared": lambda: np.ndarray((6,), "f8", segment.buf),
    "buffer": lambda: np.frombuffer(bytearray(48)),
    "strided": lambda: np.frombuffer(bytearray(96))[::2],
    "field": lambda: np.zeros(6, [("a", "f8"), ("b", "i1")])["a"],
    "record": lambda: np.rec.array([(1, 2.0), (3, 4.0)], dtype=[("x", "i4"), ("y", "f8")]).y,
    "masked": lambda: np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]).data,
    "matrix": lambda: np.matrix([[1.0, 2.0, 3.0]]),
    "subclass": lambda: library("import numpy\nx = numpy.arange(6.)").view(Field),
    "kept": lambda: library("import numpy\nx = numpy.arange(6.)"),
    "part": lambda: library("import numpy\nx = numpy.arange(6.)")[1:4],
    "transposed": lambda: library("import numpy\nx = numpy.arange(6.).reshape(2, 3)").T,
    "read-only": lambda: np.load(os.path.join(folder, "saved.npy"), mmap_mode="r"),
}
CALLS = {
    "asarray": np.asarray,
    "asanyarray": np.asanyarray,
    "ascontiguousarray": np.ascontiguousarray,
    "asfortranarray": np.asfortranarray,
    "asarray_chkfinite": np.asarray_chkfinite,
    "require": np.require,
    "copy=None": lambda x: np.array(x, copy=None),
    "if needed": lambda x: np.array(x, copy=np._CopyMode.IF_NEEDED),
    "subok": lambda x: np.array(x, copy=None, subok=True, ndmin=3),
    "dtype": lambda x: np.asarray(x, x.dtype, "K"),
    "twice": lambda x: np.asarray(np.asarray(x))[...],
    "ravel": np.ravel,
    "atleast_2d": np.atleast_2d,
    "a copy": np.array,
    "another dtype": lambda x: np.asarray(x, np.float32),
}
for source, make in SOURCES.items():
    for call, function in CALLS.items():
        x = make()
        y = function(x)
        kept = source in ("kept", "part", "transposed", "masked")  # an array on the same memory, whose type is its name's
        told = [y.dtype, y.shape, y.flags.writeable, isinstance(y, np.ndarray if type(x) == np.ndarray else type(x))]
        before = y.tolist()
        x = x.view() if source != "read-only" else x
        if x.flags.writeable:
            x[...] = 5
            told.append(y.tolist() == before)
        try:
            y[...] = 7
        except ValueError as error:
            told.append(str(error))
        print(source, call, *told, x.tolist(), None if kept else function(x) is x)

numbers = array.array("d", range(6))
np.reshape(numbers, (2, 3))[0, 1] = 10
np.ravel(np.matrix(numbers, copy=False))[0] = 11
print(numbers[:2])
segment.unlink()
