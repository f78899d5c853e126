"""Linear systems and minima: ``ad.linear_solve`` and ``ad.minimize``."""
