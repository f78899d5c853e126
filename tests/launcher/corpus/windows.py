"""Arrays over somebody else's memory: what is written on one side is seen on the other."""

import array
import ctypes
import multiprocessing.sharedctypes

import numpy as np


class Interface:
    def __init__(self, n, readonly=False):
        self.memory = (ctypes.c_double * n)()
        address = ctypes.addressof(self.memory)
        self.__array_interface__ = {"shape": (n,), "typestr": "<f8", "data": (address, readonly), "version": 3}


numbers, raw = array.array("d", range(6)), bytearray(48)
shared, numbered = multiprocessing.sharedctypes.RawArray("d", 6), (ctypes.c_double * 6)()
described = Interface(6)
for source, memory in (
    (numbers, numbers),
    (memoryview(raw).cast("d"), memoryview(raw).cast("d")),
    (numbered, numbered),
    (shared, shared),
    (described, described.memory),
):
    for make in (np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.require, np.asarray_chkfinite):
        window = make(source)
        window[0] += 1
        memory[1] = 7
        print(make.__name__, memory[0], window[1], np.sqrt(window)[1].round(6), window.flags.writeable)
    whole = np.array(source, copy=False, ndmin=2)
    whole[0, 5] = 5
    copies = [np.array(source), np.asarray(source, dtype=np.float32), np.array([source])]
    for copy in copies:
        copy[...] = 0
    print(memory[5], memory[0], [type(copy) is np.ndarray and copy.flags.writeable for copy in copies])

wide = np.asarray(memoryview(raw).cast("d", (2, 3)), order="F")  # a copy
wide[0, 0] = 99
print(memoryview(raw).cast("d")[0], wide.tolist())
try:
    np.array(numbers, dtype=int, copy=False)
except ValueError as error:
    print("copy" in str(error))

for fixed in (
    np.frombuffer(bytes(48)),
    np.asarray(memoryview(bytes(48)).cast("d")),
    np.asarray(memoryview(numbers).toreadonly()),
    np.asarray(Interface(6, readonly=True)),
):
    print(fixed.flags.writeable, (fixed + 1).sum(), np.array(fixed).flags.writeable)
    for write in (lambda x: x.__setitem__(0, 1), lambda x: x.sort(), lambda x: x[1:].fill(2)):
        try:
            write(fixed)
        except ValueError as error:
            print(error)

truths = np.frombuffer(bytes([0, 255, 2, 0]), dtype=bool)
print(truths.sum(), truths.tolist(), truths.astype(int).tolist(), truths.flags.writeable)
