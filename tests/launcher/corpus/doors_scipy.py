import numpy as np
from scipy import integrate, interpolate, linalg, ndimage, optimize, signal, sparse, stats

rng = np.random.default_rng(3)
x = np.linspace(0, 4, 50)
y = 2.5 * np.exp(-1.3 * x) + 0.5 + 0.01 * rng.normal(size=50)


def model(t, a, b, c):
    return a * np.exp(-b * t) + c


def pendulum(t, state):
    return np.array([state[1], -np.sin(state[0])])


def rosenbrock(p):
    return np.sum(100.0 * (p[1:] - p[:-1] ** 2) ** 2 + (1 - p[:-1]) ** 2)


print(np.round(optimize.curve_fit(model, x, y)[0], 4))
print(np.round(optimize.minimize(rosenbrock, np.zeros(4), method="BFGS").x, 3))
print(round(float(optimize.brentq(lambda t: np.cos(t) - t, 0, 1)), 8))
print(np.round(integrate.solve_ivp(pendulum, (0, 5), np.array([1.0, 0.0]), rtol=1e-8).y[:, -1], 5))
print(round(float(integrate.quad(lambda t: np.exp(-(t**2)), 0, np.inf)[0]), 8), round(float(integrate.simpson(y, x=x)), 6))
print(np.round(interpolate.CubicSpline(x, y)(np.array([0.5, 1.5])), 4), np.round(interpolate.interp1d(x, y)(1.25), 4))
a = rng.normal(size=(4, 4)) + 4 * np.eye(4)
print(np.round(linalg.lu_factor(a)[0].trace(), 6), np.round(linalg.expm(a / 10).sum(), 6))
print(np.round(ndimage.gaussian_filter(a, 1.0)[0], 5), np.round(signal.convolve(y[:5], np.ones(3) / 3), 5))
s = sparse.csr_matrix(np.where(np.abs(a) > 1, a, 0))
print(np.round(s @ np.ones(4), 5), round(float(stats.ttest_1samp(y, 1.0).statistic), 6))

from scipy import optimize as solvers, stats as distributions

print("%.6f" % solvers.root_scalar(lambda t: t**2 - 2, bracket=np.array([0.0, 2.0])).root)
np.random.seed(0)
print(np.round(distributions.norm.rvs(size=2, random_state=np.random), 6))


class Delegate:
    def __init__(self, data):
        self.data = data

    def __getattr__(self, name):
        return getattr(self.data, name)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.data, dtype)


print(np.round(np.ones(3) + Delegate(np.arange(3.0)), 6))
