"""Lists of arrays are shuffled where they are, arrays along any axis, and what NumPy refuses is refused."""

import numpy as np

MAKERS = (
    lambda: np.random.default_rng(0),
    lambda: np.random.RandomState(0),
    lambda: (np.random.seed(0), np.random)[1],
)
LISTS = (
    lambda: [np.arange(2), np.arange(3), np.ones(2), np.zeros(1)],
    lambda: [[1, np.ones(1)], [2, np.ones(2)], [3, 4], [5, 6]],
    lambda: [np.float64(1), np.float64(3), np.array(3), np.array(2)],
    lambda: [1, 2, 3, 4, 5],
)
CALLS = (
    lambda g: g.permutation([np.arange(2), np.arange(2) + 5]),
    lambda g: g.permutation(np.arange(4.0), axis=5),
    lambda g: g.permutation(np.arange(6.0).reshape(3, 2), 1),
    lambda g: g.permutation(x=np.arange(4.0)),
    lambda g: g.permutation(np.array(5)),
    lambda g: g.permutation(np.zeros((3, 0))).shape,
    lambda g: g.shuffle((np.arange(2), 3)),
    lambda g: g.shuffle(np.array(3.0)),
    lambda g: g.shuffle(3),
    lambda g: g.shuffle(np.arange(4.0), 5),
    lambda g: g.shuffle(np.arange(4.0), axis=-2),
    lambda g: g.shuffle(np.arange(4.0), axis=1.5),
    lambda g: g.shuffle(np.arange(4.0), axis=None),
    lambda g: g.shuffle([1, np.ones(2)], axis=1),
    lambda g: g.shuffle(x=[np.ones(1), np.zeros(2), np.zeros(3)]),
    lambda g: g.shuffle(np.broadcast_to(1.0, 3)),
    lambda g: g.shuffle(np.arange(0.0)),
    lambda g: g.shuffle(np.zeros((3, 0))),
    lambda g: g.shuffle({}),
    lambda g: g.permuted(np.arange(4.0), axis=5),
    lambda g: g.permuted(x=np.arange(4.0), out=np.zeros(4)),
    lambda g: g.permuted(np.arange(4.0), axis=0, out=np.zeros(3)),
    lambda g: g.permuted(np.arange(4.0), out=np.zeros(4, int)),
    lambda g: g.choice([np.ones(2), np.zeros(2)], axis=0),
)
for make in MAKERS:
    for values in LISTS:
        x = values()
        kept, alias = list(x), x
        make().shuffle(x)
        print(x, alias is x, all(any(v is k for k in kept) for v in x))
    g = make()
    for call in CALLS:
        try:
            print(call(g))
        except AttributeError:
            print("not there")
        except Exception as error:
            print(type(error).__name__, error)
    z = np.arange(6.0)
    rows = z.reshape(3, 2)
    for shuffle in (g.shuffle(rows), g.shuffle(z[::2]), g.shuffle(x=rows.T)):
        print(shuffle, z)

g = MAKERS[0]()
for options in ({"axis": 1}, {"axis": -1}, {"axis": np.int64(1)}, {"axis": 0}):
    g.shuffle(rows, **options)
    print(z, g.permutation(rows, **options).tolist(), g.permuted(rows, **options, out=rows) is rows, z)
