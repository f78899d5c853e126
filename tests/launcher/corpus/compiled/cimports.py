import systems  # which imports the other one
import numpy as np
from bodies import Body

v = np.arange(3.0)
print(Body(2.0).moving(v), systems.Pair(Body(1.0), Body(3.0)).energy(v * 2), systems.heavier(Body(1.0)).moving(v))
print(isinstance(systems.heavier(Body(1.0)), Body), type(Body(1.0)).__name__)
