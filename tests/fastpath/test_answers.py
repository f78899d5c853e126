"""Functions that answer from shapes, dtypes and memory, ``ufunc.at`` and elements of ``flat``, as user files call them."""

from __future__ import annotations

from pathlib import Path

from arraydispatch.array.flat import Flat
from tests.launched import Zygotes, prints_as_plainly

CALLS = """
import copy, functools, pickle
import numpy as np

x = np.arange(10.) + 1
y, S, i, e, z = x[2:], x.reshape(2, 5), np.array([1, 2, 3]), np.array([]), np.array(3.0)
large = np.zeros(300_000)

def run(call):
    try:
        print(repr(call()))
    except Exception as error:
        print(type(error).__name__, "" if type(error) is TypeError else error, error.__context__ is None)

for line in '''
x.flat[3]
x.flat[-1]
x.flat[10]
x.flat[-11]
S.flat[7]
S.flat[10]
S.T.flat[1]
x.flat[2:4]
x.flat[i]
x.flat[np.int64(2)]
z.flat[0]
z.flat[1]
(large + 1).flat[5]
[x.flat[0], x.flat.index]
np.result_type(x, i)
np.result_type(i, 2.0)
np.result_type(x)
np.result_type(x, "q")
np.result_type(x, None)
np.result_type(x, z)
np.result_type(large, i)
np.result_type(i, np.float32)
np.result_type(x, np.array(["a"]))
np.shares_memory(x, y)
np.shares_memory(x, i)
np.shares_memory(x, [1])
np.shares_memory(S, S.T)
np.shares_memory(x[::2], x[1::2])
np.shares_memory(large, large[5:])
np.may_share_memory(x[::2], x[1::2])
np.may_share_memory(x, 3)
np.shares_memory(x, y, 1)
np.can_cast(x.dtype, "f4")
np.can_cast(i, "f4")
np.shape(x), np.shape([1, 2]), np.ndim(S), np.size(S, 0), np.size(i + 1)
np.size(x, 1)
np.common_type(x, i)
np.iscomplexobj(x), np.isrealobj([1j]), np.iscomplexobj(x * 1j)
np.add.at(x, i, 1.0)
np.add.at(x, i, i)
np.add.at(x, 99, 1)
np.add.at(x, i, "a")
np.add.at(x, i)
np.negative.at(x, i)
np.add.at(x, (i,), 1)
np.add.at(x, [0, 0], [1, 2])
np.add.at(S, (0, i), 5.0)
np.add.at([1, 2], 0, 1)
np.add.at()
np.add.at(x)
np.add.at(x, i, 1, 1)
np.add.at(x, i, b=1)
np.add.at(i, np.arange(3), 1.5)
np.add.at(y, x > 3, 1)
np.add.at(x, slice(None, None, 2), i[0])
np.modf.at(x, i)
np.ufunc.at(np.add, x, i, 1)
np.add.at(large, i, 2.0)
large[:5].tolist()
x.view(np.int64).tolist(), x.view(int).dtype, x.view(bool).shape, x.view(float).tolist()
x.view("f4").shape, x.view(np.dtype("i4")).shape, x.view(np.uint8).shape, x.view().tolist(), x.view(complex).shape
x.view(np.void).dtype, x.view(np.void).shape
x.view(np.str_)
x.view(object)
x.view(np.number)
x.view(np.datetime64)
i.view(np.complex128)
x[::2].view(np.complex64)
x.view(None).dtype
np.add.at == np.add.at, hash(np.add.at) == hash(np.add.at), np.add.at.__name__, np.add.at != np.multiply.at
callable(pickle.loads(pickle.dumps(np.add.at))), pickle.loads(pickle.dumps(np.result_type)) is np.result_type
copy.deepcopy(np.shape) is np.shape, np.result_type.__name__, np.result_type.__module__, np.result_type.__doc__[:12]
functools.reduce(np.result_type, [x, i]), list(map(np.shape, [x, S]))
'''.strip().splitlines():
    print(line)
    run(lambda: eval(line))
    print(x.tolist(), i.tolist())
x.flags.writeable = False
run(lambda: np.add.at(x, i, 1))
run(lambda: x.flat[2])
"""


def test_answers_and_places(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, CALLS, tmp_path, ())


def test_answers_and_places_while_calls_are_recorded(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, CALLS, tmp_path, ("--execution", "fused"))


def test_the_class_of_flat_keeps_its_name() -> None:
    """It is the function of a property, and such functions get the name of the member."""
    assert (Flat.__name__, Flat.__qualname__, Flat.__module__) == ("Flat", "Flat", "arraydispatch.array.flat")
