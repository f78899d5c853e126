"""The functions of ``numpy.polynomial`` that NumPy dispatches: NumPy runs them on the host, because no library has them."""

from __future__ import annotations

from numpy.polynomial import polynomial

from .registry import on_host

on_host("no library has polynomials of two variables", polynomial.polyval2d, polynomial.polygrid2d)
