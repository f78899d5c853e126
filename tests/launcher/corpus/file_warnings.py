"""Warnings of what reads files name the line of the program that reads."""

import os
import tempfile
import warnings

import numpy as np

with tempfile.TemporaryDirectory() as folder:
    empty, ragged, text = (os.path.join(folder, name) for name in ("empty", "ragged", "text"))
    for path, content in ((empty, ""), (ragged, "1 2\n3 4 5\n"), (text, "1 2\n3 4\n")):
        with open(path, "w") as file:
            file.write(content)
    for read in (
        lambda: np.loadtxt(empty),
        lambda: np.genfromtxt(empty),
        lambda: np.genfromtxt(ragged, invalid_raise=False),
        lambda: np.loadtxt(text, max_rows=0),
        lambda: np.fromstring("1 2", dtype=float, sep=" "),
        lambda: np.fromstring("1 x", dtype=float, sep=" "),
        lambda: np.sum(item for item in [np.ones(2), np.ones(2)]),
        lambda: np.savetxt(os.path.join(folder, "out"), np.ones(2)),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                made = read()
            except Exception as error:
                made = type(error).__name__
        print(made, [(os.path.basename(w.filename), w.lineno, w.category.__name__) for w in caught])
    for _ in range(2):
        np.loadtxt(empty)
