"""Launcher: runs an unchanged NumPy script on a backend. User files import a stand-in for NumPy, the facade."""
