"""Public functions: choice of backends, conversion and creation of arrays, random numbers, the native namespace."""
