from .core import scale
