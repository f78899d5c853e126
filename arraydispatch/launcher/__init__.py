"""Runs an unchanged NumPy script on a backend: the import facade for user files, and the runner around it."""
