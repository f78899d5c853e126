"""Poisson's equation on the unit square, by conjugate gradients with a Jacobi preconditioner."""

import sys

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import cg

n = int(sys.argv[1]) if len(sys.argv) > 1 else 48
h = 1 / (n + 1)
line = sp.diags_array([np.full(n - 1, -1.0), np.full(n, 2.0), np.full(n - 1, -1.0)], offsets=[-1, 0, 1])
A = sp.csr_array(sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line)) / h**2
M = sp.diags_array(1 / A.diagonal())

x = np.arange(1, n + 1) * h
X, Y = np.meshgrid(x, x, indexing="ij")
exact = X * (1 - X) * np.exp(Y) * np.sin(np.pi * Y)
source = 2 * np.exp(Y) * np.sin(np.pi * Y) - X * (1 - X) * np.exp(Y) * (
    (1 - np.pi**2) * np.sin(np.pi * Y) + 2 * np.pi * np.cos(np.pi * Y)
)

steps = 0


def count(_):
    global steps
    steps += 1


u, info = cg(A, source.ravel(), rtol=1e-8, M=M, callback=count)
residual = np.linalg.norm(source.ravel() - A @ u) / np.linalg.norm(source)
print("converged" if info == 0 else f"not converged: {info}", "after", steps, "iterations")
print("residual below 1e-7:", bool(residual < 1e-7))
print("error below 1e-3:", bool(np.max(np.abs(u.reshape(n, n) - exact)) < 1e-3))
print(f"integral {u.sum() * h**2:.9f}, largest {u.max():.9f}")
