"""Public functions: backends and arrays, creation, random numbers, the native namespace."""

from . import creation as creation  # it registers what `np.zeros(3, like=array)` calls
