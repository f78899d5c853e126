"""Lists that contain themselves are refused as NumPy refuses them; 0-d arrays in Fortran's order."""

import numpy as np

plain, held, deep, alone = [1], [np.ones(1)], [np.ones(2), []], []
plain.append(plain)
held.append(held)
deep[1].append(deep)
alone.append((alone,))
CALLS = {
    "array": np.array,
    "asarray": np.asarray,
    "object": lambda v: np.array(v, object).shape,
    "float": lambda v: np.array(v, dtype=float),
    "ascontiguousarray": np.ascontiguousarray,
    "sum": np.sum,
    "sqrt": np.sqrt,
    "add": lambda v: np.add(v, 1),
    "full": lambda v: np.full(2, v),
    "mean": np.mean,
    "where": lambda v: np.where(v, 1, 2),
    "copy": np.copy,
    "unique": np.unique,
    "object=": lambda v: np.array(object=v),
    "a=": lambda v: np.sum(a=v),
}
for value in (plain, held, deep, alone):
    for name, call in CALLS.items():
        try:
            print(name, call(value))
        except Exception as error:
            print(name, type(error).__name__, error)
for value in (3, 3.0, np.float64(3), np.array(3.0), np.array(True), [1]):
    for make in (np.asfortranarray, np.ascontiguousarray, lambda v: np.asfortranarray(v, "f4")):
        made = make(value)
        print(made.shape, made.dtype, made.flags.f_contiguous, made)
