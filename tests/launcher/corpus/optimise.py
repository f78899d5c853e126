import numpy as np
from scipy import integrate, optimize


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0)


def gradient(x):
    g = np.zeros_like(x)
    g[1:] += 200.0 * (x[1:] - x[:-1] ** 2)
    g[:-1] += -400.0 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2 * (1 - x[:-1])
    return g


found = optimize.minimize(rosenbrock, np.array([1.3, 0.7, 0.8]), jac=gradient, method="BFGS")
print(found.success, np.round(found.x, 4))
print("%.8g" % integrate.quad(np.cos, 0, 1)[0], np.round(optimize.root(lambda x: np.cos(x) - x, np.array([0.5])).x, 8))
print(np.round(gradient(np.array([1.3, 0.7, 0.8])) + 1, 3))
years = np.arange(1900.0, 2020.0)  # whose powers are nearly the same
heights = np.sin(years)
badly, well = np.polyfit(years, heights, 5), np.polyfit((years - 1960) / 60, heights, 3)
print(badly.shape, np.round(well, 8), "%.6f" % np.einsum("i,i->", heights, heights))
