import numpy as np

metres = np.dtype(float, metadata={"unit": "m"})  # equal to np.dtype(float), but no type of Python's buffers
print(np.zeros(3, metres).sum(), memoryview(np.ones(3)).nbytes, np.zeros(2, np.dtype(np.int16).newbyteorder("=")), memoryview(np.ones(2, np.int16)).format)

names = np.array(["b", "a", "c"])
print(names[np.argsort(names)], np.unique(names), names == "a", np.char.upper(names), np.where(names == "a", 1, 2))
dates = np.array(["2024-01-01", "2024-03-01"], dtype="datetime64[D]")
print(np.diff(dates), dates.max(), np.arange("2024-01", "2024-04", dtype="datetime64[M]"))
people = np.array([("x", 1.5), ("y", 2.5)], dtype=[("name", "U5"), ("size", float)])
print(people["size"].mean(), people[people["size"] > 2]["name"], np.sort(people, order="size")[0])
things = np.array([1, "two", None], dtype=object)
print(things, things.dtype, np.array([[1, 2], [3]], dtype=object).shape, np.full(2, "z"), np.zeros(2, dtype="U3"), np.empty(2, object))
print(np.longdouble(1) / 4, np.ones(2, dtype=np.longdouble).sum(), np.zeros(2, dtype=complex) + 1j, np.ones(2, np.float16) / 3)
