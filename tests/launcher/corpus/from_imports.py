import numpy
import numpy.fft
import numpy.linalg as la
from numpy import fft, float32, random, where
from numpy.linalg import LinAlgError, norm, solve
from numpy.random import default_rng, rand

random.seed(3)
a = rand(4, 4) + 4 * numpy.eye(4)
b = numpy.arange(4.0)
x = solve(a, b)
print("%.10g" % norm(a @ x - b + 1), "%.9g" % la.det(a))
print(numpy.round(fft.ifft(numpy.fft.fft(b)).real, 9) + 0.0)
print(where(b > 1, b, -1).astype(float32), default_rng(0).integers(10))
try:
    la.inv(numpy.zeros((2, 2)))
except LinAlgError as error:
    print(type(error).__name__, error)
