import copy
import hashlib
import pickle

import numpy as np


class Holder:
    def __init__(self):
        self.values = np.linspace(0.0, 1.0, 7)


def main():
    x = np.arange(12.0).reshape(3, 4)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for value in (
            x,
            x.T,
            x[:, 1:3],
            x[::-1],
            np.float32(2.5), np.arange(24.0).reshape(2, 3, 4).transpose((1, 0, 2)), np.float64(1.5) * np.ones(()),
            {"a": x, "b": [x[0], x]},
            np.arange(0),
            Holder().__dict__,
        ):
            text = pickle.dumps(value, protocol)
            print(protocol, hashlib.md5(text).hexdigest(), len(text))
    again = pickle.loads(pickle.dumps({"x": x, "h": Holder()}))
    print(
        isinstance(again["x"], np.ndarray), (again["x"] + 1).sum(), round(np.sin(again["x"]).sum(), 9), again["h"].values.mean()
    )
    again["x"][0, 0] = 5.0
    print(again["x"][0], x[0], again["x"].flags.writeable)
    buffers = []
    text = pickle.dumps(x, 5, buffer_callback=buffers.append)
    print(len(buffers), pickle.loads(text, buffers=buffers).tolist())
    deep = copy.deepcopy({"x": x})
    deep["x"][0, 0] = 9.0
    print(x[0, 0], deep["x"][0, 0], type(deep["x"]) is type(x))


if __name__ == "__main__":
    main()
