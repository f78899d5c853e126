"""The two protocols: unwrap, choose the backend, let NumPy's rules decide the dtype, run the entry, wrap.

``wrapping``   native values in and out of arrays, choosing the backend, scalars;
``ufuncs``     ``__array_ufunc__`` and the operators;
``products``   the short way of ``@``;
``functions``  ``__array_function__``;
``indexing``   ``x[key]`` and ``x[key] = value``;
``host``       running NumPy on the host, by policy, with a reason.

This layer never imports the array class; it is handed in (:data:`arraydispatch.memory.views.wrapper`).
"""
