"""Launcher: runs an unchanged NumPy script on a backend, with the import facade for user files and the runner around it."""
