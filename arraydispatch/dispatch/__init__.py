"""The two protocols: unwrap, choose the backend, let NumPy's rules decide the dtype, run the entry, wrap.

``wrapping``   native values in and out of arrays, choosing the backend, scalars;
``ufuncs``     ``__array_ufunc__`` and the operators;
``matrix_products``  the fast path of ``@``;
``functions``  ``__array_function__``;
``subscripts`` ``x[key]`` and ``x[key] = value``;
``host_fallback``  running NumPy on the host, by policy, with a reason.

This layer never imports the array class; it calls the constructor ``process.wrapper`` of :mod:`arraydispatch.common.process_state`.
"""
