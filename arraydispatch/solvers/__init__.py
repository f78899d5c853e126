"""Linear systems and minimization: ``ad.linear_solve`` and ``ad.minimize``."""
