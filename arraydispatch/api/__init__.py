"""Public functions: backends and arrays, creation, random numbers, the native namespace."""
