import numpy as np


@np.vectorize
def step(x, y=2):
    return x if x > y else y


a = np.arange(6).reshape(2, 3)
print(step(a), step(a, 3).dtype, step(5), np.vectorize(lambda s: s + 1, otypes=[float])(a))
print([(i, int(v)) for i, v in np.ndenumerate(a)], [int(v) for v in np.nditer(a)])
with np.nditer(a, op_flags=["readwrite"]) as it:
    for x in it:
        x[...] = 2 * x
print(a)
b = np.zeros(3)
for x in np.nditer(b, op_flags=["readwrite"]):
    x += 1
print(b, np.piecewise(b, [b < 1, b >= 1], [lambda v: -v, lambda v: v * 3]))
print([row.tolist() for row in a], len(a), list(zip(a[0], a[1])), sum(b), max(b), 2 in a, a.tolist())
print(np.fromfunction(lambda i, j: i * 10 + j, (2, 2)), np.apply_over_axes(np.sum, a, [0, 1]), sorted(b))


def broken_off(it, write):
    for i, x in enumerate(it):
        write(x)
        if i == 3:
            raise KeyError(i)


for n in (10, 5000):  # what was written until an exception ended a loop stays, and later loops are as ever
    c, d = np.arange(n * 1.0) * 1.0, np.arange(2.0 * n).reshape(2, n) + 0.5
    for it in (np.nditer(c, op_flags=["readwrite"]), np.nditer([c, d[0, ::-1]], ["multi_index"], [["readwrite"]] * 2)):
        try:
            broken_off(it, lambda x: [part.__iadd__(2) for part in (x if isinstance(x, tuple) else [x])])
        except KeyError:
            print(it.iterindex, c[:6], c.sum(), d[:, -5:], d.sum())
    try:
        with np.nditer([c, None], op_flags=[["readwrite"], ["writeonly", "allocate"]]) as it:
            broken_off(it, lambda x: (x[1].fill(x[0]), x[0].fill(-5)))
    except KeyError:
        print(c[:6], c.sum())
    for flags, order in ((["external_loop"], "F"), (["external_loop", "buffered"], "C")):
        for end in (True, False):
            try:
                with np.nditer([d[:, ::2], d.T.copy().T[:, 1::2], None], flags, order=order) as it:
                    for x, y, z in it:
                        np.subtract(x, y, out=z)
                        if end:
                            raise KeyError(len(x))
                    print(it.operands[2].shape, it.operands[2].sum())
            except KeyError as error:
                print(error)
            with np.nditer(d[:, ::3], flags, [["readwrite"]], order=order) as it:
                for x in it:
                    x *= 2
            print(d[:, :4], d.sum())
    with np.nditer(d[:, 1:], ["multi_index"], [["readwrite"]]) as it:
        while not it.finished:
            it[0] = it[0] + it.multi_index[1]
            it.iternext()
    print(d[:, :4], d.sum())

board = np.arange(12).reshape(2, 3, 2)
outer, inner = np.nested_iters(board, [[1], [0, 2]], op_flags=["readwrite"])
for _ in outer:
    for cell in inner:
        cell[...] = cell * 2 + 1
print(board)
