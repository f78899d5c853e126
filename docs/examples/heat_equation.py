"""Heat spreading through a metal plate: the 2-D heat equation by explicit finite differences.

The left and right edges are held at fixed temperatures, the top and bottom edges are insulated, and a heater in the
plate is switched on for the first half of the run.
"""

import numpy as np

N = 200  # grid points along each side
STEPS = 600
ALPHA = 1.0e-4  # thermal diffusivity, m^2/s
SIDE = 1.0  # m


def step(u, r):
    """Advance the temperature by one time step, in place."""
    u[1:-1, 1:-1] += r * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
    # insulated: no temperature difference across the top and bottom edges
    u[0, :] = u[1, :]
    u[-1, :] = u[-2, :]
    # held: 50 degrees on the left, 20 on the right
    u[:, 0] = 50.0
    u[:, -1] = 20.0


def main():
    dx = SIDE / (N - 1)
    dt = 0.2 * dx**2 / ALPHA
    r = ALPHA * dt / dx**2

    x = np.linspace(0.0, SIDE, N)
    X, Y = np.meshgrid(x, x)
    u = 20.0 + 30.0 * (1.0 - X) + 5.0 * np.exp(-((X - 0.3) ** 2 + (Y - 0.7) ** 2) / 0.02)

    history = []
    for n in range(STEPS):
        if n < STEPS // 2:
            u[60:80, 90:130] = 100.0
        step(u, r)
        if (n + 1) % 100 == 0:
            history.append(np.mean(u))
            print(f"t = {(n + 1) * dt:8.2f} s   mean temperature {history[-1]:.10e}   hottest point {np.max(u):.10e}")

    print(f"spread of the temperature     {np.std(u):.10e}")
    print(f"coldest point                 {np.min(u):.10e}")
    print(f"temperature of the heater     {np.mean(u[60:80, 90:130]):.10e}")

    grad_y, grad_x = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dx), (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
    steepest = np.sqrt(grad_x**2 + grad_y**2)
    print(f"steepest gradient             {np.max(steepest):.10e}")
    print(f"mean gradient                 {np.mean(steepest):.10e}")

    profile = np.mean(u, axis=0)
    print("mean temperature along x:")
    for i in range(0, N, 40):
        print(f"    x = {x[i]:.10f}   {profile[i]:.10e}")

    warm = u > 40.0
    print(f"points above 40 degrees       {np.count_nonzero(warm)}")
    print(f"mean temperature of those     {np.mean(u[warm]):.10e}")
    print(f"mean over the records         {np.mean(np.array(history)):.10e}")


if __name__ == "__main__":
    main()
