import base64
import ctypes
import hashlib
import io
import os
import tempfile
import zlib

import numpy as np

# What to write instead of handing an array itself to what wants bytes.
x = (np.arange(24.0) ** 2 / 8).reshape(4, 6)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x.bin")
    for values in (x, x.T, x[::-2, 1:4]):
        raw = values.tobytes()
        with open(path, "wb") as file:
            file.write(raw)
            values.tofile(file)
        print(
            os.path.getsize(path), hashlib.md5(raw).hexdigest(), len(zlib.compress(raw)) > 9, base64.b64encode(raw)[:16]
        )
        print(io.BytesIO(raw).getbuffer().nbytes, np.fromfile(path, count=3), np.frombuffer(raw)[:3])
print(memoryview(x.data).shape, bytes(x.data)[:8], ctypes.c_double.from_buffer_copy(x.tobytes(), 8).value)


def checked(values):
    """As a package does that takes nothing but ndarrays."""
    return type(values) is list and sum(map(sum, values))


print(round(checked(x.tolist()), 9))
