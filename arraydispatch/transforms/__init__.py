"""Transforms of functions written with NumPy: derivatives, compilation, vectorisation.

A transform flattens the user's arguments (:mod:`arraydispatch.common.pytrees`), turns the function into one of native arrays
(:mod:`arraydispatch.transforms.flattening`), calls the library's own transform (``backends/<name>/transforms.py``), and rebuilds the
result. Only the backend knows what is traced and how.
"""
