import types

import numpy as np

source = "import numpy as np\nx = np.arange(3) + 1\ny = isinstance(x, np.ndarray)\n"
for space in ({}, {"__name__": "made"}, dict(globals()), vars(types.ModuleType("dynamic"))):
    exec(source, space)
    print(space["x"], space["y"], space["np"] is np)
exec(compile("z = np.square(np.arange(4)).sum()", "made-up-name", "exec"))
print(z, eval("np.sqrt(16.0)"))


def inner():
    import numpy

    return numpy.cumsum(numpy.ones(3))


print(inner())
