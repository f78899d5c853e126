import os
import tempfile

import h5py
import numpy as np

x, z = np.arange(12.0), np.arange(12.0).reshape(3, 4)
mask, pick = x > 5, np.array([1, 2, 5])
with tempfile.TemporaryDirectory() as folder, h5py.File(os.path.join(folder, "a.h5"), "w") as file:
    a = file.create_dataset("x", data=x, chunks=(4,), compression="gzip")
    file["z"], file.attrs["k"] = z, pick
    print(a[mask], a[pick], file["z"][z > 3], file["z"][:, np.array([0, 2])], file["z"][np.array([True, False, True])])
    a[mask], a[pick], file["z"][0, :] = -x[mask], np.zeros(3), np.ones(4)
    print(a[:], file["z"][:], file.attrs["k"] * 2, np.asarray(a) @ x)
    read, part = np.zeros(12), np.zeros((2, 3))
    a.read_direct(read)
    a.read_direct(part, np.s_[6:9], np.s_[1])
    a.write_direct(x**2)
    print(read, part, a[:], file.create_dataset("e", shape=np.array([2, 3])).shape)
