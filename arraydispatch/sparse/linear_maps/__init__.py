"""``matrix_from_function``: the sparse matrix of a linear or affine function, by tracing it."""
