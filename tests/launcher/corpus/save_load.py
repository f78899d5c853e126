import io
import os
import tempfile

import numpy as np

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "a.npy")
    a = np.arange(6.0).reshape(2, 3) / 4
    np.save(path, a)
    b = np.load(path)
    print(isinstance(b, np.ndarray), b.tolist(), os.path.getsize(path))
    np.savez(os.path.join(folder, "z.npz"), a, b=b * 2, n=[1, 2])
    with np.load(os.path.join(folder, "z.npz")) as archive:
        print(sorted(archive.files), archive["b"].tolist(), "n" in archive, {k: v.shape for k, v in archive.items()})
    np.savez_compressed(os.path.join(folder, "c.npz"), x=a)
    print(np.load(os.path.join(folder, "c.npz"))["x"].sum())
    text = os.path.join(folder, "a.txt")
    np.savetxt(text, a, fmt="%.3f", delimiter=",", header="x,y,z")
    print(open(text).read())
    print(np.loadtxt(text, delimiter=",") @ np.ones(3), np.genfromtxt(text, delimiter=",", skip_header=1).shape)
    a.astype(np.float32).tofile(os.path.join(folder, "raw"))
    print(np.fromfile(os.path.join(folder, "raw"), dtype=np.float32) * 4)
    mapped = np.load(path, mmap_mode="r+")
    mapped[0, 0] = 99
    mapped.flush()
    print(np.load(path)[0, 0], np.sum(mapped))
print(np.loadtxt(io.StringIO("1 2\n3 4")).T.tolist(), np.frombuffer(b"\x01\x02\x03", dtype=np.uint8) + 1)
buffer = bytearray(8)
window = np.frombuffer(buffer, dtype=np.int32)
window[1] = 5
print(buffer, np.fromiter((i * i for i in range(4)), dtype=float), np.fromstring("1 2 3", sep=" "))
print(a.tobytes()[:8], np.frombuffer(a.tobytes()).reshape(2, 3).tolist() == a.tolist())
