"""The state of arrays and proxies of callables: in C where a compiler is available, otherwise in Python with the same behaviour."""
