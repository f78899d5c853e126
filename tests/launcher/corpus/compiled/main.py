import gc
import pickle

import derived
import kernels
import numpy as np
from kernels import Bag, total


def shown(call):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, error)


x = np.arange(4.0)
print(total(x), kernels.total(x * 2), total(x=x))
y = np.zeros(4)
part = y[1:]
kernels.fill(y)
part[0] += 10
kernels.fill(part[1:])
print(y.tolist(), y.sum())
values, real = kernels.roots(x)
print(np.round(values, 6).tolist(), real)
made = Bag(x)
print(made.sum(x), made(x), isinstance(made, Bag), isinstance(kernels.bag(x), Bag), type(made).__name__, type(made).__module__)
print(kernels.Plain().go(x), kernels.Plain.static(x), kernels.apply(np.sum, x), kernels.apply(lambda v: isinstance(v, np.ndarray), x))
shown(lambda: total(np.broadcast_to(1.0, 3)))
shown(lambda: total(np.arange(3)))
shown(lambda: total("x"))
print(pickle.loads(pickle.dumps(total)) is total, total.__name__)

import later

for derived_class in (derived.Deeper, later.Later):
    deep = derived_class([1])
    gc.collect()
    print(deep.both(x), deep.total(x), isinstance(deep, kernels.Held), issubclass(derived_class, kernels.Held))
print(kernels.Held(1).total(x))
