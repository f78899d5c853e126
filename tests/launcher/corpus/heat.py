import numpy as np

n = 24
u = np.zeros((n, n))
u[0, :] = 100.0
u[:, -1] = np.linspace(100, 0, n)
for _ in range(30):
    u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
print("%.10g %.10g %.10g" % (u.mean(), u[n // 2, n // 2], np.abs(np.diff(u, axis=0)).max()))
