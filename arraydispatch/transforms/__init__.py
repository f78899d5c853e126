"""Transforms of functions written with NumPy: derivatives, compilation, vectorisation.

A transform takes the user's arguments apart (:mod:`arraydispatch.common.pytrees`), makes of his function one that takes and gives native arrays
(:mod:`arraydispatch.transforms.flattening`), hands that to the library's own transform (``backends/<name>/transforms.py``), and puts together what comes
back. What is traced, how, and which library does it, is known to the backend alone.
"""
