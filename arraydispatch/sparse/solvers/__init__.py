"""``ad.linear_solve``: Krylov methods and direct ones, for matrices and for functions."""
