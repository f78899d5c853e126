"""The state of arrays and proxies of callables, written in C where a compiler is there and in Python with the same behaviour."""
