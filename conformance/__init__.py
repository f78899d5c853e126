"""Runs other projects' own tests on our backends: NumPy's test modules under the launcher."""
